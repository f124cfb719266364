"""Bring a graph into the form that schedules: known operations, and results that are computed."""

from __future__ import annotations

from dataclasses import replace

from deepgraph.errors import deriving
from deepgraph.expr import OPS, Expr, Kind
from deepgraph.graph import Graph, expanded
from deepgraph.target import Target


def lower(graph: Graph, target: Target) -> Graph:
    """Expand operations that the target lacks; copy results that are leaves, views or twins.

    Each output then has memory of its own, that no input, parameter or other output shares.
    """
    small = expanded(graph, lambda node: node.op.name in target.natives)
    taken: set[Expr] = set()

    def own(value: Expr) -> Expr:
        if value.op.kind not in (Kind.VIEW, Kind.SOURCE) and value not in taken:
            taken.add(value)
            return value
        with deriving(value.origin, "lower"):
            return OPS["copy"](value)

    outputs = {name: own(value) for name, value in small.outputs.items()}
    updates = {
        p: v if v.op.kind not in (Kind.VIEW, Kind.SOURCE) else own(v) for p, v in small.updates.items()
    }
    return replace(small, outputs=outputs, updates=updates)
