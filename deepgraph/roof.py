"""Roof: what this machine can do at best, measured once, to hold kernels against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deepgraph.backends.device import HOST, Device

_BYTES, _SIDE, _TRIES = 1 << 25, 768, 4  # of an array that no cache holds; of a matrix


_known: dict[str, Roof] = {}


@dataclass(frozen=True)
class Roof:
    """Bytes and float32 operations a second, as its arrays' module gets them.

    Williams, Waterman and Patterson (2009). A kernel whose data fit into a cache can exceed it.
    """

    bytes: float
    flops: float

    def share(self, nbytes: int, flops: int, seconds: float) -> float:
        """The time that moving and computing so much takes at best, over the time it took."""
        best = max(nbytes / self.bytes, flops / self.flops)
        return best / seconds if seconds > 0 else 0.0


def roof(device: Device = HOST) -> Roof:
    """What the device can do: measured when it is first asked for, in some ten milliseconds."""
    if device.device not in _known:
        _known[device.device] = _measured(device)
    return _known[device.device]


def _measured(device: Device) -> Roof:
    """A copy of 32 MiB, and a product of two matrices."""
    xp = device.xp
    source = xp.ones(_BYTES // 4, np.float32)
    target = xp.empty_like(source)
    a = xp.ones((_SIDE, _SIDE), np.float32)
    product = xp.empty_like(a)
    copy = _fastest(lambda: xp.copyto(target, source), device)
    multiply = _fastest(lambda: xp.matmul(a, a, out=product), device)
    return Roof(2 * _BYTES / copy, 2 * _SIDE**3 / multiply)


def _fastest(run: Callable[[], object], device: Device) -> float:
    seconds = []
    for _ in range(_TRIES):
        start = device.mark()
        run()
        seconds.append(device.seconds(start, device.mark()))
    return min(seconds)
