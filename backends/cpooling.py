"""Pooling as C: window by window, many images or neighbours at once.

The innermost loop runs along whichever of batch, channel and width lies innermost in memory. Small
windows without padding are unrolled in it. For others there is a strip of accumulators, and place
after place of the window, where it is in the image, is added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from deepgraph.backends.ccalls import CallWriter, template
from deepgraph.backends.cfunction import parenthesised, times
from deepgraph.backends.clike import converted, number, register_type, size
from deepgraph.backends.cstrides import order, plus, shared
from deepgraph.dims import same, same_shape
from deepgraph.dtypes import accumulator, is_float, least
from deepgraph.expr import Strided

_UNROLLED = 16  # places of a window
_STRIP = 256


@dataclass(frozen=True)
class _Spot:
    """One place of one window, or all of it, in the innermost loop."""

    pooling: _Pooling
    strip: bool
    row: str = ""
    column: str = ""

    def __getitem__(self, variable: str) -> str:
        """A variable of this window."""
        return f"{variable}[i{self.pooling.lane} - s]" if self.strip else variable

    def pooled(self, load: int) -> str:
        """An element of a load of pooled images, in a register."""
        return self.pooling.out.value(load, self.window(self.pooling.out.loads[load].at))

    def image(self, load: int) -> str:
        """An element of a load of images, in a register."""
        return self.pooling.out.value(load, self.place(self.pooling.out.loads[load].at))

    def window(self, at: Strided) -> str:
        """Where the element of a pooled image lies."""
        return _place(at, ("i0", "i1", "i2", "i3"))

    def place(self, at: Strided) -> str:
        """Where the element of an image lies."""
        return _place(at, ("i0", "i1", self.row, self.column))


Write = Callable[[_Spot], str]


class _Phase(NamedTuple):
    """A statement for each window, or for each place of each."""

    write: Write
    each: bool = False


class _Pooling:
    """Writes the loops over all windows; threads share one of some axes."""

    def __init__(
        self, out: CallWriter, images: Strided, pooled: Strided, share: Collection[int]
    ) -> None:
        self.out, self.images, self.windows = out, images, pooled
        self.kernel, self.stride = out.node.attr("window"), out.node.attr("stride")
        self.pads = out.node.attr("padding")
        self.padded = any(not same(n, 0) for pads in self.pads for n in pads)
        self.apart = self.stride[0] >= self.kernel[0] and self.stride[1] >= self.kernel[1]
        axes = order(out.store.at)
        self.lane = [a for a in axes if a != 2][-1]
        self.outer = [a for a in axes if a != self.lane]
        places = [a for a in axes if a in share]
        self.shared = places[shared([pooled.shape[a] for a in places])]
        extent = size(pooled.shape[self.shared])
        self.bounds = {self.shared: out.stretch(extent, 16 if self.shared == self.lane else 1)}

    @property
    def covers(self) -> bool:
        """Do the windows hold each place of the images once?"""
        held = tuple(n * k for n, k in zip(self.windows.shape[2:], self.kernel, strict=True))
        return self.kernel == self.stride and same_shape(held, self.images.shape[2:])

    def zero(self) -> None:
        """The images that are stored, before what lies in several windows is added up."""
        self.out.fill(self.out.store.at, bounds=self.bounds)

    def write(
        self, variables: dict[str, tuple[str, str]], phases: Sequence[_Phase], adds: bool = False
    ) -> None:
        """All phases, one after the other, with `variables` (type, start) for each window.

        `adds` tells of windows that overlap and write to images: neighbours in a row cannot do so
        at once.
        """
        rows, columns = self.kernel
        conflict = adds and self.lane == 3 and not self.apart
        with ExitStack() as loops:
            for axis in self.outer:
                loops.enter_context(self.out.loop(f"i{axis}", *self._range(axis)))
            if rows * columns <= _UNROLLED and not self.padded and not conflict:
                self._unrolled(variables, phases)
            else:
                self._strips(variables, phases)

    def _range(self, axis: int) -> tuple[str, str]:
        return self.bounds.get(axis, ("0", size(self.windows.shape[axis])))

    def _unrolled(
        self, variables: dict[str, tuple[str, str]], phases: Sequence[_Phase]
    ) -> None:  # fmt: skip
        places = [
            _Spot(self, False, self._row(str(k)), self._column(str(m)))
            for k in range(self.kernel[0]) for m in range(self.kernel[1])
        ]  # fmt: skip
        with self._lanes(*self._range(self.lane)):
            for name, (kind, start) in variables.items():
                self.out.add(f"{kind} {name} = {start};")
            for phase in phases:
                for spot in places if phase.each else [_Spot(self, False)]:
                    self.out.add(phase.write(spot))

    def _strips(self, variables: dict[str, tuple[str, str]], phases: Sequence[_Phase]) -> None:
        out, whole = self.out, _Spot(self, True)
        self._inside("row", 0)
        if self.lane != 3:
            self._inside("column", 1)
        low, high = self._range(self.lane)
        with out.loop("s", low, high, _STRIP):
            out.add(f"const int64_t e = dg_min(s + {_STRIP}, {high});")
            for name, (kind, _) in variables.items():
                out.add(f"{kind} {name}[{_STRIP}];")
            with self._lanes("s", "e"):
                for name, (_, start) in variables.items():
                    out.add(f"{whole[name]} = {start};")
            for phase in phases:
                if phase.each:
                    with self._places() as spot:
                        out.add(phase.write(spot))
                else:
                    with self._lanes("s", "e"):
                        out.add(phase.write(whole))

    @contextmanager
    def _places(self) -> Iterator[_Spot]:
        """Loops over the places of a window that are in the image, and in them over lanes."""
        out, wide = self.out, self.kernel[1]
        columns = ("0", str(wide)) if self.lane == 3 else ("first_column", "last_column")
        low, high = "s", "e"
        with out.loop("row", "first_row", "last_row"), out.loop("column", *columns):
            if self.lane == 3 and self.padded:
                step, before = self.stride[1], size(self.pads[1][0] + self.stride[1] - 1)
                reach = f"{size(self.images.shape[3])} + {before}"
                low, high = "low", "high"
                out.add(
                    f"const int64_t low = dg_max(s, ({before} - column) / {step});",
                    f"const int64_t high = dg_min(e, ({reach} - column) / {step});",
                )
            with self._lanes(low, high):
                yield _Spot(self, True, self._row("row"), self._column("column"))

    @contextmanager
    def _lanes(self, low: str, high: str) -> Iterator[None]:
        self.out.add("#pragma omp simd")
        with self.out.loop(f"i{self.lane}", low, high):
            yield

    def _inside(self, name: str, side: int) -> None:
        """Which places of a window, along one side, are in the image."""
        start = f"i{side + 2} * {self.stride[side]}"
        before, n = self.pads[side][0], self.images.shape[side + 2]
        reach = f"{size(n)} + {size(before)} - {start}"
        self.out.add(
            f"const int64_t first_{name} = dg_max(0, {size(before)} - {start});",
            f"const int64_t last_{name} = dg_min({self.kernel[side]}, {reach});",
        )

    def _row(self, place: str) -> str:
        return f"({self._at(place, 0)})"

    def _column(self, place: str) -> str:
        return f"({self._at(place, 1)})"

    def _at(self, place: str, side: int) -> str:
        before = size(self.pads[side][0])
        found = plus(times(f"i{side + 2}", self.stride[side]), place)
        return found if before == "0" else f"{found} - {parenthesised(before)}"

    def divisor(self) -> str:
        """By how much a window's sum is divided: its places, or those in the image."""
        rows, columns = self.kernel
        if self.out.node.attr("count_include_pad") or not self.padded:
            return str(rows * columns)
        if self.lane != 3:
            return "((last_row - first_row) * (last_column - first_column))"
        start, before = f"i3 * {self.stride[1]}", size(self.pads[1][0])
        last = f"dg_min({columns}, {size(self.images.shape[3])} + {before} - {start})"
        return f"((last_row - first_row) * ({last} - dg_max(0, {before} - {start})))"


