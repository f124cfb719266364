"""Reductions: folds over axes, and what is composed of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from deepgraph.dims import Dim, at_least, maximum, pretty, product, same
from deepgraph.dtypes import DType, Scalar, as_dtype, is_float, least
from deepgraph.errors import ShapeError
from deepgraph.expr import Example, Expr, Kind, Need, Type, composition, op
from deepgraph.literal import weak
from deepgraph.ops.arithmetic import sqrt
from deepgraph.ops.comparison import isfinite
from deepgraph.ops.exponential import exp, log
from deepgraph.ops.join import flip
from deepgraph.ops.rules import folded, many_axes, one_axis, sum_dtype
from deepgraph.ops.scan import products_before
from deepgraph.ops.selection import stop_gradient, where
from deepgraph.ops.shape import expand_dims, moveaxis, reshape, squeeze

Axis = int | Sequence[int] | None

_CASES = (
    Example(((3, 4),), {}),
    Example(((2, 3, 4),), {"axis": (0, 2)}),
    Example(((2, 3, 4),), {"axis": -2, "keepdims": True}),
    Example(((),), {}),
    Example(((3,),), {"axis": ()}),
)
_EMPTY = Example(((0, 3),), {"axis": 0})


def _type(x: Expr, axis: Axis, keepdims: bool, result: DType, **attrs: Any) -> Type:
    axes = many_axes(axis, x.ndim)
    normal = {"axis": axes, "keepdims": bool(keepdims), **attrs}
    return Type(folded(x.shape, axes, keepdims), result, normal)


def _kept(y: Expr, axis: tuple[int, ...], keepdims: bool) -> Expr:
    """The result of a reduction with the folded axes put back, of size 1."""
    return y if keepdims else expand_dims(y, axis)


@op(
    Kind.REDUCE, ufunc="add", examples=(*_CASES, _EMPTY),
    grad=lambda g, y, x, axis, keepdims, dtype: (_kept(g, axis, keepdims),),
)  # fmt: skip
def sum(x: Expr, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Type:
    """The sum over axes, or over all of them.

    Booleans and small integers add up in 64 bits unless `dtype` says otherwise; float16
    accumulates in float32. An empty sum is 0.
    """
    kind = sum_dtype(x.dtype) if dtype is None else as_dtype(dtype)
    return _type(x, axis, keepdims, kind, dtype=kind)


def _prod_grad(
    g: Expr, y: Expr, x: Expr, axis: tuple[int, ...], keepdims: bool, dtype: DType
) -> tuple[Expr]:  # fmt: skip
    """g times the products of all before and of all after: right at 0, in every order."""
    kept = x.ndim - len(axis)
    last = tuple(range(kept, x.ndim))
    moved = moveaxis(x if x.dtype == dtype else x.astype(dtype), axis, last)
    lines = reshape(moved, (*moved.shape[:kept], product(moved.shape[kept:])))
    others = products_before(lines, kept) * flip(products_before(flip(lines, kept), kept), kept)
    return (_kept(g, axis, keepdims) * moveaxis(reshape(others, moved.shape), last, axis),)


@op(Kind.REDUCE, ufunc="multiply", grad=_prod_grad, examples=(*_CASES, _EMPTY))
def prod(x: Expr, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Type:
    """The product over axes, or over all of them; widened as `sum` is. An empty product is 1.

    Derivatives of every order are right where elements are 0.
    """
    kind = sum_dtype(x.dtype) if dtype is None else as_dtype(dtype)
    return _type(x, axis, keepdims, kind, dtype=kind)


def _extreme_grad(
    g: Expr, y: Expr, x: Expr, axis: tuple[int, ...], keepdims: bool, initial: Scalar | None
) -> tuple[Expr]:  # fmt: skip
    """Elements that tie for the extreme share its gradient equally."""
    hit = x == _kept(y, axis, keepdims)
    share = _kept(g, axis, keepdims) / sum(hit.astype(g.dtype), axis, True)
    return (where(hit, share, 0),)


def _no_elements(x: Expr, axis: int) -> str:
    return f"no elements along axis {axis}: {pretty(x.shape)}"


def _refuse_empty(x: Expr, axes: Sequence[int]) -> None:
    for axis in axes:
        if same(x.shape[axis], 0):
            raise ShapeError(_no_elements(x, axis))


def _needs_elements(node: Expr) -> list[Need]:
    """A named size that is folded is 1 or more, unless there is an initial value."""
    (x,) = node.inputs
    if node.attributes.get("initial") is not None:
        return []
    axes = many_axes(node.attr("axis"), x.ndim)
    return [Need(x.shape[a] - 1, _no_elements(x, a), ShapeError) for a in axes]


def _extreme(x: Expr, axis: Axis, keepdims: bool, initial: Scalar | None) -> Type:
    if initial is None:
        _refuse_empty(x, many_axes(axis, x.ndim))
    else:
        initial = weak(initial, [x.dtype]).astype(x.dtype).item()
    return _type(x, axis, keepdims, x.dtype, initial=initial)


_EXTREME_CASES = (*_CASES, Example(((0, 3),), {"axis": 0, "initial": 0.5}))


@op(
    Kind.REDUCE, ufunc="maximum", grad=_extreme_grad, examples=_EXTREME_CASES, aliases=("amax",),
    needs=_needs_elements,
)  # fmt: skip
def max(
    x: Expr, axis: Axis = None, keepdims: bool = False, initial: Scalar | None = None
) -> Type:  # fmt: skip
    """The greatest element over axes, or over all of them; NaN if there is one.

    No result is below `initial`. Without it, an axis of size 0 is a ShapeError, at the call if the
    size is named. Elements that tie share the gradient equally.
    """
    return _extreme(x, axis, keepdims, initial)


@op(
    Kind.REDUCE, ufunc="minimum", grad=_extreme_grad, examples=_EXTREME_CASES, aliases=("amin",),
    needs=_needs_elements,
)  # fmt: skip
def min(
    x: Expr, axis: Axis = None, keepdims: bool = False, initial: Scalar | None = None
) -> Type:  # fmt: skip
    """The least element over axes, or over all of them; NaN if there is one.

    No result is above `initial`. Without it, an axis of size 0 is a ShapeError, at the call if the
    size is named. Elements that tie share the gradient equally.
    """
    return _extreme(x, axis, keepdims, initial)


@op(Kind.REDUCE, ufunc="logical_or", examples=(*_CASES, _EMPTY))
def any(x: Expr, axis: Axis = None, keepdims: bool = False) -> Type:
    """Whether an element over axes is true, that is not 0; NaN is true. False for none."""
    return _type(x, axis, keepdims, np.dtype(bool))


@op(Kind.REDUCE, ufunc="logical_and", examples=(*_CASES, _EMPTY))
def all(x: Expr, axis: Axis = None, keepdims: bool = False) -> Type:
    """Whether all elements over axes are true, that is not 0; NaN is true. True for none."""
    return _type(x, axis, keepdims, np.dtype(bool))


@composition
def count_nonzero(x: Expr, axis: Axis = None, keepdims: bool = False) -> Expr:
    """How many elements over axes are not 0, as int64."""
    return sum(x != 0, axis, keepdims)


def _wide(x: Expr) -> Expr:
    """x as its mean is computed: in float32 for half precision, in float64 for integers."""
    if not is_float(x.dtype):
        return x.astype("float64")
    return x.astype("float32") if x.dtype.itemsize == 2 else x


def _narrow(y: Expr, x: Expr) -> Expr:
    """The result for x again: in its dtype if that is a float."""
    return y.astype(x.dtype) if is_float(x.dtype) and y.dtype != x.dtype else y


def _mean(x: Expr, axis: tuple[int, ...], keepdims: bool, correction: float = 0) -> Expr:
    count = product(x.shape[a] for a in axis)
    if int(correction) == correction:
        return sum(x, axis, keepdims) / maximum(count - int(correction), 0)
    if isinstance(count, Dim):
        raise ShapeError(f"a correction of a named size is a whole number: got {correction}")
    return sum(x, axis, keepdims) / (count - correction if count > correction else 0)


@composition
def mean(x: Expr, axis: Axis = None, keepdims: bool = False) -> Expr:
    """The mean over axes, or over all of them: float64 for integers, NaN of nothing."""
    return _narrow(_mean(_wide(x), many_axes(axis, x.ndim), keepdims), x)


def _variance(x: Expr, axis: Axis, keepdims: bool, correction: float) -> Expr:
    axes = many_axes(axis, x.ndim)
    off = x - _mean(x, axes, True)
    return _mean(off * off, axes, keepdims, correction)


@composition
def var(
    x: Expr, axis: Axis = None, keepdims: bool = False, correction: float = 0,
    ddof: float | None = None,
) -> Expr:  # fmt: skip
    """The variance over axes: squares of what is off the mean, over the count less `correction`.

    `ddof` is NumPy's name for `correction`. float64 for integers.
    """
    less = correction if ddof is None else ddof
    return _narrow(_variance(_wide(x), axis, keepdims, less), x)


def _root(x: Expr) -> Expr:
    """The root of a sum of squares; at 0, where their slope is 0, of slope 1, not infinite."""
    return where(x > 0, sqrt(x), x)


@composition
def std(
    x: Expr, axis: Axis = None, keepdims: bool = False, correction: float = 0,
    ddof: float | None = None,
) -> Expr:  # fmt: skip
    """The standard deviation over axes: the root of `var`, with gradient 0 where it is 0."""
    less = correction if ddof is None else ddof
    return _narrow(_root(_variance(_wide(x), axis, keepdims, less)), x)


@composition
def norm(x: Expr, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Expr:
    """The vector norm over axes, or over all of them: the root of the sum of squares.

    Another `ord` p gives sum(|x|**p)**(1/p), inf and -inf the greatest and the least |x|, 0 the
    number of elements that are not 0. Its gradient where it is 0 is 0. float64 for integers.
    """
    if ord == 0:
        return _narrow(count_nonzero(x, axis, keepdims).astype(_wide(x).dtype), x)
    y = _wide(x)
    if ord == math.inf:
        return _narrow(max(abs(y), axis, keepdims), x)
    if ord == -math.inf:
        return _narrow(min(abs(y), axis, keepdims), x)
    if ord == 1:
        return _narrow(sum(abs(y), axis, keepdims), x)
    if ord == 2:
        return _narrow(_root(sum(y * y, axis, keepdims)), x)
    total = sum(abs(y) ** ord, axis, keepdims)
    root = total ** (1 / ord)
    return _narrow(where(total > 0, root, total) if ord > 1 else root, x)


_ARG = (
    Example(((3, 4),), {"axis": 1}),
    Example(((2, 3, 4),), {"axis": 0, "keepdims": True}),
    Example(((3, 4),), {}),
)


def _arg(x: Expr, axis: int | None, keepdims: bool) -> Type:
    k = None if axis is None else one_axis(axis, x.ndim)
    axes = many_axes(k, x.ndim)
    _refuse_empty(x, axes)
    attrs = {"axis": k, "keepdims": bool(keepdims)}
    return Type(folded(x.shape, axes, keepdims), np.dtype(np.int64), attrs)


@op(
    Kind.CALL, numpy="{xp}.argmax({0}, axis={axis}, out={out}, keepdims={keepdims})",
    alias=False, flops=lambda node: node.inputs[0].size, examples=_ARG, needs=_needs_elements,
)  # fmt: skip
def argmax(x: Expr, axis: int | None = None, keepdims: bool = False) -> Type:
    """Where along an axis the greatest element stands, the first of several; the first NaN if any.

    int64; over the flattened x if `axis` is None. Raises ShapeError over an axis of size 0.
    """
    return _arg(x, axis, keepdims)


@op(
    Kind.CALL, numpy="{xp}.argmin({0}, axis={axis}, out={out}, keepdims={keepdims})",
    alias=False, flops=lambda node: node.inputs[0].size, examples=_ARG, needs=_needs_elements,
)  # fmt: skip
def argmin(x: Expr, axis: int | None = None, keepdims: bool = False) -> Type:
    """Where along an axis the least element stands, the first of several; the first NaN if any.

    int64; over the flattened x if `axis` is None. Raises ShapeError over an axis of size 0.
    """
    return _arg(x, axis, keepdims)


def _shift(x: Expr, axis: Axis) -> Expr:
    """The greatest element, which a softmax may subtract: without gradient, for there is none.

    Of no elements the least number there is, since any shift does.
    """
    axes = many_axes(axis, x.ndim)
    filled = at_least(product(x.shape[a] for a in axes), 1) is True
    return stop_gradient(max(x, axes, True, None if filled else least(x.dtype)))


@composition
def logsumexp(x: Expr, axis: Axis = None, keepdims: bool = False) -> Expr:
    """log(sum(exp(x))) over axes, without overflow; gradient 0 where all elements are -inf."""
    top = _shift(x, axis)
    top = where(isfinite(top), top, 0)
    total = sum(exp(x - top), axis, True)
    y = where(total != 0, log(total), -math.inf) + top
    return y if keepdims else squeeze(y, many_axes(axis, x.ndim))


@composition
def softmax(x: Expr, axis: Axis = -1) -> Expr:
    """exp(x) / sum(exp(x)) over an axis, without overflow."""
    powers = exp(x - _shift(x, axis))
    return powers / sum(powers, axis, True)


@composition
def log_softmax(x: Expr, axis: Axis = -1) -> Expr:
    """log(softmax(x)) over an axis, without overflow."""
    off = x - _shift(x, axis)
    return off - log(sum(exp(off), axis, True))
