"""Blocks: how a statement-wise target runs a large kernel piece by piece, in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deepgraph.dims import at_least, bind, product
from deepgraph.schedule import Cut, Kernel
from deepgraph.target import Target


@dataclass(frozen=True)
class Blocks:
    """The pieces of one kernel at known sizes: `rows` along the cut's axis, `count` pieces."""

    cut: Cut
    rows: int
    count: int
    threads: int

    def elements(self, shape: tuple[int, ...]) -> int:
        """Elements of scratch of this shape: one block for each thread."""
        count = self.threads
        for axis, n in enumerate(shape):
            count *= min(n, self.rows) if axis == self.cut.axis else n
        return count


def may_block(kernel: Kernel, target: Target) -> bool:
    """Are there sizes at which the kernel runs in blocks?"""
    small = at_least(target.block_from - 1, product(kernel.space))
    return kernel.cut is not None and small is not True


def blocks(
    kernel: Kernel, target: Target, sizes: Mapping[str, int], threads: int = 1
) -> Blocks | None:
    """The pieces in which to run a kernel at these sizes; None if it is small or cannot be cut."""
    if target.atomic or (where := kernel.cut) is None:
        return None
    space = bind(kernel.space, sizes)
    total = 1
    for n in space:
        total *= n
    if total < target.block_from:
        return None
    extent = space[where.axis]
    rows = max(1, min(extent, target.block * extent // total))
    count = -(-extent // rows)
    workers = min(threads, count) if total >= target.threads_from else 1
    return Blocks(where, rows, count, workers) if count > 1 else None
