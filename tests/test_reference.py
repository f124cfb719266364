"""The reference backend behind `compile`: graphs as declared, updates at once, float64."""

from __future__ import annotations

import numpy as np

import deepgraph as dg
from deepgraph.backends.reference import evaluate
from deepgraph.graph import Graph


def test_a_convnet_trains_alike_on_both_backends() -> None:
    rng = np.random.default_rng(0)
    x = dg.placeholder("x", ("n", 1, 8, 8))

    def step(backend: str) -> list[float]:
        draw = np.random.default_rng(1)
        w = dg.Parameter(draw.normal(size=(3, 1, 3, 3)), name="w", dtype="float32")
        hidden = dg.max_pool2d(dg.relu(dg.conv2d(x, w, padding="same")), 2)
        loss = dg.mean(dg.square(hidden - 0.5))
        run = dg.compile(loss, {w: w - 0.5 * dg.grad(loss, w)}, backend=backend)
        batches = rng.normal(size=(3, 4, 1, 8, 8)).astype("float32")
        return [float(run(x=batch)) for batch in batches]

    rng = np.random.default_rng(2)
    slow = step("reference")
    rng = np.random.default_rng(2)
    np.testing.assert_allclose(step("numpy"), slow, rtol=1e-5)
    assert slow[0] > slow[-1]


def test_updates_are_simultaneous_on_the_reference() -> None:
    p, q = dg.Parameter([1.0, 2.0], name="p"), dg.Parameter([3.0, 4.0], name="q")
    swap = dg.compile((), {p: q, q: p}, backend="reference")
    swap()
    np.testing.assert_array_equal(p.value, [3.0, 4.0])
    np.testing.assert_array_equal(q.value, [1.0, 2.0])


def test_no_pass_but_the_needed_runs() -> None:
    x = dg.placeholder("x", ("n",))
    step = dg.compile(dg.tanh(x * 1.0), backend="reference")
    names = [n.op.name for n in step.plan.schedule.graph.nodes]
    assert names == ["placeholder", "constant", "multiply", "tanh"]
    assert "tanh" in str(step.source)


def test_float64_computes_every_float_in_float64() -> None:
    x = dg.placeholder("x", (3,))
    graph = Graph((), {"y": dg.sum(dg.exp(x))})
    values = {x: np.array([1e-9, 0.0, 0.0])}
    outputs, _ = evaluate(graph, values, {}, float64=True)
    assert outputs["y"].dtype == np.float64
    assert outputs["y"] == np.exp(values[x]).sum()
