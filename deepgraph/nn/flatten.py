"""From images to vectors."""

from __future__ import annotations

from deepgraph import ops
from deepgraph.arguments import whole
from deepgraph.expr import Expr
from deepgraph.nn.module import Module


class Flatten(Module):
    """All axes from `start_axis` on as one; the first, of the batch, stays by default."""

    def __init__(self, start_axis: int = 1) -> None:
        self.start_axis = whole("start_axis", start_axis, None)

    def forward(self, x: Expr) -> Expr:
        """(batch, a, b, ...) to (batch, a * b * ...)."""
        return ops.flatten(x, self.start_axis)
