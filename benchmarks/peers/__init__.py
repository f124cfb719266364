"""What deepgraph is compared with: a module a library, each with its `PEERS`.

A module that cannot be imported is a library that is not installed; a workload that a peer does not
name is one that it has no business with.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks.formulas import Build
from benchmarks.measure import OWN
from benchmarks.nets import Step, Work

MODULES: tuple[str, ...] = (
    "own", "numpy", "torch", "jax", "pytensor", "tinygrad", "numba", "numexpr",
)  # fmt: skip


class Peer(NamedTuple):
    """A library in one way of using it."""

    name: str
    step: Callable[[Work], Step | None] | None  # None: such nets are not for it
    formulas: Mapping[str, Build]


def installed() -> list[Peer]:
    """The peers that can run here."""
    peers: list[Peer] = []
    for name in MODULES:
        try:
            peers += import_module(f"benchmarks.peers.{name}").PEERS
        except ImportError as error:
            if find_spec(name):
                print(f"{name} is installed but cannot be imported: {error}", file=sys.stderr)
    return peers


@contextmanager
def tried(peer: str, workload: str) -> Iterator[None]:
    """What a peer does here may fail, and is then said and left out; deepgraph's own may not."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        if peer == OWN:
            raise
        said = str(error).strip().partition("\n")[0]
        print(f"{workload}: {peer} fails: {type(error).__name__}: {said}", file=sys.stderr)


def on_gpu() -> None:
    """Let libraries that have a choice work on the GPU."""
    global device
    device = "cuda"


device = "cpu"


def agree(found: Any, wanted: Any, names: str, rtol: float) -> None:
    """AssertionError where numbers of two peers differ by more than float32 explains."""
    for move in ("get", "cpu"):  # of CuPy and of torch
        found = getattr(found, move, lambda here=found: here)()
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=rtol / 10, err_msg=names)
