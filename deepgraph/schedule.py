"""Schedule: which nodes run together, in which order, and how they step through memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from deepgraph.dims import Dim, Shape, Size, pretty, product, same, same_shape
from deepgraph.drawn import Drawn
from deepgraph.errors import GraphError
from deepgraph.expr import Expr, Kind, Strided, arguments
from deepgraph.graph import Graph
from deepgraph.literal import Literal
from deepgraph.provenance import Origins

if TYPE_CHECKING:
    import networkx as nx

Operand = int | Literal | Dim  # a register, a number, a size
Order = tuple[int, ...]  # a value's axes from the outermost in memory to the innermost


@lru_cache(4096)
def contiguous(shape: Shape, order: Order | None = None) -> Strided:
    """A whole buffer of this shape, its axes laid out in `order` (row-major if None)."""
    strides: list[Size] = [1] * len(shape)
    step: Size = 1
    for axis in reversed(order if order is not None else range(len(shape))):
        strides[axis] = step
        step = step * (1 if same(shape[axis], 0) else shape[axis])  # no stride is 0 by accident
    return Strided(shape, tuple(strides))


def same_strided(a: Strided, b: Strided) -> bool:
    """Do two descriptions name the same elements in the same places, as terms?"""
    return (
        same_shape(a.shape, b.shape)
        and all(
            same(n, 1) or same(s, t) for n, s, t in zip(a.shape, a.strides, b.strides, strict=True)
        )
        and same(a.offset, b.offset)
    )


@dataclass(frozen=True, eq=False)
class Access:
    """Where a kernel finds or leaves a value: a buffer, and how the kernel's axes step through it.

    An axis of the kernel's space along which the value does not vary has size 1 and stride 0.
    """

    value: Expr
    at: Strided

    @property
    def whole(self) -> bool:
        """Is it the whole row-major buffer in its own shape?"""
        return same_strided(self.at, contiguous(self.value.shape))

    def __str__(self) -> str:
        strides = "" if self.whole else f" strides {pretty(self.at.strides)}"
        offset = "" if same(self.at.offset, 0) else f" + {self.at.offset}"
        return f"{pretty(self.at.shape)}{strides}{offset}"


@dataclass(frozen=True, eq=False)
class Instr:
    """One operation of a kernel's body, in SSA form: its result is the next register.

    `axes` are the axes of the space along which the result varies, `fold` those it folds.
    """

    node: Expr
    args: tuple[Operand, ...]
    axes: frozenset[int] = frozenset()
    fold: tuple[int, ...] = ()

    @cached_property
    def registers(self) -> tuple[int, ...]:
        """The arguments that are registers."""
        return tuple(a for a in self.args if isinstance(a, int))


@dataclass(frozen=True, eq=False)
class Store:
    """Which register goes where."""

    register: int
    access: Access


@dataclass(frozen=True)
class Cut:
    """An axis along which a kernel comes apart into pieces, and what then waits for all pieces.

    `across` are the instructions that fold that axis: each piece gives a part, combined at the
    end. `after` are those that use what they give, and run once. `repeated` are those that do not
    vary along the axis: each piece computes them anew, so what they read must stay.
    """

    axis: int
    across: frozenset[int]
    after: frozenset[int]
    repeated: frozenset[int]

    @property
    def apart(self) -> frozenset[int]:
        """The instructions whose results are not of one piece: their memory is their own."""
        return self.across | self.after | self.repeated


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """Work that runs as one: loads, a body of scalar operations over a space, stores.

    `kind` is `map` (no folds), `fold` (what is stored is folded), `row` (folds whose results go
    back over the row) or `call` (one operation that a library or a template computes; its
    accesses have their own shapes). Registers count the loads first, then the body.
    """

    kind: str
    space: Shape
    folded: tuple[int, ...]
    loads: tuple[Access, ...]
    body: tuple[Instr, ...]
    stores: tuple[Store, ...]

    @property
    def nodes(self) -> tuple[Expr, ...]:
        """What it computes, in an order that can run."""
        return tuple(i.node for i in self.body)

    @cached_property
    def reads(self) -> tuple[Expr, ...]:
        """The values whose memory it reads, each once."""
        return tuple(dict.fromkeys(a.value for a in self.loads))

    @cached_property
    def writes(self) -> tuple[Expr, ...]:
        """The values whose memory it writes."""
        return tuple(s.access.value for s in self.stores)

    @cached_property
    def last_reads(self) -> dict[int, int]:
        """The instruction that reads each register last."""
        return {r: k for k, instr in enumerate(self.body) for r in instr.registers}

    @cached_property
    def cut(self) -> Cut | None:
        """How the kernel comes apart along its outermost axis that allows it; None for a call."""
        if self.kind == "call":
            return None
        first = len(self.loads)
        for axis in range(len(self.space)):
            across: set[int] = set()
            after: set[int] = set()
            repeated: set[int] = set()
            for k, instr in enumerate(self.body):
                if any(r - first in across or r - first in after for r in instr.registers):
                    if axis in instr.axes or axis in instr.fold:
                        break
                    after.add(k)
                elif axis in instr.fold:
                    across.add(k)
                elif axis not in instr.axes:
                    repeated.add(k)
            else:
                return Cut(axis, frozenset(across), frozenset(after), frozenset(repeated))
        return None

    def reordered(self, order: Sequence[int]) -> Kernel:
        """The same kernel with its instructions in this order, registers numbered anew."""
        if list(order) == list(range(len(self.body))):
            return self
        first = len(self.loads)
        new = {r: r for r in range(first)} | {first + k: first + p for p, k in enumerate(order)}

        def moved(instr: Instr) -> Instr:
            args = tuple(new[a] if isinstance(a, int) else a for a in instr.args)
            return Instr(instr.node, args, instr.axes, instr.fold)

        return replace(
            self,
            body=tuple(moved(self.body[k]) for k in order),
            stores=tuple(replace(s, register=new[s.register]) for s in self.stores),
        )

    @property
    def name(self) -> str:
        """The operations, shortened to what a person reads."""
        names = list(dict.fromkeys(n.op.name for n in self.nodes))
        return "_".join(names if len(names) <= 4 else [*names[:3], names[-1]])

    @property
    def bytes(self) -> Size:
        """Bytes read and written, each operand once."""
        total: Size = 0
        for access in (*self.loads, *(s.access for s in self.stores)):
            total = total + product(access.at.shape) * access.value.dtype.itemsize
        return total

    @property
    def flops(self) -> Size:
        """Floating-point operations, by each operation's own rule."""
        total: Size = 0
        for instr in self.body:
            rule = instr.node.op.flops
            over = instr.node.inputs[0] if instr.fold else instr.node
            total = total + (rule * over.size if isinstance(rule, int) else rule(instr.node))
        return total

    def __repr__(self) -> str:
        return f"<{self.kind} kernel {self.name} over {pretty(self.space)}>"

    def render(self) -> str:
        """The kernel as lines: its space, loads, body and stores."""
        folds = f" fold {pretty(self.folded)}" if self.folded else ""
        lines = [f"{self.kind} {self.name} over {pretty(self.space)}{folds}"]
        for k, access in enumerate(self.loads):
            lines.append(f"  r{k} = load {access.value!r} {access}")
        for k, instr in enumerate(self.body, len(self.loads)):
            args = [f"r{a}" if isinstance(a, int) else str(a) for a in instr.args]
            args += filter(None, [arguments(instr.node)])
            fold = f" fold {pretty(instr.fold)}" if instr.fold else ""
            lines.append(f"  r{k} = {instr.node.op.name}({', '.join(args)}){fold}")
        lines += [f"  store r{s.register} {s.access}" for s in self.stores]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Schedule(Drawn):
    """Kernels in the order they run, and the memory order of values that are not row-major."""

    graph: Graph
    kernels: tuple[Kernel, ...]
    groups: tuple[Any, ...] = ()  # what the kernels were built of, for a pass that builds them anew
    orders: Mapping[Expr, Order] = field(default_factory=dict)
    copied: Mapping[Expr, Expr] = field(default_factory=dict, repr=False)  # a copy -> its view

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<schedule: {len(self.kernels)} kernels>"

    @cached_property
    def maker(self) -> dict[Expr, Kernel]:
        """The kernel that writes each value."""
        return {v: k for k in self.kernels for v in k.writes}

    def origins(self, node: Expr) -> Origins:
        """Where the expressions that a node stands for were declared, its own line first."""
        return self.graph.origins(self.copied.get(node, node))

    def verify(self) -> None:
        """Raise unless every read is produced earlier, each node runs once, and layouts agree."""
        ready: dict[Expr, Access | None] = {}
        ran: set[Expr] = set()
        for kernel in self.kernels:
            for access in kernel.loads:
                if access.value.op.kind is not Kind.SOURCE and access.value not in ready:
                    raise GraphError(f"{kernel.name} reads {access.value} before it is made")
            for node in kernel.nodes:
                if node in ran:
                    raise GraphError(f"{node} runs twice")
                ran.add(node)
            for store in kernel.stores:
                value = store.access.value
                if value in ready:
                    raise GraphError(f"{value} is written twice")
                whole = contiguous(value.shape, self.orders.get(value))
                if not same(product(store.access.at.shape), product(whole.shape)):
                    raise GraphError(f"{kernel.name} writes a part of {value}")
                ready[value] = store.access
        for name, value in self.graph.outputs.items():
            if value not in ready:
                raise GraphError(f"nothing computes output {name}: {value}")

    def render(self) -> str:
        """The kernels one after the other."""
        return "\n".join(kernel.render() for kernel in self.kernels)

    def to_networkx(self) -> nx.MultiDiGraph[Any]:
        """The graph's nodes, each with the number of its kernel as `kernel`."""
        drawn = self.graph.to_networkx()
        for k, kernel in enumerate(self.kernels):
            for node in kernel.nodes:
                if node in drawn:
                    drawn.nodes[node]["kernel"] = k
        return drawn
