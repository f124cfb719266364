"""Merge equal nodes: common-subexpression elimination."""

from __future__ import annotations

from deepgraph.graph import Graph, rewrite
from deepgraph.target import Target


def share(graph: Graph, target: Target) -> Graph:
    """One node for each computation; draws of random numbers stay apart by their numbers."""
    return rewrite(graph, via="share")
