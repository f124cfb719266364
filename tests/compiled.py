"""What tests of C share: the system's compiler, our headers, and functions over arrays."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph import backends

Array = npt.NDArray[Any]

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
HEADERS = Path(backends.__path__[0]) / "c"
FLAGS = (
    "-std=c11", "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing",
    "-ffp-contract=off", "-Wall", "-Wextra", "-Werror",
    "-Wno-int-in-bool-context",  # booleans multiply
    f"-I{HEADERS}",
)  # fmt: skip


def compiled(source: str, folder: Path, *flags: str) -> tuple[ctypes.CDLL, str]:
    """The library of a C text with the flags of generated code, and what the compiler said."""
    text, library = folder / "source.c", folder / "library.so"
    text.write_text(source)
    command = [str(CC), *FLAGS, *flags, "-shared", "-fPIC", str(text), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library)), done.stderr


def over(function: Any, out: Any, *arrays: Array) -> Array:
    """The values of a C function `f(int64_t n, const T *..., R *out)`, in dtype `out`."""
    found = np.empty(arrays[0].shape, out)
    given = [np.ascontiguousarray(a) for a in arrays]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*given, found)]
    function(ctypes.c_int64(found.size), *pointers)
    return found
