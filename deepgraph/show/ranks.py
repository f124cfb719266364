"""Ranks: which row of a drawing each box stands in, and which links are too long to draw."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence

Pair = tuple[int, int]  # a link from an earlier box to a later one


def ranks(
    count: int, links: Sequence[Pair], top: Collection[int] = (), bottom: Collection[int] = ()
) -> list[int]:
    """A row for each box, so that links lead down and are short.

    Boxes start in the longest-path layering. A box then moves down to just above the first that
    reads it, unless that makes more links longer than the one it makes shorter; links of one tail
    count as one, since they share the way down. Boxes in `top` stay in the first row, those in
    `bottom` go below all others.
    """
    above: list[set[int]] = [set() for _ in range(count)]
    below: list[set[int]] = [set() for _ in range(count)]
    for tail, head in links:
        above[head].add(tail)
        below[tail].add(head)
    first = 1 if top else 0
    row = [0] * count
    for v in range(count):
        if v not in top:
            row[v] = max((row[u] + 1 for u in above[v]), default=first)
    last = max((row[v] for v in range(count) if v not in bottom), default=0) + 1
    for v in bottom:
        row[v] = last
    follows = [True] * count  # may move with its one reader at no cost: so may all it reads
    for v in range(count):
        follows[v] = len(below[v]) == 1 and all(follows[u] for u in above[v])
    lowest = [max((row[w] for w in below[v]), default=0) for v in range(count)]
    for v in reversed(range(count)):
        if v in top or v in bottom or not below[v]:
            continue
        if sum(lowest[u] <= row[v] and not follows[u] for u in above[v]) <= 1:
            row[v] = min(row[w] for w in below[v]) - 1
            for u in above[v]:
                lowest[u] = max(lowest[u], row[v])
    return row


def long_links(row: Sequence[int], links: Sequence[Pair], budget: int) -> set[int]:
    """The longest links, without which the others cross at most `budget` rows in all.

    Links of one tail share the way down, so only the longest of them counts.
    """
    spans: dict[int, list[int]] = {}
    for tail, head in links:
        spans.setdefault(tail, []).append(row[head] - row[tail])
    for lengths in spans.values():
        lengths.sort()

    def crossed(limit: int) -> int:
        total = 0
        for lengths in spans.values():
            at = bisect_right(lengths, limit)
            total += lengths[at - 1] - 1 if at else 0
        return total

    low, high = 1, max((lengths[-1] for lengths in spans.values()), default=1)
    while low < high:
        middle = (low + high + 1) // 2
        if crossed(middle) <= budget:
            low = middle
        else:
            high = middle - 1
    return {k for k, (tail, head) in enumerate(links) if row[head] - row[tail] > low}
