"""Layout: a place for everything in a drawing, each cluster laid out by itself, then as a box."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from deepgraph.show.drawing import Drawing
from deepgraph.show.frames import Frame, Item, Piece, frames, way
from deepgraph.show.layered import Box, Point, Route, layered
from deepgraph.show.lettering import Size, Text, framed, heading, lettering
from deepgraph.show.rows import Link

PAD = 12.0  # inside a cluster, to the left and right
ENTRIES = 18.0  # between the operands of a node

Entries = dict[tuple[int, int], float]


@dataclass(frozen=True)
class Layout:
    """Boxes of nodes and clusters, their text, and a route for each edge.

    `titles` are the boxes of the clusters' `headings`. An edge too long to draw has an empty route
    and is named at both ends: its tail says `↓12`, its head `↑12`, by the number of the tail.
    """

    nodes: list[Box]
    texts: list[Text]
    clusters: list[Box]
    headings: list[Text]
    titles: list[Box]
    routes: list[Route]
    width: float
    height: float


class _Laid(NamedTuple):
    """A frame: how large it is, and what is where from its left upper corner."""

    size: Size
    boxes: dict[Item, Box]
    routes: dict[Piece, Route]

    def moved(self, x: float, y: float) -> _Laid:
        """The same further right and down, in a frame as much larger."""
        boxes = {item: b.moved(x, y) for item, b in self.boxes.items()}
        routes = {
            p: [Point(at.x + x, at.y + y) for at in route] for p, route in self.routes.items()
        }
        return _Laid((self.size[0] + x, self.size[1] + y), boxes, routes)


def layout(drawing: Drawing) -> Layout:
    """Where everything in a drawing goes."""
    ways = [way(drawing, edge) for edge in drawing.edges]
    made = frames(drawing, ways)
    long = {c: frame.too_long() for c, frame in made.items()}
    cut = [k for k, each in enumerate(ways) if any(piece in long[c] for c, piece in each)]
    if cut:
        for k in cut:
            ways[k] = []
        made = frames(drawing, ways)
    texts = lettering(drawing, cut)
    sizes = [framed(node, text) for node, text in zip(drawing.nodes, texts, strict=True)]
    entries = _entries(drawing, sizes)
    headings = [heading(cluster) for cluster in drawing.clusters]
    inside = [_inside(made[c], sizes, entries, text) for c, text in enumerate(headings)]
    inner = [laid for laid, _ in inside]
    whole = _whole(made[None], sizes, entries, inner)
    corners = [whole.boxes[Item("cluster", c)] for c in range(len(inner))]
    laid: dict[int | None, _Laid] = {None: whole}
    laid |= {c: each.moved(*corners[c][:2]) for c, each in enumerate(inner)}
    nodes = [laid[n.cluster].boxes[Item("node", k)] for k, n in enumerate(drawing.nodes)]
    routes = [[at for c, piece in each for at in laid[c].routes[piece]] for each in ways]
    titles = [title.moved(*corners[c][:2]) for c, (_, title) in enumerate(inside)]
    return Layout(nodes, texts, corners, headings, titles, routes, *whole.size)


def _entries(drawing: Drawing, sizes: Sequence[Size]) -> Entries:
    """Where the edge from a tail to a head ends, from the head's left: its operands in order."""
    operands: dict[int, dict[int, None]] = {}
    for edge in drawing.edges:
        operands.setdefault(edge.head, {})[edge.tail] = None
    found = {}
    for head, tails in operands.items():
        wide, count = sizes[head][0], len(tails)
        apart = min(ENTRIES, wide / (count + 1)) if drawing.nodes[head].ordered else 0.0
        for k, tail in enumerate(tails):
            found[tail, head] = wide / 2 + apart * (k - (count - 1) / 2)
    return found


def _inside(frame: Frame, sizes: Sequence[Size], entries: Entries, text: Text) -> tuple[_Laid, Box]:
    """A cluster, ports at its top and bottom, and where its title goes: where no value enters."""
    wide, tall = text.size
    band = tall + 8
    size = {item: sizes[item.number] for item in frame.items if item.sort == "node"}
    size |= {item: (0.0, band) for item in frame.items if item.sort == "in"}
    size |= {item: (0.0, 0.0) for item in frame.items if item.sort == "out"}

    def enters(p: Piece) -> float:
        return entries[p.value, p.head.number] if p.head.sort == "node" else 0.0

    laid = _placed(frame, size, lambda p: size[p.tail][0] / 2, enters)
    ports = [box.x + PAD for item, box in laid.boxes.items() if item.sort == "in"]
    left, right = _gap(ports, laid.size[0] + 2 * PAD, wide + 2 * PAD)
    push = max(0.0, -left)
    laid = laid.moved(PAD + push, 0.0 if ports else band)
    ends = any(item.sort == "out" for item in frame.items)
    full = max(laid.size[0] + PAD, right + push), laid.size[1] + (0.0 if ends else PAD)
    return laid._replace(size=full), Box(left + push + PAD, 4, wide, tall)


def _gap(lines: Sequence[float], across: float, needed: float) -> tuple[float, float]:
    """Where so much fits between upright lines; if nowhere, beyond the nearer end."""
    ends = [0.0, *sorted(lines), across]
    for a, b in pairwise(ends):
        if b - a >= needed:
            return a, a + needed
    if ends[1] >= across - ends[-2]:
        return ends[1] - needed, ends[1]
    return ends[-2], ends[-2] + needed


def _whole(frame: Frame, sizes: Sequence[Size], entries: Entries, inner: Sequence[_Laid]) -> _Laid:
    """Nodes and clusters; links meet clusters at their ports."""
    size = {
        item: sizes[item.number] if item.sort == "node" else inner[item.number].size
        for item in frame.items
    }

    def leaves(p: Piece) -> float:
        if p.tail.sort == "node":
            return size[p.tail][0] / 2
        return inner[p.tail.number].boxes[Item("out", p.value)].x

    def enters(p: Piece) -> float:
        if p.head.sort == "node":
            return entries[p.value, p.head.number]
        return inner[p.head.number].boxes[Item("in", p.value)].x

    return _placed(frame, size, leaves, enters)


def _placed(
    frame: Frame, size: Mapping[Item, Size], leaves: Callable[[Piece], float],
    enters: Callable[[Piece], float],
) -> _Laid:  # fmt: skip
    """A frame with its items and pieces in place; pieces leave and enter boxes where it is said."""
    links = tuple(
        Link(*pair, leaves(p), enters(p)) for p, pair in zip(frame.pieces, frame.pairs, strict=True)
    )
    made = layered(tuple(size[item] for item in frame.items), tuple(frame.ranks()), links)
    boxes = dict(zip(frame.items, made.boxes, strict=True))
    routes = dict(zip(frame.pieces, made.routes, strict=True))
    return _Laid((made.width, made.height), boxes, routes)
