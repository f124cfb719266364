"""Pooling of images: the greatest or the mean of each window, with their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from deepgraph.dims import Shape, at_least, pretty, same_shape
from deepgraph.dtypes import accumulator, is_float
from deepgraph.errors import ShapeError
from deepgraph.expr import Example, Expr, Kind, Type, op
from deepgraph.ops.source import as_shape
from deepgraph.ops.window import Pads, Pair, pads, pair, places

_CASES: tuple[tuple[tuple[int, int, int, int], tuple[int, int, int, int], dict[str, Any]], ...] = (
    ((2, 3, 4, 6), (2, 3, 2, 2), {"window": (2, 3)}),
    ((1, 2, 7, 6), (1, 2, 3, 2), {"window": 3, "stride": (2, 3)}),
    ((2, 1, 5, 4), (2, 1, 3, 4), {"window": (2, 3), "stride": (2, 1), "padding": ((1, 1), (1, 1))}),
    ((2, 1, 5, 7), (2, 1, 2, 2), {"window": 2, "stride": (3, 4)}),
)


def _typed(x: Shape, window: Any, stride: Any, padding: Any) -> tuple[Shape, dict[str, Any]]:
    """The shape of pooled images of shape x, and the attributes in their normal form."""
    if len(x) != 4:
        raise ShapeError(f"needs images (batch, channel, height, width): got {pretty(x)}")
    reach = pair(window, "window")
    steps = reach if stride is None else pair(stride, "stride")
    around: Pads = pads(padding, x[2:], reach, steps)
    for k, side in zip(reach, around, strict=True):
        if any(at_least(k - 1, n) is False for n in side):
            raise ShapeError(f"windows would hold padding alone: window {reach}, padding {around}")
    attrs = {"window": reach, "stride": steps, "padding": around}
    return (*x[:2], *places(x[2:], reach, steps, around)), attrs


def _max_pool2d_grad(g: Expr, y: Expr, x: Expr, **how: Any) -> tuple[Expr]:
    return (max_pool2d_grad(g, x, y, **how),)


def _max_pool2d_grad_grad(
    h: Expr, out: Expr, g: Expr, x: Expr, y: Expr, **how: Any
) -> tuple[Expr, None, None]:
    return max_pool2d_jvp(h, x, y, **how), None, None


def _avg_pool2d_grad(g: Expr, y: Expr, x: Expr, **how: Any) -> tuple[Expr]:
    return (avg_pool2d_grad(g, x.shape[2:], **how),)


@op(
    Kind.CALL, alias=False, follows=0,
    numpy="lib.max_pool2d({0}, {out}, {window}, {stride}, {padding}, {tmp0})",
    grad=_max_pool2d_grad,
    scratch=lambda node: [Type(_by_rows(node.inputs[0].shape, node.shape), node.dtype)],
    flops=lambda node: node.size * _places(node),
    examples=tuple(Example((x,), how) for x, _, how in _CASES),
)  # fmt: skip
def max_pool2d(
    x: Expr, window: int | Pair, stride: int | Pair | None = None, padding: Any = 0
) -> Type:  # fmt: skip
    """The greatest of each window of images (batch, channel, height, width), of any dtype.

    `stride` is that of a window if not given; `padding` is as for `conv2d`, but never the
    greatest. The result is floor((height + pads - rows) / stride) + 1 high, likewise wide. NaN
    in a window is its greatest. In the gradient equal greatest share. Raises ShapeError where no
    window fits, or some would hold padding alone.
    """
    shape, attrs = _typed(x.shape, window, stride, padding)
    return Type(shape, x.dtype, attrs)


def _scratch(node: Expr) -> list[Type]:
    """Where each place of a window is the greatest, at how many it is, and shares of a gradient."""
    (rows, columns), (down, right) = node.attr("window"), node.attr("stride")
    y = node.inputs[2].shape
    parts = 1 if down >= rows and right >= columns else 2
    count = np.uint8 if rows * columns < 256 else np.uint16
    return [
        Type((rows * columns, *y), np.dtype(bool)),
        Type(y, np.dtype(count)),
        Type((parts, *y), node.dtype),
    ]


_TEXT = "{out}, {window}, {stride}, {padding}, {tmp0}, {tmp1}, {tmp2})"
_SIZE = "{window}, {stride}, {padding}, {count_include_pad}, {tmp0}, {tmp1})"


@op(
    Kind.CALL, internal=True, alias=False, follows=1,
    numpy="lib.max_pool2d_grad({0}, {1}, {2}, " + _TEXT,
    grad=_max_pool2d_grad_grad,
    scratch=_scratch, flops=lambda node: 3 * node.inputs[0].size * _places(node),
    examples=tuple(Example((y, x, y), how) for x, y, how in _CASES),
)  # fmt: skip
def max_pool2d_grad(
    g: Expr, x: Expr, y: Expr, window: int | Pair, stride: int | Pair | None = None,
    padding: Any = 0,
) -> Type:  # fmt: skip
    """The gradient of y = max_pool2d(x), given its own g: each to the greatest of its window.

    Places that hold the same greatest share equally; NaN receives nothing. As a function of x and y
    it is constant almost everywhere, so only g has a gradient here.
    """
    shape, attrs = _typed(x.shape, window, stride, padding)
    _same("the pooled image", y, shape)
    _same("its gradient", g, shape)
    return Type(x.shape, g.dtype, attrs)


@op(
    Kind.CALL, internal=True, alias=False, follows=1,
    numpy="lib.max_pool2d_jvp({0}, {1}, {2}, " + _TEXT,
    grad=lambda h, y, t, x, top, **how: (max_pool2d_grad(h, x, top, **how), None, None),
    scratch=_scratch, flops=lambda node: 3 * node.size * _places(node),
    examples=tuple(Example((x, x, y), how) for x, y, how in _CASES),
)  # fmt: skip
def max_pool2d_jvp(
    t: Expr, x: Expr, y: Expr, window: int | Pair, stride: int | Pair | None = None,
    padding: Any = 0,
) -> Type:  # fmt: skip
    """The derivative of y = max_pool2d(x) along t: its mean over the greatest of each window."""
    shape, attrs = _typed(x.shape, window, stride, padding)
    _same("the pooled image", y, shape)
    _same("the direction", t, x.shape)
    return Type(shape, t.dtype, attrs)


def _same(what: str, y: Expr, shape: Shape) -> None:
    if not same_shape(y.shape, shape):
        raise ShapeError(f"{what} has another shape: {pretty(y.shape)}, not {pretty(shape)}")


def _places(node: Expr) -> int:
    rows, columns = node.attr("window")
    return int(rows * columns)


@op(
    Kind.CALL, alias=False, follows=0, numpy="lib.avg_pool2d({0}, {out}, " + _SIZE,
    grad=_avg_pool2d_grad,
    scratch=lambda node: _sums(node.inputs[0].shape, node),
    flops=lambda node: node.size * _places(node),
    examples=tuple(
        Example((x,), {**how, "count_include_pad": padded})
        for x, _, how in _CASES for padded in (False, True)
    ),
)  # fmt: skip
def avg_pool2d(
    x: Expr, window: int | Pair, stride: int | Pair | None = None, padding: Any = 0,
    count_include_pad: bool = False,
) -> Type:  # fmt: skip
    """The mean of each window of images (batch, channel, height, width).

    Windows lie as for `max_pool2d`. Padding is not counted, so that a mean at the border is one of
    what the image has there; with `count_include_pad` it counts as zeros. Integers give float64.
    """
    shape, attrs = _typed(x.shape, window, stride, padding)
    dtype = x.dtype if is_float(x.dtype) else np.dtype(np.float64)
    return Type(shape, dtype, {**attrs, "count_include_pad": bool(count_include_pad)})


@op(
    Kind.CALL, internal=True, alias=False, follows=0,
    numpy="lib.avg_pool2d_grad({0}, {out}, " + _SIZE,
    grad=lambda h, y, g, size, **how: (avg_pool2d(h, **how),),
    scratch=lambda node: _sums(node.shape, node.inputs[0]),
    flops=lambda node: node.inputs[0].size * _places(node),
    examples=tuple(Example((y,), {"size": x[2:], **how}) for x, y, how in _CASES),
)  # fmt: skip
def avg_pool2d_grad(
    g: Expr, size: Shape, window: int | Pair, stride: int | Pair | None = None, padding: Any = 0,
    count_include_pad: bool = False,
) -> Type:  # fmt: skip
    """The gradient of `avg_pool2d` by its images of height and width `size`, given its own g."""
    x = (*g.shape[:2], *as_shape(size))
    shape, attrs = _typed(x, window, stride, padding)
    _same("the gradient", g, shape)
    size = x[2:]
    return Type(x, g.dtype, {"size": size, **attrs, "count_include_pad": bool(count_include_pad)})


def _by_rows(x: Shape, y: Shape) -> Shape:
    """The shape of images x that are to be y once columns are pooled as well."""
    return (*y[:3], x[3])


def _sums(x: Shape, y: Expr) -> list[Type]:
    """Images pooled by rows, and by columns too, in what their dtype accumulates in."""
    wide = accumulator(y.dtype)
    return [Type(_by_rows(x, y.shape), wide), Type(y.shape, wide)]
