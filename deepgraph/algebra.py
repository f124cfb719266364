"""Algebra that is exact: every rule gives the bits that the node would have had.

Only a nan's sign and payload may differ. So `x + 0.0`, `x * 0`, `x - x` and `x / x` stay as they
are for floats, since -0.0, nan and infinities tell them apart; and factors are gathered only where
one is a power of two, which is exact unless what is between leaves the normal range: then one
rounding takes the place of two. Powers become products and roots, which round once an operation.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from deepgraph.dtypes import DType, is_float
from deepgraph.expr import OPS, Expr, Kind
from deepgraph.graph import Rule
from deepgraph.patterns import (
    BOOLEANS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    fit,
    number,
    patterns,
    value_of,
)

_ANY = patterns(NUMBERS + BOOLEANS, """
    where(p, x, x) -> x
    where(True, a, b) -> a
    where(False, a, b) -> b
    where(~p, x, y) -> where(p, y, x)
    where(p, where(p, x, y), z) -> where(p, x, z)
    where(p, x, where(p, y, z)) -> where(p, x, z)
    maximum(x, x) -> x
    minimum(x, x) -> x
    fmax(x, x) -> x
    fmin(x, x) -> x
    abs(abs(x)) -> abs(x)
""")  # fmt: skip

_NUMBERS = patterns(NUMBERS, """
    -(-x) -> x
    x - (-y) -> x + y
    x + (-y) -> x - y
    (-x) * (-y) -> x * y
    (-x) * k -> x * -k
    -(x * k) -> x * -k
    a * 1 -> a
    x * -1 -> -x
    x + x -> x * 2
    x * x -> square(x)
    a ** 0 -> 1
    a ** 1 -> a
    x ** 2 -> square(x)
    x ** 3 -> square(x) * x
    x ** 4 -> square(square(x))
    square(-x) -> square(x)
    square(abs(x)) -> square(x)
    sign(sign(x)) -> sign(x)
    relu(relu(x)) -> relu(x)
""")  # fmt: skip

_FLOATS = patterns(FLOATS, """
    x + -0.0 -> x
    x - 0.0 -> x
    -0.0 - x -> -x
    abs(-x) -> abs(x)
    a / 1 -> a
    x / t -> x * (1 / t)
    (x * k) * t -> x * (k * t)
    (x * t) * k -> x * (t * k)
    (k / x) * t -> (k * t) / x
    (x / k) * t -> x / (k / t)
    (-x) / (-y) -> x / y
    (-x) / k -> x / -k
    -(x / k) -> x / -k
    k / (-x) -> -k / x
    -(k / x) -> -k / x
    x ** -1 -> reciprocal(x)
    x ** -2 -> square(reciprocal(x))
""")  # fmt: skip

_ROUNDINGS = ("floor", "ceil", "trunc", "round")

_WHOLE = patterns(FLOATS, "\n".join(
    f"{f}({g}(x)) -> {g}(x)" for f, g in product(_ROUNDINGS, repeat=2)
))  # fmt: skip

_INTEGERS = patterns(INTEGERS, """
    x + 0 -> x
    x - 0 -> x
    0 - x -> -x
    x * 0 -> 0
    x - x -> 0
    x & 0 -> 0
    x | 0 -> x
    x ^ 0 -> x
    (x + k) + m -> x + (k + m)
    (x * k) * m -> x * (k * m)
    floor(x) -> x
    ceil(x) -> x
    trunc(x) -> x
    round(x) -> x
""")  # fmt: skip

_BITS = patterns(INTEGERS + BOOLEANS, """
    ~(~x) -> x
    x & x -> x
    x | x -> x
""")

_BOOLEANS = patterns(BOOLEANS, """
    logical_not(p) -> ~p
    logical_and(p, q) -> p & q
    logical_or(p, q) -> p | q
    logical_xor(p, q) -> p ^ q
    x & True -> x
    x & False -> False
    x | True -> True
    x | False -> x
    x ^ False -> x
    x ^ True -> ~x
    where(x, True, False) -> x
    where(x, False, True) -> ~x
    ~(a == b) -> a != b
    ~(a != b) -> a == b
    ~(i < j) -> i >= j
    ~(i <= j) -> i > j
    ~(i > j) -> i <= j
    ~(i >= j) -> i < j
""")  # fmt: skip


def roots(node: Expr) -> Expr | None:
    """Powers by halves of what is never negative, -0.0 included: there pow and sqrt agree."""
    x, exponent = node.inputs[0], number(node.inputs[1])
    if exponent is None or not is_float(node.dtype) or x.dtype != node.dtype:
        return None
    halves = value_of(exponent)
    if halves not in (0.5, -0.5, 1.5) or not is_positive(x):
        return None
    root = OPS["sqrt"](x)
    if halves == 0.5:
        return fit(root, node)
    return fit(x * root if halves == 1.5 else OPS["reciprocal"](root), node)


def signless(node: Expr) -> Expr | None:
    """abs(x) -> x where no sign is to be lost."""
    return node.inputs[0] if is_positive(node.inputs[0]) else None


def is_positive(x: Expr, depth: int = 6) -> bool:
    """Is it proved that no element is negative or -0.0? Some may be nan."""
    if not is_float(x.dtype) or not depth:
        return False
    name = x.op.name
    if name in ("abs", "square", "exp", "exp2", "sigmoid", "softplus", "size"):
        return True
    if name == "constant":
        return not np.signbit(x.attr("value").value).any()
    if x.op.kind is Kind.VIEW or name in ("sum", "max", "min", "copy", "sqrt"):
        return is_positive(x.inputs[0], depth - 1)
    if name in ("add", "multiply", "divide"):
        return all(is_positive(i, depth - 1) for i in x.inputs)
    return name == "where" and all(is_positive(i, depth - 1) for i in x.inputs[1:])


def negated(node: Expr) -> Expr | None:
    """sum(-x) -> 0 - sum(x): a sum that is 0 is never -0.0."""
    (x,) = node.inputs
    if x.op.name != "negative" or x.dtype != node.dtype:
        return None
    return fit(0, node) - node.op(x.inputs[0], *node.attrs)


def cast(node: Expr) -> Expr | None:
    """Conversions to the same dtype, and those of what was converted without loss."""
    (x,) = node.inputs
    if x.dtype == node.dtype:
        return x
    if x.op is not node.op:
        return None
    (source,) = x.inputs
    if not _is_lossless(source.dtype, x.dtype):
        return None
    if is_float(x.dtype) and not is_float(node.dtype) and not np.can_cast(source.dtype, node.dtype):
        return None  # floats beyond the range of whole numbers convert as the machine pleases
    return OPS["astype"](source, node.dtype)


def _is_lossless(a: DType, b: DType) -> bool:
    """Does every value of dtype `a` have its own in `b`?"""
    if a.kind in "iu" and b.kind == "f":
        return 2 * a.itemsize <= b.itemsize
    return a.kind in "biuf" and b.kind in "biuf" and np.can_cast(a, b)


EXACT: dict[str, list[Rule]] = {
    "pow": [roots], "abs": [signless], "sum": [negated], "astype": [cast]
}  # fmt: skip
for _rule in (*_ANY, *_NUMBERS, *_FLOATS, *_WHOLE, *_INTEGERS, *_BITS, *_BOOLEANS):
    EXACT.setdefault(_rule.left.op, []).append(_rule)
