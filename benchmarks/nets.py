"""The nets whose training steps are measured, and what every peer starts from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
NETS = (
    Net("mlp 64", 64, (784,), (), (512, 256, 10)),
    Net("mlp 128", 128, (784,), (), (512, 256, 10)),
    Net("lenet 64", 64, (1, 28, 28), *LENET),
)
TINY = (
    Net("mlp 4", 4, (6,), (), (5, 3)),
    Net("conv 4", 4, (2, 12, 12), (Conv(3, 3, True), Conv(4, 2, False)), (5, 3)),
)


class Work(NamedTuple):
    """A net, a batch and initial weights: (filters, channels, k, k) or (in, out), then the bias."""

    net: Net
    x: Array
    t: Array
    weights: list[Array]


Step = Callable[[Array, Array], Any]  # x and t to the loss before the update
Peer = Callable[[Work], Iterator[tuple[str, Step]]]  # ImportError where the peer is not installed


def declared(net: Net, seed: int = 0) -> tuple[dg.Step, Work]:
    """The compiled step of a net, and what the peers start from."""
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
    work = Work(net, images, rng.integers(0, net.dense[-1], net.batch), weights)
    return dg.compile(loss, updates), work
