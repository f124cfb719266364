"""The step as C: each part between two calls of NumPy is one function, run by all threads."""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby
from types import CodeType
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.backends import Bound, Source, ccalls, leaf_value, library, runtime, toolchain
from deepgraph.backends import cmatmul as cmatmul  # registers
from deepgraph.backends import text as python
from deepgraph.backends.ccalls import CallWriter
from deepgraph.backends.cfunction import Lines
from deepgraph.backends.clike import memory_type, size, size_name
from deepgraph.backends.cloops import LoopsWriter
from deepgraph.backends.numpy import storage, view
from deepgraph.backends.numpylike import Driver, leaves, timed, where
from deepgraph.config import threads
from deepgraph.dims import Size, at_least, bind
from deepgraph.expr import Expr
from deepgraph.plan import Plan
from deepgraph.provenance import on_one_line
from deepgraph.schedule import Access, Kernel, contiguous
from deepgraph.target import Target

Array = npt.NDArray[Any]
_serial = count()
_HEADER = '#include "matmul.h"\n'
_WAIT = "dg_wait(call->barrier, count);"
# Bytes and operations, some ten microseconds of them: of a kernel that is not worth a second
# thread, and of a step that keeps the interpreter's lock.
_SMALL = 1 << 18


class NativeBackend:
    """C for the processor at hand, compiled once and kept on disk."""

    name = "native"
    target = Target("native", atomic=True, own=ccalls.own)

    def missing(self) -> str | None:
        """Why no C can be compiled here, or None."""
        return toolchain.missing()

    def emit(self, plan: Plan) -> Source:
        """Each kernel a C function, the parts that run them in order, and `step`, which calls."""
        return NativeDriver(plan).source()

    def load(self, source: Source, plan: Plan) -> NativeProgram:
        """The C compiled, and the driver as Python."""
        return NativeProgram(source, plan)


@dataclass(frozen=True)
class _Run:
    """A function that a part calls, for the kernel that the comment names."""

    comment: tuple[str, ...]
    statement: str
    effort: Size

    def alone(self) -> bool:
        """Is it too small for more than one thread, whatever the sizes are?"""
        return at_least(self.effort, _SMALL) is False

    def threads(self) -> str:
        """How many threads run it."""
        if at_least(self.effort, _SMALL) is True:
            return "count"
        return f"{size(self.effort)} < {_SMALL} ? 1 : count"


class NativeDriver(Driver):
    """Writes parts of C, and between them what C has no business with.

    What a part works on goes by its number in one table: feeds, results, parameters, constants,
    then the slots of the arena. With `apart` each kernel is a part of its own, to be timed.
    """

    def __init__(self, plan: Plan, apart: bool = False) -> None:
        super().__init__(plan, lambda driver, kernel, name: "")
        self.apart = apart
        graph = plan.schedule.graph
        self.places: dict[Any, int] = {}
        for key in [*graph.placeholders, *graph.outputs, *self.parameters, *self.constants]:
            self.places[key] = len(self.places)
        self.slots = len(self.places)
        self.size_at = {n: k for k, n in enumerate(graph.sizes)}
        self.parts: list[list[_Run]] = []
        self._open = False

    def source(self) -> Source:
        """Everything, in the order it runs."""
        texts, own = [_HEADER], list[str]()
        for number, kernel in enumerate(self.plan.schedule.kernels):
            comment = f"{kernel.name}: {where(self.plan, kernel)}"
            text = self._functions(kernel, f"k{number}", comment)
            if text is None:
                lines = [f"# {comment}", *self._call(kernel).splitlines()]
                self.lines += lines
                own.append("\n".join(lines))
                self._open = False
            else:
                over = kernel.space or kernel.body[0].node.shape
                texts.append(f"// {comment}\n// {kernel.kind} over {over}\n{text}")
                own.append(texts[-1])
        if self.plan.commits:
            self.lines.append("# new values")
        for parameter, value in self.plan.commits:
            whole = Access(value, contiguous(value.shape, self._order(value)))
            self.lines.append(f"np.copyto({self.names[parameter]}, {self.access(whole)})")
        parts = (self._part(k) for k in range(len(self.parts)))
        return Source(self._text(), (*texts, *parts), tuple(own))

    def _cuts(self) -> list[str]:
        return []

    def _functions(self, kernel: Kernel, name: str, comment: str) -> str | None:
        """The text of a kernel, which the part that is open runs; None if it is NumPy's."""
        if kernel.kind != "call":
            loops = LoopsWriter(self.plan.nests[kernel], name, self.size_at, self._lines)
            text, functions = loops.text(), loops.functions
        elif template := ccalls.found(kernel.body[0].node):
            call = CallWriter(kernel, name, self.size_at, len(self.plan.scratch[kernel]))
            template.write(call)
            text, functions = str(call.out), call.functions
        else:
            return None
        given = self._given(kernel)
        for k, function in enumerate(functions):
            args = ", ".join(given[p] for p in function.parameters)
            self._run("" if k else comment, f"{function.name}({args});", _effort(kernel))
        return text

    def _run(self, comment: str, statement: str, effort: Size) -> None:
        """A statement of the part that is open, or of a new one."""
        if not self._open or (self.apart and comment):
            brought = [*self.feeds, *self.outputs.values()] if not self.parts else []
            self.lines += [f"# {comment}"] * self.apart
            self.lines.append(f"part{len(self.parts)}({', '.join(brought)})")
            self.parts.append([])
            self._open = True
        self.parts[-1].append(_Run((f"// {comment}",) * bool(comment), statement, effort))

    def _part(self, k: int) -> str:
        """The text of a part, which every thread runs; all wait between kernels that they share."""
        body = Lines()
        apart = [(alone, list(runs)) for alone, runs in groupby(self.parts[k], key=_Run.alone)]
        for n, (alone, runs) in enumerate(apart):
            if alone:
                with body.braces("if (me == 0)"):
                    for run in runs:
                        body.add(*run.comment, run.statement.format(few=1))
            for m, run in enumerate(runs if not alone else ()):
                few = run.threads()
                body.add(*run.comment)
                if few == "count":
                    body.add(run.statement.format(few=few))
                else:
                    body.add(f"few = {few};", f"if (me < few) {run.statement.format(few='few')}")
                if m + 1 < len(runs):
                    body.add(_WAIT)
            if n + 1 < len(apart):
                body.add(_WAIT)
        text = str(body)
        out = Lines()
        with out.braces(f"void part{k}(dg_call *call, int me, int count)"):
            for name, place in self.size_at.items():
                if size_name(name) in text:
                    out.add(f"const int64_t {size_name(name)} = call->size[{place}];")
            out.add(*["int few;"] * ("few = " in text), *["(void)count;"] * ("count" not in text))
            out.add(*body.lines)
        return f"{out}\n"

    def _given(self, kernel: Kernel) -> dict[str, str]:
        """What the parameters of a kernel's functions are given."""
        found = {"call": "call", "me": "me", "count": "{few}"}
        for k, access in enumerate(kernel.loads):
            kind = memory_type(access.value.dtype)
            found[f"a{k}"] = f"(const {kind} *)call->at[{self._place(access.value)}]"
        for k, store in enumerate(kernel.stores):
            kind = memory_type(store.access.value.dtype)
            found[f"y{k}"] = f"({kind} *)call->at[{self._place(store.access.value)}]"
        for k, piece in enumerate(self.plan.scratch[kernel]):
            found[f"t{k}"] = f"call->at[{self.slots + piece.slot}]"
        return found

    def _lines(self, node: Expr) -> str:
        return on_one_line(self.plan.schedule.origins(node))

    def _place(self, value: Expr) -> int:
        if value in self.places:
            return self.places[value]
        home = self.plan.homes[value]
        return self.slots + int(home.key) if home.kind == "slot" else self.places[home.key]


