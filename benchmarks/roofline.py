"""What the machine does at its best, measured here and now: products of matrices, and memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import perf_counter

import numpy as np

from deepgraph.config import threads

_SIDE = 1024  # of the matrices
_TRIES = 12


@cache
def flops_per_second() -> float:
    """Of a float32 product of large square matrices by NumPy's BLAS."""
    a = np.ones((_SIDE, _SIDE), np.float32)
    c = np.empty_like(a)
    return 2 * _SIDE**3 / _best(lambda: np.matmul(a, a, out=c))


@cache
def seconds_to_move(nbytes: int) -> float:
    """Of a sum of two arrays into a third, of so many bytes together, each thread on its part."""
    n = max(1, nbytes // 12 // threads())
    parts = [np.ones((3, n), np.float32) for _ in range(threads())]
    if threads() == 1 or nbytes < 1 << 20:  # a pool of Python threads costs more than that
        return _best(lambda: [np.add(a, b, out=c) for a, b, c in parts])
    with ThreadPoolExecutor(threads()) as pool:
        return _best(lambda: list(pool.map(lambda part: np.add(part[0], part[1], part[2]), parts)))


def _best(function: Callable[[], object]) -> float:
    """Seconds of the quickest of some calls: what others do on the machine only slows them."""
    function()
    found = []
    for _ in range(_TRIES):
        start = perf_counter()
        function()
        found.append(perf_counter() - start)
    return min(found)
