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
        raise bad_value(x.max() if 0 <= x.min() < n else x.min(), n, what)
    np.copyto(out, x)


def bad_value(bad: int, n: int, what: str) -> IndexError:
    """The error of a value outside [0, n)."""
    return IndexError(f"{what} {bad} is out of range: needs 0 to {n - 1}")
