"""Scenes: drawings laid out and turned into plain data, for the page that shows them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepgraph.expr import Expr
from deepgraph.show.drawing import Drawing, Node
from deepgraph.show.elide import elided
from deepgraph.show.layered import Box
from deepgraph.show.layers import folded
from deepgraph.show.layout import Layout, layout
from deepgraph.show.palette import NODES
from deepgraph.show.repeat import repeated

LIMIT = 1000  # nodes of a sheet


class Scenes:
    """Sheets and texts, each once, however many stages show them.

    `kernels` says which kernel computes a value in the end.
    """

    def __init__(self, kernels: Mapping[Expr, int]) -> None:
        self.sheets: list[dict[str, Any]] = []
        self._kernels = kernels
        self._texts: dict[str, int] = {}
        self._ids: dict[Expr, int] = {}
        self._known: dict[str, int] = {}
        self._layouts: dict[Any, Layout] = {}

    @property
    def text(self) -> list[str]:
        """The texts that sheets name by number."""
        return list(self._texts)

    def add(self, drawing: Drawing) -> int:
        """The number of the sheet that shows a drawing, its layers folded."""
        return self._sheet(folded(drawing))

    def identity(self, value: Expr) -> int:
        """The number by which nodes of a value are known in all sheets."""
        return self._ids.setdefault(value, len(self._ids))

    def _sheet(self, drawing: Drawing) -> int:
        shown = repeated(elided(drawing, LIMIT))
        placed = self._placed(shown)
        keys = _occurrences(node.label for node in shown.nodes)
        sheet = {
            "size": _rounded([placed.width, placed.height]),
            "nodes": [
                self._node(node, placed, k, keys[k], shown) for k, node in enumerate(shown.nodes)
            ],
            "kernels": [
                {"at": _corners(placed.clusters[c]), "title": _rounded(placed.titles[c][:2]),
                 "lines": self._numbers(placed.headings[c].details), "number": cluster.number,
                 **({"heat": _hot(cluster.heat)} if cluster.heat else {})}
                for c, cluster in enumerate(shown.clusters)
            ],
            "edges": [
                {"kind": e.kind, "tail": e.tail, "head": e.head,
                 "route": _rounded([at for point in route for at in point])}
                for e, route in zip(shown.edges, placed.routes, strict=True) if route
            ],
        }  # fmt: skip
        whole = json.dumps(sheet)
        if whole not in self._known:
            self._known[whole] = len(self.sheets)
            self.sheets.append(sheet)
        return self._known[whole]

    def _placed(self, shown: Drawing) -> Layout:
        """Its layout, worked out once for all drawings that have the same boxes and lines."""
        look = tuple(
            (n.label, n.kind, n.details, n.cluster, n.ordered, n.repeat) for n in shown.nodes
        )
        key = look, shown.edges, shown.clusters
        if key not in self._layouts:
            self._layouts[key] = layout(shown)
        return self._layouts[key]

    def _node(self, node: Node, placed: Layout, k: int, key: str, shown: Drawing) -> dict[str, Any]:
        text = placed.texts[k]
        made: dict[str, Any] = {
            "at": _corners(placed.nodes[k]), "kind": node.kind, "key": key,
            "label": self._numbers(text.labels), "details": self._numbers(text.details),
        }  # fmt: skip
        if NODES[node.kind].round:
            made["round"] = 1
        if node.repeat:
            made["again"] = 1
        if node.mark:
            made["mark"] = node.mark
        if node.heat:
            made["heat"] = _hot(node.heat)
        if node.hint:
            made["hint"] = self._numbers(node.hint.split("\n"))
        if node.value is not None and node.kind not in ("output", "update"):
            made["id"] = self.identity(node.value)
            if node.value in self._kernels:
                made["kernel"] = self._kernels[node.value]
        if node.cluster is not None:
            made["kernel"] = shown.clusters[node.cluster].number
        if node.inside is not None:
            made["inside"] = self._sheet(node.inside)
        return made

    def _numbers(self, texts: Iterable[str]) -> list[int]:
        return [self._texts.setdefault(text, len(self._texts)) for text in texts]


def _occurrences(labels: Iterable[str]) -> list[str]:
    """The labels, told apart by how many of each there were before."""
    seen: Counter[str] = Counter()
    found = []
    for label in labels:
        found.append(f"{label}#{seen[label]}")
        seen[label] += 1
    return found


def _pixel(at: float) -> int:
    """The nearest whole number, the same for numbers that differ by errors of sums alone."""
    return round(at + 1e-6)


def _rounded(numbers: Sequence[float]) -> list[int]:
    return [*map(_pixel, numbers)]


def _corners(box: Box) -> list[int]:
    """Left, top, width and height, such that all four sides are where lines that meet them end."""
    x, y = _pixel(box.x), _pixel(box.y)
    return [x, y, _pixel(box.x + box.width) - x, _pixel(box.y + box.height) - y]


def _hot(share: float) -> float:
    """How opaque the colour of heat is."""
    return round(0.03 + 0.75 * share, 2)
