"""Arrays put together, taken apart, padded and rearranged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import index
from typing import Any

import numpy as np

from deepgraph.dims import Size, at_least, equal, pretty, same
from deepgraph.drawn import Drawn
from deepgraph.dtypes import DType, promote
from deepgraph.errors import DTypeError, GraphError, ShapeError
from deepgraph.expr import Example, Expr, Kind, Type, composition, lift, op
from deepgraph.ops.creation import iota
from deepgraph.ops.index import take
from deepgraph.ops.rules import many_axes, one_axis
from deepgraph.ops.selection import where
from deepgraph.ops.shape import broadcast_to, diagonal, expand_dims, flatten, reshape, squeeze
from deepgraph.ops.slicing import Span, _slice
from deepgraph.ops.source import as_shape


def _part(
    x: Expr, axis: int, start: Size | None, stop: Size | None, inside: bool = False
) -> Expr:  # fmt: skip
    """A slice along one axis."""
    return _slice(x, [*[Span()] * axis, Span(start, stop, inside=inside)])


def _concat_grad(g: Expr, y: Expr, *arrays: Expr, axis: int) -> list[Expr]:
    parts: list[Expr] = []
    start: Size = 0
    for x in arrays:
        stop = start + x.shape[axis]
        parts.append(_part(g, axis, start, stop, inside=True))
        start = stop
    return parts


@op(
    Kind.CALL, alias=False, aliases=("concatenate",),
    numpy="{xp}.concatenate(({args},), axis={axis}, out={out})",
    grad=_concat_grad, flops=0,
    examples=(
        Example(((2, 3), (2, 1), (2, 0)), {"axis": -1}),
        Example(((2, 3), (1, 3)), {}),
        Example(((3,),), {}),
    ),
)  # fmt: skip
def concat(arrays: Sequence[Expr], axis: int = 0) -> Type:
    """Arrays one after the other along an axis; in all other axes their sizes are the same.

    The dtype is the one they promote to.
    """
    if not arrays:
        raise ShapeError("at least one array is needed: got none")
    k = one_axis(axis, arrays[0].ndim)
    first = arrays[0].shape
    for x in arrays[1:]:
        rest = [(n, m) for i, (n, m) in enumerate(zip(first, x.shape, strict=False)) if i != k]
        if x.ndim != len(first) or not all(same(n, m) for n, m in rest):
            raise ShapeError(
                f"shapes differ beside axis {k}: {pretty(first)} and {pretty(x.shape)}"
            )
    total: Size = 0
    for x in arrays:
        total = total + x.shape[k]
    dtype = promote(*(x.dtype for x in arrays))
    return Type((*first[:k], total, *first[k + 1 :]), dtype, {"axis": k})


@composition
def stack(arrays: Sequence[Any], axis: int = 0) -> Expr:
    """Arrays of one shape along a new axis."""
    lifted = lift(arrays)
    if not lifted:
        raise ShapeError("at least one array is needed: got none")
    k = one_axis(axis, lifted[0].ndim + 1)
    return concat([expand_dims(x, k) for x in lifted], k)


@composition
def unstack(x: Expr, axis: int = 0) -> list[Expr]:
    """The slices along an axis of known size, without that axis."""
    k = one_axis(axis, x.ndim)
    n = x.shape[k]
    if not isinstance(n, int):
        raise ShapeError(f"axis {k} has no size known now: {pretty(x.shape)}")
    return [squeeze(_part(x, k, i, i + 1), k) for i in range(n)]


@composition
def split(x: Expr, sections: int | Sequence[Size], axis: int = 0) -> list[Expr]:
    """Parts along an axis: so many equal ones, or those between the indices to cut at."""
    k = one_axis(axis, x.ndim)
    n = x.shape[k]
    cuts: list[Size]
    if isinstance(sections, Sequence):
        cuts = list(sections)
    else:
        count = index(sections)
        if count < 1 or equal(n // count * count, n) is not True:
            raise ShapeError(f"axis {k} is not proved to fall into {count} equal parts: {n}")
        cuts = [i * (n // count) for i in range(1, count)]
    bounds: list[Size | None] = [None, *cuts, None]
    return [_part(x, k, a, b) for a, b in pairwise(bounds)]


Widths = int | Sequence[Any]


def _pairs(widths: Widths, ndim: int) -> tuple[tuple[Size, Size], ...]:
    """(before, after) for each axis, of what `np.pad` takes."""
    each: list[Any] = list(widths) if isinstance(widths, Sequence) else [widths]
    if each and not any(isinstance(w, Sequence) for w in each):
        each = [each]
    if len(each) == 1:
        each = each * ndim
    pairs = [tuple(w) * (2 if len(w) == 1 else 1) for w in each]
    if len(pairs) != ndim or any(len(p) != 2 for p in pairs):
        raise ShapeError(f"(before, after) is needed for each of {ndim} axes: got {widths}")
    if any(at_least(w, 0) is False for p in pairs for w in p):
        raise ShapeError(f"a width is not negative: got {widths}; a slice makes an axis shorter")
    return tuple(as_shape(p) for p in pairs)  # type: ignore[misc]


def _fitting(value: Any, dtype: DType) -> bool | int | float:
    """A number of this dtype, as Python's."""
    try:
        cast = np.asarray(value, np.result_type(dtype, value)).astype(dtype)
    except (TypeError, OverflowError) as error:
        raise DTypeError(f"not a {dtype.name}: {value!r}") from error
    if dtype.kind in "biu" and cast != value:
        raise DTypeError(f"not a {dtype.name}: {value!r}")
    return cast.item()  # type: ignore[no-any-return]


