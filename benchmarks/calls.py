"""What the import costs, and what calls leave behind."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import deepgraph as dg
from benchmarks.formulas import FORMULAS, Call, drawn
from benchmarks.measure import Row
from benchmarks.nets import TINY, declared
from benchmarks.peers.own import built, step

IMPORT = """
import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import deepgraph
print(middle - start, time.perf_counter() - middle)
"""


GROUPS = ("imports", "leaks")
THREADED = False


def rows(group: str, seconds: float, quick: bool) -> Iterator[Row]:
    """The rows of a table; `seconds` plays no part."""
    if group == "imports":
        yield imports(1 if quick else 7)
        return
    leaking = {f"ten ops on {n:,} elements": ten_ops(n) for n in (8, 100_000)}
    leaking["training step"] = step(declared(TINY[0]), "auto")
    yield from (leaks(name, f, 20 if quick else 1000) for name, f in leaking.items())


def ten_ops(n: int) -> Call:
    """A call of the smallest workload on more elements."""
    formula = next(each for each in FORMULAS if each.name == "tiny")
    return built("tiny", "auto", **drawn(formula, n))


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

    grown = growth(resident)
    tracemalloc.start()
    traced = growth(lambda: tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return {"leak": name, "calls": calls, "traced bytes": traced, "resident bytes": grown}


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
