"""Convolution of images and its gradients: linear in each input, so closed under differentiation.

Each is one node until a backend lowers it to one matrix product over columns: the windows of all
images side by side, batch innermost. A convolution and its gradient by the weights read the same
columns, one expression, made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deepgraph.dims import Shape, Size, pretty, product, same, same_shape
from deepgraph.dtypes import DType, ufunc_dtypes
from deepgraph.errors import ShapeError
from deepgraph.expr import Example, Expr, Kind, Type, composition, op
from deepgraph.ops.join import pad
from deepgraph.ops.linalg import matmul
from deepgraph.ops.reduce import sum
from deepgraph.ops.selection import copy
from deepgraph.ops.shape import expand_dims, matrix_transpose, permute_dims, reshape, squeeze
from deepgraph.ops.slicing import Span, _slice
from deepgraph.ops.sliding import unwindows, windows
from deepgraph.ops.source import as_shape
from deepgraph.ops.window import Pads, Pair, pads, pair, places, span


def _typed(
    x: Shape, w: Shape, stride: Any, padding: Any, dilation: Any, groups: Any
) -> tuple[Shape, dict[str, Any]]:  # fmt: skip
    """The shape of a convolution of two shapes, and its attributes in their normal form."""
    shapes = f"{pretty(x)} and {pretty(w)}"
    if len(x) != 4 or len(w) != 4:
        raise ShapeError(
            f"needs (batch, channel, height, width) and (out, in, rows, columns): got {shapes}"
        )
    if not all(isinstance(n, int) for n in w):
        raise ShapeError(f"the sizes of weights are whole numbers: got {pretty(w)}")
    if not isinstance(groups, int) or groups < 1 or not same(w[0] % groups, 0):
        raise ShapeError(f"groups divide the channels that come out: got {groups} for {w[0]}")
    if not same(x[1], w[1] * groups):
        each = f" for each of {groups} groups" * (groups > 1)
        raise ShapeError(f"channels differ: {shapes}, whose weights take {w[1]}{each}")
    steps, holes = pair(stride, "stride"), pair(dilation, "dilation")
    reach = span(pair(w[2:], "kernel"), holes)
    around = pads(padding, x[2:], reach, steps)
    attrs = {"stride": steps, "padding": around, "dilation": holes, "groups": groups}
    return (x[0], w[0], *places(x[2:], reach, steps, around)), attrs


def _dtype(a: Expr, b: Expr) -> DType:
    return ufunc_dtypes("matmul", a.dtype, b.dtype)[-1]


_SMALL = 10**6  # multiplications of a product for which BLAS libraries have kernels of their own
_IMAGES = 64  # what a batch is taken for


def _columns(
    x: Expr, kernel: Pair, stride: Pair, padding: Pads, dilation: Pair, channels: Size, groups: int
) -> Expr:  # fmt: skip
    """(channel * row * column of a window, row * column of the output * image), led by groups.

    Or row by row of the output, where the products with `channels` rows are small: see `_matrix`.
    """
    inner = permute_dims(x, (1, 2, 3, 0))
    if not all(same(n, 0) for side in padding for n in side):
        inner = pad(inner, ((0, 0), *padding, (0, 0)))
    elif x.op.kind is Kind.SOURCE and any(k > s for k, s in zip(kernel, stride, strict=True)):
        inner = copy(inner)  # what is fed has the batch outermost: turned once, then read often
    seen = permute_dims(windows(inner, (1, 2), kernel, stride, dilation), (0, 4, 5, 1, 2, 3))
    return _matrix(seen, 3, groups, _small(channels, seen.shape, groups))


def _small(channels: Size, seen: Shape, groups: int) -> bool:
    """Is the product for one row of the output small? Then row by row is twice as fast."""
    taps, width = product(seen[:3]), seen[4]
    one = channels * taps * width * _IMAGES
    return groups == 1 and isinstance(one, int) and one <= _SMALL


def _matrix(x: Expr, first: int, groups: int, by_rows: bool = False) -> Expr:
    """The first axes as rows, the others as columns; the rows of each group on their own.

    With `by_rows` a matrix for each step along the first axis of the columns.
    """
    rows, columns = product(x.shape[:first]), product(x.shape[first:])
    if by_rows:
        steps = x.shape[first]
        cut = reshape(x, (rows, steps, product(x.shape[first + 1 :])))
        return permute_dims(cut, (1, 0, 2))
    return reshape(x, (rows, columns) if groups == 1 else (groups, rows // groups, columns))


def _conv2d(x: Expr, w: Expr, groups: int, **how: Any) -> Expr:
    (n, channels, *size), _ = _typed(x.shape, w.shape, groups=groups, **how)
    kernel: Any = w.shape[2:]
    columns = _columns(x, kernel, channels=channels, groups=groups, **how)
    y = matmul(_matrix(w, 1, groups), columns)
    if groups == 1 and y.ndim == 3:
        y = permute_dims(y, (1, 0, 2))
    return permute_dims(reshape(y, (channels, *size, n)), (3, 0, 1, 2))


def _conv2d_weight_grad(x: Expr, g: Expr, kernel: Pair, groups: int, **how: Any) -> Expr:
    columns = _columns(x, kernel, channels=g.shape[1], groups=groups, **how)
    by_rows = groups == 1 and columns.ndim == 3
    rows = _matrix(permute_dims(g, (1, 2, 3, 0)), 1, groups, by_rows)
    grad = matmul(rows, matrix_transpose(columns))
    if by_rows:
        grad = sum(grad, axis=0)
    return reshape(grad, (g.shape[1], x.shape[1] // groups, *kernel))


def _conv2d_input_grad(
    g: Expr, w: Expr, size: Shape, stride: Pair, padding: Pads, dilation: Pair, groups: int
) -> Expr:  # fmt: skip
    n, _, *counts = g.shape
    channels, kernel = w.shape[1] * groups, w.shape[2:]
    rows = _matrix(permute_dims(g, (1, 2, 3, 0)), 1, groups)
    columns = matmul(matrix_transpose(_matrix(w, 1, groups)), rows)
    if kernel == stride == (1, 1):
        inner = reshape(columns, (channels, *counts, n))
    else:
        seen = permute_dims(reshape(columns, (channels, *kernel, *counts, n)), (0, 3, 4, 5, 1, 2))
        padded = (a + m + b for m, (a, b) in zip(size, padding, strict=True))
        inner = unwindows(seen, (channels, *padded, n), (1, 2), kernel, stride, dilation)
    (above, _), (left, _) = padding
    crop = [Span(a, a + m, inside=True) for a, m in zip((above, left), size, strict=True)]
    return permute_dims(_slice(inner, [Span(), *crop, Span()]), (3, 0, 1, 2))


def _conv2d_grad(g: Expr, y: Expr, x: Expr, w: Expr, **how: Any) -> tuple[Expr, Expr]:
    by_x = conv2d_input_grad(g, w, x.shape[2:], **how)
    return by_x, conv2d_weight_grad(x, g, w.shape[2:], **how)


def _conv2d_input_grad_grad(
    h: Expr, y: Expr, g: Expr, w: Expr, size: Shape, **how: Any
) -> tuple[Expr, Expr]:
    return conv2d(h, w, **how), conv2d_weight_grad(h, g, w.shape[2:], **how)


def _conv2d_weight_grad_grad(
    h: Expr, y: Expr, x: Expr, g: Expr, kernel: Pair, **how: Any
) -> tuple[Expr, Expr]:
    return conv2d_input_grad(g, h, x.shape[2:], **how), conv2d(x, h, **how)


_TEXT = "{stride}, {padding}, {dilation}, {groups})"
_EXAMPLES: Sequence[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any]]] = (
    ((2, 3, 6, 5), (4, 3, 3, 2), (2, 4, 4, 4), {}),
    ((2, 4, 7, 8), (6, 2, 3, 3), (2, 6, 4, 4),
     {"stride": (2, 2), "padding": ((1, 1), (0, 2)), "dilation": (1, 1), "groups": 2}),
    ((1, 2, 7, 6), (2, 1, 2, 3), (1, 2, 5, 2), {"dilation": 2, "groups": 2}),
    ((3, 2, 2, 3), (5, 2, 1, 1), (3, 5, 2, 3), {}),
)  # fmt: skip


@op(
    Kind.CALL, alias=False, numpy="lib.conv2d({0}, {1}, {out}, " + _TEXT, expand=_conv2d,
    grad=_conv2d_grad,
    flops=lambda node: 2 * node.size * product(node.inputs[1].shape[1:]),
    examples=tuple(Example((x, w), how) for x, w, _, how in _EXAMPLES),
)  # fmt: skip
def conv2d(
    x: Expr, w: Expr, stride: int | Pair = 1, padding: Any = "valid", dilation: int | Pair = 1,
    groups: int = 1,
) -> Type:  # fmt: skip
    """Convolution of images with weights, without turning the weights over (cross-correlation).

    x is (batch, channel, height, width), w is (out, channel / groups, rows, columns); the result is
    (batch, out, floor((height + pads - dilation*(rows - 1) - 1) / stride) + 1, likewise width).
    `padding` is "valid" (none), "same" (ceil(height / stride) rows, the odd row of zeros below),
    "full", a number, one for each axis, or ((above, below), (left, right)). Raises ShapeError where
    channels or groups do not fit, or no window does.
    """
    shape, attrs = _typed(x.shape, w.shape, stride, padding, dilation, groups)
    return Type(shape, _dtype(x, w), attrs)


@op(
    Kind.CALL, internal=True, alias=False, numpy="lib.conv2d_input_grad({0}, {1}, {out}, " + _TEXT,
    expand=_conv2d_input_grad, grad=_conv2d_input_grad_grad,
    flops=lambda node: 2 * node.inputs[0].size * product(node.inputs[1].shape[1:]),
    examples=tuple(Example((g, w), {"size": x[2:], **how}) for x, w, g, how in _EXAMPLES),
)  # fmt: skip
def conv2d_input_grad(
    g: Expr, w: Expr, size: Shape, stride: int | Pair = 1, padding: Any = "valid",
    dilation: int | Pair = 1, groups: int = 1,
) -> Type:  # fmt: skip
    """The gradient of `conv2d` by its images of height and width `size`, for that of its result."""
    height_width = as_shape(size)
    channels = w.shape[1] * groups if w.ndim == 4 else 0
    x = (*g.shape[:1], channels, *height_width)
    expected, attrs = _typed(x, w.shape, stride, padding, dilation, groups)
    if not same_shape(expected, g.shape):
        raise ShapeError(_misfit(x, w.shape, expected, g))
    return Type(x, _dtype(g, w), {"size": height_width, **attrs})


@op(
    Kind.CALL, internal=True, alias=False, numpy="lib.conv2d_weight_grad({0}, {1}, {out}, " + _TEXT,
    expand=_conv2d_weight_grad, grad=_conv2d_weight_grad_grad,
    flops=lambda node: 2 * node.inputs[1].size * product(node.shape[1:]),
    examples=tuple(Example((x, g), {"kernel": w[2:], **how}) for x, w, g, how in _EXAMPLES),
)  # fmt: skip
def conv2d_weight_grad(
    x: Expr, g: Expr, kernel: int | Pair, stride: int | Pair = 1, padding: Any = "valid",
    dilation: int | Pair = 1, groups: int = 1,
) -> Type:  # fmt: skip
    """The gradient of `conv2d` by its weights of `kernel` places, for that of its result."""
    window = pair(kernel, "kernel")
    w = (*g.shape[1:2], x.shape[1] // groups if x.ndim == 4 else 0, *window)
    expected, attrs = _typed(x.shape, w, stride, padding, dilation, groups)
    if not same_shape(expected, g.shape):
        raise ShapeError(_misfit(x.shape, w, expected, g))
    return Type(w, _dtype(x, g), {"kernel": window, **attrs})


def _misfit(x: Shape, w: Shape, expected: Shape, g: Expr) -> str:
    made = f"{pretty(x)} and {pretty(w)} make {pretty(expected)}"
    return f"not the shape of a convolution's gradient: {made}, got {pretty(g.shape)}"


@composition
def conv1d(
    x: Expr, w: Expr, stride: int = 1, padding: Any = "valid", dilation: int = 1, groups: int = 1
) -> Expr:  # fmt: skip
    """Convolution of (batch, channel, length) with weights (out, channel / groups, places).

    As `conv2d`; `padding` in numbers is one, or (before, after).
    """
    if x.ndim != 3 or w.ndim != 3:
        shapes = f"{pretty(x.shape)} and {pretty(w.shape)}"
        raise ShapeError(f"needs (batch, channel, length) and (out, in, places): got {shapes}")
    sides = padding if isinstance(padding, str) else ((0, 0), padding)
    image, weights = expand_dims(x, 2), expand_dims(w, 2)
    return squeeze(conv2d(image, weights, (1, stride), sides, (1, dilation), groups), 2)


@composition
def conv_transpose2d(
    x: Expr, w: Expr, stride: int | Pair = 1, padding: Any = "valid", dilation: int | Pair = 1,
    groups: int = 1, size: Shape | None = None,
) -> Expr:  # fmt: skip
    """The adjoint of `conv2d` as a layer: from its results to images of height and width `size`.

    x is (batch, channel, height, width) and w (channel, out / groups, rows, columns), as the
    convolution it transposes has it. Without `size` the images are the smallest that give x:
    (height - 1)*stride + dilation*(rows - 1) + 1 - pads; or height * stride for "same".
    """
    if size is None:
        steps, holes = pair(stride, "stride"), pair(dilation, "dilation")
        counts = x.shape[-2:]
        if padding == "same":
            size = tuple(n * s for n, s in zip(counts, steps, strict=True))
        else:
            reach = span(pair(w.shape[-2:], "kernel"), holes)
            around = pads(padding, counts, reach, steps)
            size = tuple(
                (n - 1) * s + k - a - b
                for n, s, k, (a, b) in zip(counts, steps, reach, around, strict=True)
            )
    return conv2d_input_grad(x, w, size, stride, padding, dilation, groups)
