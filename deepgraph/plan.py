"""Plan: where each value lives, what shares memory, what runs in place; and what that comes to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from deepgraph.arena import arena, padded
from deepgraph.blocks import Blocks, blocks
from deepgraph.dims import Shape, Size, at_least, bind, maximum, product, same
from deepgraph.drawn import Drawn
from deepgraph.dtypes import DType
from deepgraph.errors import GraphError
from deepgraph.expr import Expr, Kind
from deepgraph.schedule import Kernel, Schedule, same_strided
from deepgraph.target import Loops, Target

if TYPE_CHECKING:
    import networkx as nx

    from deepgraph.show.timeline import Timeline


@dataclass(frozen=True, eq=False)
class Home:
    """Whose memory holds a value: a slot of the arena, an output, a parameter, a donated feed."""

    kind: Literal["slot", "output", "parameter", "feed"]
    key: Any  # the slot's number, the output's name, the parameter, the placeholder

    @property
    def _identity(self) -> tuple[str, Any]:
        return self.kind, id(self.key) if isinstance(self.key, Expr) else self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Home) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __str__(self) -> str:
        return f"{self.kind} {getattr(self.key, 'name', self.key)}"


@dataclass(frozen=True)
class Slot:
    """A piece of the arena, taken from time `first` to time `last`, both included.

    A time is a kernel, or a statement of one where the target runs statements (see `times`).
    """

    bytes: Size
    first: int
    last: int
    scratch: bool = False  # lives inside one kernel; `bytes` is what it takes where that is small


@dataclass(frozen=True, eq=False)
class Scratch:
    """Memory of a kernel's own, for what a target cannot hold in registers."""

    shape: Shape
    dtype: DType
    slot: int
    each: bool = False  # one for each thread


