"""The step as CUDA kernels that CuPy compiles and runs, on arrays that stay on the device."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from deepgraph.backends import Bound, Source, cucalls, leaf_value, library
from deepgraph.backends import text as python
from deepgraph.backends.clike import size_name
from deepgraph.backends.cucalls import CallWriter
from deepgraph.backends.cuelements import FunctionText, widths
from deepgraph.backends.cuelementwise import as_elementwise
from deepgraph.backends.cureduction import as_reduction, without_folded
from deepgraph.backends.cusweeps import SweepsWriter, elementwise
from deepgraph.backends.launch import Elementwise, Function, Launcher, Raw, Reduction, Spec
from deepgraph.backends.numpylike import Driver, compiled, leaves, timed, where
from deepgraph.backends.toolchain import HEADERS
from deepgraph.dims import Shape, bind, product
from deepgraph.expr import Expr
from deepgraph.parameter import Parameter
from deepgraph.plan import Home, Plan
from deepgraph.provenance import on_one_line
from deepgraph.schedule import Access, Kernel, contiguous
from deepgraph.sweeps import Sweeps
from deepgraph.target import Target

_LOCAL = re.compile(r'#include "(\w+\.(?:h|inc))"\n')
_SYSTEM = re.compile(r"#include <\w+\.h>\n")
_WIDE_FROM = (1 << 31) - (1 << 20)  # elements from which 32 bits may not count them


class CupyBackend:
    """CUDA for an NVIDIA GPU."""

    name = "cupy"
    target = Target(
        "cupy", loops=lambda kernel: Sweeps(kernel, parted=as_reduction(kernel, "") is None),
        mixed=False, native=cucalls.native, own=cucalls.own,
    )  # fmt: skip

    def missing(self) -> str | None:
        """Why no GPU answers, or None."""
        from deepgraph.backends import cudevice

        return cudevice.missing()

    def emit(self, plan: Plan) -> Source:
        """Each kernel as CUDA, and `step`, which launches them."""
        return CupyDriver(plan).source()

    def load(self, source: Source, plan: Plan) -> CupyProgram:
        """The driver as Python; kernels are compiled when sizes are known."""
        return CupyProgram(source, plan)


def launcher() -> Launcher:
    """What runs kernels: CuPy, on the device that DEEPGRAPH_DEVICE names."""
    from deepgraph.backends import cudevice

    return cudevice.launcher()


class CupyDriver(Driver):
    """Writes kernels as data, and the lines that run them."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, lambda driver, kernel, name: "", "cp")
        self.specs: dict[int, Spec] = {}
        self.includes: dict[str, None] = {"maths.h": None}
        self.checks = 0

    def source(self) -> Source:
        """Everything, in the order it runs."""
        texts, parts = list[str](), list[str]()
        for number, kernel in enumerate(self.plan.schedule.kernels):
            comment = f"{kernel.name}: {where(self.plan, kernel)}"
            first = len(self.lines)
            self.lines.append(f"# {comment}")
            spec, errors = self._spec(kernel, f"k{number}")
            own = "\n".join(self.lines[first:])
            if spec is None:
                self.lines += self._call(kernel).splitlines()
                own = "\n".join(self.lines[first:])
            else:
                self.specs[number] = spec
                self.lines.append(f"k{number}({', '.join(self._arguments(kernel, spec))})")
                self._refuse(errors)
                over = kernel.space or kernel.body[0].node.shape
                texts.append(f"// {comment}\n// {kernel.kind} over {over}\n{shown(spec)}")
                own = texts[-1] + own + "\n" + self.lines[-1]
            parts.append(own)
        if self.plan.commits:
            self.lines.append("# new values")
        for parameter, value in self.plan.commits:
            whole = Access(value, contiguous(value.shape, self._order(value)))
            self.lines.append(f"cp.copyto({self.names[parameter]}, {self.access(whole)})")
        return Source(self._text(), tuple(texts), tuple(parts))

    def preamble(self) -> str:
        """The text that kernels need before their own."""
        return inlined(("cuda.h", *self.includes))

    def _cuts(self) -> list[str]:
        return []

    def _spec(self, kernel: Kernel, name: str) -> tuple[Spec | None, Sequence[str]]:
        """A kernel as data, and the errors that its checks raise; None if it is CuPy's to run."""
        sizes = self.plan.schedule.graph.sizes
        scratch = [s.dtype for s in self.plan.scratch.get(kernel, ())]
        text = FunctionText(kernel, sizes, self._written(kernel), scratch)
        if kernel.kind == "call":
            template = cucalls.found(kernel.body[0].node)
            if template is None:
                return None, ()
            call = CallWriter(kernel, name, text, self.checks)
            template.write(call)
            self.includes |= dict.fromkeys(call.includes)
            return call.raw(), call.checks
        sweeps = self.plan.loops[kernel]
        assert isinstance(sweeps, Sweeps)
        if kernel.folded:
            reduction = as_reduction(kernel, name)
            if reduction is not None:
                return reduction, ()
            return SweepsWriter(sweeps, text, name, self._lines).raw(), ()
        if widths(kernel) == (1,) and (spec := as_elementwise(kernel, name, sizes, self._lines)):
            return spec, ()
        return elementwise(text, name, self._lines), ()

    def _arguments(self, kernel: Kernel, spec: Spec) -> list[str]:
        """Names of a kernel's arrays: whole buffers, or as it steps through them."""
        accesses = [*kernel.loads, *(s.access for s in kernel.stores)]
        if isinstance(spec, Raw):
            return [*(self._base(a.value) for a in accesses), *self.scratch(kernel)]
        if isinstance(spec, Reduction):
            return [self.access(kernel.loads[0]), self.access(without_folded(kernel))]
        return [self.access(a) for a in accesses]

    def _refuse(self, errors: Sequence[str]) -> None:
        """Raise what checks found; this waits for the device."""
        if errors:
            self.lines.append("bad = fault()")
        for error in errors:
            self.lines.append(f"if bad and bad[0] == {self.checks + 1}: raise {error}")
            self.checks += 1

    def _written(self, kernel: Kernel) -> list[int]:
        """The loads whose memory the kernel writes."""
        homes = {self._home(v) for v in kernel.writes}
        return [k for k, a in enumerate(kernel.loads) if self._home(a.value) in homes]

    def _home(self, value: Expr) -> Home:
        if isinstance(value, Parameter):
            return Home("parameter", value)
        return self.plan.homes.get(value) or Home("feed", value)

    def _lines(self, node: Expr) -> str:
        return on_one_line(self.plan.schedule.origins(node))


