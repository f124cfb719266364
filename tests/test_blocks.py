"""Kernels that run block by block, on one thread and on several, against NumPy in float64."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deepgraph as dg

ROWS, WIDE = 1500, 900  # above the sizes from which kernels run in blocks, and on threads

PROGRAMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "map": (lambda x: dg.tanh(x * 2) + x, lambda x: np.tanh(x * 2) + x),
    "all": (lambda x: dg.mean(dg.square(x)), lambda x: (x * x).mean()),
    "rows": (lambda x: dg.sum(dg.exp(x), axis=1), lambda x: np.exp(x).sum(1)),
    "columns": (lambda x: dg.sum(x * x, axis=0), lambda x: (x * x).sum(0)),
    "largest": (lambda x: dg.max(x + 1, axis=0), lambda x: (x + 1).max(0)),
    "softmax": (
        lambda x: dg.softmax(x, axis=1),
        lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
    ),
    "softmax of columns": (
        lambda x: dg.softmax(x, axis=0),
        lambda x: np.exp(x) / np.exp(x).sum(0, keepdims=True),
    ),
    "variance": (lambda x: dg.var(x, axis=0), lambda x: x.var(0)),
    "rows, then all": (
        lambda x: dg.mean(dg.logsumexp(x, axis=1)),
        lambda x: np.log(np.exp(x).sum(1)).mean(),
    ),
    "transposed": (lambda x: dg.tanh(x.T) * 2, lambda x: np.tanh(x.T) * 2),
    "turned": (lambda x: x[::-1] * 2 + 1, lambda x: x[::-1] * 2 + 1),
    "any": (lambda x: dg.any(x > 2, axis=0), lambda x: (x > 2).any(0)),
}


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_blocks_give_what_numpy_gives(
    name: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPGRAPH_THREADS", str(threads))
    ours, theirs = PROGRAMS[name]
    x = dg.placeholder("x", ("n", WIDE))
    step = dg.compile(ours(x), backend="numpy")
    array = np.random.default_rng(0).normal(size=(ROWS, WIDE)).astype("float32")
    assert step.plan.bind({"n": ROWS}, threads).blocks, "nothing runs in blocks"
    for _ in range(2):
        np.testing.assert_allclose(step(x=array), theirs(array.astype("float64")), rtol=3e-5)
    small = array[:3]
    np.testing.assert_allclose(step(x=small), theirs(small.astype("float64")), rtol=3e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_updates_in_blocks_run_in_place(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPGRAPH_THREADS", str(threads))
    rng = np.random.default_rng(0)
    start, slope = rng.normal(size=(2, 1100, 1000))
    w, m = dg.Parameter(start, name="w"), dg.Parameter(np.zeros_like(start), name="m")
    g = dg.placeholder("g", start.shape, "float64")
    moved = m * 0.9 + g
    step = dg.compile((), {m: moved, w: w - 0.1 * moved}, backend="numpy")
    assert step.plan.peak_bytes == 0 or step.plan.bind({}).peak_bytes < start.nbytes
    for _ in range(3):
        step(g=slope)
    momentum, weights = np.zeros_like(start), start.copy()
    for _ in range(3):
        momentum = momentum * 0.9 + slope
        weights -= 0.1 * momentum
    np.testing.assert_allclose(w.value, weights, rtol=1e-12)
    np.testing.assert_allclose(m.value, momentum, rtol=1e-12)


def test_half_precision_adds_up_in_single() -> None:
    x = dg.placeholder("x", ("n",), "float16")
    step = dg.compile([dg.mean(x), dg.sum(x)], backend="numpy")
    mean, total = step(x=np.full(1 << 20, 1e-2, "float16"))
    assert float(mean) == pytest.approx(1e-2, rel=1e-3)
    assert float(total) == pytest.approx(1e-2 * (1 << 20), rel=1e-3)


def test_threads_handle_overflow_as_the_step_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPGRAPH_THREADS", "2")
    x = dg.placeholder("x", ("n",))
    step = dg.compile(dg.exp(x * 100.0) - 1.0, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(step(x=np.ones(1 << 21, "float32"))).all()
