"""Frames: the whole drawing with its clusters as boxes, and the inside of each cluster.

Where a value enters or leaves a cluster there is a port, a box without a face. So a cluster is to
the whole what a node is, and could be drawn closed as well as open.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from deepgraph.show.drawing import Drawing, Edge
from deepgraph.show.ranks import long_links, ranks

_CROSSINGS = 3000  # of rows by links: more are not drawn; and 2 more for each box


class Item(NamedTuple):
    """What a frame places: a node, a cluster, or the port `in` or `out` for a node's value."""

    sort: str
    number: int


class Piece(NamedTuple):
    """A link in one frame: a value, named by the node that makes it, on its way."""

    tail: Item
    head: Item
    value: int


Way = list[tuple[int | None, Piece]]  # the frames an edge runs through, by cluster; None: the whole


class Frame:
    """Items, in an order in which pieces lead onward, and their pieces."""

    def __init__(self, items: Iterable[Item], pieces: Iterable[Piece]) -> None:
        self.items = {item: k for k, item in enumerate(items)}
        self.pieces = tuple(pieces)
        self.pairs = [(self.items[p.tail], self.items[p.head]) for p in self.pieces]

    def ranks(self) -> list[int]:
        """The row of each item, ports at the top and at the bottom."""
        top = {k for item, k in self.items.items() if item.sort == "in"}
        bottom = {k for item, k in self.items.items() if item.sort == "out"}
        return ranks(len(self.items), self.pairs, top, bottom)

    def too_long(self) -> set[Piece]:
        """The longest pieces, where all together would cross too many rows to be drawn."""
        budget = _CROSSINGS + 2 * len(self.items)
        return {self.pieces[k] for k in long_links(self.ranks(), self.pairs, budget)}


def way(drawing: Drawing, edge: Edge) -> Way:
    """The pieces of an edge: out of its tail's cluster, across, into its head's."""
    tail, head = edge.tail, edge.head
    a, b = drawing.nodes[tail].cluster, drawing.nodes[head].cluster
    if a == b:
        return [(a, Piece(Item("node", tail), Item("node", head), tail))]
    found: Way = []
    outer_tail, outer_head = Item("node", tail), Item("node", head)
    if a is not None:
        found.append((a, Piece(outer_tail, Item("out", tail), tail)))
        outer_tail = Item("cluster", a)
    if b is not None:
        outer_head = Item("cluster", b)
    found.append((None, Piece(outer_tail, outer_head, tail)))
    if b is not None:
        found.append((b, Piece(Item("in", tail), Item("node", head), tail)))
    return found


def frames(drawing: Drawing, ways: Iterable[Way]) -> dict[int | None, Frame]:
    """The whole (None) and the inside of each cluster, with the pieces of these ways."""
    pieces: dict[int | None, dict[Piece, None]] = {c: {} for c in range(len(drawing.clusters))}
    pieces[None] = {}
    for c, piece in (step for each in ways for step in each):
        pieces[c][piece] = None
    nodes: dict[int | None, list[Item]] = {c: [] for c in pieces}
    for k, node in enumerate(drawing.nodes):
        nodes[node.cluster].append(Item("node", k))
    made: dict[int | None, Frame] = {}
    last = {}
    for c in range(len(drawing.clusters)):
        last[Item("cluster", c)] = nodes[c][-1].number
        enter = dict.fromkeys(p.tail for p in pieces[c] if p.tail.sort == "in")
        leave = dict.fromkeys(p.head for p in pieces[c] if p.head.sort == "out")
        made[c] = Frame([*enter, *nodes[c], *leave], pieces[c])
    whole = sorted([*nodes[None], *last], key=lambda item: last.get(item, item.number))
    made[None] = Frame(whole, pieces[None])
    return made
