"""Arithmetic, powers, rounding and extremes, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deepgraph.dtypes import DType, is_float, ufunc_dtypes
from deepgraph.errors import DomainError, DTypeError
from deepgraph.expr import OPS, Expr, Kind, Op, Type, composition, lift, op
from deepgraph.ops.rules import binary, broadcast, unary
from deepgraph.ops.selection import where

Grads = tuple[Expr | None, ...]

add = binary(
    "add", "The sum; of booleans, `or`.", c="{0} + {1}", grad=lambda g, out, x, y: (g, g)
)  # fmt: skip
subtract = binary(
    "subtract", "The difference; not defined for booleans.",
    c="{0} - {1}", grad=lambda g, out, x, y: (g, -g),
)  # fmt: skip

# What scales g comes first in a gradient, since g may be one number everywhere; a sign comes last,
# since it may be taken after a sum, or with the next factor.


def _multiply_grad(g: Expr, out: Expr, x: Expr, y: Expr) -> Grads:
    return (2 * g * x, None) if x is y else (g * y, g * x)


multiply = binary(
    "multiply", "The product; of booleans, `and`.", c="{0} * {1}", grad=_multiply_grad
)  # fmt: skip


def _divide_grad(g: Expr, out: Expr, x: Expr, y: Expr) -> Grads:
    by_x = g / y
    return by_x, -(by_x * out)


divide = binary(
    "divide", "The quotient; a float, also of integers.", aliases=("true_divide",),
    c="{0} / {1}", grad=_divide_grad, low=0.5, high=2.0,
)  # fmt: skip
floor_divide = binary(
    "floor_divide", "The quotient rounded down; of integers by 0, it is 0. Its gradient is 0.",
    c="dg_floordiv({0}, {1})", grad=lambda g, out, x, y: (None, None), low=0.5, high=2.0,
)  # fmt: skip
remainder = binary(
    "remainder", "What `floor_divide` leaves, with the sign of the divisor.", aliases=("mod",),
    c="dg_mod({0}, {1})", grad=lambda g, out, x, y: (g, -(g * (x // y))), low=0.5, high=2.0,
)  # fmt: skip
negative = unary(
    "negative", "The value with its sign changed; not defined for booleans.",
    c="-{0}", grad=lambda g, y, x: (-g,),
)  # fmt: skip
positive = unary(
    "positive", "The value itself; not defined for booleans.",
    numpy="{xp}.copyto({out}, {0})", c="{0}", grad=lambda g, y, x: (g,),  # thrice as fast
)  # fmt: skip
sign = unary(
    "sign", "-1, 0 or 1; nan of nan. Its gradient is 0.",
    c="dg_sign({0})", grad=lambda g, y, x: (None,),
)  # fmt: skip
abs = unary(
    "abs", "The absolute value; its gradient at 0 is 0.", ufunc="absolute", aliases=("absolute",),
    c="dg_abs({0})", grad=lambda g, y, x: (g * sign(x),),
)  # fmt: skip
copysign: Op = binary(
    "copysign", "The size of the first with the sign of the second; reads the sign of zeros.",
    c="dg_copysign({0}, {1})",
    grad=lambda g, out, x, y: (g * sign(x) * copysign(1, y), None),
)  # fmt: skip
nextafter = binary(
    "nextafter", "The number next to the first, on the way to the second. Its slope is 1 and 0.",
    c="dg_nextafter({0}, {1})", grad=lambda g, out, x, y: (g, None),
)  # fmt: skip


@composition
def real(x: Any) -> Expr:
    """The value itself: there are no complex numbers here."""
    return lift([x])[0]


# Extremes. Operands that tie share the gradient.


def _share(g: Expr, wins: Expr, ties: Expr) -> Expr:
    return where(wins, g, where(ties, g * 0.5, 0))


maximum = binary(
    "maximum", "The greater of two; nan if either is. Equal operands share the gradient.",
    c="dg_maximum({0}, {1})",
    grad=lambda g, out, x, y: (_share(g, x > y, x == y), _share(g, y > x, x == y)),
)  # fmt: skip
minimum = binary(
    "minimum", "The smaller of two; nan if either is. Equal operands share the gradient.",
    c="dg_minimum({0}, {1})",
    grad=lambda g, out, x, y: (_share(g, x < y, x == y), _share(g, y < x, x == y)),
)  # fmt: skip
fmax = binary(
    "fmax", "The greater of two, or the one that is not nan.",
    c="dg_fmax({0}, {1})",
    grad=lambda g, out, x, y: (
        _share(g, (x > y) | (y != y), x == y), _share(g, (y > x) | (x != x), x == y)
    ),
)  # fmt: skip
fmin = binary(
    "fmin", "The smaller of two, or the one that is not nan.",
    c="dg_fmin({0}, {1})",
    grad=lambda g, out, x, y: (
        _share(g, (x < y) | (y != y), x == y), _share(g, (y < x) | (x != x), x == y)
    ),
)  # fmt: skip


@composition
def clip(x: Any, min: Any = None, max: Any = None) -> Expr:
    """The value, but no less than `min` and no more than `max`; None sets no bound.

    `max` wins where it is below `min`. A value at a bound shares its gradient with the bound.
    """
    above = x if min is None else maximum(x, min)
    return real(above) if max is None else minimum(above, max)


# Powers.


def _pow_grad(g: Expr, out: Expr, x: Expr, y: Expr) -> Grads:
    # x**0 is 1 and 0**y is 0 all along: slopes of 0, which the formulas miss at x = 0.
    by_y = where((x == 0) & (y >= 0), 0, out * OPS["log"](x))
    if y.op is OPS["constant"] and y.shape == ():
        n = y.attr("value").value.item()
        return n * g * x ** (n - 1) if n else None, g * by_y
    return g * where(y == 0, 0, y * x ** (y - 1)), g * by_y


@op(
    Kind.ELEMENTWISE, ufunc="power", aliases=("power",), c="dg_pow({0}, {1})", grad=_pow_grad,
    flops=10, low=0.5, high=2.0,
)  # fmt: skip
def pow(x: Expr, y: Expr) -> Type:
    """The first to the power of the second.

    Integers to a constant negative power raise DomainError (a ValueError), since the result is an
    integer too: write `x ** -2.0`.
    """
    dtype = ufunc_dtypes("power", x.dtype, y.dtype)[-1]
    if dtype.kind in "iu" and y.op is OPS["constant"] and (y.attr("value").value < 0).any():
        raise DomainError(
            f"integers have no negative powers: {x.dtype.name} ** {y.attr('value')}; "
            f"make the exponent a float"
        )
    return Type(broadcast(x.shape, y.shape), dtype)


square = unary(
    "square", "The value times itself.", c="{0} * {0}", grad=lambda g, y, x: (2 * g * x,)
)  # fmt: skip


def _least(dtype: DType) -> float:
    """The smallest positive number of a float dtype."""
    return float(np.nextafter(dtype.type(0), dtype.type(1)))


# A root is 0 or far above the smallest number; so 0 / 0 becomes 0, and all else stays as it is.
sqrt = unary(
    "sqrt", "The square root. Its gradient at 0 is infinite, but 0 where no gradient flows in.",
    c="dg_sqrt({0})", low=0.5, high=2.0,
    grad=lambda g, y, x: (g * 0.5 / maximum(y, _least(y.dtype)),),
)  # fmt: skip
cbrt = unary(
    "cbrt", "The cube root.",
    c="dg_cbrt({0})", grad=lambda g, y, x: (g / (3 * y * y),), flops=10, low=0.5, high=2.0,
)  # fmt: skip


@op(
    Kind.ELEMENTWISE, ufunc="reciprocal", c="1 / {0}", low=0.5, high=2.0,
    grad=lambda g, y, x: (-(g * y * y),),
)  # fmt: skip
def reciprocal(x: Expr) -> Type:
    """1 divided by the value. Raises DTypeError for integers, which would be cut to 0."""
    if not is_float(x.dtype):
        raise DTypeError(f"only floats have a reciprocal of their dtype: {x}; write 1 / x")
    return Type(x.shape, x.dtype)


def _hypot_grad(g: Expr, out: Expr, x: Expr, y: Expr) -> Grads:
    length = maximum(out, _least(out.dtype))
    return g * (x / length), g * (y / length)


hypot = binary(
    "hypot", "The root of the sum of both squares, without overflow; its gradient at 0, 0 is 0.",
    c="dg_hypot({0}, {1})", grad=_hypot_grad, flops=10,
)  # fmt: skip

# Rounding. Integers are whole already and stay as they are; every gradient is 0.

floor = unary(
    "floor", "Rounded down to a whole number.", c="dg_floor({0})", grad=lambda g, y, x: (None,)
)  # fmt: skip
ceil = unary(
    "ceil", "Rounded up to a whole number.", c="dg_ceil({0})", grad=lambda g, y, x: (None,)
)  # fmt: skip
trunc = unary(
    "trunc", "Rounded to a whole number towards 0.",
    c="dg_trunc({0})", grad=lambda g, y, x: (None,),
)  # fmt: skip


@op(
    Kind.ELEMENTWISE, numpy="{xp}.round({0}, out={out})", c="dg_round({0})",
    grad=lambda g, y, x: (None,),
)  # fmt: skip
def round(x: Expr) -> Type:
    """Rounded to the nearest whole number, halves to the even one."""
    if x.dtype.kind in "iu":
        return Type(x.shape, x.dtype)
    return Type(x.shape, ufunc_dtypes("rint", x.dtype)[-1])


deg2rad = unary(
    "deg2rad", "Degrees as radians.", aliases=("radians",),
    c="dg_deg2rad({0})", grad=lambda g, y, x: (g * (math.pi / 180),),
)  # fmt: skip
rad2deg = unary(
    "rad2deg", "Radians as degrees.", aliases=("degrees",),
    c="dg_rad2deg({0})", grad=lambda g, y, x: (g * (180 / math.pi),),
)  # fmt: skip