def _compiled(kernel: Kernel) -> bool:
    return kernel.kind != "call" or ccalls.found(kernel.body[0].node) is not None


def _effort(kernel: Kernel) -> Size:
    return kernel.bytes + kernel.flops


class NativeProgram:
    """A loaded step: `bind` gives it memory."""

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self.library = runtime.load("\n".join(source.kernels))
        self.code = self._compiled(source.driver)
        self.parts = sum(text.startswith("void part") for text in source.kernels)
        first = source.driver.partition("def step(")[2].splitlines()[1:]
        self.whole = [line.partition("(")[0].strip() for line in first if line.strip()] == ["part0"]

    def _compiled(self, text: str) -> CodeType:
        """The driver as code; tracebacks show it as long as this program lives."""
        filename = f"<deepgraph step {next(_serial)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        weakref.finalize(self, linecache.cache.pop, filename, None)
        return compile(text, filename, "exec")

    def bind(self, sizes: Mapping[str, int], tick: Callable[[], None] | None = None) -> Bound:
        """Memory for these sizes, and the step over it."""
        plan, graph = self.plan, self.plan.schedule.graph
        team = threads()
        efforts = [bind(_effort(k), sizes) for k in plan.schedule.kernels if _compiled(k)]
        team = team if max(efforts, default=0) >= _SMALL else 1
        binding = plan.bind(sizes, team)
        arena = np.empty(binding.peak_bytes + 64, np.uint8)
        start = -arena.ctypes.data % 64

        def slot(index: int, shape: tuple[int, ...], dtype: str) -> Array:
            low = start + binding.offsets[index]
            return np.ndarray(shape, dtype, arena, low)

        stored = [storage(p) for p in graph.parameters]
        constants = [np.ascontiguousarray(leaf_value(c, sizes)) for c in leaves(plan)]
        arrays = len(graph.placeholders) + len(graph.outputs)
        call = runtime.Call(
            arrays,
            [*(a.ctypes.data for a in (*stored, *constants)),
             *(arena.ctypes.data + start + low for low in binding.offsets)],
            [sizes[n] for n in graph.sizes], (arena, stored, constants, self.library),
        )  # fmt: skip
        scope: dict[str, Any] = {
            "np": np, "lib": library, "view": view, "slot": slot, "parameters": stored,
            "constants": constants, "tick": tick,
            **{python.size_name(n): sizes[n] for n in graph.sizes},
        }  # fmt: skip
        if tick is None:
            program, code, count = self.library, self.code, self.parts
        else:
            apart = NativeDriver(plan, apart=True)
            text = apart.source()
            program = runtime.load("\n".join(text.kernels))
            code = self._compiled(timed(text.driver))
            count = len(apart.parts)
        for k in range(count):
            scope[f"part{k}"] = call.caller(
                runtime.address(program, f"part{k}"), None if k == 0 else 0, threads=team,
                holding=sum(efforts) < _SMALL,
            )
        exec(code, scope)
        direct = None
        if tick is None and self.whole and sum(efforts) < _SMALL:
            direct = partial(call.direct, runtime.address(program, "part0"))
        return Bound(binding, scope["step"], binding.peak_bytes, direct)


backend = NativeBackend()
