"""Activation functions, defined in a few elementary functions with which they fuse."""

from __future__ import annotations

import math

from deepgraph.errors import DTypeError, GraphError
from deepgraph.expr import Expr, Kind, Type, composition, op
from deepgraph.ops.arithmetic import abs, maximum, minimum, reciprocal
from deepgraph.ops.exponential import erf, exp, log1p, need_floats, of_floats
from deepgraph.ops.selection import where
from deepgraph.ops.trigonometric import tanh


@op(
    Kind.ELEMENTWISE, numpy="{xp}.maximum({0}, 0, out={out})", c="dg_relu({0})",
    grad=lambda g, y, x: (where(y > 0, g, 0),),  # of y, so that x need not be kept
)  # fmt: skip
def relu(x: Expr) -> Type:
    """The value, or 0 if it is negative. Its gradient at 0 is 0."""
    if x.dtype.kind == "b":
        raise DTypeError(f"not defined for booleans: {x}")
    return Type(x.shape, x.dtype)


def _leaky_relu(x: Expr, slope: float) -> Expr:
    if slope < 0:
        return where(x > 0, x, x * slope)
    below = x * slope if slope else 0  # 0 * inf is nan
    return (maximum if slope <= 1 else minimum)(x, below)


def _leaky_relu_grad(g: Expr, y: Expr, x: Expr, slope: float) -> tuple[Expr]:
    source = y if slope >= 0 else x  # both are positive at the same elements
    return (where(source > 0, g, g * slope),)


@op(
    Kind.ELEMENTWISE, expand=_leaky_relu, c="dg_leaky_relu({0}, {slope})", grad=_leaky_relu_grad,
    flops=2,
)  # fmt: skip
def leaky_relu(x: Expr, slope: float = 0.01) -> Type:
    """The value, or `slope` times the value if it is negative. Its gradient at 0 is `slope`."""
    need_floats(x)
    return Type(x.shape, x.dtype, {"slope": float(slope)})


# exp(-x) is infinite where the result is 0: exact over the whole range, as the tanh form is not.
sigmoid = of_floats(
    "sigmoid", "1 / (1 + exp(-x)), from 0 to 1.",
    expand=lambda x: reciprocal(exp(-x) + 1), c="dg_sigmoid({0})", flops=12,
    grad=lambda g, y, x: (g * (y * (1 - y)),),
)  # fmt: skip


def _silu_grad(g: Expr, y: Expr, x: Expr) -> tuple[Expr]:
    s = sigmoid(x)
    return (g * (s + y * (1 - s)),)


silu = of_floats(
    "silu", "x * sigmoid(x), also known as swish.", aliases=("swish",),
    expand=lambda x: x * sigmoid(x), c="dg_silu({0})", flops=13, grad=_silu_grad,
)  # fmt: skip
softplus = of_floats(
    "softplus", "log(1 + exp(x)), without overflow and exact also far below 0.",
    expand=lambda x: maximum(x, 0) + log1p(exp(-abs(x))),
    c="dg_softplus({0})", flops=22,
    grad=lambda g, y, x: (g * sigmoid(x),),
)  # fmt: skip


@composition
def log_sigmoid(x: Expr) -> Expr:
    """The logarithm of `sigmoid`, without underflow."""
    return -softplus(-x)


_TANH_SCALE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


def _gelu(x: Expr, approximate: str) -> Expr:
    if approximate == "tanh":
        return 0.5 * x * (1 + tanh(_TANH_SCALE * (x + _TANH_CUBE * x * x * x)))
    return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))


def _gelu_grad(g: Expr, y: Expr, x: Expr, approximate: str) -> tuple[Expr]:
    if approximate == "tanh":
        t = tanh(_TANH_SCALE * (x + _TANH_CUBE * x * x * x))
        steep = 1 - t * t
        slope = _TANH_SCALE * (steep + 3 * _TANH_CUBE * (steep * x * x))  # x * x may be infinite
        return (g * (0.5 * (1 + t) + 0.5 * x * slope),)
    density = exp(-0.5 * x * x) * math.sqrt(0.5 / math.pi)
    return (g * (0.5 * (1 + erf(x * math.sqrt(0.5))) + x * density),)


@op(Kind.ELEMENTWISE, expand=_gelu, c="dg_gelu_{approximate}({0})", grad=_gelu_grad, flops=45)
def gelu(x: Expr, approximate: str = "none") -> Type:
    """The value times the chance that a standard normal draw is below it.

    `approximate="tanh"` replaces the normal distribution by a tanh, within 5e-4.
    D. Hendrycks, K. Gimpel: Gaussian error linear units, arXiv:1606.08415.
    """
    if approximate not in ("none", "tanh"):
        raise GraphError(f"approximate is 'none' or 'tanh': got {approximate!r}")
    need_floats(x)
    return Type(x.shape, x.dtype)
