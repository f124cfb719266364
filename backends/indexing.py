"""Elements gathered and scattered by arrays of indices, into `out`.

A bad index raises IndexError before anything is written. Negative ones count from the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]


def _check(indices: Array, n: int, axis: int) -> None:
    if not indices.size:
        return
    for bad in (indices.min(), indices.max()):
        if not -n <= bad < n:
            raise bad_index(bad, n, axis)


def bad_index(bad: int, n: int, axis: int) -> IndexError:
    """The error of an index outside [-n, n)."""
    return IndexError(f"index {bad} is out of range: axis {axis} has size {n}")


def _positions(indices: Array, n: int, axis: int) -> Ints:
    """Checked indices, counted from the front."""
    _check(indices, n, axis)
    found = indices.astype(np.int64)
    found[found < 0] += n
    return found


def take(x: Array, indices: Array, out: Array, axis: int) -> None:
    """x at the indices along one axis."""
    _check(indices, x.shape[axis], axis)
    # Wrapping maps what was checked to itself, and unlike raising writes without a buffer.
    np.take(x, indices.astype(np.int64, copy=False), axis, out=out, mode="wrap")


def scatter_add(
    x: Array, indices: Array, out: Array, axis: int, places: Ints, sums: Array
) -> None:  # fmt: skip
    """0, and x added where the indices say; `places` and `sums` are temporaries.

    Adding to a flat array at flat places has a fast path in NumPy, several times as fast as adding
    rows. `sums` is of the shape of `out` if that is too narrow to add up in.
    """
    total = out if sums.dtype == out.dtype else sums
    n, last = out.shape[axis], axis + indices.ndim
    found = _positions(indices, n, axis)
    total.fill(0)
    if total.flags.c_contiguous:
        lead, tail = np.prod(x.shape[:axis], dtype=int), np.prod(x.shape[last:], dtype=int)
        flat = places.reshape(lead, found.size, tail)
        np.multiply(found.reshape(-1, 1), tail, out=flat)
        flat += np.arange(tail)
        flat += np.arange(lead)[:, None, None] * (n * tail)
        np.add.at(total.reshape(-1), flat.reshape(-1), x.astype(total.dtype, copy=False).ravel())
    else:
        rows = np.moveaxis(total, axis, 0)
        np.add.at(rows, found, np.moveaxis(x, range(axis, last), range(indices.ndim)))
    if total is not out:
        np.copyto(out, total, casting="same_kind")


def flat_index(indices: Sequence[Array], shape: Sequence[int], out: Ints) -> None:
    """Places in a flattened array of `shape`, of an index for each of its axes."""
    found = [_positions(i, n, k) for k, (i, n) in enumerate(zip(indices, shape, strict=True))]
    out.fill(0)
    for one, n in zip(found, shape, strict=True):
        out *= n
        out += one
