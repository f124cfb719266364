"""Give each result memory of its own."""

from __future__ import annotations

from deepgraph.errors import deriving
from deepgraph.expr import OPS, Expr, Kind
from deepgraph.graph import Graph
from deepgraph.target import Target


def own(graph: Graph, target: Target) -> Graph:
    """The graph with a copy of each result that is a leaf, a view or another output.

    Each output then has memory that no input, parameter or other output shares. What the target
    computes in a memory order of its own is copied too: results are row-major.
    """
    taken: set[Expr] = set()
    made: list[tuple[Expr, Expr]] = []

    def made_for(value: Expr) -> bool:
        return value.op.kind not in (Kind.VIEW, Kind.SOURCE) and target.orders(value)[-1] is None

    def owned(value: Expr) -> Expr:
        if made_for(value) and value not in taken:
            taken.add(value)
            return value
        with deriving(value.origin, "own"):
            copy = OPS["copy"](value)
        made.append((value, copy))
        return copy

    outputs = {name: owned(value) for name, value in graph.outputs.items()}
    updates = {
        p: v if made_for(v) else owned(v) for p, v in graph.updates.items()
    }
    return Graph(graph.inputs, outputs, updates, made=tuple(made), before=graph)
