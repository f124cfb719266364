"""Step: a compiled graph. Call it; read its source, stages, plan and memory."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.backends import Backend, Bound, Source
from deepgraph.errors import DTypeError, GraphError
from deepgraph.expr import Expr
from deepgraph.feeds import Feeds
from deepgraph.graph import Graph
from deepgraph.parameter import Parameter
from deepgraph.passes import Stage
from deepgraph.plan import Plan
from deepgraph.results import Results
from deepgraph.schedule import Kernel, Schedule

Array = npt.NDArray[Any]
_BINDINGS = 16  # sizes whose memory a step keeps


@dataclass(frozen=True)
class Form:
    """How outputs were given, so that results come back alike: one, a tuple, a list or a dict."""

    kind: str
    names: tuple[str, ...]

    @staticmethod
    def of(outputs: Any) -> Form:
        """The form of what `compile` was given."""
        if isinstance(outputs, Expr):
            return Form("one", ("output",))
        if isinstance(outputs, Mapping):
            return Form("dict", tuple(map(str, outputs)))
        if isinstance(outputs, Sequence) and not isinstance(outputs, str):
            kind = "list" if isinstance(outputs, list) else "tuple"
            return Form(kind, tuple(f"output{k}" for k in range(len(outputs))))
        raise DTypeError(f"outputs are an expression, a sequence or a dict: got {outputs!r}")

    def named(self, outputs: Any) -> dict[str, Expr]:
        """The outputs by name, each checked to be an expression."""
        values = (
            [outputs] if self.kind == "one"
            else list(outputs.values()) if self.kind == "dict" else list(outputs)
        )  # fmt: skip
        for name, value in zip(self.names, values, strict=True):
            if not isinstance(value, Expr):
                raise DTypeError(f"output {name} is not an expression: got {value!r}")
        return dict(zip(self.names, values, strict=True))

    def pack(self, values: list[Any]) -> Any:
        """Results in the form of the outputs."""
        if self.kind == "dict":
            return dict(zip(self.names, values, strict=True))
        if self.kind == "one":
            return values[0]
        return values if self.kind == "list" else tuple(values)


@dataclass(frozen=True)
class Options:
    """What `compile` was told beyond the graph; enough to compile it again."""

    backend: str = "auto"
    without: frozenset[str] = frozenset()
    donate: frozenset[str] = frozenset()
    hints: Mapping[str, int] = field(default_factory=dict)
    positional: bool = False


class Step:
    """A compiled graph, made by `dg.compile`; every stage it went through stays readable.

    Call it with feeds by name (`step(x=xb, t=tb)`), or by position if it was compiled with
    `inputs=`. Results are fresh arrays in the form of the outputs; `out=` takes arrays to write
    into. Safe to call from several threads: calls of one step wait for each other.
    """

    def __init__(
        self, graph: Graph, form: Form, options: Options, stages: Mapping[str, Stage],
        source: Source, backend: Backend,
    ) -> None:  # fmt: skip
        self.graph = graph
        self.stages = dict(stages)
        self.source = source
        self.plan: Plan = stages["place"].value
        self.backend = backend.name
        self._form = form
        self._options = options
        self._program = backend.load(source, self.plan)
        self._feeds = Feeds(graph, options.positional, options.donate)
        self._results = Results(graph)
        self._bound: dict[tuple[tuple[int, ...], ...], Bound] = {}
        self._lock = threading.RLock()
        updated = [p for p in graph.updates if isinstance(p, Parameter)]
        self._updated = sorted(updated, key=lambda p: p.serial)
        self._context = contextvars.copy_context()
        self._context.run(np.seterr, all="ignore")  # NaN and infinity propagate without a warning

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels in the order they run."""
        return self.schedule.kernels

    @property
    def schedule(self) -> Schedule:
        """What runs, in order."""
        return self.plan.schedule

    def __call__(self, *args: Any, out: Any = None, **feeds: Any) -> Any:
        arrays, key = self._feeds.take(args, feeds)
        with self._lock:
            bound = self._bound.get(key) or self._bind(key)
            outs = self._results.fresh(bound) if out is None else self._results.given(out, bound, arrays)
            if self._updated:
                self._run_locked(bound, arrays, outs)
            else:
                self._context.run(bound.run, arrays, outs)
        return self._form.pack(outs)

    def _run_locked(self, bound: Bound, arrays: list[Array], outs: list[Array]) -> None:
        for parameter in self._updated:
            parameter.lock.acquire()
        try:
            self._context.run(bound.run, arrays, outs)
            for parameter in self._updated:
                parameter.written()
        finally:
            for parameter in reversed(self._updated):
                parameter.lock.release()

    def _bind(self, key: tuple[tuple[int, ...], ...]) -> Bound:
        sizes = self._feeds.sizes(key)
        while len(self._bound) >= _BINDINGS:
            self._bound.pop(next(iter(self._bound)))
        bound = self._bound[key] = self._program.bind(sizes)
        return bound

    @property
    def memory(self) -> dict[str, int]:
        """Bytes that are really allocated: the arenas by sizes, and the results kept for reuse."""
        arenas = {
            "arena " + ", ".join(f"{k}={v}" for k, v in b.binding.sizes.items()): b.allocated
            for b in self._bound.values()
        }
        return {**arenas, "results": self._results.kept_bytes}

    def explain(self, node: Expr) -> str:
        """What became of a declared node: its kernel and buffer, or the pass that removed it."""
        followed: Expr | None = node
        if node not in self.graph.nodes:
            raise GraphError(f"explain: not a node of this step: {node!r}")
        for name, stage in self.stages.items():
            became = getattr(stage.value, "became", {})
            assert followed is not None
            after = became.get(followed, followed) if stage.level == "graph" else followed
            if after is None:
                return f"{node!r} was removed by {name}: nothing needed it"
            followed = after
        for number, kernel in enumerate(self.kernels):
            if followed in kernel.nodes:
                home = self.plan.homes.get(followed)
                lives = f"kept in {home}" if home else "never stored: it stays inside the kernel"
                return f"{node!r} is computed by kernel {number} ({kernel.name}) and is {lives}"
        return f"{node!r} costs nothing: it is a {followed.op.kind.value} that kernels read in place"  # type: ignore[union-attr]

    def __repr__(self) -> str:
        given = ", ".join(f"{p.name}: {p.type_text}" for p in self.graph.placeholders)
        gives = ", ".join(f"{k}: {v.type_text}" for k, v in self.graph.outputs.items())
        return f"<step ({given}) -> ({gives}), {len(self.kernels)} kernels, {self.backend}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _compiled, (self.graph, self._form, self._options)


def _compiled(graph: Graph, form: Form, options: Options) -> Step:
    """A step that is unpickled is compiled again: its source belongs to the machine that runs it."""
    from deepgraph.compile import build

    return build(graph, form, options)
