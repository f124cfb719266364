"""Windows, borders, and what runs along an axis: views, or into `out`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from deepgraph.dtypes import accumulator

Array = npt.NDArray[Any]
Ints = Sequence[int]

_BLOCK = 1 << 18  # elements: about what the second cache holds


def windows(x: Array, axes: Ints, kernel: Ints, stride: Ints, dilation: Ints) -> Array:
    """A view of all windows along the axes, the elements inside a window along new last axes."""
    shape, strides = list(x.shape), list(x.strides)
    for a, k, s, d in zip(axes, kernel, stride, dilation, strict=True):
        shape[a] = (x.shape[a] - (k - 1) * d - 1) // s + 1
        strides[a] *= s
        strides.append(x.strides[a] * d)
    return as_strided(x, (*shape, *kernel), strides)


def unwindows(
    x: Array, out: Array, axes: Ints, kernel: Ints, stride: Ints, dilation: Ints, sums: Array
) -> None:  # fmt: skip
    """Windows summed back to where they came from; `sums` is used if `out` is too narrow for it."""
    total = out if sums.dtype == out.dtype else sums
    total.fill(0)
    for part, whole in _blocks(x, total, axes):
        for place in np.ndindex(*kernel):
            at = [slice(None)] * out.ndim
            for a, p, s, d in zip(axes, place, stride, dilation, strict=True):
                at[a] = slice(p * d, p * d + s * (x.shape[a] - 1) + 1, s)
            target = whole[tuple(at)]
            np.add(target, part[(..., *place)], out=target)
    if total is not out:
        np.copyto(out, total, casting="same_kind")


def _blocks(x: Array, out: Array, axes: Ints) -> list[tuple[Array, Array]]:
    """Pieces that the cache holds, where a window's elements lie together but are read apart."""
    free = [a for a in range(out.ndim) if a not in axes]
    inner, outer = x.strides[out.ndim :], x.strides[: out.ndim]
    together = min(map(abs, inner), default=0) < min(map(abs, outer), default=0)
    if not free or not together or x.size <= _BLOCK:
        return [(x, out)]
    axis = max(free, key=lambda a: x.shape[a])
    step = max(1, _BLOCK * x.shape[axis] // x.size)
    lead = (slice(None),) * axis
    parts = [slice(i, i + step) for i in range(0, x.shape[axis], step)]
    return [(x[(*lead, part)], out[(*lead, part)]) for part in parts]


def pad(x: Array, out: Array, widths: Sequence[tuple[int, int]], value: float) -> None:
    """x with a border of one value; each element is written once."""
    at: list[Any] = [slice(None)] * out.ndim
    for axis, ((before, after), n) in enumerate(zip(widths, x.shape, strict=True)):
        for border in (slice(0, before), slice(before + n, before + n + after)):
            at[axis] = border
            out[tuple(at)] = value
        at[axis] = slice(before, before + n)
    out[(*at, ...)] = x


def accumulate(ufunc: str, x: Array, out: Array, axis: int) -> None:
    """Running results of a ufunc along an axis; of half precision in single."""
    getattr(np, ufunc).accumulate(x, axis, accumulator(out.dtype), out)


def linear_recurrence(a: Array, b: Array, out: Array, axis: int) -> None:
    """out[k] = a[k] * out[k-1] + b[k] along an axis, from b[0] on; of half precision in single."""
    a, b, lines = (np.moveaxis(v, axis, 0) for v in (a, b, out))
    if not lines.size:
        return
    last = np.array(b[0], accumulator(out.dtype))
    lines[0] = last
    for k in range(1, len(lines)):
        np.multiply(last, a[k], out=last)
        np.add(last, b[k], out=last)
        lines[k] = last


def argsort(x: Array, out: Array, axis: int, descending: bool) -> None:
    """The stable order along an axis; descending, equal elements stay in theirs all the same."""
    if not x.size:
        return
    if not descending:
        out[...] = np.argsort(x, axis, kind="stable")
        return
    backward = (slice(None),) * axis + (slice(None, None, -1),)
    order = np.argsort(x[backward], axis, kind="stable")
    np.subtract(x.shape[axis] - 1, order[backward], out=out)
