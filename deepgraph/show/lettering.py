"""Lettering: the lines of text in each box of a drawing, and the size of the box around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deepgraph.show.drawing import Cluster, Drawing, Node
from deepgraph.show.measure import shortened, width
from deepgraph.show.palette import NODES

LABEL, DETAIL = 12.0, 10.0  # font sizes; a cluster's title has that of details
LEADING = 1.3  # from line to line, in font sizes
LONGEST = 48  # characters of a line
NAMED = 4  # edges that are named at a node, of those too long to draw

Size = tuple[float, float]  # width and height


class Text(NamedTuple):
    """The lines in a box, `labels` above `details`."""

    labels: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def size(self) -> Size:
        """What the lines take."""
        wide = [width(t, LABEL) for t in self.labels] + [width(t, DETAIL) for t in self.details]
        tall = (LABEL * len(self.labels) + DETAIL * len(self.details)) * LEADING
        return max(wide, default=0.0), tall


def lettering(drawing: Drawing, cut: Sequence[int]) -> list[Text]:
    """The text of each node; the edges in `cut`, which are not drawn, are named at both ends."""
    names: dict[int, dict[str, None]] = {}
    for edge in (drawing.edges[k] for k in cut):
        names.setdefault(edge.tail, {})[f"↓{edge.tail}"] = None
        names.setdefault(edge.head, {})[f"↑{edge.tail}"] = None
    found = []
    for k, node in enumerate(drawing.nodes):
        ends = list(names.get(k, ()))
        if len(ends) > NAMED:
            ends[NAMED:] = [f"… {len(ends) - NAMED} more"]
        lines = [*node.details, " ".join(ends)] if ends else node.details
        found.append(Text(_short(node.label.split("\n")), _short(lines)))
    return found


def heading(cluster: Cluster) -> Text:
    """The text of a cluster."""
    return Text((), _short([line for line in (cluster.title, cluster.detail) if line]))


def framed(node: Node, text: Text) -> Size:
    """The size of a node's box; round ends take more."""
    wide, tall = text.size
    return wide + (24 if NODES[node.kind].round else 16), tall + 8


def _short(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(shortened(line, LONGEST) for line in lines)
