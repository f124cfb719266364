"""Choose the memory order of values, so that what follows reads them without a copy."""

from __future__ import annotations

from deepgraph.dims import at_least, same
from deepgraph.expr import Expr, Kind, Strided
from deepgraph.passes.kernels import Group, build, index_shape, needed, result_axes
from deepgraph.passes.views import Alignments, chain, follow
from deepgraph.schedule import Order, Schedule, contiguous
from deepgraph.target import Target


def layout(schedule: Schedule, target: Target) -> Schedule:
    """Give each value the order its readers ask for, else the order of what it is made of.

    A reader asks where it flattens a permuted view, as a convolution's product does, or is a call
    for which the target needs an order; an elementwise kernel keeps the order of its widest
    operand. So a chain of convolution, bias, activation and pooling stays in one order and is
    converted once. Where this reaches a matrix product, as the gradient of a flat end does, the
    product is laid out as its readers work. Shapes stay as declared; results are always row-major.
    """
    chosen = _Orders(schedule, target)
    for group in schedule.groups:
        chosen.settle(group)
    for group in schedule.groups:
        chosen.turn(group)
    if not chosen.orders:
        return schedule
    return build(schedule.graph, schedule.groups, target, chosen.orders)


class _Orders:
    def __init__(self, schedule: Schedule, target: Target) -> None:
        self.graph, self.target = schedule.graph, target
        self.alignments = Alignments()
        self.orders = needed(schedule.groups, target)
        self.stored = set(schedule.maker)
        self.home = {n: group for group in schedule.groups for n in group.nodes}

    def settle(self, group: Group) -> None:
        for node in group.nodes:
            if node.ndim < 2 or node not in self.stored or node in self.graph.results:
                continue
            if node in self.orders:
                continue
            views = self._views(node)
            plain = {v for v in views if _expressible(v, node, None)}
            flattened = self._flattened(node, [v for v in views if v not in plain])
            for order in (self._called(node, views), flattened, self._inherited(node, group)):
                if order is None or order == tuple(range(node.ndim)):
                    continue
                if all(_expressible(v, node, order) for v in plain):
                    self.orders[node] = order
                    break

    def turn(self, group: Group) -> None:
        """Lay out a matrix the other way if all that read it then find it in their own order.

        It is one that the target's own code computes, to which either way is the same.
        """
        node = group.leader
        if (
            node is None or node.ndim != 2 or len(group.nodes) > 1 or not self.target.native(node)
            or node in self.orders or node in self.graph.results
        ):  # fmt: skip
            return
        shown = [node, *self._views(node)]
        readers = [(v, u) for v in shown for u in self.graph.users[v] if u.op.kind is not Kind.VIEW]
        turned = contiguous(node.shape, (1, 0))
        if readers and all(
            not isinstance(at := follow(turned, chain(view, {node})[1]), Expr)
            and _order(at) == self._works(user, view.ndim)
            for view, user in readers
        ):
            self.orders[node] = (1, 0)

    def _works(self, user: Expr, ndim: int) -> Order | None:
        """The order that was chosen for what a node's kernel makes of so many axes."""
        made = self.home[user].nodes
        return next((self.orders[n] for n in made if n.ndim == ndim and n in self.orders), None)

    def _views(self, node: Expr) -> list[Expr]:
        """All views of a value, views of views included."""
        found: list[Expr] = []
        stack = [node]
        while stack:
            for user in self.graph.users[stack.pop()]:
                if user.op.kind is Kind.VIEW:
                    found.append(user)
                    stack.append(user)
        return list(dict.fromkeys(found))

    def _called(self, node: Expr, views: list[Expr]) -> Order | None:
        """The order that a call needs."""
        for shown in (node, *views):
            _, axes = self.alignments.of(shown)
            if axes is None or None in axes:
                continue
            for user in self.graph.users[shown]:
                for operand, order in zip(user.inputs, self.target.orders(user), strict=False):
                    if operand is shown and order is not None:
                        return tuple(a for k in order if (a := axes[k]) is not None)
        return None

    def _flattened(self, node: Expr, blocked: list[Expr]) -> Order | None:
        """The order of the permutation that a view flattens, where row-major would need a copy."""
        for view in blocked:
            base, axes = self.alignments.of(view.inputs[0])
            if base is node and axes is not None and None not in axes:
                order = tuple(a for a in axes if a is not None)
                if len(order) == node.ndim and _expressible(view, node, order):
                    return order
        return None

    def _inherited(self, node: Expr, group: Group) -> Order | None:
        if node is group.leader:
            leader = node.op.follows
            return None if leader is None else _order(self._at(node.inputs[leader]))
        widest: tuple[int, ...] | None = None
        for member in group.nodes:
            for operand in member.inputs:
                base = self.alignments.of(operand)[0]
                if base in group.index or base.op.kind is Kind.SOURCE:
                    continue
                at = self._at(operand)
                lead = len(index_shape(member)) - operand.ndim
                places = group.index[member][lead:]
                seen = [a for k in _order(at) if (a := places[k]) is not None
                        and not same(at.strides[k], 0)]  # fmt: skip
                if widest is None or len(seen) > len(widest):
                    widest = tuple(seen)
        if widest is None:
            return None
        axes = result_axes(node, group.index[node])
        rank = {a: r for r, a in enumerate(widest)}
        if any(a is not None and a not in rank for a in axes):
            return None
        key = [(-1 if a is None else rank[a], k) for k, a in enumerate(axes)]
        return tuple(sorted(range(node.ndim), key=key.__getitem__))

    def _at(self, operand: Expr) -> Strided:
        base, views = chain(operand)
        at = contiguous(base.shape, self.orders.get(base))
        for view in views:
            step = follow(at, [view])
            at = contiguous(view.shape) if isinstance(step, Expr) else step  # it will be copied
        return at


def _expressible(view: Expr, base: Expr, order: Order | None) -> bool:
    """Can strides express `view` of `base` laid out in this order?"""
    _, views = chain(view, {base})
    return not isinstance(follow(contiguous(base.shape, order), views), Expr)


def _order(at: Strided) -> Order:
    """The axes from the outermost in memory to the innermost, as far as strides compare."""
    order: list[int] = []
    for axis in range(len(at.shape)):
        k = len(order)
        while k and _inside(at, order[k - 1], axis):
            k -= 1
        order.insert(k, axis)
    return tuple(order)


def _inside(at: Strided, a: int, b: int) -> bool:
    """Does axis `a` step less far than axis `b`?"""
    if same(at.strides[a], at.strides[b]) or same(at.shape[a], 1) or same(at.shape[b], 1):
        return False
    return at_least(at.strides[b], at.strides[a], positive=True) is True
