"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from deepgraph.dims import pretty, product, same
from deepgraph.dtypes import ufunc_dtypes
from deepgraph.errors import ShapeError
from deepgraph.expr import Example, Expr, Kind, Type, composition, lift, op
from deepgraph.ops.arithmetic import multiply
from deepgraph.ops.reduce import sum as sum_
from deepgraph.ops.rules import broadcast, one_axis
from deepgraph.ops.shape import (
    diagonal,
    expand_dims,
    flatten,
    matrix_transpose,
    moveaxis,
    permute_dims,
    reshape,
    squeeze,
)


def _matmul_grad(g: Expr, out: Expr, x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """Vectors become matrices of one row or column; what broadcast is summed by `fit`."""
    if x.ndim == y.ndim == 1:
        return g * y, g * x
    if y.ndim == 1:
        column = expand_dims(g, -1)
        return column * y, squeeze(matmul(matrix_transpose(x), column), -1)
    if x.ndim == 1:
        row = expand_dims(g, -2)
        return squeeze(matmul(y, expand_dims(g, -1)), -1), expand_dims(x, 1) * row
    by_x = matmul(g, matrix_transpose(y))
    if y.ndim == 2 and x.ndim > 2:  # one product over all rows, not one for each matrix and a sum
        rows = product(x.shape[:-1])
        x, g = reshape(x, (rows, x.shape[-1])), reshape(g, (rows, g.shape[-1]))
    return by_x, matmul(matrix_transpose(x), g)


@op(
    Kind.CALL, alias=False, numpy="{xp}.matmul({0}, {1}, out={out})", grad=_matmul_grad,
    flops=lambda node: node.size * node.inputs[0].shape[-1] * 2,
    examples=(
        Example(((2, 3), (3, 4))),
        Example(((3,), (3,))),
        Example(((3,), (3, 4))),
        Example(((2, 3), (3,))),
        Example(((5, 2, 3), (3, 4))),
        Example(((2, 3), (5, 3, 4))),
        Example(((3,), (5, 3, 4))),
        Example(((5, 2, 3), (3,))),
        Example(((4, 1, 2, 3), (5, 3, 2))),
        Example(((2, 0), (0, 3))),
    ),
)  # fmt: skip
def matmul(x: Expr, y: Expr) -> Type:
    """The matrix product of the last two axes; the axes before them broadcast.

    A vector is a row on the left and a column on the right, and its axis is then left out.
    """
    if not x.ndim or not y.ndim:
        raise ShapeError(f"no scalars: got {pretty(x.shape)} and {pretty(y.shape)}; write *")
    if not same(x.shape[-1], y.shape[-2:][0]):
        raise ShapeError(f"inner sizes differ: {pretty(x.shape)} and {pretty(y.shape)}")
    batch = broadcast(x.shape[:-2], y.shape[:-2])
    shape = (*batch, *x.shape[-2:-1], *y.shape[-1:][: y.ndim - 1])
    return Type(shape, ufunc_dtypes("matmul", x.dtype, y.dtype)[-1])


@composition
def dot(x: Any, y: Any) -> Expr:
    """NumPy's dot: the last axis of x with the last but one of y; scalars multiply."""
    x, y = lift([x, y])
    if not x.ndim or not y.ndim:
        return multiply(x, y)
    return tensordot(x, y, ((-1,), (-1 if y.ndim == 1 else -2,)))


@composition
def vecdot(x: Any, y: Any, axis: int = -1) -> Expr:
    """The sum of products along one axis; the other axes broadcast."""
    x, y = lift([x, y])
    k, j = one_axis(axis, x.ndim), one_axis(axis, y.ndim)
    if not same(x.shape[k], y.shape[j]):
        raise ShapeError(f"sizes along axis {axis} differ: {pretty(x.shape)} and {pretty(y.shape)}")
    products = moveaxis(x, k, -1) * moveaxis(y, j, -1)
    return sum_(products, -1, dtype=products.dtype)


@composition
def tensordot(x: Any, y: Any, axes: int | Sequence[Any] = 2) -> Expr:
    """The sum of products over pairs of axes.

    `axes` is a pair of axes, or of lists of axes, of x and of y; or a number: so many last axes
    of x with as many first ones of y.
    """
    x, y = lift([x, y])
    if isinstance(axes, Sequence):
        mine, yours = (tuple(a) if isinstance(a, Sequence) else (a,) for a in axes)
    else:
        count = index(axes)
        if not 0 <= count <= min(x.ndim, y.ndim):
            raise ShapeError(f"{count} axes of {pretty(x.shape)} and {pretty(y.shape)}")
        mine, yours = tuple(range(x.ndim - count, x.ndim)), tuple(range(count))
    mine = tuple(one_axis(a, x.ndim) for a in mine)
    yours = tuple(one_axis(a, y.ndim) for a in yours)
    inner = [x.shape[a] for a in mine]
    if len(mine) != len(yours) or not all(map(same, inner, (y.shape[a] for a in yours))):
        raise ShapeError(f"sizes differ: axes {mine} of {pretty(x.shape)} and axes {yours} of "
                         f"{pretty(y.shape)}")  # fmt: skip
    left = [a for a in range(x.ndim) if a not in mine]
    right = [a for a in range(y.ndim) if a not in yours]
    rows, columns = [x.shape[a] for a in left], [y.shape[a] for a in right]
    x = reshape(permute_dims(x, [*left, *mine]), (product(rows), product(inner)))
    y = reshape(permute_dims(y, [*yours, *right]), (product(inner), product(columns)))
    return reshape(matmul(x, y), (*rows, *columns))


@composition
def outer(x: Any, y: Any) -> Expr:
    """Each element of x times each of y, both flattened: a matrix."""
    x, y = lift([x, y])
    return expand_dims(flatten(x), 1) * flatten(y)


@composition
def trace(x: Expr, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Expr:
    """The sum of a diagonal."""
    return sum_(diagonal(x, offset, axis1, axis2), -1)
