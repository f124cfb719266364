"""Normalisation: values less their mean, over their standard deviation."""

from __future__ import annotations

from typing import ClassVar

from deepgraph import ops
from deepgraph.arguments import number, whole
from deepgraph.dims import maximum, pretty, product
from deepgraph.dtypes import DType, accumulator
from deepgraph.errors import ShapeError
from deepgraph.expr import Expr, explaining
from deepgraph.nn.module import Module
from deepgraph.parameter import Parameter


@explaining
def layer_norm(
    x: Expr, weight: Expr | None = None, bias: Expr | None = None, n_axes: int = 1,
    eps: float = 1e-5,
) -> Expr:  # fmt: skip
    """(x - mean) / sqrt(variance + eps) * weight + bias, mean and variance over the last axes.

    `weight` and `bias` have the shape of the last `n_axes` axes. The variance is the biased one;
    half precision is computed in float32. J. Ba, J. Kiros, G. Hinton: Layer normalization, 2016.
    """
    if not 1 <= n_axes <= x.ndim:
        raise ShapeError(f"there are no {n_axes} last axes: got {pretty(x.shape)}")
    axes = tuple(range(x.ndim - n_axes, x.ndim))
    wide = _cast(x, accumulator(x.dtype))
    off = wide - ops.mean(wide, axes, keepdims=True)
    y = off * (1 / ops.sqrt(ops.mean(off * off, axes, keepdims=True) + eps))
    y = y if weight is None else y * weight
    return _cast(y if bias is None else y + bias, x.dtype)


class LayerNorm(Module):
    """`layer_norm` over the last `n_axes` axes, with a learned weight and bias if `affine`."""

    weight: Parameter
    bias: Parameter

    def __init__(self, n_axes: int = 1, *, eps: float = 1e-5, affine: bool = True) -> None:
        self.n_axes, self.affine = whole("n_axes", n_axes), affine
        self.eps = number("eps", eps, "[0, inf)")

    def forward(self, x: Expr) -> Expr:
        """The shape of x."""
        if not self.affine:
            return layer_norm(x, n_axes=self.n_axes, eps=self.eps)
        shape = x.shape[max(x.ndim - self.n_axes, 0) :]
        weight = self.parameter("weight", shape, 1.0, x.dtype)
        bias = self.parameter("bias", shape, 0.0, x.dtype)
        return layer_norm(x, weight, bias, self.n_axes, self.eps)


class BatchNorm(Module):
    """Normalises each feature, which axis 1 counts, over the batch and all other axes.

    In training by the mean and variance of the batch. In evaluation by the running ones; each step
    that computes a training result and is compiled with `updates` makes them (1 - momentum) *
    running + momentum * the batch's, with the unbiased variance. Then times a learned weight plus a
    learned bias, if `affine`. S. Ioffe, C. Szegedy: Batch normalization, ICML 2015.

    A second call in training raises GraphError, since the statistics have one new value a step.
    """

    weight: Parameter
    bias: Parameter
    running_mean: Parameter
    running_var: Parameter
    statistics: ClassVar[tuple[str, ...]] = ("running_mean", "running_var")

    def __init__(self, *, momentum: float = 0.1, eps: float = 1e-5, affine: bool = True) -> None:
        self.momentum, self.affine = number("momentum", momentum, "(-inf, inf)"), affine
        self.eps = number("eps", eps, "[0, inf)")

    def forward(self, x: Expr, training: bool) -> Expr:
        """(batch, features, ...) to the same."""
        if x.ndim < 2:
            raise ShapeError(f"axis 1 counts the features: got {pretty(x.shape)}")
        features = x.shape[1:2]
        wide = _cast(x, accumulator(x.dtype))
        if self.affine:
            weight = self.parameter("weight", features, 1.0, x.dtype)
            bias = self.parameter("bias", features, 0.0, x.dtype)
        running_mean = self.parameter("running_mean", features, 0.0, wide.dtype)
        running_var = self.parameter("running_var", features, 1.0, wide.dtype)
        if training:
            axes = (0, *range(2, x.ndim))
            wide = ops.check_elements(wide, axes, "BatchNorm")  # or the statistics become nan
            count = product(x.shape[k] for k in axes)
            mean = ops.mean(wide, axes)
            off = wide - _along(mean, x)
            squares = ops.sum(off * off, axes)
            var = squares / count
        else:
            off, var = wide - _along(running_mean, x), running_var
        factor = 1 / ops.sqrt(var + self.eps)
        y = off * _along(factor * weight if self.affine else factor, x)
        y = _cast(y + _along(bias, x) if self.affine else y, x.dtype)
        if not training:
            return y
        keep, unbiased = 1 - self.momentum, squares / maximum(count - 1, 1)
        return ops.attach(y, {
            running_mean: keep * running_mean + self.momentum * mean,
            running_var: keep * running_var + self.momentum * unbiased,
        })  # fmt: skip


def _along(feature: Expr, x: Expr) -> Expr:
    """One value a feature, in a shape that broadcasts against x."""
    after = tuple(range(1, x.ndim - 1))
    return ops.expand_dims(feature, after) if after else feature


def _cast(x: Expr, dtype: DType) -> Expr:
    return x if x.dtype == dtype else x.astype(dtype)