@dataclass(frozen=True)
class Binding:
    """A plan for known sizes: each slot's offset in the arena, its bytes and its life."""

    sizes: Mapping[str, int]
    offsets: tuple[int, ...]
    bytes: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    peak_bytes: int  # the arena
    blocks: Mapping[Kernel, Blocks]  # the kernels that run block by block


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Drawn):
    """Homes of all values, symbolic: the order, the sharing and the places hold for all sizes.

    `registers` says, for a target whose instructions are statements, where each of a kernel's
    results goes: `y0` a store's memory, `t0` scratch, `a0` the memory of a load that dies.
    `loops` say, for other targets, how each kernel runs. `commits` are parameters that get
    their new value by a copy at the end.
    """

    schedule: Schedule
    target: Target
    slots: tuple[Slot, ...]
    homes: Mapping[Expr, Home]
    registers: Mapping[Kernel, tuple[str, ...]] = field(default_factory=dict)
    scratch: Mapping[Kernel, tuple[Scratch, ...]] = field(default_factory=dict)
    loops: Mapping[Kernel, Loops] = field(default_factory=dict)
    commits: tuple[tuple[Expr, Expr], ...] = ()

    def bind(self, sizes: Mapping[str, int], threads: int = 1) -> Binding:
        """Offsets and bytes for known sizes, and the blocks in which large kernels run."""
        split = {
            k: b for k in self.schedule.kernels if (b := blocks(k, self.target, sizes, threads))
        }
        nbytes = [0 if s.scratch else bind(s.bytes, sizes) for s in self.slots]
        for kernel, scratches in self.scratch.items():
            for s in scratches:
                count = bind(product(s.shape), sizes)
                if kernel in split:
                    count = split[kernel].elements(bind(s.shape, sizes))
                nbytes[s.slot] = count * s.dtype.itemsize
                if s.each:
                    nbytes[s.slot] = threads * padded(nbytes[s.slot])
        spans = self._spans(split)
        offsets, peak = arena(spans, nbytes)
        return Binding(dict(sizes), offsets, tuple(nbytes), tuple(spans), peak, split)

    def _spans(self, split: Collection[Kernel]) -> list[tuple[int, int]]:
        """The life of each slot; what a kernel touches lives through all of its blocks."""
        spans = [(s.first, s.last) for s in self.slots]
        when = times(self.schedule, self.target)
        for kernel in split:
            low, high = when[kernel].start, when[kernel].stop - 1
            for k, (first, last) in enumerate(spans):
                spans[k] = (
                    low if low <= first <= high else first, high if low <= last <= high else last
                )  # fmt: skip
        return spans

    @cached_property
    def peak_bytes(self) -> Size:
        """The arena: a number, or a formula in the named sizes (before blocks make it smaller)."""
        tops: list[Size] = []
        for total in set(self._alive()):
            if not any(at_least(t, total) for t in tops):
                tops = [t for t in tops if not at_least(total, t)] + [total]
        return maximum(*tops[:8]) if tops else 0

    def _alive(self) -> list[Size]:
        """The bytes alive at each time at which a slot is taken, where a peak must be."""
        taken = sorted({s.first for s in self.slots})
        alive: list[Size] = [0] * len(taken)
        for slot in self.slots:
            for k in range(bisect_left(taken, slot.first), bisect_right(taken, slot.last)):
                alive[k] = alive[k] + slot.bytes
        return alive

    @cached_property
    def unplanned_bytes(self) -> Size:
        """What the same values would take with a buffer each."""
        total: Size = 0
        for value, home in self.homes.items():
            if home.kind == "slot" or (home.kind == "feed" and home.key is not value):
                total = total + product(value.shape) * value.dtype.itemsize
        return sum((s.bytes for s in self.slots if s.scratch), total)

    def verify(self) -> None:
        """Run the plan on labels instead of numbers: no kernel may read what was overwritten.

        Written apart from the planner: it knows only homes, and replays kernels and statements.
        """
        memory: dict[Any, Expr] = {}
        updates = self.schedule.graph.updates
        when = times(self.schedule, self.target)
        for kernel in self.schedule.kernels:
            for value in kernel.reads:
                self._reads(kernel, value, memory)
            self._statements(kernel)
            for value in kernel.writes:
                home = self.homes[value]
                if home.kind == "slot":
                    slot = self.slots[home.key]
                    if not slot.first < when[kernel].stop <= slot.last + 1:
                        raise GraphError(f"{value} is written outside the life of slot {home.key}")
                if home.kind == "parameter" and updates.get(home.key) is not value:
                    raise GraphError(f"{kernel.name} writes {value} into {home.key}")
                if home.kind == "feed" and self.homes.get(home.key) != home:
                    raise GraphError(f"{kernel.name} writes {value} into feed {home.key.name}")
                memory[home] = value
        for value in (*self.schedule.graph.outputs.values(), *(v for _, v in self.commits)):
            if memory.get(self.homes[value]) is not value:
                raise GraphError(f"result {value} was overwritten")
        for parameter, value in updates.items():
            direct = self.homes.get(value) == Home("parameter", parameter)
            if not direct and not any(p is parameter and v is value for p, v in self.commits):
                raise GraphError(f"{parameter} never gets its new value")

    def _reads(self, kernel: Kernel, value: Expr, memory: Mapping[Any, Expr]) -> None:
        if value.op.kind is not Kind.SOURCE:
            if memory.get(self.homes[value]) is not value:
                raise GraphError(f"{kernel.name} reads {value} after it was overwritten")
        elif Home("parameter", value) in memory:
            raise GraphError(f"{kernel.name} reads {value} after its update")
        elif Home("feed", value) in memory:
            raise GraphError(f"{kernel.name} reads {value} after it was overwritten")

    def _statements(self, kernel: Kernel) -> None:
        """Replay a kernel's instructions on the memory they really use, in two pieces if it can."""
        if kernel not in self.registers:
            return
        first, cut = len(kernel.loads), kernel.cut
        spots = [self._loaded(kernel, r) for r in range(first)]
        spots += [self._spot(kernel, where) for where in self.registers[kernel]]
        varies = [not same(a.at.strides[cut.axis], 0) if cut else False for a in kernel.loads]
        varies += [cut is not None and cut.axis in instr.axes for instr in kernel.body]
        cells: dict[Any, int] = {}
        pieces = (0, 1) if cut else (0,)

        def cell(register: int, piece: int) -> Any:
            return spots[register], piece if varies[register] else None

        def write(register: int, piece: int) -> None:
            cells[cell(register, piece)] = register
            for part in parts:
                if part[0][1] == spots[register]:
                    cells[part] = -1

        def run(k: int, piece: int) -> None:
            instr, register = kernel.body[k], first + k
            for a in instr.registers:
                if cells.get(cell(a, piece)) != a:
                    raise GraphError(f"{kernel.name}: {instr.node} reads an overwritten register")
            clash = [a for a in instr.registers if spots[a] == spots[register]]
            if clash and not instr.node.op.alias:
                raise GraphError(f"{kernel.name}: {instr.node} cannot run in place")
            where = self.registers[kernel][k]
            if clash and clash[0] < first and where[0] == "y":
                store = kernel.stores[int(where[1:])].access.at
                if not same_strided(store, kernel.loads[clash[0]].at):
                    raise GraphError(f"{kernel.name}: {instr.node} overlaps what it reads")
            if cut is None or k not in cut.across:  # a part has memory of its own
                write(register, piece)

        for r in range(first):
            for piece in pieces:
                cells[cell(r, piece)] = r
        parts = [c for c in cells if isinstance(c[0], tuple)]  # one of several reads of a value
        late = cut.after if cut else frozenset()
        for piece in pieces:
            for k in range(len(kernel.body)):
                if k not in late:
                    run(k, piece)
        for k in sorted(cut.across) if cut else ():
            write(first + k, 0)
        for k in sorted(late):
            run(k, 0)
        for s in kernel.stores:
            for piece in pieces:
                if cells[self.homes[s.access.value], cell(s.register, piece)[1]] != s.register:
                    raise GraphError(f"{kernel.name}: {s.access.value} is overwritten in it")

    def _loaded(self, kernel: Kernel, load: int) -> Any:
        value = kernel.loads[load].value
        home = self.homes.get(value) or Home("parameter", value)
        often = sum(other.value is value for other in kernel.loads) > 1
        return ("part", home, load) if often else home

    def _spot(self, kernel: Kernel, where: str) -> Any:
        index = int(where[1:])
        if where[0] == "y":
            return self.homes[kernel.stores[index].access.value]
        if where[0] == "a":
            return self.homes[kernel.loads[index].value]
        return ("scratch", self.scratch[kernel][index].slot)

    def render(self) -> str:
        """A line a slot, then what lives where, then the totals."""
        lines = [f"peak {self.peak_bytes} bytes, {self.unplanned_bytes} without reuse"]
        for k, slot in enumerate(self.slots):
            held = [v for v, h in self.homes.items() if h == Home("slot", k)]
            what = ", ".join(map(repr, held)) or "scratch"
            lines.append(f"slot {k}: {slot.bytes} bytes, times {slot.first}-{slot.last}: {what}")
        for value, home in self.homes.items():
            if home.kind != "slot":
                lines.append(f"{home}: {value!r}")
        lines += [f"at the end {p.name} = {v!r}" for p, v in self.commits]
        return "\n".join(lines)

    def timeline(self, **sizes: int) -> Timeline:
        """The arena over time as a picture, for these sizes; 32 stands for those not given."""
        from deepgraph.show.timeline import Timeline

        return Timeline(self, sizes)

    def to_html(self) -> str:
        """The timeline, and the kernels with the homes of what they make."""
        return f"{self.timeline().to_svg()}\n{super().to_html()}"

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<plan: {len(self.slots)} slots, peak {self.peak_bytes} bytes>"

    def to_networkx(self) -> nx.MultiDiGraph[Any]:
        """The schedule's graph, each node with its `home`."""
        drawn = self.schedule.to_networkx()
        for value, home in self.homes.items():
            if value in drawn:
                drawn.nodes[value]["home"] = str(home)
        return drawn


def times(schedule: Schedule, target: Target) -> dict[Kernel, range]:
    """The times of each kernel: one, or one a statement where the target runs statements."""
    found, now = {}, 0
    for kernel in schedule.kernels:
        length = 1 if target.atomic else max(len(kernel.body), 1)
        found[kernel] = range(now, now + length)
        now += length
    return found
