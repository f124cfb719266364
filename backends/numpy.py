"""NumPy code: a fused kernel is a function of ufunc statements, run block by block if large."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.arena import taken
from deepgraph.backends import Bound, Source, leaf_value, library
from deepgraph.backends.device import HOST, Device
from deepgraph.backends.numpylike import Driver, compiled, leaves, timed
from deepgraph.backends.pool import run_blocks
from deepgraph.backends.text import literal, size_name, statement
from deepgraph.config import threads
from deepgraph.dims import Dim
from deepgraph.expr import Expr, Kind
from deepgraph.parameter import Parameter
from deepgraph.plan import Plan
from deepgraph.provenance import on_one_line
from deepgraph.schedule import Instr, Kernel
from deepgraph.target import Target

Array = npt.NDArray[Any]


class NumpyBackend:
    """The backend that is always there, as fast as careful hand-written NumPy."""

    name = "numpy"
    target = Target("numpy")

    def missing(self) -> str | None:
        """Nothing: the package needs NumPy."""
        return None

    def emit(self, plan: Plan) -> Source:
        """Each kernel a function, then what runs once, then `step`."""
        return Driver(plan, kernel_text).source()

    def load(self, source: Source, plan: Plan) -> NumpyProgram:
        """The source as Python functions that tracebacks and debuggers can show."""
        return NumpyProgram(source, plan)


def kernel_text(driver: Driver, kernel: Kernel, name: str) -> str:
    """A kernel as a function of its loads, stores and scratch, with the user's lines."""
    plan = driver.plan
    params = [f"a{k}" for k in range(len(kernel.loads))]
    params += [f"y{k}" for k in range(len(kernel.stores))]
    params += [f"t{k}" for k in range(len(plan.scratch.get(kernel, ())))]
    head = f"({', '.join(params)}):  # {kernel.kind} over {literal(kernel.space)}"
    homes = plan.registers[kernel]
    registers = [*params[: len(kernel.loads)], *homes]
    late = where_cut.after if (where_cut := kernel.cut) else frozenset()
    parts: tuple[list[str], list[str]] = ([], [])
    shown = ["", ""]
    for k, instr in enumerate(kernel.body):
        part = int(k in late)
        place = on_one_line(plan.schedule.origins(instr.node))
        if place and place != shown[part]:
            shown[part] = place
            parts[part].append(f"# {place}")
        parts[part].extend(_statement(driver, instr, registers, homes[k]).splitlines())
    text = [f"def {name}{head}", *(f"    {line}" for line in parts[0])]
    if late:
        text += ["", f"def {name}_end{head}", *(f"    {line}" for line in parts[1])]
    return "\n".join([*text, ""])


def _statement(driver: Driver, instr: Instr, registers: Sequence[str], out: str) -> str:
    args = [
        registers[a] if isinstance(a, int)
        else literal(a) if isinstance(a, Dim) else driver.number(a)
        for a in instr.args
    ]  # fmt: skip
    op = instr.node.op
    if op.ufunc and not op.numpy:
        driver.ufuncs.add(op.ufunc)
    if op.kind is Kind.REDUCE:
        return statement(instr.node, args, out, bare=True, axis=instr.fold, keepdims=True)
    return statement(instr.node, args, out, bare=True)


class NumpyProgram:
    """A loaded step: `bind` gives it memory."""

    device: Device = HOST

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self.code = compiled(str(source), self)

    def bind(self, sizes: Mapping[str, int], tick: Callable[[], None] | None = None) -> Bound:
        """Memory for these sizes, and the step over it."""
        plan = self.plan
        binding = plan.bind(sizes, threads())
        arena = taken(binding.peak_bytes)

        def slot(index: int, shape: tuple[int, ...], dtype: str) -> Array:
            kind = np.dtype(dtype)
            low, nbytes = binding.offsets[index], binding.bytes[index]
            piece = arena[low : low + nbytes].view(kind)
            return piece.reshape(shape) if nbytes == _bytes(shape, kind) else piece  # or blocks

        def cut_kernel(number: int) -> Callable[..., None]:
            main = scope[f"k{number}"]
            end = scope.get(f"k{number}_end")
            kernel = plan.schedule.kernels[number]
            if kernel not in binding.blocks:
                return main if end is None else _both(main, end)
            return run_blocks(plan, kernel, binding, main, end)

        graph = plan.schedule.graph
        scope: dict[str, Any] = {
            "np": np, "lib": library, "view": view, "slot": slot, "cut": cut_kernel,
            "parameters": [storage(p) for p in graph.parameters],
            "constants": [leaf_value(c, sizes) for c in leaves(plan)],
            "tick": tick, **{size_name(n): sizes[n] for n in graph.sizes},
        }  # fmt: skip
        exec(self.code if tick is None else compiled(timed(str(self.source)), self), scope)
        return Bound(binding, scope["step"], binding.peak_bytes)


def _both(main: Callable[..., None], end: Callable[..., None]) -> Callable[..., None]:
    def run(*arrays: Any) -> None:
        main(*arrays)
        end(*arrays)

    return run


def storage(p: Expr) -> Array:
    """The memory of a parameter."""
    assert isinstance(p, Parameter)
    return p.storage()  # type: ignore[no-any-return]


def _bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    total = dtype.itemsize
    for n in shape:
        total *= n
    return total


def view(base: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Array:
    """An array over the memory of `base`; strides and offset count elements."""
    if 0 in shape:
        return np.empty(shape, base.dtype)
    size = base.itemsize
    return np.ndarray(shape, base.dtype, base, offset * size, [s * size for s in strides])


backend = NumpyBackend()