def shown(spec: Spec) -> str:
    """A kernel as text for people."""
    if isinstance(spec, Raw):
        return spec.source
    if isinstance(spec, Elementwise):
        body = "\n".join(f"    {line}" for line in spec.operation.splitlines())
        return f"ElementwiseKernel {spec.name}({spec.inputs}) -> ({spec.outputs}) {{\n{body}\n}}\n"
    steps = f"{spec.mapped}; {spec.reduced}; {spec.after}"
    return f"ReductionKernel {spec.name}({spec.inputs}) -> ({spec.outputs}) {{ {steps} }}\n"


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


class CupyProgram:
    """A loaded step: `bind` compiles for small or large indices, and gives memory."""

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self.device = launcher()
        self.code = compiled(source.driver, self)
        driver = CupyDriver(plan)
        driver.source()
        self.specs, self.preamble = driver.specs, driver.preamble()

    def bind(self, sizes: Mapping[str, int], tick: Callable[[], None] | None = None) -> Bound:
        """Memory for these sizes, and the step over it."""
        device, plan, graph = self.device, self.plan, self.plan.schedule.graph
        binding = plan.bind(sizes)
        xp = device.xp
        arena = xp.empty(binding.peak_bytes, np.uint8)

        def slot(index: int, shape: tuple[int, ...], dtype: str) -> Any:
            low, kind = binding.offsets[index], np.dtype(dtype)
            nbytes = math.prod(shape) * kind.itemsize
            return arena[low : low + nbytes].view(kind).reshape(shape)

        faults = device.array(np.zeros(3, np.int64))

        def fault() -> Any:
            """What the last checks found, if anything; then it is forgotten."""
            bad = device.host(faults).tolist()
            if bad[0]:
                faults.fill(0)
            return bad if bad[0] else None

        scope: dict[str, Any] = {
            "cp": xp, "lib": library, "view": partial(view, xp), "slot": slot, "tick": tick,
            "parameters": [storage(p, device) for p in graph.parameters],
            "constants": [device.array(leaf_value(c, sizes)) for c in leaves(plan)],
            "fault": fault, **{python.size_name(n): sizes[n] for n in graph.sizes},
            **self._kernels(device, sizes, faults),
        }  # fmt: skip
        text = self.code if tick is None else compiled(timed(self.source.driver), self)
        exec(text, scope)
        return Bound(binding, scope["step"], binding.peak_bytes)

    def _kernels(
        self, device: Launcher, sizes: Mapping[str, int], faults: Any
    ) -> dict[str, Callable[..., None]]:
        """Each kernel as a function of its arrays."""
        wide = any(
            bind(product(a.at.shape), sizes) >= _WIDE_FROM
            for k in self.plan.schedule.kernels
            for a in (*k.loads, *(s.access for s in k.stores))
        )
        preamble = "#define DG_WIDE\n" * wide + self.preamble
        raws = [spec for spec in self.specs.values() if isinstance(spec, Raw)]
        module = device.module(preamble + "\n".join(s.source for s in raws)) if raws else None
        found: dict[str, Callable[..., None]] = {}
        for number, spec in self.specs.items():
            if isinstance(spec, Raw):
                assert module is not None
                kernel = self.plan.schedule.kernels[number]
                run = _launches(spec, kernel, sizes, module, wide, faults)
            elif isinstance(spec, Elementwise):
                run = _elementwise(device.elementwise(spec, preamble), spec, sizes)
            else:
                kernel = self.plan.schedule.kernels[number]
                run = _reduction(device.reduction(spec, preamble), spec, kernel.folded)
            found[f"k{number}"] = run
        return found


