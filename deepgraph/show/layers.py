"""Layers: what belongs to one layer of a model as one box, which holds a drawing of its inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from deepgraph.show.contract import contracted, ordered
from deepgraph.show.drawing import Drawing, Edge, Node

FLAT = 120  # nodes that are drawn without folding
BOXES = 60  # boxes that a folded drawing shows, if there are layers to fold
LARGE = 8  # nodes of a kernel that is folded by itself
NAMED = 2  # operations that a folded layer names
LEAVES = ("parameter", "constant")  # drawn beside each reader

Path = tuple[str, ...]  # the names of the layers around something, the outermost first


def folded(drawing: Drawing, flat: int = FLAT, boxes: int = BOXES) -> Drawing:
    """The drawing with its layers as boxes if it has more than `flat` nodes.

    Layers are folded no further than needed for `boxes` boxes, and their insides likewise.
    """
    if len(drawing.nodes) <= flat:
        return drawing
    units = _Units(drawing)
    if not any(units.paths):
        return drawing
    everything = [u for u in range(len(units.nodes)) if u not in units.leaves]
    return _Folder(units, boxes).sheet(everything, 0, inner=False)


def path(node: Node) -> Path:
    """The layers around a node; those of a gradient are layers of their own."""
    if not node.origins or not node.origins[0].scope or node.kind in ("placeholder", "output"):
        return ()
    parts = node.origins[0].scope.split(".")
    of = "gradient of " if node.origins[0].via.startswith("gradient") else ""
    return tuple(of + ".".join(parts[: k + 1]) for k in range(len(parts)))


def _mostly(paths: Iterable[Path]) -> Path:
    """The layers around most nodes of a kernel, if any."""
    return max(Counter(filter(None, paths)).items(), key=lambda item: item[1], default=((), 0))[0]


def _place(node: Node) -> str:
    """The innermost layer around a node; what it is itself if there is none."""
    return (node.label, *path(node))[-1]


class _Units:
    """What stays whole in a drawing: kernels, and nodes in no kernel; and who reads whom."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        whole: dict[tuple[str, int], list[int]] = {}
        for k, node in enumerate(drawing.nodes):
            name = ("node", k) if node.cluster is None else ("kernel", node.cluster)
            whole.setdefault(name, []).append(k)
        self.nodes = sorted(whole.values(), key=lambda inner: inner[-1])  # after what each reads
        self.of = {k: u for u, inner in enumerate(self.nodes) for k in inner}
        self.leaves = {
            u for u, inner in enumerate(self.nodes) if drawing.nodes[inner[0]].kind in LEAVES
        }
        self.above: list[dict[int, None]] = [{} for _ in self.nodes]
        for edge in drawing.edges:
            a, b = self.of[edge.tail], self.of[edge.head]
            if a != b and a not in self.leaves:
                self.above[b][a] = None
        self.reads: list[list[Edge]] = [[] for _ in drawing.nodes]
        self.readers: list[dict[int, None]] = [{} for _ in drawing.nodes]
        for edge in drawing.edges:
            self.reads[edge.head].append(edge)
            self.readers[edge.tail][edge.head] = None
        self.paths = [_mostly(path(drawing.nodes[k]) for k in inner) for inner in self.nodes]
        for edge in drawing.edges:  # a new value of a parameter goes where it is computed
            if drawing.nodes[edge.head].kind == "update":
                self.paths[self.of[edge.head]] = self.paths[self.of[edge.tail]]


@dataclass
class _Folder:
    units: _Units
    boxes: int

    def sheet(self, units: Sequence[int], level: int, inner: bool = True) -> Drawing:
        """The drawing of some units, whose layers up to `level` are around them."""
        groups = [[u] for u in units]
        chosen, depth = level, max((len(self.units.paths[u]) for u in units), default=0)
        if sum(len(self.units.nodes[u]) for u in units) > self.boxes:
            for deep in range(level + 1, depth + 1):
                found = self._grouped(units, deep)
                if deep > level + 1 and self._shown(found) > self.boxes:
                    break
                groups, chosen = found, deep
        return self._drawn(groups, chosen, inner)

    def _grouped(self, units: Sequence[int], deep: int) -> list[list[int]]:
        paths = self.units.paths

        def key(u: int) -> Path | None:
            return paths[u][:deep] or None

        return contracted(units, self.units.above, key)

    def _shown(self, groups: Sequence[Sequence[int]]) -> int:
        return sum(1 if self._folds(g, groups) else len(self.units.nodes[g[0]]) for g in groups)

    def _folds(self, group: Sequence[int], groups: Sequence[Sequence[int]]) -> bool:
        """Is it a box? A kernel alone is one if it is large and not all that is drawn."""
        alone = self.units.nodes[group[0]] if len(group) == 1 and len(groups) > 1 else ()
        return len(group) > 1 or (len(alone) > LARGE and bool(self.units.paths[group[0]]))

    def _drawn(self, groups: Sequence[Sequence[int]], level: int, inner: bool) -> Drawing:
        place = {u: g for g, units in enumerate(groups) for u in units}
        sheet = _Sheet(self.units, inner)
        shown = [
            self.units.nodes[units[0]] if len(units) == 1
            else [k for u in units for k in self.units.nodes[u]]
            for units in groups
        ]  # fmt: skip
        for g in ordered(groups, place, self.units.above):
            if self._folds(groups[g], groups):
                names = self.units.paths[groups[g][0]][: max(level, 1)]
                sheet.layer(names[-1], shown[g], self.sheet(groups[g], level))
            else:
                sheet.plain(shown[g])
        return sheet.done()


