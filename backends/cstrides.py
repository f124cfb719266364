"""Loops over several arrays of one shape: in which order, and which axes run as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deepgraph.backends.cfunction import times
from deepgraph.backends.clike import size
from deepgraph.dims import Shape, Size, bind, names, same
from deepgraph.expr import Strided
from deepgraph.nest import TYPICAL

Bounds = tuple[str, str]
_SHARED_FROM = 8  # steps from which an axis is worth sharing among threads


@dataclass(frozen=True)
class Axis:
    """One loop: how far, by what each array steps, and from where to where unless over all."""

    extent: Size
    strides: tuple[Size, ...]
    bounds: Bounds | None = None


def typical(n: Size) -> int:
    """A size as a number, for what only has to be likely."""
    return bind(n, dict.fromkeys(names(n), TYPICAL))


def order(at: Strided) -> tuple[int, ...]:
    """The axes from the outermost in memory to the innermost, those of size 1 first."""

    def step(axis: int) -> float:
        alone = same(at.shape[axis], 1)
        return float("inf") if alone else abs(typical(at.strides[axis]))

    return tuple(sorted(range(len(at.shape)), key=step, reverse=True))


def axes(ats: Sequence[Strided], bounds: Mapping[int, Bounds]) -> list[Axis]:
    """The loops over these arrays, in the order of the first one's memory.

    Axes that follow each other evenly in every array run as one; those with bounds stay.
    """
    shape = ats[0].shape
    found: list[Axis] = []
    for a in order(ats[0]):
        if same(shape[a], 1) and a not in bounds:
            continue
        inner = Axis(shape[a], tuple(at.strides[a] for at in ats), bounds.get(a))
        if found and _joins(found[-1], inner):
            inner = Axis(found.pop().extent * inner.extent, inner.strides)
        found.append(inner)
    return found


def _joins(outer: Axis, inner: Axis) -> bool:
    steps = zip(outer.strides, inner.strides, strict=True)
    free = outer.bounds is None and inner.bounds is None
    return free and all(same(s, t * inner.extent) for s, t in steps)


def shared(extents: Sequence[Size]) -> int:
    """Which of some axes threads share, from the outermost: the first that is worth it."""
    likely = [typical(n) for n in extents]
    large = [k for k, n in enumerate(likely) if n >= _SHARED_FROM]
    return large[0] if large else max(range(len(likely)), key=likely.__getitem__)


def place(
    strides: Sequence[Size], counters: Sequence[str], offset: Size = 0, start: str = ""
) -> str:  # fmt: skip
    """Where the element at these counters lies."""
    steps = [times(c, s) for c, s in zip(counters, strides, strict=True) if not same(s, 0)]
    return plus(start, *steps, size(offset))


def plus(*terms: str) -> str:
    """The sum of some terms of C."""
    return " + ".join(term for term in terms if term not in ("", "0")) or "0"


def along(at: Strided, axes: Sequence[int], offset: Size = 0) -> Strided:
    """How an array goes along some of its axes, from an offset on."""
    shape, strides = (tuple(given[a] for a in axes) for given in (at.shape, at.strides))
    return Strided(shape, strides, offset)


def spread(at: Strided, shape: Shape, first: int, last: int) -> Strided:
    """The array along axes `first` to `last` of a shape, and the same along all others."""
    before, behind = (0,) * first, (0,) * (len(shape) - last)
    return Strided(shape, (*before, *at.strides, *behind), at.offset)
