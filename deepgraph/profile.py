"""Profile: the time of each kernel of a step, beside what it reads, writes and computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any

import numpy.typing as npt

from deepgraph.backends import Program
from deepgraph.dims import bind, product
from deepgraph.errors import GraphError
from deepgraph.plan import Plan

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


@dataclass(frozen=True)
class Profile:
    """The kernels of a step in the order they run, timed at known sizes.

    `seconds` is the median time of a run without clocks between the kernels; a row's, the median
    with them. `str` gives a table.
    """

    rows: tuple[Row, ...]
    seconds: float
    sizes: Mapping[str, int]
    repeat: int

    @property
    def kernel_seconds(self) -> float:
        """The sum over the kernels."""
        return sum(row.seconds for row in self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __str__(self) -> str:
        total = self.kernel_seconds or 1.0
        table = [("", "kernel", "us", "share", "GB/s", "GFLOP/s", "line")]
        for k, row in enumerate(self.rows):
            table.append(
                (
                    str(k), row.name, f"{row.seconds * 1e6:.1f}", f"{row.seconds / total:.1%}",
                    f"{row.gb_per_second:.2f}", f"{row.gflop_per_second:.2f}",
                    "  ".join(filter(None, [row.where, row.line])),
                )
            )  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        left = (False, True, False, False, False, False, True)
        lines = [
            "  ".join(
                text.ljust(w) if flush else text.rjust(w)
                for text, w, flush in zip(row, widths, left, strict=True)
            ).rstrip()
            for row in table
        ]
        at = "".join(f", {name}={n}" for name, n in self.sizes.items())
        head = (
            f"{self.seconds * 1e6:.1f} us a run, {self.kernel_seconds * 1e6:.1f} us in "
            f"{len(self.rows)} kernels (median of {self.repeat}{at})"
        )
        return "\n".join([head, *lines])

    __repr__ = __str__


def measure(
    program: Program, plan: Plan, sizes: Mapping[str, int],
    feeds: Callable[[], Sequence[Array]], outs: Sequence[Array], repeat: int,
) -> Profile:  # fmt: skip
    """Run a program `repeat` times with a clock between kernels and `repeat` times without.

    `feeds` gives the arrays for one run: some may overwrite them.
    """
    clock: list[float] = []

    def tick() -> None:
        clock.append(perf_counter())

    plain, clocked = program.bind(sizes), program.bind(sizes, tick)
    cost = _cost(tick, clock)
    whole: list[float] = []
    parts: list[list[float]] = []
    for k in range(repeat + 1):  # the first warms up
        given = feeds()
        start = perf_counter()
        plain.run(*given, *outs)
        seconds = perf_counter() - start
        clock.clear()
        clocked.run(*feeds(), *outs)
        if k:
            whole.append(seconds)
            parts.append([b - a for a, b in pairwise(clock)])
    if not clock:
        raise GraphError("profile: this backend runs no kernels that could be timed")
    each = [max(median(column) - cost, 0.0) for column in zip(*parts, strict=True)]
    return Profile(_rows(plan, sizes, each), median(whole), dict(sizes), repeat)


def _cost(tick: Callable[[], None], clock: list[float]) -> float:
    """What a tick itself takes."""
    for _ in range(200):
        tick()
    return median(b - a for a, b in pairwise(clock))


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
