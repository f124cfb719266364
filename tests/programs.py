"""Small programs whose compiled text is kept under golden/; their lines stand in it as comments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import deepgraph as dg
from deepgraph import nn, optim

Program = tuple[Any, Any]  # outputs, and updates or None


def mlp_step() -> Program:
    """Two dense layers, cross-entropy and SGD with momentum."""
    x = dg.placeholder("x", ("batch", 8))
    t = dg.placeholder("t", ("batch",), "int64")
    model = nn.Sequential(nn.Dense(6), nn.relu, nn.Dense(3))
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    opt = optim.SGD(lr=0.1, momentum=0.9)
    return {"loss": loss}, opt.updates(loss, model.parameters)


def conv_step() -> Program:
    """A convolution, its pooling and a dense layer, with all gradients."""
    x = dg.placeholder("x", ("batch", 1, 8, 8))
    t = dg.placeholder("t", ("batch",), "int64")
    model = nn.Sequential(
        nn.Conv2D(4, 3, padding="same"), nn.relu, nn.MaxPool2D(2), nn.Flatten(), nn.Dense(3)
    )
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)


def softmax() -> Program:
    """Forward and backward in one row kernel."""
    x = dg.placeholder("x", ("n", 5))
    y = dg.softmax(x)
    return {"y": y, "dx": dg.grad(dg.sum(y * y), x)}, None


def layer_norm() -> Program:
    """Forward and backward, with the sums over rows that weight and bias need."""
    x = dg.placeholder("x", ("n", 5))
    weight, bias = dg.Parameter(np.ones(5, "f"), "weight"), dg.Parameter(np.zeros(5, "f"), "bias")
    y = nn.layer_norm(x, weight, bias)
    dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
    return {"y": y, "dx": dx, "dw": dw, "db": db}, None


def adam() -> Program:
    """The update of two parameters of different shapes."""
    w, b = dg.Parameter(np.ones((4, 3), "f"), "w"), dg.Parameter(np.ones(3, "f"), "b")
    loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
    return (), optim.Adam(lr=0.001).updates(loss, [w, b])


def dropout() -> Program:
    """Noise and a mask, and the gradient through the same mask."""
    x = dg.placeholder("x", ("n", 4))
    y = dg.dropout(dg.tanh(x + dg.normal(x.shape, 0.0, 0.1)), 0.5, training=True)
    return {"y": y, "dx": dg.grad(dg.sum(y), x)}, None


def views() -> Program:
    """Slices, flips, transposes and joins: read where they lie, or moved once."""
    x = dg.placeholder("x", ("n", 6))
    left, right = x[:, :3], dg.flip(x[:, 3:], 1)
    turned = dg.permute_dims(left * right)
    whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
    return {"turned": turned, "whole": whole, "last": x[-1]}, None


def strided() -> Program:
    """Windows, a diagonal and broadcasts, whose elements overlap or repeat."""
    x = dg.placeholder("x", ("n", 8))
    means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
    square = dg.asarray(np.arange(9.0, dtype="f").reshape(3, 3))
    spread = dg.broadcast_to(dg.diagonal(square), (2, 3))
    return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None


def swap() -> Program:
    """Two parameters exchanged, and a running mean of one: all from the old values."""
    x = dg.placeholder("x", (4,))
    p, q = dg.Parameter(np.zeros(4, "f"), "p"), dg.Parameter(np.ones(4, "f"), "q")
    mean = dg.Parameter(np.zeros(4, "f"), "mean")
    return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}


def reductions() -> Program:
    """Folds over several axes, of integers too, with what comes before and after."""
    x = dg.placeholder("x", ("n", 3, 4))
    k = dg.placeholder("k", ("n",), "int32")
    return {
        "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
        "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
        "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
    }, None  # fmt: skip


PROGRAMS: list[Callable[[], Program]] = [
    mlp_step, conv_step, softmax, layer_norm, adam, dropout, views, strided, swap, reductions
]  # fmt: skip
