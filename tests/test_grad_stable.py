"""Losses written by hand, far out: value and gradients as finite and right as of stable forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from aid import gradient, run
from rewriting import simplified

import deepgraph as dg
from deepgraph.expr import Expr
from deepgraph.stable import stable_form

mp = mpmath.mp.clone()
mp.dps = 450  # 1 + exp(-1000) in full
FAR = [-1000.0, -100.0, -30.0, -1.5, 0.0, 1.5, 30.0, 100.0, 1000.0]
T = 0.25


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _both(p: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda z: -T * dg.log(p(z)) - (1 - T) * dg.log(1 - p(z))


def _entropy(z: Any) -> Any:
    return -T * mp.log(_sigmoid(z)) - (1 - T) * mp.log(1 - _sigmoid(z))


SPELLED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "log of sigmoid": (lambda z: -dg.log(dg.sigmoid(z)), lambda z: -mp.log(_sigmoid(z))),
    "of the rest": (lambda z: -dg.log(1 - dg.sigmoid(z)), lambda z: -mp.log(1 - _sigmoid(z))),
    "log1p of less": (lambda z: dg.log1p(-dg.sigmoid(z)), lambda z: mp.log(1 - _sigmoid(z))),
    "entropy": (_both(dg.sigmoid), _entropy),
    "entropy by quotients": (_both(lambda z: 1 / (1 + dg.exp(-z))), _entropy),
    "entropy the other way": (_both(lambda z: dg.exp(z) / (1 + dg.exp(z))), _entropy),
    "entropy by a power": (_both(lambda z: (1 + dg.exp(-z)) ** -1), _entropy),
    "entropy by reciprocals": (_both(lambda z: dg.reciprocal(dg.exp(-z) + 1)), _entropy),
    "softplus": (lambda z: dg.log(1 + dg.exp(z)), lambda z: mp.log(1 + mp.exp(z))),
    "softplus by log1p": (lambda z: dg.log1p(dg.exp(-z)), lambda z: mp.log(1 + mp.exp(-z))),
    "from logits": (lambda z: dg.log(1 + dg.exp(-z)) + (1 - T) * z, _entropy),
    "sigmoid": (lambda z: 1 / (1 + dg.exp(-z)), _sigmoid),
    "sigmoid the other way": (lambda z: dg.exp(z) / (dg.exp(z) + 1), _sigmoid),
    "root of a square": (lambda z: dg.sqrt(z * z), abs),
    "root of a power": (lambda z: (z**2) ** 0.5, abs),
}


@cache
def _exact(f: Callable[[Any], Any], order: int) -> list[float]:
    if f is abs and order:
        return [float(np.sign(z)) if order == 1 else 0.0 for z in FAR]
    return [float(mp.diff(f, mp.mpf(z), order)) for z in FAR]


@pytest.mark.parametrize("name", SPELLED)
def test_value_gradient_and_second_derivative(name: str) -> None:
    declare, exactly = SPELLED[name]
    x = dg.placeholder("x", (len(FAR),), "float64")
    y = declare(x)
    slope = dg.grad(dg.sum(y), x)
    second = dg.grad(dg.sum(slope), x)
    step = dg.compile([y, slope, second], inputs=[x], backend="numpy")
    found = [*step(np.array(FAR)), run(slope, {x: np.array(FAR)})]
    for order, values in zip((0, 1, 2, 1), found, strict=True):
        exact = _exact(exactly, order)
        np.testing.assert_allclose(values, exact, rtol=1e-12, atol=1e-15, err_msg=str(order))


ROWS = np.array([[1000.0, 0, -1000], [100, 100, -100], [0, 0, 0], [-1000, -1000, -1001], [1, 2, 3]])
LABELS = np.eye(3)[[2, 0, 1, 1, 0]]


def _powers(z: Expr) -> Expr:
    return dg.exp(z) / dg.sum(dg.exp(z), -1, keepdims=True)


def _shifted(z: Expr) -> Expr:
    return _powers(z - dg.max(z, -1, keepdims=True))


@pytest.mark.parametrize(
    "declare",
    [
        lambda z: -dg.sum(LABELS * dg.log(dg.softmax(z))),
        lambda z: -dg.sum(LABELS * dg.log(_powers(z))),
        lambda z: -dg.sum(LABELS * dg.log(_shifted(z))),
        lambda z: dg.sum(dg.log(dg.sum(dg.exp(z), -1))) - dg.sum(LABELS * z),
        lambda z: dg.sum(LABELS * (dg.log(dg.sum(dg.exp(z), -1, keepdims=True)) - z)),
    ],
    ids=["softmax", "powers", "shifted", "sum of powers", "kept"],
)
def test_categorical_cross_entropy(declare: Callable[[Expr], Expr]) -> None:
    z = dg.placeholder("z", ROWS.shape, "float64")
    loss = declare(z)
    slope = dg.grad(loss, z)
    value, found = dg.compile([loss, slope], inputs=[z], backend="numpy")(ROWS)
    off = ROWS - ROWS.max(1, keepdims=True)
    total = np.exp(off).sum(1, keepdims=True)
    np.testing.assert_allclose(value, -(LABELS * (off - np.log(total))).sum(), rtol=1e-14)
    np.testing.assert_allclose(found, np.exp(off) / total - LABELS, atol=1e-15)


def test_what_is_asked_for_is_not_passed_over() -> None:
    """The gradient by sigmoid(x) itself, between the logarithm and x, keeps its definition."""
    x = dg.placeholder("x", (3,), "float64")
    p = dg.sigmoid(x)
    by_p, by_x = dg.grad(dg.sum(dg.log(p)), [p, x])
    feed = {x: np.array([-3.0, 0.0, 2.0])}
    s = 1 / (1 + np.exp(-feed[x]))
    np.testing.assert_allclose(run(by_p, feed), 1 / s)
    np.testing.assert_allclose(run(by_x, feed), 1 - s)
    u = 1 - p
    np.testing.assert_allclose(run(dg.grad(dg.sum(dg.log(u) + u), u), feed), 1 / (1 - s) + 1)


def test_branches_not_taken_stay_masked_in_a_form() -> None:
    def declare(x: Any) -> Any:
        below = dg.where(x < 0, dg.log(1 + dg.exp(x)), x)
        return dg.where(x > 0, dg.log(1 - dg.exp(-x)), 0) + below

    (found,) = gradient(declare, np.array([-1000.0, 0.0, 1000.0]))
    np.testing.assert_allclose(found, [0, 1, 1])


def test_a_form_is_that_of_simplify() -> None:
    """So value and gradient share what they compute."""
    x = dg.placeholder("x", (4,))
    for y in (dg.log(1 / (1 + dg.exp(-x))), dg.log(1 + dg.exp(x)), dg.sqrt(x * x)):
        form = stable_form(y)
        assert form is not None
        again = simplified(form)
        assert simplified(y).op is again.op
        assert simplified(again - y).inputs[0] is simplified(again - y).inputs[1]


def test_parameters_of_one_name_are_two() -> None:
    p, q = dg.Parameter(1.0, name="w"), dg.Parameter(2.0, name="w")
    y = dg.log(dg.exp(p) / (1 + dg.exp(q)))
    found = dg.compile([dg.grad(y, p), dg.grad(y, q)], backend="numpy")()
    np.testing.assert_allclose(found, [1, -1 / (1 + np.exp(-2.0))], rtol=1e-6)


def test_what_is_stable_has_no_other_form() -> None:
    x, z = dg.placeholder("x", ("n",)), dg.placeholder("z", ("n", 4))
    for y in (
        dg.log(x), dg.log(1 + x * x), x / (x + 1), x / dg.sum(x), dg.sqrt(x + 1),
        dg.sqrt(dg.var(z)), dg.softmax(z), dg.exp(x) - 1, dg.softplus(x),
        dg.log(dg.sum(dg.exp(z - dg.max(z)))),
    ):  # fmt: skip
        assert stable_form(y) is None
