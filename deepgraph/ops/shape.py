"""Other shapes over the same elements: views, each with the rule by which its strides follow."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from deepgraph.dims import Shape, Size, equal, maximum, minimum, pretty, product, same, same_shape
from deepgraph.errors import ShapeError
from deepgraph.expr import OPS, Example, Expr, Kind, Strided, Type, composition, lift, op
from deepgraph.ops.creation import iota
from deepgraph.ops.rules import broadcast, many_axes, one_axis
from deepgraph.ops.selection import where
from deepgraph.ops.source import as_shape


def _reshape_view(at: Strided, node: Expr) -> Strided | None:
    """Runs of axes that lie in memory as one axis may be cut anew; an axis across two runs not."""
    if any(same(n, 0) for n in node.shape):  # nothing is read
        return Strided(node.shape, (1,) * node.ndim, at.offset)
    runs: list[tuple[Size, Size]] = []
    for n, stride in zip(at.shape, at.strides, strict=True):
        if same(n, 1):
            continue
        if runs and same(runs[-1][1], stride * n):
            runs[-1] = runs[-1][0] * n, stride
        else:
            runs.append((n, stride))
    strides: list[Size] = [0] * node.ndim
    axis = node.ndim
    for size, stride in reversed(runs):
        held: Size = 1
        while not same(held, size):
            axis -= 1
            if axis < 0:
                return None
            strides[axis] = stride * held
            held = held * node.shape[axis]
    return Strided(node.shape, tuple(strides), at.offset)


@op(
    Kind.VIEW, numpy="{0}.reshape({shape})", view=_reshape_view,
    grad=lambda g, y, x, shape: (g.reshape(x.shape),),
    examples=(
        Example(((2, 3, 4),), {"shape": (6, 4)}),
        Example(((2, 6),), {"shape": (2, 1, -1, 3)}),
        Example(((1, 1),), {"shape": ()}),
        Example(((0, 3),), {"shape": (3, 0)}),
    ),
)  # fmt: skip
def reshape(x: Expr, shape: Shape) -> Type:
    """The same elements, in row-major order, under another shape.

    One size may be -1: what is left over. Raises ShapeError unless both shapes are proved to hold
    as many elements: `(batch, 1, 8, 8)` gives `(batch, 64)` and `(batch, -1)`.
    """
    given = list(shape) if isinstance(shape, Sequence) and not isinstance(shape, str) else [shape]
    open_axes = [i for i, n in enumerate(given) if isinstance(n, int | np.integer) and n == -1]
    for i in open_axes:
        given[i] = 1
    sizes, count = list(as_shape(given)), x.size
    if open_axes:
        known = product(sizes)
        if len(open_axes) > 1:
            raise ShapeError(f"only one size may be -1: got {len(open_axes)} of them")
        if same(known, 0):
            raise ShapeError(f"-1 beside a size of 0 could be anything: {pretty(x.shape)}")
        sizes[open_axes[0]] = count // known
    total = product(sizes)
    if not (fits := equal(count, total)):
        what = "differ in elements" if fits is False else "are not proved to hold as many elements"
        left = " with -1" * bool(open_axes)
        raise ShapeError(
            f"shapes {what}: {pretty(x.shape)} holds {count} and {pretty(tuple(sizes))}{left} "
            f"holds {total}"
        )
    return Type(tuple(sizes), x.dtype, {"shape": tuple(sizes)})


@composition
def flatten(x: Expr, start_axis: int = 0) -> Expr:
    """All axes from `start_axis` on as one: `flatten(x, 1)` keeps the batch axis."""
    if x.ndim == 0:
        return reshape(x, (1,))
    first = one_axis(start_axis, x.ndim)
    return reshape(x, (*x.shape[:first], product(x.shape[first:])))


def _inverse(axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(axes.index(i) for i in range(len(axes)))


def _permute_grad(g: Expr, y: Expr, x: Expr, axes: tuple[int, ...]) -> tuple[Expr]:
    return (permute_dims(g, _inverse(axes)),)


@op(
    Kind.VIEW, aliases=("transpose",), numpy="{0}.transpose({axes})", grad=_permute_grad,
    view=lambda at, node: Strided(
        node.shape, tuple(at.strides[a] for a in node.attr("axes")), at.offset
    ),
    examples=(
        Example(((2, 3, 4),), {"axes": (2, 0, 1)}),
        Example(((2, 3),), {"axes": None}),
        Example(((),), {"axes": ()}),
    ),
)  # fmt: skip
def permute_dims(x: Expr, axes: Sequence[int] | None = None) -> Type:
    """The axes in another order: axis i becomes what was axis `axes[i]`; None reverses them."""
    order = (
        tuple(reversed(range(x.ndim))) if axes is None else tuple(one_axis(a, x.ndim) for a in axes)
    )
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(f"not a permutation of {x.ndim} axes: {axes}")
    return Type(tuple(x.shape[a] for a in order), x.dtype, {"axes": order})


@composition
def matrix_transpose(x: Expr) -> Expr:
    """The last two axes exchanged."""
    return swapaxes(x, -2, -1)


@composition
def swapaxes(x: Expr, axis1: int, axis2: int) -> Expr:
    """Two axes exchanged."""
    i, j = one_axis(axis1, x.ndim), one_axis(axis2, x.ndim)
    axes = list(range(x.ndim))
    axes[i], axes[j] = j, i
    return permute_dims(x, axes)


@composition
def moveaxis(x: Expr, source: int | Sequence[int], destination: int | Sequence[int]) -> Expr:
    """Axes moved to other places; those that are not named keep their order."""
    source, destination = _axes(source, x.ndim), _axes(destination, x.ndim)
    if len(source) != len(destination):
        raise ShapeError(f"as many axes as places are needed: {source} and {destination}")
    axes = [i for i in range(x.ndim) if i not in source]
    for place, axis in sorted(zip(destination, source, strict=True)):
        axes.insert(place, axis)
    return permute_dims(x, axes)


def _axes(axis: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Axes counted from the front, in the order given."""
    axes = tuple(one_axis(a, ndim) for a in (axis if isinstance(axis, Sequence) else (axis,)))
    many_axes(axes, ndim)
    return axes


