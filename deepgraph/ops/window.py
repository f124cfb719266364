"""Where windows lie in an image: what the typing rules of convolution and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from deepgraph.dims import Shape, Size, at_least, maximum, pretty
from deepgraph.errors import ShapeError
from deepgraph.ops.source import as_shape

Pair = tuple[int, int]
Pads = tuple[tuple[Size, Size], tuple[Size, Size]]


def pair(value: Any, what: str) -> Pair:
    """One whole number >= 1 for rows and one for columns."""
    given = tuple(value) if isinstance(value, Sequence) else (value, value)
    try:
        rows, columns = map(index, given)
    except (TypeError, ValueError):
        rows = columns = 0
    if rows < 1 or columns < 1:
        raise ShapeError(f"{what} is a whole number >= 1, or one for each of two axes: {value!r}")
    return rows, columns


def span(window: Pair, dilation: Pair = (1, 1)) -> Pair:
    """How many rows and columns a window reaches over."""
    (rows, columns), (down, right) = window, dilation
    return (rows - 1) * down + 1, (columns - 1) * right + 1


def pads(padding: Any, size: Shape, reach: Pair, stride: Pair) -> Pads:
    """((above, below), (left, right)) of any form of padding that a user may give.

    "valid" is none; "full" leaves windows that share one place with the image; "same" makes
    ceil(size / stride) windows, with the odd place below and right, as TensorFlow and JAX do.
    """
    if padding == "same":
        high, wide = map(_same, size, reach, stride)
        return high, wide
    if padding == "full":
        padding = reach[0] - 1, reach[1] - 1
    given = 0 if padding == "valid" else padding
    if isinstance(given, str):
        raise ShapeError(f'padding is "valid", "same", "full" or numbers: got {padding!r}')
    sides = tuple(given) if isinstance(given, Sequence) else (given, given)
    pairs = [as_shape(side if isinstance(side, Sequence) else (side, side)) for side in sides]
    if [len(p) for p in pairs] != [2, 2]:
        raise ShapeError(f"padding is ((above, below), (left, right)): got {padding!r}")
    (above, below), (left, right) = pairs
    return (above, below), (left, right)


def _same(n: Size, reach: int, stride: int) -> tuple[Size, Size]:
    windows = (n + stride - 1) // stride
    missing = maximum(0, (windows - 1) * stride + reach - n)
    return missing // 2, missing - missing // 2


def places(size: Shape, reach: Pair, stride: Pair, padding: Pads) -> tuple[Size, Size]:
    """How many windows there are by rows and by columns; ShapeError where not even one fits."""
    padded = [n + before + after for n, (before, after) in zip(size, padding, strict=True)]
    if any(at_least(n, k) is False for n, k in zip(padded, reach, strict=True)):
        wide = "" if padded == list(size) else f", padded to {pretty(tuple(padded))}"
        raise ShapeError(f"a window of {reach} does not fit in the image: {pretty(size)}{wide}")
    rows, columns = ((n - k) // s + 1 for n, k, s in zip(padded, reach, stride, strict=True))
    return rows, columns
