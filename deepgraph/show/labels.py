"""What a node is called in pictures and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from deepgraph.dims import Dim, Size, code, pretty
from deepgraph.expr import Expr, Kind
from deepgraph.literal import Literal, attr_key
from deepgraph.schedule import Kernel

_TYPED = ("name", "dtype", "shape", "keepdims")  # attributes that name and type say already
_COMMUTATIVE = frozenset(
    ("add", "multiply", "maximum", "minimum", "equal", "not_equal", "hypot", "logaddexp",
     "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
)  # fmt: skip
_INVISIBLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def number(node: Expr) -> str | None:
    """The text of a constant of one element or of a size; None for any other node."""
    if node.op.name == "constant" and node.attr("value").value.size == 1:
        return operand_text(node.attr("value"))
    return code(node.attr("value")) if node.op.name == "size" else None


def operand_text(value: Literal | Dim) -> str:
    """A number or a size as short as its dtype allows: 0.1, not 0.10000000149011612."""
    return code(value) if isinstance(value, Dim) else str(value.value.reshape(())[()])


def kind(node: Expr) -> str:
    """What sort of node it is: placeholder, parameter, constant, or how its operation runs."""
    if node.op.kind is not Kind.SOURCE:
        return str(node.op.kind.value)
    return node.op.name if node.op.name in ("placeholder", "parameter") else "constant"


def ordered(node: Expr) -> bool:
    """Does it matter which operand is first?"""
    return len(node.inputs) > 1 and node.op.name not in _COMMUTATIVE


def label(node: Expr, operands: Sequence[str]) -> str:
    """`sum(axis=1)`, `multiply(·, 0.1)`; a leaf's name.

    Attributes that have their default value, or that the type says, are left out.
    """
    if node.name:
        return visible(node.name)
    given = [*operands, *attributes(node)]
    return f"{node.op.name}({', '.join(given)})" if given else node.op.name


def attributes(node: Expr) -> list[str]:
    """The attributes that a reader does not know yet, as `name=value`."""
    if node.op.kind is Kind.SOURCE:
        return []
    defaults = node.op.defaults
    return [
        f"{k}={_text(v)}"
        for k, v in node.attributes.items()
        if k not in _TYPED and not (k in defaults and attr_key(v) == attr_key(defaults[k]))
    ]


def _text(value: Any) -> str:
    if isinstance(value, Expr):
        return visible(value.name or value.op.name)
    if isinstance(value, tuple):
        inner = list(map(_text, value))
        alike = len(set(inner)) == 1 and not isinstance(value[0], slice)  # (2, 2) is 2
        return inner[0] if alike or len(inner) == 1 else f"({', '.join(inner)})"
    if isinstance(value, slice):
        parts = ["" if p is None else _text(p) for p in (value.start, value.stop, value.step)]
        return ":".join(parts if parts[2] else parts[:2])
    if isinstance(value, np.dtype):
        return value.name
    return visible(str(value))


def kernel_space(kernel: Kernel) -> str:
    """`over (batch, 10), folds (10,)`; nothing for a call."""
    if not kernel.space:
        return ""
    folds = tuple(kernel.space[a] for a in kernel.folded)
    return f"over {pretty(kernel.space)}{f', folds {pretty(folds)}' if folds else ''}"


def visible(text: str) -> str:
    """The text without what no picture can show: control characters, halves of characters."""
    return _INVISIBLE.sub("\ufffd", text)


def size_text(size: Size) -> str:
    """Bytes for people: `512 B`, `1.5 KiB`, `batch*40 B`."""
    if isinstance(size, Dim):
        return f"{size} B"
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:.0f} {unit}"
