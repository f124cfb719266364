"""PyTorch's losses, in its own argument conventions, as deepgraph expressions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import deepgraph as dg
from deepgraph import nn
from deepgraph.expr import Expr


def reduced(x: Expr, reduction: str, count: Any = None) -> Expr:
    """The mean divides by `count`, or by the number of elements."""
    if reduction == "mean":
        return dg.mean(x) if count is None else dg.sum(x) / count
    return {"sum": dg.sum, "none": lambda v: v}[reduction](x)


def weighted(f: Callable[[Expr, Expr], Expr]) -> Callable[..., Expr]:
    """A loss of each element, with a weight for each that broadcasts."""

    def loss(x: Expr, target: Expr, weight: Expr | None = None, *, reduction: str = "mean") -> Expr:
        each = f(x, target)
        return reduced(each if weight is None else each * weight, reduction)

    return loss


def _binary_cross_entropy(x: Expr, target: Expr) -> Expr:
    """With logarithms of -100 and more."""
    log, log_not = dg.maximum(dg.log(x), -100), dg.maximum(dg.log1p(-x), -100)
    return -(target * log + (1 - target) * log_not)


def binary_cross_entropy_with_logits(
    x: Expr, target: Expr, weight: Expr | None = None, *, reduction: str = "mean",
    pos_weight: Expr | None = None,
) -> Expr:  # fmt: skip
    if pos_weight is None:
        each = nn.sigmoid_cross_entropy(x, target, "none")
    else:
        each = (1 - target) * x + (1 + (pos_weight - 1) * target) * dg.softplus(-x)
    return reduced(each if weight is None else each * weight, reduction)


def huber(
    x: Expr, target: Expr, reduction: str = "mean", delta: float = 1.0, weight: Expr | None = None
) -> Expr:
    each = nn.huber(x, target, "none", delta)
    return reduced(each if weight is None else each * weight, reduction)


def smooth_l1_loss(
    x: Expr, target: Expr, *, reduction: str = "mean", beta: float = 1.0
) -> Expr:  # fmt: skip
    if beta == 0:
        return nn.l1_loss(x, target, reduction)
    return nn.huber(x, target, reduction, beta) / beta


def _by_class(
    each: Callable[[Expr], Expr], target: Expr, weight: Expr | None, ignore_index: int,
    reduction: str,
) -> Expr:  # fmt: skip
    """A loss of each target class, those to ignore left out; the mean is weighted."""
    kept = target != ignore_index
    known = dg.where(kept, target, 0)
    chosen = kept.astype("float64") if weight is None else dg.where(kept, dg.take(weight, known), 0)
    loss = dg.where(kept, each(known) * chosen, 0)
    return reduced(loss, reduction, dg.sum(chosen))


def nll_loss(
    x: Expr, target: Expr, weight: Expr | None = None, *, ignore_index: int = -100,
    reduction: str = "mean",
) -> Expr:  # fmt: skip
    axis = min(1, x.ndim - 1)

    def each(known: Expr) -> Expr:
        found = dg.take_along_axis(x, dg.expand_dims(known, axis), axis)
        return -dg.squeeze(found, axis)

    return _by_class(each, target, weight, ignore_index, reduction)


def cross_entropy(
    x: Expr, target: Expr, weight: Expr | None = None, *, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Expr:  # fmt: skip
    axis = min(1, x.ndim - 1)
    after = [1] * (x.ndim - axis - 1)
    if target.dtype.kind == "f":
        classes: Any = x.shape[axis]
        even = target * (1 - label_smoothing) + label_smoothing / classes
        even = even if weight is None else even * dg.reshape(weight, (-1, *after))
        loss = nn.softmax_cross_entropy(x, even, "none", axis)
        return reduced(loss, reduction, math.prod(loss.shape))
    assert not (label_smoothing and weight is not None), "weights of classes with smoothing"

    def each(known: Expr) -> Expr:
        return nn.softmax_cross_entropy(x, known, "none", axis, label_smoothing)

    return _by_class(each, target, weight, ignore_index, reduction)


def loss(f: Callable[..., Expr]) -> Callable[..., Expr]:
    return lambda x, target, *, reduction="mean": f(x, target, reduction)


LOSSES: dict[str, Callable[..., Any]] = {
    "l1_loss": loss(nn.l1_loss), "mse_loss": loss(nn.mean_squared_error), "huber_loss": huber,
    "smooth_l1_loss": smooth_l1_loss, "binary_cross_entropy": weighted(_binary_cross_entropy),
    "binary_cross_entropy_with_logits": binary_cross_entropy_with_logits, "nll_loss": nll_loss,
    "cross_entropy": cross_entropy,
}  # fmt: skip
