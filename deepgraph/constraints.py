"""Constraints: what must hold of named sizes that no declaration could prove; checked when fed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deepgraph.dims import Dim, Size, at_least, bind
from deepgraph.errors import GraphError, OutOfRangeError, ShapeError
from deepgraph.expr import Expr
from deepgraph.graph import Graph


@dataclass(frozen=True, eq=False)
class Constraint:
    """`low >= 0`, for the sake of `node`; `what` says what is wrong otherwise."""

    node: Expr
    low: Size
    what: str
    error: type[GraphError]

    def check(self, sizes: Mapping[str, int]) -> None:
        """Raise unless it holds for these sizes."""
        if bind(self.low, sizes) < 0:
            given = ", ".join(f"{k}={v}" for k, v in sizes.items())
            raise self.error(
                f"{self.node.op.name}: {self.what} for {given}\n  at {self.node.origin.show()}"
            )


def constraints(graph: Graph) -> list[Constraint]:
    """The constraints of a graph: no size is negative, every position lies on its axis."""
    found = []
    proved: dict[Size, bool] = {}

    def unknown(low: Size) -> bool:
        if low not in proved:
            proved[low] = at_least(low, 0) is True
        return not proved[low]

    for node in graph.nodes:
        for n in node.shape:
            if isinstance(n, Dim) and unknown(n):
                found.append(Constraint(node, n, f"the size {n} is negative", ShapeError))
        for position, n in node.op.positions(node) if node.op.positions else ():
            text = f"index {position} is out of range of {n}"
            for low in (position, n - position - 1):
                if isinstance(low, Dim) and unknown(low):
                    found.append(Constraint(node, low, text, OutOfRangeError))
    return found
