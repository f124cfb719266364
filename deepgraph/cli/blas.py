"""The threads that OpenBLAS multiplies matrices with, where it can be asked.

They wait for each other busily. For small products that gains little on free processors, and on
busy ones each wait can last a slice of the scheduler's time.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

NAMES = tuple(f"{name}_{{}}_num_threads{end}" for name in ("scipy_openblas", "openblas")
              for end in ("64_", ""))  # fmt: skip
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")  # what the user may have said


def threads() -> int | None:
    """How many threads it takes; None if it is not found among the libraries of this process."""
    found = _library()
    return None if found is None else int(found[0][found[1].format("get")]())


@contextmanager
def limited(count: int) -> Iterator[None]:
    """At most `count` threads inside, unless the user's environment says how many."""
    found, before = _library(), threads()
    if found is None or before is None or any(map(os.environ.get, VARIABLES)):
        yield
        return
    put = found[0][found[1].format("set")]
    put(min(count, before))
    try:
        yield
    finally:
        put(before)


@cache
def _library() -> tuple[ctypes.CDLL, str] | None:
    """The library and what its functions are called: NumPy's, not the one that steps may use."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    loaded = {line.split()[-1] for line in maps.splitlines() if "openblas" in line}
    for path in sorted(p for p in loaded if "/scipy_openblas64/" not in p):
        library = ctypes.CDLL(path)
        for name in NAMES:
            if hasattr(library, name.format("get")):
                return library, name
    return None
