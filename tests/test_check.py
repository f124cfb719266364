"""The checks themselves: they pass what is right and say where what is wrong is worst."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import passes
from deepgraph.check import check_grad, check_step
from deepgraph.expr import OPS
from deepgraph.graph import rewrite

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))


@pytest.mark.parametrize("seed", range(3))
def test_right_gradients_pass(seed: int) -> None:
    check_grad(lambda x, y: dg.softmax(x @ y, axis=1), X, Y, seed=seed)
    check_grad(lambda x: dg.sum(x * x), X, seed=seed)
    check_grad(lambda x: x, [], seed=seed)
    check_grad(dg.sin, 0.5, seed=seed)
    check_grad(lambda x, i: dg.take(x, i, axis=1), X.astype(np.float32), [0, 0, 2], seed=seed)


@pytest.mark.parametrize("seed", range(3))
def test_wrong_gradients_show_their_worst_entry(seed: int) -> None:
    def halves_one(x: dg.Expr, y: dg.Expr) -> dg.Expr:
        mask = np.zeros((4, 2))
        mask[2, 1] = 1
        return x @ (y * y - mask * dg.stop_gradient(y) * y * 0.5)

    with pytest.raises(AssertionError, match=r"random direction .*instead of .*") as caught:
        check_grad(halves_one, X, Y, seed=seed)
    assert "worst entry: input 1 at (2, 1): " in str(caught.value)


def test_a_wrong_sign_and_a_missing_gradient() -> None:
    with pytest.raises(AssertionError, match=r"worst entry: input 0 at \(\): -.* instead of \d"):
        check_grad(lambda x: dg.reverse_gradient(dg.sin(x)), 0.1)
    with pytest.raises(AssertionError, match=r"0 instead of 1"):
        check_grad(lambda x: dg.stop_gradient(x) + 0 * x, 0.1)


def test_nan_is_no_gradient() -> None:
    with pytest.raises(AssertionError, match="nan"):
        check_grad(lambda x: dg.sqrt(x - 1), [0.5, 2.0])


def test_many_entries_are_sampled() -> None:
    with pytest.raises(AssertionError, match="worst entry: input 0 at "):
        check_grad(lambda x: dg.stop_gradient(x) * x, np.ones(2000))


def test_only_floats_have_gradients() -> None:
    with pytest.raises(dg.DTypeError, match="check_grad: no array is a float"):
        check_grad(lambda i: i * 2, [1, 2])


def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    real = passes.pipeline

    def pipeline(*args: Any) -> Any:
        found = real(*args)
        simplify = found["simplify"]
        rules = {"tanh": [lambda x: OPS["sin"](*x.inputs)]}
        return found | {"simplify": lambda graph: rewrite(simplify(graph), rules, via="simplify")}

    monkeypatch.setattr(passes, "pipeline", pipeline)


def test_a_step_and_its_updates() -> None:
    x = dg.placeholder("x", ("n",))
    p = dg.Parameter(np.float32(2), name="p")
    step = check_step({"y": dg.tanh(x) * p}, {"x": [1.0, 2.0]}, updates={p: p + dg.sum(x)},
                      backend="numpy")  # fmt: skip
    assert isinstance(step, dg.Step)
    assert p.value == 2
    assert check_step(step, {"x": [3.0]}) is step
    assert check_step(dg.asarray([1.0, 2.0]) + 1, backend="numpy")() == pytest.approx([2, 3])


def test_a_wrong_output(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty(monkeypatch)
    x = dg.placeholder("x", ("n",))
    p = dg.Parameter(np.float32(2), name="p")
    with pytest.raises(AssertionError, match="output y differs: max difference ") as caught:
        check_step({"y": dg.tanh(x)}, {"x": [0.0, 2.0]}, updates={p: p + 1}, backend="numpy")
    assert "at (1,): 0.909297" in str(caught.value)
    assert "test_check.py:" in str(caught.value)
    assert p.value == 2


def test_a_wrong_new_value(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty(monkeypatch)
    p = dg.Parameter(np.float32(2), name="p")
    with pytest.raises(AssertionError, match="new value of p differs: max difference "):
        check_step((), updates={p: dg.tanh(p)}, backend="numpy")
    assert p.value == 2


def test_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty(monkeypatch)
    x = dg.placeholder("x", ("n",))
    check_step(dg.tanh(x), {"x": [2.0]}, rtol=0.1, backend="numpy")
    check_step(dg.tanh(x), {"x": [2.0]}, atol=0.1, backend="numpy")
    check_step(dg.tanh(x), {"x": [0.001]}, backend="numpy")  # within rounding there
