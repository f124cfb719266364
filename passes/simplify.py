"""Algebra that saves work and never changes a result beyond rounding."""

from __future__ import annotations

from deepgraph.expr import OPS, Kind
from deepgraph.graph import Graph, Rule, rewrite
from deepgraph.passes.algebra import EXACT
from deepgraph.passes.fold import Evaluate, folding
from deepgraph.passes.shapes import ELEMENTWISE, SHAPES
from deepgraph.passes.stable import STABLE
from deepgraph.target import Target


def simplify(graph: Graph, target: Target, evaluate: Evaluate, stable: bool = True) -> Graph:
    """The graph with every rule applied until none fires.

    Rules are exact but for a nan's sign, save three kinds that are at least as accurate: powers as
    products, one rounding for two, and, if `stable`, forms that neither overflow nor cancel. A rule
    looks at a node and what it is made of, never at who else reads that, so it gives nothing that
    costs more than the node alone.
    """
    return rewrite(graph, table(evaluate, stable), via="simplify")


def table(evaluate: Evaluate, stable: bool = True) -> dict[str, list[Rule]]:
    """The rules for each operation, in the order they are tried."""
    elementwise = {op.name for op in OPS.values() if op.kind is Kind.ELEMENTWISE}
    groups = [folding(evaluate), dict.fromkeys(elementwise, ELEMENTWISE), SHAPES]
    groups += [STABLE] * stable + [EXACT]
    rules: dict[str, list[Rule]] = {}
    for group in groups:
        for name, some in group.items():
            rules.setdefault(name, []).extend(some)
    return rules
