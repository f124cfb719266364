"""Debug: a step that checks itself as it runs, `compile(..., debug="trace")` or `debug="nan"`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from deepgraph.backends import Bound, Program
from deepgraph.backends.device import Device
from deepgraph.backends.interpreter import Found, Sizes, Values, run_plan, run_schedule
from deepgraph.backends.reference import evaluate
from deepgraph.compare import compare
from deepgraph.dims import bind
from deepgraph.drawn import Drawn
from deepgraph.dtypes import is_float
from deepgraph.errors import GraphError
from deepgraph.expr import Expr
from deepgraph.graph import Graph
from deepgraph.ops.printing import quiet
from deepgraph.parameter import Parameter
from deepgraph.passes import Stage
from deepgraph.plan import Plan
from deepgraph.provenance import at
from deepgraph.schedule import Instr, Kernel, Schedule

Array = npt.NDArray[Any]
MODES = ("trace", "nan")


class PassError(GraphError):
    """A pass, or the backend, that changed a result."""


class NotFiniteError(GraphError, FloatingPointError, Drawn):
    """A node that made NaN or infinity of finite values; drawn, it is marked in its step."""

    def __init__(self, text: str, plan: Plan, kernel: int, node: Expr) -> None:
        super().__init__(text)
        self.plan, self.kernel, self.node = plan, kernel, node

    def drawn_as(self) -> Any:
        """The step's drawing with the node marked."""
        from deepgraph.show.drawing import drawing

        drawn = drawing(self.plan)
        place = [n is self.node for n in self.plan.schedule.kernels[self.kernel].nodes].index(True)
        inside = [
            k for k, node in enumerate(drawn.nodes)
            if node.cluster == self.kernel and node.kind != "view"
        ]  # fmt: skip
        nodes = list(drawn.nodes)
        nodes[inside[place]] = replace(nodes[inside[place]], kind="marked")
        return replace(drawn, nodes=tuple(nodes))

    def to_text(self) -> str:
        """The message."""
        return str(self)


def watched(
    program: Program, mode: str, stages: Mapping[str, Stage], backend: str
) -> Program:  # fmt: skip
    """The program, run under the eyes of a mode."""
    graph = stages["declared"].value
    if mode == "trace":
        return _Watched(program, graph, _Trace(stages, backend, program.device))
    if mode == "nan":
        return _Watched(program, graph, _Guard(stages["place"].value, stages))
    raise GraphError(f"no debug mode is called {mode!r}: there are {', '.join(MODES)}")


Watcher = Callable[[Bound, Values, Sequence[Array]], None]  # the last are all arrays of a run


class _Watched:
    """A program whose runs a watcher makes; it has the values that come in, by node."""

    def __init__(self, program: Program, graph: Graph, watcher: Watcher) -> None:
        self.program, self.graph, self.watcher = program, graph, watcher
        self.device = program.device

    def bind(self, sizes: Sizes, tick: Callable[[], None] | None = None) -> Bound:
        bound = self.program.bind(sizes, tick)

        def run(*arrays: Array) -> None:
            feeds = map(self.device.host, arrays[: len(self.graph.placeholders)])
            values: dict[Expr, Any] = dict(zip(self.graph.placeholders, feeds, strict=True))
            values |= {p: p.value for p in self.graph.parameters if isinstance(p, Parameter)}
            self.watcher(bound, values, arrays)

        return replace(bound, run=run, direct=None)


class _Trace:
    """At the first run with new sizes, compares what each stage gives with the declared graph."""

    def __init__(self, stages: Mapping[str, Stage], backend: str, device: Device) -> None:
        self.stages, self.backend, self.device = stages, backend, device
        self._done: WeakSet[Bound] = WeakSet()

    def __call__(self, bound: Bound, values: Values, arrays: Sequence[Array]) -> None:
        wanted = None if bound in self._done else self._trace(values, bound.binding.sizes)
        bound.run(*arrays)
        if wanted is not None:
            outs = arrays[len(arrays) - len(wanted[0]) :]
            self._check_backend(outs, values, wanted)
            self._done.add(bound)

    def _trace(self, values: Values, sizes: Sizes) -> Found:
        declared, *passes = self.stages.values()
        with quiet():
            wanted = _evaluated(declared.value, values, sizes)
            for stage in passes:
                try:
                    found = _evaluated(stage.value, values, sizes)
                except Exception as error:
                    raise PassError(f"pass {stage.name} left what cannot run: {error}") from error
                self._compare(f"pass {stage.name}", found, wanted, values)
        return wanted

    def _check_backend(self, outs: Sequence[Array], values: Values, wanted: Found) -> None:
        updates = [p for p in wanted[1] if isinstance(p, Parameter)]
        new: dict[Expr, Array] = {p: p.value for p in updates}
        outputs = dict(zip(wanted[0], map(self.device.host, outs), strict=True))
        try:
            self._compare(f"backend {self.backend}", (outputs, new), wanted, values)
        except PassError:
            for p in updates:
                p.assign(values[p])
            raise

    def _compare(self, who: str, found: Found, wanted: Found, values: Values) -> None:
        graph = self.stages["declared"].value
        for name, array in wanted[0].items():
            if name not in found[0]:
                raise PassError(f"{who} lost output {name}")
            _same(f"{who} changed output {name}", found[0][name], array, graph.outputs[name])
        for p, array in wanted[1].items():
            # An update that a pass dropped leaves the parameter as it was.
            new = found[1][p] if p in found[1] else values[p]
            _same(f"{who} changed the new value of {p.name}", new, array, graph.updates[p])