class _Sheet:
    """A sheet on its way: nodes of the whole drawing, layers, and ends of what leads outside."""

    def __init__(self, units: _Units, inner: bool) -> None:
        self.units, self.whole, self.inner = units, units.drawing, inner
        self.nodes: list[Node] = []
        self.at: dict[int, int] = {}  # node of the whole -> the node or layer that shows it
        self.kernels: dict[int, int] = {}
        self.edges: dict[Edge, None] = {}

    def plain(self, inner: Sequence[int]) -> None:
        """Draw a kernel, or a node, as it is."""
        for k in inner:
            self._reading([k], partial(self._node, k))

    def layer(self, name: str, inner: Sequence[int], inside: Drawing) -> None:
        """Draw a layer as one box."""
        nodes = [self.whole.nodes[k] for k in inner]
        nodes = [n for n in nodes if n.kind not in (*LEAVES, "update")]
        kernels = {node.cluster for node in nodes if node.cluster is not None}
        told = [_counted(len(nodes), "operation")]
        if kernels:
            told.append(_counted(len(kernels), "kernel"))
        marks = Counter(node.mark for node in nodes if node.mark)
        told += [f"{n} {mark}" for mark, n in marks.items()]
        heat = sum(self.whole.clusters[c].heat for c in kernels)
        if heat:
            told[-1] = f"{heat:.1%} of the time"
        main = [n for n in nodes if n.kind == "call"] or nodes
        names = [*dict.fromkeys(n.label.partition("(")[0] for n in main)]
        told.insert(0, ", ".join(names[:NAMED]) + ", …" * (len(names) > NAMED))

        def draw() -> int:
            self.nodes.append(Node(name, "layer", told=tuple(told), heat=heat, inside=inside))
            return len(self.nodes) - 1

        self._reading(inner, draw)

    def _node(self, k: int) -> int:
        node = self.whole.nodes[k]
        if node.cluster is not None:
            node = replace(node, cluster=self.kernels.setdefault(node.cluster, len(self.kernels)))
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _reading(self, inner: Sequence[int], draw: Callable[[], int]) -> None:
        """Draw what shows these nodes, below what they read."""
        own = set(inner)
        tails: dict[int, Edge] = {}
        for edge in (e for k in inner for e in self.units.reads[k]):
            leaf = self.whole.nodes[edge.tail].kind in LEAVES
            if edge.tail in own or (leaf and len(inner) > 1):  # a layer holds the leaves it reads
                continue
            if edge.tail not in self.at:
                self.at[edge.tail] = self._leaf(edge.tail) if leaf else self._port(edge.tail)
            tails[self.at[edge.tail]] = edge
        head = draw()
        self.at.update(dict.fromkeys(inner, head))
        for tail, edge in tails.items():
            self.edges[Edge(tail, head, edge.kind if len(inner) == 1 else "data")] = None

    def _leaf(self, k: int) -> int:
        self.nodes.append(self.whole.nodes[k])
        return len(self.nodes) - 1

    def _port(self, k: int) -> int:
        """Where a value comes in from outside the layer."""
        made = self.whole.nodes[k]
        around = path(made)
        self.nodes.append(Node(made.label, "port", made.dtype, made.shape, told=around[-1:]))
        return len(self.nodes) - 1

    def done(self) -> Drawing:
        """The drawing; in a layer, with the ends of what others read of it."""
        if self.inner:
            self._leaving()
        clusters = tuple(self.whole.clusters[c] for c in self.kernels)
        return Drawing(tuple(self.nodes), tuple(self.edges), clusters)

    def _leaving(self) -> None:
        for k, at in [*self.at.items()]:
            outside = [h for h in self.units.readers[k] if h not in self.at]
            if outside and self.nodes[at].kind not in ("port", *LEAVES):
                first, *rest = dict.fromkeys(_place(self.whole.nodes[h]) for h in outside)
                more = f" and {len(rest)} more" if rest else ""
                self.nodes.append(Node(f"to {first}{more}", "port"))
                self.edges[Edge(at, len(self.nodes) - 1)] = None


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
