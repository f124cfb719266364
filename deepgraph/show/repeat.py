"""Draw a leaf again where it is read far below, rather than a line through the whole picture."""

from __future__ import annotations

from dataclasses import replace

from deepgraph.show.drawing import Drawing, Edge, Node
from deepgraph.show.frames import Item, frames, way

FAR = 6  # rows
LEAVES = ("placeholder", "parameter", "constant")


def repeated(drawing: Drawing) -> Drawing:
    """The drawing with leaves repeated above the node or cluster that reads them from far away.

    What is repeated has the leaf's name and nothing below it; a cluster gets one for all its nodes.
    """
    whole = frames(drawing, [way(drawing, edge) for edge in drawing.edges])[None]
    row = dict(zip(whole.items, whole.ranks(), strict=True))

    def unit(k: int) -> Item:
        c = drawing.nodes[k].cluster
        return Item("node", k) if c is None else Item("cluster", c)

    again: dict[tuple[int, Item], int] = {}  # leaf and reader -> the reader's first node
    for edge in drawing.edges:
        far = row[unit(edge.head)] - row[unit(edge.tail)] >= FAR
        if drawing.nodes[edge.tail].kind in LEAVES and far:
            key = edge.tail, unit(edge.head)
            again[key] = min(edge.head, again.get(key, edge.head))
    if not again:
        return drawing
    before: dict[int, list[tuple[int, Item]]] = {}
    for key, reader in again.items():
        before.setdefault(reader, []).append(key)
    nodes: list[Node] = []
    number: dict[int, int] = {}
    copies: dict[tuple[int, Item], int] = {}
    for k, node in enumerate(drawing.nodes):
        for key in before.get(k, ()):
            copies[key] = len(nodes)
            leaf = drawing.nodes[key[0]]
            nodes.append(replace(leaf, dtype="", shape="", bytes=None, repeat=True))
        number[k] = len(nodes)
        nodes.append(node)
    edges = [
        Edge(copies.get((e.tail, unit(e.head)), number[e.tail]), number[e.head], e.kind)
        for e in drawing.edges
    ]
    return Drawing(tuple(nodes), tuple(edges), drawing.clusters)
