"""Drawing: what is drawn of an expression, a graph, a schedule or a plan, whoever prints it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from deepgraph.dims import Shape, Size, code, product
from deepgraph.drawn import Drawn
from deepgraph.expr import Expr, Kind
from deepgraph.graph import Graph
from deepgraph.plan import Home, Plan
from deepgraph.provenance import Origins, first_lines
from deepgraph.schedule import Instr, Kernel, Schedule
from deepgraph.show import labels
from deepgraph.show.labels import number, visible


@dataclass(frozen=True)
class Node:
    """A box: an operation, a leaf, or a result. `bytes` is what it takes in memory, if it does.

    `kind` is placeholder, parameter, constant, elementwise, reduce, view, call, output, update,
    note, or marked for what an error points at; layer, for a whole layer, and port, where a value
    leads out of what is drawn. `home` says where a plan keeps the value.
    """

    label: str
    kind: str
    dtype: str = ""
    shape: str = ""
    bytes: Size | None = None
    home: str = ""
    cluster: int | None = None
    origins: Origins = ()
    ordered: bool = False  # its operands, in the order of its edges, cannot change places
    repeat: bool = False  # the same node is drawn elsewhere too
    told: tuple[str, ...] = ()  # more lines
    heat: float = 0.0  # of the kernels in a layer
    mark: str = ""  # new or removed, where two graphs are compared
    value: Expr | None = field(default=None, compare=False, repr=False)  # whose node it is
    inside: Drawing | None = field(default=None, compare=False, repr=False)  # of a layer

    @property
    def details(self) -> tuple[str, ...]:
        """The lines below the label: the type, and what it takes of which memory."""
        memory = [labels.size_text(self.bytes)] if self.bytes is not None else []
        under = (self.dtype + self.shape, " · ".join(filter(None, [*memory, self.home])))
        return tuple(filter(None, (*under, *self.told)))

    @property
    def hint(self) -> str:
        """Where it was declared, and the line; each line if several are one now."""
        texts = [text for o in first_lines(self.origins) for text in (str(o), o.line)]
        return visible("\n".join(filter(None, texts)))


@dataclass(frozen=True)
class Edge:
    """A value on its way from the node that makes it to one that reads it.

    `kind` is data; alias, where the reader is a view of the same bytes; or in-place, where the
    reader's result takes the memory of what it reads.
    """

    tail: int
    head: int
    kind: str = "data"


@dataclass(frozen=True)
class Cluster:
    """A box around nodes: a kernel, by its number; `heat` is its share of the time, if known."""

    title: str
    detail: str = ""
    number: int = -1
    heat: float = 0.0


@dataclass(frozen=True)
class Drawing:
    """Nodes, edges and clusters. Every edge leads from an earlier node to a later one."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...] = ()


def drawing(thing: Drawn) -> Drawing:
    """The drawing of an Expr, Graph, Schedule or Plan, or of what says that it is drawn as one.

    Numbers (constants of one element, and sizes) are written into the nodes that read them.
    """
    shown = thing.drawn_as()
    if isinstance(shown, Drawing):
        return shown
    if isinstance(shown, Plan):
        return _Scheduled(shown.schedule, shown.homes).drawing()
    if isinstance(shown, Schedule):
        return _Scheduled(shown).drawing()
    if isinstance(shown, Graph):
        return _Declared(shown).drawing()
    if isinstance(shown, Expr):
        return _Declared(Graph((), {"": shown})).drawing(results=False)
    raise TypeError(f"draws expressions, graphs, schedules and plans: got {type(shown).__name__}")


