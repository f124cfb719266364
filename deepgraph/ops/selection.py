"""One value or another, at each element; and the same value under another dtype or gradient."""

from __future__ import annotations

from typing import Any

from deepgraph.dtypes import as_dtype, promote
from deepgraph.errors import DTypeError
from deepgraph.expr import Expr, Kind, Strided, Type, op
from deepgraph.ops.rules import broadcast


def _where_grad(g: Expr, out: Expr, condition: Expr, x: Expr, y: Expr) -> tuple[Expr | None, ...]:
    return None, where(condition, g, 0), where(~condition, g, 0)


@op(
    Kind.ELEMENTWISE, numpy="lib.where({0}, {1}, {2}, {out})", c="{0} ? {1} : {2}",
    grad=_where_grad, apart=(0,),
)  # fmt: skip
def where(condition: Expr, x: Expr, y: Expr) -> Type:
    """`x` where the condition holds, else `y`; the three broadcast, x and y promote.

    Both branches are computed everywhere. The gradient of the one not taken is 0, also through
    elementwise operations whose slope is infinite or undefined there: at 0 the gradient of
    `where(x > 0, sqrt(x), x)` is 1, not nan. That holds back to the first operation that is not
    elementwise. Raises DTypeError unless the condition is boolean.
    """
    if condition.dtype.kind != "b":
        raise DTypeError(f"the condition is not boolean: {condition}; write condition != 0")
    return Type(broadcast(condition.shape, x.shape, y.shape), promote(x.dtype, y.dtype))


@op(
    Kind.ELEMENTWISE, aliases=("cast",), c="dg_to_{dtype}({0})",
    numpy="{xp}.copyto({out}, {0}, casting='unsafe')", grad=lambda g, y, x, dtype: (g,),
)  # fmt: skip
def astype(x: Expr, dtype: Any) -> Type:
    """The values in another dtype, converted as NumPy does: floats truncate, integers wrap."""
    found = as_dtype(dtype)
    return Type(x.shape, found, {"dtype": found})


@op(
    Kind.ELEMENTWISE, c="{0}", numpy="{xp}.copyto({out}, {0})", grad=lambda g, y, x: (g,), flops=0
)  # fmt: skip
def copy(x: Expr) -> Type:
    """The same values in storage of their own."""
    return Type(x.shape, x.dtype)


def _unmoved(at: Strided, node: Expr) -> Strided:
    return at


@op(Kind.VIEW, numpy="{0}", view=_unmoved, grad=lambda g, y, x: (None,), flops=0)
def stop_gradient(x: Expr) -> Type:
    """The same values, through which no gradient flows back."""
    return Type(x.shape, x.dtype)


@op(
    Kind.VIEW, numpy="{0}", view=_unmoved, flops=0,
    grad=lambda g, y, x, scale: (g * -scale,),
)  # fmt: skip
def reverse_gradient(x: Expr, scale: float = 1.0) -> Type:
    """The same values, with the gradient times `-scale` on its way back.

    Y. Ganin, V. Lempitsky: Unsupervised domain adaptation by backpropagation, ICML 2015.
    """
    return Type(x.shape, x.dtype, {"scale": float(scale)})
