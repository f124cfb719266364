"""NVIDIA's compiler without a GPU or a driver: what a device would run, and what that takes."""

from __future__ import annotations

import ctypes
import re
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

WHEEL = "nvidia-cuda-nvrtc-cu12"


class Used(NamedTuple):
    """What a kernel takes of a multiprocessor."""

    registers: int
    spilled: int  # bytes stored and loaded
    shared: int  # bytes


class Compiled(NamedTuple):
    """A module: its kernels by name, and the text of its instructions."""

    kernels: dict[str, Used]
    ptx: str

    def ptx_of(self, kernel: str) -> str:
        """The instructions of one kernel."""
        return self.ptx.partition(f".entry {kernel}(")[2].partition(".entry ")[0]


@cache
def library() -> ctypes.CDLL | None:
    """The compiler, if its wheel is installed."""
    folder = Path(sysconfig.get_path("purelib")) / "nvidia" / "cuda_nvrtc" / "lib"
    found = sorted(folder.glob("libnvrtc.so.1*"))
    if not found:
        return None
    for builtins in folder.glob("libnvrtc-builtins.so*"):
        ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(str(found[-1]))
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    return nvrtc


def compiled(source: str, architecture: str, options: tuple[str, ...] = ()) -> Compiled:
    """A source for `sm_90` and the like. RuntimeError with the compiler's words if it refuses."""
    nvrtc = library()
    assert nvrtc is not None, f"{WHEEL} is not installed"
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"step.cu", 0, None, None)
    try:
        given = (f"-arch={architecture}", "--ptxas-options=-v", "-w", *options)
        words = (ctypes.c_char_p * len(given))(*(o.encode() for o in given))
        refused = nvrtc.nvrtcCompileProgram(program, len(given), words)
        log = _text(nvrtc, program, "ProgramLog")
        if refused:
            raise RuntimeError(log)
        told = [part.split("'", 1) for part in log.split("Compiling entry function '")[1:]]
        used = {name: _used(rest) for name, rest in told}
        return Compiled(used, _text(nvrtc, program, "PTX"))
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _used(told: str) -> Used:
    """What the compiler says of one kernel."""

    def number(of: str) -> int:
        found = re.search(rf"(\d+) {of}", told)
        return int(found[1]) if found else 0

    spilled = number("bytes spill stores") + number("bytes spill loads")
    used = re.search(r"Used (\d+) registers", told)
    assert used is not None, told
    return Used(int(used[1]), spilled, number("bytes smem"))


def _text(nvrtc: Any, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw.rstrip(b"\0").decode()
