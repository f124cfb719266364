"""Pooling by NumPy: whole strided slices at a time, one for each place in a window.

Images are (batch, channel, height, width) in any memory order. Temporaries come in row-major order
and are used in the order of the image beside them. Places outside the image take no part.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Pair = tuple[int, int]
Pads = tuple[Pair, Pair]
Spans = tuple[tuple[slice, slice], ...]
Taps = list[tuple[Any, Any]]


def _in_short_blocks(function: Callable[..., None]) -> Callable[..., None]:
    """Run with a small ufunc buffer, into which NumPy copies operands whose inner loop is shorter.

    On slices of images that copying takes as long as the operation itself.
    """

    @wraps(function)
    def inside(*args: Any) -> None:
        size = np.setbufsize(1024)
        try:
            function(*args)
        finally:
            np.setbufsize(size)

    return inside


@_in_short_blocks
def max_pool2d(x: Array, out: Array, window: Pair, stride: Pair, pads: Pads, tmp: Array) -> None:
    """The greatest of each window; `tmp` is pooled along the height alone."""
    rows, least = _beside(x, tmp), _least(x.dtype)
    high, wide = _spans(x, out, window, stride, pads)
    _fold(np.maximum, x, rows, 2, high, least)
    _fold(np.maximum, rows, out, 3, wide, least)


@_in_short_blocks
def max_pool2d_grad(
    g: Array, x: Array, y: Array, out: Array, window: Pair, stride: Pair, pads: Pads,
    tmp0: Array, tmp1: Array, tmp2: Array,
) -> None:  # fmt: skip
    """`g` to the greatest of each window in equal shares, summed where windows overlap."""
    taps = _taps(*_spans(x, y, window, stride, pads))
    hits, counts, parts = _beside(y, tmp0), _beside(y, tmp1), _beside(y, tmp2)
    _find(x, y, taps, hits, counts)
    share, chosen = parts[0], parts[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(g, counts, out=share)
    share_bits, chosen_bits, out_bits = _bits(share), _bits(chosen), _bits(out)
    apart = stride[0] >= window[0] and stride[1] >= window[1]
    if not apart or x.size != y.size * len(hits) or any(map(any, pads)):
        np.copyto(out, 0)  # windows do not cover it place by place
    for (to, at), hit in zip(taps, hits, strict=False):
        if apart:
            np.multiply(share_bits[to], hit[to], out=out_bits[at])
        else:
            np.multiply(share_bits[to], hit[to], out=chosen_bits[to])
            np.add(out[at], chosen[to], out=out[at])


@_in_short_blocks
def max_pool2d_jvp(
    t: Array, x: Array, y: Array, out: Array, window: Pair, stride: Pair, pads: Pads,
    tmp0: Array, tmp1: Array, tmp2: Array,
) -> None:  # fmt: skip
    """The mean of `t` over the places of the greatest of each window."""
    taps = _taps(*_spans(x, y, window, stride, pads))
    hits, counts, chosen = _beside(y, tmp0), _beside(y, tmp1), _beside(y, tmp2)[0]
    _find(x, y, taps, hits, counts)
    t_bits, chosen_bits = _bits(t), _bits(chosen)
    np.copyto(out, 0)
    for (to, at), hit in zip(taps, hits, strict=False):
        np.multiply(t_bits[at], hit[to], out=chosen_bits[to])
        np.add(out[to], chosen[to], out=out[to])
    with np.errstate(invalid="ignore"):
        np.divide(out, counts, out=out)


@_in_short_blocks
def avg_pool2d(
    x: Array, out: Array, window: Pair, stride: Pair, pads: Pads, count_pads: bool,
    tmp0: Array, tmp1: Array,
) -> None:  # fmt: skip
    """The mean of each window: over the places in the image, or over all (outside it is 0)."""
    rows, total = _beside(x, tmp0), _beside(x, tmp1)
    high, wide = _spans(x, out, window, stride, pads)
    _fold(np.add, x, rows, 2, high, 0)
    _fold(np.add, rows, total, 3, wide, 0)
    divisor = _divisor(window, pads, high, wide, count_pads, total)
    np.divide(total, divisor, out=out, casting="same_kind")


@_in_short_blocks
def avg_pool2d_grad(
    g: Array, out: Array, window: Pair, stride: Pair, pads: Pads, count_pads: bool,
    tmp0: Array, tmp1: Array,
) -> None:  # fmt: skip
    """The adjoint of `avg_pool2d`: each mean's gradient in equal shares to its window."""
    rows, share = _beside(g, tmp0), _beside(g, tmp1)
    high, wide = _spans(out, g, window, stride, pads)
    np.divide(g, _divisor(window, pads, high, wide, count_pads, share), out=share)
    _spread(share, rows, 3, wide, stride[1] >= window[1])
    _spread(rows, out, 2, high, stride[0] >= window[0])


