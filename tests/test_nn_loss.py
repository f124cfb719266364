"""Losses against formulas written out in NumPy, at ordinary and at extreme arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import Array, check_gradient, gradient, run

import deepgraph as dg
from deepgraph import nn
from deepgraph.errors import DTypeError, GraphError, ShapeError
from deepgraph.expr import Expr
from deepgraph.graph import toposort

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(0, 3, (6, 4))
CLASSES = np.array([0, 3, 1, 1, 2, 0])
ONE_HOT = np.eye(4)[CLASSES]


def value(loss: Callable[..., Expr], x: Any, t: Any, **options: Any) -> Array:
    x, t = np.asarray(x), np.asarray(t)
    px, pt = dg.placeholder("x", x.shape, x.dtype), dg.placeholder("t", t.shape, t.dtype)
    return run(loss(px, pt, **options), {px: x, pt: t})


def log_softmax(x: Array, axis: int = -1) -> Array:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("targets", [CLASSES, CLASSES.astype(np.uint8), ONE_HOT, ONE_HOT == 1])
def test_softmax_cross_entropy(targets: Array, smoothing: float) -> None:
    weights = (1 - smoothing) * ONE_HOT + smoothing / 4
    expected = -(weights * log_softmax(LOGITS)).sum(1)
    found = {
        r: value(nn.softmax_cross_entropy, LOGITS, targets, reduction=r, label_smoothing=smoothing)
        for r in ("none", "sum", "mean")
    }
    np.testing.assert_allclose(found["none"], expected, rtol=1e-12)
    np.testing.assert_allclose(found["sum"], expected.sum(), rtol=1e-12)
    np.testing.assert_allclose(found["mean"], expected.mean(), rtol=1e-12)


def test_softmax_cross_entropy_of_weights_that_do_not_sum_to_one() -> None:
    weights = RNG.uniform(0, 1, (6, 4))
    expected = -(weights * log_softmax(LOGITS)).sum(1)
    found = value(nn.softmax_cross_entropy, LOGITS, weights, reduction="none")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_softmax_cross_entropy_along_another_axis() -> None:
    images = RNG.normal(size=(2, 5, 3, 4))
    labels = RNG.integers(0, 5, (2, 3, 4))
    expected = -np.take_along_axis(log_softmax(images, 1), labels[:, None], 1)[:, 0]
    for t in (labels, np.moveaxis(np.eye(5)[labels], -1, 1)):
        found = value(nn.softmax_cross_entropy, images, t, axis=1, reduction="none")
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert value(nn.softmax_cross_entropy, LOGITS[0], np.int64(2)).shape == ()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_cross_entropy_of_extreme_logits(dtype: Any) -> None:
    logits = np.array([[1e4, 0, -1e4], [-1e4, -1e4, -1e4], [5, -np.inf, 5]], dtype)
    found = value(nn.softmax_cross_entropy, logits, np.array([1, 2, 0]), reduction="none")
    np.testing.assert_allclose(found, [1e4, np.log(3), np.log(2)], rtol=1e-6)
    one_hot = np.eye(3)[[1, 2, 0]].astype(dtype)
    found = value(nn.softmax_cross_entropy, logits, one_hot, reduction="none")
    np.testing.assert_allclose(found, [1e4, np.log(3), np.log(2)], rtol=1e-6)


@pytest.mark.parametrize("targets", [CLASSES, ONE_HOT])
def test_softmax_cross_entropy_gradient_is_softmax_less_target(targets: Array) -> None:
    (found,) = gradient(lambda x: nn.softmax_cross_entropy(x, targets), LOGITS)
    np.testing.assert_allclose(found, (np.exp(log_softmax(LOGITS)) - ONE_HOT) / 6, rtol=1e-10)
    (found,) = gradient(lambda x: nn.softmax_cross_entropy(x, targets), 1e3 * LOGITS)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_softmax_cross_entropy_gradients_by_differences(smoothing: float) -> None:
    def loss(x: Expr, t: Any = CLASSES) -> Expr:
        return nn.softmax_cross_entropy(x, t, label_smoothing=smoothing)

    check_gradient(loss, LOGITS)
    check_gradient(loss, LOGITS, RNG.uniform(0.1, 1, (6, 4)))


def test_softmax_cross_entropy_gradient_is_small() -> None:
    x = dg.placeholder("x", ("batch", 10))
    t = dg.placeholder("t", ("batch",), "int64")
    loss = nn.softmax_cross_entropy(x, t)
    wide = [n for n in toposort([dg.grad(loss, x)]) if n.ndim == 2 and n.shape[1] == 10]
    work = [n.op.name for n in wide if n.op.kind.value == "elementwise"]
    assert sorted(work) == ["add", "equal", "exp", "multiply", "subtract", "where"]


def test_a_class_out_of_range_is_an_index_error() -> None:
    x, t = dg.placeholder("x", ("n", 4)), dg.placeholder("t", ("n",), "int64")
    weight = dg.Parameter(np.ones(4, np.float32), name="weight")
    loss = nn.softmax_cross_entropy(x * weight, t)
    step = dg.compile(loss, updates={weight: weight - dg.grad(loss, weight)})
    for bad in (4, -1):
        with pytest.raises(IndexError, match=f"target {bad} is out of range: needs 0 to 3"):
            step(x=np.ones((2, 4), np.float32), t=[1, bad])
        np.testing.assert_array_equal(weight.value, np.ones(4))
    assert np.isfinite(step(x=np.ones((2, 4), np.float32), t=[0, 3]))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_elementwise_losses(reduction: str) -> None:
    x, t = RNG.normal(0, 2, (5, 3)), RNG.normal(0, 2, (5, 3))
    reduce: Any = {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction]
    off = abs(x - t)
    for loss, expected in [
        (nn.mean_squared_error, off**2),
        (nn.mean_absolute_error, off),
        (nn.l1_loss, off),
        (nn.huber, np.where(off <= 1, off**2 / 2, off - 0.5)),
    ]:
        found = value(loss, x, t, reduction=reduction)
        np.testing.assert_allclose(found, reduce(expected), rtol=1e-12)
        check_gradient(lambda x, t, f=loss: f(x, t, reduction=reduction), x, t)
    found = value(nn.huber, x, t, delta=2.5, reduction=reduction)
    np.testing.assert_allclose(
        found, reduce(np.where(off <= 2.5, off**2 / 2, 2.5 * (off - 1.25))), rtol=1e-12
    )


def test_huber_has_one_slope_where_its_parts_meet() -> None:
    (found,) = gradient(lambda x: nn.huber(x, np.zeros(4), "sum", delta=2.0), [-2.0, 0, 2.0, 3.0])
    np.testing.assert_array_equal(found, [-2, 0, 2, 2])
    with pytest.raises(GraphError, match="huber: delta is above 0: got 0"):
        nn.huber(dg.placeholder("x"), 1.0, delta=0)


def test_sigmoid_cross_entropy() -> None:
    x, t = RNG.normal(0, 2, (5, 3)), RNG.uniform(0, 1, (5, 3))
    p = 1 / (1 + np.exp(-x))
    expected = -(t * np.log(p) + (1 - t) * np.log(1 - p))
    np.testing.assert_allclose(
        value(nn.sigmoid_cross_entropy, x, t, reduction="none"), expected, rtol=1e-10
    )
    (found,) = gradient(lambda x: nn.sigmoid_cross_entropy(x, t), x)
    np.testing.assert_allclose(found, (p - t) / 15, rtol=1e-10)
    far = np.array([-1e4, 1e4, 0.0, 1e4], np.float32)
    found = value(nn.sigmoid_cross_entropy, far, np.array([0, 1, 1, 0]), reduction="none")
    np.testing.assert_allclose(found, [0, 0, np.log(2), 1e4], rtol=1e-6)
    (found,) = gradient(lambda x: nn.sigmoid_cross_entropy(x, np.array([0, 1, 1, 0]), "sum"), far)
    np.testing.assert_allclose(found, [0, 0, -0.5, 1], rtol=1e-6)


def test_accuracy() -> None:
    hits = LOGITS.argmax(1) == CLASSES
    for t in (CLASSES, ONE_HOT):
        found = value(nn.accuracy, LOGITS, t)
        assert (found.dtype, found.shape) == (np.float32, ())
        np.testing.assert_allclose(found, hits.mean(), rtol=1e-6)
    images = RNG.normal(size=(2, 5, 3))
    labels = RNG.integers(0, 5, (2, 3))
    found = value(nn.accuracy, images, labels, axis=1)
    np.testing.assert_allclose(found, (images.argmax(1) == labels).mean(), rtol=1e-6)


LOSSES = [
    nn.softmax_cross_entropy, nn.sigmoid_cross_entropy, nn.mean_squared_error,
    nn.mean_absolute_error, nn.huber,
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
def test_what_losses_refuse(loss: Callable[..., Expr]) -> None:
    x, name = dg.placeholder("x", ("n", 4)), loss.__name__
    with pytest.raises(GraphError, match=f"{name}: reduction is one of mean, sum, none: got 'avg'"):
        loss(x, x, reduction="avg")
    with pytest.raises(DTypeError, match=f"{name}: predictions are floats"):
        loss(dg.placeholder("i", ("n", 4), "int64"), x)
    column = dg.placeholder("t", ("n", 1))
    with pytest.raises(ShapeError, match=rf"(?s){name}: .*\(n, 4\).*loss\(x, column\)"):
        loss(x, column)


def test_targets_of_a_softmax_are_whole_numbers_or_weights() -> None:
    x = dg.placeholder("x", ("n", 4))
    for f in (nn.softmax_cross_entropy, nn.accuracy):
        for t in (dg.placeholder("t", ("n",)), dg.placeholder("t", ("n", 1), "int64")):
            with pytest.raises(ShapeError, match=r"whole numbers of shape \(n,\), or weights of"):
                f(x, t)
