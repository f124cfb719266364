"""Arrays put together, and into borders, in CUDA: each element of the result finds its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deepgraph.backends.clike import converted, number, size
from deepgraph.backends.cstrides import order
from deepgraph.backends.cucalls import CallWriter, at, template
from deepgraph.dims import Size, same
from deepgraph.expr import Strided
from deepgraph.ops.slicing import Span, positions


@template("concat")
def concat(out: CallWriter) -> None:
    """The array whose part it is in, one after the other."""
    axis, y = out.node.attr("axis"), out.store.at
    start: Size = 0
    with out.each(*y.shape, order=order(y)) as i:
        for k, access in enumerate(out.loads):
            x = access.at
            here = Strided(x.shape, x.strides, x.offset - start * x.strides[axis])
            start = start + x.shape[axis]
            value = converted(out.value(k, at(here, i)), access.value.dtype, out.node.dtype)
            with out.text.out.braces(f"if ({i[axis]} < {size(start)})"):
                out.put(at(y, i), value)
                out.add("return;")


@template("pad")
def pad(out: CallWriter) -> None:
    """x, or the border."""
    parts = [
        _Part(before, n, 1)
        for (before, _), n in zip(out.node.attr("widths"), out.loads[0].at.shape, strict=True)
    ]
    _place(out, parts, number(out.node.attr("value"), out.node.dtype))


@template("unslice")
def unslice(out: CallWriter) -> None:
    """x, or zero around it."""
    pairs = zip(out.node.attr("index").entries, out.store.at.shape, strict=True)
    parts = [
        _Part(*positions(entry, n), entry.step) if isinstance(entry, Span)
        else _Part(entry + n if isinstance(entry, int) and entry < 0 else entry, 1, 0)
        for entry, n in pairs
    ]  # fmt: skip
    _place(out, parts, number(0, out.node.dtype))


class _Part(NamedTuple):
    """Some places of an axis: the first, how many, how far apart; 0 where x has no such axis."""

    first: Size
    many: Size
    step: int

    def conditions(self, i: str, n: Size) -> list[str]:
        """When an index of an axis of this size is one of them."""
        first, end = size(self.first), self.first + self.many
        if self.step == 0:
            return [f"{i} == {first}"]
        if self.step == 1:
            low, high = [f"{i} >= {first}"], [f"{i} < {size(end)}"]
            return low * (not same(self.first, 0)) + high * (not same(end, n))
        far, apart = self._far(i), abs(self.step)
        return [f"{far} >= 0", f"{far} % {apart} == 0", f"{far} / {apart} < {size(self.many)}"]

    def counter(self, i: str) -> str:
        """Which of them it is."""
        if self.step == 1:
            return i if same(self.first, 0) else self._far(i)
        return f"({self._far(i)} / {abs(self.step)})"

    def _far(self, i: str) -> str:
        first = f"({size(self.first)})"
        return f"({i} - {first})" if self.step > 0 else f"({first} - {i})"


def _place(out: CallWriter, parts: Sequence[_Part], around: str) -> None:
    """x at some places along each axis, and one value at the others."""
    y = out.store.at
    with out.each(*y.shape, order=order(y)) as i:
        inside = [c for p, k, n in zip(parts, i, y.shape, strict=True) for c in p.conditions(k, n)]
        counters = [p.counter(k) for p, k in zip(parts, i, strict=True) if p.step]
        value = out.value(0, at(out.loads[0].at, counters))
        out.put(at(y, i), f"{' && '.join(inside)} ? {value} : {around}" if inside else value)
