"""Constraints: what must hold of named sizes that no declaration could prove; checked when fed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deepgraph.dims import Dim, Size, at_least, bind
from deepgraph.errors import ShapeError
from deepgraph.expr import Expr, Need
from deepgraph.graph import Graph


@dataclass(frozen=True, eq=False)
class Constraint:
    """What a node needs of the sizes."""

    node: Expr
    need: Need

    def check(self, sizes: Mapping[str, int]) -> None:
        """Raise unless it holds for these sizes."""
        if bind(self.need.low, sizes) < 0:
            given = ", ".join(f"{k}={v}" for k, v in sizes.items())
            raise self.need.error(
                f"{self.need.by or self.node.op.name}: {self.need.what} for {given}\n"
                f"  at {self.node.origin.show()}"
            )


def constraints(graph: Graph) -> list[Constraint]:
    """The constraints of a graph: no size is negative, and whatever operations need."""
    found = []
    proved: dict[Size, bool] = {}

    def unknown(low: Size) -> bool:
        if low not in proved:
            proved[low] = at_least(low, 0) is True
        return not proved[low]

    for node in graph.nodes:
        for n in node.shape:
            if isinstance(n, Dim) and unknown(n):
                need = Need(n, f"the size {n} is negative", ShapeError)
                found.append(Constraint(node, need))
        for need in node.op.needs(node) if node.op.needs else ():
            if isinstance(need.low, Dim) and unknown(need.low):
                found.append(Constraint(node, need))
    return found
