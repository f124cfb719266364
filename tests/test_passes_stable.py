"""Stable forms: as accurate as what was declared or more, and finite where it was not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from aid import check_gradient, run
from rewriting import assert_same_bits, simplified, text

import deepgraph as dg
from deepgraph.expr import Expr
from deepgraph.graph import toposort

mp = mpmath.mp.clone()
mp.dps = 400  # exp(1000) + 1 has 435 digits; 400 tell it from exp(1000) well enough for a double
X = dg.placeholder("x", ("n",))


def softplus(x: Any) -> Any:
    return mp.log1p(mp.exp(x))


FORMS: list[tuple[str, Callable[[Any], Expr], Callable[[Any], Any], tuple[float, float], str]] = [
    ("expm1", lambda x: dg.exp(x) - 1.0, mp.expm1, (-90, 88), "expm1(x)"),
    ("expm1 added", lambda x: -1.0 + dg.exp(x), mp.expm1, (-90, 88), "expm1(x)"),
    ("log1p", lambda x: dg.log(1.0 + x), mp.log1p, (-0.999, 1e6), "log1p(x)"),
    ("log1p of less", lambda x: dg.log(1.0 - x), lambda x: mp.log1p(-x), (-1e6, 0.999),
     "log1p(negative(x))"),
    ("abs", lambda x: dg.sqrt(dg.square(x)), abs, (-1e30, 1e30), "abs(x)"),
    ("abs of a power", lambda x: (x**2) ** 0.5, abs, (-1e30, 1e30), "abs(x)"),
    ("abs of a product", lambda x: dg.sqrt(x * x), abs, (-1e30, 1e30), "abs(x)"),
    ("sigmoid", lambda x: 1.0 / (1.0 + dg.exp(-x)), lambda x: 1 / (1 + mp.exp(-x)), (-80, 100),
     "sigmoid(x)"),
    ("sigmoid by a power", lambda x: (1.0 + dg.exp(-x)) ** -1, lambda x: 1 / (1 + mp.exp(-x)),
     (-80, 100), "sigmoid(x)"),
    ("sigmoid the other way", lambda x: dg.exp(x) / (dg.exp(x) + 1.0),
     lambda x: 1 / (1 + mp.exp(-x)), (-80, 200), "sigmoid(x)"),
    ("log of sigmoid", lambda x: dg.log(dg.sigmoid(x)), lambda x: -softplus(-x), (-500, 500),
     "negative(softplus(negative(x)))"),
    ("log of 1 - sigmoid", lambda x: dg.log(1.0 - dg.sigmoid(x)), lambda x: -softplus(x),
     (-500, 500), "negative(softplus(x))"),
    ("log1p of -sigmoid", lambda x: dg.log1p(-dg.sigmoid(x)), lambda x: -softplus(x),
     (-500, 500), "negative(softplus(x))"),
    ("log of declared sigmoid", lambda x: dg.log(1.0 / (dg.exp(-x) + 1.0)),
     lambda x: -softplus(-x), (-500, 500), "negative(softplus(negative(x)))"),
    ("softplus", lambda x: dg.log(1.0 + dg.exp(x)), softplus, (-100, 500), "softplus(x)"),
    ("softplus by log1p", lambda x: dg.log1p(dg.exp(x)), softplus, (-100, 500), "softplus(x)"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("declare", "exactly", "bounds", "short"),
                         [f[1:] for f in FORMS], ids=[f[0] for f in FORMS])  # fmt: skip
def test_at_least_as_accurate(
    declare: Callable[[Any], Expr], exactly: Callable[[Any], Any], bounds: tuple[float, float],
    short: str, dtype: str,
) -> None:  # fmt: skip
    x = dg.placeholder("x", ("n",), dtype)
    y = declare(x)
    better = simplified(y)
    assert text(better) == short
    rng = np.random.default_rng(0)
    near = rng.normal(size=60) * 10.0 ** rng.integers(-12, 1, 60)
    feed = np.concatenate([rng.uniform(*bounds, 150), near.clip(*bounds)]).astype(dtype)
    exact = np.array([float(exactly(mp.mpf(float(v)))) for v in feed])
    found, plain = (run(e, {x: feed}, {"n": len(feed)}).astype("float64") for e in (better, y))
    ulp = np.spacing(np.abs(exact).astype(dtype)).astype("float64")
    with np.errstate(invalid="ignore"):
        assert (np.abs(found - exact) <= np.fmax(np.abs(plain - exact), 3 * ulp)).all()
        assert (np.abs(found - exact) <= 6 * ulp).all()


@pytest.mark.parametrize("declare", [f[1] for f in FORMS], ids=[f[0] for f in FORMS])
def test_infinities_and_nans_come_out_as_declared(declare: Callable[[Any], Expr]) -> None:
    feed = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, -2.0, 2.0], "float32")
    found, plain = (run(e, {X: feed}, {"n": 9}) for e in (simplified(declare(X)), declare(X)))
    told = ~np.isnan(plain) | np.isnan(feed)
    np.testing.assert_allclose(found[told], plain[told], rtol=1e-6)


def test_what_is_stable_already_stays() -> None:
    """And is no other: neither more work nor other bits."""
    z = dg.placeholder("z", ("n", 4))
    e = dg.exp(z)
    named, known = dg.sum(e, 0, keepdims=True), dg.exp(z - dg.max(z, 1, keepdims=True))
    total = dg.sum(known, 1, keepdims=True)
    for y in (
        dg.softmax(z), dg.log_softmax(z), dg.logsumexp(z), dg.softplus(X), dg.log_softmax(z, 0),
        dg.softmax(z, 0), dg.log1p(dg.exp(-dg.abs(X))), dg.exp(X - 1.0), dg.log(X), dg.sigmoid(X),
        1.0 - dg.sigmoid(X), dg.exp(X) / dg.sum(X), dg.log(named), dg.log(e / named),  # n may be 0
        (z / total - dg.sum(z / total * z, 1, keepdims=True)) * known,
    ):  # fmt: skip
        feed = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
        feeds = {z: feed, X: np.arange(3, dtype="float32")}
        assert_same_bits(run(simplified(y), feeds, {"n": 3}), run(y, feeds, {"n": 3}))
        names = [text(e).replace("stop_gradient(", "(").count("exp(") for e in (simplified(y), y)]
        assert names[0] == names[1]


# Sums of powers over axes.

Z = dg.placeholder("z", ("n", 5, 3))
AXES = [(1, False), (1, True), (-1, True), ((1, 2), True), ((1, 2), False)]
ROWS = np.random.default_rng(1).normal(size=(8, 5, 3)).astype("float32")
ROWS[1] += 1000
ROWS[2] -= 1000
ROWS[3] *= 300
ROWS[4, 0] = -np.inf
ROWS[5] = -np.inf
ROWS[6, 0, 0] = np.inf
ROWS[7, 2] = np.nan


def both(y: Expr) -> tuple[Any, Any]:
    """The value as simplified, and as declared."""
    better = simplified(y)
    assert text(better) != text(y)
    return run(better, {Z: ROWS}, {"n": 8}), run(y, {Z: ROWS}, {"n": 8})


def powers(axis: Any) -> tuple[Any, Any, Any]:
    """exp(z), its sum and its quotient, in numbers without bounds: as arrays of mpmath's."""
    z = np.frompyfunc(mp.mpf, 1, 1)(ROWS[:4].astype("float64"))
    e = np.frompyfunc(mp.exp, 1, 1)(z)
    total = np.sum(e, axis=axis, keepdims=True)
    return z, total, e / total


