"""Contract: join what has one key into groups, such that groups never wait for each other."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Mapping, Sequence


def contracted(
    units: Sequence[int], above: Sequence[Mapping[int, None]], key: Callable[[int], Hashable]
) -> list[list[int]]:
    """Groups of units of one key, as few as are found; a unit whose key is None stays alone.

    `units` come after those they read, which `above` names. Where a value leaves the units of a
    key and comes back, they become two groups or more: a graph of the groups has no cycles.
    """
    inside = set(units)
    depth: dict[int, int] = {}  # keys met on the way to a unit
    group: dict[tuple[Hashable, int], int] = {}
    found: list[list[int]] = []
    of: dict[int, int] = {}
    for u in units:
        mine = key(u)
        depth[u] = max(
            (depth[a] + (mine is None or key(a) != mine) for a in above[u] if a in inside),
            default=0,
        )
        name = (u, -1) if mine is None else (mine, depth[u])
        of[u] = group.setdefault(name, len(found))
        if of[u] == len(found):
            found.append([])
        found[of[u]].append(u)
    below: list[set[int]] = [set() for _ in found]
    for u in units:
        for a in above[u]:
            if a in inside and of[a] != of[u]:
                below[of[a]].add(of[u])
    alike: dict[Hashable, list[int]] = {}
    for (mine, level), g in sorted(group.items(), key=lambda item: item[0][1]):
        if level >= 0:
            alike.setdefault(mine, []).append(g)
    for groups in alike.values():
        _merge(groups, found, below)
    return [sorted(units) for units in found if units]


def _merge(groups: Sequence[int], found: list[list[int]], below: list[set[int]]) -> None:
    """Join groups of one key where nothing between them waits for one and is waited for."""
    kept: list[int] = []
    for b in groups:
        into = next((a for a in kept if not _around(a, b, below)), None)
        if into is None:
            kept.append(b)
            continue
        found[into] += found[b]
        found[b] = []
        below[into] = (below[into] | below[b]) - {into, b}
        below[b] = set()
        for others in below:
            if b in others:
                others.discard(b)
                others.add(into)
        below[into].discard(into)


def _around(a: int, b: int, below: Sequence[set[int]]) -> bool:
    """Is there a way from one to the other through a third?"""
    for start, end in ((a, b), (b, a)):
        stack = [g for g in below[start] if g != end]
        seen = set(stack)
        while stack:
            g = stack.pop()
            if end in below[g]:
                return True
            stack += below[g] - seen
            seen |= below[g]
    return False


def ordered(
    groups: Sequence[Sequence[int]], place: Mapping[int, int], above: Sequence[Mapping[int, None]]
) -> list[int]:
    """The groups, each after those it reads; otherwise in the order of their first units."""
    waits = [{place[a] for u in units for a in above[u] if a in place} - {g}
             for g, units in enumerate(groups)]  # fmt: skip
    readers: list[list[int]] = [[] for _ in groups]
    for g, read in enumerate(waits):
        for r in read:
            readers[r].append(g)
    left = list(map(len, waits))
    ready = [(min(units), g) for g, units in enumerate(groups) if not left[g]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, g = heapq.heappop(ready)
        order.append(g)
        for r in readers[g]:
            left[r] -= 1
            if not left[r]:
                heapq.heappush(ready, (min(groups[r]), r))
    return order
