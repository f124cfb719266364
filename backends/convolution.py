"""Convolution by its definition: slow and plain, to check by it what backends make of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

Array = npt.NDArray[Any]
Pair = tuple[int, int]
Pads = tuple[Pair, Pair]


def conv2d(
    x: Array, w: Array, out: Array, stride: Pair, padding: Pads, dilation: Pair, groups: int
) -> None:
    """Sums over channels and places in a window, of image times weight."""
    seen = _windows(x, (w.shape[2], w.shape[3]), stride, padding, dilation)
    for image, weights, result in zip(
        np.split(seen, groups, 1), np.split(w, groups), np.split(out, groups, 1), strict=True
    ):
        result[...] = np.einsum("ncijuv,ocuv->noij", _wide(image), _wide(weights))


def conv2d_weight_grad(
    x: Array, g: Array, out: Array, stride: Pair, padding: Pads, dilation: Pair, groups: int
) -> None:
    """Sums over images and windows, of image times gradient."""
    seen = _windows(x, (out.shape[2], out.shape[3]), stride, padding, dilation)
    for image, grad, result in zip(
        np.split(seen, groups, 1), np.split(g, groups, 1), np.split(out, groups), strict=True
    ):
        result[...] = np.einsum("ncijuv,noij->ocuv", _wide(image), _wide(grad))


def conv2d_input_grad(
    g: Array, w: Array, out: Array, stride: Pair, padding: Pads, dilation: Pair, groups: int
) -> None:
    """Each gradient times each weight, added where the weight had met the image."""
    (above, below), (left, right) = padding
    n, channels, height, width = out.shape
    padded = np.zeros((n, channels, height + above + below, width + left + right), _wide(out).dtype)
    for u, v in np.ndindex(w.shape[2:]):
        rows = slice(u * dilation[0], None, stride[0])
        columns = slice(v * dilation[1], None, stride[1])
        met = padded[:, :, rows, columns][:, :, : g.shape[2], : g.shape[3]]
        for grad, weights, result in zip(
            np.split(g, groups, 1), np.split(w, groups), np.split(met, groups, 1), strict=True
        ):
            result += np.einsum("noij,oc->ncij", _wide(grad), _wide(weights[:, :, u, v]))
    out[...] = padded[:, :, above : above + height, left : left + width]


def _windows(x: Array, kernel: Pair, stride: Pair, padding: Pads, dilation: Pair) -> Array:
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    seen = sliding_window_view(np.pad(x, ((0, 0), (0, 0), *padding)), reach, (2, 3))
    (down, right), (rows, columns) = stride, dilation
    return seen[:, :, ::down, ::right, ::rows, ::columns]


def _wide(x: Array) -> Array:
    """Half precision as float32, in which it is summed."""
    return x.astype(np.float32) if x.itemsize == 2 and x.dtype.kind not in "iu" else x
