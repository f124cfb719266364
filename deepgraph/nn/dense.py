"""A layer in which every output sees every input."""

from __future__ import annotations

from deepgraph.arguments import whole
from deepgraph.errors import ShapeError
from deepgraph.expr import Expr
from deepgraph.nn.init import constant, glorot_uniform
from deepgraph.nn.module import Init, Module, initialiser
from deepgraph.parameter import Parameter


def dense(x: Expr, weight: Expr, bias: Expr | None = None) -> Expr:
    """x @ weight + bias, along the last axis of x."""
    y = x @ weight
    return y if bias is None else y + bias


class Dense(Module):
    """`dense` with a learned weight (n_in, n_out) and, unless `bias` is False, bias (n_out,).

    `init` draws the weight and `bias` may say how the bias starts, each as `nn.init` has it.
    """

    weight: Parameter
    bias: Parameter

    def __init__(
        self, n_out: int, *, bias: bool | Init = True, init: Init = glorot_uniform
    ) -> None:
        self.n_out = whole("n_out", n_out)
        self.weight_init = initialiser("init", init)
        self.bias_init = initialiser("bias", constant if bias is True else bias)

    def forward(self, x: Expr) -> Expr:
        """(..., n_in) to (..., n_out)."""
        if x.ndim == 0:
            raise ShapeError(f"needs an axis of inputs: got {x}")
        weight = self.parameter("weight", (x.shape[-1], self.n_out), self.weight_init, x.dtype)
        if self.bias_init is False:
            return dense(x, weight)
        return dense(x, weight, self.parameter("bias", (self.n_out,), self.bias_init, x.dtype))
