"""The step as C: each part between two calls of NumPy is one function, run by all threads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.arena import taken
from deepgraph.backends import Bound, Source, ccalls, leaf_value, library, runtime, toolchain
from deepgraph.backends import cconvolution as cconvolution  # these register templates
from deepgraph.backends import cindexing as cindexing
from deepgraph.backends import cmatmul as cmatmul
from deepgraph.backends import cpooling as cpooling
from deepgraph.backends import crandom as crandom
from deepgraph.backends import cscans as cscans
from deepgraph.backends import cshaping as cshaping
from deepgraph.backends import text as python
from deepgraph.backends.ccalls import CallWriter
from deepgraph.backends.cfunction import Lines, Written, once, remark, words
from deepgraph.backends.clike import memory_type, size, size_name
from deepgraph.backends.cloops import LoopsWriter
from deepgraph.backends.device import HOST, Device
from deepgraph.backends.numpy import storage, view
from deepgraph.backends.numpylike import Driver, compiled, leaves, timed, where
from deepgraph.config import threads
from deepgraph.dims import Size, at_least, bind
from deepgraph.expr import Expr
from deepgraph.nest import Nest
from deepgraph.nesting import nest
from deepgraph.plan import Plan
from deepgraph.provenance import on_one_line
from deepgraph.schedule import Access, Kernel, contiguous
from deepgraph.target import Target

Array = npt.NDArray[Any]
_RUN = "static void run"  # with which the text of a part begins
_UNITS, _UNIT = 4, 10_000  # texts of C that are compiled side by side, at most; characters of one
_DEFINED = re.compile(r"^(void \w+\(.*\)) {$", re.M)  # a function of a kernel
_ELSEWHERE = "#define DG_AVX512_ELSEWHERE\n"  # another text has the functions of maths512.inc
_HIDDEN, _VISIBLE = "#pragma GCC visibility push(hidden)\n", "#pragma GCC visibility pop\n"
# Bytes and operations, some ten microseconds of them: of a kernel that is not worth a second
# thread, and of a step that keeps the interpreter's lock.
_SMALL = 1 << 18


class NativeBackend:
    """C for the processor at hand, compiled once and kept on disk."""

    name = "native"
    target = Target(
        "native", loops=nest, native=ccalls.native, own=ccalls.own, orders=ccalls.orders,
        epilogue=cmatmul.epilogue,
    )  # fmt: skip

    def missing(self) -> str | None:
        """Why no C can be compiled here, or None."""
        return toolchain.missing()

    def emit(self, plan: Plan) -> Source:
        """C functions for kernels, the parts that run them in order, and `step`, which calls."""
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
    checks: bool = False  # does it look for bad indices?

    def alone(self) -> bool:
        """Is it too small for more than one thread, whatever the sizes are?"""
        return at_least(self.effort, _SMALL) is False

    def threads(self) -> str:
        """How many threads run it: `1`, `count`, or an expression."""
        if self.alone():
            return "1"
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
        self.written: dict[str, Written] = {}
        self.includes: dict[str, None] = {"loops.h": None}
        self.checks = 0
        self._open: int | None = None  # the line that calls the part that is open

    def source(self) -> Source:
        """Everything, in the order it runs."""
        own = list[str]()
        for number, kernel in enumerate(self.plan.schedule.kernels):
            comment = f"{kernel.name}: {where(self.plan, kernel)}"
            written = self._functions(kernel, f"k{number}", comment)
            if written is None:
                lines = [f"# {comment}", *self._call(kernel).splitlines()]
                self.lines += lines
                own.append("\n".join(lines))
                self._open = None
            else:
                over = kernel.space or kernel.body[0].node.shape
                head = f"{remark(comment)}\n// {kernel.kind} over {over}"
                written.heads.append(head)
                own.append(f"{head}\n{written.text}")
        if self.plan.commits:
            self.lines.append("# new values")
        for parameter, value in self.plan.commits:
            whole = Access(value, contiguous(value.shape, self._order(value)))
            self.lines.append(f"np.copyto({self.names[parameter]}, {self.access(whole)})")
        head = "".join(f'#include "{name}"\n' for name in self.includes)
        texts = map(str, self.written.values())
        parts = (self._part(k) for k in range(len(self.parts)))
        return Source(self._text(), (head, *texts, *parts), tuple(own))

    def _cuts(self) -> list[str]:
        return []

    def _functions(self, kernel: Kernel, name: str, comment: str) -> Written | None:
        """The functions of a kernel, which the part that is open runs; None if it is NumPy's."""
        checks: list[str] = []
        if kernel.kind != "call":
            loops = self.plan.loops[kernel]
            assert isinstance(loops, Nest)
            writer = LoopsWriter(loops, name, self.size_at, self._lines)
            text, functions = writer.text(), writer.functions
        elif template := ccalls.found(kernel.body[0].node):
            own = len(self.plan.scratch[kernel])
            call = CallWriter(kernel, name, self.size_at, own, self._lines, self.checks)
            template.write(call)
            text, functions, checks = str(call.out), call.functions, call.checks
            self.includes |= dict.fromkeys(call.includes)
        else:
            return None
        written = once(self.written, text, name)
        given = self._given(kernel)
        for k, function in enumerate(functions):
            args = ", ".join(given[p] for p in function.parameters)
            statement = f"{written.name}{function.name.removeprefix(name)}({args});"
            first = k == 0
            about = (remark(comment),) * first
            self._run(_Run(about, statement, _effort(kernel), first and bool(checks)))
            if first:
                self.lines += [f"# {comment}"] * (not self.apart)
                self._refuse(checks)
        return written

    def _run(self, run: _Run) -> None:
        """One more call of the part that is open, or of a new one."""
        if self._open is None or (self.apart and run.comment):
            brought = [*self.feeds, *self.outputs.values()] if not self.parts else []
            self.lines += [line.replace("//", "#", 1) for line in run.comment if self.apart]
            self._open = len(self.lines)
            self.lines.append(f"part{len(self.parts)}({', '.join(brought)})")
            self.parts.append([])
        self.parts[-1].append(run)

    def _refuse(self, checks: Sequence[str]) -> None:
        """Raise, after the part, what these checks found."""
        if checks and self._open is not None:
            self.lines[self._open] = f"bad = {self.lines[self._open].removeprefix('bad = ')}"
        for error in checks:
            self.lines.append(f"if bad and bad[0] == {self.checks}: raise {error}")
            self.checks += 1

    def _part(self, k: int) -> str:
        """The text of a part: stages, each of which all threads finish before the next begins.

        What is too small to be shared is one stage together with its like. A check of indices
        ends a stage: if it finds a bad one, none of the following run.
        """
        passed = accumulate((run.checks for run in self.parts[k]), initial=0)
        pairs = zip(passed, self.parts[k], strict=False)
        stages = list[list[_Run]]()
        for (_, alone), group in groupby(pairs, key=lambda pair: (pair[0], pair[1].alone())):
            runs = [run for _, run in group]
            stages += [runs] if alone else [[run] for run in runs]
        body = Lines()
        for n, runs in enumerate(stages):
            with body.braces(f"case {n}:"):
                few = runs[0].threads()
                if not few.isalnum():
                    body.add(f"const int few = {few};")
                    few = "few"
                if few != "count":
                    body.add(f"if (me >= {few}) return;")
                for run in runs:
                    body.add(*run.comment, run.statement.format(few=few))
                body.add("return;")
        mentioned = words(body.lines)
        out = Lines()
        with out.braces(f"{_RUN}{k}(dg_call *call, int stage, int me, int count)"):
            for name, place in self.size_at.items():
                if size_name(name) in mentioned:
                    out.add(f"const int64_t {size_name(name)} = call->size[{place}];")
            out.add(*["(void)count;"] * ("count" not in mentioned))
            with out.braces("switch (stage)"):
                out.add(*body.lines)
        return f"{out}\nconst dg_part part{k} = {{{len(stages)}, run{k}}};\n"

    def _given(self, kernel: Kernel) -> dict[str, str]:
        """What the parameters of a kernel's functions are given."""
        found = {"call": "call", "me": "me", "count": "{few}"}
        if kernel.space:
            found["n"] = size(kernel.space[0])
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