def log(x: Any) -> Any:
    return np.frompyfunc(mp.log, 1, 1)(x)


@pytest.mark.parametrize(("axis", "keepdims"), AXES)
def test_log_of_a_sum_of_powers(axis: Any, keepdims: bool) -> None:
    found, plain = both(dg.log(dg.sum(dg.exp(Z), axis, keepdims)))
    _, total, _ = powers(axis)
    exact = log(total).astype("float64").reshape(found[:4].shape)
    np.testing.assert_allclose(found[:4], exact, rtol=3e-7, atol=3e-7)
    np.testing.assert_allclose(found[4:], plain[4:], rtol=1e-6)  # infinities and nan as declared


@pytest.mark.parametrize(("axis", "keepdims"), AXES)
def test_quotients_of_powers_and_their_logarithm(axis: Any, keepdims: bool) -> None:
    e = dg.exp(Z)
    total = dg.sum(e, axis, keepdims)
    if not keepdims:
        total = dg.expand_dims(total, axis)
    z, exact_total, quotient = powers(axis)
    found, plain = both(e / total)
    np.testing.assert_allclose(found[:4], quotient.astype("float64"), rtol=1e-4, atol=1e-44)
    np.testing.assert_allclose(found[4:], plain[4:], rtol=1e-6)
    found, plain = both(dg.log(e / total))
    np.testing.assert_allclose(
        found[:4], (z - log(exact_total)).astype("float64"), rtol=3e-7, atol=1e-6
    )
    np.testing.assert_allclose(found[4:], plain[4:], rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(("axis", "keepdims"), AXES)
def test_gradients_are_stable_with_what_they_belong_to(axis: Any, keepdims: bool) -> None:
    """The gradient of logsumexp is softmax: finite where exp overflows."""
    y = dg.log(dg.sum(dg.exp(Z), axis, keepdims))
    better = simplified(dg.grad(dg.sum(y * 3.0), Z))
    _, _, quotient = powers(axis)
    found = run(better, {Z: ROWS}, {"n": 8})[:4]
    np.testing.assert_allclose(found, (3 * quotient).astype("float64"), rtol=1e-4, atol=1e-44)


def test_forward_and_backward_share_their_powers() -> None:
    y = dg.log(dg.sum(dg.exp(Z), 2))
    step = dg.compile([y, dg.grad(dg.sum(y), Z)], backend="numpy")
    names = [n.op.name for n in step.stages["own"].value.nodes]
    assert names.count("exp") == 1
    assert names.count("max") == 1
    shown, slope = step(z=ROWS)
    np.testing.assert_allclose(shown[1] - 1000, (ROWS[1] - 1000).max(1) + 0, atol=3)
    np.testing.assert_allclose(slope[:4].sum(2), 1, rtol=1e-6)


def test_the_gradient_of_a_declared_softmax_is_right() -> None:
    """Through the rules that rewrite both, in float64."""
    def softmax(z: Expr) -> Expr:
        e = dg.exp(z)
        return e / dg.sum(e, -1, keepdims=True)

    check_gradient(lambda z: softmax(z) ** 2, np.random.default_rng(0).normal(size=(3, 4)))
    z = dg.placeholder("z", ("n", 4), "float64")
    slope = dg.grad(dg.sum(softmax(z) ** 2), z)
    feed = np.random.default_rng(0).normal(size=(3, 4))
    plain = run(slope, {z: feed}, {"n": 3})
    for shift in (0.0, 1000.0, -1000.0):
        found = run(simplified(slope), {z: feed + shift}, {"n": 3})
        np.testing.assert_allclose(found, plain, rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_gradient_of_softmax_is_as_exact_in_fewer_steps(dtype: str) -> None:
    z, g = (dg.placeholder(k, ("n", 40), dtype) for k in "zg")
    slope = dg.grad(dg.sum(dg.softmax(z) * g), z)
    better = simplified(slope)
    made = [[n.op.name for n in toposort([y])].count("divide") for y in (better, slope)]
    assert made == [1, 2]
    rng = np.random.default_rng(2)
    feeds = {x: scale * rng.normal(size=(50, 40)).astype(dtype) for x, scale in ((z, 5), (g, 1))}
    e = np.exp(feeds[z].astype("longdouble") - feeds[z].max(1, keepdims=True))
    q, wide = e / e.sum(1, keepdims=True), feeds[g].astype("longdouble")
    exact = q * (wide - (wide * q).sum(1, keepdims=True))
    off = [np.abs(run(y, feeds, {"n": 50}) - exact).max() for y in (better, slope)]
    assert off[0] <= 1.5 * off[1]


def test_stable_forms_keep_half_precision_and_named_sizes() -> None:
    z = dg.placeholder("z", ("n", 6), "float16")
    y = dg.log(dg.sum(dg.exp(z), 1))
    feed = np.full((2, 6), 60, "float16")
    assert np.isinf(run(y, {z: feed}, {"n": 2})).all()
    np.testing.assert_allclose(run(simplified(y), {z: feed}, {"n": 2}), 60 + np.log(6), rtol=1e-3)
    assert simplified(y).dtype == np.float16


def test_only_exact_rules_run_after_lowering() -> None:
    """A stable form may be an operation that the target lacks, which only `lower` may expand."""
    step = dg.compile([1.0 / (1.0 + dg.exp(-X)), dg.log(dg.sigmoid(X))], backend="numpy")
    assert {n.op.name for n in step.stages["simplify"].value.nodes} >= {"sigmoid", "softplus"}
    assert not {n.op.name for n in step.stages["own"].value.nodes} & {"sigmoid", "softplus"}
    x = np.array([-200, 0, 200], "float32")
    np.testing.assert_allclose(step(x=x)[1], [-200, -np.log(2), 0], rtol=1e-6)
