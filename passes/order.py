"""Order kernels so that fewer bytes are alive at once."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from deepgraph.dims import bind, names, product
from deepgraph.expr import Expr, Kind
from deepgraph.schedule import Kernel, Schedule
from deepgraph.target import Target

TYPICAL = 64  # what a named size is taken for where no hint says


def order(schedule: Schedule, target: Target, hints: Mapping[str, int] | None = None) -> Schedule:
    """The kernels in the order with the lower peak: as they are, or greedily chosen.

    Greedy takes, of the kernels that can run, the one that frees most and allocates least (list
    scheduling, as compilers do for registers). A kernel that writes a parameter's new value waits
    for those that read the old one, where it can, so that the update may run in place.
    """
    size = _Bytes(hints or {})
    greedy = _greedy(schedule, size)
    before, after = (peak(schedule, ks, size) for ks in (schedule.kernels, greedy))
    return schedule if before <= after and _updates_last(schedule) else replace(schedule, kernels=greedy)


class _Bytes:
    """Bytes of a value where names without a hint stand for a typical size."""

    def __init__(self, hints: Mapping[str, int]) -> None:
        self.hints = hints
        self._known: dict[Expr, int] = {}

    def __call__(self, value: Expr) -> int:
        if value not in self._known:
            count = product(value.shape)
            sizes = {n: self.hints.get(n, TYPICAL) for n in names(count)}
            self._known[value] = bind(count, sizes) * value.dtype.itemsize
        return self._known[value]


def peak(schedule: Schedule, kernels: Sequence[Kernel], size: _Bytes) -> int:
    """The most bytes alive at once, when nothing runs in place."""
    left = _reads(schedule, kernels)
    alive = highest = 0
    for kernel in kernels:
        alive += sum(map(size, kernel.writes))
        highest = max(highest, alive)
        for value in kernel.reads:
            left[value] -= 1
        for value in {*kernel.reads, *kernel.writes}:
            if left[value] == 0 and value.op.kind is not Kind.SOURCE:
                alive -= size(value)
    return highest


def _reads(schedule: Schedule, kernels: Sequence[Kernel]) -> dict[Expr, int]:
    """How often each value is still to be read; once more for what leaves the graph."""
    left: dict[Expr, int] = defaultdict(int)
    for kernel in kernels:
        for value in kernel.reads:
            left[value] += 1
    for value in schedule.graph.results:
        left[value] += 1
    return left


def _waits(schedule: Schedule) -> list[tuple[Kernel, Kernel]]:
    """Pairs (reader of a parameter, writer of its new value)."""
    readers: dict[Expr, list[Kernel]] = defaultdict(list)
    for kernel in schedule.kernels:
        for value in kernel.reads:
            readers[value].append(kernel)
    return [
        (reader, schedule.maker[new])
        for parameter, new in schedule.graph.updates.items()
        if new in schedule.maker
        for reader in readers[parameter]
        if reader is not schedule.maker[new]
    ]


def _updates_last(schedule: Schedule) -> bool:
    place = {k: i for i, k in enumerate(schedule.kernels)}
    return all(place[a] < place[b] for a, b in _waits(schedule))


def _greedy(schedule: Schedule, size: _Bytes) -> tuple[Kernel, ...]:
    kernels = schedule.kernels
    place = {k: i for i, k in enumerate(kernels)}
    needs: dict[Kernel, int] = dict.fromkeys(kernels, 0)
    soft: dict[Kernel, int] = dict.fromkeys(kernels, 0)  # waits that may be given up
    after: dict[Kernel, list[Kernel]] = defaultdict(list)
    softly: dict[Kernel, list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        for maker in {schedule.maker[v] for v in kernel.reads if v in schedule.maker}:
            after[maker].append(kernel)
            needs[kernel] += 1
    for reader, writer in _waits(schedule):
        softly[reader].append(writer)
        soft[writer] += 1

    left = _reads(schedule, kernels)
    readers: dict[Expr, list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        for value in kernel.reads:
            readers[value].append(kernel)

    def cost(kernel: Kernel) -> int:
        freed = (v for v in kernel.reads if left[v] == 1 and v.op.kind is not Kind.SOURCE)
        return sum(map(size, kernel.writes)) - sum(map(size, freed))

    ready: list[tuple[int, int]] = []
    held: set[Kernel] = set()  # ready but for soft waits
    done: dict[Kernel, None] = {}

    def offer(kernel: Kernel) -> None:
        if kernel in done or needs[kernel]:
            return
        if soft[kernel] > 0:
            held.add(kernel)
        else:
            held.discard(kernel)
            heapq.heappush(ready, (cost(kernel), place[kernel]))

    for kernel in kernels:
        offer(kernel)
    while ready or held:
        if not ready:  # updates that read each other: the first gives way
            first = min(held, key=place.__getitem__)
            soft[first] = 0
            offer(first)
        was, index = heapq.heappop(ready)
        kernel = kernels[index]
        if kernel in done:
            continue
        done[kernel] = None
        for value in kernel.reads:
            left[value] -= 1
            if left[value] == 1:
                for other in readers[value]:
                    offer(other)
        for nxt in after[kernel]:
            needs[nxt] -= 1
            offer(nxt)
        for nxt in softly[kernel]:
            soft[nxt] -= 1
            offer(nxt)
    return tuple(done)
