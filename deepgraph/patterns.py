"""Rules that read as algebra, `x - (-y) -> x + y`: matched against a node and built anew.

The letters on the left say what may stand there:

    x y z   a value of the dtype that the node has
    a b     any value
    i j     whole numbers or booleans
    p q     booleans
    k m     a constant of one element, of the dtype that the node has
    t       such a constant, a power of two of which the reciprocal is a normal number too

The same letter is the same node. Numbers match constants of exactly that value: `0.0` is not
`-0.0`, and `True` is not 1. Where operands commute, both orders match. A rule that multiplies or
divides constants holds where that gives a normal number.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from deepgraph.dims import Shape, same, same_shape
from deepgraph.dtypes import DType, Scalar, is_float
from deepgraph.expr import OPS, Expr, Kind
from deepgraph.literal import Literal

Found = Mapping[str, Expr]

NUMBERS, FLOATS, INTEGERS, BOOLEANS = "iuf", "f", "iu", "b"  # kinds of dtype

_COMMUTE = {
    "add", "multiply", "equal", "not_equal",
    "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor",
}  # fmt: skip
_NAMES: dict[type, str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "pow",
    ast.FloorDiv: "floor_divide", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor", ast.USub: "negative", ast.UAdd: "positive",
    ast.Invert: "bitwise_invert", ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less",
    ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """An operation over terms."""

    op: str
    args: tuple[Term, ...]


Term: TypeAlias = str | Scalar | Call


@dataclass(frozen=True)
class Pattern:
    """One rule: a function of a node, as `rewrite` takes it."""

    text: str
    kinds: str
    left: Call
    right: Term
    parts: frozenset[str]  # operations that must stand right below
    made: tuple[Call, ...]  # products and quotients of constants

    @property
    def __name__(self) -> str:
        return self.text

    def __call__(self, node: Expr) -> Expr | None:
        if _kind(node.dtype) in self.kinds and self.parts <= {x.op.name for x in node.inputs}:
            for found in _matches(self.left, node, node, {}):
                if all(_is_sound(made, found, node.dtype) for made in self.made):
                    return fit(_built(self.right, found), node)
        return None


def patterns(kinds: str, text: str) -> list[Pattern]:
    """The rules in a text, one a line, for results of these kinds of dtype."""
    rules = []
    for line in filter(None, map(str.strip, text.splitlines())):
        left, right = (_parsed(part) for part in line.split("->"))
        assert isinstance(left, Call), line
        parts = frozenset(arg.op for arg in left.args if isinstance(arg, Call))
        rules.append(Pattern(line, kinds, left, right, parts, tuple(_made(right))))
    return rules


def fit(value: Expr | Scalar, node: Expr) -> Expr:
    """A value in the type of a node: converted and broadcast where it must be."""
    if not isinstance(value, Expr):
        value = OPS["constant"](Literal(np.asarray(value, node.dtype)))
    if value.dtype != node.dtype:
        value = OPS["astype"](value, node.dtype)
    return value if same_shape(value.shape, node.shape) else OPS["broadcast_to"](value, node.shape)


def reshaped(x: Expr, shape: Shape) -> Expr:
    """`x` in row-major order under another shape, by the view that says most."""
    if same_shape(x.shape, shape):
        return x
    if (axes := ones_added(x.shape, shape)) is not None:
        return OPS["expand_dims"](x, axes)
    if (axes := ones_added(shape, x.shape)) is not None:
        return OPS["squeeze"](x, axes)
    return OPS["reshape"](x, shape)


def ones_added(short: Shape, long: Shape) -> tuple[int, ...] | None:
    """The axes of `long`, of size 1, without which it is `short`."""
    found: list[int] = []
    k = 0
    for i, n in enumerate(long):
        if k < len(short) and same(n, short[k]):
            k += 1
        elif same(n, 1):
            found.append(i)
        else:
            return None
    return tuple(found) if k == len(short) else None


def number(x: Expr) -> Expr | None:
    """The constant of no axes whose one element is all that `x` shows; None if there is none."""
    while x.op.kind is Kind.VIEW:
        (x,) = x.inputs
    if x.op.name != "constant" or (held := x.attr("value").value).size != 1:
        return None
    return x if x.shape == () else OPS["constant"](Literal(held.reshape(())))


def value_of(constant: Expr) -> Any:
    """The one element of a constant, as a Python number."""
    held = constant.attr("value").value
    return float(held) if is_float(constant.dtype) else held.item()


def either(node: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The two operands of a node in both orders."""
    a, b = node.inputs
    return iter(((a, b), (b, a)))


