"""What typing rules share: broadcasting, axes, result dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import index
from typing import Any

import numpy as np

from deepgraph.dims import Shape, Size, pretty, same, same_shape
from deepgraph.dtypes import DType, accumulator, ufunc_dtypes
from deepgraph.errors import ShapeError
from deepgraph.expr import Expr, Kind, Op, Type


def broadcast(*shapes: Shape) -> Shape:
    """NumPy's broadcasting over symbolic sizes: a named size is never stretched.

    Raises ShapeError where sizes differ; two different names differ, whatever they will be.
    """
    first, *others = shapes or ((),)
    if all(same_shape(first, other) for other in others):
        return first
    out: list[Size] = []
    for i in range(1, max(map(len, shapes)) + 1):
        kept: Size = 1
        for shape in shapes:
            if i > len(shape) or same(shape[-i], 1):
                continue
            if not same(kept, 1) and not same(kept, shape[-i]):
                raise ShapeError(
                    f"shapes do not broadcast: {' and '.join(map(pretty, shapes))}"
                )  # fmt: skip
            kept = shape[-i]
        out.append(kept)
    return tuple(reversed(out))


def one_axis(axis: Any, ndim: int) -> int:
    """An axis counted from the front; ShapeError where there is none such."""
    try:
        k = index(axis)
    except TypeError as error:
        raise ShapeError(f"an axis is a whole number: got {axis!r}") from error
    if not -ndim <= k < ndim:
        raise ShapeError(f"axis is out of range: {k} of {ndim} dimensions")
    return k % ndim


def many_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from the front, ascending; None means all of them."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, Sequence) else (axis,)
    axes = tuple(sorted(one_axis(k, ndim) for k in given))
    if len(set(axes)) != len(axes):
        raise ShapeError(f"an axis stands there twice: {tuple(given)}")
    return axes


def folded(shape: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """The shape that is left when `axes` are folded."""
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def unary(name: str, doc: str, ufunc: str = "", **fields: Any) -> Op:
    """An elementwise operation of one operand, typed as NumPy's ufunc of that name."""
    numpy_name = ufunc or name

    def rule(x: Expr) -> Type:
        return Type(x.shape, ufunc_dtypes(numpy_name, x.dtype)[-1])

    rule.__doc__ = doc
    return Op(name, Kind.ELEMENTWISE, rule, ufunc=numpy_name, **fields)


def binary(name: str, doc: str, ufunc: str = "", **fields: Any) -> Op:
    """An elementwise operation of two operands that broadcast, typed as NumPy's ufunc."""
    numpy_name = ufunc or name

    def rule(x: Expr, y: Expr) -> Type:
        dtype = ufunc_dtypes(numpy_name, x.dtype, y.dtype)[-1]
        return Type(broadcast(x.shape, y.shape), dtype)

    rule.__doc__ = doc
    return Op(name, Kind.ELEMENTWISE, rule, ufunc=numpy_name, **fields)


@cache
def sum_dtype(dtype: DType) -> DType:
    """NumPy widens booleans and small integers so that sums of them do not wrap round."""
    return np.add.reduce(np.empty(0, dtype)).dtype if dtype.kind in "biu" else dtype


def wide_sums(node: Expr) -> Type:
    """A temporary for the result in the dtype it accumulates in; a scalar if that is its own."""
    wide = accumulator(node.dtype)
    return Type(node.shape if wide != node.dtype else (), wide)