class _Pen:
    """Collects what is drawn; `at` says which node shows a value."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.origins = graph.origins
        self.at: dict[Expr, int] = {}
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.clusters: list[Cluster] = []
        self._shapes: dict[Shape, str] = {}

    def add(self, node: Node, tails: Iterable[int], edge: str = "data") -> int:
        """Draw a node and the edges that lead to it."""
        self.nodes.append(node)
        self.edges += [Edge(t, len(self.nodes) - 1, edge) for t in tails]
        return len(self.nodes) - 1

    def value(
        self, node: Expr, operands: list[int | str], cluster: int | None = None,
        stored: bool = True, home: str = "",
    ) -> int:  # fmt: skip
        """Draw a value over its operands: nodes that are drawn, or the text of numbers."""
        tails = [o for o in operands if isinstance(o, int)]
        texts = ["·" if isinstance(o, int) else o for o in operands]
        view = node.op.kind is Kind.VIEW
        nbytes = product(node.shape) * node.dtype.itemsize if stored and not view else None
        text = labels.label(node, texts if len(tails) < len(texts) else [])
        box = Node(
            text, labels.kind(node), node.dtype.name, self.shape(node.shape), nbytes, home, cluster,
            self.origins(node), labels.ordered(node), value=node,
        )  # fmt: skip
        return self.add(box, tails, "alias" if view else "data")

    def shape(self, shape: Shape) -> str:
        if shape not in self._shapes:
            self._shapes[shape] = f"[{', '.join(map(code, shape))}]"
        return self._shapes[shape]

    def results(self, at: Callable[[Expr], int]) -> None:
        """Draw the outputs and updates."""
        results = [(name, "output", value) for name, value in self.graph.outputs.items()]
        results += [(p.name, "update", value) for p, value in self.graph.updates.items()]
        for name, kind, value in results:
            box = Node(visible(name), kind, origins=self.origins(value), value=value)
            self.add(box, [at(value)])

    def drawn(self) -> Drawing:
        """What was drawn."""
        return Drawing(tuple(self.nodes), tuple(self.edges), tuple(self.clusters))


class _Declared(_Pen):
    def drawing(self, results: bool = True) -> Drawing:
        numbers: dict[Expr, str] = {}
        for node in self.graph.nodes:
            text = None if node in self.graph.results else number(node)
            if text is not None:
                numbers[node] = text
                continue
            operands = [numbers[i] if i in numbers else self.at[i] for i in node.inputs]
            self.at[node] = self.value(node, operands)
        if results:
            self.results(self.at.__getitem__)
        return self.drawn()


class _Scheduled(_Pen):
    """Kernels as clusters, a view in each kernel that reads through it; only stores take bytes."""

    def __init__(self, schedule: Schedule, homes: Mapping[Expr, Home] | None = None) -> None:
        super().__init__(schedule.graph)
        self.schedule = schedule
        self.origins = schedule.origins
        self.homes = homes or {}
        self._declared = set(schedule.graph.nodes)
        self._views: dict[Expr, int] = {}  # those drawn in the kernel at hand

    def drawing(self) -> Drawing:
        for k, kernel in enumerate(self.schedule.kernels):
            self.clusters.append(_titled(k, kernel))
            self._views = {}
            stored = frozenset(kernel.writes)
            for instr in kernel.body:
                self._instr(k, kernel, instr, instr.node in stored)
            self._in_place(kernel)
        self.results(self._value)
        return self.drawn()

    def _instr(self, k: int, kernel: Kernel, instr: Instr, stored: bool) -> None:
        operands: list[int | str] = []
        for read, arg in zip(instr.node.inputs, instr.args, strict=True):
            if not isinstance(arg, int):
                operands.append(labels.operand_text(arg))
                continue
            inner = arg - len(kernel.loads)
            base = kernel.loads[arg].value if inner < 0 else kernel.body[inner].node
            operands.append(self._through(read, base, k))
        home = visible(str(self.homes.get(instr.node, ""))) if stored else ""
        self.at[instr.node] = self.value(instr.node, operands, k, stored, home)

    def _through(self, read: Expr, base: Expr, k: int | None) -> int:
        """The node that shows `read`, a view of `base`, in kernel `k`; drawn if it is not yet.

        Where a pass had to copy a view, `base` is the copy: the views before it are the copy's.
        """
        copied = () if base in self._declared else base.inputs
        chain = []
        while read is not base and read not in self._views and read.op.kind is Kind.VIEW:
            if any(read is c for c in copied):
                break
            chain.append(read)
            read = read.inputs[0]
        found = self._views[read] if read in self._views else self._value(base)
        for view in reversed(chain):
            found = self._views[view] = self.value(view, [found], k)
        return found

    def _value(self, value: Expr) -> int:
        """The node of a value that kernels make, or of a leaf or result that none makes."""
        if value not in self.at:
            base = value
            while base.op.kind is Kind.VIEW and base not in self.at:
                base = base.inputs[0]
            if base is value:
                self.at[value] = self.value(value, [])
            else:
                self._views = {}
                self.at[value] = self._through(value, base, None)
        return self.at[value]

    def _in_place(self, kernel: Kernel) -> None:
        """Mark what takes the memory of a value that the same kernel reads."""
        for made in kernel.writes:
            home = self.homes.get(made)
            for read in kernel.reads:
                mine = self.homes.get(read) or Home("parameter", read)
                if mine == home and read is not made:
                    self._mark(self.at[read], self.at[made])

    def _mark(self, tail: int, head: int) -> None:
        for k in range(len(self.edges) - 1, -1, -1):
            edge = self.edges[k]
            if (edge.tail, edge.head) == (tail, head):
                self.edges[k] = replace(edge, kind="in-place")
                return
        self.edges.append(Edge(tail, head, "in-place"))


def _titled(k: int, kernel: Kernel) -> Cluster:
    title = f"{k} {kernel.kind}" + (f" {kernel.name}" if len(kernel.body) > 1 else "")
    return Cluster(title, labels.kernel_space(kernel), k)