def _place(at: Strided, counters: Sequence[str]) -> str:
    return plus(*(times(c, s) for c, s in zip(counters, at.strides, strict=True) if not same(s, 0)),
                size(at.offset))  # fmt: skip


@template("max_pool2d")
def max_pool2d(out: CallWriter) -> None:
    """The greatest so far, place by place, and whether there was a NaN: both without a branch."""
    dtype, y = out.node.dtype, out.store.at
    kind, nans = register_type(dtype), is_float(dtype)
    variables = {"top": (kind, number(least(dtype), dtype))}
    if nans:
        variables["nan"] = ("int", "0")

    def meet(w: _Spot) -> str:
        nan = f" {w['nan']} |= x != x;" if nans else ""
        top = w["top"]
        return f"{{ const {kind} x = {w.image(0)}; {top} = x > {top} ? x : {top};{nan} }}"

    def end(w: _Spot) -> str:
        top = w["top"]
        return out.stored(w.window(y), f"{w['nan']} ? ({kind})NAN : {top}" if nans else top)

    with out.function():
        pooling = _Pooling(out, out.loads[0].at, y, (0, 1, 2))
        pooling.write(variables, [_Phase(meet, True), _Phase(end)])


@template("max_pool2d_grad")
def max_pool2d_grad(out: CallWriter) -> None:
    """How many places are the greatest; then to each of them its share."""
    kind, dx = register_type(out.node.dtype), out.store.at
    with out.function():
        pooling = _Pooling(out, out.loads[1].at, out.loads[2].at, (0, 1))
        if not pooling.covers:
            pooling.zero()

        def give(w: _Spot) -> str:
            share = f"{w.image(1)} == {w.pooled(2)} ? {w['share']} : 0"
            return _given(out, pooling, w.place(dx), share)

        pooling.write({"share": (kind, "0")}, [
            _Phase(lambda w: f"{w['share']} += {w.image(1)} == {w.pooled(2)};", True),
            _Phase(lambda w: f"{w['share']} = {w.pooled(0)} / {w['share']};"),
            _Phase(give, True),
        ], adds=True)  # fmt: skip


