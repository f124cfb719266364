"""Layered: boxes in rows, links from row to row; plain geometry, whatever the boxes hold.

Pairs of links that cross, and seconds, for a softmax (10 boxes), a training step of a perceptron
(92) and one of a ResNet (946), flat; no layout here let boxes overlap:

              10              92              946
    this      0    0.01       18   0.1        522    1.6
    dot       0    0.02       15   0.05       -      more than 90 (Graphviz 2)
    elkjs     0    0.8        28   2.1        617    37
    igraph    0    0.2        66   0.2        8399   2.7

Folded into its layers (see `layers`), the largest has 61 boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from deepgraph.show.columns import columns
from deepgraph.show.rows import Link, Rows, rows, untangle

BETWEEN_ROWS = 26.0


class Point(NamedTuple):
    """In pixels, to the right and down."""

    x: float
    y: float


Route = list[Point]  # upright lines, joined by curves where two points are not one above the other


class Box(NamedTuple):
    """A rectangle by its left upper corner."""

    x: float
    y: float
    width: float
    height: float

    def moved(self, x: float, y: float) -> Box:
        """The same rectangle further right and down."""
        return self._replace(x=self.x + x, y=self.y + y)


class Layered(NamedTuple):
    """Where boxes are and how links run; the whole lies between (0, 0) and (width, height)."""

    boxes: list[Box]
    routes: list[Route]
    width: float
    height: float


@lru_cache(1024)  # the layers of a model are much alike
def layered(
    sizes: tuple[tuple[float, float], ...], ranks: tuple[int, ...], links: tuple[Link, ...]
) -> Layered:
    """Place boxes of these sizes in the rows given by `ranks`; all links lead down."""
    drawn = rows([w for w, _ in sizes], ranks, links)
    untangle(drawn)
    x = columns(drawn)
    tops, heights = _rows(drawn, [h for _, h in sizes], x)
    boxes = []
    for v, (w, h) in enumerate(sizes):
        slack = heights[ranks[v]] - h
        boxes.append(Box(x[v], tops[ranks[v]] + (0 if drawn.above[v] else slack), w, h))
    routes = []
    for link, path in zip(links, drawn.paths, strict=True):
        tail, head = boxes[link.tail], boxes[link.head]
        row = ranks[link.tail]
        route = [Point(tail.x + link.tail_at, tail.y + tail.height)]
        route.append(Point(route[0].x, tops[row] + heights[row]))
        for point in path[1:-1]:
            row += 1
            route += [Point(x[point], tops[row]), Point(x[point], tops[row] + heights[row])]
        end = head.x + link.head_at
        route += [Point(end, tops[row + 1]), Point(end, head.y)]
        routes.append(route)
    width = max((p + w for p, w in zip(x, drawn.widths, strict=True)), default=0.0)
    return Layered(boxes, routes, width, tops[-1] + heights[-1] if tops else 0.0)


def _rows(
    drawn: Rows, heights: Sequence[float], x: Sequence[float]
) -> tuple[list[float], list[float]]:
    """The top and the height of each row; more between two where links run far aside."""
    tops, tall, y = [], [], 0.0
    for row in drawn.rows:
        tops.append(y)
        tall.append(max((heights[v] for v in row if v < drawn.count), default=0.0))
        joints = ((v, j) for v in row for j in drawn.below[v])
        aside = max((abs(x[v] + j.here - x[j.other] - j.there) for v, j in joints), default=0.0)
        y += tall[-1] + BETWEEN_ROWS + min(aside / 12, 34.0)
    return tops, tall
