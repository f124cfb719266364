"""Training steps of whole nets: forward, backward and update."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks import handwritten
from benchmarks.measure import OWN, Row, compared
from benchmarks.nets import NETS, TINY, Net, Peer, Work, declared

PEERS: tuple[Peer, ...] = (handwritten.steps,)


def rows(seconds: float, quick: bool) -> Iterator[Row]:
    """A row for each net and peer."""
    for net in TINY if quick else NETS:
        work, functions = functions_of(net)
        if not net.convs:
            functions["products alone"] = products(work)
        yield from compared(net.name, functions, seconds)


def functions_of(net: Net) -> tuple[Work, dict[str, Callable[[], object]]]:
    """The step of deepgraph and of every peer that is installed, each on the same batch.

    Raises AssertionError where their losses differ after three steps.
    """
    step, work = declared(net)
    functions: dict[str, Callable[[], object]] = {OWN: partial(step, x=work.x, t=work.t)}
    for peer in PEERS:
        try:
            functions |= {name: partial(f, work.x, work.t) for name, f in peer(work)}
        except ImportError:
            continue
    losses = {name: [float(f()) for _ in range(3)] for name, f in functions.items()}
    for name, found in losses.items():
        np.testing.assert_allclose(found, losses[OWN], rtol=1e-5, err_msg=f"{net.name}: {name}")
    return work, functions


def products(work: Work) -> Callable[[], object]:
    """The matrix products of an MLP's step and nothing else: what no step can do without."""
    weights = work.weights[::2]
    values = [work.x, *(np.ones((len(work.x), w.shape[1]), np.float32) for w in weights)]
    triples = [(values[k], w, values[k + 1]) for k, w in enumerate(weights)]
    outs = [tuple(map(np.empty_like, triple)) for triple in triples]

    def run() -> None:
        for k, ((x, w, y), (dx, dw, z)) in enumerate(zip(triples, outs, strict=True)):
            np.matmul(x, w, out=z)
            np.matmul(x.T, y, out=dw)
            if k:
                np.matmul(y, w.T, out=dx)

    return run
