"""Give every value a home: in place where that is safe, else a slot shared over time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from deepgraph.dims import Shape, Size, product, same
from deepgraph.dtypes import DType
from deepgraph.expr import Expr
from deepgraph.passes.registers import Assignment, assign, in_place
from deepgraph.plan import Home, Plan, Scratch, Slot, times
from deepgraph.schedule import Access, Kernel, Schedule, same_strided
from deepgraph.target import Loops, Target


def place(
    schedule: Schedule, target: Target, reuse: bool = True, donate: Collection[str] = ()
) -> Plan:
    """Homes for all values of a schedule, and scratch for what a target keeps out of registers.

    Outputs go straight to the caller's arrays. A new value of a parameter goes straight to its
    storage if everything that reads the old one has run; otherwise it is copied there at the end,
    so that updates are simultaneous. Lives are counted in statements where a target runs them one
    by one. The memory of a feed that is donated is taken, in place, once the feed has been read.
    With `reuse` off every value has memory of its own.
    """
    planner = _Planner(schedule, target, reuse, donate)
    for kernel in schedule.kernels:
        planner.kernel(kernel)
    return planner.plan()


@dataclass
class _Planner:
    schedule: Schedule
    target: Target
    reuse: bool
    donate: Collection[str] = ()

    def __post_init__(self) -> None:
        graph = self.schedule.graph
        self.start = times(self.schedule, self.target)
        self.end = max((t.stop for t in self.start.values()), default=0)
        self.last: dict[Expr, tuple[Kernel, int]] = {}  # who reads a value last, and when
        for kernel in self.schedule.kernels:
            for value in kernel.writes:
                self.last[value] = kernel, self.start[kernel].stop - 1
            for load, access in enumerate(kernel.loads):
                when = self._when(kernel, kernel.last_reads.get(load, 0))
                known = self.last.get(access.value)
                if known is None or known[1] < when or known[0] is not kernel:
                    self.last[access.value] = kernel, when
        refusing = [k for k in self.schedule.kernels if any(n.op.refuses for n in k.nodes)]
        self.refused = max((self.start[k].stop - 1 for k in refusing), default=-1)
        self.outputs = {v: k for k, v in graph.outputs.items()}
        self.updates: dict[Expr, list[Expr]] = {}
        for parameter, value in graph.updates.items():
            self.updates.setdefault(value, []).append(parameter)
        self.slots: list[Slot] = []
        self.homes = {p: Home("feed", p) for p in graph.placeholders if p.name in self.donate}
        self.registers: dict[Kernel, tuple[str, ...]] = {}
        self.scratch: dict[Kernel, tuple[Scratch, ...]] = {}
        self.loops: dict[Kernel, Loops] = {}
        self.commits: list[tuple[Expr, Expr]] = []

    def plan(self) -> Plan:
        return Plan(
            self.schedule, self.target, tuple(self.slots), self.homes, self.registers,
            self.scratch, self.loops, tuple(self.commits),
        )  # fmt: skip

    def kernel(self, kernel: Kernel) -> None:
        if kernel.kind != "call" and self.target.loops is not None:
            self.loops[kernel] = self.target.loops(kernel)
        dying = [j for j in range(len(kernel.loads)) if self._dies(kernel, j)]
        shared: dict[int, int] = {}  # stores that take a load's memory
        for k in range(len(kernel.stores)):
            self._settle(kernel, k, dying, shared)
        lent = [j for j in dying if j not in shared.values() and _covers(kernel.loads[j])]
        found: Assignment | None = None
        if kernel.kind != "call" and not self.target.atomic:
            found = assign(kernel, lent, shared)
            self.registers[kernel] = found.names
        self._live(kernel, found)
        self._scratch(kernel, found)

    def _when(self, kernel: Kernel, statement: int) -> int:
        """The time of a kernel's statement; all are one where a kernel is one."""
        span = self.start[kernel]
        return min(span.start + max(statement, 0), span.stop - 1)

    def _dies(self, kernel: Kernel, load: int) -> bool:
        """Is this the last read of a slot's or a donated feed's value, through this one access?"""
        value = kernel.loads[load].value
        return (
            self.reuse
            and value in self.homes and self.homes[value].kind in ("slot", "feed")
            and self.last[value][0] is kernel and value not in self.updates
            and sum(a.value is value for a in kernel.loads) == 1
        )  # fmt: skip

    def _settle(
        self, kernel: Kernel, k: int, dying: Collection[int], shared: dict[int, int]
    ) -> None:
        """Find a store's home: an output, a parameter, a load that dies, or a slot of its own."""
        value, at = kernel.stores[k].access.value, kernel.stores[k].access.at
        self.homes[value] = self._result(kernel, k, shared) or Home("slot", len(self.slots))
        for parameter in self.updates.get(value, ()):
            if self.homes[value] != Home("parameter", parameter):
                self.commits.append((parameter, value))
        if self.homes[value].kind != "slot":
            return
        for j in dying:
            load = kernel.loads[j]
            if (
                j not in shared.values() and load.value.dtype == value.dtype
                and same_strided(load.at, at) and _covers(load) and self._may_share(kernel, j, k)
            ):  # fmt: skip
                self.homes[value], shared[k] = self.homes[load.value], j
                return
        self.slots.append(Slot(_bytes(value), self.start[kernel].stop - 1, 0))

    def _result(self, kernel: Kernel, k: int, shared: dict[int, int]) -> Home | None:
        value = kernel.stores[k].access.value
        if value in self.outputs:
            return Home("output", self.outputs[value])
        for parameter in self.updates.get(value, ()):
            if self._may_update(kernel, k, parameter):
                for j, access in enumerate(kernel.loads):
                    if access.value is parameter:
                        shared[k] = j
                return Home("parameter", parameter)
        return None

    def _may_update(self, kernel: Kernel, k: int, parameter: Expr) -> bool:
        """Can this store write the parameter's own memory?

        Nothing may read the old value later, or raise.
        """
        last = self.last.get(parameter)
        if last is not None and last[1] >= self.start[kernel].stop:
            return False
        if self.start[kernel].start <= self.refused:
            return False
        store = kernel.stores[k].access
        if store.value in self.schedule.orders:
            return False
        reads = [j for j, a in enumerate(kernel.loads) if a.value is parameter]
        if not reads:
            return True
        aligned = same_strided(kernel.loads[reads[0]].at, store.at)
        return len(reads) == 1 and aligned and self._may_share(kernel, reads[0], k)

    def _may_share(self, kernel: Kernel, load: int, store: int) -> bool:
        if kernel.kind == "call":  # its epilogue alone, which runs over all axes
            made = kernel.body[kernel.stores[store].register - len(kernel.loads)]
            return load not in kernel.body[0].registers and len(made.axes) == len(kernel.space)
        if self.target.atomic:
            return self.loops[kernel].in_place(load, store)
        return in_place(kernel, load, store)

    def _live(self, kernel: Kernel, found: Assignment | None) -> None:
        """Stretch the lives of the slots that this kernel's stores and dying loads stand in."""
        uses = found.uses if found else {}
        for k, store in enumerate(kernel.stores):
            value = store.access.value
            home = self.homes[value]
            if home.kind != "slot":
                continue
            first = self._when(kernel, uses[f"y{k}"][0] if found else 0)
            last = self.end if value in self.updates else self.last[value][1]
            self._stretch(home.key, first, last)
        for j, access in enumerate(kernel.loads):
            if (name := f"a{j}") in uses:
                home = self.homes[access.value]
                if home.kind == "slot":
                    self._stretch(home.key, None, self._when(kernel, uses[name][1]))

    def _stretch(self, index: int, first: int | None, last: int) -> None:
        slot = self.slots[index]
        self.slots[index] = Slot(
            slot.bytes,
            slot.first if first is None else min(slot.first, first),
            max(slot.last, last if self.reuse else self.end),
            slot.scratch,
        )

    def _scratch(self, kernel: Kernel, found: Assignment | None) -> None:
        span = self.start[kernel]
        low, high = span.start, span.stop - 1
        wanted: list[tuple[Shape, DType, int, int]] = []
        each = False
        if found is not None:
            for k, (shape, dtype) in enumerate(found.scratch):
                first, last = (self._when(kernel, time) for time in found.uses[f"t{k}"])
                wanted.append((shape, dtype, first, last))
        elif loops := self.loops.get(kernel):
            wanted += [(t.shape, t.dtype, low, high) for t in loops.scratch]
            each = loops.each_thread
        else:
            node = kernel.body[0].node
            own = self.target.own(node)
            rule = node.op.scratch
            types = own if own is not None else rule(node) if rule else ()
            wanted += [(t.shape, t.dtype, low, high) for t in types]
            each = own is not None
        pieces = []
        for shape, dtype, first, last in wanted:
            size = product(shape) * dtype.itemsize
            self.slots.append(Slot(size, first, last if self.reuse else self.end, scratch=True))
            pieces.append(Scratch(shape, dtype, len(self.slots) - 1, each))
        self.scratch[kernel] = tuple(pieces)


def _bytes(value: Expr) -> Size:
    return product(value.shape) * value.dtype.itemsize


def _covers(access: Access) -> bool:
    """Does the access cover its value's buffer? A part's memory is not the whole's."""
    return same(product(access.value.shape), product(access.at.shape))
