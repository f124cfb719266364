"""Arena: one piece of memory for all slots of a plan, each at an offset while it lives."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

_MANY = 1000  # slots from which they are placed by time, not by size
ALIGN = 64  # bytes; a cache line, and what vector loads like; 8 for what is smaller


def padded(nbytes: int) -> int:
    """Bytes rounded up to whole cache lines."""
    return -(-nbytes // ALIGN) * ALIGN


def arena(spans: Sequence[tuple[int, int]], nbytes: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Place slots in one arena: the largest first, each at the lowest place free for its life.

    Greedy by size, as Pisarchyk and Lee (2020) found best among simple orders.
    """
    aligns = [ALIGN if n >= ALIGN else 8 for n in nbytes]
    rounded = [-(-n // a) * a for n, a in zip(nbytes, aligns, strict=True)]
    if len(spans) > _MANY:
        return _by_time(spans, list(map(padded, nbytes)))
    together = _overlaps(spans, rounded)
    offsets = [0] * len(spans)
    placed: set[int] = set()
    peak = 0
    for k in sorted(together, key=lambda k: (-rounded[k], spans[k][0])):
        low = 0
        for other in sorted(placed.intersection(together[k]), key=offsets.__getitem__):
            if offsets[other] - low >= rounded[k]:
                break
            low = max(low, -(-(offsets[other] + rounded[other]) // aligns[k]) * aligns[k])
        offsets[k] = low
        peak = max(peak, low + rounded[k])
        placed.add(k)
    return tuple(offsets), peak


def _by_time(
    spans: Sequence[tuple[int, int]], nbytes: Sequence[int]
) -> tuple[tuple[int, ...], int]:
    """Place slots as their lives begin, each in the tightest gap: for thousands of them."""
    offsets = [0] * len(spans)
    gaps: dict[int, int] = {}  # start -> end of free stretches
    ends: dict[int, int] = {}  # end -> start of the same
    alive: list[tuple[int, int]] = []
    peak = 0

    def give(low: int, high: int) -> None:
        if low in ends:
            low = ends.pop(low)
            del gaps[low]
        if high in gaps:
            end = gaps.pop(high)
            del ends[end]
            high = end
        gaps[low], ends[high] = high, low

    for k in sorted((k for k, n in enumerate(nbytes) if n), key=lambda k: spans[k][0]):
        while alive and alive[0][0] < spans[k][0]:
            done = heapq.heappop(alive)[1]
            give(offsets[done], offsets[done] + nbytes[done])
        fits = [(high - low, low) for low, high in gaps.items() if high - low >= nbytes[k]]
        if fits:
            size, low = min(fits)
            del ends[gaps.pop(low)]
            if size > nbytes[k]:
                give(low + nbytes[k], low + size)
        else:
            low = peak
            if peak in ends:  # grow the last gap
                low = ends.pop(peak)
                del gaps[low]
            peak = low + nbytes[k]
        offsets[k] = low
        heapq.heappush(alive, (spans[k][1], k))
    return tuple(offsets), peak


def _overlaps(spans: Sequence[tuple[int, int]], nbytes: Sequence[int]) -> dict[int, list[int]]:
    """For each slot that takes bytes, the others alive at some time of its life."""
    found: dict[int, list[int]] = {}
    alive: list[int] = []
    for k in sorted((k for k, n in enumerate(nbytes) if n), key=lambda k: spans[k][0]):
        alive = [j for j in alive if spans[j][1] >= spans[k][0]]
        found[k] = list(alive)
        for j in alive:
            found[j].append(k)
        alive.append(k)
    return found
