"""Arena: one piece of memory for all slots of a plan, each at an offset while it lives."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_MANY = 1000  # slots from which they are placed by time, not by size
ALIGN = 64  # bytes; a cache line, and what vector loads like
_SMALLER = 16, 8  # for what is smaller: what a thread of a GPU loads at once, and a number


def padded(nbytes: int) -> int:
    """Bytes rounded up to whole cache lines."""
    return -(-nbytes // ALIGN) * ALIGN


def taken(nbytes: int) -> npt.NDArray[np.uint8]:
    """Memory from the start of a cache line on."""
    memory = np.empty(nbytes + ALIGN, np.uint8)
    start = -memory.ctypes.data % ALIGN
    return memory[start : start + nbytes]


def arena(spans: Sequence[tuple[int, int]], nbytes: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Place slots in one arena: the largest first, each at the lowest place free for its life.

    Greedy by size, as Pisarchyk and Lee (2020) found best among simple orders.
    """
    sizes = [rounded(n) for n in nbytes]
    if len(spans) > _MANY:
        return _by_time(spans, sizes)
    together = _overlaps(spans, sizes)
    offsets = [0] * len(spans)
    placed: set[int] = set()
    peak = 0
    for k in sorted(together, key=lambda k: (-sizes[k], spans[k][0])):
        low = 0
        for other in sorted(placed.intersection(together[k]), key=offsets.__getitem__):
            if offsets[other] - low >= sizes[k]:
                break
            low = max(low, _aligned(offsets[other] + sizes[other], sizes[k]))
        offsets[k] = low
        peak = max(peak, low + sizes[k])
        placed.add(k)
    return tuple(offsets), peak


def rounded(nbytes: int) -> int:
    """What a slot of so many bytes takes of the arena."""
    return _aligned(nbytes, nbytes)


def _aligned(offset: int, nbytes: int) -> int:
    """The first place from `offset` on where so many bytes may start."""
    align = next((n for n in (ALIGN, *_SMALLER) if nbytes >= n), 8)
    return -(-offset // align) * align


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
        n = nbytes[k]
        fits = [(high - low, low) for low, high in gaps.items() if high - _aligned(low, n) >= n]
        if fits:
            size, low = min(fits)
            high = low + size
        else:  # grow the last gap
            low = ends.get(peak, peak)
            high = peak = _aligned(low, n) + n
        if low in gaps:
            del ends[gaps.pop(low)]
        start = offsets[k] = _aligned(low, n)
        for rest in ((low, start), (start + n, high)):
            if rest[0] < rest[1]:
                give(*rest)
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
