"""Elementwise and row expressions and training steps on a GPU, beside CuPy, torch and JAX on it.

`/ floor` is over the time in which the device copies what must be read and written: 1.11 is 90 % of
its bandwidth. Each call is timed until the device is through with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from benchmarks import elementwise, peers, steps
from benchmarks.formulas import FORMULAS, Call
from benchmarks.measure import Row, compared
from benchmarks.nets import NETS, RESNET, TINY, TINY_RESNET, declared, traffic
from deepgraph.backends import cudevice

SIZES = (1_000_000, 10_000_000, 100_000_000)
NET_NAMES = ("mlp 64", "mlp 128", "lenet 64", "lenet 256", "conv 64")
GROUPS = (*(f"gpu {f.name}" for f in FORMULAS if f.name != "tiny"), "gpu nets")
THREADED = False
_MODULES = ("own", "cupy", "torch", "jax")


def rows(group: str, seconds: float, quick: bool) -> Iterator[Row]:
    """A row for each size or net and each library that is installed; none without a GPU."""
    if reason := cudevice.missing():
        print(f"{group}: {reason}", file=sys.stderr)
        return
    peers.MODULES = _MODULES
    peers.on_gpu()
    if group == "gpu nets":
        wanted = [n for n in NETS if n.name in NET_NAMES]
        for net in [*TINY, TINY_RESNET] if quick else [*wanted, RESNET]:
            found = _waited(steps.checked(net))
            yield from compared(net.name, found, seconds, _moved(traffic(declared(net))))
        return
    formula = next(f for f in FORMULAS if group == f"gpu {f.name}")
    for n in [3000] if quick else SIZES:
        found = _waited(elementwise.checked(formula, n))
        name = f"{formula.name} {n:.0e}".replace("e+0", "e")
        for row in compared(name, found, seconds, _moved(formula.arrays * 4 * n)):
            yield {**row, "GB/s": formula.arrays * 4 * n / row["peer us"] / 1e3}


def _waited(functions: dict[str, Call]) -> dict[str, Call]:
    """The same calls, each until the device is through with it."""

    def whole(function: Call, wait: Callable[[], None]) -> Any:
        result = function()
        wait()
        return result

    import cupy

    wait = cupy.cuda.runtime.deviceSynchronize
    return {name: partial(whole, f, wait) for name, f in functions.items()}


@cache
def _moved(nbytes: int) -> float:
    """The seconds of a copy that reads and writes so many bytes together, the best of some."""
    import cupy

    source = cupy.ones(max(nbytes // 2, 1), "uint8")
    target = cupy.empty_like(source)
    device = cudevice.launcher()
    found = []
    for _ in range(10):
        start = device.mark()
        cupy.copyto(target, source)
        found.append(device.seconds(start, device.mark()))
    return min(found)
