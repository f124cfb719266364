"""The driver of a step in CUDA: its kernels as data, and the Python that launches them in order."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from deepgraph.backends import Source, cucalls
from deepgraph.backends import cuindexing as cuindexing  # these register templates
from deepgraph.backends import cumatmul as cumatmul
from deepgraph.backends import cupooling as cupooling
from deepgraph.backends import curandom as curandom
from deepgraph.backends import cuscans as cuscans
from deepgraph.backends import cushaping as cushaping
from deepgraph.backends import cuwindows as cuwindows
from deepgraph.backends.cfunction import Written, once
from deepgraph.backends.cucalls import CallWriter
from deepgraph.backends.cuelements import FunctionText, widths
from deepgraph.backends.cuelementwise import as_elementwise
from deepgraph.backends.cusweeps import SweepsWriter, elementwise
from deepgraph.backends.launch import Raw, Spec
from deepgraph.backends.numpylike import Driver, where
from deepgraph.backends.toolchain import HEADERS
from deepgraph.expr import Expr
from deepgraph.parameter import Parameter
from deepgraph.plan import Home, Plan
from deepgraph.provenance import on_one_line
from deepgraph.schedule import Access, Kernel, contiguous
from deepgraph.sweeps import Sweeps

_LOCAL = re.compile(r'#include "(\w+\.(?:h|inc))"\n')
_SYSTEM = re.compile(r"#include <\w+\.h>\n")


class CudaDriver(Driver):
    """Writes kernels as data, `step`, which launches them, and `finish`, if indices are checked.

    A kernel that finds a bad index notes it, and those after it that write parameters then do
    nothing. `finish` waits for the device and raises what was noted; new values that are copied
    into parameters come after that.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, lambda driver, kernel, name: "", "cp")
        self.specs: dict[int, Spec] = {}
        self.includes: dict[str, None] = {"maths.h": None}
        self.written: dict[str, Written] = {}
        self.errors: list[str] = []  # that checks raise, in their order

    def source(self) -> Source:
        """Everything, in the order it runs."""
        parts = list[str]()
        for number, kernel in enumerate(self.plan.schedule.kernels):
            comment, first = f"{kernel.name}: {where(self.plan, kernel)}", len(self.lines)
            self.lines.append(f"# {comment}")
            spec = self._spec(kernel, f"k{number}")
            text = ""
            if spec is None:
                self.lines += self._call(kernel).splitlines()
            else:
                written = once(self.written, shown(spec), f"k{number}")
                self.specs[number] = spec = _renamed(spec, f"k{number}", written.name)
                self._launch(f"k{number}", kernel, spec)
                over = kernel.space or kernel.body[0].node.shape
                written.heads.append(f"// {comment}\n// {kernel.kind} over {over}")
                text = f"{written.heads[-1]}\n{written.text}"
            parts.append("\n".join([text, *self.lines[first:]]).lstrip())
        return Source(self._text(), tuple(map(str, self.written.values())), tuple(parts))

    def preamble(self) -> str:
        """The text that kernels need before their own."""
        return inlined(("cuda.cuh", *self.includes))

    def _text(self) -> str:
        commits = ["# new values"] * bool(self.plan.commits)
        for parameter, value in self.plan.commits:
            whole = Access(value, contiguous(value.shape, self._order(value)))
            commits.append(f"cp.copyto({self.names[parameter]}, {self.access(whole)})")
        if not self.errors:
            self.lines += commits
            return super()._text()
        checks = ["bad = fault()"]
        for number, error in enumerate(self.errors):
            checks.append(f"if bad and bad[0] == {number + 1}: raise {error}")
        lines = "\n".join(f"    {line}" for line in [*checks, *commits])
        return f"{super()._text()}\n\ndef finish():\n{lines}\n"

    def _cuts(self) -> list[str]:
        return []

    def _spec(self, kernel: Kernel, name: str) -> Spec | None:
        """A kernel as data; None if it is CuPy's to run."""
        sizes = self.plan.schedule.graph.sizes
        text = FunctionText(
            kernel, sizes, self._written(kernel),
            [s.dtype for s in self.plan.scratch.get(kernel, ())],
            guarded=bool(self.errors) and self._lasts(kernel),
        )  # fmt: skip
        if kernel.kind == "call":
            template = cucalls.found(kernel.body[0].node)
            if template is None:
                return None
            call = CallWriter(kernel, name, text, len(self.errors))
            template.write(call)
            self.includes |= dict.fromkeys(call.includes)
            self.errors += [f"{error}  # of {name}" for error in call.checks]
            return call.raw()
        sweeps = self.plan.loops[kernel]
        assert isinstance(sweeps, Sweeps)
        if kernel.folded:
            return SweepsWriter(sweeps, text, name, self._lines).raw()
        if widths(kernel) == (1,) and not text.guarded:
            strided = as_elementwise(kernel, name, sizes, self._lines)
            if strided is not None:
                return strided
        return elementwise(text, name, self._lines)

    def _launch(self, name: str, kernel: Kernel, spec: Spec) -> None:
        """The lines that run a kernel: with whole buffers, or arrays as it steps through them."""
        accesses = [*kernel.loads, *(s.access for s in kernel.stores)]
        if not isinstance(spec, Raw):
            self.lines.append(f"{name}({', '.join(map(self.access, accesses))})")
            return
        arguments = [*(self._base(a.value) for a in accesses), *self.scratch(kernel)]
        launch = f"{name}({', '.join(arguments)})"
        if spec.large is None:
            self.lines.append(launch)
        else:
            library = (f"    {line}" for line in self._call(kernel).splitlines())
            self.lines += [f"if {name}:", f"    {launch}", "else:", *library]

    def _written(self, kernel: Kernel) -> list[int]:
        """The loads whose memory the kernel writes."""
        homes = {self._home(v) for v in kernel.writes}
        return [k for k, a in enumerate(kernel.loads) if self._home(a.value) in homes]

    def _lasts(self, kernel: Kernel) -> bool:
        """Does it write what outlives the step, results aside?"""
        return any(self._home(v).kind in ("parameter", "feed") for v in kernel.writes)

    def _home(self, value: Expr) -> Home:
        if isinstance(value, Parameter):
            return Home("parameter", value)
        return self.plan.homes.get(value) or Home("feed", value)

    def _lines(self, node: Expr) -> str:
        return on_one_line(self.plan.schedule.origins(node))


def _renamed(spec: Spec, name: str, first: str) -> Spec:
    """The kernel by the functions of the first one that is like it, which has their text."""
    if first == name:
        return spec
    if not isinstance(spec, Raw):
        return replace(spec, name=first)
    launches = tuple(
        replace(launch, function=first + launch.function.removeprefix(name))
        for launch in spec.launches
    )
    return replace(spec, source="", launches=launches)


def shown(spec: Spec) -> str:
    """A kernel as text for people."""
    if isinstance(spec, Raw):
        return spec.source
    body = "\n".join(f"    {line}" for line in spec.operation.splitlines())
    return f"ElementwiseKernel {spec.name}({spec.inputs}) -> ({spec.outputs}) {{\n{body}\n}}\n"


@cache
def inlined(names: tuple[str, ...]) -> str:
    """Headers of ours as one text, each once, for compilers that find no files."""
    done: set[str] = set()

    def text(name: str) -> str:
        if name in done:
            return ""
        done.add(name)
        whole = _SYSTEM.sub("", (HEADERS / name).read_text(encoding="utf-8"))
        return _LOCAL.sub(lambda found: text(found[1]), whole)

    return "".join(map(text, names))
