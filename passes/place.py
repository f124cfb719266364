"""Give every value a home: in place where that is safe, else a slot that others use before and after."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from deepgraph.dims import Shape, Size, product, same
from deepgraph.dtypes import DType
from deepgraph.expr import Expr
from deepgraph.passes.registers import assign, in_place
from deepgraph.plan import Home, Plan, Scratch, Slot
from deepgraph.schedule import Access, Kernel, Schedule, same_strided
from deepgraph.target import Target


def place(schedule: Schedule, target: Target, reuse: bool = True) -> Plan:
    """Homes for all values of a schedule, and scratch for what a target keeps out of registers.

    Outputs go straight to the caller's arrays. A new value of a parameter goes straight to its
    storage if everything that reads the old one has run; otherwise it is copied there at the end,
    so that updates are simultaneous. With `reuse` off every value has memory of its own.
    """
    planner = _Planner(schedule, target, reuse)
    for position, kernel in enumerate(schedule.kernels):
        planner.kernel(position, kernel)
    return planner.plan()


@dataclass
class _Planner:
    schedule: Schedule
    target: Target
    reuse: bool

    def __post_init__(self) -> None:
        graph = self.schedule.graph
        self.last: dict[Expr, int] = {}  # the last kernel that reads a value
        for position, kernel in enumerate(self.schedule.kernels):
            for value in (*kernel.writes, *kernel.reads):
                self.last[value] = position
        self.outputs = {v: k for k, v in graph.outputs.items()}
        self.updates: dict[Expr, list[Expr]] = {}
        for parameter, value in graph.updates.items():
            self.updates.setdefault(value, []).append(parameter)
        self.slots: list[Slot] = []
        self.homes: dict[Expr, Home] = {}
        self.registers: dict[Kernel, tuple[str, ...]] = {}
        self.scratch: dict[Kernel, tuple[Scratch, ...]] = {}
        self.commits: list[tuple[Expr, Expr]] = []

    def plan(self) -> Plan:
        return Plan(
            self.schedule, self.target, tuple(self.slots), self.homes, self.registers,
            self.scratch, tuple(self.commits),
        )  # fmt: skip

    def kernel(self, position: int, kernel: Kernel) -> None:
        dying = [j for j in range(len(kernel.loads)) if self._dies(position, kernel, j)]
        shared: dict[int, int] = {}
        for k, store in enumerate(kernel.stores):
            value = store.access.value
            self.homes[value] = self._home(position, kernel, k, [j for j in dying if j not in
                                           shared.values()], shared)  # fmt: skip
            for parameter in self.updates.get(value, ()):
                if self.homes[value] != Home("parameter", parameter):
                    self.commits.append((parameter, value))
        self._scratch(position, kernel, [j for j in dying if j not in shared.values()], shared)

    def _dies(self, position: int, kernel: Kernel, load: int) -> bool:
        """Is this the last read of a value in a slot, through this one access?"""
        value = kernel.loads[load].value
        return (
            self.reuse
            and value in self.homes and self.homes[value].kind == "slot"
            and self.last[value] == position and value not in self.updates
            and sum(a.value is value for a in kernel.loads) == 1
        )  # fmt: skip

    def _home(
        self, position: int, kernel: Kernel, k: int, dying: Collection[int], shared: dict[int, int]
    ) -> Home:
        value, at = kernel.stores[k].access.value, kernel.stores[k].access.at
        if value in self.outputs:
            return Home("output", self.outputs[value])
        for parameter in self.updates.get(value, ()):
            if self._may_update(position, kernel, k, parameter):
                reads = [j for j, a in enumerate(kernel.loads) if a.value is parameter]
                shared |= {k: j for j in reads}
                return Home("parameter", parameter)
        end = len(self.schedule.kernels) if value in self.updates else self.last[value]
        for j in dying:
            load = kernel.loads[j]
            if (
                load.value.dtype == value.dtype and same_strided(load.at, at)
                and _covers(load) and self._may_share(kernel, j, k)
            ):  # fmt: skip
                home = self.homes[load.value]
                self.slots[home.key] = replace(self.slots[home.key], last=end)
                shared[k] = j
                return home
        self.slots.append(Slot(_bytes(value), position, end if self.reuse else 1 << 60))
        return Home("slot", len(self.slots) - 1)

    def _may_share(self, kernel: Kernel, load: int, store: int) -> bool:
        if kernel.kind == "call":
            return False
        return kernel.kind == "map" if self.target.atomic else in_place(kernel, load, store)


    def _may_update(self, position: int, kernel: Kernel, k: int, parameter: Expr) -> bool:
        """Can this store write the parameter's own memory? Nothing may read the old value later."""
        if self.last.get(parameter, -1) > position or Home("parameter", parameter) in (
            self.homes.values()
        ):
            return False
        store = kernel.stores[k].access
        if store.value.ndim > 1 and store.value in self.schedule.orders:
            return False
        reads = [j for j, a in enumerate(kernel.loads) if a.value is parameter]
        if not reads:
            return True
        same = same_strided(kernel.loads[reads[0]].at, store.at)
        return len(reads) == 1 and same and self._may_share(kernel, reads[0], k)

    def _scratch(
        self, position: int, kernel: Kernel, dying: Collection[int], shared: dict[int, int]
    ) -> None:
        wanted: list[tuple[Shape, DType, bool]] = []
        if kernel.kind == "call":
            node = kernel.body[0].node
            wanted = [(t.shape, t.dtype, False) for t in node.op.scratch(node)] if (
                node.op.scratch) else []  # fmt: skip
        elif not self.target.atomic:
            whole = [j for j in dying if _covers(kernel.loads[j])]
            found = assign(kernel, whole, shared)
            self.registers[kernel] = found.names
            wanted = [(shape, dtype, True) for shape, dtype in found.scratch]
        pieces = []
        for shape, dtype, blocked in wanted:
            size = product(shape) * dtype.itemsize
            end = position if self.reuse else 1 << 60
            self.slots.append(Slot(size, position, end, scratch=True))
            pieces.append(Scratch(tuple(shape), dtype, len(self.slots) - 1, blocked))
        self.scratch[kernel] = tuple(pieces)


def _bytes(value: Expr) -> Size:
    return product(value.shape) * value.dtype.itemsize


def _covers(access: Access) -> bool:
    """Does the access cover its value's buffer? A part's memory is not the whole's."""
    return same(product(access.value.shape), product(access.at.shape))
