"""Trigonometric and hyperbolic functions and their inverses, element by element."""

from __future__ import annotations

from deepgraph.expr import Expr, Op
from deepgraph.ops.arithmetic import hypot, sqrt
from deepgraph.ops.rules import binary, unary

sin = unary("sin", "The sine, of radians.", c="dg_sin({0})", flops=10,
            grad=lambda g, y, x: (g * cos(x),))  # fmt: skip
cos: Op = unary("cos", "The cosine, of radians.", c="dg_cos({0})", flops=10,
            grad=lambda g, y, x: (-(g * sin(x)),))  # fmt: skip
tan = unary("tan", "The tangent, of radians.", c="dg_tan({0})", flops=10, low=-1.0, high=1.0,
            grad=lambda g, y, x: (g * (1 + y * y),))  # fmt: skip
asin = unary("asin", "The inverse sine, from -pi/2 to pi/2.", ufunc="arcsin", aliases=("arcsin",),
             c="dg_asin({0})", flops=10, low=-0.9, high=0.9,
             grad=lambda g, y, x: (g / sqrt((1 - x) * (1 + x)),))  # fmt: skip
acos = unary("acos", "The inverse cosine, from 0 to pi.", ufunc="arccos", aliases=("arccos",),
             c="dg_acos({0})", flops=10, low=-0.9, high=0.9,
             grad=lambda g, y, x: (-(g / sqrt((1 - x) * (1 + x))),))  # fmt: skip
atan = unary("atan", "The inverse tangent, from -pi/2 to pi/2.", ufunc="arctan",
             aliases=("arctan",), c="dg_atan({0})", flops=10,
             grad=lambda g, y, x: (g / (1 + x * x),))  # fmt: skip


def _atan2_grad(g: Expr, out: Expr, x: Expr, y: Expr) -> tuple[Expr, Expr]:
    length = hypot(x, y)  # whose square may overflow
    scaled = g / length
    return scaled * (y / length), -(scaled * (x / length))


atan2 = binary("atan2", "The angle of the point (y, x), from -pi to pi: the first operand is the "
               "height.", ufunc="arctan2", aliases=("arctan2",), c="dg_atan2({0}, {1})", flops=20,
               grad=_atan2_grad)  # fmt: skip

sinh = unary("sinh", "The hyperbolic sine.", c="dg_sinh({0})", flops=10,
             grad=lambda g, y, x: (g * cosh(x),))  # fmt: skip
cosh: Op = unary("cosh", "The hyperbolic cosine.", c="dg_cosh({0})", flops=10,
             grad=lambda g, y, x: (g * sinh(x),))  # fmt: skip
tanh = unary("tanh", "The hyperbolic tangent.", c="dg_tanh({0})", flops=10,
             grad=lambda g, y, x: (g * (1 - y * y),))  # fmt: skip
asinh = unary("asinh", "The inverse hyperbolic sine.", ufunc="arcsinh", aliases=("arcsinh",),
              c="dg_asinh({0})", flops=10, grad=lambda g, y, x: (g / hypot(x, 1),))  # fmt: skip
acosh = unary("acosh", "The inverse hyperbolic cosine, of 1 and more.", ufunc="arccosh",
              aliases=("arccosh",), c="dg_acosh({0})", flops=10, low=1.2, high=3.0,
              grad=lambda g, y, x: (g / (sqrt(x - 1) * sqrt(x + 1)),))  # fmt: skip
atanh = unary("atanh", "The inverse hyperbolic tangent, of values from -1 to 1.", ufunc="arctanh",
              aliases=("arctanh",), c="dg_atanh({0})", flops=10, low=-0.9, high=0.9,
              grad=lambda g, y, x: (g / ((1 - x) * (1 + x)),))  # fmt: skip
