"""ResNet-18 built from `nn`, against numbers that another framework gave at float64.

The numbers are not part of this project: set DEEPGRAPH_DATA to a folder that holds
`resnet18_oracle.npz`, which its README describes.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aid import Array
from nets import ResNet

import deepgraph as dg
from deepgraph import nn

ORACLE = Path(os.environ.get("DEEPGRAPH_DATA", "")) / "resnet18_oracle.npz"
pytestmark = pytest.mark.skipif(
    "DEEPGRAPH_DATA" not in os.environ or not ORACLE.exists(),
    reason="DEEPGRAPH_DATA names no folder with resnet18_oracle.npz",
)


@pytest.fixture(scope="module")
def oracle() -> dict[str, Array]:
    with np.load(ORACLE) as file:
        return dict(file)


def weights(names: list[str], shapes: list[tuple[int, ...]]) -> dict[str, Array]:
    """The parameters as the oracle drew them."""
    rng = np.random.RandomState(1234)
    drawn = {}
    for name, shape in zip(names, shapes, strict=True):
        values = rng.randn(*shape)
        if len(shape) == 4:
            values *= np.sqrt(2 / (shape[0] * shape[2] * shape[3]))
        elif len(shape) == 2:
            values *= 0.01
        else:
            values = 0.1 * values + name.endswith(".weight")
        drawn[name] = values
    return drawn


def test_resnet18(oracle: dict[str, Array]) -> None:
    names = [str(n) for n in oracle["names"]]
    shapes = [ast.literal_eval(str(s)) for s in oracle["shapes"]]
    x = dg.placeholder("x", ("batch", 3, 64, 64), "float64")
    t = dg.placeholder("t", ("batch",), "int64")
    net = ResNet()
    training, evaluation = net(x, training=True), net(x)
    assert sorted(p.name for p in net.parameters) == sorted(names)
    state = net.state
    for name, values in weights(names, shapes).items():
        state[name].value = values.T if name == "fc.weight" else values  # (in, out) here

    loss = nn.softmax_cross_entropy(training, t)
    by_x, *by_weights = dg.grad(loss, [x, *(state[n] for n in names)])
    outputs = {"training": training, "evaluation": evaluation, "loss": loss, "by_x": by_x}
    step = dg.compile({**outputs, **dict(zip(names, by_weights, strict=True))}, updates={})
    feed = np.random.RandomState(5).randn(2, 3, 64, 64)
    found = step(x=feed, t=[3, 7])

    def close(a: Any, b: Any) -> None:
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * np.abs(b).max())

    close(found["training"], oracle["logits_train"])
    close(found["evaluation"], oracle["logits_eval"])
    close(found["loss"], oracle["loss"])
    close(found["by_x"], oracle["grad_x"])
    for k, name in enumerate(names):
        g = found[name].T if name == "fc.weight" else found[name]
        norm = oracle["grad_norm"][k]
        along = np.sum(g * np.random.RandomState(9000 + k).randn(*g.shape))
        assert abs(np.linalg.norm(g) - norm) < 1e-9 * norm, name
        assert abs(along - oracle["grad_proj"][k]) < 1e-9 * norm, name
    for name in [n.removeprefix("buf_") for n in oracle if n.startswith("buf_")]:
        close(state[name].value, oracle[f"buf_{name}"])
