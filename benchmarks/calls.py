"""What a call costs beside its work, what the import costs, and what calls leave behind."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import deepgraph as dg
from benchmarks.measure import OWN, Row, compared
from benchmarks.nets import TINY, Array, declared

IMPORT = """
import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import deepgraph
print(middle - start, time.perf_counter() - middle)
"""


def rows(seconds: float, quick: bool) -> Iterator[Row]:
    """The rows of three tables."""
    yield from compared("ten ops on 8 elements", functions_of(8), seconds)
    yield imports(1 if quick else 7)
    step, work = declared(TINY[0])
    leaking = {f"ten ops on {n:,} elements": functions_of(n)[OWN] for n in (8, 100_000)}
    leaking["training step"] = partial(step, x=work.x, t=work.t)
    yield from (leaks(name, f, 20 if quick else 1000) for name, f in leaking.items())


def functions_of(n: int) -> dict[str, Callable[[], Any]]:
    """Ten operations: a compiled step fed by keyword, and bare ufuncs into one array."""
    x, y = np.random.default_rng(0).uniform(1, 2, (2, n)).astype(np.float32)
    a = np.empty_like(x)

    def expression(x: Any, y: Any, xp: Any) -> Any:
        a = xp.tanh(x * y + x) * y - x
        return xp.sqrt(x / (xp.exp(a) + y)) * x

    def ufuncs() -> Array:
        np.multiply(x, y, out=a)
        np.add(a, x, out=a)
        np.tanh(a, out=a)
        np.multiply(a, y, out=a)
        np.subtract(a, x, out=a)
        np.exp(a, out=a)
        np.add(a, y, out=a)
        np.divide(x, a, out=a)
        np.sqrt(a, out=a)
        return np.multiply(a, x, out=a)

    fed = dg.placeholder("x", ("n",)), dg.placeholder("y", ("n",))
    step = dg.compile(expression(*fed, dg))
    plain = partial(expression, x, y, np)
    return {OWN: lambda: step(x=x, y=y), "bare ufuncs": ufuncs, "numpy": plain}


def imports(times: int) -> Row:
    """Seconds of `import numpy`, and of `import deepgraph` after it."""
    root = Path(dg.__file__).parents[1]
    found = []
    for _ in range(times):
        done = subprocess.run([sys.executable, "-c", IMPORT], cwd=root, capture_output=True,
                              text=True, check=True)  # fmt: skip
        found.append([float(part) for part in done.stdout.split()])
    theirs, ours = (statistics.median(column) for column in zip(*found, strict=True))
    return {"import": "seconds", "numpy": theirs, "deepgraph after it": ours, "both": theirs + ours}


def leaks(name: str, function: Callable[[], Any], calls: int) -> Row:
    """Bytes by which the resident set grows over so many calls, and what Python traces of it."""

    def growth(measured: Callable[[], int]) -> int:
        for _ in range(20):
            function()
        gc.collect()
        before = measured()
        for _ in range(calls):
            function()
        gc.collect()
        return measured() - before

    resident = growth(_resident)
    tracemalloc.start()
    traced = growth(lambda: tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return {"leak": name, "calls": calls, "traced bytes": traced, "resident bytes": resident}


def _resident() -> int:
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
