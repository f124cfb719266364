"""Peers each in a process of its own: the first call, from nothing and from caches; and memory."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

import deepgraph as dg
from benchmarks import peers
from benchmarks.calls import resident
from benchmarks.measure import Row
from benchmarks.nets import NETS, TINY, declared
from deepgraph.config import threads

GROUPS = ("first", "memory")
THREADED = False
CACHES = {  # where each library keeps what it compiled
    "DEEPGRAPH_CACHE_DIR": "{}/deepgraph",
    "JAX_COMPILATION_CACHE_DIR": "{}/jax",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
    "TORCHINDUCTOR_CACHE_DIR": "{}/torch",
    "PYTENSOR_FLAGS": "base_compiledir={}/pytensor",
    "CACHEDB": "{}/tinygrad.db",
}
_WARM, _CALLS = 3, 1000


def rows(group: str, seconds: float, quick: bool) -> Iterator[Row]:
    """A row for each net and peer; `seconds` plays no part, since each thing is done once."""
    names = ("mlp 4",) if quick else ("lenet 64", "mlp 64")
    for net in names:
        for module, peer in _stepping():
            with tempfile.TemporaryDirectory() as folder:
                run = partial(_run, folder, module, peer, net)
                if group == "memory":
                    found = run(20 if quick else _CALLS)
                elif module != "numpy":
                    found = run(0), run(0)
                else:
                    continue
            if group == "memory" and found:
                yield {"net": net, "peer": peer, **found["memory"]}
            elif group == "first" and all(found):
                cold, cached = found
                times = {"first call s": cold["first"], "from caches s": cached["first"]}
                yield {"net": net, "peer": peer, **times}


def _stepping() -> Iterator[tuple[str, str]]:
    """The modules and names of peers that train nets."""
    for name in peers.MODULES:
        try:
            module = import_module(f"benchmarks.peers.{name}")
        except ImportError:
            continue
        yield from ((name, peer.name) for peer in module.PEERS if peer.step)


def _run(folder: str, *arguments: object) -> Any:
    """What `alone` finds in a new process, or None where the peer has no such step or fails."""
    environment = {**os.environ, **{k: v.format(folder) for k, v in CACHES.items()}}
    command = [sys.executable, "-m", "benchmarks.alone", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        print(f"{arguments[2]}: {arguments[1]} fails: {said}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().rpartition("\n")[2])


def alone(module: str, name: str, net: str, calls: int) -> Row | None:
    """Seconds of building a step and calling it once, and bytes over more calls.

    Building is compiling what is declared: every peer starts from a declared net's weights.
    """
    made = import_module(f"benchmarks.peers.{module}").PEERS
    (peer,) = (found for found in made if found.name == name)
    work = declared(next(each for each in (*NETS, *TINY) if each.name == net))
    start = perf_counter()
    step = peer.step(work)
    if step is None:
        return None
    built = perf_counter() - start
    gc.collect()
    marks = [resident()]
    start = perf_counter()
    step()
    first = built + perf_counter() - start
    for count in (_WARM - 1, calls):
        for _ in range(count):
            step()
        gc.collect()
        marks.append(resident())
    before, warm, after = marks
    memory = {
        f"growth over {_WARM} calls": warm - before, f"over the next {calls}": after - warm,
        **_allocated(step, work.net.batch),
    }  # fmt: skip
    return {"first": first, "memory": memory}


def _allocated(step: Any, batch: int) -> Row:
    """Bytes that a step of deepgraph planned and has allocated."""
    compiled = getattr(step, "func", None)
    if not isinstance(compiled, dg.Step):
        return {"arena": "-", "allocated": "-", "results": "-"}
    allocated = dict(compiled.memory)
    results = allocated.pop("results")
    planned = compiled.plan.bind({"batch": batch}, threads()).peak_bytes
    return {"arena": planned, "allocated": sum(allocated.values()), "results": results}


if __name__ == "__main__":
    print(json.dumps(alone(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))))
