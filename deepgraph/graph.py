"""Graph: the outputs and updates asked for and all they need; and how to rewrite one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from deepgraph.dims import Dim, names, same_shape
from deepgraph.drawn import Drawn
from deepgraph.errors import GraphError, deriving
from deepgraph.expr import OPS, Expr, Kind, arguments, op_named, same_type
from deepgraph.provenance import Origins, others

if TYPE_CHECKING:
    import networkx as nx

Rule = Callable[[Expr], Expr | None]
Became = dict[Expr, Expr | None]


def toposort(roots: Iterable[Expr], known: Set[Expr] = frozenset()) -> tuple[Expr, ...]:
    """Inputs before users, each node once, down to those that are `known`.

    Iterative, as graphs are deeper than the stack.
    """
    seen: dict[Expr, None] = {}
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if node in seen or node in known:
            continue
        if ready or not node.inputs:
            seen[node] = None
        else:
            stack.append((node, True))
            stack.extend((i, False) for i in reversed(node.inputs) if i not in seen)
    return tuple(seen)


def sizes_of(node: Expr) -> frozenset[str]:
    """The names of the sizes in a node's shape and attributes."""
    found = names(node.shape)
    stack = list(node.attrs)
    while stack:
        value = stack.pop()
        if isinstance(value, Dim):
            found |= names(value)
        elif isinstance(value, tuple):
            stack.extend(value)
        elif isinstance(value, slice):
            stack += [value.start, value.stop, value.step]
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Drawn):
    """What a step computes: named outputs, and new values of parameters, all at once.

    `became` says what each node of the graph `before` the last pass turned into (None: nothing
    needed it), so that any node can be followed from declaration to kernel; `made` lists nodes of
    `before`, each with a node that the pass made for it besides.
    """

    inputs: tuple[Expr, ...]
    outputs: Mapping[str, Expr]
    updates: Mapping[Expr, Expr] = field(default_factory=dict)
    became: Became = field(default_factory=dict, repr=False)
    made: tuple[tuple[Expr, Expr], ...] = field(default=(), repr=False)
    before: Graph | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        outputs = ", ".join(f"{k}: {v.type_text}" for k, v in self.outputs.items())
        return f"<graph of {len(self.nodes)} nodes -> ({outputs}), {len(self.updates)} updates>"

    @cached_property
    def nodes(self) -> tuple[Expr, ...]:
        """Every node, inputs before users."""
        return toposort([*self.outputs.values(), *self.updates.values()])

    @cached_property
    def users(self) -> dict[Expr, list[Expr]]:
        """Which nodes read each node; a node that reads it twice stands there twice."""
        users: dict[Expr, list[Expr]] = {n: [] for n in self.nodes}
        for node in self.nodes:
            for i in node.inputs:
                users[i].append(node)
        return users

    @cached_property
    def results(self) -> frozenset[Expr]:
        """The nodes whose values leave the graph, as an output or as an update."""
        return frozenset((*self.outputs.values(), *self.updates.values()))

    @property
    def placeholders(self) -> tuple[Expr, ...]:
        """The inputs and any placeholder that is reached without being listed."""
        found = (n for n in self.nodes if n.op is OPS["placeholder"])
        return tuple(dict.fromkeys((*self.inputs, *found)))

    @property
    def parameters(self) -> tuple[Expr, ...]:
        """The parameters that are read or updated, in order of first use."""
        found = (n for n in self.nodes if n.op is OPS["parameter"])
        return tuple(dict.fromkeys((*found, *self.updates)))

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """The names of all sizes, sorted."""
        return tuple(sorted({n for x in (*self.nodes, *self.placeholders) for n in sizes_of(x)}))

    @cached_property
    def _others(self) -> dict[Expr, Origins]:
        """The origins beside its own of each node that stands for several declared ones."""
        if self.before is None:
            return {}
        known = self.before._others
        kept = ((n, n) for n in known if n not in self.became)
        return others(known, chain(kept, self.became.items()), self.made)

    def origins(self, node: Expr) -> Origins:
        """Where the expressions that a node stands for were declared, its own line first."""
        return node.origin, *self._others.get(node, ())

    def verify(self) -> None:
        """Raise unless each node that the last pass made has its own rule's type, and updates fit.

        The others were checked when they were made, and never change.
        """
        for node in self.nodes:
            if node in self.became:
                continue
            shape, dtype, _ = node.op.infer(node.inputs, node.attributes)
            if not same_shape(shape, node.shape) or dtype != node.dtype:
                raise GraphError(f"{node} is mistyped: its rule gives {dtype}{shape}")
        for parameter, value in self.updates.items():
            if not same_type(parameter, value):
                raise GraphError(f"update of {parameter} has another type: {value}")

    def render(self) -> str:
        """One line a node: what golden tests compare and people read."""
        ids = {node: f"%{k}" for k, node in enumerate(self.nodes)}
        lines = []
        for node in self.nodes:
            given = [ids[i] for i in node.inputs]
            given += filter(None, [node.name, arguments(node)])
            lines.append(f"{ids[node]} = {node.op.name}({', '.join(given)})  # {node.type_text}")
        lines += [f"update {p.name} = {ids[v]}" for p, v in self.updates.items()]
        returned = ", ".join(f"{k}={ids[v]}" for k, v in self.outputs.items())
        return "\n".join([*lines, f"return {returned}"])

    def __reduce__(self) -> tuple[Any, ...]:
        known = dict.fromkeys(self.nodes) | dict.fromkeys(self.parameters + self.inputs)
        rows = [row(n) for n in known]
        place = {n: k for k, n in enumerate(known)}
        outputs = {name: place[v] for name, v in self.outputs.items()}
        updates = {place[p]: place[v] for p, v in self.updates.items()}
        return _unpacked, (rows, [place[p] for p in self.inputs], outputs, updates)

    def to_networkx(self) -> nx.MultiDiGraph[Any]:
        """The nodes with op, name, shape, dtype and kind; each edge with its `position`."""
        import networkx as nx

        drawn: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
        for k, node in enumerate(self.nodes):
            drawn.add_node(
                node, id=k, op=node.op.name, name=node.name, shape=node.shape,
                dtype=node.dtype.name, kind=node.op.kind.value,
            )  # fmt: skip
            drawn.add_edges_from((i, node, {"position": p}) for p, i in enumerate(node.inputs))
        return drawn


