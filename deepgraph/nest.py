"""Nest: the loops in which a kernel runs, for targets that keep values in registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from deepgraph.dims import Shape, Size, at_least, minimum, product
from deepgraph.dtypes import DType, is_float
from deepgraph.expr import Expr, Kind, Type
from deepgraph.schedule import Kernel

TYPICAL = 64  # what a named size is taken for
LANES = 256  # elements of a strip: a piece of the innermost axis that the loops around it share
_STACK = 4096  # bytes that a thread may keep on its stack

Part = Literal["all", "strips", "lanes"]


@dataclass(frozen=True)
class Level:
    """One loop: over an axis of the kernel's space, or its strips, or the elements of a strip."""

    axis: int
    part: Part = "all"


@dataclass(frozen=True)
class Work:
    """One thing to do for one element: load a register, compute it, or add to what it folds.

    `stores`: the element is final here, and goes to memory if the kernel stores it.
    """

    register: int
    adds: bool = False
    stores: bool = False


@dataclass(frozen=True)
class Loop:
    """A loop of the nest, the folds that are complete once it ends, and what it runs."""

    level: int
    folds: tuple[int, ...]
    body: Block


Block = tuple[Work | Loop, ...]


@dataclass(frozen=True, eq=False)
class Kept:
    """A register that outlives the loop that makes it: an element for each index of `axes`."""

    register: int
    dtype: DType  # of a register: sums of floats run in float64, what takes two bytes in float32
    axes: tuple[int, ...]
    lanes: bool  # its last axis is the strip's, not the whole
    store: int | None = None  # the store whose memory holds it, or None: it has its own


@dataclass(frozen=True, eq=False)
class Nest:
    """A kernel as loops: `main` runs on every thread over its share, `end` once all are through.

    Threads share the axis `shared`: each takes a stretch of it. Where `end` is not empty, what
    folds that axis is a part on each thread; the parts are combined in the threads' order.
    """

    kernel: Kernel
    levels: tuple[Level, ...]
    shared: int | None
    main: Block
    end: Block
    kept: Mapping[int, Kept]

    @property
    def parts(self) -> tuple[int, ...]:
        """The folds of which each thread has a part."""
        return tuple(
            r for r in folds(self.kernel)
            if self.end and self.shared in self.kernel.body[r - len(self.kernel.loads)].fold
        )  # fmt: skip

    @cached_property
    def memory(self) -> tuple[Kept, ...]:
        """What needs memory of its own on each thread, beyond a strip."""
        return tuple(k for k in self.kept.values() if k.store is None and not self.small(k))

    @property
    def scratch(self) -> tuple[Type, ...]:
        """The types of that memory."""
        return tuple(Type(self.extents(kept), kept.dtype) for kept in self.memory)

    @property
    def each_thread(self) -> bool:
        """Has every thread such memory of its own?"""
        return self.shared is not None

    def in_place(self, load: int, store: int) -> bool:
        """May a store's memory be a load's, where both name the same elements?

        Where each element is read and written in one step of one loop, and by nothing else.
        """
        register = self.kernel.stores[store].register
        reading = [b for b in _bodies(self.main) + _bodies(self.end) if Work(load) in b]
        lent = any(kept.store == store for kept in self.kept.values())
        return not lent and len(reading) == 1 and Work(register, stores=True) in reading[0]

    def extents(self, kept: Kept) -> Shape:
        """The shape of a kept register's memory."""
        space = self.kernel.space
        return tuple(
            minimum(LANES, space[a]) if kept.lanes and a == kept.axes[-1] else space[a]
            for a in kept.axes
        )

    def small(self, kept: Kept) -> bool:
        """Is it a strip, or not much more, that a thread keeps on its stack?"""
        size = self.bytes(kept)
        strip = kept.lanes and len(kept.axes) == 1
        return strip or (kept.register not in self.parts and at_least(_STACK, size) is True)

    def bytes(self, kept: Kept) -> Size:
        """The bytes of a kept register, on one thread."""
        return product(self.extents(kept)) * kept.dtype.itemsize


def _bodies(block: Block) -> list[Block]:
    """A block and all blocks in its loops."""
    found = [block]
    for part in found:
        found += [item.body for item in part if isinstance(item, Loop)]
    return found


def register_dtype(node: Expr) -> DType:
    """The dtype in which a value is computed: sums and products of floats run in float64."""
    if not is_float(node.dtype):
        return node.dtype
    adds = node.op.kind is Kind.REDUCE and node.op.ufunc in ("add", "multiply")
    wide = node.dtype.itemsize == 8 or adds
    return np.dtype(np.float64 if wide else np.float32)


def folds(kernel: Kernel) -> list[int]:
    """The registers that are folds; a reduction over axes of size 1 folds nothing."""
    first = len(kernel.loads)
    return [first + k for k, i in enumerate(kernel.body) if i.fold]