def is_power_of_two(constant: Expr) -> bool:
    """Is it a power of two, of either sign, of which the reciprocal is a normal number too?

    Such factors are exact: a product has the digits of the other factor.
    """
    value = value_of(constant)
    if not is_float(constant.dtype) or not math.isfinite(value) or not value:
        return False
    return abs(math.frexp(value)[0]) == 0.5 and is_normal(1 / value, constant.dtype)


def is_normal(value: float, dtype: DType) -> bool:
    """Is it neither 0, infinite nor nan in this dtype, and not so small that digits are lost?"""
    limits = np.finfo(dtype if dtype.kind == "f" else np.float32)  # bfloat16 reaches as far
    return float(limits.smallest_normal) <= abs(value) <= float(limits.max)


# Reading a rule.


def _parsed(text: str) -> Term:
    return _term(ast.parse(text.strip(), mode="eval").body)


def _term(tree: ast.expr) -> Term:
    match tree:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.UnaryOp(op=op, operand=x):
            return Call(_NAMES[type(op)], (_term(x),))
        case ast.BinOp(left=a, op=op, right=b) | ast.Compare(left=a, ops=[op], comparators=[b]):
            return Call(_NAMES[type(op)], (_term(a), _term(b)))
        case ast.Call(func=ast.Name(id=name), args=args):
            return Call(OPS[name].name, tuple(map(_term, args)))
    raise SyntaxError(f"not part of a rule: {ast.unparse(tree)}")


# Matching it.


def _matches(term: Term, x: Expr, node: Expr, found: Found) -> Iterator[Found]:
    """The ways in which `x`, a part of `node`, is this term, added to what letters stand for."""
    if isinstance(term, Call):
        if x.op.name == term.op:
            yield from _all_match(term.args, x.inputs, node, found)
            if term.op in _COMMUTE:
                yield from _all_match(term.args[::-1], x.inputs, node, found)
    elif isinstance(term, str):
        value = _LETTERS[term](x, node)
        if value is not None and found.get(term, value) is value:
            yield {**found, term: value}
    elif _is_number(x, term):
        yield found


def _all_match(
    terms: Sequence[Term], xs: Sequence[Expr], node: Expr, found: Found
) -> Iterator[Found]:
    if not terms:
        yield found
        return
    for first in _matches(terms[0], xs[0], node, found):
        yield from _all_match(terms[1:], xs[1:], node, first)


def _kind(dtype: DType) -> str:
    return "f" if is_float(dtype) else dtype.kind


def _of_dtype(x: Expr, node: Expr) -> Expr | None:
    return x if x.dtype == node.dtype else None


def _of_kind(x: Expr, node: Expr, kinds: str) -> Expr | None:
    return x if x.dtype.kind in kinds else None


def _constant(x: Expr, node: Expr) -> Expr | None:
    return number(x) if x.dtype == node.dtype else None


def _two(x: Expr, node: Expr) -> Expr | None:
    constant = _constant(x, node)
    return constant if constant is not None and is_power_of_two(constant) else None


_VALUES = frozenset("xyzabijpq")  # letters that stand for what is not a constant
_LETTERS: dict[str, Callable[[Expr, Expr], Expr | None]] = {
    **dict.fromkeys("xyz", _of_dtype),
    **dict.fromkeys("ab", lambda x, node: x),
    **dict.fromkeys("ij", partial(_of_kind, kinds="biu")),
    **dict.fromkeys("pq", partial(_of_kind, kinds="b")),
    **dict.fromkeys("km", _constant),
    "t": _two,
}


def _is_number(x: Expr, wanted: Scalar) -> bool:
    constant = number(x)
    if constant is None or (constant.dtype.kind == "b") != isinstance(wanted, bool):
        return False
    value = value_of(constant)
    return bool(value == wanted) and math.copysign(1, value) == math.copysign(1, wanted)


# Building what it says.


def _made(term: Term) -> Iterator[Call]:
    if isinstance(term, Call):
        constant = all(not isinstance(arg, Call) and arg not in _VALUES for arg in term.args)
        if constant and term.op in ("multiply", "divide"):
            yield term
        for arg in term.args:
            yield from _made(arg)


def _is_sound(term: Call, found: Found, dtype: DType) -> bool:
    values = [value_of(found[arg]) if isinstance(arg, str) else arg for arg in term.args]
    a, b = cast("list[float]", values)
    return not is_float(dtype) or is_normal(a * b if term.op == "multiply" else a / b, dtype)


def _built(term: Term, found: Found) -> Expr | Scalar:
    if isinstance(term, Call):
        return OPS[term.op](*(_built(arg, found) for arg in term.args))
    return found[term] if isinstance(term, str) else term