def _expand_dims_view(at: Strided, node: Expr) -> Strided:
    strides = list(at.strides)
    for a in node.attr("axis"):
        strides.insert(a, 0)
    return Strided(node.shape, tuple(strides), at.offset)


def _expand_dims_grad(g: Expr, y: Expr, x: Expr, axis: tuple[int, ...]) -> tuple[Expr]:
    return (squeeze(g, axis),)


@op(
    Kind.VIEW, numpy="{xp}.expand_dims({0}, {axis})", view=_expand_dims_view,
    grad=_expand_dims_grad,
    examples=(
        Example(((2, 3),), {"axis": 1}),
        Example(((2, 3),), {"axis": (0, -1)}),
        Example(((),), {"axis": 0}),
    ),
)  # fmt: skip
def expand_dims(x: Expr, axis: int | Sequence[int] = 0) -> Type:
    """Axes of size 1 put in, so that they stand at `axis` in the result."""
    count = len(axis) if isinstance(axis, Sequence) else 1
    axes = many_axes(axis, x.ndim + count)
    sizes = list(x.shape)
    for a in axes:
        sizes.insert(a, 1)
    return Type(tuple(sizes), x.dtype, {"axis": axes})


def _without(items: Sequence[Size], axes: Sequence[int]) -> tuple[Size, ...]:
    return tuple(n for i, n in enumerate(items) if i not in axes)


@op(
    Kind.VIEW, numpy="{xp}.squeeze({0}, {axis})",
    view=lambda at, node: Strided(node.shape, _without(at.strides, node.attr("axis")), at.offset),
    grad=lambda g, y, x, axis: (expand_dims(g, axis),),
    examples=(
        Example(((2, 1, 3, 1),), {"axis": None}),
        Example(((2, 1, 3, 1),), {"axis": (-1,)}),
    ),
)  # fmt: skip
def squeeze(x: Expr, axis: int | Sequence[int] | None = None) -> Type:
    """Axes of size 1 left out: those named, or all of them. A named size is not 1."""
    if axis is None:
        axes = tuple(i for i, n in enumerate(x.shape) if same(n, 1))
    else:
        axes = many_axes(axis, x.ndim)
    if wide := [i for i in axes if not same(x.shape[i], 1)]:
        raise ShapeError(f"axis {wide[0]} is not of size 1: {pretty(x.shape)}")
    return Type(_without(x.shape, axes), x.dtype, {"axis": axes})


