"""Kernels from groups of nodes: resolve views to strides, number registers, merge axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from deepgraph.dims import Dim, Shape, Size, at_least, product, same
from deepgraph.errors import GraphError, deriving
from deepgraph.expr import OPS, Expr, Kind, Strided
from deepgraph.graph import Graph
from deepgraph.literal import Literal
from deepgraph.passes.views import Alignments, Axes, chain, follow
from deepgraph.schedule import (
    Access,
    Instr,
    Kernel,
    Operand,
    Order,
    Schedule,
    Store,
    contiguous,
    same_strided,
)  # fmt: skip
from deepgraph.target import Target

_ROW_MAJOR: Mapping[Expr, Order] = {}


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that run as one kernel, and how each one's index axes lie in the kernel's space.

    A node's index axes are its own for an elementwise operation and its input's for a reduction;
    None stands for an axis of size 1. A call has no space, but one of which elementwise nodes are
    the epilogue has that of its result.
    """

    nodes: tuple[Expr, ...]
    space: tuple[Size, ...] = ()
    index: Mapping[Expr, Axes] = field(default_factory=dict)

    @cached_property
    def leader(self) -> Expr | None:
        """The call of the group, if there is one."""
        return next((n for n in self.nodes if n.op.kind is Kind.CALL), None)


def index_shape(node: Expr) -> tuple[Size, ...]:
    """The shape over which a node iterates."""
    return node.inputs[0].shape if node.op.kind is Kind.REDUCE else node.shape


def result_axes(node: Expr, index: Axes) -> Axes:
    """For each axis of a node's result, the axis of the space."""
    if node.op.kind is not Kind.REDUCE:
        return index
    axis = node.attr("axis")
    if node.attr("keepdims"):
        return tuple(None if i in axis else a for i, a in enumerate(index))
    return tuple(a for i, a in enumerate(index) if i not in axis)


def single(node: Expr) -> Group:
    """A group of one node."""
    if node.op.kind is Kind.CALL:
        return Group((node,))
    space, index = spread(index_shape(node))
    return Group((node,), space, {node: index})


def spread(shape: Shape) -> tuple[Shape, Axes]:
    """A space of the axes of a shape that are more than 1, and where each axis lies in it."""
    kept = [i for i, n in enumerate(shape) if not same(n, 1)]
    places = {i: k for k, i in enumerate(kept)}
    return tuple(shape[i] for i in kept), tuple(places.get(i) for i in range(len(shape)))


def _led(group: Group, leader: Expr) -> Group:
    """The group over the axes of its call's result, in their order."""
    new = {axis: k for k, axis in enumerate(group.index[leader])}
    index = {
        n: tuple(None if a is None else new[a] for a in axes) for n, axes in group.index.items()
    }
    return Group(group.nodes, leader.shape, index)


def build(
    graph: Graph, groups: Sequence[Group], target: Target, orders: Mapping[Expr, Order] = _ROW_MAJOR
) -> Schedule:  # fmt: skip
    """The kernels of these groups, in an order that can run, with what must be copied copied.

    A view that strides cannot express (a reshape of a transpose, sliding windows laid out flat)
    is copied by a kernel of its own, made here, once for all who read it. So is what is not in the
    memory order that a call of the target needs.
    """
    builder = _Builder(graph, groups, target, orders)
    kernels = [builder.kernel(group) for group in groups]
    ordered = _sorted([*builder.copies, *kernels])
    return Schedule(graph, ordered, tuple(groups), builder.orders, builder.copied)


def needed(groups: Sequence[Group], target: Target) -> dict[Expr, Order]:
    """The results of calls that the target computes in a memory order of its own."""
    calls = (g.leader for g in groups if g.leader is not None)
    return {c: order for c in calls if (order := target.orders(c)[-1]) is not None}


