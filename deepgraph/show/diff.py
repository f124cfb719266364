"""Diff: what two graphs have in common and what only one of them computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deepgraph.drawn import Drawn
from deepgraph.expr import Expr
from deepgraph.graph import Graph
from deepgraph.literal import attr_key
from deepgraph.plan import Plan
from deepgraph.schedule import Schedule
from deepgraph.show.drawing import Drawing, Edge, drawing
from deepgraph.show.labels import label
from deepgraph.show.measure import table

Classes = dict[Any, int]  # what a node computes, over classes of its inputs -> its class


@dataclass(frozen=True, repr=False)
class Diff(Drawn):
    """Nodes that only one of two graphs has; drawn, the second graph with what it lacks beside it.

    It is true where the graphs differ. Nodes are the same that compute the same of the same
    placeholders and parameters, by name and type.
    """

    before: Graph
    after: Graph
    removed: tuple[Expr, ...]
    added: tuple[Expr, ...]
    results: tuple[str, ...]  # names of outputs and updates that became others

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.results)

    def to_text(self) -> str:
        """A line a difference."""
        rows = [
            (sign, f"{label(node, ['·'] * len(node.inputs))}", node.type_text, str(node.origin))
            for sign, nodes in (("-", self.removed), ("+", self.added)) for node in nodes
        ]  # fmt: skip
        told = [f"{len(self.removed)} removed, {len(self.added)} added"]
        return "\n".join([*told, *(table(rows) if rows else []), *self.results])

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<diff: {len(self.removed)} removed, {len(self.added)} added>"

    def drawn_as(self) -> Drawing:
        """The graph after, its new nodes marked, with those that are gone, marked too."""
        classes: Classes = {}
        shown = drawing(self.after)
        added = {*self.added}
        nodes = [
            replace(n, mark="new") if n.value in added and n.kind not in ("output", "update") else n
            for n in shown.nodes
        ]
        after = _classes(self.after, classes)
        at = {after[n.value]: k for k, n in enumerate(shown.nodes)
              if n.value is not None and n.kind not in ("output", "update")}  # fmt: skip
        before = _classes(self.before, classes)
        lost = {*self.removed}
        old = drawing(self.before)
        places: dict[int, int] = {}
        for k, node in enumerate(old.nodes):
            if node.value in lost and node.kind not in ("output", "update"):
                places[k] = len(nodes)
                nodes.append(replace(node, mark="removed"))
            elif node.value is not None and before[node.value] in at:
                places[k] = at[before[node.value]]
        edges = [
            Edge(places[e.tail], places[e.head], e.kind)
            for e in old.edges if e.head in places and places[e.head] >= len(shown.nodes)
        ]  # fmt: skip
        return Drawing(tuple(nodes), (*shown.edges, *edges))


def diff(before: Drawn, after: Drawn) -> Diff:
    """What changed from one expression, graph, schedule or step to another; `dg.diff` too.

    Of steps, schedules and plans the optimised graphs are compared.
    """
    a, b = _graph(before), _graph(after)
    classes: Classes = {}
    of_a, of_b = _classes(a, classes), _classes(b, classes)
    in_a, in_b = {*of_a.values()}, {*of_b.values()}
    names = []
    for what, old, new in (
        ("output", a.outputs, b.outputs), ("update", _named(a.updates), _named(b.updates)),
    ):  # fmt: skip
        for name in {**old, **new}:
            if name not in old or name not in new:
                names.append(f"{'+' if name in new else '-'} {what} {name}")
            elif of_a[old[name]] != of_b[new[name]]:
                names.append(f"{what} {name} is another")
    return Diff(
        a, b, tuple(n for n in a.nodes if of_a[n] not in in_b),
        tuple(n for n in b.nodes if of_b[n] not in in_a), tuple(names),
    )  # fmt: skip


def _named(updates: Mapping[Expr, Expr]) -> dict[str, Expr]:
    return {parameter.name: value for parameter, value in updates.items()}


def _graph(thing: Any) -> Graph:
    shown = thing.drawn_as() if isinstance(thing, Drawn) else thing
    if isinstance(shown, Plan):
        shown = shown.schedule
    if isinstance(shown, Schedule):
        shown = shown.graph
    if isinstance(shown, Expr):
        shown = Graph((), {"output": shown})
    if not isinstance(shown, Graph):
        raise TypeError(f"diff: compares expressions, graphs and steps: got {type(thing).__name__}")
    return shown


def _classes(graph: Graph, known: Classes) -> dict[Expr, int]:
    """The class of each node: nodes of one class compute the same."""
    found: dict[Expr, int] = {}
    for node in graph.nodes:
        key = _key(node, [found[i] for i in node.inputs])
        found[node] = known.setdefault(key, len(known))
    return found


def _key(node: Expr, inputs: Sequence[int]) -> Any:
    if node.op.name in ("placeholder", "parameter"):
        return node.op.name, node.name, node.type_text
    return node.op.name, node.type_text, *inputs, *map(attr_key, node.attrs)
