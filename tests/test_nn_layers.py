"""Each layer's value against NumPy, its gradient against differences, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import Array, check_gradient, run

import deepgraph as dg
from deepgraph import nn
from deepgraph.errors import GraphError, ShapeError
from deepgraph.expr import Expr
from deepgraph.graph import substitute


def apply(layer: Callable[..., Expr], x: Array, **options: Any) -> Array:
    """A layer's value for an array, by the reference backend."""
    node = dg.placeholder("x", x.shape, x.dtype)
    y = layer(node, **options)
    state = layer.state if isinstance(layer, nn.Module) else {}
    return run(y, {node: x, **{p: p.value for p in state.values()}})


def draw(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(1.0, 2.0, shape)


def test_dense() -> None:
    layer, x = nn.Dense(4, bias=nn.init.normal), draw(2, 5, 3)
    y = apply(layer, x)
    np.testing.assert_allclose(y, x @ layer.weight.value + layer.bias.value, rtol=1e-12)
    assert layer.bias.value.any()
    without = nn.Dense(4, bias=False)
    np.testing.assert_allclose(apply(without, x), x @ without.weight.value, rtol=1e-12)
    assert list(without.state) == ["weight"]
    with pytest.raises(ShapeError, match="Dense: needs an axis"):
        nn.Dense(4)(dg.placeholder("x"))


def correlate(x: Array, w: Array, stride: int, groups: int) -> Array:
    """Convolution as nested loops."""
    filters, channels, rows, columns = w.shape
    high, wide = ((n - k) // stride + 1 for n, k in zip(x.shape[2:], (rows, columns), strict=True))
    y = np.zeros((len(x), filters, high, wide))
    for f in range(filters):
        first = f // (filters // groups) * channels
        for i in range(high):
            for j in range(wide):
                at = x[:, first : first + channels, i * stride :, j * stride :]
                y[:, f, i, j] = np.sum(at[:, :, :rows, :columns] * w[f], (1, 2, 3))
    return y


@pytest.mark.parametrize(("stride", "groups"), [(1, 1), (2, 2)])
def test_conv2d(stride: int, groups: int) -> None:
    layer = nn.Conv2D(
        4, (3, 2), stride=stride, padding=1, groups=groups, bias=nn.init.normal
    )  # fmt: skip
    x = draw(2, 2, 5, 6)
    y = apply(layer, x)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = correlate(padded, layer.weight.value, stride, groups)
    np.testing.assert_allclose(y, expected + layer.bias.value[:, None, None], rtol=1e-10)
    assert layer.weight.shape == (4, 2 // groups, 3, 2)


def test_conv2d_takes_its_options_by_keyword_alone() -> None:
    with pytest.raises(TypeError, match="positional"):
        nn.Conv2D(1, 6, 5)  # type: ignore[misc]
    with pytest.raises(ShapeError, match="Conv2D: needs images"):
        nn.Conv2D(6, 5)(dg.placeholder("x", (3, 4)))
    layer = nn.Conv2D(6, 3, bias=False)
    assert layer(dg.placeholder("x", ("n", 1, 8, 8))).shape[1:] == (6, 6, 6)
    assert list(layer.state) == ["weight"]


def test_pooling() -> None:
    x = draw(2, 3, 4, 6)
    blocks = x.reshape(2, 3, 2, 2, 3, 2)
    np.testing.assert_array_equal(apply(nn.MaxPool2D(2), x), blocks.max((3, 5)))
    np.testing.assert_allclose(apply(nn.AvgPool2D(2), x), blocks.mean((3, 5)), rtol=1e-12)
    np.testing.assert_allclose(apply(nn.GlobalAvgPool2D(), x), x.mean((2, 3)), rtol=1e-12)
    assert apply(nn.MaxPool2D(3, stride=1, padding=1), x).shape == x.shape
    counted, left_out = (
        apply(nn.AvgPool2D(2, padding=1, count_include_pad=flag), x) for flag in (True, False)
    )
    np.testing.assert_allclose(counted[..., 0, 0] * 4, left_out[..., 0, 0], rtol=1e-12)


def test_flatten() -> None:
    x = draw(2, 3, 4, 5)
    np.testing.assert_array_equal(apply(nn.Flatten(), x), x.reshape(2, 60))
    np.testing.assert_array_equal(apply(nn.Flatten(2), x), x.reshape(2, 3, 20))


def draws(y: Expr, x: Expr, value: Array, seed: int = 0) -> Array:
    """What a compiled step gives, since only there random operations have a key."""
    out: Array = dg.compile(y, seed=seed)(x=value)
    return out


@pytest.mark.parametrize("seed", [0, 1])
def test_dropout(seed: int) -> None:
    x, value = dg.placeholder("x", (200, 50)), np.ones((200, 50), np.float32)
    layer = nn.Dropout(0.25)
    assert layer(x) is x
    y = draws(layer(x, training=True), x, value, seed)
    np.testing.assert_array_equal(np.unique(y), np.float32([0, 1 / 0.75]))
    assert abs(np.mean(y == 0) - 0.25) < 4 * np.sqrt(0.25 * 0.75 / y.size)
    assert nn.Dropout(0.0)(x, training=True) is x


@pytest.mark.parametrize("seed", [0, 1])
def test_spatial_dropout(seed: int) -> None:
    x, value = dg.placeholder("x", (40, 50, 2, 3)), np.ones((40, 50, 2, 3), np.float32)
    layer = nn.SpatialDropout(0.25)
    assert layer(x) is x
    y = draws(layer(x, training=True), x, value, seed)
    np.testing.assert_array_equal(y, np.broadcast_to(y[:, :, :1, :1], y.shape))
    np.testing.assert_array_equal(np.unique(y), np.float32([0, 1 / 0.75]))
    assert abs(np.mean(y == 0) - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 2000)


@pytest.mark.parametrize("kind", [nn.Dropout, nn.SpatialDropout])
@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_dropout_rates(kind: Any, rate: float) -> None:
    with pytest.raises(GraphError, match=rf"{kind.__name__}: rate is a number in \[0, 1\): got"):
        kind(rate)


@pytest.mark.parametrize("shape", [(8, 3), (4, 3, 5), (4, 3, 2, 5)])
def test_batch_norm_in_training(shape: tuple[int, ...]) -> None:
    layer, x = nn.BatchNorm(momentum=0.3, eps=1e-3), draw(*shape)
    axes = (0, *range(2, len(shape)))
    node = dg.placeholder("x", shape, "float64")
    y = layer(node, training=True)
    weight, bias = draw(3, seed=1), draw(3, seed=2)
    layer.weight.value, layer.bias.value = weight, bias
    step = dg.compile(y, updates={})
    tail = [1] * (len(shape) - 2)
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    expected = (x - mean) / np.sqrt(var + 1e-3)
    expected = expected * weight.reshape(3, *tail) + bias.reshape(3, *tail)
    np.testing.assert_allclose(step(x=x), expected, rtol=1e-10)
    for _ in range(2):
        step(x=x)
    running_mean, running_var = np.zeros(3), np.ones(3)
    for _ in range(3):
        running_mean = 0.7 * running_mean + 0.3 * x.mean(axes)
        running_var = 0.7 * running_var + 0.3 * x.var(axes, ddof=1)
    np.testing.assert_allclose(layer.running_mean.value, running_mean, rtol=1e-10)
    np.testing.assert_allclose(layer.running_var.value, running_var, rtol=1e-10)


def test_batch_norm_in_evaluation() -> None:
    layer, x = nn.BatchNorm(affine=False), draw(4, 3, 2)
    layer(dg.placeholder("x", x.shape, "float64"))
    mean, var = draw(3, seed=1), draw(3, seed=2) ** 2
    layer.running_mean.value, layer.running_var.value = mean, var
    expected = (x - mean[:, None]) / np.sqrt(var[:, None] + 1e-5)
    np.testing.assert_allclose(apply(layer, x), expected, rtol=1e-10)


def test_batch_norm_updates_only_where_updates_are_asked_for() -> None:
    layer, x = nn.BatchNorm(), draw(4, 3).astype(np.float32)
    y = layer(dg.placeholder("x", ("n", 3)), training=True)
    dg.compile(y)(x=x)
    np.testing.assert_array_equal(layer.running_mean.value, np.zeros(3, np.float32))
    dg.compile(dg.sum(y), updates={})(x=x)
    np.testing.assert_allclose(layer.running_mean.value, 0.1 * x.mean(0), rtol=1e-5)


def test_batch_norm_of_one_row_keeps_its_statistics_finite() -> None:
    layer = nn.BatchNorm()
    y = layer(dg.placeholder("x", ("n", 3)), training=True)
    out = dg.compile(y, updates={})(x=np.ones((1, 3), np.float32))
    np.testing.assert_array_equal(out, np.zeros((1, 3)))
    assert np.isfinite(layer.running_var.value).all()


def test_batch_norm_of_half_precision_does_not_overflow() -> None:
    layer, x = nn.BatchNorm(), np.float16([[300.0], [-300.0]])  # whose squares are infinite
    node = dg.placeholder("x", (2, 1), "float16")
    y = layer(node, training=True)
    assert (y.dtype, layer.running_var.dtype) == (np.float16, np.float32)
    assert layer.weight.dtype == np.float16
    out = dg.compile(y, updates={})(x=x)
    np.testing.assert_array_equal(out, np.float16([[1.0], [-1.0]]))
    np.testing.assert_allclose(layer.running_var.value, 0.9 + 0.1 * 180000, rtol=1e-6)


def test_batch_norm_gradient() -> None:
    def f(x: Expr, weight: Expr, bias: Expr) -> Expr:
        layer = nn.BatchNorm()
        y = layer(x, training=True)
        old = {layer.running_mean: dg.zeros(3, "float64"), layer.running_var: dg.ones(3, "float64")}
        return substitute([y], {layer.weight: weight, layer.bias: bias, **old})[y]

    check_gradient(f, draw(4, 3, 2), draw(3, seed=1), draw(3, seed=2))


def test_batch_norm_needs_features() -> None:
    with pytest.raises(ShapeError, match=r"BatchNorm: axis 1 counts the features: got \(batch,\)"):
        nn.BatchNorm()(dg.placeholder("x", ("batch",)))


@pytest.mark.parametrize("n_axes", [1, 2])
def test_layer_norm(n_axes: int) -> None:
    layer, x = nn.LayerNorm(n_axes, eps=1e-3), draw(4, 3, 5)
    shape = x.shape[-n_axes:]
    layer(dg.placeholder("x", x.shape, "float64"))
    weight, bias = draw(*shape, seed=1), draw(*shape, seed=2)
    layer.weight.value, layer.bias.value = weight, bias
    axes = tuple(range(3 - n_axes, 3))
    expected = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3)
    np.testing.assert_allclose(apply(layer, x), expected * weight + bias, rtol=1e-10)
    plain = nn.LayerNorm(n_axes, eps=1e-3, affine=False)
    np.testing.assert_allclose(apply(plain, x), expected, rtol=1e-10)
    assert not plain.state


def test_layer_norm_gradient() -> None:
    check_gradient(nn.layer_norm, draw(4, 5), draw(5, seed=1), draw(5, seed=2))


def test_layer_norm_of_half_precision_does_not_overflow() -> None:
    y = apply(nn.LayerNorm(), np.float16([[300.0, -300.0]]))
    assert y.dtype == np.float16
    np.testing.assert_array_equal(y, np.float16([[1.0, -1.0]]))


def test_layer_norm_needs_its_axes() -> None:
    with pytest.raises(ShapeError, match=r"layer_norm: there are no 3 last axes: got \(2, 3\)"):
        nn.layer_norm(dg.placeholder("x", (2, 3)), n_axes=3)
    with pytest.raises(ShapeError, match="no 3 last axes"):
        nn.LayerNorm(3)(dg.placeholder("x", (2, 3)))


def test_embedding() -> None:
    layer, indices = nn.Embedding(5, 3), np.array([[0, 4], [2, 2]])
    y = apply(layer, indices)
    np.testing.assert_array_equal(y, layer.weight.value[indices])
    assert (layer.weight.shape, layer.weight.dtype) == ((5, 3), np.float32)
    node = dg.placeholder("x", (2, 2), "int64")
    loss = dg.sum(layer(node) * np.float32([[[1], [2]], [[3], [4]]]))
    grad = run(dg.grad(loss, layer.weight), {node: indices, layer.weight: layer.weight.value})
    np.testing.assert_array_equal(grad, np.outer([1, 0, 7, 0, 2], np.ones(3)))
    with pytest.raises(IndexError):
        apply(layer, np.array([5]))


def test_prelu() -> None:
    layer, x = nn.PReLU(), draw(3, 4)
    np.testing.assert_allclose(apply(layer, x), np.where(x > 0, x, 0.25 * x), rtol=1e-12)
    assert [p.shape for p in layer.parameters] == [()]
    node = dg.placeholder("x", x.shape, "float64")
    slope = dg.grad(dg.sum(layer(node)), layer.slope)
    np.testing.assert_allclose(run(slope, {node: x}), np.minimum(x, 0).sum(), rtol=1e-12)
