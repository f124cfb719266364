"""Basic indexing: whole numbers and slices, which make a view; and its adjoint."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index as whole
from typing import Any, NamedTuple

from deepgraph.dims import (
    Dim,
    Shape,
    Size,
    at_least,
    code,
    maximum,
    minimum,
    pretty,
    same,
    same_shape,
)
from deepgraph.errors import GraphError, OutOfRangeError, ShapeError
from deepgraph.expr import Example, Expr, Kind, Need, Strided, Type, op
from deepgraph.ops.source import as_shape


class Span(NamedTuple):
    """A slice along one axis. An int counts from the end if negative; a Dim never is.

    `inside` promises 0 <= start <= stop <= the axis's size, for sizes of which that is not proved.
    """

    start: Size | None = None
    stop: Size | None = None
    step: int = 1
    inside: bool = False

    def __str__(self) -> str:
        start, stop = ("" if n is None else code(n) for n in (self.start, self.stop))
        return f"{start}:{stop}" + (f":{self.step}" if self.step != 1 else "")


@dataclass(frozen=True)
class Index:
    """An entry for each axis: a position, which drops the axis, or a span. Prints as NumPy text."""

    entries: tuple[Size | Span, ...]

    def __repr__(self) -> str:
        entries = list(self.entries)
        while entries and entries[-1] == Span():
            entries.pop()
        texts = [str(e) if isinstance(e, Span) else code(e) for e in entries]
        if not any(isinstance(e, Span) for e in entries):
            texts.append("...")  # so that no axes left is an array still, and a view
        return ", ".join(texts)

    __str__ = __repr__


def as_index(entries: Sequence[Any], shape: Shape) -> Index:
    """Entries (whole numbers, sizes, slices) for the first axes of a shape, in normal form."""
    if len(entries) > len(shape):
        raise OutOfRangeError(f"{len(entries)} indices for {len(shape)} axes: {pretty(shape)}")
    filled = [*entries, *[Span()] * (len(shape) - len(entries))]
    found = (
        _span(e, n) if isinstance(e, Span | builtins.slice) else _point(e, n, axis)
        for axis, (e, n) in enumerate(zip(filled, shape, strict=True))
    )
    return Index(tuple(found))


def _point(entry: Any, n: Size, axis: int) -> Size:
    if isinstance(entry, Dim):
        if at_least(entry, 0) is not True:
            raise OutOfRangeError(f"a symbolic index counts from the front: {entry} may be < 0")
        inside = at_least(n - entry, 1)
    else:
        entry = whole(entry)
        inside = at_least(n, -entry if entry < 0 else entry + 1)
    if inside is False:
        raise OutOfRangeError(f"index {entry} is out of range: axis {axis} has size {n}")
    return entry % n if isinstance(entry, int) and isinstance(n, int) else entry


def _bound(entry: Any) -> Size | None:
    if isinstance(entry, Expr):
        raise GraphError(
            f"the bound of a slice is known before a step runs: got {entry}; gather with dg.take"
        )
    if not isinstance(entry, Dim):
        return None if entry is None else whole(entry)
    if at_least(-entry, 0) is True and not same(entry, 0):
        raise OutOfRangeError(
            f"a symbolic bound counts from the front: got {entry}; write x.shape[axis] - {-entry}"
        )
    return maximum(entry, 0)


def _span(entry: Span | builtins.slice, n: Size) -> Span:
    step = 1 if entry.step is None else whole(entry.step)
    if step == 0:
        raise OutOfRangeError("the step of a slice is not 0")
    inside = isinstance(entry, Span) and entry.inside
    start, stop = entry.start, entry.stop
    if not inside:
        start, stop = _bound(start), _bound(stop)
    first, count = positions(Span(start, stop, step, inside), n)
    if same(count, 0):
        return Span(0, 0)
    if same(count, 1) and isinstance(first, int):
        return Span() if same(n, 1) else Span(first, first + 1)
    if isinstance(count, int) and isinstance(first, int):
        end = first + count * step
        start, stop = first, None if end < 0 else min(end, n) if isinstance(n, int) else end
    if step > 0:
        start = None if start is None or same(start, 0) else start
        stop = None if stop is None or same(stop, n) else stop
    elif start is not None and same(start, n - 1):
        start = None
    symbolic = isinstance(start, Dim) or isinstance(stop, Dim)
    return Span(start, stop, step, inside and symbolic)


def positions(span: Span, n: Size) -> tuple[Size, Size]:
    """Where a span starts on an axis of this size, and how many elements it takes.

    Where it takes none, the start may be off the axis.
    """
    start, stop, step, inside = span

    def counted(bound: Size) -> Size:
        return bound + n if isinstance(bound, int) and bound < 0 else bound

    if step > 0:
        first = 0 if start is None else counted(start)
        end = n if stop is None else counted(stop)
        if not inside:
            first, end = maximum(first, 0), minimum(end, n)
        count = (end - first + step - 1) // step
    else:
        first = n - 1 if start is None else counted(start)
        end = -1 if stop is None else counted(stop)
        if not inside:
            first, end = minimum(first, n - 1), maximum(end, -1)
        count = (first - end - step - 1) // -step
    exact = inside or (start is None and stop is None)
    return first, count if exact else maximum(count, 0)


def _strided(at: Strided, node: Expr) -> Strided:
    shape: list[Size] = []
    strides: list[Size] = []
    offset = at.offset
    for entry, n, stride in zip(node.attr("index").entries, at.shape, at.strides, strict=True):
        if isinstance(entry, Span):
            start, count = positions(entry, n)
            shape.append(count)
            strides.append(stride * entry.step)
        else:
            start = _counted(entry, n)
        offset = offset + start * stride
    return Strided(tuple(shape), tuple(strides), offset)


def _counted(entry: Size, n: Size) -> Size:
    """A position counted from the front."""
    return entry + n if isinstance(entry, int) and entry < 0 else entry


def _needs(node: Expr) -> list[Need]:
    """Every position lies on its axis."""
    pairs = zip(node.attr("index").entries, node.inputs[0].shape, strict=True)
    found = []
    for entry, n in pairs:
        if not isinstance(entry, Span):
            at, text = _counted(entry, n), f"index {entry} is out of range of {n}"
            found += [Need(low, text, OutOfRangeError) for low in (at, n - at - 1)]
    return found


def _sliced(entries: Index, shape: Shape) -> Shape:
    pairs = zip(entries.entries, shape, strict=True)
    return tuple(positions(e, n)[1] for e, n in pairs if isinstance(e, Span))


_EXAMPLES: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[Any, ...]], ...] = (
    ((4, 5), (3, 2), (Span(1, None), Span(None, -1, 2))),
    ((4, 5), (4,), (Span(None, None, -1), 2)),
    ((3, 4, 5), (2, 5), (-1, Span(3, 0, -2))),
    ((3,), (), (1,)),
    ((), (), ()),
)


def _slice_grad(g: Expr, y: Expr, x: Expr, index: Index) -> tuple[Expr]:
    return (_unslice(g, x.shape, index),)


@op(
    Kind.VIEW, numpy="{0}[{index}]", view=_strided, needs=_needs,
    grad=_slice_grad,
    examples=tuple(Example((shape,), {"index": entries}) for shape, _, entries in _EXAMPLES),
)  # fmt: skip
def _slice(x: Expr, index: Index) -> Type:
    """What `x[1:, ::2, 0]` shows of x: a position drops its axis, a span keeps part of it.

    Bounds may be sizes, which count from the front, never from the end. As in Python, a span stops
    where the axis does, so of a named size `x[1:]` has `max(0, n - 1)`; a position on a named size
    is checked when a step runs.
    """
    normal = as_index(index.entries if isinstance(index, Index) else index, x.shape)
    return Type(_sliced(normal, x.shape), x.dtype, {"index": normal})


@op(
    Kind.CALL, alias=False, numpy="{out}.fill(0)\n{out}[{index}] = {0}",
    grad=lambda g, y, x, shape, index: (_slice(g, index),),
    flops=0,
    examples=tuple(
        Example((part,), {"shape": shape, "index": entries}) for shape, part, entries in _EXAMPLES
    ),
)  # fmt: skip
def _unslice(x: Expr, shape: Shape, index: Index) -> Type:
    """Zeros of this shape, with x where `index` points: the adjoint of slicing."""
    sizes = as_shape(shape)
    normal = as_index(index.entries if isinstance(index, Index) else index, sizes)
    if not same_shape(expected := _sliced(normal, sizes), x.shape):
        raise ShapeError(f"does not fit [{normal}] of {pretty(sizes)}, which is "
                         f"{pretty(expected)}: got {pretty(x.shape)}")  # fmt: skip
    return Type(sizes, x.dtype, {"shape": sizes, "index": normal})