class _Builder:
    def __init__(
        self, graph: Graph, groups: Sequence[Group], target: Target, orders: Mapping[Expr, Order]
    ) -> None:
        self.target = target
        self.orders = needed(groups, target) | dict(orders)
        self.alignments = Alignments()
        self.home = {n: g for g in groups for n in g.nodes}
        self.copies: list[Kernel] = []
        self._copied: dict[Expr, Expr] = {}  # view -> the value that holds it laid out flat
        self.copied: dict[Expr, Expr] = {}  # the other way round
        self._ordered: dict[tuple[Expr, Order], Access] = {}
        self._found: dict[Expr, tuple[Expr, Strided]] = {}
        self.leaving = set(graph.results)
        for node in graph.nodes:
            if node.op.kind in (Kind.VIEW, Kind.SOURCE):
                continue
            for i in node.inputs:
                base = self.alignments.of(i)[0]
                if self.home.get(base) is not self.home[node]:
                    self.leaving.add(base)

    def find(self, node: Expr) -> tuple[Expr, Strided]:
        """The value whose memory shows `node`, and how; copies on the way what must be."""
        if node not in self._found:
            while not isinstance(found := self._through(node), tuple):
                if found.inputs[0] in self._copied:
                    raise GraphError(
                        f"no strides express {found!r} of row-major {found.inputs[0]!r}"
                    )
                self._copy(found.inputs[0])
            self._found[node] = found
        return self._found[node]

    def _through(self, node: Expr) -> tuple[Expr, Strided] | Expr:
        """`strided`, starting from the nearest view that has been copied."""
        node, views = chain(node, self._copied)
        base = self._copied.get(node, node)
        found = follow(contiguous(base.shape, self.orders.get(base)), views)
        return found if isinstance(found, Expr) else (base, found)

    def _copy(self, view: Expr) -> None:
        self._copied[view] = self._made(view).value
        self._found.pop(view, None)

    def _in_order(self, node: Expr, order: Order | None) -> Access:
        """Where to find what a call reads, in the order that it needs."""
        found = Access(*self.find(node))
        if order is None or same_strided(found.at, contiguous(node.shape, order)):
            return found
        if (node, order) not in self._ordered:
            self._ordered[node, order] = self._made(node, order)
        return self._ordered[node, order]

    def _made(self, node: Expr, order: Order | None = None) -> Access:
        """A copy of a node, as a kernel of its own."""
        source, at = self.find(node)
        with deriving(node.origin, "layout"):
            copy = OPS["copy"](node)
        self.copied[copy] = node
        if order is not None:
            self.orders[copy] = order
        made = Access(copy, contiguous(copy.shape, order))
        body = Instr(copy, (0,), frozenset(range(copy.ndim)))
        kernel = Kernel("map", copy.shape, (), (Access(source, at),), (body,), (Store(1, made),))
        self.copies.append(_collapsed(kernel))
        return made

    def kernel(self, group: Group) -> Kernel:
        if group.leader is not None:
            return self._call(group.leader, group)
        return _late_last(_collapsed(self._fused(group)))

    def _call(self, node: Expr, group: Group) -> Kernel:
        operands = tuple(map(self._in_order, node.inputs, self.target.orders(node)))
        if len(group.nodes) > 1:
            return self._fused(_led(group, node), node, operands)
        whole = contiguous(node.shape, self.orders.get(node))
        body = Instr(node, tuple(range(len(operands))))
        stores = (Store(len(operands), Access(node, whole)),)
        return Kernel("call", (), (), operands, (body,), stores)

    def _fused(
        self, group: Group, leader: Expr | None = None, operands: Sequence[Access] = ()
    ) -> Kernel:
        """The kernel of a group; a call that leads it, and its operands, come first."""
        loads: dict[tuple[object, ...], Access] = {(k,): a for k, a in enumerate(operands)}
        wanted: list[list[object]] = []  # per node: a node of the group, a key of `loads`, a number
        nodes = sorted(group.nodes, key=lambda n: n is not leader)
        for node in nodes:
            if node is leader:
                wanted.append([(k,) for k in range(len(operands))])
                continue
            row: list[object] = []
            for k, i in enumerate(node.inputs):
                base = self.alignments.of(i)[0]
                if base in group.index and base.op.kind is not Kind.SOURCE:
                    row.append(base)
                elif node.op.kind is not Kind.REDUCE and (number := _number(base)) is not None:
                    row.append(number)
                else:
                    value, at = self.find(i)
                    axes = _operand_axes(node, k, group.index[node])
                    at = _aligned(at, axes, group.space, keep=node.op.kind is Kind.REDUCE)
                    key = (id(value), at.shape, at.strides, at.offset)
                    loads.setdefault(key, Access(value, at))
                    row.append(key)
            wanted.append(row)
        numbers: dict[object, int] = {key: r for r, key in enumerate(loads)}
        body: list[Instr] = []
        for node, row in zip(nodes, wanted, strict=True):
            args: list[Operand] = [w if isinstance(w, Literal | Dim) else numbers[w] for w in row]
            numbers[node] = len(loads) + len(body)
            body.append(_instr(node, args, group))
        stores = tuple(
            Store(numbers[n], Access(n, self._place(n, group)))
            for n in group.nodes
            if n in self.leaving
        )
        if leader is not None:
            return Kernel("call", group.space, (), tuple(loads.values()), tuple(body), stores)
        return _kernel(group.space, tuple(loads.values()), tuple(body), stores)

    def _place(self, node: Expr, group: Group) -> Strided:
        at = contiguous(node.shape, self.orders.get(node))
        return _aligned(at, result_axes(node, group.index[node]), group.space)


def _kernel(
    space: tuple[Size, ...], loads: tuple[Access, ...], body: tuple[Instr, ...],
    stores: tuple[Store, ...],
) -> Kernel:  # fmt: skip
    folds = {a for i in body for a in i.fold}
    kept = all(body[s.register - len(loads)].axes.isdisjoint(folds) for s in stores)
    kind = "map" if not folds else "fold" if kept else "row"
    return Kernel(kind, space, tuple(sorted(folds)), loads, body, stores)


