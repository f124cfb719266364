"""Subscripts, and elements gathered and scattered by arrays of indices."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from deepgraph.dims import Dim, Shape, Size, pretty, product, same
from deepgraph.errors import DTypeError, GraphError, OutOfRangeError, ShapeError
from deepgraph.expr import Expr, Kind, Type, composition, lift, op
from deepgraph.ops.creation import iota
from deepgraph.ops.rules import broadcast, one_axis, wide_sums
from deepgraph.ops.shape import expand_dims, moveaxis, reshape
from deepgraph.ops.slicing import _slice
from deepgraph.ops.source import as_shape


def _indices(given: Any) -> Expr:
    """Indices as an expression of whole numbers: of one, of a number, an array or a list."""
    try:
        array = given if isinstance(given, Expr) else np.asarray(given)
    except ValueError:  # of lists that are not equally long
        array = np.asarray(None)
    if isinstance(given, Sequence) and not array.size:
        array = np.zeros(np.shape(array), np.int64)
    if not isinstance(array, Expr) and array.dtype.kind not in "biuf":
        raise DTypeError(f"indices are whole numbers: got {given!r}")
    (lifted,) = lift([array])
    _need_integers(lifted)
    return lifted


def _need_integers(indices: Expr) -> None:
    if indices.dtype.kind == "b":
        raise DTypeError(
            f"a mask selects a number of elements that only data decides: got {indices}; "
            "write dg.where(mask, x, other)"
        )
    if indices.dtype.kind not in "iu":
        raise DTypeError(f"indices are whole numbers: got {indices}; write .astype('int64')")


def _check_known(indices: Expr, n: Size, axis: int) -> None:
    """What the library checks when a step runs, now, where both indices and size are known."""
    if indices.op.name == "constant" and isinstance(n, int):
        known = indices.attr("value").value
        if (bad := known[(known < -n) | (known >= n)]).size:
            raise OutOfRangeError(f"index {bad[0]} is out of range: axis {axis} has size {n}")


def _take_grad(g: Expr, y: Expr, x: Expr, indices: Expr, axis: int) -> tuple[Expr, None]:
    return _scatter_add(g, indices, x.shape[axis], axis), None


@op(
    Kind.CALL, alias=False, refuses=True, numpy="lib.take({0}, {1}, {out}, {axis})", flops=0,
    grad=_take_grad,
)  # fmt: skip
def _take(x: Expr, indices: Expr, axis: int | None = None) -> Type:
    """Elements of x along one axis: `x[:, indices]` for axis 1, indices of any shape."""
    _need_integers(indices)
    if axis is None and x.ndim != 1:
        raise ShapeError(f"axis is needed unless x is a vector: got {pretty(x.shape)}")
    k = one_axis(0 if axis is None else axis, x.ndim)
    _check_known(indices, x.shape[k], k)
    return Type((*x.shape[:k], *indices.shape, *x.shape[k + 1 :]), x.dtype, {"axis": k})


def _scatter_scratch(node: Expr) -> list[Type]:
    """Each value's place in the flat result, and the sums."""
    return [Type(node.inputs[0].shape, np.dtype(np.int64)), wide_sums(node)]


@op(
    Kind.CALL, alias=False, refuses=True,
    numpy="lib.scatter_add({0}, {1}, {out}, {axis}, {tmp0}, {tmp1})",
    grad=lambda g, y, x, indices, size, axis: (_take(g, indices, axis), None),
    scratch=_scatter_scratch, flops=lambda node: node.inputs[0].size,
)  # fmt: skip
def _scatter_add(x: Expr, indices: Expr, size: Size, axis: int = 0) -> Type:
    """Zeros, to which x is added where `indices` say, each as often as it is named: take's adjoint.

    The axes of x from `axis` on are first those of `indices`; in the result one axis of `size`
    stands for them.
    """
    _need_integers(indices)
    k = one_axis(axis, x.ndim - indices.ndim + 1)
    (n,) = as_shape(size)
    found = x.shape[k : k + indices.ndim]
    if len(found) != indices.ndim or not all(map(same, found, indices.shape)):
        raise ShapeError(f"axes from {k} on are not those of the indices: {pretty(x.shape)} "
                         f"and {pretty(indices.shape)}")  # fmt: skip
    _check_known(indices, n, k)
    shape = (*x.shape[:k], n, *x.shape[k + indices.ndim :])
    return Type(shape, x.dtype, {"size": n, "axis": k})


@op(
    Kind.CALL, alias=False, refuses=True, numpy="lib.flat_index(({args},), {shape}, {out})",
    flops=lambda node: node.size * len(node.inputs),
)  # fmt: skip
def _flat_index(indices: Sequence[Expr], shape: Shape) -> Type:
    """Positions in a flattened array of `shape`, of the indices for each of its axes.

    The indices broadcast; negative ones count from the end; IndexError for one out of range.
    """
    sizes = as_shape(shape)
    if len(indices) != len(sizes) or not indices:
        raise ShapeError(f"one array of indices for each axis: {len(indices)} and {pretty(sizes)}")
    for axis, (one, n) in enumerate(zip(indices, sizes, strict=True)):
        _need_integers(one)
        _check_known(one, n, axis)
    return Type(broadcast(*(i.shape for i in indices)), np.dtype(np.int64), {"shape": sizes})


