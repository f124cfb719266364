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
    name: str, threads: int, use_threads: Callable[[int], None]
) -> None:
    use_threads(threads)
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
def test_updates_in_blocks_run_in_place(threads: int, use_threads: Callable[[int], None]) -> None:
    use_threads(threads)
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


def test_threads_handle_overflow_as_the_step_does(use_threads: Callable[[int], None]) -> None:
    use_threads(2)
    x = dg.placeholder("x", ("n",))
    step = dg.compile(dg.exp(x * 100.0) - 1.0, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(step(x=np.ones(1 << 21, "float32"))).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_does_not_vary_between_blocks_is_computed_once(
    threads: int, use_threads: Callable[[int], None]
) -> None:
    """A counter, a running sum and a vector beside rows: no block may see another's result."""
    use_threads(threads)
    x = dg.placeholder("x", ("n", 512), "float64")
    count, total = (dg.Parameter(np.float64(0), name=name) for name in ("count", "total"))
    v = dg.Parameter(np.ones(512), name="v")
    half = v * 0.5
    seen, whole = count + 1, total + dg.sum(dg.tanh(x))
    shifted = dg.tanh((half * 0.5 + 1) * 3) * 2 + dg.sum(x, axis=0)
    updates = {count: seen, total: whole, v: half}
    step = dg.compile({"mean": whole / seen, "shifted": shifted}, updates, backend="numpy")
    array = np.random.default_rng(0).normal(size=(4096, 512))
    for k in range(1, 4):
        got = step(x=array)
        assert got["mean"] == pytest.approx(np.tanh(array).sum(), rel=1e-9)
        want = np.tanh((0.5**k * 0.5 + 1) * 3) * 2 + array.sum(0)
        np.testing.assert_allclose(got["shifted"], want, rtol=1e-9)
    assert count.value == 3
    np.testing.assert_array_equal(v.value, 0.125)


def test_a_dying_load_is_no_scratch_of_what_each_block_repeats() -> None:
    x = dg.placeholder("x", ("n", 512), "float64")
    z, u = dg.placeholder("z", (1, 512), "float64"), dg.placeholder("u", (512, 512), "float64")
    step = dg.compile(dg.exp(z @ u) * dg.sum(x, axis=0) + 1, backend="numpy")
    rng = np.random.default_rng(0)
    feeds = {"x": rng.normal(size=(4096, 512)), "z": rng.normal(size=(1, 512)) * 0.01}
    feeds["u"] = rng.normal(size=(512, 512))
    want = np.exp(feeds["z"] @ feeds["u"]) * feeds["x"].sum(0) + 1
    np.testing.assert_allclose(step(**feeds), want, rtol=1e-9)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_half_precision_sums_are_rounded_once(axis: int | None) -> None:
    x = dg.placeholder("x", ("n", 2100), "float16")
    array = np.random.default_rng(0).random((60, 2100)).astype("float16")
    want = array.astype("float64").sum(axis)
    for backend in ("numpy", "reference"):
        got = dg.compile(dg.sum(x, axis=axis), backend=backend)(x=array)
        np.testing.assert_allclose(got.astype("float64"), want, rtol=6e-4)


def test_folds_of_one_number_stretched_over_named_sizes() -> None:
    x = dg.placeholder("x", ("n", 3), "float64")
    full = dg.full(x.shape, 2.0, "float64")
    step = dg.compile([dg.sum(full, axis=0), dg.max(full), dg.prod(full)], backend="numpy",
                      without=("simplify",), inputs=[x])  # fmt: skip
    summed, largest, product = step(np.zeros((5, 3)))
    assert (summed.tolist(), largest, product) == ([10.0, 10.0, 10.0], 2.0, 2.0**15)
