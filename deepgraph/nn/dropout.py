"""Layers that drop values in training, and let everything pass in evaluation."""

from __future__ import annotations

from deepgraph import ops
from deepgraph.arguments import number
from deepgraph.expr import Expr
from deepgraph.nn.module import Module


class Dropout(Module):
    """`dg.dropout`: in training each element is 0 with probability `rate`, else over 1 - rate."""

    def __init__(self, rate: float = 0.5) -> None:
        self.rate = number("rate", rate, "[0, 1)")

    def forward(self, x: Expr, training: bool) -> Expr:
        """The shape of x."""
        return ops.dropout(x, self.rate, training=training)


class SpatialDropout(Module):
    """Dropout of whole channels: all of axes 2 and up are 0, or none.

    J. Tompson et al.: Efficient object localization using convolutional networks, CVPR 2015.
    """

    def __init__(self, rate: float = 0.5) -> None:
        self.rate = number("rate", rate, "[0, 1)")

    def forward(self, x: Expr, training: bool) -> Expr:
        """The shape of x."""
        if not training or self.rate == 0:
            return x
        draw = ops.uniform((*x.shape[:2], *[1] * (x.ndim - 2)))
        return ops.where(draw >= self.rate, x * (1 / (1 - self.rate)), 0.0)
