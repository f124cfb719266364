"""Convolution and its gradients in C, against the reference: windows, batches, dtypes, threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from nets import lenet

import deepgraph as dg
from deepgraph import nn, optim
from deepgraph.expr import OPS, Expr

Array = npt.NDArray[Any]

BATCHES = (1, 7, 16, 20, 64, 0)
CASES = {  # channels, rows and columns of images; weights; and how
    "plain": ((3, 9, 10), (5, 3, 3, 2), {}),
    "many channels": ((40, 5, 6), (13, 40, 3, 3), {"padding": 1}),
    "full": ((8, 6, 7), (9, 8, 3, 3), {"padding": "full"}),
    "uneven padding": ((2, 5, 4), (1, 2, 2, 3), {"padding": ((3, 0), (1, 4))}),
    "padding that no window needs": ((1, 3, 4), (2, 1, 1, 1), {"padding": 2}),
    "stride": ((2, 12, 13), (3, 2, 3, 3), {"stride": (2, 3), "padding": 1}),
    "stride beyond the window": ((2, 9, 11), (3, 2, 1, 2), {"stride": (2, 4), "padding": "same"}),
    "dilation": ((2, 9, 8), (3, 2, 3, 2), {"dilation": (2, 3), "padding": (2, 1)}),
    "stride and dilation": (
        (2, 12, 13), (3, 2, 3, 2),
        {"stride": (2, 3), "dilation": (3, 2), "padding": ((2, 1), (1, 0))},
    ),
    "groups": ((6, 7, 5), (9, 2, 3, 3), {"groups": 3, "padding": 1}),
    "depthwise": ((5, 6, 7), (5, 1, 3, 3), {"groups": 5, "stride": 2, "padding": 1}),
    "points": ((7, 4, 3), (4, 7, 1, 1), {}),
    "one window": ((3, 4, 5), (2, 3, 4, 5), {}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def strict(native: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings of the compiler are errors, and the smallest kernel is shared by threads."""
    monkeypatch.setenv("DEEPGRAPH_CFLAGS", "-Werror")
    monkeypatch.setattr("deepgraph.backends.native._SMALL", 1)


def three(
    image: tuple[int, ...], weights: tuple[int, ...], how: dict[str, Any], dtype: str
) -> dict[str, Expr]:
    """A convolution and both of its gradients, of feeds."""
    x = dg.placeholder("x", ("n", *image), dtype)
    w = dg.placeholder("w", weights, dtype)
    y = dg.conv2d(x, w, **how)
    g = dg.placeholder("g", y.shape, dtype)
    by_x = OPS["conv2d_input_grad"](g, w, image[1:], **how)
    return {"y": y, "by_x": by_x, "by_w": OPS["conv2d_weight_grad"](x, g, weights[2:], **how)}


