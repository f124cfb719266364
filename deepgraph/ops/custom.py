"""Functions whose gradient their author gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from deepgraph.errors import GraphError
from deepgraph.expr import Expr, Kind, Type, composition, explaining, lift, op

Gradient = Callable[..., Expr | Sequence[Expr | None] | None]


def _custom_grad(
    g: Expr, y: Expr, value: Expr, *inputs: Expr, gradient: Gradient
) -> list[Expr | None]:  # fmt: skip
    found = gradient(g, value, *inputs)
    parts = [found] if found is None or isinstance(found, Expr) else list(found)
    if len(parts) != len(inputs):
        raise GraphError(f"custom_gradient: {len(parts)} gradients for {len(inputs)} inputs")
    return [None, *parts]


@op(
    Kind.ELEMENTWISE, name="custom_gradient", numpy="{xp}.copyto({out}, {0})", flops=0,
    grad=_custom_grad,
)  # fmt: skip
def _custom(values: Sequence[Expr], gradient: Gradient) -> Type:
    """The first value; the others are what the gradient is by, as its author says."""
    return Type(values[0].shape, values[0].dtype)


@composition
def custom_gradient(
    function: Callable[..., Expr], gradient: Gradient
) -> Callable[..., Expr]:  # fmt: skip
    """The function of expressions, with a gradient of its author's in place of the derived one.

    `gradient(g, y, *inputs)` is written as an operation's is: given the gradient of the result, the
    result and the inputs, it returns a gradient or None for each input, which may broadcast to it.
    It is differentiated in its turn for second derivatives. What is computed stays as it was. For
    pickles the gradient is a function of a module.

    >>> import deepgraph as dg
    >>> rounded = dg.custom_gradient(dg.round, lambda g, y, x: g)  # straight through
    >>> x = dg.placeholder("x", shape=(2,))
    >>> print(dg.compile(dg.grad(dg.sum(rounded(x)), x))(x=[0.2, 1.7]))
    [1. 1.]
    """
    for given in (function, gradient):
        if not callable(given):
            raise GraphError(f"function and gradient are functions: got {given!r}")

    @wraps(function)
    def declared(*inputs: Any) -> Expr:
        given = lift(inputs)
        return _custom([function(*given), *given], gradient)

    return explaining(declared, getattr(function, "__name__", "") or "custom_gradient")
