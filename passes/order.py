"""Order kernels, and the statements in them, so that fewer bytes are alive at once."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from deepgraph.dims import Shape, bind, names
from deepgraph.dtypes import DType
from deepgraph.expr import Expr, Kind
from deepgraph.graph import Graph
from deepgraph.schedule import Kernel, Schedule
from deepgraph.target import Target

TYPICAL = 64  # what a named size is taken for where no hint says


def order(schedule: Schedule, target: Target, hints: Mapping[str, int] | None = None) -> Schedule:
    """The kernels in the order with the lower peak: as they are, or greedily chosen.

    Greedy takes, of the kernels that can run, the one that frees most and allocates least (list
    scheduling, as compilers do for registers). A kernel that writes a parameter's new value waits
    for those that read the old one, where it can, so that the update may run in place, and for
    those that may refuse an index. Where a
    target runs statements, those of each kernel are ordered alike.
    """
    size = _Bytes(hints or {})
    if not target.atomic:
        kept = _readers_left(schedule)
        schedule = replace(
            schedule, kernels=tuple(_ordered_body(k, size, kept) for k in schedule.kernels)
        )
    tasks = [
        Task(k.reads, k.writes, {v for v in k.reads if v.op.kind is Kind.SOURCE})
        for k in schedule.kernels
    ]
    chosen = arranged(tasks, schedule.graph, hints or {})
    return replace(schedule, kernels=tuple(schedule.kernels[k] for k in chosen))


@dataclass(frozen=True)
class Task:
    """Something to run: what it reads and writes; the bytes of `free` never count."""

    reads: Sequence[Hashable]
    writes: Sequence[Hashable]
    free: Collection[Hashable] = ()


def arranged(tasks: Sequence[Task], graph: Graph, hints: Mapping[str, int]) -> list[int]:
    """The order in which the tasks of a graph run; its results outlive them."""
    return best_order(tasks, _Bytes(hints).value, graph.results, _waits(tasks, graph))


def best_order(
    tasks: Sequence[Task], size: Callable[[Hashable], int], kept: Collection[Hashable],
    waits: Sequence[tuple[int, int]] = (),
) -> list[int]:  # fmt: skip
    """The order with the lower peak of the given and the greedy one; `kept` outlive all tasks.

    `waits` are pairs (earlier, later) that hold where they can; if the given order breaks one,
    the greedy order is taken.
    """
    given = list(range(len(tasks)))
    greedy = _greedy(tasks, size, kept, waits)
    obeys = all(a < b for a, b in waits)
    better = load(tasks, given, size, kept) <= load(tasks, greedy, size, kept)
    return given if obeys and better else greedy


def load(
    tasks: Sequence[Task], order: Sequence[int], size: Callable[[Hashable], int],
    kept: Collection[Hashable],
) -> tuple[int, int]:  # fmt: skip
    """The most bytes alive at once, and their sum over all times, when nothing runs in place."""
    left = _reads(tasks, kept)
    alive = highest = area = 0
    for k in order:
        task = tasks[k]
        alive += sum(map(size, task.writes))
        highest, area = max(highest, alive), area + alive
        for value in task.reads:
            left[value] -= 1
        for value in {*task.reads, *task.writes}:
            if left[value] == 0 and value not in task.free:
                alive -= size(value)
    return highest, area


def _reads(tasks: Sequence[Task], kept: Collection[Hashable]) -> Counter[Hashable]:
    """How often each value is still to be read; once more for what is kept."""
    return Counter([*(v for t in tasks for v in t.reads), *kept])


def _greedy(
    tasks: Sequence[Task], size: Callable[[Hashable], int], kept: Collection[Hashable],
    waits: Sequence[tuple[int, int]],
) -> list[int]:  # fmt: skip
    maker = {v: k for k, t in enumerate(tasks) for v in t.writes}
    needs, soft = [0] * len(tasks), [0] * len(tasks)
    after: dict[int, list[int]] = defaultdict(list)
    softly: dict[int, list[int]] = defaultdict(list)
    readers: dict[Hashable, list[int]] = defaultdict(list)
    for k, task in enumerate(tasks):
        for value in task.reads:
            readers[value].append(k)
        for earlier in {maker[v] for v in task.reads if v in maker}:
            after[earlier].append(k)
            needs[k] += 1
    for earlier, later in waits:
        softly[earlier].append(later)
        soft[later] += 1

    left = _reads(tasks, kept)
    ready: list[tuple[int, int]] = []
    held: set[int] = set()  # ready but for waits
    done: dict[int, None] = {}

    def offer(k: int) -> None:
        if k in done or needs[k]:
            return
        if soft[k] > 0:
            held.add(k)
            return
        held.discard(k)
        freed = (v for v in tasks[k].reads if left[v] == 1 and v not in tasks[k].free)
        heapq.heappush(ready, (sum(map(size, tasks[k].writes)) - sum(map(size, freed)), k))

    for k in range(len(tasks)):
        offer(k)
    while ready or held:
        if not ready:  # they wait for each other: the first gives way
            first = min(held)
            soft[first] = 0
            offer(first)
        k = heapq.heappop(ready)[1]
        if k in done:
            continue
        done[k] = None
        for value in tasks[k].reads:
            left[value] -= 1
            if left[value] == 1:
                for other in readers[value]:
                    offer(other)
        for later in after[k]:
            needs[later] -= 1
            offer(later)
        for later in softly[k]:
            soft[later] -= 1
            offer(later)
    return list(done)


class _Bytes:
    """Bytes where names without a hint stand for a typical size."""

    def __init__(self, hints: Mapping[str, int]) -> None:
        self.hints = hints
        self._known: dict[Shape, int] = {}
        self._values: dict[Hashable, int] = {}

    def of(self, shape: Shape, dtype: DType) -> int:
        count = self._known.get(shape)
        if count is None:
            sizes = {n: self.hints.get(n, TYPICAL) for n in names(shape)}
            count = self._known[shape] = math.prod(bind(shape, sizes))
        return count * dtype.itemsize

    def value(self, value: Hashable) -> int:
        found = self._values.get(value)
        if found is None:
            assert isinstance(value, Expr)
            found = self._values[value] = self.of(value.shape, value.dtype)
        return found


def _waits(tasks: Sequence[Task], graph: Graph) -> list[tuple[int, int]]:
    """Pairs of tasks, the later of which writes a parameter's new value, by place.

    The earlier reads the old one, or may find that the step must not go on.
    """
    maker = {v: k for k, task in enumerate(tasks) for v in task.writes}
    readers: dict[Hashable, list[int]] = defaultdict(list)
    for k, task in enumerate(tasks):
        for value in task.reads:
            readers[value].append(k)
    refusing = [k for k, task in enumerate(tasks) if any(map(refuses, task.writes))]
    return [
        (earlier, maker[new])
        for parameter, new in graph.updates.items()
        if new in maker
        for earlier in dict.fromkeys([*readers[parameter], *refusing])
        if earlier != maker[new]
    ]


def refuses(value: Hashable) -> bool:
    """May what makes a value raise when it runs?"""
    return isinstance(value, Expr) and value.op.refuses


def _readers_left(schedule: Schedule) -> dict[Expr, Kernel]:
    """Which kernel reads each value last."""
    return {v: kernel for kernel in schedule.kernels for v in kernel.reads}


def _ordered_body(kernel: Kernel, size: _Bytes, last: Mapping[Expr, Kernel]) -> Kernel:
    """The same kernel with its statements in the order that keeps fewest bytes alive."""
    if len(kernel.body) < 3:
        return kernel
    first = len(kernel.loads)

    @cache
    def nbytes(register: Hashable) -> int:
        assert isinstance(register, int)
        if register < first:
            access = kernel.loads[register]
            return size.of(access.at.shape, access.value.dtype)
        instr = kernel.body[register - first]
        shape = tuple(n if a in instr.axes else 1 for a, n in enumerate(kernel.space))
        return size.of(shape, instr.node.dtype)

    lasting = {
        r for r, access in enumerate(kernel.loads)
        if access.value.op.kind is Kind.SOURCE or last.get(access.value) is not kernel
    }  # fmt: skip
    where = kernel.cut
    late = where.after if where is not None else frozenset()
    tasks = [
        Task(sorted(set(i.registers)), (first + k,), lasting) for k, i in enumerate(kernel.body)
    ]
    stored = {s.register for s in kernel.stores}
    chosen = best_order(tasks, nbytes, stored)
    chosen = sorted(chosen, key=lambda k: k in late)  # what waits for all pieces comes last
    return kernel.reordered(chosen)
