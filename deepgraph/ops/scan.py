"""Sums and products that accumulate along an axis."""

from __future__ import annotations

from typing import Any

from deepgraph.dims import pretty
from deepgraph.dtypes import DType, as_dtype
from deepgraph.errors import ShapeError
from deepgraph.expr import Example, Expr, Kind, Type, composition, op
from deepgraph.ops.join import flip
from deepgraph.ops.reduce import sum_dtype
from deepgraph.ops.rules import one_axis
from deepgraph.ops.selection import where
from deepgraph.ops.shape import flatten

_CASES = (
    Example(((4,),), {}),
    Example(((2, 3, 4),), {"axis": 1}),
    Example(((2, 0),), {"axis": -1}),
)


def _type(x: Expr, axis: int | None, dtype: Any) -> Type:
    if axis is None and x.ndim != 1:
        raise ShapeError(f"axis is needed unless x is a vector: got {pretty(x.shape)}")
    kind = sum_dtype(x.dtype) if dtype is None else as_dtype(dtype)
    k = one_axis(0 if axis is None else axis, x.ndim)
    return Type(x.shape, kind, {"axis": k, "dtype": kind})


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


def _cumulative_prod_grad(
    g: Expr, y: Expr, x: Expr, axis: int, dtype: DType
) -> tuple[Expr]:  # fmt: skip
    """Up to the first 0 the sum of g*y from here on, over x; at it, as if it were 1; then 0."""
    zeros = cumulative_sum((x == 0).astype("int64"), axis)
    first = (x == 0) & (zeros == 1)
    filled = cumulative_prod(where(first, 1, x), axis)
    others = _after(g * y, axis) / where(x == 0, 1, x)
    return (where(first, _after(g * filled, axis), others),)


@op(
    Kind.CALL, numpy="lib.accumulate('multiply', {0}, {out}, {axis})", examples=_CASES,
    grad=_cumulative_prod_grad,
)  # fmt: skip
def cumulative_prod(x: Expr, axis: int | None = None, dtype: Any = None) -> Type:
    """At each element, the product along an axis up to it; dtypes as in `prod`.

    A vector need not name its axis. Its gradient is right where elements are 0; the second
    derivative only where none is.
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
