"""What goes along an axis element by element, as C: running results, and where extremes stand.

Where another axis lies innermost in memory its elements go side by side, a strip of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import numpy as np

from deepgraph.backends.ccalls import CallWriter, template
from deepgraph.backends.clike import converted, number, register_type, size
from deepgraph.backends.cstrides import Bounds, order, place, shared, typical
from deepgraph.dims import same
from deepgraph.dtypes import DType, accumulator, is_float
from deepgraph.expr import Strided
from deepgraph.schedule import contiguous

_STRIP = 256


class _Lines:
    """Writes the loops over all lines along an axis of arrays of one shape; threads share lines."""

    def __init__(self, out: CallWriter, axis: int, *ats: Strided) -> None:
        self.out, self.axis, self.ats = out, axis, ats
        shape = ats[0].shape
        others = [a for a in order(ats[0]) if a != axis and not same(shape[a], 1)]
        step = abs(typical(ats[0].strides[axis]))
        beside = [a for a in others[-1:] if abs(typical(ats[0].strides[a])) < step]
        self.lane = beside[0] if beside else None
        self.outer = [a for a in others if a != self.lane]
        self.bounds: dict[int, Bounds] = {}
        if others:
            a = others[shared([shape[a] for a in others])]
            self.bounds[a] = out.stretch(size(shape[a]), 16 if a == self.lane else 1)
        else:
            out.add("if (me) return;")

    @contextmanager
    def each(self, **variables: tuple[str, str]) -> Iterator[None]:
        """For each line, variables (type, start)."""
        out = self.out
        with ExitStack() as loops:
            for axis in self.outer:
                loops.enter_context(out.loop(f"i{axis}", *self._range(axis)))
            if self.lane is not None:
                low, high = self._range(self.lane)
                loops.enter_context(out.loop("s", low, high, _STRIP))
                out.add(f"const int64_t e = dg_min(s + {_STRIP}, {high});")
                out.add(*(f"{kind} {name}[{_STRIP}];" for name, (kind, _) in variables.items()))
                with self.beside():
                    out.add(*(f"{self[v]} = {start};" for v, (_, start) in variables.items()))
            else:
                out.add(*(f"{kind} {name} = {v};" for name, (kind, v) in variables.items()))
            yield

    @contextmanager
    def steps(self) -> Iterator[list[str]]:
        """Step k along the lines: where the element of each array lies."""
        with self.out.loop("k", "0", size(self.ats[0].shape[self.axis])), self.beside():
            yield [self.at(at) for at in self.ats]

    @contextmanager
    def beside(self) -> Iterator[None]:
        """The lines that go side by side."""
        if self.lane is None:
            yield
            return
        self.out.add("#pragma omp simd")
        with self.out.loop(f"i{self.lane}", "s", "e"):
            yield

    def __getitem__(self, variable: str) -> str:
        return variable if self.lane is None else f"{variable}[i{self.lane} - s]"

    def at(self, at: Strided) -> str:
        """Where the element of this step lies, in an array of as many axes."""
        axes = [a for a in range(len(at.shape)) if a == self.axis or a in self._walked]
        counters = ["k" if a == self.axis else f"i{a}" for a in axes]
        return place([at.strides[a] for a in axes], counters, at.offset)

    @property
    def _walked(self) -> list[int]:
        return self.outer + ([] if self.lane is None else [self.lane])

    def _range(self, axis: int) -> Bounds:
        return self.bounds.get(axis, ("0", size(self.ats[0].shape[axis])))


@template("cumulative_sum")
def cumulative_sum(out: CallWriter) -> None:
    """The sum so far."""
    _accumulate(out, "|" if out.node.dtype.kind == "b" else "+", 0)


@template("cumulative_prod")
def cumulative_prod(out: CallWriter) -> None:
    """The product so far."""
    _accumulate(out, "&" if out.node.dtype.kind == "b" else "*", 1)


def _accumulate(out: CallWriter, sign: str, start: int) -> None:
    given, wide = out.loads[0].value.dtype, accumulator(out.node.dtype)
    kind = register_type(wide)
    with out.function():
        lines = _Lines(out, out.node.attr("axis"), out.store.at, out.loads[0].at)
        with lines.each(total=(kind, number(start, wide))), lines.steps() as (to, at):
            value, total = converted(out.value(0, at), given, wide), lines["total"]
            out.add(f"{total} = ({kind})({total} {sign} {value});")
            out.put(to, total)


@template("linear_recurrence")
def linear_recurrence(out: CallWriter) -> None:
    """The result before times a, and b added; the first is b alone."""
    wide = accumulator(out.node.dtype)
    kind = register_type(wide)
    with out.function():
        ats = (a.at for a in out.loads)
        lines = _Lines(out, out.node.attr("axis"), out.store.at, *ats)
        with lines.each(last=(kind, "0")), lines.steps() as (to, *places):
            a, b = (
                converted(out.value(k, at), out.loads[k].value.dtype, wide)
                for k, at in enumerate(places)
            )
            last = lines["last"]
            both = f"({kind})({last} * {a}) + {b}"
            if out.node.dtype.kind == "b":
                both = f"({last} & {a}) | {b}"
            out.add(f"{last} = k == 0 ? {b} : ({kind})({both});")
            out.put(to, last)


@template("argmax")
def argmax(out: CallWriter) -> None:
    """The first of the greatest."""
    _extreme(out, greatest=True)


@template("argmin")
def argmin(out: CallWriter) -> None:
    """The first of the least."""
    _extreme(out, greatest=False)


def _extreme(out: CallWriter, greatest: bool) -> None:
    """Steps on only to what is better, or to a NaN, from which nothing leads away."""
    x, dtype, axis = out.loads[0].at, out.loads[0].value.dtype, out.node.attr("axis")
    kind, start = register_type(dtype), number(worst(dtype, greatest), dtype)
    best = _Best(out, kind, is_float(dtype), ">" if greatest else "<")
    with out.function():
        if axis is None:
            out.add("if (me) return;", f"{kind} best = {start};", "int64_t where = 0;")
            flat = contiguous(x.shape)
            with out.over(flat, x, simd=False) as (k, at):
                best.one(out.value(0, at), k, "best", "where")
            out.put(size(out.store.at.offset), "where")
            return
        lines = _Lines(out, axis, x)
        with lines.each(best=(kind, start), where=("int64_t", "0")):
            if lines.lane is None:
                best.line(lines, size(x.shape[axis]), start)
            else:
                with lines.steps() as (at,):
                    best.one(out.value(0, at), "k", lines["best"], lines["where"])
            y, keeps = out.store.at, out.node.attr("keepdims")
            strides = (*y.strides[:axis], 0, *y.strides[axis + keeps :])
            with lines.beside():
                out.put(lines.at(Strided(x.shape, strides, y.offset)), lines["where"])


class _Best(NamedTuple):
    """Writes how the best so far and its place meet more elements, of which `sign` is better."""

    out: CallWriter
    kind: str
    nans: bool
    sign: str

    def one(self, value: str, k: str, best: str, where: str) -> None:
        """One more element."""
        better = f"x {self.sign} {best}"
        if self.nans:
            better = f"({best} == {best}) & (({better}) | (x != x))"
        self.out.add(
            f"const {self.kind} x = {value};", f"const int better = {better};",
            f"{best} = better ? x : {best};", f"{where} = better ? {k} : {where};",
        )  # fmt: skip

    def line(self, lines: _Lines, n: str, start: str) -> None:
        """A line by itself, strip by strip: where the best of a strip stands is looked up after."""
        out = self.out
        x = f"const {self.kind} x = {out.value(0, lines.at(lines.ats[0]))};"
        clause = f" reduction({'max' if self.sign == '>' else 'min'}:top) reduction(|:nan)"
        with out.loop("s", "0", n, _STRIP):
            out.add(f"const int64_t e = dg_min(s + {_STRIP}, {n});")
            out.add(f"{self.kind} top = {start};", "int nan = 0;", f"#pragma omp simd{clause}")
            with out.loop("k", "s", "e"):
                out.add(x, f"top = x {self.sign} top ? x : top;", *["nan |= x != x;"] * self.nans)
            fresh = "best == best && " * self.nans
            better = f"if ({fresh}(nan || top {self.sign} best))"
            with out.out.braces(better), out.loop("k", "s", "e"):
                first = "nan ? x != x : x == top" if self.nans else "x == top"
                out.add(x)
                with out.out.braces(f"if ({first})"):
                    out.add("best = x;", "where = k;", "break;")


def worst(dtype: DType, greatest: bool) -> float:
    """What is better than no other value."""
    if is_float(dtype):
        return float("-inf") if greatest else float("inf")
    if dtype.kind == "b":
        return int(not greatest)
    limits = np.iinfo(dtype)
    return int(limits.min if greatest else limits.max)
