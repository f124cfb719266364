"""Vectors for numbers."""

from __future__ import annotations

from typing import Any

from deepgraph import ops
from deepgraph.arguments import whole
from deepgraph.dtypes import as_dtype
from deepgraph.expr import Expr
from deepgraph.nn.init import normal
from deepgraph.nn.module import Init, Module, initialiser
from deepgraph.parameter import Parameter


class Embedding(Module):
    """A learned vector of `size` for each whole number in [0, n): rows of a weight (n, size)."""

    weight: Parameter

    def __init__(self, n: int, size: int, init: Init = normal, dtype: Any = "float32") -> None:
        self.n, self.size = whole("n", n), whole("size", size)
        self.init, self.dtype = initialiser("init", init), as_dtype(dtype)

    def forward(self, indices: Expr) -> Expr:
        """Whole numbers of any shape to (*shape, size)."""
        weight = self.parameter("weight", (self.n, self.size), self.init, self.dtype)
        return ops.take(weight, indices, axis=0)
