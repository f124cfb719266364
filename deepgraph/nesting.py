"""Nesting: the loops for a kernel that keep the least between them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from deepgraph.dims import bind, names, same
from deepgraph.nest import TYPICAL, Block, Kept, Level, Loop, Nest, Work, folds, register_dtype
from deepgraph.schedule import Kernel

_SHARED_FROM = 16  # steps from which an axis is worth sharing among threads
_CHEAP = 4  # operations for one element that are done again rather than kept in memory


def nest(kernel: Kernel) -> Nest:
    """The nest of a kernel that keeps the least in memory, of a few orders of its loops.

    The order in memory, and for each set of axes that is folded, one with those axes inside: then
    a row is in the cache while it is folded and read again. If the innermost axis in memory is not
    folded it comes in strips around the folds.
    """
    found = [_Builder(kernel, levels).nest() for levels in _orders(kernel)]
    return min(found, key=_cost)


def _orders(kernel: Kernel) -> Iterable[tuple[Level, ...]]:
    axes = range(len(kernel.space))
    yield tuple(Level(a) for a in axes)
    for fold in dict.fromkeys(i.fold for i in kernel.body if i.fold):
        inside = [a for a in axes if a in fold]
        outside = [a for a in axes if a not in fold]
        if outside and outside[-1] == axes[-1]:
            yield (
                *(Level(a) for a in outside[:-1]), Level(outside[-1], "strips"),
                *(Level(a) for a in inside), Level(outside[-1], "lanes"),
            )  # fmt: skip
        else:
            yield tuple(Level(a) for a in (*outside, *inside))


def _cost(nest: Nest) -> tuple[int, bool, int]:
    """Elements kept in memory, whether no axis is shared, elements kept in strips."""
    sizes: dict[str, int] = dict.fromkeys(names(nest.kernel.space), TYPICAL)
    memory = strips = 0
    for kept in nest.kept.values():
        count = 1
        for n in bind(nest.extents(kept), sizes):
            count *= n
        if nest.small(kept):
            strips += count
        else:
            memory += count
    return memory, nest.shared is None, strips


@dataclass
class _Builder:
    """Numbers: a register's own for its value, and ~r for adding an element to the fold r."""

    kernel: Kernel
    levels: tuple[Level, ...]
    kept: dict[int, int] = field(default_factory=dict)  # register -> level of the outermost loop

    def __post_init__(self) -> None:
        kernel, first = self.kernel, len(self.kernel.loads)
        self.args: dict[int, tuple[int, ...]] = {}
        self.axes: dict[int, frozenset[int]] = {}  # along which an item runs
        self.again: set[int] = set()  # what may be done again in each loop that needs it
        for r, access in enumerate(kernel.loads):
            self.args[r] = ()
            steps = enumerate(access.at.strides)
            self.axes[r] = frozenset(a for a, s in steps if not same(s, 0))
            self.again.add(r)
        effort: dict[int, int] = {}
        for r, instr in enumerate(kernel.body, first):
            self.axes[r], self.args[r] = instr.axes, instr.registers
            if instr.fold:
                self.args[r], self.args[~r] = (~r,), instr.registers
                self.axes[~r] = instr.axes | frozenset(instr.fold)
                self.again.add(r)
                continue
            flops = instr.node.op.flops
            own = flops if isinstance(flops, int) else _CHEAP + 1
            effort[r] = own + sum(effort.get(a, 0) for a in set(instr.registers) & self.again)
            if effort[r] <= _CHEAP:
                self.again.add(r)
        self.stored = {s.register: k for k, s in reversed(list(enumerate(kernel.stores)))}

    def nest(self) -> Nest:
        shared, apart = self._shared()
        first = self.levels[0].axis if self.levels else None
        if apart:
            looping = {i for i in self.args if first in self.axes[i]}
            late = set(self.args) - looping
            main = self._block(0, self._once(self._needed(looping), looping), frozenset())
            needed = self._needed(self.stored.keys() & late, stop=looping)
            end = self._block(1, [i for i in self._once(needed, late) if i in late], frozenset())
            self.kept |= {r: 0 for r in folds(self.kernel) if first in self._fold(~r)}
            both = self._storing(main, looping), self._storing(end, late)
        else:
            everything = self._needed(self.stored)
            main = self._block(0, self._once(everything, self.stored), frozenset())
            both = self._storing(main, self.stored), ()
        kept = {r: self._held(r, level) for r, level in self.kept.items()}
        self._lend(kept, *both)
        return Nest(self.kernel, self.levels, shared, *both, kept)

    def _held(self, r: int, level: int) -> Kept:
        spanned = [v for v in self.levels[level:] if v.axis in self.axes[r]]
        axes = tuple(dict.fromkeys(v.axis for v in spanned))
        lanes = any(v.part == "lanes" for v in spanned) and not any(
            v.part == "strips" for v in spanned
        )
        if lanes:
            axes = (*(a for a in axes if a != self.levels[-1].axis), self.levels[-1].axis)
        node = self.kernel.body[r - len(self.kernel.loads)].node
        return Kept(r, register_dtype(node), axes, lanes)

    def _lend(self, kept: dict[int, Kept], main: Block, end: Block) -> None:
        """Keep what varies as a store does in the store's memory, if it is read no later."""
        at, last = self._positions(main)
        last |= dict.fromkeys(self._positions(end)[1], math.inf)
        free = dict(self.stored)
        for r, one in kept.items():
            for q, k in free.items():
                value = self.kernel.stores[k].access.value
                if (
                    ~r not in self.args and self.axes[q] == self.axes[r]
                    and value.dtype == one.dtype and last.get(r, 0) <= at.get(q, -1)
                ):  # fmt: skip
                    kept[r] = replace(one, store=k)
                    del free[q]
                    break

    def _positions(self, main: Block) -> tuple[dict[int, int], dict[int, float]]:
        """When each register is stored, and when it is read last; its own store reads it."""
        at: dict[int, int] = {}
        last: dict[int, float] = {}
        stack: list[Work | Loop] = [*reversed(main)]
        now = 0
        while stack:
            item = stack.pop()
            if isinstance(item, Loop):
                stack += reversed(item.body)
                continue
            now += 1
            r = item.register
            for a in self.args[~r if item.adds else r]:
                last[a] = now
            if item.stores:
                at[r] = now
        return at, last

    def _needed(self, wanted: Collection[int], stop: Collection[int] = ()) -> list[int]:
        """All that these items are computed from, in order."""
        found: set[int] = set()
        stack = list(wanted)
        while stack:
            i = stack.pop()
            if i not in found:
                found.add(i)
                stack += [] if i in stop else self.args[i]
        return sorted(found, key=_place)

    def _once(self, items: Iterable[int], final: Collection[int]) -> list[int]:
        """The items without what may be done again wherever it is needed, unless it is stored."""
        return [i for i in items if i not in self.again or (i in self.stored and i in final)]

    def _again(self, wanted: Iterable[int], known: Collection[int]) -> list[int]:
        """The items, and what they need that is done again in each loop."""
        found: set[int] = set()
        stack = list(wanted)
        while stack:
            i = stack.pop()
            if i not in found:
                found.add(i)
                stack += [a for a in self.args[i] if a in self.again and a not in known]
        return sorted(found, key=_place)

    def _loops(self, i: int, level: int) -> bool:
        return self.levels[level].axis in self.axes[i]

    def _inner(self, i: int, level: int) -> bool:
        """Does the item still vary along loops from this level on?"""
        return any(v.axis in self.axes[i] for v in self.levels[level:])

    def _fold(self, i: int) -> tuple[int, ...]:
        return self.kernel.body[~i - len(self.kernel.loads)].fold if i < 0 else ()

    def _closes(self, i: int, level: int) -> bool:
        """Is this the outermost loop that the fold runs over?"""
        where = (k for k, v in enumerate(self.levels) if v.axis in self._fold(i))
        return next(where, None) == level

    def _block(self, level: int, wanted: Sequence[int], known: frozenset[int]) -> Block:
        """What to run, in order, to have the wanted items; the known are in scope already."""
        here = self._again(wanted, known)
        while level < len(self.levels) and not any(self._loops(i, level) for i in here):
            level += 1
        if level == len(self.levels):
            return tuple(self._work(i) for i in here if i not in known)
        phase: dict[int, int] = {}
        for i in self._needed(wanted, stop=known):
            given = [(phase.get(a, 0), a) for a in self.args[i]]
            phase[i] = max((p + self._closes(a, level) for p, a in given), default=0)
        items: list[Work | Loop] = []
        for p in range(max(phase[i] for i in wanted) + 1):
            still = [i for i in wanted if phase[i] == p and not self._loops(i, level)]
            if still:
                items += self._block(level + 1, still, known)
                self._keep(self._again(still, known), known, level)
                known |= {i for i in self._again(still, known) if not self._inner(i, level)}
            inside = [i for i in wanted if phase[i] == p and self._loops(i, level)]
            if inside:
                run = self._again(inside, known)
                hoisted = [i for i in run if not self._inner(i, level)]
                items += [self._work(i) for i in hoisted]
                known |= set(hoisted)
                self._keep(run, known, level)
                folds = tuple(~i for i in run if i < 0 and self._closes(i, level))
                for r in folds:
                    if self._inner(r, level):
                        self.kept[r] = min(level, self.kept.get(r, level))
                items.append(Loop(level, folds, self._block(level + 1, inside, known)))
        return tuple(items)

    def _keep(self, run: Sequence[int], known: Collection[int], level: int) -> None:
        """Note what these items read that another loop makes."""
        inside = {*run, *known}
        for i in run:
            for a in self.args[i]:
                if a >= 0 and a not in inside and self._inner(a, level):
                    self.kept[a] = min(level, self.kept.get(a, level))

    def _work(self, i: int) -> Work:
        return Work(~i, adds=True) if i < 0 else Work(i)

    def _storing(self, block: Block, final: Collection[int]) -> Block:
        """The block with each stored register marked where it is first computed."""
        pending = {r for r in self.stored if r in final}

        def marked(block: Block) -> Block:
            found: list[Work | Loop] = []
            for item in block:
                if isinstance(item, Loop):
                    found.append(Loop(item.level, item.folds, marked(item.body)))
                elif not item.adds and item.register in pending:
                    pending.discard(item.register)
                    found.append(Work(item.register, stores=True))
                else:
                    found.append(item)
            return tuple(found)

        return marked(block)

    def _shared(self) -> tuple[int | None, bool]:
        """The axis that threads share, and whether what folds it comes in parts."""
        sizes: dict[str, int] = dict.fromkeys(names(self.kernel.space), TYPICAL)
        extents = bind(self.kernel.space, sizes)
        order = list(dict.fromkeys(v.axis for v in self.levels))
        whole = [a for a in order if self._whole(a)]
        large = [a for a in whole if extents[a] >= _SHARED_FROM]
        if large:
            return large[0], False
        if order and self._apart(order[0]) and not whole:
            return order[0], True
        if order and self._apart(order[0]) and extents[order[0]] >= _SHARED_FROM:
            return order[0], True
        return (max(whole, key=extents.__getitem__), False) if whole else (None, False)

    def _whole(self, axis: int) -> bool:
        """Can threads take stretches of this axis, each with all that depends on them?"""
        return all(axis in self.axes[r] for r in self.stored) and not any(
            axis in self._fold(i) for i in self.axes
        )

    def _apart(self, axis: int) -> bool:
        """Can each thread fold its stretch of this axis, the outermost, into a part?"""
        across = {~i for i in self.axes if axis in self._fold(i)}
        after: set[int] = set()
        for i in sorted(self.args, key=_place):
            if any(a in across or a in after for a in self.args[i]):
                if axis in self.axes[i]:
                    return False
                after.add(i)
        return bool(across)


def _place(i: int) -> tuple[int, bool]:
    """An order in which items can run: a fold's elements before its result."""
    return (~i, False) if i < 0 else (i, True)
