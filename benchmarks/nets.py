"""The nets whose training steps are measured, and what every peer starts from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import deepgraph as dg
from benchmarks import resnet
from deepgraph import nn, optim

Array = npt.NDArray[Any]
RATE, MOMENTUM = 0.001, 0.9


class Conv(NamedTuple):
    """A valid convolution and relu, and a max-pooling of 2 by 2 after it or not."""

    filters: int
    kernel: int
    pooled: bool


class Net(NamedTuple):
    """Convolutions, then dense layers with relu between them; trained by SGD with momentum.

    With `blocks` it is a ResNet with so many in each stage.
    """

    name: str
    batch: int
    image: tuple[int, ...]  # (features,), or (channels, height, width)
    convs: tuple[Conv, ...]
    dense: tuple[int, ...]
    blocks: tuple[int, ...] = ()


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
RESNET = Net("resnet-18 64", 64, (3, 224, 224), (), (1000,), (2, 2, 2, 2))
TINY_RESNET = Net("resnet 2", 2, (3, 32, 32), (), (5,), (1, 1))


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
    x = dg.placeholder("x", ("batch", *net.image))
    t = dg.placeholder("t", ("batch",), "int64")
    scores, parameters = _resnet(net, x, seed) if net.blocks else _sequential(net, x, seed)
    loss = nn.softmax_cross_entropy(scores, t)
    weights = [p.value for p in parameters]
    updates = optim.SGD(RATE, MOMENTUM).updates(loss, parameters)
    rng = np.random.default_rng(seed)
    images = rng.standard_normal((net.batch, *net.image), np.float32)
    targets = rng.integers(0, net.dense[-1], net.batch)
    return Work(net, images, targets, weights, loss, updates)


def _sequential(net: Net, x: dg.Expr, seed: int) -> tuple[dg.Expr, list[dg.Parameter]]:
    layers: list[nn.Layer] = []
    for filters, kernel, pooled in net.convs:
        layers += [nn.Conv2D(filters, kernel), nn.relu, *[nn.MaxPool2D(2)] * pooled]
    layers += [nn.Flatten()] if net.convs else []
    for units in net.dense:
        layers += [nn.Dense(units), nn.relu]
    model = nn.Sequential(*layers[:-1], seed=seed)
    scores = model(x, training=True)
    return scores, list(model.parameters)


def _resnet(net: Net, x: dg.Expr, seed: int) -> tuple[dg.Expr, list[dg.Parameter]]:
    drawn = resnet.weights(net.image[0], net.blocks, net.dense[-1], np.random.default_rng(seed))
    parameters = [dg.Parameter(w, f"w{k}") for k, w in enumerate(drawn)]
    return resnet.scores(Functions(), net.blocks, parameters, x), parameters


class Functions:
    """What a ResNet takes, of expressions."""

    def conv(self, x: dg.Expr, w: dg.Expr, stride: int, padding: int) -> dg.Expr:
        """Without a bias."""
        return dg.conv2d(x, w, stride=stride, padding=padding)

    def norm(self, x: dg.Expr, w: dg.Expr, b: dg.Expr) -> dg.Expr:
        """By the batch's mean and variance."""
        mean = dg.mean(x, (0, 2, 3), keepdims=True)
        apart = x - mean
        variance = dg.mean(dg.square(apart), (0, 2, 3), keepdims=True)
        scaled = apart / dg.sqrt(variance + resnet.EPSILON)
        return scaled * dg.reshape(w, (-1, 1, 1)) + dg.reshape(b, (-1, 1, 1))

    def relu(self, x: dg.Expr) -> dg.Expr:
        """max(x, 0)."""
        return nn.relu(x)

    def pool(self, x: dg.Expr) -> dg.Expr:
        """Windows of 3 by 3."""
        return dg.max_pool2d(x, 3, stride=2, padding=1)

    def mean(self, x: dg.Expr) -> dg.Expr:
        """Over height and width."""
        return dg.mean(x, (2, 3))

    def dense(self, x: dg.Expr, w: dg.Expr, b: dg.Expr) -> dg.Expr:
        """x @ w + b."""
        return x @ w + b


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
