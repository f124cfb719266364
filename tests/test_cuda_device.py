"""The device made of CuPy, as far as that shows without one: a stand-in for CuPy records."""

from __future__ import annotations

import re
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hostcuda import cupy_text, nvrtc

from deepgraph.backends import cudevice
from deepgraph.backends.cudriver import inlined
from deepgraph.errors import DTypeError
from deepgraph.feeds import converted


class Array:
    """An array of CuPy's that says where it lies; its memory is NumPy's."""

    def __init__(self, held: Any, device: int = 0, address: int = 0) -> None:
        self.held, self.device = np.asarray(held), Number(device)
        self.dtype, self.shape, self.flags = self.held.dtype, self.held.shape, self.held.flags
        self.data = SimpleNamespace(ptr=address)

    def copy(self) -> Array:
        return Array(self.held.copy())

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> Array:
        assert self.device == Number(0), "kernels run where their memory is not"
        found = self.held.astype(dtype, order=order, copy=copy)
        return self if found is self.held else Array(found)


class Number:
    """A device, which is no other object's equal but those of its number."""

    def __init__(self, number: int) -> None:
        self.id, self.entered = number, 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and other.id == self.id

    __hash__ = None  # type: ignore[assignment]

    def __enter__(self) -> None:
        self.entered += 1

    def __exit__(self, *error: object) -> None:
        pass


class Foreign:
    """What another library has on a device; torch shows the same memory in both ways."""

    def __init__(self, device: tuple[int, int] | None) -> None:
        self.__cuda_array_interface__ = {"version": 3}
        if device is not None:
            self.__dlpack_device__ = lambda: device


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> cudevice.Device:
    """A Device over a module that has what it takes of CuPy."""
    module = SimpleNamespace(
        ndarray=Array, array=Array, cuda=SimpleNamespace(Device=Number),
        asarray=lambda given: Array([1.0, 2.0], address=1 << 10),
        from_dlpack=lambda given: Array([3.0, 4.0], address=1 << 10),
    )
    monkeypatch.setattr(cudevice, "_cupy", lambda: module)
    return cudevice.Device(0)


def brought(device: cudevice.Device, given: Any, dtype: str = "float64") -> Any:
    return device.bring("x", given, np.dtype(dtype), converted)


def test_feeds_of_no_axes_keep_their_shape(device: cudevice.Device) -> None:
    """`ascontiguousarray` of NumPy and CuPy gives one axis to what has none."""
    whole, single = Array(2.5), Array(np.float32(2.5))
    for given, dtype in ((whole, "float64"), (single, "float64"), (2.5, "float32")):
        found = brought(device, given, dtype)
        assert found.shape == ()
        assert found.dtype == dtype
        assert found.held == 2.5


def test_feeds_that_lie_here_are_taken_as_they_are(device: cudevice.Device) -> None:
    here = Array(np.ones((2, 3)), address=1 << 9)
    assert brought(device, here) is here
    for other in (
        Array(np.ones((2, 3)), device=1), Array(np.ones((2, 3)), address=8),
        Array(np.ones((3, 2)).T), Array(np.ones((2, 3), np.float32), device=1),
    ):  # fmt: skip
        found = brought(device, other)
        assert found is not other
        assert device.plain(found)
        np.testing.assert_array_equal(found.held, np.ones((2, 3)))
    with pytest.raises(DTypeError, match="wants float32, got float64"):
        brought(device, here, "float32")


@pytest.mark.parametrize(
    ("where", "wanted"), [((2, 0), [3, 4]), ((13, 0), [3, 4]), (None, [1, 2])]
)
def test_dlpack_comes_first(
    device: cudevice.Device, where: tuple[int, int] | None, wanted: list[int]
) -> None:
    """It waits for the stream of the library that makes the array; torch's interface does not."""
    np.testing.assert_array_equal(brought(device, Foreign(where)).held, wanted)


def test_arrays_of_another_device_are_no_results(device: cudevice.Device) -> None:
    assert device.plain(Array(np.ones(4)))
    assert not device.plain(Array(np.ones(4), device=1))


