"""Profile: the time of each kernel of a step, beside what it reads, writes and computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy.typing as npt

from deepgraph.backends import Program
from deepgraph.backends.device import Device
from deepgraph.dims import bind, product
from deepgraph.drawn import Drawn
from deepgraph.errors import GraphError
from deepgraph.plan import Plan
from deepgraph.roof import Roof, roof

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Row:
    """A kernel: what it is, where it comes from, its seconds, bytes moved and operations.

    `bytes` counts each operand once, `flops` is the sum of the operations' own rules.
    """

    name: str
    kind: str
    where: str
    line: str
    seconds: float
    bytes: int
    flops: int

    @property
    def gb_per_second(self) -> float:
        """Bytes read and written, in units of 1e9 a second."""
        return _per(self.bytes, self.seconds)

    @property
    def gflop_per_second(self) -> float:
        """Floating-point operations, in units of 1e9 a second."""
        return _per(self.flops, self.seconds)


def _per(count: int, seconds: float) -> float:
    return count / seconds / 1e9 if seconds > 0 else 0.0


_HEAD = ("", "kernel", "us", "share", "GB/s", "GFLOP/s", "of roof", "line")


@dataclass(frozen=True, repr=False)
class Profile(Drawn):
    """The kernels of a step in the order they run, timed at known sizes.

    `seconds` is the median time of a run without clocks between the kernels; a row's, the median
    with them. `str` gives a table; a notebook shows it above the kernels coloured by time.
    `roof` is what the machine can do at best: a row's `of roof` is the least time for what it
    moves and computes, over the time it takes.
    """

    rows: tuple[Row, ...]
    seconds: float
    sizes: Mapping[str, int]
    repeat: int
    plan: Plan
    roof: Roof
    texts: tuple[str, ...] = ()

    @property
    def kernel_seconds(self) -> float:
        """The sum over the kernels."""
        return sum(row.seconds for row in self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def of_roof(self, row: Row) -> float:
        """How near a kernel comes to what the machine can do: 1 is as fast as it gets."""
        return self.roof.share(row.bytes, row.flops, row.seconds)

    def drawn_as(self) -> Any:
        """The plan's kernels, coloured by their share of the time."""
        from deepgraph.show.heat import heated

        return heated(self.plan, [row.seconds for row in self.rows])

    def kernel_texts(self) -> Sequence[str]:
        """The code of each kernel."""
        return self.texts

    def to_text(self) -> str:
        """A row a kernel: time, share, bandwidth, operations a second, distance to the roof."""
        from deepgraph.show.measure import table

        return "\n".join([*self._told(), *table([_HEAD, *self._cells()], right=(0, 2, 3, 4, 5, 6))])

    def to_html(self) -> str:
        """The table, and the kernels coloured by their share of the time."""
        from deepgraph.show.heat import html_table

        total = self.kernel_seconds or 1.0
        shares = [row.seconds / total for row in self.rows]
        told = "<br>".join(self._told())
        return f"<p>{told}</p>{html_table(_HEAD, self._cells(), shares)}{super().to_html()}"

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _told(self) -> list[str]:
        at = "".join(f", {name}={n}" for name, n in self.sizes.items())
        return [
            f"{self.seconds * 1e6:.1f} us a run, {self.kernel_seconds * 1e6:.1f} us in "
            f"{len(self.rows)} kernels (median of {self.repeat}{at})",
            f"roof: {self.roof.bytes / 1e9:.1f} GB/s, {self.roof.flops / 1e9:.1f} GFLOP/s "
            "(a copy of 32 MiB, a product of matrices)",
        ]

    def _cells(self) -> list[tuple[str, ...]]:
        total = self.kernel_seconds or 1.0
        return [
            (
                str(k), row.name, f"{row.seconds * 1e6:.1f}", f"{row.seconds / total:.1%}",
                f"{row.gb_per_second:.2f}", f"{row.gflop_per_second:.2f}",
                f"{self.of_roof(row):.1%}", "  ".join(filter(None, [row.where, row.line])),
            )
            for k, row in enumerate(self.rows)
        ]  # fmt: skip


def measure(
    program: Program, plan: Plan, sizes: Mapping[str, int],
    feeds: Callable[[], Sequence[Array]], outs: Sequence[Array], repeat: int,
    texts: tuple[str, ...] = (),
) -> Profile:  # fmt: skip
    """Run a program `repeat` times with a clock between kernels and `repeat` times without.

    `feeds` gives the arrays for one run: some may overwrite them.
    """
    clock: list[Any] = []

    device = program.device

    def tick() -> None:
        clock.append(device.mark())

    plain, clocked = program.bind(sizes), program.bind(sizes, tick)
    cost = _cost(tick, clock, device)
    whole: list[float] = []
    parts: list[list[float]] = []
    for k in range(repeat + 1):  # the first warms up
        given = feeds()
        start = device.mark()
        plain.run(*given, *outs)
        seconds = device.seconds(start, device.mark())
        clock.clear()
        clocked.run(*feeds(), *outs)
        if k:
            whole.append(seconds)
            parts.append([device.seconds(a, b) for a, b in pairwise(clock)])
    if not clock:
        raise GraphError("profile: this backend runs no kernels that could be timed")
    each = [max(median(column) - cost, 0.0) for column in zip(*parts, strict=True)]
    rows = _rows(plan, sizes, each)
    return Profile(rows, median(whole), dict(sizes), repeat, plan, roof(device), texts)


def _cost(tick: Callable[[], None], clock: list[Any], device: Device) -> float:
    """What a tick itself takes."""
    for _ in range(200):
        tick()
    return median(device.seconds(a, b) for a, b in pairwise(clock))


def _rows(plan: Plan, sizes: Mapping[str, int], seconds: Sequence[float]) -> tuple[Row, ...]:
    rows = []
    for kernel, taken in zip(plan.schedule.kernels, seconds, strict=False):
        origin = kernel.nodes[-1].origin
        counts = bind(kernel.bytes, sizes), bind(kernel.flops, sizes)
        rows.append(Row(kernel.name, kernel.kind, origin.where, origin.line, taken, *counts))
    if plan.commits:
        nbytes = sum(
            2 * bind(product(p.shape), sizes) * p.dtype.itemsize for p, _ in plan.commits
        )
        rows.append(Row("new values", "copy", "", "", seconds[-1], nbytes, 0))
    return tuple(rows)