def _pad_grad(g: Expr, y: Expr, x: Expr, widths: Any, value: float) -> tuple[Expr]:
    pairs = zip(widths, x.shape, strict=True)
    return (_slice(g, [Span(before, before + n, inside=True) for (before, _), n in pairs]),)


@op(
    Kind.CALL, alias=False, numpy="lib.pad({0}, {out}, {widths}, {value})", grad=_pad_grad, flops=0,
    examples=(
        Example(((2, 3),), {"widths": 1}),
        Example(((2, 3),), {"widths": ((0, 2), (1, 0)), "value": 1.5}),
        Example(((),), {"widths": ()}),
    ),
)  # fmt: skip
def pad(x: Expr, widths: Widths, value: float = 0) -> Type:
    """x in a border of one value, `(before, after)` wide on each axis; or one pair or number."""
    pairs = _pairs(widths, x.ndim)
    shape = tuple(a + n + b for n, (a, b) in zip(x.shape, pairs, strict=True))
    return Type(shape, x.dtype, {"widths": pairs, "value": _fitting(value, x.dtype)})


@composition
def flip(x: Expr, axis: int | Sequence[int] | None = None) -> Expr:
    """The order reversed along axes, or along all."""
    axes = many_axes(axis, x.ndim)
    return _slice(x, [Span(None, None, -1 if i in axes else 1) for i in range(x.ndim)])


@composition
def roll(
    x: Expr, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> Expr:  # fmt: skip
    """Elements moved along axes by `shift` places, round the end; over the flattened x for None."""
    if axis is None:
        return reshape(roll(flatten(x), shift, 0), x.shape)
    axes = axis if isinstance(axis, Sequence) else (axis,)
    shifts = shift if isinstance(shift, Sequence) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ShapeError(f"as many shifts as axes are needed: {shift} and {axis}")
    for s, a in zip(shifts, axes, strict=True):
        k = one_axis(a, x.ndim)
        n = x.shape[k]
        if not isinstance(n, int):
            x = take(x, (iota(n) - index(s)) % n, k)
        elif n and (cut := index(s) % n):
            x = concat([_part(x, k, n - cut, None), _part(x, k, None, n - cut)], k)
    return x


@composition
def repeat(x: Expr, repeats: int | Sequence[int], axis: int | None = None) -> Expr:
    """Each element `repeats` times in a row along an axis; over the flattened x for None."""
    if axis is None:
        return repeat(flatten(x), repeats, 0)
    k = one_axis(axis, x.ndim)
    n = x.shape[k]
    if isinstance(repeats, Sequence):
        if not isinstance(n, int) or len(repeats) != n:
            raise ShapeError(f"as many repeats as elements are needed: {len(repeats)} and {n}")
        return take(x, np.repeat(np.arange(n), repeats), k)
    (times,) = as_shape(repeats)
    before, after = x.shape[:k], x.shape[k + 1 :]
    spread = broadcast_to(expand_dims(x, k + 1), (*before, n, times, *after))
    return reshape(spread, (*before, n * times, *after))


@composition
def tile(x: Expr, repetitions: int | Sequence[int]) -> Expr:
    """x side by side with itself, so often along each of the last axes."""
    times = as_shape(repetitions)
    sizes = (*[1] * (len(times) - x.ndim), *x.shape)
    times = (*[1] * (len(sizes) - len(times)), *times)
    apart: list[Size] = []
    for n in sizes:
        apart += [1, n]
    spread: list[Size] = []
    for t, n in zip(times, sizes, strict=True):
        spread += [t, n]
    whole = tuple(t * n for t, n in zip(times, sizes, strict=True))
    return reshape(broadcast_to(reshape(x, apart), spread), whole)


def _column_minus_row(x: Expr) -> Expr:
    if x.ndim < 2:
        raise ShapeError(f"two dimensions or more are needed: got {pretty(x.shape)}")
    rows, columns = x.shape[-2:]
    return iota(columns) - expand_dims(iota(rows), 1)


@composition
def tril(x: Expr, k: int = 0) -> Expr:
    """The lower triangle of the last two axes; 0 above diagonal k."""
    return where(_column_minus_row(x) <= index(k), x, False)


@composition
def triu(x: Expr, k: int = 0) -> Expr:
    """The upper triangle of the last two axes; 0 below diagonal k."""
    return where(_column_minus_row(x) >= index(k), x, False)


@composition
def diag(x: Expr, k: int = 0) -> Expr:
    """The diagonal k of a matrix, or a matrix of zeros with a vector on its diagonal k."""
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ShapeError(f"a vector or a matrix is needed: got {pretty(x.shape)}")
    column = reshape(pad(x, (max(0, -index(k)), max(0, k))), (-1, 1))
    square = broadcast_to(column, (column.size, column.size))
    return where(_column_minus_row(square) == k, column, False)


@composition
def diff(x: Any, n: Any = 1, axis: int = -1) -> Any:
    """The differences of neighbours along an axis, n times; of booleans, whether they differ.

    Of two graphs, steps or expressions, `diff(before, after)`, what changed: see `show.diff`.
    """
    if isinstance(n, Drawn):
        from deepgraph.show import diff

        return diff(x, n)
    k = one_axis(axis, x.ndim)
    if index(n) < 0:
        raise GraphError(f"the order of a difference is not negative: {n}")
    for _ in range(n):
        after, before = _part(x, k, 1, None), _part(x, k, None, -1)
        x = after != before if x.dtype.kind == "b" else after - before
    return x
