"""What is drawn as a networkx graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepgraph.drawn import Drawn
from deepgraph.expr import Expr
from deepgraph.graph import Graph
from deepgraph.show.drawing import Drawing

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(thing: Drawn) -> nx.MultiDiGraph[Any]:
    """An expression's graph, or that of what stands for a thing in pictures.

    Where that is no level of a step but a drawing of its own, nodes are numbers with label, kind,
    dtype and shape, and edges have their kind.
    """
    import networkx as nx

    shown = thing.drawn_as()
    if isinstance(shown, Expr):
        shown = Graph((), {"output": shown})
    if not isinstance(shown, Drawing):
        return shown.to_networkx()
    drawn: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    for k, n in enumerate(shown.nodes):
        drawn.add_node(k, label=n.label, kind=n.kind, dtype=n.dtype, shape=n.shape, mark=n.mark)
    drawn.add_edges_from((e.tail, e.head, {"kind": e.kind}) for e in shown.edges)
    return drawn
