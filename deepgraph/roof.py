"""Roof: what this machine can do at best, measured once, to hold kernels against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import perf_counter

import numpy as np

_BYTES, _SIDE, _TRIES = 1 << 25, 768, 4  # of an array that no cache holds; of a matrix


@dataclass(frozen=True)
class Roof:
    """Bytes and float32 operations a second, as NumPy gets them here.

    Williams, Waterman and Patterson (2009). A kernel whose data fit into a cache can exceed it.
    """

    bytes: float
    flops: float

    def share(self, nbytes: int, flops: int, seconds: float) -> float:
        """The time that moving and computing so much takes at best, over the time it took."""
        best = max(nbytes / self.bytes, flops / self.flops)
        return best / seconds if seconds > 0 else 0.0


@cache
def roof() -> Roof:
    """Measure a copy of 32 MiB and a product of two matrices; some ten milliseconds, once."""
    source = np.ones(_BYTES // 4, np.float32)
    target = np.empty_like(source)
    a = np.ones((_SIDE, _SIDE), np.float32)
    product = np.empty_like(a)
    copy = _fastest(lambda: np.copyto(target, source))
    multiply = _fastest(lambda: np.matmul(a, a, out=product))
    return Roof(2 * _BYTES / copy, 2 * _SIDE**3 / multiply)


def _fastest(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(_TRIES):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    return min(seconds)
