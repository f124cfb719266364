"""Checks of values, into `out` if they pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def check_index(x: Array, n: int, out: Array, what: str) -> None:
    """x, if all of it is in [0, n); else IndexError, which calls one of them `what`."""
    unsigned = x.view(np.dtype(f"u{x.dtype.itemsize}"))  # a negative number is a large one there
    if x.size and np.maximum.reduce(unsigned, axis=None) >= n:
        bad = x[(x < 0) | (x >= n)]
        raise IndexError(f"{what} {bad.flat[0]} is out of range: needs 0 to {n - 1}")
    np.copyto(out, x)