def feeds(outputs: dict[str, Expr], n: int, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    x, w = outputs["y"].inputs
    shapes = {"x": (n, *x.shape[1:]), "w": w.shape, "g": (n, *outputs["y"].shape[1:])}
    return {k: rng.standard_normal(shape).astype(x.dtype) for k, shape in shapes.items()}


def check(outputs: dict[str, Expr], batches: tuple[int, ...], rtol: float) -> None:
    step = dg.compile(outputs, backend="native")
    oracle = dg.compile(outputs, backend="reference")
    names = [k.name for k in step.kernels]
    assert {"conv2d", "conv2d_input_grad", "conv2d_weight_grad"} <= {*names}, names
    for n in batches:
        given = feeds(outputs, n)
        wanted = oracle(**given)
        for threads in (1, 2, 3):
            with dg.config(threads=threads):
                got = step(**given)
            for name, want in wanted.items():
                scale = np.abs(want).max(initial=0)
                np.testing.assert_allclose(
                    got[name], want, rtol=0, atol=rtol * scale, err_msg=f"{name} {n} {threads}"
                )


@pytest.mark.parametrize("case", CASES)
def test_equals_the_reference(case: str) -> None:
    check(three(*CASES[case], "float64"), BATCHES, 1e-13)


@pytest.mark.parametrize("case", ["many channels", "stride", "groups"])
def test_float32_equals_the_reference(case: str) -> None:
    check(three(*CASES[case], "float32"), BATCHES, 3e-6)


def test_sizes_of_images_may_be_named() -> None:
    x, w = dg.placeholder("x", ("n", 2, "h", "w"), "float64"), dg.placeholder("k", (3, 2, 3, 3))
    y = dg.conv2d(x, dg.astype(w, "float64"), stride=2, padding="same")
    outputs = {"y": y, "by_x": dg.grad(dg.sum(y * y), x)}
    step, oracle = (dg.compile(outputs, backend=b) for b in ("native", "reference"))
    rng = np.random.default_rng(0)
    for shape in ((3, 2, 5, 6), (20, 2, 8, 3)):
        given = {"x": rng.standard_normal(shape), "k": rng.random((3, 2, 3, 3), np.float32)}
        for name, want in oracle(**given).items():
            np.testing.assert_allclose(step(**given)[name], want, rtol=1e-12, atol=1e-12)


def test_what_lies_beside_the_images_does_not_count() -> None:
    """NaN in one image, and in what a row that is not there would hold, stays where it is."""
    outputs = three((2, 3, 5), (3, 2, 3, 3), {"padding": 1}, "float32")
    step = dg.compile(outputs, backend="native")
    for n in (1, 3, 20):
        given = feeds(outputs, n)
        clean = step(**given)
        step(**{k: np.full_like(v, np.nan) for k, v in given.items()})  # whatever memory is used
        for name, want in clean.items():
            np.testing.assert_array_equal(step(**given)[name], want, err_msg=f"{name} {n}")
        given["x"][-1] = np.nan
        assert np.isnan(step(**given)["y"][-1]).all()
        np.testing.assert_array_equal(step(**given)["y"][:-1], clean["y"][:-1])
        given["x"][..., 1:] = 0  # the last column of weights never sees the first of images
        assert np.isnan(step(**given)["by_w"]).any((0, 1, 2)).tolist() == [True, True, False]


def test_long_sums_of_weights_do_not_drift() -> None:
    """One running float32 would be out by percents: a lane adds up a row, then others do."""
    outputs = three((1, 96, 96), (1, 1, 1, 1), {}, "float32")
    given = {k: np.full_like(v, 0.1) for k, v in feeds(outputs, 64).items()}
    got = dg.compile(outputs["by_w"], backend="native")(x=given["x"], g=given["g"])
    wanted = 64 * 96 * 96 * float(np.float32(0.1)) ** 2
    assert abs(float(got[0, 0, 0, 0]) / wanted - 1) < 5e-5


def test_a_net_is_turned_once_at_entry_and_once_at_its_flat_end() -> None:
    """Convolution, bias, relu and pooling, forward and back, keep the batch innermost."""
    step = training(lenet(), "native")
    copies = [k for k in step.kernels if k.name == "copy"]
    assert len(copies) <= 2, [k.render() for k in copies]
    for kernel in step.kernels:
        for store in kernel.stores:
            value = store.access.value
            if value.ndim == 4 and value.shape[0] is step.graph.placeholders[0].shape[0]:
                assert step.schedule.orders[value] == (1, 2, 3, 0), kernel


def training(net: nn.Module, backend: str) -> dg.Step:
    x, t = dg.placeholder("x", ("n", 1, 28, 28)), dg.placeholder("t", ("n",), "int64")
    loss = nn.softmax_cross_entropy(net(x), t)
    return dg.compile(loss, optim.SGD(0.1, 0.9).updates(loss, net.parameters), backend=backend)


def test_steps_of_a_net_equal_numpys(use_threads: Callable[[int], None]) -> None:
    rng = np.random.default_rng(0)
    batches = [(rng.random((n, 1, 28, 28), np.float32), rng.integers(0, 10, n)) for n in (20, 7)]
    for threads in (1, 2):
        use_threads(threads)
        nets = {backend: lenet(seed=1) for backend in ("native", "numpy")}
        steps = {backend: training(net, backend) for backend, net in nets.items()}
        for x, t in batches:
            losses = [float(step(x=x, t=t)) for step in steps.values()]
            np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
        for p, q in zip(*(net.parameters for net in nets.values()), strict=True):
            np.testing.assert_allclose(p.value, q.value, rtol=1e-4, atol=2e-6, err_msg=p.name)


def test_gradients_come_back_through_a_flat_end_in_the_order_of_the_images() -> None:
    step = training(lenet(), "native")
    pixels = 16 * 4 * 4
    (flat,) = (v for k in step.kernels for v in k.writes if v.ndim == 2 and v.shape[1] == pixels)
    assert flat.op.name == "matmul"
    assert step.schedule.orders[flat] == (1, 0)
