"""Exponentials, logarithms and the error function, element by element."""

from __future__ import annotations

import math
from typing import Any

from deepgraph.dtypes import is_float
from deepgraph.errors import DTypeError
from deepgraph.expr import OPS, Expr, Kind, Op, Type
from deepgraph.ops.arithmetic import abs, fmax, maximum
from deepgraph.ops.comparison import isinf
from deepgraph.ops.rules import binary, unary
from deepgraph.ops.selection import where


def need_floats(x: Expr) -> None:
    """Raise DTypeError unless `x` is of floats."""
    if not is_float(x.dtype):
        raise DTypeError(f"needs floats: got {x}; write x.astype('float32')")


def of_floats(name: str, doc: str, **fields: Any) -> Op:
    """An elementwise operation of one float operand that keeps its dtype."""

    def rule(x: Expr) -> Type:
        need_floats(x)
        return Type(x.shape, x.dtype)

    rule.__doc__ = doc
    return Op(name, Kind.ELEMENTWISE, rule, **fields)


exp = unary("exp", "e to the power of the value.", c="dg_exp({0})", flops=10,
            grad=lambda g, y, x: (g * y,))  # fmt: skip
expm1 = unary("expm1", "exp(x) - 1, exact also near 0.", c="dg_expm1({0})", flops=10,
              grad=lambda g, y, x: (g * exp(x),))  # fmt: skip
exp2 = unary("exp2", "2 to the power of the value.", c="dg_exp2({0})", flops=10,
             grad=lambda g, y, x: (g * (y * math.log(2)),))  # fmt: skip
log = unary("log", "The natural logarithm.", c="dg_log({0})", flops=10, low=0.5, high=2.0,
            grad=lambda g, y, x: (g / x,))  # fmt: skip
log1p = unary("log1p", "log(1 + x), exact also near 0.", c="dg_log1p({0})", flops=10, low=-0.5,
              grad=lambda g, y, x: (g / (x + 1),))  # fmt: skip
log2 = unary("log2", "The logarithm to base 2.", c="dg_log2({0})", flops=10, low=0.5, high=2.0,
             grad=lambda g, y, x: (g / (x * math.log(2)),))  # fmt: skip
log10 = unary("log10", "The logarithm to base 10.", c="dg_log10({0})", flops=10, low=0.5, high=2.0,
              grad=lambda g, y, x: (g / (x * math.log(10)),))  # fmt: skip


def _logaddexp(x: Expr, y: Expr) -> Expr:
    # inf - inf is nan, which fmax passes over: equal infinities differ by 0.
    return maximum(x, y) + log1p(exp(-fmax(abs(x - y), 0)))


def _logaddexp_grad(g: Expr, out: Expr, x: Expr, y: Expr) -> tuple[Expr, Expr]:
    halves = isinf(x) & (x == y)  # equal infinities, whose difference is nan

    def part(a: Expr, b: Expr) -> Expr:
        return g * where(halves, 0.5, OPS["sigmoid"](a - b))

    return part(x, y), part(y, x)


logaddexp = binary(
    "logaddexp", "log(exp(x) + exp(y)), without overflow.", expand=_logaddexp,
    c="dg_logaddexp({0}, {1})", grad=_logaddexp_grad, flops=20,
)  # fmt: skip

erf = of_floats(
    "erf", "The error function: 2/sqrt(pi) times the integral of exp(-t*t) from 0.",
    numpy="lib.erf({0}, {out})", c="dg_erf({0})", flops=40,
    grad=lambda g, y, x: (g * (exp(-x * x) * (2 / math.sqrt(math.pi))),),
)  # fmt: skip
