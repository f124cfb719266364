"""Random graphs: what is compiled equals the definition, with passes on and off, twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from graphs import random_graph
from hostcuda.host import HostLauncher

import deepgraph as dg
from deepgraph.backends.numpy import NumpyBackend
from deepgraph.backends.reference import evaluate
from deepgraph.expr import Kind
from deepgraph.graph import Graph
from deepgraph.schedule import Schedule
from deepgraph.target import Target

SEEDS = range(60)
WITHOUT = [
    (),
    ("fuse",),
    ("place",),
    ("fuse", "place"),
    ("layout", "order"),
    ("share", "fold", "simplify"),
]


def expected(
    outputs: Any, updates: Any, feeds: dict[str, Any], n: int
) -> tuple[dict[str, Any], dict[Any, Any]]:
    graph = Graph((), outputs, updates)
    values: dict[Any, Any] = {p: feeds[p.name] for p in graph.placeholders}
    values |= {p: p.value for p in graph.parameters}
    return evaluate(graph, values, {"n": n})


def check(
    seed: int, without: tuple[str, ...], sizes: tuple[int, ...], backend: str = "numpy"
) -> None:
    outputs, updates, feeds = random_graph(seed)
    step = dg.compile(outputs, updates, backend=backend, without=without)
    wanted = {p.name for p in step.graph.placeholders}
    for n in sizes:
        for _ in range(2):  # the second call finds dirty buffers and new parameters
            given = {k: v for k, v in feeds(n).items() if k in wanted}
            try:
                want, new = expected(outputs, updates, feeds(n), n)
            except ValueError:  # the largest of no elements
                with pytest.raises(dg.ShapeError, match="max: no elements"):
                    step(**given)
                continue
            kept = {k: v.copy() for k, v in given.items()}
            got = step(**given)
            for name in want:
                np.testing.assert_allclose(
                    got[name], want[name], rtol=1e-9, atol=1e-11, err_msg=name
                )
                assert got[name].shape == want[name].shape
            for p in new:
                np.testing.assert_allclose(p.value, new[p], rtol=1e-9, atol=1e-11, err_msg=p.name)
                p.assign(new[p])  # so that differences do not add up
            for name, v in kept.items():
                np.testing.assert_array_equal(given[name], v)


@pytest.mark.parametrize("without", WITHOUT, ids="-".join)
@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_equals_reference(seed: int, without: tuple[str, ...]) -> None:
    check(seed, without, (5,) if without else (5, 1, 3))


@pytest.mark.parametrize("without", WITHOUT[:4], ids="-".join)
@pytest.mark.parametrize("seed", SEEDS[:20])
def test_native_equals_reference(
    seed: int, without: tuple[str, ...], native: str, monkeypatch: pytest.MonkeyPatch,
    use_threads: Callable[[int], None],
) -> None:  # fmt: skip
    """On two threads, which share even the smallest kernels."""
    monkeypatch.setattr("deepgraph.backends.native._SMALL", 1)
    use_threads(2)
    check(seed, without, (5, 0, 70), native)


@pytest.mark.parametrize("without", WITHOUT[:4], ids="-".join)
@pytest.mark.parametrize("seed", SEEDS[:20])
def test_cuda_equals_reference(
    seed: int, without: tuple[str, ...], host_cuda: HostLauncher
) -> None:
    """In one of three orders of threads."""
    host_cuda.order = seed % 3
    check(seed, without, (5, 0, 70), "cupy")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_tiny_blocks_equal_the_reference(
    seed: int, threads: int, monkeypatch: pytest.MonkeyPatch, use_threads: Callable[[int], None]
) -> None:
    """Everything in blocks of a few elements, on threads too: vectors and scalars beside rows."""
    tiny = Target("numpy", block=6, block_from=4, threads_from=8)
    monkeypatch.setattr(NumpyBackend, "target", tiny)
    use_threads(threads)
    check(seed, (), (5, 7))


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_are_convex(seed: int) -> None:
    """networkx as the independent judge: contracting every kernel must leave no cycle."""
    outputs, updates, _ = random_graph(seed)
    step = dg.compile(outputs, updates, backend="numpy")
    schedule: Schedule = step.stages["fuse"].value
    home: dict[Any, Any] = {n: k for k, kernel in enumerate(schedule.kernels) for n in kernel.nodes}
    through: nx.DiGraph[Any] = nx.DiGraph()
    for n in schedule.graph.nodes:
        if n.op.kind is Kind.VIEW:  # part of whatever reads it: it stands for what it shows
            home[n] = home.get(n.inputs[0], n.inputs[0])
            continue
        for i in n.inputs:
            a, b = home.get(i, i), home.get(n, n)
            if a is not b:
                through.add_edge(a, b)
    assert nx.is_directed_acyclic_graph(through)


def test_a_sum_of_very_many_inputs_is_cut_into_kernels() -> None:
    inputs = [dg.placeholder(f"x{k}", ("n",), "float64") for k in range(150)]
    step = dg.compile(sum(inputs[1:], start=inputs[0]), backend="numpy")
    assert 3 <= len(step.kernels) <= 5
    assert max(len(kernel.loads) for kernel in step.kernels) <= 64
    rng = np.random.default_rng(0)
    feeds = {x.name: rng.normal(size=7) for x in inputs}
    np.testing.assert_allclose(step(**feeds), np.sum(list(feeds.values()), axis=0), rtol=1e-12)
