"""The device as CuPy shows it: its arrays, and kernels compiled by NVRTC."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from deepgraph.backends import INSTALL, BackendError, absent
from deepgraph.backends.cuelements import WIDEST
from deepgraph.backends.device import Convert
from deepgraph.backends.launch import Elementwise, Extent, Function
from deepgraph.errors import DTypeError

_DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
# No fused multiply-add where the text has none: the bodies are those of `native`. CuPy adds
# -ftz=true, and the last one counts: arithmetic on subnormals of float32 gives zero.
OPTIONS = ("--std=c++17", "--fmad=false")


def missing() -> str | None:
    """What keeps CuPy from running here, and what to install; None if nothing does."""
    if reason := absent("cupy"):
        return reason
    try:
        ctypes.CDLL(_DRIVER)  # to ask for it costs less than to import CuPy
    except OSError:
        return f"no NVIDIA driver is installed ({_DRIVER} is not found)"
    try:
        cupy = _cupy()
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # whatever a library that is broken or does not suit raises
        return f"CuPy finds no GPU: {error}"
    if not count:
        return "there is no NVIDIA GPU"
    number = _number()
    if number >= count:
        return f"DEEPGRAPH_DEVICE is {number}, but there are {count} GPUs"
    try:
        cupy.cuda.nvrtc.getVersion()
        headers = _headers()
    except Exception as error:
        return f"CuPy finds no compiler, NVRTC: {error}: {INSTALL['cupy']}"
    return None if headers else f"CuPy finds no CUDA headers: {INSTALL['cupy']}"


def _cupy() -> Any:
    with warnings.catch_warnings():  # it warns where it finds no CUDA headers
        warnings.simplefilter("ignore")
        import cupy
    return cupy


def _headers() -> str | None:
    """Where those are that all that CuPy compiles includes."""
    from cuda.pathfinder import find_nvidia_header_directory  # CuPy needs it, and looks by it

    found: str | None = find_nvidia_header_directory("cudart")
    return found


def _number() -> int:
    given = os.environ.get("DEEPGRAPH_DEVICE", "0").removeprefix("cuda:")
    if not given.isdecimal():
        raise BackendError(f"DEEPGRAPH_DEVICE is a number or cuda:<number>: got {given!r}")
    return int(given)


@cache
def launcher() -> Device:
    """The device that DEEPGRAPH_DEVICE names, or the first."""
    return Device(_number())


def _on_device(given: Any) -> bool:
    """Does DLPack say that a value lies on a CUDA device?"""
    asked = getattr(given, "__dlpack_device__", None)
    return asked is not None and int(asked()[0]) in _DLPACK_CUDA


class Device:
    """A GPU as a Launcher."""

    def __init__(self, number: int) -> None:
        self.xp = cupy = _cupy()
        self.device = f"cuda:{number}"
        self.here = cupy.cuda.Device(number)

    def empty(self, shape: Any, dtype: Any) -> Any:
        """Of CuPy's pool of memory."""
        with self.here:
            return self.xp.empty(shape, dtype)

    def array(self, value: Any) -> Any:
        """A copy of an array on the device."""
        with self.here:
            return self.xp.array(value, order="C")

    def host(self, array: Any) -> Any:
        """A copy of a device's array; this waits for what makes it."""
        return self.xp.asnumpy(array)

    def bring(self, name: str, given: Any, dtype: np.dtype[Any], convert: Convert) -> Any:
        """A feed of any library that shares memory on this device as it is, others by a copy.

        Raises DTypeError for a conversion that NumPy does not call safe.
        """
        xp = self.xp
        with self.here:
            if not isinstance(given, xp.ndarray):
                if _on_device(given):  # first: it waits for the other library's stream
                    given = xp.from_dlpack(given)
                elif hasattr(given, "__cuda_array_interface__"):
                    given = xp.asarray(given)
                else:
                    return xp.array(convert(name, given, dtype))
            if given.dtype != dtype and not np.can_cast(given.dtype, dtype, "safe"):
                wants = f"wants {dtype.name}, got {given.dtype.name}"
                raise DTypeError(f"feed {name} has another dtype: {wants}")
            if given.device != self.here:
                given = given.copy()  # to the current device
            given = given.astype(dtype, order="C", copy=False)  # keeps its shape, if () too
            return given if self.plain(given) else given.copy()

    def plain(self, array: Any) -> bool:
        """Here, contiguous, and aligned for the widest load of a thread."""
        aligned = array.data.ptr % WIDEST == 0
        return bool(array.device == self.here and array.flags.c_contiguous and aligned)

    def mark(self) -> Any:
        """An event behind all work that has been asked for."""
        with self.here:
            event = self.xp.cuda.Event()
            event.record()
            return event

    def seconds(self, first: Any, last: Any) -> float:
        """The device's own time between two events; this waits for the last."""
        last.synchronize()
        return float(self.xp.cuda.get_elapsed_time(first, last)) * 1e-3

    def module(self, preamble: str, source: str) -> Callable[[str], Function]:
        """The functions of a source; CuPy keeps what it has compiled on disk."""
        module = self.xp.RawModule(code=preamble + source, options=OPTIONS)

        def function(name: str) -> Function:
            found = module.get_function(name)

            def launch(grid: Extent, block: Extent, arguments: Sequence[Any]) -> None:
                found(grid, block, tuple(arguments))

            return launch

        return function

    def elementwise(self, spec: Elementwise, preamble: str) -> Callable[..., None]:
        """An ElementwiseKernel."""
        found: Callable[..., None] = self.xp.ElementwiseKernel(
            spec.inputs, spec.outputs, spec.operation, spec.name, preamble=preamble,
            options=OPTIONS,
        )  # fmt: skip
        return found

    def recorded(self, run: Callable[[], None]) -> Callable[[], None]:
        """A CUDA graph, which runs on the stream that is current then."""
        stream = self.xp.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            try:
                run()
            except BaseException:
                with suppress(Exception):  # what went wrong first is what to tell
                    stream.end_capture()
                raise
            graph = stream.end_capture()
        graph.upload(stream)
        stream.synchronize()
        return lambda: graph.launch(self.xp.cuda.get_current_stream())


