"""Updates of many parameters: of any shapes and dtypes, and in C by the same few functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import deepgraph as dg
from deepgraph import optim
from deepgraph.optim import Optimizer
from deepgraph.step import Step

Array = npt.NDArray[Any]
OPTIMISERS: dict[str, Callable[[], Optimizer]] = {
    "sgd": lambda: optim.SGD(0.1, weight_decay=0.01),
    "nesterov": lambda: optim.SGD(0.1, momentum=0.9, nesterov=True),
    "rmsprop": lambda: optim.RMSProp(0.01, momentum=0.5), "adagrad": optim.Adagrad,
    "adam": optim.Adam, "adamw": lambda: optim.AdamW(weight_decay=0.1),
}  # fmt: skip


def training(optimiser: str, shapes: list[Any], dtypes: list[str], backend: str, seed: int) -> Any:
    """A step over parameters whose gradients are products with feeds; and all that it changes."""
    rng = np.random.default_rng(seed)
    scale = dg.placeholder("scale", ("n",))
    ps = [
        dg.Parameter(rng.normal(size=shape), f"p{k}", dtype)
        for k, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
    ]
    feeds = [dg.placeholder(f"x{k}", p.shape, p.dtype) for k, p in enumerate(ps)]
    total = dg.sum(scale)
    for p, x in zip(ps, feeds, strict=True):
        total = total + dg.sum((p * x).astype("float32"))
    opt = OPTIMISERS[optimiser]()
    step = dg.compile(total, opt.updates(total, ps), backend=backend)
    given = {f"x{k}": rng.normal(size=p.shape).astype(p.dtype) for k, p in enumerate(ps)}
    return step, {**given, "scale": np.ones(3, np.float32)}, [*ps, *opt.state.values()]


@pytest.mark.parametrize(
    ("backend", "threads"),
    [("numpy", 1), ("numpy", 2), ("native", 1), ("native", 2), ("cupy", 1)],
)
@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_parameters_of_all_shapes(
    optimiser: str, backend: str, threads: int, request: pytest.FixtureRequest
) -> None:
    if backend == "cupy":
        request.getfixturevalue("host_cuda")
    seed = list(OPTIMISERS).index(optimiser)
    rng = np.random.default_rng(seed)
    shapes: list[Any] = [(), (1,), (0, 3), (300, 200)]
    shapes += [tuple(rng.integers(1, 30, rng.integers(1, 4)).tolist()) for _ in range(8)]
    dtypes = rng.choice(["float32", "float64", "float16"], len(shapes), p=[0.6, 0.2, 0.2]).tolist()
    want, feeds, expected = training(optimiser, shapes, dtypes, "reference", seed)
    with dg.config(threads=threads):
        step, _, found = training(optimiser, shapes, dtypes, backend, seed)
        for _ in range(3):
            np.testing.assert_allclose(step(**feeds), want(**feeds), rtol=1e-2)  # halves
    halves = {f"p{k}" for k, dtype in enumerate(dtypes) if dtype == "float16"}
    for p, q in zip(found, expected, strict=True):
        exact = 2e-3 if p.name.split("/")[-1] in halves else 1e-5
        np.testing.assert_allclose(p.value, q.value, rtol=exact, atol=exact, err_msg=p.name)


def functions(step: Step) -> list[str]:
    """The functions of kernels that a step's C has."""
    return re.findall(r"^void (\w+)\(", str(step.source), re.M)


def updates(optimiser: str) -> tuple[list[dg.Parameter], dict[Any, Any]]:
    """Of float32 parameters of six shapes."""
    ps = [dg.Parameter(np.ones(shape, np.float32), f"p{k}") for k, shape in
          enumerate([(3,), (5, 7), (1, 50), (40, 7, 2), (90, 90), (1000,)])]  # fmt: skip
    total = dg.asarray(np.float32(0))
    for p in ps:
        total = total + dg.sum(p * dg.placeholder(f"x_{p.name}", p.shape))
    return ps, OPTIMISERS[optimiser]().updates(total, ps)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_in_c_updates_of_all_shapes_are_one_function_for_long_and_one_for_short(
    optimiser: str
) -> None:
    ps, new = updates(optimiser)
    step = dg.compile({}, new, backend="native")
    schedule = step.schedule
    assert len({schedule.maker[schedule.graph.updates[p]] for p in ps}) == len(ps)
    assert len(functions(step)) <= len(step.kernels) - len(ps) + 2


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_and_in_cuda(optimiser: str) -> None:
    ps, new = updates(optimiser)
    source = dg.emit({}, new, backend="cupy")
    wide = re.findall(r"^template <int V>", "\n".join(source.kernels), re.M)
    assert len(wide) == 1
    assert len(source.parts) >= len(ps)


def test_functions_that_differ_are_apart() -> None:
    """By a number, a stride or an offset, a dtype."""
    x = {n: dg.placeholder(f"x{n}", (n, n)) for n in (20, 30, 40)}
    y = dg.placeholder("y", (20, 20), "float64")
    outputs = {
        "a": x[20] * 2, "b": x[30] * 2, "c": x[40] * 3, "d": y * 2,
        "e": x[20][::2].reshape(-1)[3:] * 2, "f": x[30].T + x[30],
    }  # fmt: skip
    step = dg.compile(outputs, backend="native", without=("fuse",))
    assert len(functions(step)) == len(step.kernels) - 1
    rng = np.random.default_rng(0)
    feeds = {f"x{n}": rng.normal(size=(n, n)).astype("f") for n in x}
    feeds["y"] = rng.normal(size=(20, 20))
    want = dg.compile(outputs, backend="reference")(**feeds)
    for name, value in step(**feeds).items():
        np.testing.assert_allclose(value, want[name], rtol=1e-6)


def test_equal_layers_are_one_function_each_of_them_told() -> None:
    x = dg.placeholder("x", ("n", 64))
    y = x
    for k in range(12):
        w = dg.Parameter(np.eye(64) + k, f"w{k}", "float32")
        y = dg.softmax(y @ w)
    step = dg.compile(y, backend="native")
    assert len(step.kernels) == 24
    assert len(functions(step)) < 8
    assert len(re.findall(r"^// (?:call|row) over", str(step.source), re.M)) == 24
    feed = np.random.default_rng(0).normal(size=(5, 64)).astype("f")
    want = dg.compile(y, backend="reference")(x=feed)
    np.testing.assert_allclose(step(x=feed), want, rtol=1e-5)
    assert len([*step.profile(x=feed)]) == 24