def units(source: Source) -> list[str]:
    """The C of a step as texts that can be compiled side by side, each with some of the kernels.

    The first has the parts too, and the functions that all of them call.
    """
    head, *texts = source.kernels
    count = sum(text.startswith(_RUN) for text in texts)
    kernels, parts = texts[: len(texts) - count], texts[len(texts) - count :]
    dealt = min(_UNITS, 1 + sum(map(len, kernels)) // _UNIT)
    declared = [f"{line};" for text in kernels for line in _DEFINED.findall(text)]
    kernels.sort(key=len, reverse=True)
    first, *others = ("\n".join([head, _HIDDEN, *kernels[k::dealt]]) for k in range(dealt))
    first = "\n".join([first, *declared, _VISIBLE, *parts])
    return [first, *(_ELSEWHERE + text for text in others)]


def _in_c(kernel: Kernel) -> bool:
    return kernel.kind != "call" or ccalls.found(kernel.body[0].node) is not None


def _effort(kernel: Kernel) -> Size:
    return kernel.bytes + kernel.flops


class NativeProgram:
    """A loaded step: `bind` gives it memory."""

    device: Device = HOST

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source, self.plan = source, plan
        calls = [k.body[0].node for k in plan.schedule.kernels if k.kind == "call"]
        multiplied = {node.dtype.name for node in calls if node.op.name == "matmul"}
        self.products = sorted(multiplied.intersection(runtime.PRODUCTS))
        self.library = runtime.load(*units(source), products=self.products)
        self.code = compiled(source.driver, self)
        self.parts = sum(text.startswith(_RUN) for text in source.kernels)
        first = source.driver.partition("def step(")[2].splitlines()[1:]
        lines = [line.strip() for line in first if line.strip() and line.strip()[0] != "#"]
        self.whole = [line.partition("(")[0] for line in lines] == ["part0"]

    def bind(self, sizes: Mapping[str, int], tick: Callable[[], None] | None = None) -> Bound:
        """Memory for these sizes, and the step over it."""
        plan, graph = self.plan, self.plan.schedule.graph
        efforts = [bind(_effort(k), sizes) for k in plan.schedule.kernels if _in_c(k)]
        asked = threads() if max(efforts, default=0) >= _SMALL else None
        team, holding = asked or 1, sum(efforts) < _SMALL
        binding = plan.bind(sizes, team)
        arena = taken(binding.peak_bytes)

        def slot(index: int, shape: tuple[int, ...], dtype: str) -> Array:
            return np.ndarray(shape, dtype, arena, binding.offsets[index])

        stored = [storage(p) for p in graph.parameters]
        constants = [np.asarray(leaf_value(c, sizes), order="C") for c in leaves(plan)]
        arrays = len(graph.placeholders) + len(graph.outputs)
        call = runtime.Call(
            arrays,
            [*(a.ctypes.data for a in (*stored, *constants)),
             *(arena.ctypes.data + low for low in binding.offsets)],
            [sizes[n] for n in graph.sizes], (arena, stored, constants, self.library),
            self.products,
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
            program = runtime.load(*units(text))
            code = compiled(timed(text.driver), self)
            count = len(apart.parts)
        for k in range(count):
            scope[f"part{k}"] = call.caller(
                runtime.address(program, f"part{k}"), None if k == 0 else 0, threads=team,
                holding=holding,
            )
        exec(code, scope)
        direct = None
        if tick is None and self.whole:
            first = runtime.address(program, "part0")
            direct = partial(call.direct, first, threads=team, asked=asked, holding=holding)
        return Bound(binding, scope["step"], binding.peak_bytes, direct)


backend = NativeBackend()
