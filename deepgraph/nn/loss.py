"""Losses: how far predictions are from targets.

`reduction` is "mean" or "sum" of all that "none" gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from deepgraph import ops
from deepgraph.dims import pretty, same_shape
from deepgraph.dtypes import is_float
from deepgraph.errors import DTypeError, GraphError, ShapeError, scope
from deepgraph.expr import Expr, explaining, lift
from deepgraph.ops.rules import one_axis

_REDUCTIONS: dict[str, Callable[[Expr], Expr]] = {
    "mean": ops.mean, "sum": ops.sum, "none": lambda x: x
}  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])


def _named(function: Function) -> Function:
    """What it raises names it, and what it declares is a layer of its name in pictures."""

    @wraps(function)
    def declared(*args: Any, **kwargs: Any) -> Any:
        with scope(function.__name__):
            return function(*args, **kwargs)

    return explaining(cast(Function, declared))


@_named
def softmax_cross_entropy(
    logits: Expr, targets: Any, reduction: str = "mean", axis: int = -1,
    label_smoothing: float = 0.0,
) -> Expr:  # fmt: skip
    """-log(softmax(logits)) of the target class, along `axis`; one number for each other element.

    `targets` are whole numbers, of the shape of logits without `axis`; or a weight for each class,
    such as one-hot ones, of the shape of logits: then the loss is the weighted sum. With
    `label_smoothing` s, each target becomes (1 - s) * target + s / classes (C. Szegedy et al.,
    CVPR 2016). A whole number outside [0, classes) is an IndexError when a step runs.
    """
    x, t = _operands(logits, targets)
    k = one_axis(axis, x.ndim)
    off = x - ops.stop_gradient(ops.max(x, k, keepdims=True))  # any shift gives the same softmax
    log_total = ops.log(ops.sum(ops.exp(off), k, keepdims=True))
    if same_shape(t.shape, x.shape):
        weight = t.astype(x.dtype) if t.dtype != x.dtype else t
        # A class without weight adds nothing, also where its logit is -inf.
        each = ops.where(weight == 0, 0, weight * (log_total - off))
        loss = ops.sum(each, k, keepdims=True)
    else:
        _check_classes(t, x, k)
        t = ops.check_index(t, x.shape[k], "target")
        is_target = ops.expand_dims(t, k) == _count(x, k)
        loss = log_total - ops.sum(ops.where(is_target, off, 0), k, keepdims=True)
    if label_smoothing:
        even = ops.mean(log_total - off, k, keepdims=True)
        loss = (1 - label_smoothing) * loss + label_smoothing * even
    return _reduced(ops.squeeze(loss, k), reduction)


@_named
def sigmoid_cross_entropy(logits: Expr, targets: Any, reduction: str = "mean") -> Expr:
    """-t*log(sigmoid(x)) - (1 - t)*log(1 - sigmoid(x)) for targets t in [0, 1], without overflow.

    `targets` have the shape of logits; one number for each element.
    """
    x, t = _alike(logits, targets)
    return _reduced(ops.softplus(x) - x * t, reduction)


@_named
def mean_squared_error(predictions: Expr, targets: Any, reduction: str = "mean") -> Expr:
    """(x - t)**2, for targets of the shape of predictions; one number for each element."""
    x, t = _alike(predictions, targets)
    return _reduced(ops.square(x - t), reduction)


@_named
def mean_absolute_error(predictions: Expr, targets: Any, reduction: str = "mean") -> Expr:
    """|x - t|, for targets of the shape of predictions; one number for each element."""
    x, t = _alike(predictions, targets)
    return _reduced(ops.abs(x - t), reduction)


l1_loss = mean_absolute_error


@_named
def huber(
    predictions: Expr, targets: Any, reduction: str = "mean", delta: float = 1.0
) -> Expr:  # fmt: skip
    """(x - t)**2 / 2 up to |x - t| = delta, and linear beyond, with the same slope there.

    P. Huber: Robust estimation of a location parameter, 1964.
    """
    if delta <= 0:
        raise GraphError(f"delta is above 0: got {delta}")
    x, t = _alike(predictions, targets)
    off = x - t
    far = ops.abs(off)
    near = ops.where(far <= delta, 0.5 * off * off, delta * far - 0.5 * delta**2)
    return _reduced(near, reduction)


@_named
def accuracy(logits: Expr, targets: Any, axis: int = -1) -> Expr:
    """How often, as a float32 from 0 to 1, the class of the greatest logit is the target.

    `targets` as for `softmax_cross_entropy`, with the same IndexError. It has no gradient.
    """
    x, t = _operands(logits, targets)
    k = one_axis(axis, x.ndim)
    if same_shape(t.shape, x.shape):
        t = ops.argmax(t, k)
    else:
        _check_classes(t, x, k)
        t = ops.check_index(t, x.shape[k], "target")
    return ops.mean((ops.argmax(x, k) == t).astype("float32"))


def _operands(predictions: Any, targets: Any) -> tuple[Expr, Expr]:
    x, t = lift([predictions, targets])
    if not is_float(x.dtype):
        raise DTypeError(f"predictions are floats: got {x}; use .astype")
    return x, t


def _alike(predictions: Any, targets: Any) -> tuple[Expr, Expr]:
    """Operands of one shape, since (n,) and (n, 1) would broadcast to (n, n), and one dtype."""
    x, t = _operands(predictions, targets)
    if not same_shape(x.shape, t.shape):
        raise ShapeError(f"shapes differ: {pretty(x.shape)} and {pretty(t.shape)}")
    return x, t.astype(x.dtype) if t.dtype.kind in "biu" else t


def _check_classes(t: Expr, x: Expr, axis: int) -> None:
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    if t.dtype.kind not in "iu" or not same_shape(t.shape, shape):
        raise ShapeError(
            f"targets are whole numbers of shape {pretty(shape)}, or weights of shape "
            f"{pretty(x.shape)}: got {t}"
        )


def _count(x: Expr, axis: int) -> Expr:
    """0, 1, ... along one axis of x, in a shape that broadcasts against x."""
    after = tuple(range(1, x.ndim - axis))
    classes = ops.iota(x.shape[axis])
    return ops.expand_dims(classes, after) if after else classes


def _reduced(x: Expr, reduction: str) -> Expr:
    if reduction not in _REDUCTIONS:
        raise GraphError(f"reduction is one of {', '.join(_REDUCTIONS)}: got {reduction!r}")
    return _REDUCTIONS[reduction](x)