def test_a_recording_that_fails_says_why(device: cudevice.Device) -> None:
    ended = []

    class Stream:
        def __init__(self, non_blocking: bool) -> None:
            assert non_blocking  # the default stream's work may go on beside it

        def __enter__(self) -> None:
            pass

        begin_capture = __enter__

        def __exit__(self, *error: object) -> None:
            pass

        def end_capture(self) -> None:
            ended.append(True)
            raise RuntimeError("cudaErrorStreamCaptureInvalidated")

    device.xp.cuda.Stream = Stream
    with pytest.raises(ZeroDivisionError):
        device.recorded(partial(divmod, 1, 0))  # type: ignore[arg-type]
    assert ended == [True]


def _raises(*_: object) -> int:
    raise RuntimeError("libnvrtc.so.12: cannot open shared object file")


@pytest.mark.parametrize(
    ("count", "version", "headers", "said"),
    [
        (1, lambda: (12, 9), "/usr/include", None),
        (0, lambda: (12, 9), "/usr/include", "there is no NVIDIA GPU"),
        (1, _raises, "/usr/include", r"NVRTC: libnvrtc.* pip install"),
        (1, lambda: (12, 9), None, "no CUDA headers: pip install"),
    ],
)
def test_what_is_missing_is_told(
    monkeypatch: pytest.MonkeyPatch, count: int, version: Any, headers: str | None, said: str | None
) -> None:
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceCount=lambda: count),
        nvrtc=SimpleNamespace(getVersion=version),
    )
    monkeypatch.setattr(cudevice, "absent", lambda name: None)
    monkeypatch.setattr(cudevice, "_DRIVER", None)  # this program itself, which is there
    monkeypatch.setattr(cudevice, "_cupy", lambda: SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(cudevice, "_headers", lambda: headers)
    monkeypatch.delenv("DEEPGRAPH_DEVICE", raising=False)
    found = cudevice.missing()
    assert found == said if found is None or said is None else re.search(said, found), found


def test_the_names_that_are_asked_of_cupy_are_there() -> None:
    """Of the version that the tests are for; none of these needs a device."""
    cupy = pytest.importorskip("cupy", reason="cupy-cuda12x is not installed")
    assert cupy.cuda.nvrtc.getVersion()[0] >= 12
    assert cudevice._headers()
    for name in CALLED:
        assert attrgetter(name)(cupy)  # else an AttributeError
    module = cupy.RawModule(code="", options=cudevice.OPTIONS)
    assert module.options == cudevice.OPTIONS
    kernel = cupy.ElementwiseKernel(
        "float32 a0, int64 n_m", "float32 y0", "y0 = a0", "k0", preamble="",
        options=cudevice.OPTIONS,
    )  # fmt: skip
    assert kernel.kwargs == {"options": cudevice.OPTIONS}


CALLED = (
    "ndarray.astype", "ndarray.copy", "ndarray.device", "ndarray.view", "array", "asarray",
    "asnumpy", "copyto", "empty", "from_dlpack", "matmul", "may_share_memory",
    "lib.stride_tricks.as_strided", "cuda.Device.__enter__", "cuda.Event.record",
    "cuda.Event.synchronize", "cuda.Stream.begin_capture", "cuda.Stream.end_capture",
    "cuda.Stream.synchronize", "cuda.Graph.launch", "cuda.Graph.upload", "cuda.get_elapsed_time",
    "cuda.get_current_stream", "cuda.runtime.getDeviceCount", "RawModule.get_function",
)  # fmt: skip


def test_halves_take_no_arithmetic_on_subnormals() -> None:
    """CuPy has them flushed to zero, and float16's are subnormal for float32's exponent too."""
    if nvrtc.library() is None:
        pytest.skip(f"{nvrtc.WHEEL} is not installed")
    kernel = 'extern "C" __global__ void k(const dg_half *x, float *y) { *y = dg_from_half(*x); }'
    given = (*cudevice.OPTIONS, *cupy_text.ADDED)
    found = nvrtc.compiled(inlined(("cuda.cuh", "maths.h")) + kernel, "sm_90", given).ptx_of("k")
    assert ".ftz" in found
    assert "mul" not in found