def rewrite(
    graph: Graph, rules: Mapping[str, Sequence[Rule]] | None = None, via: str = "share"
) -> Graph:
    """Rebuild from the inputs up, merging equal nodes and applying rules until none fires.

    `rules` lists, by operation name, functions that give a better node or None. With no rules this
    is common-subexpression elimination; what nothing needs is never visited. Near linear: each
    node is settled once, and a rule that goes in circles is an error.
    """
    rules = rules or {}
    settled: dict[Expr, Expr] = {}
    table: dict[Any, Expr] = {}
    waiting: dict[Expr, tuple[Expr, Expr]] = {}  # rebuilt and replaced; the latter not yet settled
    fired: Counter[Expr] = Counter()  # how many rewrites led to this node
    cause: dict[Expr, Expr] = {}  # the node for which a rule made this one
    stack = [*reversed([*graph.outputs.values(), *graph.updates.values()])]
    while stack:
        node = stack[-1]
        if node in settled:
            stack.pop()
            continue
        if node in waiting:
            same, better = waiting.pop(node)
            settled[node] = settled[same] = settled[better]
            continue
        if pending := [i for i in node.inputs if i not in settled]:
            stack.extend(reversed(pending))
            if node in cause:
                cause.update((i, cause[node]) for i in pending)
            continue
        same = rebuilt(node, [settled[i] for i in node.inputs])
        if may_merge(same):
            same = table.setdefault(same.key, same)
        if same is not node and same in settled:
            settled[node] = settled[same]
            continue
        replacement = _first(rules.get(same.op.name, ()), same, via)
        if replacement is None:
            settled[node] = settled[same] = same
            continue
        fired[replacement] = fired[node] + 1
        if fired[replacement] > 100:
            raise GraphError(f"{via}: rules go in circles at {same} from {node.origin}")
        waiting[node] = same, replacement
        if replacement not in settled:
            cause[replacement] = cause.get(node, node)
            stack.append(replacement)
    return Graph(
        graph.placeholders,  # a call feeds them, in this order, whatever is still read
        {k: settled[v] for k, v in graph.outputs.items()},
        {p: settled[v] for p, v in graph.updates.items()},
        {n: settled.get(n) for n in graph.nodes},
        tuple({(node, settled[made]): None for made, node in cause.items()}),
        graph,
    )


