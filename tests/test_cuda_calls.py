"""Calls in CUDA beyond what test_calls tests: long lines, tiles, faults, 64-bit indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hostcuda import nvrtc
from hostcuda.host import HostLauncher

import deepgraph as dg
from deepgraph.backends.cudevice import OPTIONS
from deepgraph.backends.cudriver import CudaDriver
from deepgraph.backends.cupy import backend as cupy
from deepgraph.backends.launch import Raw
from deepgraph.expr import OPS, Expr

Array = npt.NDArray[Any]
Outputs = dict[str, Expr]
ORDERS = [0, 1, 2]


def programs(dtype: str) -> dict[str, Outputs]:
    """Every template, by the names of what it is fed: images x, indices i."""
    x = dg.placeholder("x", ("n", 3, 9, 8), dtype)
    i = dg.placeholder("i", ("k",), "int32")
    n = x.shape[0]
    t = dg.permute_dims(x, (3, 0, 2, 1))
    flat = dg.reshape(x, (n, -1))
    rows = dg.take(flat, i, 0)
    border: dict[str, Any] = {"window": 3, "stride": 2, "padding": 1}
    y, mean = (OPS["copy"](f(x, **border)) for f in (dg.max_pool2d, dg.avg_pool2d))
    windows = dg.windows(t, (0, 2), (3, 2), (2, 1))
    return {
        "indices": {
            "rows": rows, "back": dg.scatter_add(rows, i, n), "checked": OPS["check_index"](i, n),
            "flat": OPS["flat_index"]([i, i], (n, 50)),
        },
        "parts": {
            "both": dg.concat([t, t, t[1:]], 0), "border": dg.pad(x, 1, 2),
            "back": OPS["unslice"](t[::-2, :, 1], t.shape, t[::-2, :, 1].attr("index")),
            "windows": OPS["unwindows"](dg.flip(windows, 4), t.shape, (0, 2), (3, 2), (2, 1)),
        },
        "pooling": {
            "max": y, "mean": mean, "back": OPS["max_pool2d_grad"](y, x, y, **border),
            "along": OPS["max_pool2d_jvp"](x * 2, x, y, **border),
            "mean back": OPS["avg_pool2d_grad"](mean, x.shape[2:], **border),
        },
        "lines": {
            "sum": dg.cumulative_sum(t, 0, dtype), "product": dg.cumulative_prod(flat, 1, dtype),
            "recurrence": OPS["linear_recurrence"](flat, flat * 2, 0),
            "where": dg.argmax(x), "least": dg.argmin(t, 3), "beside": dg.argmax(flat, 1, True),
        },
        "draws": {
            "bits": OPS["philox_bits"](
                OPS["random_key"](), OPS["random_counter"](), 5, (n, 3, 7)
            ),
            "used": dg.sum(x),
            **{
                f"{f.__name__} {kind}": f((n, 5), dtype=kind)
                for f in (dg.uniform, dg.normal) for kind in ("float16", "float32", "float64")
            },
        },
    }  # fmt: skip


NAMES = ["indices", "parts", "pooling", "lines", "draws"]


@pytest.mark.parametrize("name", NAMES)
def test_indices_of_64_bits(
    host_cuda: HostLauncher, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("deepgraph.backends.cupy._WIDE_FROM", 0)
    outputs = programs("float32")[name]
    steps = [dg.compile(outputs, {}, backend=b, seed=3) for b in ("cupy", "reference")]
    rng = np.random.default_rng(1)
    for n, k in ((5, 300), (1, 1), (2, 0)):
        given = {"x": rng.integers(-2, 3, (n, 3, 9, 8)).astype(np.float32)}
        if name == "indices":
            given["i"] = rng.integers(0, n, k).astype(np.int32)
        found, wanted = (step(**given) for step in steps)
        for output, value in wanted.items():
            np.testing.assert_allclose(found[output], value, rtol=2e-6, atol=1e-6, err_msg=output)


@pytest.mark.skipif(nvrtc.library() is None, reason=f"{nvrtc.WHEEL} is not installed")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_nvidias_compiler_takes_all_of_it(
    host_cuda: HostLauncher, name: str, dtype: str
) -> None:
    """And keeps what is of 32 bits in registers."""
    driver = CudaDriver(dg.compile(programs(dtype)[name], {}, backend="cupy").plan)
    driver.source()
    text = "".join(s.source for s in driver.specs.values() if isinstance(s, Raw))
    for wide in ("", "#define DG_WIDE\n"):
        made = nvrtc.compiled(wide + driver.preamble() + text, "sm_90", OPTIONS)
        assert len(made.kernels) >= len(driver.specs)
        spilled = [kernel for kernel, used in made.kernels.items() if used.spilled]
        assert wide or dtype == "float64" or not spilled


# Sums in order.


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_scattered_adds_up_in_order(
    host_cuda: HostLauncher, dtype: str, order: int
) -> None:
    """Bit for bit, over several tiles of indices and several blocks of rows."""
    host_cuda.order = order
    x = dg.placeholder("x", ("k", "m"), dtype)
    i = dg.placeholder("i", ("k",), "int64")
    many = dg.placeholder("many", (2, "k", "m"), dtype)
    outputs = {
        "rows": dg.scatter_add(x, i, 70),
        "columns": dg.scatter_add(dg.permute_dims(x, (1, 0)), i, 70, 1),
        "middle": dg.scatter_add(many, i, 70, 1),
    }
    steps = [dg.compile(outputs, backend=b) for b in ("cupy", "numpy")]
    rng = np.random.default_rng(2)
    for k, m in ((1000, 5), (255, 1), (257, 300), (40, 0)):
        given = {
            "x": rng.normal(size=(k, m)).astype(dtype), "i": rng.integers(-70, 70, k),
            "many": rng.normal(size=(2, k, m)).astype(dtype),
        }  # fmt: skip
        given["i"][: k // 3] = 7  # most go to one place
        found, wanted = (step(**given) for step in steps)
        for name, value in wanted.items():
            np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_long_lines_are_shared_by_threads(
    host_cuda: HostLauncher, dtype: str, order: int
) -> None:
    host_cuda.order = order
    kind = dg.placeholder("x", (1,), dtype).dtype
    x = dg.placeholder("x", ("n", "m"), dtype)
    outputs = {
        "sum": dg.cumulative_sum(x, 1, dtype), "sum down": dg.cumulative_sum(x, 0, dtype),
        "greatest": dg.argmax(x, 1), "least": dg.argmin(x, 0), "of all": dg.argmax(x),
    }  # fmt: skip
    step = dg.compile(outputs, backend="cupy")
    rng = np.random.default_rng(3)
    for shape in ((1, 5000), (3, 4097), (700, 2), (1, 1)):
        given = rng.integers(1, 9, shape).astype(kind)
        given[..., rng.integers(0, shape[1], 3)] = 9  # the first of equals is told
        found = step(x=given)
        exact = given.astype(np.float64)
        for name, axis in (("sum", 1), ("sum down", 0)):
            wanted = exact.cumsum(axis)
            rounded = wanted if kind == np.int32 else wanted.astype(np.float32).astype(kind)
            np.testing.assert_array_equal(found[name], rounded)
        np.testing.assert_array_equal(found["greatest"], exact.argmax(1))
        np.testing.assert_array_equal(found["least"], exact.argmin(0))
        assert found["of all"] == exact.argmax()


def test_products_do_not_meet_an_infinity_that_a_zero_forestalls(host_cuda: HostLauncher) -> None:
    x = dg.placeholder("x", (1, "n"))
    step = dg.compile(dg.cumulative_prod(x, 1), backend="cupy")
    given = np.full((1, 4000), 1e30, np.float32)
    given[0, 0] = 0
    assert not step(x=given).any()


# Bad indices.


def test_the_first_kernel_that_meets_a_bad_index_tells(host_cuda: HostLauncher) -> None:
    """What it would have made is garbage that nothing reads as an index; then all is well again."""
    table = dg.placeholder("table", (50,), "int64")
    x, i = dg.placeholder("x", (40, 3)), dg.placeholder("i", ("k",), "int64")
    looked = dg.take(table, i)
    step = dg.compile({"x": dg.take(x, looked, 0), "i": looked}, backend="cupy")
    rng = np.random.default_rng(4)
    given = {
        "x": rng.normal(size=(40, 3)).astype(np.float32), "table": rng.integers(0, 40, 50),
        "i": rng.integers(0, 50, 600),
    }  # fmt: skip
    for host_cuda.order in ORDERS:
        bad = given["i"].copy()
        bad[300:310] = np.arange(50, 60)
        with pytest.raises(IndexError, match="index 59 is out of range: axis 0 has size 50"):
            step(**given | {"i": bad})
        late = given["table"].copy()
        late[given["i"][5]] = -41
        with pytest.raises(IndexError, match="index -41 is out of range: axis 0 has size 40"):
            step(**given | {"table": late})
        found = step(**given)
        np.testing.assert_array_equal(found["x"], given["x"][given["table"][given["i"]]])


@pytest.mark.parametrize("backend", ["native", "cupy"])
def test_no_indices_beside_a_bad_one(
    request: pytest.FixtureRequest, backend: str
) -> None:
    request.getfixturevalue("native" if backend == "native" else "host_cuda")
    i, j = dg.placeholder("i", ("k",), "int64"), dg.placeholder("j", (1,), "int64")
    step = dg.compile(OPS["flat_index"]([i, j], (3, 4)), backend=backend)
    none = np.zeros(0, np.int64)
    assert step(i=none, j=np.array([3])).shape == (0,)
    with pytest.raises(IndexError, match="index 4 is out of range: axis 1 has size 4"):
        step(i=none, j=np.array([4]))


def test_templates_are_all_there() -> None:
    """What has one in C has one in CUDA, but for convolution, which is windows and a product."""
    from deepgraph.backends import ccalls, cucalls

    assert cupy.target.native is cucalls.native
    apart = {name for name in ccalls.TEMPLATES if not name.startswith("conv2d")}
    assert apart <= set(cucalls.TEMPLATES)