@template("max_pool2d_jvp")
def max_pool2d_jvp(out: CallWriter) -> None:
    """The mean over the places that are the greatest."""
    kind, y = register_type(out.node.dtype), out.store.at
    with out.function():
        pooling = _Pooling(out, out.loads[1].at, y, (0, 1, 2))
        hit = "{} == {}"
        pooling.write({"sum": (kind, "0"), "hits": (kind, "0")}, [
            _Phase(lambda w: f"{w['hits']} += {hit.format(w.image(1), w.pooled(2))};", True),
            _Phase(lambda w: f"{w['sum']} += {hit.format(w.image(1), w.pooled(2))} "
                             f"? {w.image(0)} : 0;", True),
            _Phase(lambda w: out.stored(w.window(y),
                                     f"{w['sum']} / {w['hits']}")),
        ])  # fmt: skip


@template("avg_pool2d")
def avg_pool2d(out: CallWriter) -> None:
    """The sum, in single precision or double, over how many there are."""
    given, wide, y = out.loads[0].value.dtype, accumulator(out.node.dtype), out.store.at
    kind = register_type(wide)
    with out.function():
        pooling = _Pooling(out, out.loads[0].at, y, (0, 1, 2))
        by = f"({kind}){pooling.divisor()}"
        pooling.write({"sum": (kind, "0")}, [
            _Phase(lambda w: f"{w['sum']} += {converted(w.image(0), given, wide)};", True),
            _Phase(lambda w: out.stored(w.window(y),
                                     f"{w['sum']} / {by}")),
        ])  # fmt: skip


@template("avg_pool2d_grad")
def avg_pool2d_grad(out: CallWriter) -> None:
    """Equal shares to all places."""
    kind, dx = register_type(accumulator(out.node.dtype)), out.store.at
    with out.function():
        pooling = _Pooling(out, dx, out.loads[0].at, (0, 1))
        if not pooling.covers:
            pooling.zero()
        by = f"({kind}){pooling.divisor()}"
        pooling.write({"share": (kind, "0")}, [
            _Phase(lambda w: f"{w['share']} = {w.pooled(0)} / {by};"),
            _Phase(lambda w: _given(out, pooling, w.place(dx), w["share"]), True),
        ], adds=True)  # fmt: skip


def _given(out: CallWriter, pooling: _Pooling, at: str, share: str) -> str:
    """The statement that gives a place its share, or adds it where windows overlap."""
    if pooling.apart:
        return out.stored(at, share)
    return out.stored(at, f"{out.held(at)} + ({share})")

