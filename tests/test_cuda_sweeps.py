"""Fused kernels in CUDA at sizes that take every way through them: packs, rows, columns, parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hostcuda.host import HostLauncher

import deepgraph as dg

# Rows and columns: less than a warp, around one, more than a block; long rows that come in parts.
SHAPES = [(1, 1), (5, 31), (7, 32), (3, 33), (300, 8), (8, 255), (9, 257), (2, 1030), (1, 150_000),
          (3, 140_000), (140_000, 3)]  # fmt: skip


def outputs(x: Any) -> dict[str, Any]:
    return {
        "map": x * 2 + 1, "row": x / (1 + (x * x).sum(axis=1, keepdims=True)),
        "rows": (x * x).sum(axis=1), "columns": (x * x).sum(axis=0), "all": (x - 1).mean(),
        "turned": dg.abs(x).T,
    }  # fmt: skip


def wanted(x: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    return {
        "map": x * 2 + 1, "row": x / (1 + (x * x).sum(axis=1, keepdims=True)),
        "rows": (x * x).sum(axis=1), "columns": (x * x).sum(axis=0), "all": (x - 1).mean(),
        "turned": abs(x).T,
    }  # fmt: skip


@pytest.mark.parametrize(("order", "dtype", "rtol"), [
    (0, "float32", 2e-6), (1, "float64", 1e-12), (2, "float16", 2e-3), (1, "bfloat16", 2e-2),
])  # fmt: skip
def test_sums_and_maps(order: int, dtype: str, rtol: float, host_cuda: HostLauncher) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")
    host_cuda.order = order
    p = dg.placeholder("x", ("m", "n"), dtype)
    step = dg.compile(outputs(p), backend="cupy")
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        x = rng.standard_normal(shape).astype(np.float32) / max(shape) ** 0.5
        x = x.astype(p.dtype)
        found = step(x=x)
        for name, right in wanted(x.astype(np.float64)).items():
            scale = np.max(np.abs(right), initial=0) if name in ("all", "columns", "rows") else 0
            np.testing.assert_allclose(
                found[name].astype(np.float64), right, rtol=rtol, atol=rtol * scale + 1e-6,
                err_msg=f"{name} {shape}",
            )  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "bool", "float32"])
def test_extremes_and_whole_numbers(dtype: str, host_cuda: HostLauncher) -> None:
    p = dg.placeholder("x", ("m", "n"), dtype)
    made = {"max": p.max(axis=1), "least": p.min(axis=0), "any": (p != 0).any(axis=1),
            "all": (p != 0).all(axis=0), "count": (p != 0).sum()}  # fmt: skip
    step = dg.compile(made, backend="cupy")
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        x = rng.integers(0, 100, shape).astype(dtype)
        if dtype == "float32":
            x[rng.random(shape) < 0.01] = np.nan
        found = step(x=x)
        right = {"max": x.max(axis=1), "least": x.min(axis=0), "any": (x != 0).any(axis=1),
                 "all": (x != 0).all(axis=0), "count": (x != 0).sum()}  # fmt: skip
        for name in right:
            np.testing.assert_array_equal(found[name], right[name], err_msg=f"{name} {shape}")


def test_long_rows_come_in_parts(host_cuda: HostLauncher) -> None:
    """Two launches, of many blocks and of one a row, where a single block would take all."""
    x = dg.placeholder("x", ("m", "n"))
    step = dg.compile((x * x).sum(axis=1), backend="cupy")
    values = np.ones((2, 200_000), np.float32)
    np.testing.assert_array_equal(step(x=values), [200_000, 200_000])
    assert host_cuda.launches == 2
    step(x=values[:, :1000])
    assert host_cuda.launches == 3


@pytest.mark.parametrize("order", [0, 1, 2])
def test_parameters_are_updated_where_they_are(order: int, host_cuda: HostLauncher) -> None:
    """A row is read again after its fold, by every thread, and then overwritten."""
    host_cuda.order = order
    rng = np.random.default_rng(2)
    for shape in ((4, 7), (3, 2000), (70, 64)):
        start = rng.standard_normal(shape, np.float32)
        w, b = dg.Parameter(start, name="w"), dg.Parameter(start[:, 0], name="b")
        norm = (w * w).sum(axis=1, keepdims=True)
        step = dg.compile({}, {w: w / norm, b: b - 0.5 * norm[:, 0]}, backend="cupy")
        right, offset = start.astype(np.float64), start[:, 0].astype(np.float64)
        for _ in range(3):
            step()
            norms = (right * right).sum(axis=1, keepdims=True)
            right, offset = right / norms, offset - 0.5 * norms[:, 0]
            np.testing.assert_allclose(w.value, right, rtol=1e-5)
            np.testing.assert_allclose(b.value, offset, rtol=1e-5)
