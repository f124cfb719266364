"""The NumPy text of one operation: names filled into its record's template."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deepgraph.dims import Dim, code
from deepgraph.dtypes import accumulator
from deepgraph.expr import Expr, Kind
from deepgraph.literal import Literal

_OWN = "np|cp|lib|view|slot|parameters|constants|cut|tick|step|out|bad|max|min|float|slice"
_TEMPORARIES = {f"tmp{k}": f"tmp{k}" for k in range(8)}
UFUNCS = frozenset(dir(np))  # what generated code imports comes from among these
_NUMBERED = "a|c|k|p|part|t|tmp|v|x|y"
_OWN_NAMES = re.compile(rf"(?:{_OWN}|(?:{_NUMBERED})\d+)_*")  # of generated code itself


def statement(
    node: Expr, args: Sequence[str], out: str, xp: str = "np",
    temporaries: Mapping[str, str] | None = None, bare: bool = False, **attrs: Any,
) -> str:  # fmt: skip
    """The statement that computes `node` from `args` into `out`; for a view, the expression.

    `attrs` replace the node's own, as when a kernel folds axes of its space, not of the node;
    `temporaries` name the scratch arrays `tmp0`, `tmp1`, ... With `bare`, a ufunc goes by its name.
    """
    fields = {k: literal(v) for k, v in (node.attributes | attrs).items()}
    template = node.op.numpy or _template(node, "" if bare else "{xp}.")
    names = {**_TEMPORARIES, **(temporaries or {}), **fields}
    return template.format(*args, args=", ".join(args), xp=xp, out=out, **names)


def _template(node: Expr, module: str) -> str:
    ufunc = node.op.ufunc
    if node.op.kind is Kind.REDUCE:
        wide = accumulator(node.dtype)
        start = "" if node.attributes.get("initial") is None else ", initial={initial}"
        if wide != node.inputs[0].dtype:  # NumPy would keep its partial sums in `out`
            where = f"{{axis}}, '{wide.name}', None, {{keepdims}}{start}"
            return f"{{xp}}.copyto({{out}}, {module}{ufunc}.reduce({{0}}, {where}))"
        where = f"axis={{axis}}, out={{out}}, keepdims={{keepdims}}{start}"
        return f"{module}{ufunc}.reduce({{0}}, {where})"
    return f"{module}{ufunc}({{args}}, out={{out}})"


def size_name(name: str) -> str:
    """What generated code calls a size: its name, with `_` behind one that the code has itself."""
    return f"{name}_" if name.rstrip("_") in UFUNCS or _OWN_NAMES.fullmatch(name) else name


def literal(value: Any) -> str:
    """An attribute as Python text; symbolic sizes by name."""
    if isinstance(value, Dim):
        return code(value, size_name)
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, slice):
        return f"slice({literal(value.start)}, {literal(value.stop)}, {literal(value.step)})"
    if isinstance(value, np.dtype):
        return repr(value.name)
    if isinstance(value, Literal):
        return literal(value.value.item())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f"float({str(value)!r})"
    return repr(value)