def _launches(
    spec: Raw, kernel: Kernel, sizes: Mapping[str, int], module: Callable[[str], Function],
    wide: bool, faults: Any,
) -> Callable[..., None]:  # fmt: skip
    """The launches that these sizes need, as a function of the kernel's arrays."""
    names = [f"a{k}" for k in range(len(kernel.loads))]
    names += [f"y{k}" for k in range(len(kernel.stores))]
    count = np.int64 if wide else np.int32
    known = {size_name(n): count(v) for n, v in sizes.items()}
    made = []
    for launch in spec.launches:
        grid, block = launch.grid(sizes)
        if all(grid):
            made.append((module(launch.function), grid, block, launch.arguments))

    def run(*arrays: Any) -> None:
        given = dict(zip(names, arrays, strict=False))
        given |= {f"t{k}": a for k, a in enumerate(arrays[len(names) :])}
        given |= known
        given["fault"] = faults
        for function, grid, block, arguments in made:
            function(grid, block, [given[a] for a in arguments])

    return run


def _elementwise(
    kernel: Callable[..., None], spec: Elementwise, sizes: Mapping[str, int]
) -> Callable[..., None]:
    """The kernel as a function of its arrays; it takes sizes between those it reads and writes."""
    declared = [part.split() for part in spec.inputs.split(", ") if part]
    known = {size_name(n): v for n, v in sizes.items()}
    numbers = [known[name] for _, name in declared if name in known]
    reads = len(declared) - len(numbers)
    kinds = [kind for kind, name in declared if name not in known]
    kinds += [part.split()[0] for part in spec.outputs.split(", ")]

    def run(*arrays: Any) -> None:
        held = [a.view(kind) for a, kind in zip(arrays, kinds, strict=True)]
        kernel(*held[:reads], *numbers, *held[reads:])

    return run


def _reduction(
    kernel: Callable[..., None], spec: Reduction, axes: tuple[int, ...]
) -> Callable[..., None]:
    """The kernel as a function of its two arrays."""
    kinds = [text.split()[0] for text in (spec.inputs, spec.outputs)]

    def run(x: Any, y: Any) -> None:
        kernel(x.view(kinds[0]), y.view(kinds[1]), axis=axes)

    return run


def storage(p: Expr, device: Launcher) -> Any:
    """The memory of a parameter on the device."""
    assert isinstance(p, Parameter)
    return p.storage(device.device, device.array)


def view(xp: Any, base: Any, shape: Shape, strides: Shape, offset: int = 0) -> Any:
    """An array over the memory of `base`; strides and offset count elements."""
    if 0 in shape:
        return xp.empty(shape, base.dtype)
    flat = base.reshape(-1)[offset:]
    return xp.lib.stride_tricks.as_strided(flat, shape, [s * base.itemsize for s in strides])


backend = CupyBackend()
