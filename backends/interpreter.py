"""What a schedule or a plan means: kernel by kernel, statement by statement, on its memory.

Slow and plain. It runs what passes make before a backend writes code of it, so that a wrong result
can be blamed on the pass; and it can watch every value on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from types import CodeType
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.backends import leaf_value, library
from deepgraph.backends.text import size_name, statement
from deepgraph.dims import Dim, bind, product
from deepgraph.dtypes import DType
from deepgraph.expr import Expr, Kind
from deepgraph.plan import Home, Plan
from deepgraph.schedule import Access, Instr, Kernel, Schedule, contiguous

Array = npt.NDArray[Any]
Values = Mapping[Expr, Any]
Sizes = Mapping[str, int]
Found = tuple[dict[str, Array], dict[Expr, Array]]  # outputs by name, new values by parameter
Watch = Callable[[int, Instr, Sequence[Array], Array], None]

_UNSET = 0xFF  # every byte of memory that nothing has written: NaN as a float


def run_schedule(
    schedule: Schedule, values: Values, sizes: Sizes, watch: Watch | None = None
) -> Found:
    """Outputs and updates, every value in memory of its own.

    `values` has the placeholders and parameters; nothing of theirs is changed. `watch` is shown
    each result: the kernel's number, the instruction, its arguments and what it gave.
    """
    return _Machine(schedule, values, sizes, watch).run()


def run_plan(plan: Plan, values: Values, sizes: Sizes) -> Found:
    """Outputs and updates, values sharing memory as they do in the plan."""
    return _Planned(plan, values, sizes).run()


class _Machine:
    """A run of a schedule. Buffers are flat; accesses say where in them the elements are."""

    def __init__(
        self, schedule: Schedule, values: Values, sizes: Sizes, watch: Watch | None = None
    ) -> None:
        self.schedule, self.values, self.sizes, self.watch = schedule, values, sizes, watch
        self.scope = {"np": np, "lib": library} | {size_name(n): v for n, v in sizes.items()}
        self.buffers: dict[Any, Array] = {}

    def run(self) -> Found:
        with np.errstate(all="ignore"):
            for number, kernel in enumerate(self.schedule.kernels):
                self.kernel(number, kernel)
            return self.results()

    def results(self) -> Found:
        graph = self.schedule.graph
        return (
            {name: self.whole(v) for name, v in graph.outputs.items()},
            {p: self.whole(v) for p, v in graph.updates.items()},
        )

    def kernel(self, number: int, kernel: Kernel) -> None:
        registers: list[Any] = [self.view(a) for a in kernel.loads]
        temporaries = self.temporaries(kernel)
        for k, instr in enumerate(kernel.body):
            args = [self.operand(a, registers) for a in instr.args]
            out = self.register(kernel, k, registers, temporaries)
            try:
                self.execute(instr, args, out, temporaries)
            except Exception as error:
                error.add_note(f"{instr.node.op.name}\n  at {instr.node.origin.show()}")
                raise
            if self.watch is not None:
                self.watch(number, instr, args, out)
            registers.append(out)
        for store in kernel.stores:
            place, value = self.view(store.access), registers[store.register]
            if not _same_memory(place, value):
                np.copyto(place, value)

    def operand(self, arg: Any, registers: Sequence[Array]) -> Any:
        if isinstance(arg, int):
            return registers[arg]
        return bind(arg, self.sizes) if isinstance(arg, Dim) else arg.value.reshape(())

    def execute(
        self, instr: Instr, args: Sequence[Any], out: Array, temporaries: Sequence[Array]
    ) -> None:
        node = instr.node
        folds = node.op.kind is Kind.REDUCE
        fold: dict[str, Any] = {"axis": instr.fold, "keepdims": True} if folds else {}
        names = [f"x{k}" for k in range(len(args))]
        scope = self.scope | dict(zip(names, args, strict=True)) | {"out": out}
        scope |= {f"tmp{k}": t for k, t in enumerate(temporaries)}
        exec(_compiled(statement(node, names, "out", **fold)), scope)

    def temporaries(self, kernel: Kernel) -> list[Array]:
        """The scratch of a call."""
        rule = kernel.body[0].node.op.scratch if kernel.kind == "call" else None
        wanted = rule(kernel.body[0].node) if rule else ()
        return [_unset(bind(t.shape, self.sizes), t.dtype) for t in wanted]

    def register(
        self, kernel: Kernel, k: int, registers: Sequence[Array], temporaries: Sequence[Array]
    ) -> Array:
        """Memory for the result of an instruction."""
        node = kernel.body[k].node
        if len(kernel.body) == 1 and kernel.kind == "call":
            return self.view(kernel.stores[0].access)
        varies = kernel.body[k].axes
        space = bind(kernel.space, self.sizes)
        return _unset(tuple(n if a in varies else 1 for a, n in enumerate(space)), node.dtype)

    def view(self, access: Access) -> Array:
        shape, strides = bind(access.at.shape, self.sizes), bind(access.at.strides, self.sizes)
        return _view(self.buffer(access.value), shape, strides, bind(access.at.offset, self.sizes))

    def whole(self, value: Expr) -> Array:
        at = contiguous(value.shape, self.schedule.orders.get(value))
        return np.array(self.view(Access(value, at)), order="C")

    def buffer(self, value: Expr) -> Array:
        """The memory of a value, flat."""
        key = self.key(value)
        if key not in self.buffers:
            self.buffers[key] = self.made(value)
        return self.buffers[key]

    def key(self, value: Expr) -> Any:
        return value

    def made(self, value: Expr) -> Array:
        if value.op.kind is not Kind.SOURCE:
            return _unset((bind(product(value.shape), self.sizes),), value.dtype)
        known = self.values[value] if value in self.values else leaf_value(value, self.sizes)
        return np.array(known, value.dtype, order="C").reshape(-1)


class _Planned(_Machine):
    """A run of a plan, unblocked: one arena, results in place, parameters overwritten."""

    def __init__(self, plan: Plan, values: Values, sizes: Sizes) -> None:
        super().__init__(plan.schedule, values, sizes)
        self.plan = replace(plan, target=replace(plan.target, block_from=1 << 62))
        self.binding = self.plan.bind(sizes)
        self.arena = np.full(self.binding.peak_bytes, _UNSET, np.uint8)

    def results(self) -> Found:
        for parameter, value in self.plan.commits:
            np.copyto(self.whole_parameter(parameter), self.whole(value).reshape(-1))
        graph = self.schedule.graph
        new = {p: self.whole_parameter(p).reshape(bind(p.shape, self.sizes)) for p in graph.updates}
        return {name: self.whole(v) for name, v in graph.outputs.items()}, new

    def whole_parameter(self, parameter: Expr) -> Array:
        return self.buffer(parameter)

    def key(self, value: Expr) -> Any:
        home = self.plan.homes.get(value) or Home("parameter", value)
        return (home, value) if home.kind == "slot" else home  # a slot holds many, of any dtype

    def made(self, value: Expr) -> Array:
        home = self.plan.homes.get(value)
        if home is not None and home.kind in ("parameter", "feed") and home.key is not value:
            return self.buffer(home.key)
        if home is not None and home.kind == "slot":
            return self.slot(home.key, bind(product(value.shape), self.sizes), value.dtype)
        return super().made(value)

    def slot(self, index: int, count: int, dtype: DType) -> Array:
        low = self.binding.offsets[index]
        return self.arena[low : low + count * dtype.itemsize].view(dtype)

    def temporaries(self, kernel: Kernel) -> list[Array]:
        planned = self.plan.scratch.get(kernel, ())
        if any(s.each for s in planned) or not planned:  # not what NumPy's statements take
            return super().temporaries(kernel)
        shapes = [(bind(s.shape, self.sizes), s) for s in planned]
        return [
            self.slot(s.slot, prod(shape), s.dtype).reshape(shape) for shape, s in shapes
        ]

    def register(
        self, kernel: Kernel, k: int, registers: Sequence[Array], temporaries: Sequence[Array]
    ) -> Array:
        names = self.plan.registers.get(kernel)
        if names is None:
            return super().register(kernel, k, registers, temporaries)
        index = int(names[k][1:])
        if names[k][0] == "y":
            return self.view(kernel.stores[index].access)
        return temporaries[index] if names[k][0] == "t" else registers[index]


def _unset(shape: tuple[int, ...], dtype: DType) -> Array:
    memory = np.full(prod(shape) * dtype.itemsize, _UNSET, np.uint8)
    return memory.view(dtype).reshape(shape)


def _view(base: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Array:
    if 0 in shape:
        return np.empty(shape, base.dtype)
    size = base.itemsize
    return np.ndarray(shape, base.dtype, base, offset * size, [s * size for s in strides])


def _same_memory(a: Array, b: Array) -> bool:
    return a.__array_interface__["data"] == b.__array_interface__["data"] and a.strides == b.strides


@lru_cache(4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<interpreted>", "exec")