def _beside(x: Array, tmp: Array) -> Array:
    """The memory of `tmp`, its last axes laid out in the order of those of `x`."""
    order, places = _order(tmp.ndim - x.ndim, x.strides)
    return tmp.reshape([tmp.shape[axis] for axis in order]).transpose(places)


@lru_cache
def _order(lead: int, strides: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """The axes by falling stride, after some that lead; and the place of each among them."""
    axes = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    order = [*range(lead), *(lead + axis for axis in axes)]
    return order, sorted(range(len(order)), key=order.__getitem__)


def _spans(x: Array, y: Array, window: Pair, stride: Pair, pads: Pads) -> tuple[Spans, Spans]:
    """For each place in a window, by rows and by columns: the windows that have it, and where."""
    rows, columns = (
        _span(x.shape[a], y.shape[a], k, s, pad[0])
        for a, k, s, pad in zip((2, 3), window, stride, pads, strict=True)
    )
    return rows, columns


@lru_cache
def _span(n: int, count: int, window: int, stride: int, before: int) -> Spans:
    spans = []
    for place in range(-before, window - before):
        first = max(0, -(place // stride))
        last = min(count, (n - 1 - place) // stride + 1)
        if first < last:
            at = slice(first * stride + place, (last - 1) * stride + place + 1, stride)
            spans.append((slice(first, last), at))
    return tuple(spans)


def _taps(high: Spans, wide: Spans) -> Taps:
    """Spans of rows and columns combined: indices into arrays of windows and into images."""
    return [((..., i, j), (..., k, m)) for (i, k), (j, m) in product(high, wide)]


def _fold(ufunc: np.ufunc, x: Array, out: Array, axis: int, spans: Spans, start: float) -> None:
    """Fold the places of windows along one axis; without padding, the first two at once."""
    how: dict[str, Any] = {} if x.dtype == out.dtype else {"dtype": out.dtype}
    lead = (slice(None),) * axis
    if len(spans) > 1 and all(to.stop - to.start == out.shape[axis] for to, _ in spans):
        (_, first), (_, second) = spans[:2]
        ufunc(x[*lead, first], x[*lead, second], out=out, **how)
        spans = spans[2:]
    else:
        np.copyto(out, start)
    for to, at in spans:
        part = out[*lead, to]
        ufunc(part, x[*lead, at], out=part, **how)


def _spread(x: Array, out: Array, axis: int, spans: Spans, apart: bool) -> None:
    """The adjoint of `_fold` for sums; where windows stand apart there is nothing to add to."""
    lead = (slice(None),) * axis
    np.copyto(out, 0)
    for to, at in spans:
        part, more = out[*lead, at], x[*lead, to]
        if apart:
            np.copyto(part, more, casting="same_kind")
        else:
            np.add(part, more, out=part, casting="same_kind")


def _find(x: Array, y: Array, taps: Taps, hits: Array, counts: Array) -> None:
    """For each place, in which windows the greatest is there; and at how many, at none if nan."""
    if len(taps) < len(hits) or any(hits[0][to].shape != counts.shape for to, _ in taps):
        np.copyto(hits, False)
    for (to, at), hit in zip(taps, hits, strict=False):
        np.equal(x[at], y[to], out=hit[to])
    np.add.reduce(hits.view(np.uint8), axis=0, dtype=counts.dtype, out=counts)


def _bits(x: Array) -> Array:
    """As integers: their products with booleans are `where(hit, x, 0)`, and leave no nan of inf."""
    return x.view(f"i{x.itemsize}")


def _divisor(
    window: Pair, pads: Pads, high: Spans, wide: Spans, count_pads: bool, sums: Array
) -> Any:  # fmt: skip
    """By how much each sum is divided: the size of a window, or what of it is in the image."""
    if count_pads or not any(map(any, pads)):
        return window[0] * window[1]
    counts = [np.zeros(n, sums.dtype) for n in sums.shape[2:]]
    for count, spans in zip(counts, (high, wide), strict=True):
        for to, _ in spans:
            count[to] += 1
    return np.multiply.outer(*counts)


def _least(dtype: np.dtype[Any]) -> float:
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min)
    return False if dtype.kind == "b" else -np.inf
