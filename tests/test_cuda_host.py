"""CUDA text on this machine computes what a device would, and what would break there is caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hostcuda.host import HostCudaError, HostLauncher

from deepgraph.backends.cudriver import inlined
from deepgraph.backends.launch import Elementwise

PREAMBLE = inlined(("cuda.cuh", "maths.h"))
ORDERS = [0, 1, 2]

ROWS = """
extern "C" __global__ void rows(const float *x, float *y, const int n) {
    __shared__ uint64_t shared[32];
    float sum = 0;
    for (int j = threadIdx.x; j < n; j += blockDim.x) sum += x[blockIdx.x * n + j];
    sum = dg_across_x(sum, [](float &into, float value) { into += value; }, shared);
    for (int j = threadIdx.x; j < n; j += blockDim.x) y[blockIdx.x * n + j] = sum;
}
"""

TURN = """
extern "C" __global__ void turn(int *x) {
    __shared__ int held[64];
    held[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = held[63 - threadIdx.x];
}
"""


def run(
    source: str, name: str, arguments: list[Any], threads: int, blocks: int = 1, order: int = 0
) -> None:
    function = HostLauncher(order).module(PREAMBLE, source)(name)
    function((blocks, 1, 1), (threads, 1, 1), arguments)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("threads", [32, 64, 256])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 255, 256, 257, 1000])
def test_rows(n: int, threads: int, order: int) -> None:
    x = np.random.default_rng(n).random((3, n), np.float32)
    y = np.empty_like(x)
    run(ROWS, "rows", [x, y, np.int32(n)], threads, blocks=3, order=order)
    np.testing.assert_allclose(y, np.repeat(x.sum(1, keepdims=True), n, 1), rtol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_shared_memory_is_turned_around(order: int) -> None:
    x = np.arange(64, dtype=np.int32)
    run(TURN, "turn", [x], 64, order=order)
    np.testing.assert_array_equal(x, np.arange(64)[::-1])


def test_a_missing_barrier_gives_other_results_in_other_orders() -> None:
    found = []
    for order in ORDERS:
        x = np.arange(64, dtype=np.int32)
        run(TURN.replace("__syncthreads();", ""), "turn", [x], 64, order=order)
        found.append(x.tolist())
    assert any(f != list(range(63, -1, -1)) for f in found)


def test_a_missing_barrier_of_our_own_is_caught() -> None:
    """Each of those in the fold over the threads of a row."""
    lost = PREAMBLE.count("__syncthreads();")
    assert lost >= 2
    x = np.random.default_rng(0).random((1, 300), np.float32)
    want = np.full_like(x, x.sum())
    wrong = 0
    for order in ORDERS:
        y = np.empty_like(x)
        text = PREAMBLE.replace("  __syncthreads();\n", "")
        function = HostLauncher(order).module(text, ROWS)("rows")
        function((1, 1, 1), (128, 1, 1), [x, y, np.int32(300)])
        wrong += not np.allclose(y, want, rtol=1e-4)
    assert wrong


def test_lanes_that_leave_before_a_shuffle_are_named() -> None:
    early = ROWS.replace("float sum = 0;", "float sum = 0; if (threadIdx.x >= n) return;")
    x = np.ones((1, 20), np.float32)
    with pytest.raises(HostCudaError, match="the mask names lane 20, which has left"):
        run(early, "rows", [x, np.empty_like(x), np.int32(20)], 32)


def test_threads_that_leave_before_a_barrier_are_counted() -> None:
    early = TURN.replace("held[threadIdx.x] =", "if (threadIdx.x > 60) return; held[threadIdx.x] =")
    with pytest.raises(HostCudaError, match="__syncthreads: 3 threads have left, 61 wait"):
        run(early, "turn", [np.zeros(64, np.int32)], 64)


def test_a_barrier_and_a_shuffle_do_not_meet() -> None:
    split = """
    extern "C" __global__ void split(int *x) {
        if (threadIdx.x < 16) __syncthreads(); else __syncwarp();
        x[threadIdx.x] = 1;
    }
    """
    with pytest.raises(HostCudaError, match="deadlock: 16 threads wait at a barrier"):
        run(split, "split", [np.zeros(32, np.int32)], 32)


@pytest.mark.parametrize("beyond", [1, 1000, -1])
def test_memory_out_of_bounds_is_refused(beyond: int) -> None:
    store = f"""
    extern "C" __global__ void store(float *y, const int n) {{
        if (threadIdx.x < n) y[threadIdx.x {beyond:+d} * (threadIdx.x == {n_last(beyond)})] = 1;
    }}
    """
    y = np.zeros(1024, np.float32)  # a whole page: there is a guard on either side
    with pytest.raises(HostCudaError, match="memory that is not the kernel's"):
        run(store, "store", [y, np.int32(1024)], 1024)


def n_last(beyond: int) -> int:
    return 1023 if beyond > 0 else 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([np.zeros(4, np.float32), np.int64(4)], r"\[8, 8\] bytes for parameters of \[8, 4\]"),
     ([np.zeros(4, np.float32)], r"\[8\] bytes for parameters of \[8, 4\]")],
)  # fmt: skip
def test_arguments_of_other_sizes_are_refused(arguments: list[Any], said: str) -> None:
    source = 'extern "C" __global__ void one(float *y, const int n) { y[0] = n; }'
    with pytest.raises(HostCudaError, match=said):
        run(source, "one", arguments, 1)


def test_what_does_not_compile_is_told() -> None:
    with pytest.raises(HostCudaError, match="undeclared_name"):
        run('extern "C" __global__ void f(float *y) { y[0] = undeclared_name; }', "f", [], 1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (31,), (3, 33), (2, 3, 257)])
def test_elementwise_kernels_take_any_strides(shape: tuple[int, ...], order: int) -> None:
    kernel = HostLauncher(order).elementwise(
        Elementwise("f", "float32 a0, int64 a1, int64 k", "float32 y0, bool y1",
                    "const float r = a0 * a1 + k; y0 = r; y1 = r > 0;"), PREAMBLE,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape[::-1], np.float32).T
    b = rng.integers(-3, 4, shape[-1:])
    y, z = np.empty(shape, np.float32), np.empty((*shape, 2), bool)[..., 1]
    kernel(a, b, 7, y, z)
    np.testing.assert_allclose(y, a * b + 7, rtol=1e-6)
    np.testing.assert_array_equal(z, y > 0)


def test_elementwise_kernels_may_run_in_place() -> None:
    kernel = HostLauncher().elementwise(
        Elementwise("f", "float32 a0", "float32 y0, float32 y1", "y0 = a0 + 1; y1 = a0;"), PREAMBLE
    )
    a, y = np.arange(5, dtype=np.float32), np.empty(5, np.float32)
    kernel(a, a, y)
    np.testing.assert_array_equal(y, a)  # by reference: it reads what it has written


def test_elementwise_kernels_refuse_other_dtypes() -> None:
    kernel = HostLauncher().elementwise(
        Elementwise("f", "float32 a0", "float32 y0", "y0 = a0;"), PREAMBLE
    )
    with pytest.raises(HostCudaError, match="a0 is float32: got float64"):
        kernel(np.ones(3), np.ones(3, np.float32))
