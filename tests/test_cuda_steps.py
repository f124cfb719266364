"""Whole steps in CUDA: on this machine, and where there is a GPU on that too.

`pytest -m gpu` runs all that needs a device, these and the registry's tests among them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from graphs import random_graph
from nets import lenet, mlp

import deepgraph as dg
from deepgraph import nn, optim
from deepgraph.backends.reference import evaluate
from deepgraph.graph import Graph
from deepgraph.step import Step

Array = npt.NDArray[Any]


@pytest.fixture(params=["host", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """Where the cupy backend runs."""
    if request.param == "host":
        request.getfixturevalue("host_cuda")
    return str(request.param)


class Training(NamedTuple):
    """A step, its model, and a batch of some size."""

    step: Step
    model: nn.Module
    shape: tuple[int, ...]

    def batch(self, n: int, seed: int) -> dict[str, Array]:
        """Images and labels."""
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((n, *self.shape), np.float32)
        return {"x": x, "t": rng.integers(0, 10, n)}


def training(kind: str, backend: str) -> Training:
    """A net of its own parameters, which are the same for the same kind."""
    shape = (20,) if kind == "mlp" else (1, 16, 16)
    x, t = dg.placeholder("x", ("n", *shape)), dg.placeholder("t", ("n",), "int64")
    model = mlp(32, 10) if kind == "mlp" else lenet()
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    updates = optim.Adam(1e-3).updates(loss, model.parameters)
    return Training(dg.compile(loss, updates, backend=backend), model, shape)


@pytest.mark.parametrize("kind", ["mlp", "lenet"])
def test_training_is_the_reference_s(kind: str, device: str) -> None:
    """Call after call with other feeds, so that what was recorded is replayed; then other sizes."""
    cuda, reference = training(kind, "cupy"), training(kind, "reference")
    for call, n in enumerate([8, 8, 8, 8, 3, 8, 3, 3]):
        batch = cuda.batch(n, call)
        found = cuda.step.device.host(cuda.step(**batch))
        np.testing.assert_allclose(found, reference.step(**batch), rtol=1e-5)
    for p, q in zip(cuda.model.parameters, reference.model.parameters, strict=True):
        np.testing.assert_allclose(p.value, q.value, rtol=1e-3, atol=2e-5, err_msg=p.name)


@pytest.mark.parametrize("seed", range(20, 26))
def test_random_graphs(seed: int, device: str) -> None:
    outputs, updates, feeds = random_graph(seed)
    step = dg.compile(outputs, updates, backend="cupy")
    wanted = {p.name for p in step.graph.placeholders}
    graph = Graph((), outputs, updates)
    for n in (5, 5, 5, 70):
        values: dict[Any, Any] = {p: feeds(n)[p.name] for p in graph.placeholders}
        values |= {p: p.value for p in graph.parameters}
        want, new = evaluate(graph, values, {"n": n})
        found = step(**{k: v for k, v in feeds(n).items() if k in wanted})
        for name in want:
            got = step.device.host(found[name])
            np.testing.assert_allclose(got, want[name], rtol=1e-9, atol=1e-11, err_msg=name)
        for p in new:
            np.testing.assert_allclose(p.value, new[p], rtol=1e-9, atol=1e-11, err_msg=p.name)
            p.assign(new[p])


def test_a_bad_index_leaves_parameters_as_they_were(device: str) -> None:
    net = training("mlp", "cupy")
    for call in range(3):
        net.step(**net.batch(8, call))
    before = [p.value for p in net.step._parameters]
    bad = net.batch(8, 3)
    bad["t"][5] = 10
    with pytest.raises(IndexError, match="target 10 is out of range"):
        net.step(**bad)
    for p, value in zip(net.step._parameters, before, strict=True):
        np.testing.assert_array_equal(p.value, value, err_msg=p.name)
    net.step(**net.batch(8, 4))  # the fault is forgotten


def test_parameters_go_between_devices(device: str) -> None:
    """A step on the processor and one in CUDA, over the same weights; and values from outside."""
    w, x = dg.Parameter([1.0, 2.0], name="w", dtype="float32"), dg.placeholder("x", (2,))
    there = dg.compile({"y": w * x}, {w: w + x}, backend="cupy")
    here = dg.compile({"y": w * x}, {w: w + x}, backend="numpy")
    one = np.ones(2, np.float32)
    right = np.array([1.0, 2.0])
    for step in (there, here, here, there, there, there, here):
        np.testing.assert_array_equal(step.device.host(step(x=one)["y"]), right)
        right = right + 1
        np.testing.assert_array_equal(w.value, right)
    w.assign([5.0, 5.0])
    np.testing.assert_array_equal(there.device.host(there(x=one)["y"]), [5, 5])
    np.testing.assert_array_equal(w.value, [6, 6])


def test_results_go_where_they_are_told(device: str) -> None:
    x = dg.placeholder("x", ("n",))
    step = dg.compile({"y": x + 1}, backend="cupy")
    out = step.device.empty((3,), np.float32)
    for value in (1.0, 2.0, 3.0, 4.0):
        given = np.full(3, value, np.float32)
        kept = step(x=given)["y"]
        assert step(x=given, out=[out])["y"] is out
        np.testing.assert_array_equal(step.device.host(out), given + 1)
        np.testing.assert_array_equal(step.device.host(kept), given + 1)
    with pytest.raises(dg.DTypeError, match="another dtype"):
        step(x=given, out=[step.device.empty((3,), np.float64)])


def test_a_profile_has_a_row_for_each_kernel(device: str) -> None:
    net = training("mlp", "cupy")
    profile = net.step.profile(**net.batch(8, 0), repeat=3)
    assert len(profile.rows) == len(net.step.kernels)
    assert all(row.seconds >= 0 for row in profile.rows)
    assert profile.seconds > 0


def test_every_half_is_read_exactly(device: str) -> None:
    """Subnormals of float16 too, though CuPy has those of float32 flushed to zero."""
    x = dg.placeholder("x", ("n",), "float16")
    step = dg.compile(x.astype("float32"), backend="cupy")
    halves = np.arange(1 << 16).astype(np.uint16).view(np.float16)
    found = step.device.host(step(x=halves))
    np.testing.assert_array_equal(found, halves.astype(np.float32))


@pytest.mark.gpu
def test_feeds_of_other_libraries_and_results_on_the_device() -> None:
    cupy = pytest.importorskip("cupy", reason="cupy-cuda12x is not installed")
    x = dg.placeholder("x", ("n",))
    step = dg.compile(2 * x, backend="cupy")
    values = np.arange(8, dtype=np.float32)
    whole = cupy.asarray(np.arange(-1, 8, dtype=np.float32))

    class Exported:
        """What has DLPack's methods alone."""

        def __dlpack__(self, **how: Any) -> Any:
            return whole[1:].copy().__dlpack__(**how)

        def __dlpack_device__(self) -> Any:
            return whole.__dlpack_device__()

    for given in (values, values.tolist(), cupy.asarray(values), whole[1:], Exported(),
                  cupy.arange(8, dtype="int8")):  # fmt: skip
        found = step(x=given)
        assert isinstance(found, cupy.ndarray)
        np.testing.assert_array_equal(cupy.asnumpy(found), 2 * values)
    with pytest.raises(dg.DTypeError, match="wants float32, got float64"):
        step(x=cupy.arange(8, dtype="float64"))
    half = dg.compile(dg.placeholder("s", ()) / 2, backend="cupy")
    for scalar in (cupy.array(3, "float32"), cupy.array(3, "float16"), 3):
        found = half(s=scalar)
        assert found.shape == ()
        assert float(found) == 1.5


@pytest.mark.gpu
def test_nothing_is_allocated_after_the_first_calls() -> None:
    cupy = pytest.importorskip("cupy", reason="cupy-cuda12x is not installed")
    net = training("lenet", "cupy")
    batch = {k: cupy.asarray(v) for k, v in net.batch(64, 0).items()}
    for _ in range(3):
        net.step(**batch)
    pool = cupy.get_default_memory_pool()
    before = pool.total_bytes()
    for _ in range(100):
        net.step(**batch)
    assert pool.total_bytes() == before
