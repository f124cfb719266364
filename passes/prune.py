"""Drop what changes nothing: markers that only gradients read, and updates of a value to itself."""

from __future__ import annotations

from dataclasses import replace

from deepgraph.expr import Expr
from deepgraph.graph import Graph, rewrite
from deepgraph.target import Target

MARKERS = (
    "stop_gradient", "reverse_gradient", "custom_gradient", "positive", "attach", "check_elements",
)  # fmt: skip


def prune(graph: Graph, target: Target) -> Graph:
    """The graph without identities and without updates that keep the old value.

    What no result needs is gone with every rewrite, since a rewrite starts from the results.
    """
    slim = rewrite(graph, {name: [through] for name in MARKERS}, via="prune")
    updates = {p: v for p, v in slim.updates.items() if v is not p}
    return replace(slim, updates=updates)


def through(node: Expr) -> Expr:
    """What a marker marks."""
    return node.inputs[0]
