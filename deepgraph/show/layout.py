"""Layout: a place for everything in a drawing, each cluster laid out by itself, then as a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from deepgraph.show.drawing import Cluster, Drawing, Node
from deepgraph.show.frames import Frame, Item, Piece, frames, way
from deepgraph.show.layered import Box, Layered, Point, Route, layered
from deepgraph.show.measure import shortened, width
from deepgraph.show.palette import NODES
from deepgraph.show.rows import Link

LABEL, DETAIL = 12.0, 10.0  # font sizes; a cluster's title has that of details
LEADING = 1.3  # from line to line, in font sizes
LONGEST = 48  # characters of a line
PAD = 12.0  # around the whole, and inside a cluster


class Text(NamedTuple):
    """The lines in a box, `labels` above `details`."""

    labels: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        wide = [width(t, LABEL) for t in self.labels] + [width(t, DETAIL) for t in self.details]
        tall = (LABEL * len(self.labels) + DETAIL * len(self.details)) * LEADING
        return max(wide, default=0.0), tall


@dataclass(frozen=True)
class Layout:
    """Boxes of nodes and clusters, their text, and a route for each edge.

    `titles` are where the text of clusters is. An edge too long to draw has an empty route and is
    named at both ends: its tail says `↓12`, its head `↑12`, by the number of the tail.
    """

    nodes: list[Box]
    texts: list[Text]
    clusters: list[Box]
    headings: list[Text]
    titles: list[Box]
    routes: list[Route]
    width: float
    height: float


class _Inside(NamedTuple):
    """A cluster as laid out: its own size, and what is where from its left upper corner."""

    size: tuple[float, float]
    boxes: dict[Item, Box]
    routes: dict[Piece, Route]
    title: Box


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
    texts = _texts(drawing, cut)
    sizes = [_size(node, text) for node, text in zip(drawing.nodes, texts, strict=True)]
    headings = [_heading(cluster) for cluster in drawing.clusters]
    inside = [_inside(made[c], sizes, text) for c, text in enumerate(headings)]
    whole = _whole(made[None], sizes, inside)
    spots = dict(zip(made[None].items, whole.boxes, strict=True))
    corners = [spots[Item("cluster", c)] for c in range(len(inside))]

    def box(k: int) -> Box:
        c = drawing.nodes[k].cluster
        item = Item("node", k)
        return spots[item] if c is None else inside[c].boxes[item].moved(corners[c].x, corners[c].y)

    across = dict(zip(made[None].pieces, whole.routes, strict=True))
    routes: list[Route] = []
    for each in ways:
        route: Route = []
        for c, piece in each:
            x, y = (0.0, 0.0) if c is None else corners[c][:2]
            run = across[piece] if c is None else inside[c].routes[piece]
            route += [Point(p.x + x, p.y + y) for p in run]
        routes.append(route)
    titles = [i.title.moved(b.x, b.y) for i, b in zip(inside, corners, strict=True)]
    nodes = [box(k) for k in range(len(drawing.nodes))]
    return Layout(nodes, texts, corners, headings, titles, routes, whole.width, whole.height)


def _texts(drawing: Drawing, cut: list[int]) -> list[Text]:
    """The text of each node, with the names of edges that are not drawn."""
    names: dict[int, dict[str, None]] = {}
    for k in cut:
        tail, head = drawing.edges[k].tail, drawing.edges[k].head
        names.setdefault(tail, {})[f"↓{tail}"] = None
        names.setdefault(head, {})[f"↑{tail}"] = None
    found = []
    for k, node in enumerate(drawing.nodes):
        more = list(names.get(k, ()))
        if len(more) > 5:
            more[4:] = [f"… {len(more) - 4} more"]
        lines = [*node.details, *[" ".join(more)] * bool(more)]
        found.append(Text(_short(node.label.split("\n")), _short(lines)))
    return found


def _short(lines: list[str]) -> tuple[str, ...]:
    return tuple(shortened(line, LONGEST) for line in lines)


def _size(node: Node, text: Text) -> tuple[float, float]:
    wide, tall = text.size
    return wide + (24 if NODES[node.kind].round else 16), tall + 8


def _heading(cluster: Cluster) -> Text:
    return Text((), _short([t for t in (cluster.title, cluster.detail) if t]))


def _inside(frame: Frame, sizes: list[tuple[float, float]], heading: Text) -> _Inside:
    """Lay out a cluster: ports at its edges, its title where no value enters."""
    wide, tall = heading.size
    band = tall + 8

    def size(item: Item) -> tuple[float, float]:
        return sizes[item.number] if item.sort == "node" else (0.0, band * (item.sort == "in"))

    links = [Link(*pair, size(p.tail)[0] / 2, size(p.head)[0] / 2)
             for p, pair in zip(frame.pieces, frame.pairs, strict=True)]  # fmt: skip
    laid = layered([size(item) for item in frame.items], frame.ranks(), links)
    enter = [b.x + PAD for item, b in zip(frame.items, laid.boxes, strict=True) if item.sort == "in"]
    left, right = _gap(enter, laid.width + 2 * PAD, wide + 2 * PAD)
    push = max(0.0, -left)
    top = 0.0 if enter else band
    bottom = 0.0 if any(item.sort == "out" for item in frame.items) else PAD
    boxes = {item: b.moved(PAD + push, top) for item, b in zip(frame.items, laid.boxes, strict=True)}
    routes = {
        piece: [Point(p.x + PAD + push, p.y + top) for p in route]
        for piece, route in zip(frame.pieces, laid.routes, strict=True)
    }
    full = max(laid.width + 2 * PAD, right) + push
    title = Box(left + push + PAD, 4, wide, tall)
    return _Inside((full, laid.height + top + bottom), boxes, routes, title)


def _gap(lines: list[float], across: float, needed: float) -> tuple[float, float]:
    """Where something `needed` wide fits between upright lines; beyond the nearer end if nowhere."""
    ends = [0.0, *sorted(lines), across]
    for a, b in zip(ends, ends[1:], strict=False):
        if b - a >= needed:
            return a, a + needed
    if ends[1] >= across - ends[-2]:
        return ends[1] - needed, ends[1]
    return ends[-2], ends[-2] + needed


def _whole(
    frame: Frame, sizes: list[tuple[float, float]], inside: list[_Inside]
) -> Layered:
    """Lay out nodes and clusters; links meet clusters at their ports."""

    def size(item: Item) -> tuple[float, float]:
        return sizes[item.number] if item.sort == "node" else inside[item.number].size

    def at(item: Item, port: Item) -> float:
        if item.sort == "node":
            return sizes[item.number][0] / 2
        return inside[item.number].boxes[port].x

    links = [
        Link(*pair, at(p.tail, Item("out", p.value)), at(p.head, Item("in", p.value)))
        for p, pair in zip(frame.pieces, frame.pairs, strict=True)
    ]
    return layered([size(item) for item in frame.items], frame.ranks(), links)