def _number(base: Expr) -> Literal | Dim | None:
    """A leaf that the body holds as a number: a constant of one element, or a size."""
    if base.op.name == "constant" and base.attr("value").value.size == 1:
        return base.attr("value")  # type: ignore[no-any-return]
    if base.op.name == "size" and isinstance(base.attr("value"), Dim):
        return base.attr("value")  # type: ignore[no-any-return]
    return None


def _instr(node: Expr, args: Sequence[Operand], group: Group) -> Instr:
    index = group.index[node]
    axes = frozenset(a for a in result_axes(node, index) if a is not None)
    fold: tuple[int, ...] = ()
    if node.op.kind is Kind.REDUCE:
        fold = tuple(sorted(a for i in node.attr("axis") if (a := index[i]) is not None))
    return Instr(node, tuple(args), axes, fold)


def _operand_axes(node: Expr, k: int, index: Axes) -> Axes:
    """For each axis of operand `k`, the axis of the space; operands align at the right."""
    operand = node.inputs[k]
    places = index[len(index) - operand.ndim :]
    return tuple(None if same(n, 1) else a for n, a in zip(operand.shape, places, strict=True))


def _aligned(at: Strided, axes: Axes, space: tuple[Size, ...], keep: bool = False) -> Strided:
    """The same elements with the axes of the space; size 1 where they do not vary.

    What a reduction reads keeps its sizes: n equal elements add up to n times one.
    """
    shape: list[Size] = [1] * len(space)
    strides: list[Size] = [0] * len(space)
    for n, stride, a in zip(at.shape, at.strides, axes, strict=True):
        if a is not None and (keep or not same(stride, 0)):
            shape[a], strides[a] = n, stride
    return Strided(tuple(shape), tuple(strides), at.offset)


def _collapsed(kernel: Kernel) -> Kernel:
    """The same kernel with its axes outermost in memory first, and merged where all agree."""
    order = _memory_order(kernel)
    runs: list[list[int]] = []
    for axis in order:
        if runs and _mergeable(kernel, runs[-1][-1], axis):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    new = {axis: k for k, run in enumerate(runs) for axis in run}

    def moved(access: Access) -> Access:
        at = access.at
        shape = tuple(product(at.shape[a] for a in run) for run in runs)
        strides = tuple(at.strides[run[-1]] for run in runs)
        return Access(access.value, Strided(shape, strides, at.offset))

    return replace(
        kernel,
        space=tuple(product(kernel.space[a] for a in run) for run in runs),
        folded=tuple(sorted({new[a] for a in kernel.folded})),
        loads=tuple(map(moved, kernel.loads)),
        body=tuple(
            Instr(i.node, i.args, frozenset(new[a] for a in i.axes), _renamed(i.fold, new))
            for i in kernel.body
        ),
        stores=tuple(Store(s.register, moved(s.access)) for s in kernel.stores),
    )


def _renamed(axes: Iterable[int], new: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(sorted({new[a] for a in axes}))


def _memory_order(kernel: Kernel) -> list[int]:
    """The axes of the space, outermost in memory first, as the widest operand has them."""
    places = [s.access.at for s in kernel.stores] + [a.at for a in kernel.loads]
    widest = max(places, key=lambda at: sum(not same(s, 0) for s in at.strides))
    order: list[int] = []
    for axis in range(len(kernel.space)):
        k = len(order)
        stride = widest.strides[axis]
        while k and not same(stride, 0) and _larger(stride, widest.strides[order[k - 1]]):
            k -= 1
        order.insert(k, axis)
    return order


def _larger(a: Size, b: Size) -> bool:
    return not same(a, b) and at_least(a, b, positive=True) is True


def _mergeable(kernel: Kernel, outer: int, inner: int) -> bool:
    for access in (*kernel.loads, *(s.access for s in kernel.stores)):
        at = access.at
        absent = [same(at.strides[a], 0) for a in (outer, inner)]
        if absent[0] != absent[1]:
            return False
        if not absent[0] and not same(at.strides[outer], at.strides[inner] * at.shape[inner]):
            return False
    return all(
        (outer in i.axes) == (inner in i.axes) and (outer in i.fold) == (inner in i.fold)
        for i in kernel.body
    )


def _late_last(kernel: Kernel) -> Kernel:
    """The same kernel with what waits for all pieces of a cut at the end of the body."""
    where = kernel.cut
    if where is None or not where.after:
        return kernel
    return kernel.reordered(sorted(range(len(kernel.body)), key=lambda k: (k in where.after, k)))


def _sorted(kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    """The kernels so that each reads only what an earlier one wrote; else as they came."""
    maker = {v: k for k in kernels for v in k.writes}
    done: dict[Kernel, None] = {}
    for kernel in kernels:
        stack = [kernel]
        while stack:
            top = stack[-1]
            if top in done:
                stack.pop()
                continue
            needs = [maker[v] for v in top.reads if v in maker and maker[v] not in done]
            if needs:
                stack.extend(reversed(needs))
            else:
                done[top] = None
                stack.pop()
    return tuple(done)
