"""A rectifier whose slope is learned."""

from __future__ import annotations

from deepgraph import ops
from deepgraph.expr import Expr
from deepgraph.nn.module import Init, Module, initialiser
from deepgraph.parameter import Parameter


class PReLU(Module):
    """x where x is positive, else x times a learned slope, one for all of x.

    K. He, X. Zhang, S. Ren, J. Sun: Delving deep into rectifiers, ICCV 2015.
    """

    slope: Parameter

    def __init__(self, init: Init = 0.25) -> None:
        self.init = initialiser("init", init)

    def forward(self, x: Expr) -> Expr:
        """The shape of x."""
        return ops.where(x > 0, x, x * self.parameter("slope", (), self.init, x.dtype))
