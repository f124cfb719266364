"""Algebra that saves work and never changes a result beyond rounding."""

from __future__ import annotations

from deepgraph.algebra import EXACT
from deepgraph.graph import Graph, Rule, rewrite
from deepgraph.passes.broadcasts import broadcasts
from deepgraph.passes.fold import Evaluate, folding
from deepgraph.passes.shapes import SHAPES
from deepgraph.stable import STABLE
from deepgraph.target import Target


def simplify(graph: Graph, target: Target, evaluate: Evaluate, stable: bool = True) -> Graph:
    """The graph with every rule applied until none fires.

    Rules are exact but for a nan's sign, save some that are at least as accurate: powers as
    products, one rounding for two, a product for a sum of one number, and, if `stable`, forms that
    neither overflow nor cancel. A rule looks at a node and what it is made of, never at who else
    reads that; so, stable forms aside, what it gives costs no more than the node alone.
    """
    return rewrite(graph, table(evaluate, stable), via="simplify")


def table(evaluate: Evaluate, stable: bool = True) -> dict[str, list[Rule]]:
    """The rules for each operation, in the order they are tried."""
    rules: dict[str, list[Rule]] = {}
    for group in (folding(evaluate), broadcasts(), SHAPES, STABLE if stable else {}, EXACT):
        for name, some in group.items():
            rules.setdefault(name, []).extend(some)
    return rules
