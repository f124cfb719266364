"""Products of matrices of floats by our own loops and through BLAS, against float64."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest

import deepgraph as dg
from deepgraph.backends import native, runtime, toolchain

pytestmark = pytest.mark.skipif(
    bool(native.backend.missing()), reason=native.backend.missing() or ""
)

Array = npt.NDArray[np.floating]
EPS = {"float32": 2.0**-24, "float64": 2.0**-53}
EDGES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 48, 49, 64, 97)
LAYOUTS: dict[str, Callable[[int, int, str], Array]] = {
    "rows": lambda m, n, dtype: np.empty((m, n), dtype),
    "columns": lambda m, n, dtype: np.empty((n, m), dtype).T,
    "padded": lambda m, n, dtype: np.empty((m, n + 3), dtype)[:, :n],
    "padded columns": lambda m, n, dtype: np.empty((n, m + 3), dtype).T[:m],
    "sparse": lambda m, n, dtype: np.empty((2 * m, 3 * n), dtype)[::2, ::3],
}


@pytest.fixture(params=["own", "blas"], autouse=True)
def blas(request: pytest.FixtureRequest) -> Iterator[None]:
    """With and without a BLAS."""
    found, libraries = toolchain.blas(), [runtime.product(dtype) for dtype in EPS]
    if request.param == "blas" and found is None:
        pytest.skip("no scipy-openblas64 here")
    if request.param == "own":
        for library in libraries:
            library.dg_use_blas(None)
    yield
    for library, gemm in zip(libraries, (found.sgemm, found.dgemm) if found else (), strict=False):
        library.dg_use_blas(ctypes.c_void_p(gemm))


def multiply(a: Array, b: Array, c: Array) -> None:
    """c = a b."""
    (m, k), n = a.shape, b.shape[1]
    given: list[object] = [*map(ctypes.c_int64, (m, n, k))]
    for x in (a, b, c):
        steps = (ctypes.c_int64(s // x.itemsize) for s in x.strides)
        given += [ctypes.c_void_p(x.ctypes.data), *steps]
    function = runtime.product(c.dtype.name).dg_multiply
    function.restype = None
    function(*given)


def check(sizes: tuple[int, int, int], layouts: tuple[str, str, str],
          dtype: str, seed: int) -> None:  # fmt: skip
    """Each element is within the bound of a sum of k products, whatever order they are added in."""
    m, n, k = sizes
    rng = np.random.default_rng(seed)
    a, b, c = (
        LAYOUTS[layout](*shape, dtype)
        for layout, shape in zip(layouts, ((m, k), (k, n), (m, n)), strict=True)
    )
    around = c if c.base is None else c.base
    around[...] = 7
    a[...], b[...], c[...] = rng.normal(size=(m, k)), rng.normal(size=(k, n)), np.nan
    multiply(a, b, c)
    x, y = (v.astype(np.longdouble) for v in (a, b))
    error = abs(c - x @ y)
    assert np.all(error <= (k + 1) * EPS[dtype] * (abs(x) @ abs(y))), (sizes, layouts, error.max())
    c[...] = 7
    assert (around == 7).all()  # nothing but c was written


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("seed", range(3))
def test_edges(dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        m, n, k = (int(each) for each in rng.choice(EDGES, 3))
        first, second, third = (str(each) for each in rng.choice([*LAYOUTS], 3))
        check((m, n, k), (first, second, third), dtype, seed)


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("layouts", [("rows", "rows", "rows"), ("columns", "rows", "rows"),
                                     ("rows", "columns", "rows"), ("columns", "columns", "columns"),
                                     ("sparse", "sparse", "sparse")])  # fmt: skip
@pytest.mark.parametrize(
    "sizes",
    [
        (200, 60, 700),
        (20, 300, 257),
        (300, 270, 260),
        (130, 50, 1),
        (7, 1060, 1041),
        (1, 1030, 33),
        (2060, 3, 1030),
    ],
)
def test_what_is_done_in_several_parts(
    sizes: tuple[int, int, int], layouts: tuple[str, str, str], dtype: str
) -> None:
    check(sizes, layouts, dtype, 0)


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("sizes", [(3, 20, 1), (20, 3, 1), (20, 30, 1), (1, 20, 7), (20, 1, 7),
                                   (1, 1, 40), (1, 20, 1), (20, 1, 1), (3, 20, 0), (20, 3, 0),
                                   (1, 20, 0), (20, 30, 0)])  # fmt: skip
def test_the_step_along_an_axis_of_one_or_none_says_nothing(
    sizes: tuple[int, int, int], dtype: str
) -> None:
    for first in LAYOUTS:
        for second in LAYOUTS:
            for third in LAYOUTS:
                check(sizes, (first, second, third), dtype, 0)


def test_a_column_of_a_matrix_times_a_row() -> None:
    x, y = dg.placeholder("x", (20, 5)), dg.placeholder("y", (3, 1))
    step = dg.compile(y @ x[:, :1].T, backend="native")
    array, column = np.arange(100.0).reshape(20, 5), np.arange(1.0, 4.0).reshape(3, 1)
    found = step(x=array.astype("float32"), y=column.astype("float32"))
    np.testing.assert_array_equal(found, column @ array[:, :1].T)


@pytest.mark.parametrize("dtype", EPS)
def test_a_sum_of_nothing_is_zero(dtype: str) -> None:
    c = np.full((9, 17), np.nan, dtype)
    multiply(np.empty((9, 0), dtype), np.empty((0, 17), dtype), c)
    np.testing.assert_array_equal(c, 0)


@pytest.mark.parametrize("dtype", EPS)
def test_what_is_not_finite_stays_in_its_row_and_column(dtype: str) -> None:
    a, b, c = np.ones((13, 21), dtype), np.ones((21, 19), dtype), np.empty((13, 19), dtype)
    a[11, 20], b[0, 18] = np.nan, np.inf
    multiply(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_bits_do_not_depend_on_the_slice() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=s).astype("float32") for s in ((64, 300), (300, 96)))
    whole, parts = np.empty((64, 96), "float32"), np.empty((64, 96), "float32")
    multiply(a, b, whole)
    for low, high in ((0, 16), (16, 48), (48, 96)):
        multiply(a, b[:, low:high], parts[:, low:high])
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_step_needs_no_blas(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(toolchain, "blas", lambda: None)
    x, w = dg.placeholder("x", ("n", 70)), dg.Parameter(np.ones((70, 90), "float32"), name="w")
    step = dg.compile(dg.relu(x @ w + 1), backend="native")
    assert "matmul" not in step.source.driver.replace("# matmul", "")
    array = np.random.default_rng(0).normal(size=(50, 70)).astype("float32")
    with dg.config(threads=threads):
        found = step(x=array)
    np.testing.assert_allclose(found, np.maximum(array @ np.ones((70, 90)) + 1, 0), atol=1e-4)
