"""The nets whose training steps are measured, and what every peer starts from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import deepgraph as dg
from deepgraph import nn, optim

Array = npt.NDArray[Any]
RATE, MOMENTUM = 0.001, 0.9


class Conv(NamedTuple):
    """A valid convolution and relu, and a max-pooling of 2 by 2 after it or not."""

    filters: int
    kernel: int
    pooled: bool


class Net(NamedTuple):
    """Convolutions, then dense layers with relu between them; trained by SGD with momentum."""

    name: str
    batch: int
    image: tuple[int, ...]  # (features,), or (channels, height, width)
    convs: tuple[Conv, ...]
    dense: tuple[int, ...]


LENET = (Conv(6, 5, True), Conv(16, 5, True)), (120, 84, 10)
CONVS = (Conv(64, 3, False), Conv(128, 3, True)), (1024, 10)
NETS = (
    *(Net(f"mlp {n}", n, (784,), (), (512, 256, 10)) for n in (1, 7, 64, 100, 128, 256)),
    *(Net(f"lenet {n}", n, (1, 28, 28), *LENET) for n in (1, 7, 64, 100, 256)),
    *(Net(f"conv {n}", n, (3, 16, 16), *CONVS) for n in (1, 7, 64, 100, 256)),
)
TINY = (
    Net("mlp 4", 4, (6,), (), (5, 3)),
    Net("lenet 4", 4, (2, 12, 12), (Conv(3, 3, True), Conv(4, 2, False)), (5, 3)),
    Net("conv 3", 3, (3, 8, 8), (Conv(2, 3, False), Conv(4, 3, True)), (3,)),
)


class Work(NamedTuple):
    """What a peer starts from: a net, a batch, and initial weights.

    A weight is (filters, channels, k, k) or (in, out), and its bias follows it. `loss` and
    `updates` declare the training step in deepgraph, over parameters that have these weights.
    """

    net: Net
    x: Array
    t: Array
    weights: list[Array]
    loss: dg.Expr
    updates: dict[dg.Parameter, dg.Expr]


Step = Callable[[], Any]  # one training step on the batch: gives the loss before the update


def declared(net: Net, seed: int = 0) -> Work:
    """A net with weights and a batch that are the same for a seed."""
    layers: list[nn.Layer] = []
    for filters, kernel, pooled in net.convs:
        layers += [nn.Conv2D(filters, kernel), nn.relu, *[nn.MaxPool2D(2)] * pooled]
    layers += [nn.Flatten()] if net.convs else []
    for units in net.dense:
        layers += [nn.Dense(units), nn.relu]
    model = nn.Sequential(*layers[:-1], seed=seed)
    x = dg.placeholder("x", ("batch", *net.image))
    t = dg.placeholder("t", ("batch",), "int64")
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    weights = [p.value for p in model.parameters]
    updates = optim.SGD(RATE, MOMENTUM).updates(loss, model.parameters)
    rng = np.random.default_rng(seed)
    images = rng.standard_normal((net.batch, *net.image), np.float32)
    targets = rng.integers(0, net.dense[-1], net.batch)
    return Work(net, images, targets, weights, loss, updates)


def products(work: Work) -> int:
    """Floating-point operations of a step's matrix products and convolutions."""
    total, (height, width) = 0, work.net.image[1:] or (1, 1)
    pooled = [conv.pooled for conv in work.net.convs]
    for k, w in enumerate(work.weights[::2]):
        places = 1
        if w.ndim == 4:
            height, width = height - w.shape[2] + 1, width - w.shape[3] + 1
            places = height * width
            if pooled[k]:
                height, width = height // 2, width // 2
        passes = 3 if k else 2  # the gradient by the images is not needed
        total += 2 * passes * work.net.batch * places * w.size
    return total


def traffic(work: Work) -> int:
    """Bytes that no step can do without: the batch once, weights and momenta in and out."""
    return work.x.nbytes + 4 * sum(w.nbytes for w in work.weights)
