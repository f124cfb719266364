"""The wide convnet with mean squared error on its scores, against loops in plain Python."""

from __future__ import annotations

import time

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import nn, optim
from deepgraph.cli.nets import NETS

BATCH = 64


def seconds_of_loops() -> float:
    """What a training step of the two convolutions takes in six nested loops, from a part of one.

    Of the processor's time, here and below, whatever else it is doing.

    Forward, the gradient by the weights and the gradient by the images do as many multiplications
    each; the first layer needs no gradient by its images. Dense layers and pooling are left out.
    """
    image, weights = np.random.rand(3, 8, 8).tolist(), np.random.rand(2, 3, 3, 3).tolist()
    start = time.process_time()
    total = 0.0
    done = 0
    for _ in range(1):  # images
        for o in range(2):
            for i in range(6):
                for j in range(6):
                    for c in range(3):
                        for u in range(3):
                            for v in range(3):
                                total += image[c][i + u][j + v] * weights[o][c][u][v]
                                done += 1
    each = (time.process_time() - start) / done
    first, second = 64 * 30 * 30 * 3 * 9, 128 * 13 * 13 * 64 * 9
    return each * BATCH * (2 * first + 3 * second)


def test_a_step_is_a_thousand_times_faster_than_loops() -> None:
    x = dg.placeholder("x", ("batch", 3, 32, 32))
    t = dg.placeholder("t", ("batch",), "int64")
    model = nn.Sequential(*NETS["wide"](10), seed=0)
    scores = model(x, training=True)
    loss = nn.mean_squared_error(scores, dg.one_hot(t, 10))
    updates = optim.SGD(lr=0.01).updates(loss, model.parameters)
    step = dg.compile({"loss": loss}, updates, backend="numpy")
    rng = np.random.default_rng(0)
    feeds = {"x": rng.random((BATCH, 3, 32, 32), "float32"), "t": rng.integers(0, 10, BATCH)}
    losses = [float(step(**feeds)["loss"]) for _ in range(3)]
    assert losses[2] < losses[0]
    times = []
    for _ in range(3):
        start = time.process_time()
        step(**feeds)
        times.append(time.process_time() - start)
    ratio = min(seconds_of_loops() for _ in range(3)) / min(times)
    print(f"loops take {ratio:,.0f} times as long")
    assert ratio > 1000


@pytest.mark.parametrize("name", NETS)
def test_each_net_says_how_large_it_is(name: str) -> None:
    side = {"small": 8, "lenet": 28, "wide": 32, "mlp": 8}[name]
    x = dg.placeholder("x", ("batch", 1, side, side))
    assert nn.Sequential(*NETS[name](10))(x).shape == (dg.dim("batch"), 10)