def may_merge(node: Expr) -> bool:
    """Is a node no other than one with an equal key? Of leaves, those that are known by value."""
    return node.op.kind is not Kind.SOURCE or node.op.name in ("constant", "size", "iota")


def rebuilt(node: Expr, inputs: Sequence[Expr]) -> Expr:
    """The same operation over other inputs of the same types; the node itself if none is other."""
    if all(a is b for a, b in zip(node.inputs, inputs, strict=True)):
        return node
    return Expr(node.op, tuple(inputs), node.attrs, node.shape, node.dtype, node.origin)


def _first(rules: Sequence[Rule], node: Expr, via: str) -> Expr | None:
    if not rules:
        return None
    with deriving(node.origin, via):
        for rule in rules:
            better = rule(node)
            if better is not None and better is not node:
                if not same_type(better, node):
                    raise GraphError(f"{via}: {rule.__name__} turned {node} into {better}")
                return better
    return None


def expanded(graph: Graph, native: Callable[[Expr], bool], via: str = "lower") -> Graph:
    """Replace each operation that is not `native` by its definition in smaller ones."""

    def expand(node: Expr) -> Expr | None:
        if native(node) or node.op.expand is None:
            return None
        return node.op.expand(*node.inputs, **node.attributes)

    return rewrite(graph, {name: [expand] for name, op in OPS.items() if op.expand}, via)


def substitute(roots: Sequence[Expr], replace: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """What each node of these expressions becomes where each key of `replace` becomes its value."""
    done: dict[Expr, Expr] = dict(replace)
    for node in toposort(roots):
        if node not in done:
            done[node] = rebuilt(node, [done[i] for i in node.inputs])
    return done


def _unpacked(
    nodes: list[Expr], inputs: list[int], outputs: dict[str, int], updates: dict[int, int]
) -> Graph:
    return Graph(
        tuple(nodes[k] for k in inputs), {name: nodes[k] for name, k in outputs.items()},
        {nodes[p]: nodes[v] for p, v in updates.items()},
    )  # fmt: skip


class Row:
    """A node on its way through pickle: its inputs are rows that were written before.

    So depth costs no recursion, and pickle's own memory of objects keeps identity within one
    pickle: a node has one row as long as a pickler holds it.
    """

    __slots__ = ("__weakref__", "node")

    def __init__(self, node: Expr) -> None:
        self.node = node

    def __reduce__(self) -> tuple[Any, ...]:
        n = self.node
        inputs = tuple(map(row, n.inputs))
        return _node, (n.op.name, inputs, n.attrs, n.shape, n.dtype, n.origin)


_rows: WeakValueDictionary[int, Row] = WeakValueDictionary()


def row(node: Expr) -> Any:
    """What stands for a node in a pickle; what owns storage pickles by itself."""
    if type(node) is not Expr:
        return node
    found = _rows.get(id(node))
    if found is None or found.node is not node:
        found = _rows[id(node)] = Row(node)
    return found


def packed(root: Expr) -> tuple[Any, ...]:
    """The pickle of an expression: all it needs, inputs before users."""
    return _last, ([row(n) for n in toposort([root])],)


def _last(nodes: list[Expr]) -> Expr:
    return nodes[-1]


def _node(name: str, *fields: Any) -> Expr:
    return Expr(op_named(name), *fields)
