"""Group nodes into kernels, so that what is between lives in registers or in the cache."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from deepgraph.dims import Size, at_least, product, same
from deepgraph.expr import Expr, Kind
from deepgraph.graph import Graph
from deepgraph.passes.kernels import Group, build, index_shape, result_axes, single, spread
from deepgraph.passes.line import Item, Line
from deepgraph.passes.peaks import Peak, made, needed, peaks, plan_of, unfused
from deepgraph.passes.views import Alignments, Axes
from deepgraph.plan import Plan
from deepgraph.schedule import Schedule
from deepgraph.target import Target


def fuse(
    graph: Graph, target: Target, hints: Mapping[str, int] | None = None,
    donate: Collection[str] = (), plan: Callable[[Schedule], Plan] | None = None,
) -> Schedule:  # fmt: skip
    """Kernels of elementwise and reducing nodes, grown from consumers back to producers.

    A node joins the kernels that read it where its axes line up with theirs, and where no path
    leaves the merged kernel and comes back. Reductions over the same axes of the same rows join
    too, so that a softmax is one kernel. A merge that would keep more bytes alive than it saves
    is left. Should the plan of the whole still peak higher than that of `split`, at any of a few
    sizes, nodes are grouped as they stand in the order in which `split` runs; then what runs at
    those peaks joins only what alone reads it, and if that does not help nothing; and so on, a few
    times, until at last all are left apart. The plan of `split` is made only where what it needs at
    least does not settle the matter. `plan` gives the plan of a schedule.
    """
    hints = hints or {}
    plan = plan or partial(plan_of, target=target, hints=hints, donate=donate)
    tasks = unfused(graph, hints)
    declared, run = computed(graph), [made(task) for task in tasks]
    limits, apart = None if donate else needed(tasks, graph, hints), None
    reserve: Counter[Expr] = Counter()
    for nodes in (declared, *[run] * _REPAIRS):
        fused = build(graph, _Fusion(graph, target, nodes, reserve).groups(), target)
        found = peaks(plan(fused), target, hints)
        if apart is None and _above(found, limits):
            apart = split(graph, target)
            limits = [peak.bytes for peak in peaks(plan(apart), target, hints)]
        if not (above := _above(found, limits)):
            return fused
        if nodes is run:
            reserve.update(set[Expr]().union(*(peak.nodes for peak in above)))
    assert apart is not None
    return apart


def _above(found: Sequence[Peak], limits: Sequence[int] | None) -> list[Peak]:
    """The peaks that are above their limits; all if there are none."""
    if limits is None:
        return list(found)
    return [peak for peak, most in zip(found, limits, strict=True) if peak.bytes > most]


def split(graph: Graph, target: Target) -> Schedule:
    """A kernel a node: what `fuse` is compared with."""
    return build(graph, [single(n) for n in computed(graph)], target)


def computed(graph: Graph) -> list[Expr]:
    """The nodes that some kernel must compute."""
    return [n for n in graph.nodes if n.op.kind not in (Kind.SOURCE, Kind.VIEW)]


_REPAIRS = 8  # times that kernels which run at too high a peak are made smaller
_ALONE = 2  # such times from which a node joins no reader


@dataclass(frozen=True)
class _Edge:
    """`reader` reads `made`, along these axes of its index (None: the elements move)."""

    made: Expr
    reader: Expr
    axes: Axes | None


@dataclass(eq=False)
class _Cluster(Item):
    """A group that grows."""

    nodes: list[Expr]
    space: list[Size]
    index: dict[Expr, Axes]
    leader: Expr | None  # its call
    reads: set[Expr]  # what its nodes read, whoever makes it
    folds: dict[Expr, frozenset[int]]  # the axes of the space that each reduction folds


class _Fusion:
    def __init__(
        self, graph: Graph, target: Target, nodes: Sequence[Expr], reserve: Mapping[Expr, int]
    ) -> None:
        self.graph, self.target, self.nodes, self.reserve = graph, target, nodes, reserve
        self.position = {n: k for k, n in enumerate(nodes)}
        self.home: dict[Expr, _Cluster] = {}
        self.incoming: dict[Expr, list[_Edge]] = {}
        self.outgoing: dict[Expr, list[_Edge]] = {}
        self.line: Line[_Cluster] = Line()
        self.dear: list[Expr] = []  # to try again, once what they read has joined them
        alignments = Alignments()
        for node in nodes:
            self._enter(node, alignments)

    def _enter(self, node: Expr, alignments: Alignments) -> None:
        alone = single(node)
        reads = {alignments.of(i)[0] for i in node.inputs}
        space, index = alone.space, dict(alone.index)
        if alone.leader is not None:
            space, index[node] = spread(node.shape)
        cluster = _Cluster([node], list(space), index, alone.leader, reads, {})
        if node.op.kind is Kind.REDUCE:
            cluster.folds[node] = _fold_axes(node, cluster.index[node])
        self.home[node] = cluster
        self.line.append(cluster)
        self.incoming[node], self.outgoing[node] = [], []
        for operand in node.inputs:
            base, axes = alignments.of(operand)
            if base not in self.home:
                continue
            edge = _Edge(base, node, _reading(node, operand, base, axes))
            self.incoming[node].append(edge)
            self.outgoing[base].append(edge)
            self.line.depend(cluster, on=self.home[base])

    def groups(self) -> list[Group]:
        calls = [n for n in self.nodes if n.op.kind is Kind.CALL and self.target.epilogue(n)]
        others = [n for n in self.nodes if n.op.kind is not Kind.CALL]
        for node in (*reversed(others), *reversed(calls)):
            self._join(node)
        for node in list(self.dear):
            self._join(node)
        return [self._group(c) for c in self.line.items()]

    def _join(self, node: Expr) -> None:
        """Merge what computes a node into the kernels that read it, where it can be."""
        if self.reserve.get(node, 0) >= _ALONE:
            return
        readers = {self.home[e.reader] for e in self.outgoing[node]}
        for reader in sorted(readers, key=lambda c: c.place):
            cluster = self.home[node]
            if reader is not cluster and self._fits(cluster, reader):
                self._try(cluster, reader)

    def _reserved(self, a: _Cluster) -> bool:
        return any(self.reserve.get(n, 0) for n in a.nodes)

    def _group(self, cluster: _Cluster) -> Group:
        nodes = tuple(sorted(cluster.nodes, key=self.position.__getitem__))
        apart = cluster.leader is not None and len(nodes) == 1
        return Group(nodes) if apart else Group(nodes, tuple(cluster.space), cluster.index)

    def _fits(self, a: _Cluster, b: _Cluster) -> bool:
        if b.leader is not None or len(a.nodes) + len(b.nodes) > self.target.max_nodes:
            return False
        if a.leader is not None and (b.folds or not self.target.epilogue(a.leader)):
            return False
        reads = a.reads | b.reads
        if len(reads) <= self.target.max_operands:
            return True
        return sum(self.home.get(v) not in (a, b) for v in reads) <= self.target.max_operands

    def _try(self, a: _Cluster, b: _Cluster) -> None:
        """Merge `a` into `b`, which reads it, if their axes line up and no path goes around."""
        if self._reserved(a) and self._seen_outside(a, b):
            return
        stretch = self.line.stretch(a, b)
        matched = None if stretch is None else self._match(a, b)
        if stretch is None or matched is None:
            return
        moved, space = matched
        index = {
            n: tuple(None if x is None else moved[x] for x in axes) for n, axes in a.index.items()
        }
        folds = {n: _fold_axes(n, index[n]) for n in a.folds}
        if not self._runs_by_rows(a, b, {**folds, **b.folds}, index):
            return
        if not self._affordable(a, b):
            self.dear.append(a.nodes[0])
        else:
            self.line.merge(a, b, stretch)
            self.home |= dict.fromkeys(a.nodes, b)
            b.nodes += a.nodes
            b.space = space
            b.index |= index
            b.folds |= folds
            b.leader = a.leader
            b.reads.difference_update(a.nodes)
            b.reads.update(v for v in a.reads if self.home.get(v) is not b)

    def _match(self, a: _Cluster, b: _Cluster) -> tuple[dict[int, int], list[Size]] | None:
        """Where each axis of `a` lies in `b`, and the space of both; None if they do not fit."""
        moved: dict[int, int] = {}
        for node in a.nodes:
            for edge in self.outgoing[node]:
                if self.home[edge.reader] is not b:
                    continue
                if edge.axes is None:
                    return None
                made = result_axes(node, a.index[node])
                read = b.index[edge.reader]
                for here, there in zip(made, edge.axes, strict=True):
                    if here is None:
                        continue
                    place = None if there is None else read[there]
                    if place is None or moved.setdefault(here, place) != place:
                        return None
        if len(set(moved.values())) != len(moved):
            return None
        space = list(b.space)
        extra = [x for x in range(len(a.space)) if x not in moved]
        free = [x for x in range(len(space)) if x not in moved.values()]
        if extra and free:
            if len(extra) != len(free):
                return None
            for x, y in zip(extra, free, strict=True):
                if not same(a.space[x], space[y]):
                    return None
                moved[x] = y
        elif extra:
            for x in extra:
                moved[x] = len(space)
                space.append(a.space[x])
        elif free and (
            a.leader is not None or self._seen_outside(a, b) or not self._hoists(a, moved)
        ):  # fmt: skip
            return None
        return moved, space

    def _seen_outside(self, a: _Cluster, b: _Cluster) -> bool:
        return any(
            n in self.graph.results
            or any(self.home[e.reader] not in (a, b) for e in self.outgoing[n])
            for n in a.nodes
        )

    def _hoists(self, a: _Cluster, moved: Mapping[int, int]) -> bool:
        """Is a smaller producer computed once a row, not an element? Its axes are the outer."""
        return set(moved.values()) == set(range(len(moved)))

    def _runs_by_rows(
        self, a: _Cluster, b: _Cluster, folds: Mapping[Expr, frozenset[int]],
        moved: Mapping[Expr, Axes],
    ) -> bool:  # fmt: skip
        """Can the folds of both run one row after another?

        All fold the same axes (the row), or what folds others is used only after all rows are
        through: by nothing that varies along the axes it folds.
        """
        kinds = set(folds.values())
        if len(kinds) <= 1 or not self.target.mixed:
            return len(kinds) <= 1
        index = {**moved, **b.index}
        nodes = sorted(index, key=self.position.__getitem__)
        for row in sorted(kinds, key=lambda axes: (len(axes), sorted(axes))):
            pending: dict[Expr, frozenset[int]] = {}
            for node in nodes:
                waits = frozenset[int]().union(
                    *(pending[e.made] for e in self.incoming[node] if e.made in index)
                )
                if any(x in waits for x in index[node]):
                    break
                if node in folds and folds[node] != row:
                    waits |= folds[node]
                pending[node] = waits
            else:
                return True
        return False

    def _affordable(self, a: _Cluster, b: _Cluster) -> bool:
        """Does the merge remove at least the bytes whose lives it lengthens?

        What `a` reads could die as soon as it is made and all others have read it; merged, it lives
        until all else that `b` reads is made, which is longer if something runs meanwhile. What
        waits for nothing can be made at any time.
        """
        kept: Size = 0
        for value in dict.fromkeys(e.made for n in a.nodes for e in self.incoming[n]):
            users = {self.home[value], *(self.home[e.reader] for e in self.outgoing[value])} - {a}
            if b not in users and self.home[value] is not a:
                last = max(c.place for c in users)
                ready = max((c.place for c in b.before if c.before and c is not a), default=-1)
                if self.line.busy(last + 1, ready + 1, but=a):
                    kept = kept + _bytes(value)
        if same(kept, 0):
            return True
        saved: Size = 0
        for node in a.nodes:
            readers = {self.home[e.reader] for e in self.outgoing[node]} - {a}
            if readers == {b} and node not in self.graph.results:
                saved = saved + _bytes(node)
        return at_least(saved, kept) is True


def _bytes(value: Expr) -> Size:
    return product(value.shape) * value.dtype.itemsize


def _fold_axes(node: Expr, index: Axes) -> frozenset[int]:
    return frozenset(a for i in node.attr("axis") if (a := index[i]) is not None)


def _reading(node: Expr, operand: Expr, base: Expr, axes: Axes | None) -> Axes | None:
    """For each axis of `base`, the index axis of `node` along which it is read."""
    if axes is None:
        return None
    lead = len(index_shape(node)) - operand.ndim
    places: dict[int, int] = {a: k + lead for k, a in enumerate(axes) if a is not None}
    if node.op.kind is Kind.REDUCE and len(places) < sum(not same(n, 1) for n in operand.shape):
        return None  # it folds copies of one element
    return tuple(places.get(k) for k in range(base.ndim))
