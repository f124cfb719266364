"""The step as CUDA kernels that CuPy compiles and runs, on arrays that stay on the device."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from deepgraph.backends import Bound, Source, cucalls, leaf_value, library
from deepgraph.backends import text as python
from deepgraph.backends.clike import size_name
from deepgraph.backends.cudriver import CudaDriver
from deepgraph.backends.cugraph import Replayed
from deepgraph.backends.launch import Elementwise, Function, Launcher, Raw
from deepgraph.backends.numpylike import compiled, leaves, timed
from deepgraph.dims import Shape, bind, product
from deepgraph.expr import Expr
from deepgraph.parameter import Parameter
from deepgraph.plan import Plan
from deepgraph.schedule import Kernel
from deepgraph.sweeps import Sweeps
from deepgraph.target import Target

_WIDE_FROM = (1 << 31) - (1 << 20)  # elements from which 32 bits may not count them


class CupyBackend:
    """CUDA for an NVIDIA GPU."""

    name = "cupy"
    target = Target(
        "cupy", loops=Sweeps, mixed=False, native=cucalls.native, own=cucalls.own,
    )  # fmt: skip

    def missing(self) -> str | None:
        """Why no GPU answers, or None."""
        from deepgraph.backends import cudevice

        return cudevice.missing()

    def emit(self, plan: Plan) -> Source:
        """Each kernel as CUDA, and `step`, which launches them."""
        return CudaDriver(plan).source()

    def load(self, source: Source, plan: Plan) -> CupyProgram:
        """The driver as Python; kernels are compiled when sizes are known."""
        return CupyProgram(source, plan)


def launcher() -> Launcher:
    """What runs kernels: CuPy, on the device that DEEPGRAPH_DEVICE names."""
    from deepgraph.backends import cudevice

    return cudevice.launcher()


class CupyProgram:
    """A loaded step: `bind` compiles for small or large indices, and gives memory."""

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self.device = launcher()
        self.code = compiled(source.driver, self)
        driver = CudaDriver(plan)
        driver.source()
        self.specs, self.preamble = driver.specs, driver.preamble()

    def bind(self, sizes: Mapping[str, int], tick: Callable[[], None] | None = None) -> Bound:
        """Memory for these sizes, and the step over it."""
        with self.device.here:
            return self._bound(sizes, tick)

    def _bound(self, sizes: Mapping[str, int], tick: Callable[[], None] | None) -> Bound:
        device, plan, graph = self.device, self.plan, self.plan.schedule.graph
        binding = plan.bind(sizes)
        xp = device.xp
        arena = device.empty(binding.peak_bytes, np.uint8)

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
        exec(self.code if tick is None else compiled(timed(self.source.driver), self), scope)
        run: Callable[..., None] = scope["step"]
        own = all(scope.get(f"k{n}") for n in range(len(plan.schedule.kernels)))
        if own and tick is None:
            run = Replayed(device, run, len(graph.placeholders))
        whole = partial(_run, device, run, scope.get("finish"))
        return Bound(binding, whole, binding.peak_bytes)

    def _kernels(
        self, device: Launcher, sizes: Mapping[str, int], faults: Any
    ) -> dict[str, Callable[..., None] | None]:
        """Each kernel as a function of its arrays; None where a library does better."""
        wide = any(_elements(k, sizes) >= _WIDE_FROM for k in self.plan.schedule.kernels)
        preamble = "#define DG_WIDE\n" * wide + self.preamble
        raws = [spec for spec in self.specs.values() if isinstance(spec, Raw)]
        module = device.module(preamble, "\n".join(s.source for s in raws)) if raws else None
        found: dict[str, Callable[..., None] | None] = {}
        for number, spec in self.specs.items():
            run: Callable[..., None] | None = None
            if isinstance(spec, Raw) and spec.large is not None and spec.large(sizes):
                pass
            elif isinstance(spec, Raw):
                assert module is not None
                kernel = self.plan.schedule.kernels[number]
                scratch = len(self.plan.scratch.get(kernel, ()))
                run = _launches(spec, kernel, scratch, sizes, module, wide, faults)
            else:
                run = _elementwise(device.elementwise(spec, preamble), spec, sizes)
            found[f"k{number}"] = run
        return found


def _run(
    device: Launcher, run: Callable[..., None], finish: Callable[[], None] | None, *arrays: Any
) -> None:
    """A step, and what it does once the device is through with it."""
    with device.here:
        run(*arrays)
        if finish is not None:
            finish()


def _elements(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """The most elements that a kernel goes over, or steps through in memory."""
    accesses = [*kernel.loads, *(s.access for s in kernel.stores)]
    shapes = [kernel.space, *(a.at.shape for a in accesses), *(a.value.shape for a in accesses)]
    return max(bind(product(shape), sizes) for shape in shapes)


def _launches(
    spec: Raw, kernel: Kernel, scratch: int, sizes: Mapping[str, int],
    module: Callable[[str], Function], wide: bool, faults: Any,
) -> Callable[..., None]:  # fmt: skip
    """The launches that these sizes need, as a function of the kernel's arrays."""
    names = [f"a{k}" for k in range(len(kernel.loads))]
    names += [f"y{k}" for k in range(len(kernel.stores))]
    names += [f"t{k}" for k in range(scratch)]
    count = np.int64 if wide else np.int32
    known = {"fault": faults, "n": count(bind(product(kernel.space), sizes))}
    known |= {size_name(n): count(v) for n, v in sizes.items()}
    place = {name: k for k, name in enumerate([*names, *known])}
    fixed, made = tuple(known.values()), []
    for launch in spec.launches:
        grid, block = launch.grid(sizes)
        if all(grid):
            order = [place[a] for a in launch.arguments]
            made.append((module(launch.function), grid, block, order))

    def run(*arrays: Any) -> None:
        given = (*arrays, *fixed)
        for function, grid, block, order in made:
            function(grid, block, [given[k] for k in order])

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
        held = [
            a if a.dtype == kind else a.view(kind) for a, kind in zip(arrays, kinds, strict=True)
        ]
        kernel(*held[:reads], *numbers, *held[reads:])

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
