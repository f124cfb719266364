"""Step: a compiled graph. Call it; read its source, stages, plan and memory."""

from __future__ import annotations

import contextvars
import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepgraph.backends import Backend, Bound, Source
from deepgraph.backends.device import Device
from deepgraph.config import threads
from deepgraph.drawn import Drawn
from deepgraph.errors import DTypeError, FeedError
from deepgraph.explain import explain
from deepgraph.expr import Expr
from deepgraph.failure import explain_failure
from deepgraph.feeds import Feeds, Shapes
from deepgraph.graph import Graph
from deepgraph.ops.printing import quiet
from deepgraph.parameter import Parameter
from deepgraph.passes import Stage, Stages
from deepgraph.plan import Plan
from deepgraph.results import Result, Results
from deepgraph.schedule import Kernel, Schedule

if TYPE_CHECKING:
    from deepgraph.profile import Profile
    from deepgraph.show.history import History

Array = npt.NDArray[Any]
RANDOM_COUNTER = "random_counter"  # the parameter that each call of a random step advances
_BINDINGS = 16  # sets of shapes whose memory a step keeps


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

    def packer(self) -> Callable[[list[Any]], Any]:
        """A function that brings results into the form of the outputs."""
        if self.kind == "dict":
            names = self.names
            return lambda values: dict(zip(names, values))  # noqa: B905 (strict= costs 0.2 us)
        if self.kind == "one":
            return operator.itemgetter(0)
        return list if self.kind == "list" else tuple


Direct = Callable[[Mapping[str, Any]], list[Array] | None]


class _Ready(NamedTuple):
    """What a call takes once its shapes are known."""

    run: Callable[..., None]
    results: tuple[Result, ...]
    makers: tuple[Callable[[], Array], ...]  # a new array for each result
    bound: Bound
    direct: Direct | None  # all of a call that needs no more than this binding


@dataclass(frozen=True)
class Options:
    """What `compile` was told beyond the graph; enough to compile it again."""

    backend: str = "auto"
    without: frozenset[str] = frozenset()
    donate: frozenset[str] = frozenset()
    hints: Mapping[str, int] = field(default_factory=dict)
    positional: bool = False
    debug: str | None = None


