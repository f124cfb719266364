"""NVIDIA's compiler takes all CUDA text, without a GPU: no spills, few registers, wide loads."""

from __future__ import annotations

import os
import re
from itertools import product
from typing import Any

import pytest
from hostcuda import cupy_text, nvrtc

import deepgraph as dg
from deepgraph import nn, optim, passes
from deepgraph.backends.cudevice import OPTIONS
from deepgraph.backends.cudriver import CudaDriver
from deepgraph.backends.cupy import backend
from deepgraph.backends.launch import Elementwise, Raw
from deepgraph.backends.reference import value
from deepgraph.compile import declare

DTYPES = ["float16", "bfloat16", "float32", "float64"]
REGISTERS = 128  # of a thread: 512 of them then fit a multiprocessor


@pytest.fixture(autouse=True)
def _compiler() -> None:
    if nvrtc.library() is None:
        assert "CI" not in os.environ, f"{nvrtc.WHEEL} is not installed"
        pytest.skip(f"{nvrtc.WHEEL} is not installed")


def driven(outputs: Any, updates: Any = None) -> CudaDriver:
    """The driver of a step, all its kernels written."""
    graph, _ = declare(outputs, updates, None, 0)
    driver = CudaDriver(passes.run(graph, backend.target, value)["place"].value)
    driver.source()
    return driver


def module(outputs: Any, updates: Any = None, wide: bool = False) -> str:
    """The text of all kernels in CUDA of a step, as a device's compiler gets it."""
    driver = driven(outputs, updates)
    raws = [spec.source for spec in driver.specs.values() if isinstance(spec, Raw)]
    return "#define DG_WIDE\n" * wide + driver.preamble() + "\n".join(raws)


def checked(source: str, architecture: str) -> nvrtc.Compiled:
    """The module compiled, each kernel within what it may take."""
    found = nvrtc.compiled(source, architecture, (*OPTIONS, *cupy_text.ADDED))
    names = set(re.findall(r'extern "C" __global__ void \S+ (\w+)\(', source))
    assert found.kernels.keys() == names
    for name, used in found.kernels.items():
        assert used.spilled == 0, name
        assert used.registers <= REGISTERS, name
        assert used.shared <= 48 * 1024, name
    return found


def expressions(dtype: str) -> dict[str, Any]:
    """Of every kind of kernel some."""
    x, y = dg.placeholder("x", ("m", "n"), dtype), dg.placeholder("y", ("m", "n"), dtype)
    row = dg.placeholder("row", ("n",), dtype)
    return {
        "map": dg.gelu(x) * y + row, "swap": dg.exp(x).T * 2, "softmax": dg.softmax(x, axis=1),
        "columns": dg.log_softmax(y, axis=0), "norm": (x - x.mean(axis=1, keepdims=True)) * row,
        "sum": (x * y).sum(), "rows": (x * y).sum(axis=1), "max": x.max(axis=0),
        "product": x @ y.T, "vector": x @ row,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "architecture"), [*product(DTYPES, ["sm_80", "sm_90"]), ("float32", "sm_120")]
)
def test_every_kind_of_kernel(dtype: str, architecture: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")
    checked(module(expressions(dtype)), architecture)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_of_more_than_32_bits_of_elements(architecture: str) -> None:
    checked(module(expressions("float32"), wide=True), architecture)


def test_a_training_step() -> None:
    x, t = dg.placeholder("x", ("b", 1, 12, 12)), dg.placeholder("t", ("b",), "int64")
    model = nn.Sequential(
        nn.Conv2D(4, 3), nn.BatchNorm(), nn.relu, nn.MaxPool2D(2), nn.Flatten(), nn.Dropout(0.5),
        nn.Dense(10),
    )  # fmt: skip
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    updates = optim.Adam(1e-3).updates(loss, model.parameters)
    checked(module(loss, updates), "sm_90")


@pytest.mark.parametrize(("dtype", "wide"), [("float32", "v4.f32"), ("float64", "v2.f64"),
                                             ("float16", "v4"), ("bfloat16", "v4")])  # fmt: skip
def test_neighbours_are_loaded_at_once(dtype: str, wide: str) -> None:
    """16 bytes, through the cache for what nobody writes."""
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")
    x, y = dg.placeholder("x", ("m", "n"), dtype), dg.placeholder("y", ("m", "n"), dtype)
    most = 16 // x.dtype.itemsize
    found = checked(module({"z": dg.tanh(x) * y}), "sm_90").ptx_of(f"k0_v{most}")
    assert len(re.findall(rf"ld\.global\.nc\.{wide}", found)) == 2
    assert len(re.findall(rf"st\.global\.{wide}", found)) == 1
    rows = checked(module({"z": dg.softmax(x, axis=1)}), "sm_90").ptx_of(f"k0_v{most}")
    assert len(re.findall(rf"ld\.global\.nc\.{wide}", rows)) == 3  # greatest, sum, result


def test_in_place_nothing_is_loaded_as_if_nobody_wrote_it() -> None:
    w, g = dg.Parameter([1.0] * 8, dtype="float32"), dg.placeholder("g", (8,))
    found = checked(module({}, {w: w - 0.1 * g}), "sm_90").ptx_of("k0_v4")
    assert len(re.findall(r"ld\.global\.nc\.v4", found)) == 1  # of g
    assert len(re.findall(r"ld\.global\.v4", found)) == 1  # of w


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:CUDA path could not be detected:UserWarning")
def test_strided_kernels_as_cupy_writes_them(dtype: str, architecture: str) -> None:
    cupy = pytest.importorskip("cupy", reason="cupy-cuda12x is not installed")
    if cupy.__version__ != cupy_text.VERSION:
        pytest.skip(f"CuPy {cupy.__version__} is not {cupy_text.VERSION}, whose insides this takes")
    x, y = dg.placeholder("x", ("m", "n"), dtype), dg.placeholder("y", ("n", "m"), dtype)
    flags = dg.placeholder("flags", ("n", "m", 3), "bool")
    wide = dg.where(flags, dg.exp(x).T[:, :, None], y.shape[0])
    driver = driven({"a": dg.exp(x).T * y + 1, "b": wide, "c": dg.sign(x.T) > y})
    specs = [spec for spec in driver.specs.values() if isinstance(spec, Elementwise)]
    assert len(specs) >= 2
    for spec in specs:
        kernel = cupy.ElementwiseKernel(
            spec.inputs, spec.outputs, spec.operation, spec.name, preamble=driver.preamble()
        )
        operands = [tuple(p.split()) for p in f"{spec.inputs}, {spec.outputs}".split(", ")]
        text = cupy_text.elementwise(kernel, operands, rank=3)
        found = nvrtc.compiled(text, architecture, cupy_text.options(OPTIONS))
        assert found.kernels[spec.name].spilled == 0


def test_what_does_not_compile_is_told() -> None:
    with pytest.raises(RuntimeError, match="undefined"):
        nvrtc.compiled("__global__ void f() { x = 1; }", "sm_90")
