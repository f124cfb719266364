"""Fused kernels in CUDA: a thread for each element, or threads side by side over each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deepgraph.backends.cfold import Fold
from deepgraph.backends.clike import memory_type, register_type, size
from deepgraph.backends.cuelements import (
    THREADS,
    Elements,
    FunctionText,
    blocks,
    ceiling,
    count,
    indices,
    wide_names,
    width,
    widths,
)
from deepgraph.backends.launch import Extent, Grid, Launch, Raw
from deepgraph.dims import product
from deepgraph.expr import Expr
from deepgraph.sweeps import MOST_PARTS, PARTS_KEPT, Sweep, Sweeps

_NONE: tuple[Extent, Extent] = (0, 0, 0), (0, 0, 0)
_LARGE_ROW = 1 << 14  # elements from which a row takes the largest block
_LARGEST = 512  # threads of a block; for more the compiler spills registers
_FULL = 1024  # blocks that keep a device busy
_PART = 1 << 12  # elements of a row that are worth a block of their own


def elementwise(text: FunctionText, name: str, place: Callable[[Expr], str]) -> Raw:
    """A kernel without folds: V neighbours a thread."""
    kernel = text.kernel
    found = widths(kernel)
    wide = len(found) > 1
    elements = Elements(text, place, wide)
    axes = range(len(kernel.space))
    elements.going = axes
    registers = range(len(kernel.loads) + len(kernel.body))
    with text.function(name, found) as arguments:
        text.out.add(
            "const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;",
            f"if (p >= n{' / V' * wide}) return;",
            *indices(axes, kernel.space, "p", "V" * wide),
        )
        elements.packs(registers, range(len(kernel.stores)))

    def grid(wide: int) -> Grid:
        def rule(sizes: Mapping[str, int]) -> tuple[Extent, Extent]:
            if width(kernel, sizes) != wide:
                return _NONE
            n = count(kernel, axes, sizes) // wide
            return (blocks(n, THREADS), 1, 1), (THREADS, 1, 1)

        return rule

    names = wide_names(name, found).items()
    launches = [Launch(each, tuple(arguments), grid(v)) for v, each in names]
    return Raw(str(text.out), tuple(launches))


class SweepsWriter:
    """Writes a kernel with folds.

    Where the innermost axis is part of a row, the threads of a row lie along x, V neighbours each;
    else the rows do, so that neighbours in memory are read by neighbours. Rows that are few and
    long come in parts, a block each, which `end` folds.
    """

    def __init__(
        self, sweeps: Sweeps, text: FunctionText, name: str, place: Callable[[Expr], str]
    ) -> None:
        self.sweeps, self.text, self.name = sweeps, text, name
        self.kernel = kernel = sweeps.kernel
        self.beside = len(kernel.space) - 1 in kernel.folded  # a row's elements, not rows
        self.widths = widths(kernel) if self.beside else (1,)
        self.wide = len(self.widths) > 1
        self.elements = Elements(text, place, self.wide)
        first = len(kernel.loads)
        self.folds = {
            f: Fold(kernel.body[f - first].node) for s in sweeps.sweeps for f in s.folds
        }

    def raw(self) -> Raw:
        """All functions, and which of them run for which sizes."""
        launches = self._launches(self.name, self._whole, parts=False)
        if self.sweeps.in_parts:
            launches += self._launches(f"{self.name}_part", self._part, parts=True)
            with self.text.function(f"{self.name}_end", threads=_LARGEST) as arguments:
                self._end()
            launches.append(Launch(f"{self.name}_end", tuple(arguments), self._end_grid))
        return Raw(str(self.text.out), tuple(launches))

    def _launches(self, name: str, write: Callable[[], None], parts: bool) -> list[Launch]:
        with self.text.function(name, self.widths, threads=_LARGEST) as arguments:
            write()
        names = wide_names(name, self.widths).items()
        return [Launch(each, tuple(arguments), self._grid(v, parts)) for v, each in names]

    # What the functions do.

    def _whole(self) -> None:
        """Rows, each by threads of one block."""
        self._row()
        for sweep in self.sweeps.sweeps:
            self._sweep(sweep, "0", self._length())
            self._results(sweep)
            self._after(sweep)

    def _part(self) -> None:
        """A part of each row, folded into memory."""
        (sweep,) = self.sweeps.sweeps
        self._row()
        steps = f"dg_stretch({self._length()}, {'V' if self.wide else 1}, blockIdx.y"
        self.text.out.add(f"const dg_index low = {steps});", f"const dg_index high = {steps} + 1);")
        self._sweep(sweep, "low", "high")
        for k, f in enumerate(sweep.folds):
            kind = memory_type(self.sweeps.kept_in(f))
            self.text.out.add(f"if (lead) t{k}[row * gridDim.y + blockIdx.y] = ({kind})f{f};")

    def _end(self) -> None:
        """The parts of each row, folded, and what waits for them; a block a row."""
        (sweep,) = self.sweeps.sweeps
        out, kernel = self.text.out, self.kernel
        self.elements.shown = ""
        out.add("__shared__ uint64_t shared[32];", "const dg_index row = blockIdx.x;")
        out.add("const bool lead = threadIdx.x == 0;")
        out.add(*indices(self.sweeps.rows, kernel.space, "row"))
        self.elements.going = self.sweeps.rows
        self.elements.once(self.sweeps.before)
        for k, f in enumerate(sweep.folds):
            kind = register_type(self.folds[f].long)
            out.add(f"{kind} f{f} = ({kind})t{k}[row * blockDim.x + threadIdx.x];")
            self._across(f, "x")
        self._results(sweep)
        self._after(sweep)

    def _row(self) -> None:
        """Which row, and what it needs first."""
        kernel, sweeps, out = self.kernel, self.sweeps, self.text.out
        self.elements.shown = ""
        total = size(product(kernel.space[a] for a in sweeps.rows))
        along, across = ("x", "y") if self.beside else ("y", "x")
        out.add(
            f"__shared__ uint64_t shared[{32 if self.beside else _LARGEST}];",
            f"const dg_index place = (dg_index)blockIdx.x * blockDim.{across}"
            f" + threadIdx.{across};",
            f"const bool lead = place < {total} && threadIdx.{along} == 0;",
            f"const dg_index row = dg_least(place, {total} - 1);",
            *indices(sweeps.rows, kernel.space, "row"),
        )
        self.elements.going = sweeps.rows
        self.elements.once(sweeps.before)
        self.elements.store(sweeps.stores_before, ["lead"])

    def _sweep(self, sweep: Sweep, low: str, high: str) -> None:
        """One pass of a row's threads over it, and its folds, which all of them get."""
        kernel, out = self.kernel, self.text.out
        along = "x" if self.beside else "y"
        if not sweep.folds and not sweep.stores:
            return
        for f in sweep.folds:
            out.add(*self.folds[f].short_start(f))
        begin = f"{low} + " * (low != "0") + f"(dg_index)threadIdx.{along}" + " * V" * self.wide
        live = f"place <= row && j < {high}" if sweep.stores else f"j < {high}"
        step = f"blockDim.{along}" + " * V" * self.wide
        with out.braces(f"for (dg_index j = {begin}; {live}; j += {step})"):
            out.add(*indices(kernel.folded, kernel.space, "j"))
            self.elements.going = range(len(kernel.space))
            self.elements.packs(sweep.each, sweep.stores, self._folded(sweep), self.folds)
            self.elements.going = self.sweeps.rows
        for f in sweep.folds:
            kind = register_type(self.folds[f].long)
            out.add(f"{kind} f{f} = {self.folds[f].start(self.folds[f].long)};")
            out.add(self.folds[f].take(f"f{f}", self.folds[f].short_end(f)))
            self._across(f, along)

    def _folded(self, sweep: Sweep) -> dict[int, int]:
        first = len(self.kernel.loads)
        return {f: self.kernel.body[f - first].registers[0] for f in sweep.folds}

    def _across(self, f: int, along: str) -> None:
        kind = register_type(self.folds[f].long)
        take = f"[]({kind} &into, {kind} value) {{ {self.folds[f].take('into', 'value')} }}"
        self.text.out.add(f"f{f} = dg_across_{along}(f{f}, {take}, shared);")

    def _results(self, sweep: Sweep) -> None:
        """The folds as registers."""
        for f in sweep.folds:
            dtype = self.kernel.body[f - len(self.kernel.loads)].node.dtype
            self.text.out.add(f"const {register_type(dtype)} r{f} = ({register_type(dtype)})f{f};")

    def _after(self, sweep: Sweep) -> None:
        """What there is one of for a row, once it has been gone over."""
        self.elements.once(sweep.after)
        self.elements.store(sweep.stores_after, ["lead"])

    def _length(self) -> str:
        return size(product(self.kernel.space[a] for a in self.kernel.folded))

    # How many threads do it.

    def _grid(self, wide: int, parts: bool) -> Grid:
        def rule(sizes: Mapping[str, int]) -> tuple[Extent, Extent]:
            rows, block = self._rows(sizes), self._block(sizes)
            pieces = self._parts(sizes)
            if (width(self.kernel, sizes) if self.beside else 1) != wide or (pieces > 1) != parts:
                return _NONE
            return (blocks(rows, block[1] if self.beside else block[0]), pieces, 1), block

        return rule

    def _end_grid(self, sizes: Mapping[str, int]) -> tuple[Extent, Extent]:
        pieces = self._parts(sizes)
        if pieces == 1:
            return _NONE
        return (self._rows(sizes), 1, 1), (pieces, 1, 1)

    def _rows(self, sizes: Mapping[str, int]) -> int:
        return count(self.kernel, self.sweeps.rows, sizes)

    def _block(self, sizes: Mapping[str, int]) -> Extent:
        """Threads along x and y."""
        length = count(self.kernel, self.kernel.folded, sizes)
        if not self.beside:
            lanes = min(ceiling(blocks(length, 8)), THREADS // 32)
            return THREADS // lanes, lanes, 1
        if length >= _LARGE_ROW:
            return _LARGEST, 1, 1
        wide = width(self.kernel, sizes)
        lanes = min(ceiling(blocks(length, 2 * wide)), THREADS)
        return lanes, THREADS // lanes, 1

    def _parts(self, sizes: Mapping[str, int]) -> int:
        """How many blocks share a row: one, or a power of two of whole warps for `end`."""
        if not self.sweeps.in_parts:
            return 1
        rows, length = self._rows(sizes), count(self.kernel, self.kernel.folded, sizes)
        if not rows:
            return 1
        block = self._block(sizes)
        taken = blocks(rows, block[1] if self.beside else block[0])
        pieces = min(MOST_PARTS, _FULL // taken, PARTS_KEPT // rows, length // _PART)
        return 1 << (pieces.bit_length() - 1) if pieces >= 32 else 1