def _broadcast_view(at: Strided, node: Expr) -> Strided:
    lead = node.ndim - len(at.shape)
    kept = zip(at.shape, at.strides, node.shape[lead:], strict=True)
    strides = (stride if same(n, m) else 0 for n, stride, m in kept)
    return Strided(node.shape, (*[0] * lead, *strides), at.offset)


@op(
    Kind.VIEW, numpy="{xp}.broadcast_to({0}, {shape})", view=_broadcast_view,
    grad=lambda g, y, x, shape: (g,),
    examples=(
        Example(((3, 1),), {"shape": (2, 3, 4)}),
        Example(((),), {"shape": (2, 2)}),
        Example(((2, 3),), {"shape": (2, 3)}),
    ),
)  # fmt: skip
def broadcast_to(x: Expr, shape: Shape) -> Type:
    """x repeated along axes that it lacks, or has with size 1, until it has this shape."""
    sizes = as_shape(shape)
    if not same_shape(broadcast(x.shape, sizes), sizes):
        raise ShapeError(f"does not broadcast: {pretty(x.shape)} to {pretty(sizes)}")
    return Type(sizes, x.dtype, {"shape": sizes})


@composition
def broadcast_arrays(*arrays: Any) -> list[Expr]:
    """Each array in the shape that all of them broadcast to."""
    lifted = lift(arrays)
    shape = broadcast(*(x.shape for x in lifted))
    return [x if same_shape(x.shape, shape) else broadcast_to(x, shape) for x in lifted]


def _diagonal_view(at: Strided, node: Expr) -> Strided:
    k, i, j = node.attrs
    first = -k * at.strides[i] if k < 0 else k * at.strides[j]
    strides = (*_without(at.strides, (i, j)), at.strides[i] + at.strides[j])
    return Strided(node.shape, strides, at.offset + first)


def _diagonal_grad(
    g: Expr, y: Expr, x: Expr, offset: int, axis1: int, axis2: int
) -> tuple[Expr]:  # fmt: skip
    """The diagonal put on a matrix of zeros: where column - row is the offset."""
    rows, columns = x.shape[axis1], x.shape[axis2]
    before = minimum(max(0, -offset), rows)
    widths = [(0, 0)] * (g.ndim - 1) + [(before, rows - before - g.shape[-1])]
    spread = expand_dims(OPS["pad"](g, widths), -1)
    column_minus_row = iota(columns) - expand_dims(iota(rows), 1)
    full = where(column_minus_row == offset, spread, 0)
    return (moveaxis(full, (-2, -1), (axis1, axis2)),)


@op(
    Kind.VIEW, numpy="{xp}.diagonal({0}, {offset}, {axis1}, {axis2})",
    view=_diagonal_view, grad=_diagonal_grad,
    examples=(
        Example(((3, 4),), {}),
        Example(((4, 3),), {"offset": -1}),
        Example(((2, 3, 4),), {"offset": 2, "axis1": -1, "axis2": 0}),
    ),
)  # fmt: skip
def diagonal(x: Expr, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Type:
    """The elements where axis1 and axis2 count alike, as a last axis in place of the two.

    A positive `offset` starts that far into axis2, a negative one into axis1.
    """
    k, i, j = index(offset), one_axis(axis1, x.ndim), one_axis(axis2, x.ndim)
    if i == j:
        raise ShapeError(f"a diagonal needs two axes: got {axis1} and {axis2}")
    length = maximum(0, minimum(x.shape[i] - max(0, -k), x.shape[j] - max(0, k)))
    attrs = {"offset": k, "axis1": i, "axis2": j}
    return Type((*_without(x.shape, (i, j)), length), x.dtype, attrs)


@composition
def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Expr]:
    """Coordinates of a grid: each vector along its own axis; "xy" exchanges the first two axes."""
    if indexing not in ("xy", "ij"):
        raise ShapeError(f'indexing is "xy" or "ij": got {indexing!r}')
    vectors = lift(arrays)
    places = list(range(len(vectors)))
    if indexing == "xy":
        places[:2] = places[:2][::-1]
    shaped = []
    for place, x in zip(places, vectors, strict=True):
        sizes: list[Size] = [1] * len(vectors)
        sizes[place] = x.size
        shaped.append(reshape(x, sizes))
    return list(broadcast_arrays(*shaped))
