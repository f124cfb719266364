"""Functions timed in turns in one process, the rows that come of it, and where it was measured."""

from __future__ import annotations

import gc
import os
import platform
import random
import statistics
import subprocess
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any, NamedTuple

Row = dict[str, Any]  # columns by name; `suite` and `threads` are added
OWN = "deepgraph"
LIBRARIES = ("numpy", "scipy-openblas64", "torch", "jax", "pytensor", "tinygrad", "numba",
             "numexpr")  # fmt: skip


_ROUNDS = 5
_LOOK = 5e-3  # seconds between two looks whether threads of another library still spin
_SAMPLE = 1e-4  # a sample is as many calls as last so many seconds


class Times(NamedTuple):
    """Seconds of one call."""

    median: float
    p90: float


def interleaved(
    functions: Mapping[str, Callable[[], object]], seconds: float
) -> dict[str, Times]:
    """Time each function for so many seconds, in turns and in an order drawn anew for each round.

    Threads of some libraries spin for a tenth of a second after a call and take a processor from
    whoever comes next: a turn begins when this process is at rest. The first third of a turn, which
    finds caches, threads and processors as the others left them, is not counted; then come samples,
    each of as many calls as last 100 us.
    """
    calls = {name: _calls(f) for name, f in functions.items()}
    samples: dict[str, list[float]] = {name: [] for name in functions}
    draw, order = random.Random(0), list(functions)
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for _ in range(_ROUNDS):
            draw.shuffle(order)
            for name in order:
                _rest()
                turn = seconds / _ROUNDS
                _sampled(functions[name], calls[name], turn / 3, 1)
                samples[name] += _sampled(functions[name], calls[name], turn * 2 / 3, 2)
    finally:
        if collecting:
            gc.enable()
    return {name: Times(statistics.median(s), statistics.quantiles(s, n=10)[-1])
            for name, s in samples.items()}  # fmt: skip


def _sampled(
    function: Callable[[], object], calls: int, seconds: float, least: int
) -> list[float]:
    """Seconds of a call in samples of so many calls, taken for so long."""
    found: list[float] = []
    end = perf_counter() + seconds
    while (start := perf_counter()) < end or len(found) < least:
        for _ in range(calls):
            function()
        found.append((perf_counter() - start) / calls)
    return found


def _rest() -> None:
    """Wait until no thread of this process runs, but for half a second at most."""
    for _ in range(100):
        before = process_time()
        sleep(_LOOK)
        if process_time() - before < _LOOK / 5:
            return


def _calls(function: Callable[[], object]) -> int:
    function()
    start = perf_counter()
    function()
    return max(1, round(_SAMPLE / (perf_counter() - start)))


def compared(
    workload: str, functions: Mapping[str, Callable[[], object]], seconds: float, floor: float
) -> Iterator[Row]:
    """A row for each function beside deepgraph's own, with the ratio of its time to that one's.

    `floor` is the seconds that the machine takes for what no program can do without.
    """
    times = interleaved(functions, seconds)
    own = times[OWN]
    for peer, theirs in times.items():
        yield {
            "workload": workload, "peer": peer, "ratio": theirs.median / own.median,
            "ratio p90": theirs.p90 / own.p90, "peer us": theirs.median * 1e6,
            "peer p90": theirs.p90 * 1e6, "own us": own.median * 1e6, "own p90": own.p90 * 1e6,
            "floor us": floor * 1e6,
        }  # fmt: skip


def seconds_of(function: Callable[[], Any]) -> tuple[float, Any]:
    """How long one call takes, and what it gives."""
    start = perf_counter()
    result = function()
    return perf_counter() - start, result


def machine() -> Row:
    """Versions, processor and threads: what figures are worth nothing without."""
    import numpy as np

    import deepgraph
    from deepgraph.backends.toolchain import compiler, missing

    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    there = [name for name in LIBRARIES if find_spec(name.replace("-", "_"))]
    return {
        "python": platform.python_version(),
        "deepgraph": f"{deepgraph.__version__} {commit}",
        **{name: version(name) for name in there},
        "not installed": ", ".join(name for name in LIBRARIES if name not in there) or "none",
        "compiler": missing() or str(compiler()),
        "blas": f"{built['name']} {built['version']}{_core()}",
        "processor": _processor(),
        **_gpu(),
        "cores": f"{len(os.sched_getaffinity(0))}, load {os.getloadavg()[0]:.1f}",
        "threads": os.environ.get("DEEPGRAPH_THREADS", "unset"),
        "date": date.today().isoformat(),
    }


def _gpu() -> Row:
    """The card, and what runs on it, if there is one."""
    from deepgraph.backends import cudevice

    if cudevice.missing():
        return {}
    import cupy

    runtime = cupy.cuda.runtime
    name = runtime.getDeviceProperties(0)["name"].decode()
    return {
        "gpu": f"{name}, driver {runtime.driverGetVersion()}, CUDA {runtime.runtimeGetVersion()}",
        "cupy": cupy.__version__,
    }


def _core() -> str:
    """For which processor BLAS chose its kernels, if threadpoolctl is there to ask."""
    if not find_spec("threadpoolctl"):
        return ""
    pools = import_module("threadpoolctl").threadpool_info()
    return "".join(f", kernels for {pool.get('architecture')}" for pool in pools)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "")
