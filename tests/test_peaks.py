"""Fusion never raises the peak: whole plans compared, whatever the graph's size."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import random_graph

import deepgraph as dg
from deepgraph import backends, passes
from deepgraph.arena import arena, rounded
from deepgraph.backends import reference
from deepgraph.compile import declare
from deepgraph.expr import Expr
from deepgraph.passes.fuse import split
from deepgraph.passes.peaks import needed, peaks, plan_of, samples, unfused
from deepgraph.plan import Plan

TARGET = backends.named("numpy").target
SIZES = (0, 1, 2, 7, 15, 16, 17, 63, 64, 100, 1000, 1023, 5000)


def planned(
    outputs: object, updates: object = None, without: tuple[str, ...] = (),
    donate: tuple[str, ...] = (),
) -> Plan:  # fmt: skip
    graph, _ = declare(outputs, updates, None, 0)  # type: ignore[arg-type]
    plan = passes.run(graph, TARGET, reference.value, without, {}, donate)["place"].value
    assert isinstance(plan, Plan)
    return plan


def tangle(seed: int, nodes: int) -> dict[str, Expr]:
    """A random graph over two named sizes: maps, folds and products, of near and far operands."""
    rng = np.random.default_rng(seed)
    x, y = dg.placeholder("x", ("n", 8)), dg.placeholder("y", ("m", 8))
    w = dg.placeholder("w", (8, 8))
    pools: list[list[Expr]] = [[x], [y]]
    for _ in range(nodes):
        pool = pools[int(rng.integers(2))]
        a, b = (pool[-1 - min(int(d), len(pool) - 1)] for d in rng.exponential(6, 2))
        match int(rng.integers(10)):
            case 0:
                new = a @ w
            case 1:
                new = a - dg.max(b, 1, keepdims=True)
            case 2:
                new = a * dg.mean(b, 0)
            case 3 | 4 | 5:
                new = dg.tanh(a)
            case _:
                new = a + b * 0.5
        pool.append(new)
    return {"a": dg.sum(pools[0][-1]), "b": pools[1][-1]}


@pytest.mark.parametrize("size", [10, 25, 60, 150])
@pytest.mark.parametrize("seed", range(12))
def test_the_peak_is_never_above_the_unfused(seed: int, size: int) -> None:
    outputs, updates, _ = random_graph(seed, size)
    fused = planned(outputs, updates)
    apart, bare = (planned(outputs, updates, (name,)) for name in ("fuse", "place"))
    for n in SIZES:
        peak = fused.bind({"n": n}).peak_bytes
        assert peak <= apart.bind({"n": n}).peak_bytes, n
        assert peak <= bare.bind({"n": n}).peak_bytes, n


@pytest.mark.parametrize("seed", range(12))
def test_nor_where_a_feed_is_donated(seed: int) -> None:
    outputs, updates, _ = random_graph(seed, 40)
    graph, _ = declare(outputs, updates, None, 0)
    fed = tuple(p.name for p in graph.placeholders)
    fused, apart = (planned(outputs, updates, without, fed) for without in ((), ("fuse",)))
    for n in SIZES:
        assert fused.bind({"n": n}).peak_bytes <= apart.bind({"n": n}).peak_bytes, n


@pytest.mark.parametrize(("seed", "nodes"), [(0, 30), (1, 100), (5, 300), (3, 1000), (4, 4500)])
def test_nor_for_two_sizes_and_thousands_of_nodes(seed: int, nodes: int) -> None:
    outputs = tangle(seed, nodes)
    fused, apart = planned(outputs), planned(outputs, without=("fuse",))
    assert len(fused.schedule.kernels) < len(apart.schedule.kernels)
    for n, m in [(1, 1), (64, 64), (1000, 1), (1, 1000), (1024, 1024)]:
        sizes = {"n": n, "m": m}
        assert fused.bind(sizes).peak_bytes <= apart.bind(sizes).peak_bytes, sizes


@pytest.mark.parametrize("seed", range(30))
def test_what_is_needed_is_never_above_what_is_planned(seed: int) -> None:
    """Else a fused plan could be kept that peaks higher."""
    outputs, updates, _ = random_graph(seed, 40)
    graph, _ = declare(outputs, updates, None, 0)
    graph = passes.run(graph, TARGET, reference.value, ("fuse",))["own"].value
    least = needed(unfused(graph, {}), graph, {})
    found = [peak.bytes for peak in peaks(plan_of(split(graph, TARGET), TARGET, {}), TARGET, {})]
    assert least is None or all(a <= b for a, b in zip(least, found, strict=True))


def test_what_is_needed_of_a_graph_counted_by_hand() -> None:
    x = dg.placeholder("x", (4, 16))  # 256 bytes
    kept = dg.exp(x) @ dg.placeholder("w", (16, 16))
    graph, _ = declare(dg.sum(dg.tanh(kept) * kept) + 1.0, None, None, 0)
    # exp and its product stand side by side, then the product and tanh of it; the sum is a scalar.
    assert needed(unfused(graph, {}), graph, {}) == [512]
    assert samples(graph, {"batch": 3}) == [{"batch": 3}]


@pytest.mark.parametrize("count", [40, 3000])
@pytest.mark.parametrize("seed", [0, 1])
def test_slots_that_live_together_never_overlap(count: int, seed: int) -> None:
    """Tiny slots among large ones, placed by size and, where there are many, by time."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4 * count, count)
    spans = [(int(a), int(a + d)) for a, d in zip(first, rng.geometric(0.05, count), strict=True)]
    nbytes = [int(n) for n in rng.choice([0, 1, 4, 8, 24, 32, 60, 64, 100, 4096], count)]
    offsets, peak = arena(spans, nbytes)
    alive: list[int] = []
    most = 0
    for k in sorted(range(count), key=lambda k: spans[k][0]):
        alive = [j for j in alive if spans[j][1] >= spans[k][0]]
        for j in alive:
            below = offsets[j] + nbytes[j] <= offsets[k]
            assert below or offsets[k] + nbytes[k] <= offsets[j] or not nbytes[k] * nbytes[j]
        align = next((n for n in (64, 16) if nbytes[k] >= n), 8 if nbytes[k] else 1)
        assert offsets[k] % align == 0
        assert offsets[k] + nbytes[k] <= peak or not nbytes[k]
        alive.append(k)
        most = max(most, sum(rounded(nbytes[j]) for j in alive))
    assert most <= peak <= 1.5 * most