class Step(Drawn):
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
        self.stages = Stages(stages)
        self.source = source
        self.plan: Plan = stages["place"].value
        self.backend = backend.name
        self._form = form
        self._options = options
        self._program = self._watched = backend.load(source, self.plan)
        if options.debug is not None:
            from deepgraph.debug import watched

            self._watched = watched(self._program, options.debug, stages, backend.name)
        self._device = self._program.device
        self._feeds = Feeds(graph, options.positional, options.donate, self._device)
        self._results = Results(graph, self._device)
        self._pack = form.packer()
        self._ready: dict[tuple[int, Shapes], _Ready] = {}
        self._direct: Direct | None = None  # of the last call's binding
        self._lock = threading.RLock()
        last = self.schedule.graph
        used = [p for p in last.parameters if isinstance(p, Parameter)]
        self._parameters = sorted(used, key=lambda p: p.serial)
        self._updated = [p for p in self._parameters if p in last.updates]
        self._context = contextvars.copy_context()
        self._context.run(np.seterr, all="ignore")  # NaN and infinity propagate without a warning
        self._context.run(np.setbufsize, 1024)  # NumPy buffers short inner loops: less is faster

    @property
    def device(self) -> Device:
        """Where its results lie: `step.device.host(result)` is a NumPy array wherever that is."""
        return self._device

    def drawn_as(self) -> Plan:
        """Pictures of a step are of its plan."""
        return self.plan

    def kernel_texts(self) -> Sequence[str]:
        """The part of the source that is each kernel's own."""
        return self.source.parts

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels in the order they run."""
        return self.schedule.kernels

    @property
    def schedule(self) -> Schedule:
        """What runs, in order."""
        return self.plan.schedule

    def __call__(self, /, *args: Any, out: Any = None, **feeds: Any) -> Any:
        direct = self._direct
        if direct is not None and out is None and not args:
            given = direct(feeds)
            if given is not None:
                return self._pack(given)
        arrays, shapes = self._feeds.take(args, feeds)
        self._lock.acquire()  # `with` costs 0.1 us more
        try:
            ready = self._ready.get((threads(), shapes)) or self._bind(shapes)
            self._direct = ready.direct
            if out is None:
                outs = list(map(operator.call, ready.makers))
            else:
                outs = self._results.given(out, ready.results, arrays)
            if self._parameters:
                self._run_locked(ready.run, arrays, outs)
            else:
                self._context.run(ready.run, *arrays, *outs)
        except Exception as error:
            if self._is_running():
                raise FeedError(
                    "a step is called while it runs: what runs inside it, such as a measure of "
                    "dg.print, cannot call it"
                ) from None
            explain_failure(error, self.schedule)
            raise
        finally:
            self._lock.release()
        return self._pack(outs)

    def _is_running(self) -> bool:
        """Is this very thread inside a call already? Its context then cannot be entered again."""
        try:
            self._context.run(int)
        except RuntimeError:
            return True
        return False

    def _run_locked(
        self, run: Callable[..., None], arrays: Sequence[Array], outs: Sequence[Array]
    ) -> None:
        """Run while no other step writes what this one reads or writes."""
        device = self._device
        for parameter in self._parameters:
            parameter.lock.acquire()
            if len(parameter.copies) > 1:  # another device may have written it last
                parameter.storage(device.device, device.array)
        try:
            self._context.run(run, *arrays, *outs)
        finally:
            for parameter in self._updated:
                parameter.written(device.device)
            for parameter in self._parameters:
                parameter.lock.release()

    def _bind(self, shapes: Shapes) -> _Ready:
        sizes = self._feeds.sizes(shapes)
        while len(self._ready) >= _BINDINGS:
            self._ready.pop(next(iter(self._ready)))
        bound = self._watched.bind(sizes)
        results = self._results.bind(sizes)
        makers = self._results.makers(results)
        ready = _Ready(bound.run, results, makers, bound, self._directly(bound, shapes, makers))
        self._ready[threads(), shapes] = ready
        return ready

    def _directly(
        self, bound: Bound, shapes: Shapes, makers: Sequence[Callable[[], Array]]
    ) -> Direct | None:
        """How the backend calls this binding without the checks of here, if it can."""
        if bound.direct is None or self._options.donate:
            return None
        feeds = [(p.name, p.dtype, shape) for p, shape in zip(self._feeds.placeholders, shapes,
                                                              strict=True)]  # fmt: skip
        made: Direct | None = bound.direct(
            feeds, makers, [(p.copies, p.lock) for p in self._parameters], self._lock
        )
        return made

    def profile(self, /, *args: Any, repeat: int = 20, **feeds: Any) -> Profile:
        """The time of each kernel for these feeds, measured over `repeat` runs of the same code.

        Parameters, donated feeds and what optimisers remember are as before when it returns, and
        nothing is printed.
        """
        from deepgraph.profile import measure

        if not isinstance(repeat, int) or repeat < 1:
            raise FeedError(f"profile: repeats 1 time or more: got {repeat!r}")
        arrays, shapes = self._feeds.take(args, feeds)
        with self._lock, ExitStack() as held, quiet():
            ready = self._ready.get((threads(), shapes)) or self._bind(shapes)
            for parameter in self._parameters:
                held.enter_context(parameter.lock)
            kept = [(p, p.value) for p in self._updated]
            outs = [make() for make in ready.makers]
            sizes = ready.bound.binding.sizes
            try:
                with np.errstate(all="ignore"):
                    fresh = partial(self._feeds.fresh, arrays)
                    return measure(
                        self._program, self.plan, sizes, fresh, outs, repeat, self.source.parts
                    )
            except Exception as error:
                explain_failure(error, self.schedule)
                raise
            finally:
                for p, value in kept:
                    p.assign(value)

    @property
    def state(self) -> dict[str, Parameter]:
        """The step's own parameters by name, for `deepgraph.io`: the counter of its draws."""
        own = (p for p in self._updated if p.name == RANDOM_COUNTER)
        return {p.name: p for p in own}

    @property
    def memory(self) -> dict[str, int]:
        """Bytes that are really allocated: an arena for each set of sizes met, and results kept."""
        with self._lock:
            arenas = {
                " ".join(["arena", *(f"{k}={v}" for k, v in r.bound.binding.sizes.items())]):
                    r.bound.allocated
                for r in self._ready.values()
            }  # fmt: skip
            return {**arenas, "results": self._results.kept_bytes}

    @property
    def history(self) -> History:
        """The graph before and after each pass, to go through in a notebook or in a browser."""
        from deepgraph.show.history import History

        return History(self, self.stages)

    def explain(self, node: Expr) -> str:
        """What became of a declared node: its kernel and memory, or the pass that removed it."""
        return explain(node, self.graph, self.stages)

    def __repr__(self) -> str:
        given = ", ".join(f"{p.name}: {p.type_text}" for p in self.graph.placeholders)
        gives = ", ".join(f"{k}: {v.type_text}" for k, v in self.graph.outputs.items())
        return f"<step ({given}) -> ({gives}), {len(self.kernels)} kernels, {self.backend}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _compiled, (self.graph, self._form, self._options)


def _compiled(graph: Graph, form: Form, options: Options) -> Step:
    """A step that is unpickled is compiled again, for the machine that runs it now."""
    from deepgraph.compile import build

    return build(graph, form, options)