def _evaluated(level: Graph | Schedule | Plan, values: Values, sizes: Sizes) -> Found:
    if isinstance(level, Plan):
        return run_plan(level, values, sizes)
    if isinstance(level, Schedule):
        return run_schedule(level, values, sizes)
    return evaluate(level, values, sizes)


def _where_finite(found: Array, wanted: Array) -> Array:
    """What is wanted; where that overflowed and what was found did not, a form is more stable."""
    stable = np.isfinite(found) & ~np.isfinite(wanted)
    return np.where(stable, found, wanted).astype(wanted.dtype)


def _same(what: str, found: Array, wanted: Array, node: Expr) -> None:
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        types = f"{found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
        difference = f"it is {types}"
    elif apart := compare(found, _where_finite(found, wanted)):
        difference = str(apart)
    else:
        return
    error = PassError(f"{what}: {difference}")
    error.details = [f"  at {node.origin.show()}"]
    raise error


class _Guard:
    """Before each run, goes through the kernels and stops at what makes NaN or infinity.

    Only what stands for a declared node is at fault. Inside the definition of an operation in
    smaller ones an infinity is harmless as long as the operation's own result is finite.
    """

    def __init__(self, plan: Plan, stages: Mapping[str, Stage]) -> None:
        self.plan = plan
        graphs = [s.value for s in stages.values() if isinstance(s.value, Graph)]
        standing: set[Expr | None] = set(graphs[0].nodes)
        for graph in graphs[1:]:
            standing = {graph.became.get(n, n) if n is not None else None for n in standing}
        self.standing = standing

    def __call__(self, bound: Bound, values: Values, arrays: Sequence[Array]) -> None:
        sizes = bound.binding.sizes

        schedule = self.plan.schedule
        harmless: set[Expr] = set()  # not finite, but inside the definition of an operation

        def check(number: int, instr: Instr, args: Sequence[Any], out: Array) -> None:
            if not is_float(out.dtype):
                return
            kernel, node = schedule.kernels[number], instr.node
            nodes = [*(a.value for a in kernel.loads), *(i.node for i in kernel.body)]
            blamed = [
                a for a, k in zip(args, instr.args, strict=True)
                if not (isinstance(k, int) and nodes[k] in harmless)
            ]  # fmt: skip
            if not _makes(blamed, out):
                return
            if schedule.copied.get(node, node) in self.standing:
                raise _not_finite(self.plan, number, node, args, out, sizes)
            harmless.add(node)

        with quiet():
            run_schedule(self.plan.schedule, values, sizes, check)
        bound.run(*arrays)


def _makes(args: Sequence[Any], out: Array) -> bool:
    """Has the result a NaN and no argument one, or an infinity and all arguments are finite?"""
    if np.isfinite(out).all():
        return False
    nans = any(np.isnan(a).any() for a in args)
    infinities = any(np.isinf(a).any() for a in args)
    return not nans and (not infinities or bool(np.isnan(out).any()))


def _not_finite(
    plan: Plan, number: int, node: Expr, args: Sequence[Any], out: Array, sizes: Sizes
) -> NotFiniteError:
    counts = [f"{np.count_nonzero(f(out))} {name}" for name, f in _KINDS.items() if f(out).any()]
    kernel: Kernel = plan.schedule.kernels[number]
    error = NotFiniteError(
        f"{node.op.name}: not finite: {' and '.join(counts)} of {out.size} values",
        plan, number, node,
    )  # fmt: skip
    inputs = [
        f"  input {k} is {x} from {x.origin.where}: {bind(x.shape, sizes)} {_range(arg)}"
        for k, (x, arg) in enumerate(zip(node.inputs, args, strict=True))
    ]
    error.details = [
        at(plan.schedule.origins(node)), *inputs[:4],
        f"  in kernel {number} ({kernel.name}); save_dot(path) of this error draws it, marked",
    ]  # fmt: skip
    return error


_KINDS: dict[str, Callable[[Any], Any]] = {"nan": np.isnan, "inf": np.isinf}


def _range(value: Any) -> str:
    array = np.asarray(value)
    if not array.size:
        return "of no values"
    low, high = array.min(), array.max()
    return f"all {low!s}" if low == high else f"from {low!s} to {high!s}"
