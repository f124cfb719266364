"""Sweeps: how a kernel runs where a group of threads goes over a row, again for each fold of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepgraph.dims import Size, minimum, product, same
from deepgraph.dtypes import DType
from deepgraph.expr import Type
from deepgraph.nest import folds, register_dtype
from deepgraph.schedule import Kernel

MOST_PARTS = 1 << 9  # pieces of a row that blocks fold apart
PARTS_KEPT = 1 << 16  # parts of folds that are kept, where rows come in pieces


@dataclass(frozen=True)
class Sweep:
    """One pass over the elements of a row.

    `each` are the registers that every element needs, loads among them, `folds` what is folded on
    the way, and `stores` which stores are made of its elements. `after` are the registers and
    `stores_after` the stores that there is one of for the row, once the sweep is through.
    """

    each: tuple[int, ...]
    folds: tuple[int, ...]
    stores: tuple[int, ...]
    after: tuple[int, ...]
    stores_after: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Sweeps:
    """A kernel all of whose folds go over the same axes: the rows.

    Nothing is kept between sweeps but what there is one of for a row: elements are computed again
    from what they are loaded from. `before` is what a row needs before its first sweep.
    """

    kernel: Kernel

    @property
    def rows(self) -> tuple[int, ...]:
        """The axes that count rows."""
        return tuple(a for a in range(len(self.kernel.space)) if a not in self.kernel.folded)

    @cached_property
    def before(self) -> tuple[int, ...]:
        """The registers that there is one of for a row, and that wait for no fold."""
        return self._outer(0)

    @cached_property
    def sweeps(self) -> tuple[Sweep, ...]:
        """All passes, in order; those after the last fold store what varies along the row."""
        kernel = self.kernel
        inner = {k: s.register for k, s in enumerate(kernel.stores) if self.varies(s.register)}
        outer = {k: s.register for k, s in enumerate(kernel.stores) if k not in inner}
        last = max([self._level[r] for r in (*inner.values(), *self._folded.values())], default=0)
        found = []
        for level in range(last + 1):
            folded = tuple(f for f, arg in self._folded.items() if self._level[arg] == level)
            stores = tuple(k for k, r in inner.items() if self._level[r] == level)
            roots = [self._folded[f] for f in folded] + [inner[k] for k in stores]
            after = self._outer(level + 1)
            found.append(Sweep(
                self._needed(roots), folded, stores, after,
                tuple(k for k, r in outer.items() if r in after or r in folded),
            ))  # fmt: skip
        return tuple(found)

    @cached_property
    def stores_before(self) -> tuple[int, ...]:
        """The stores of what waits for no fold and varies along no row."""
        return tuple(k for k, s in enumerate(self.kernel.stores) if s.register in self.before)

    def varies(self, register: int) -> bool:
        """Does each element of a row have its own?"""
        kernel, k = self.kernel, register - len(self.kernel.loads)
        if k < 0:
            strides = kernel.loads[register].at.strides
            return any(not same(strides[a], 0) for a in kernel.folded)
        return not kernel.body[k].axes.isdisjoint(kernel.folded)

    def absent(self, register: int) -> tuple[int, ...]:
        """The axes along which a value does not vary, of those that its threads go over."""
        body, k = self.kernel.body, register - len(self.kernel.loads)
        over = range(len(self.kernel.space)) if self.varies(register) else self.rows
        at = self.kernel.loads[register].at if k < 0 else None
        along = body[k].axes if at is None else {a for a in over if not same(at.strides[a], 0)}
        return tuple(a for a in over if a not in along)

    @property
    def in_parts(self) -> bool:
        """May blocks fold pieces of a row apart? If it is gone over once, and stored after that."""
        return len(self.sweeps) == 1 and not self.sweeps[0].stores and bool(self._folded)

    @property
    def scratch(self) -> tuple[Type, ...]:
        """Room for the folds of pieces: for each fold a number a piece and row, of few rows."""
        if not self.in_parts:
            return ()
        rows: Size = product(self.kernel.space[a] for a in self.rows)
        count = minimum(MOST_PARTS * rows, PARTS_KEPT)
        return tuple(Type((count,), self.kept_in(f)) for f in self._folded)

    each_thread = True  # it is for what threads fold apart, and like that does not weigh in a plan

    def kept_in(self, fold: int) -> DType:
        """The dtype of a fold, or a part of one, in memory: that of its register."""
        found = register_dtype(self.kernel.body[fold - len(self.kernel.loads)].node)
        return np.dtype(np.uint8) if found.kind == "b" else found

    def in_place(self, load: int, store: int) -> bool:
        """May a store's memory be a load's, where both name the same elements?

        If one thread reads and writes each element, and nothing reads the load after the sweep that
        stores. What there is one of for a row every thread reads, before the first sweep, so that
        it may be stored after that.
        """
        register = self.kernel.stores[store].register
        if self.absent(register):
            return False
        if not self.kernel.folded:
            return True
        if not self.varies(register):
            return self._level[register] > 0
        made = next(n for n, s in enumerate(self.sweeps) if store in s.stores)
        return all(load not in s.each for s in self.sweeps[made + 1 :])

    @cached_property
    def _folded(self) -> dict[int, int]:
        """Each fold and the register that it folds."""
        first = len(self.kernel.loads)
        return {f: self.kernel.body[f - first].registers[0] for f in folds(self.kernel)}

    @cached_property
    def _level(self) -> dict[int, int]:
        """How many sweeps must be through before a register is known."""
        first = len(self.kernel.loads)
        level = dict.fromkeys(range(first), 0)
        for r, instr in enumerate(self.kernel.body, first):
            waits = max((level[a] for a in instr.registers), default=0)
            level[r] = waits + bool(instr.fold)
        return level

    def _outer(self, level: int) -> tuple[int, ...]:
        """The registers, but for folds, that there is one of for a row, of a level."""
        return tuple(
            r for r, at in self._level.items()
            if at == level and not self.varies(r) and r not in self._folded
        )  # fmt: skip

    def _needed(self, roots: Iterable[int]) -> tuple[int, ...]:
        """What elements need for these registers: all that varies along the row, in order."""
        first, found, open_ = len(self.kernel.loads), set[int](), list(roots)
        while open_:
            r = open_.pop()
            if r in found or not self.varies(r):
                continue
            found.add(r)
            if r >= first:
                open_ += self.kernel.body[r - first].registers
        return tuple(sorted(found))
