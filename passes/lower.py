"""Bring a graph into the operations that a target has."""

from __future__ import annotations

from deepgraph.graph import Graph, expanded
from deepgraph.target import Target


def lower(graph: Graph, target: Target) -> Graph:
    """The graph with every operation that the target lacks expanded into smaller ones."""
    return expanded(graph, target.native)
