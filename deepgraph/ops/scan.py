"""Sums and products that accumulate along an axis."""

from __future__ import annotations

from typing import Any

from deepgraph.dims import pretty, same
from deepgraph.dtypes import DType, as_dtype, promote
from deepgraph.errors import ShapeError
from deepgraph.expr import Example, Expr, Kind, Type, composition, op
from deepgraph.ops.join import flip, pad
from deepgraph.ops.rules import one_axis, sum_dtype
from deepgraph.ops.shape import flatten
from deepgraph.ops.slicing import Span, _slice

_CASES = (
    Example(((4,),), {}),
    Example(((2, 3, 4),), {"axis": 1}),
    Example(((2, 0),), {"axis": -1}),
)


def _type(x: Expr, axis: int | None, dtype: Any) -> Type:
    kind = sum_dtype(x.dtype) if dtype is None else as_dtype(dtype)
    return Type(x.shape, kind, {"axis": _one_axis(x, axis), "dtype": kind})


def _one_axis(x: Expr, axis: int | None) -> int:
    if axis is None and x.ndim != 1:
        raise ShapeError(f"axis is needed unless x is a vector: got {pretty(x.shape)}")
    return one_axis(0 if axis is None else axis, x.ndim)


def _after(x: Expr, axis: int) -> Expr:
    """For each element, the sum of it and all that follow."""
    return flip(cumulative_sum(flip(x, axis), axis), axis)


@op(
    Kind.CALL, numpy="lib.accumulate('add', {0}, {out}, {axis})", examples=_CASES,
    grad=lambda g, y, x, axis, dtype: (_after(g, axis),),
)  # fmt: skip
def cumulative_sum(x: Expr, axis: int | None = None, dtype: Any = None) -> Type:
    """At each element, the sum along an axis up to it; dtypes as in `sum`.

    A vector need not name its axis. float16 accumulates in float32.
    """
    return _type(x, axis, dtype)


def _shifted(x: Expr, axis: int, first: float) -> Expr:
    """For each element the one before it, and `first` for the one that has none."""
    before = [(int(k == axis), 0) for k in range(x.ndim)]
    return _slice(pad(x, before, first), [*[Span()] * axis, Span(0, x.shape[axis])])


def _passed_back(g: Expr, a: Expr, axis: int) -> Expr:
    """For each element, g and what the next one passes back, times the next one's a."""
    factors = _shifted(flip(a, axis), axis, 0)
    return flip(linear_recurrence(factors, flip(g, axis), axis), axis)


def _linear_recurrence_grad(g: Expr, y: Expr, a: Expr, b: Expr, axis: int) -> tuple[Expr, Expr]:
    by_b = _passed_back(g, a, axis)
    return by_b * _shifted(y, axis, 0), by_b


@op(
    Kind.CALL, numpy="lib.linear_recurrence({0}, {1}, {out}, {axis})", flops=2,
    grad=_linear_recurrence_grad,
    examples=(
        Example(((4,), (4,)), {}),
        Example(((2, 3, 4), (2, 3, 4)), {"axis": 1}),
        Example(((2, 0), (2, 0)), {"axis": -1}),
    ),
)  # fmt: skip
def linear_recurrence(a: Expr, b: Expr, axis: int | None = None) -> Type:
    """At each element along an axis, `a` times the result before it, and `b` added: y = a*y + b.

    The first result is the first b, whatever a is there. a and b have one shape; a vector need not
    name its axis. float16 accumulates in float32.
    """
    if a.ndim != b.ndim or not all(map(same, a.shape, b.shape)):
        raise ShapeError(f"one shape is needed: got {pretty(a.shape)} and {pretty(b.shape)}")
    return Type(a.shape, promote(a.dtype, b.dtype), {"axis": _one_axis(a, axis)})


def products_before(x: Expr, axis: int) -> Expr:
    """For each element, the product of all before it; 1 for the first."""
    return _shifted(cumulative_prod(x, axis, x.dtype), axis, 1)


def _cumulative_prod_grad(
    g: Expr, y: Expr, x: Expr, axis: int, dtype: DType
) -> tuple[Expr]:  # fmt: skip
    """The product before an element, times the products from it on: without a quotient."""
    x = x if x.dtype == dtype else x.astype(dtype)
    return (products_before(x, axis) * _passed_back(g, x, axis),)


@op(
    Kind.CALL, numpy="lib.accumulate('multiply', {0}, {out}, {axis})", examples=_CASES,
    grad=_cumulative_prod_grad,
)  # fmt: skip
def cumulative_prod(x: Expr, axis: int | None = None, dtype: Any = None) -> Type:
    """At each element, the product along an axis up to it; dtypes as in `prod`.

    A vector need not name its axis. Derivatives of every order are right where elements are 0.
    """
    return _type(x, axis, dtype)


@composition
def cumsum(x: Expr, axis: int | None = None, dtype: Any = None) -> Expr:
    """NumPy's name for `cumulative_sum`, over the flattened x if `axis` is None."""
    return cumulative_sum(flatten(x) if axis is None else x, axis, dtype)


@composition
def cumprod(x: Expr, axis: int | None = None, dtype: Any = None) -> Expr:
    """NumPy's name for `cumulative_prod`, over the flattened x if `axis` is None."""
    return cumulative_prod(flatten(x) if axis is None else x, axis, dtype)
