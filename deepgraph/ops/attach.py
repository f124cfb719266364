"""Updates that travel with a value, so that whoever compiles the value cannot forget them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deepgraph.errors import GraphError, ShapeError
from deepgraph.expr import OPS, Expr, Kind, Type, composition, op, same_type
from deepgraph.literal import Literal
from deepgraph.parameter import Parameter


@op(
    Kind.ELEMENTWISE, name="attach", numpy="{xp}.copyto({out}, {0})", flops=0,
    grad=lambda g, y, x, *values, parameters: (g, *[None] * len(values)),
)  # fmt: skip
def _attach(inputs: Sequence[Expr], parameters: tuple[Parameter, ...]) -> Type:
    """The first input; the others are the new values of `parameters`."""
    for parameter, value in zip(parameters, inputs[1:], strict=True):
        if not same_type(parameter, value):
            raise ShapeError(f"an update has its parameter's type: {parameter!r} from {value!r}")
    return Type(inputs[0].shape, inputs[0].dtype)


@composition
def attach(x: Expr, updates: Mapping[Parameter, Any]) -> Expr:
    """x itself, and with it new values of parameters.

    A `compile` that is given `updates` also makes those that are attached to anything it computes,
    once each a call; one that is given none leaves the parameters alone. Gradients pass to x, not
    into the new values. Raises ShapeError where a value lacks its parameter's shape or dtype.

    >>> import deepgraph as dg
    >>> x, seen = dg.placeholder("x", shape=("n",)), dg.Parameter(0.0, name="seen")
    >>> y = dg.attach(x * 2, {seen: seen + dg.sum(x)})
    """
    for parameter in updates:
        if not isinstance(parameter, Parameter):
            raise GraphError(f"attach: updates are of parameters: got {parameter!r}")
    values = [
        value if isinstance(value, Expr) else OPS["constant"](Literal(np.asarray(value, p.dtype)))
        for p, value in updates.items()
    ]
    return _attach([x, *values], tuple(updates))