@composition
def take(x: Expr, indices: Any, axis: int | None = None) -> Expr:
    """Elements of x along one axis: `x[:, indices]` for axis 1, indices of any shape.

    `indices` are an expression, an array, a list or a number. Their axes stand in place of `axis`,
    which a vector need not name. Negative indices count from the end; IndexError, when a step runs,
    for one that is out of range.
    """
    return _take(x, _indices(indices), axis)


@composition
def scatter_add(x: Expr, indices: Any, size: Size, axis: int = 0) -> Expr:
    """Zeros, to which x is added where `indices` say, each as often as it is named: take's adjoint.

    The axes of x from `axis` on are first those of `indices`; in the result one axis of `size`
    stands for them. Negative indices count from the end; IndexError for one out of range.
    """
    return _scatter_add(x, _indices(indices), size, axis)


@composition
def take_along_axis(x: Expr, indices: Any, axis: int = -1) -> Expr:
    """For each place, the element of its own line along `axis` that `indices` name there.

    x and `indices` have as many axes, and broadcast in all but `axis`.
    """
    along = _indices(indices)
    k = one_axis(axis, x.ndim)
    if along.ndim != x.ndim:
        raise ShapeError(f"as many axes are needed: {pretty(x.shape)} and {pretty(along.shape)}")
    rest = [n for i, n in enumerate(x.shape) if i != k]
    broadcast(tuple(rest), tuple(n for i, n in enumerate(along.shape) if i != k))
    if x.ndim == 1:
        return take(x, along, 0)
    places = [along if i == k else _steps(n, i, x.ndim) for i, n in enumerate(x.shape)]
    return take(reshape(x, (-1,)), _flat_index(places, x.shape), 0)


def _steps(n: Size, axis: int, ndim: int) -> Expr:
    """0, 1, ... along one of `ndim` axes."""
    return reshape(iota(n), tuple(n if i == axis else 1 for i in range(ndim)))


@composition
def one_hot(indices: Any, classes: Size, dtype: Any = "float32", axis: int = -1) -> Expr:
    """1 where the class is the index and 0 elsewhere, with the classes along a new axis.

    An index outside [0, classes) gives zeros only.
    """
    x = _indices(indices)
    k = one_axis(axis, x.ndim + 1)
    line = _steps(classes, 0, x.ndim + 1 - k)
    hot: Expr = expand_dims(x, k) == line
    return hot.astype(dtype)


@composition
def getitem(x: Expr, index: Any) -> Expr:
    """`x[index]` of whole numbers, slices, `...`, `None` and arrays of whole numbers, as in NumPy.

    Arrays broadcast against each other; their axes stand where the first of them stands, or first
    if a slice comes between them. Boolean masks are refused: their size only data decides.
    """
    entries = list(index) if isinstance(index, tuple) else [index]
    entries = _filled([_entry(e) for e in entries], x)
    used = [e for e in entries if e is not None]
    arrays = [e for e in used if isinstance(e, Expr)]
    basic = [_ALL if isinstance(e, Expr) else e for e in used]
    y = x if all(map(_is_whole, basic)) else _slice(x, basic)
    kept = [e for e in entries if e is None or isinstance(e, Expr | builtins.slice)]
    if new := tuple(i for i, e in enumerate(kept) if e is None):
        y = expand_dims(y, new)
    if not arrays:
        return y
    where = tuple(i for i, e in enumerate(kept) if isinstance(e, Expr))
    apart = [i for i, e in enumerate(entries) if not (e is None or isinstance(e, builtins.slice))]
    first = where[0] if apart[-1] - apart[0] + 1 == len(apart) else 0
    y = moveaxis(y, where, tuple(range(first, first + len(where))))
    if len(arrays) == 1:
        return take(y, arrays[0], first)
    sizes = y.shape[first : first + len(where)]
    merged = (*y.shape[:first], product(sizes), *y.shape[first + len(where) :])
    return take(reshape(y, merged), _flat_index(arrays, sizes), first)


_ALL = builtins.slice(None)


def _is_whole(entry: Any) -> bool:
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, builtins.slice) else (0,)
    return all(part is None for part in parts)


def _entry(entry: Any) -> Any:
    """One part of a subscript: a whole number, a slice, `...`, None, or an Expr of indices."""
    if isinstance(entry, bool | np.bool_):
        raise GraphError(f"a truth value is no index: got {entry}; write dg.where")
    if entry is None or isinstance(entry, int | Dim | builtins.slice | EllipsisType):
        return entry
    if isinstance(entry, np.integer):
        return int(entry)
    if not isinstance(entry, Expr | np.ndarray | list):
        raise GraphError(f"an index is a number, a slice or an array: got {entry!r}")
    return _indices(entry)


def _filled(entries: list[Any], x: Expr) -> list[Any]:
    """The entries with slices in place of `...`, or at the end, for the axes that none names."""
    dots = [i for i, e in enumerate(entries) if e is ...]
    if len(dots) > 1:
        raise GraphError("an index holds `...` once")
    missing = x.ndim - sum(e is not None and e is not ... for e in entries)
    if missing < 0:
        raise OutOfRangeError(f"{x.ndim - missing} indices for {x.ndim} axes: {pretty(x.shape)}")
    at = dots[0] if dots else len(entries)
    return [*entries[:at], *[_ALL] * missing, *entries[at + len(dots) :]]
