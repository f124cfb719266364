"""compile: from outputs and updates to a step; the one module that knows passes and backends."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph import backends, passes
from deepgraph.backends import Backend, Source
from deepgraph.dims import Size, bind, names, solve
from deepgraph.errors import DTypeError, GraphError, ShapeError, here
from deepgraph.expr import OPS, Expr, explained, same_type
from deepgraph.graph import Became, Graph, sizes_of, toposort
from deepgraph.literal import Literal
from deepgraph.parameter import Parameter
from deepgraph.step import RANDOM_COUNTER, Form, Options, Step

log = logging.getLogger("deepgraph")
_told: set[str] = set()
_KEYWORDS = ("out", "repeat")  # of Step's call and of its profile

Outputs = Expr | Sequence[Expr] | Mapping[str, Expr]


def compile(
    outputs: Outputs = (),
    updates: Mapping[Parameter, Any] | None = None,
    *,
    inputs: Sequence[Expr] | None = None,
    backend: str = "auto",
    without: Collection[str] = (),
    donate: Collection[str] = (),
    hints: Mapping[str, int] | None = None,
    seed: int = 0,
    debug: str | None = None,
) -> Step:
    """Optimise a graph, write its code and make it callable.

    `outputs` is an Expr, a sequence or a dict of them; a call gives the same form. `updates`
    maps parameters to their new values, all computed from the old ones; what layers attached
    (`dg.attach`) to anything computed is updated too, as soon as `updates` is given. `inputs`
    fixes the order of positional feeds. `backend` is "auto", "native", "numpy" or "reference"
    (the variable `DEEPGRAPH_BACKEND` goes before "auto"). `without` names passes to leave out,
    `donate` feeds whose memory the step may overwrite, `hints` typical sizes for the planner,
    `seed` keys the random numbers. With `debug="trace"` the first call with new sizes compares
    what each pass gives with the graph as declared, and a PassError blames the one that changed
    a result; with `debug="nan"` a call stops with a NotFiniteError at the first node that makes
    NaN or infinity of finite values, before it updates anything. Both are slow. Raises
    GraphError for what cannot be compiled, BackendError for a backend that cannot run here.

    >>> import deepgraph as dg
    >>> x = dg.placeholder("x", shape=("n",))
    >>> step = dg.compile(dg.sum(x * x))
    >>> print(step(x=[3.0, 4.0]))
    25.0
    """
    graph, form = declare(outputs, updates, inputs, seed)
    left_out, given = ({each} if isinstance(each, str) else each for each in (without, donate))
    options = Options(
        backend, frozenset(left_out), frozenset(given), dict(hints or {}), inputs is not None, debug
    )
    return build(graph, form, options)


def build(graph: Graph, form: Form, options: Options) -> Step:
    """The step of a declared graph; what unpickling a step calls, on whatever machine that is."""
    wish = _wish(options.backend)
    chosen, reason = backends.resolve(wish)
    if options.backend == "auto" and chosen.name not in _told:
        _told.add(chosen.name)
        log.info("backend %s: %s", chosen.name, reason)
    try:
        return _built(graph, form, options, chosen)
    except backends.BackendError as error:
        if wish != "auto" or chosen.name == backends.AUTO[-1]:
            raise
        log.warning("backend %s failed, %s takes over: %s", chosen.name, backends.AUTO[-1], error)
        return _built(graph, form, options, backends.get(backends.AUTO[-1]))


def _built(graph: Graph, form: Form, options: Options, chosen: Backend) -> Step:
    with _collector_paused():
        stages = passes.run(
            graph, chosen.target, _evaluate, options.without, options.hints, options.donate
        )
        return Step(graph, form, options, stages, chosen.emit(stages["place"].value), chosen)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Hold the cyclic garbage collector: it would walk all stages again and again, for nothing."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _evaluate(node: Expr) -> npt.NDArray[Any]:
    """What passes compute now they compute as the reference backend does."""
    from deepgraph.backends import reference

    return reference.value(node)


def emit(
    outputs: Outputs = (), updates: Mapping[Parameter, Any] | None = None, *,
    inputs: Sequence[Expr] | None = None, backend: str = "numpy", without: Collection[str] = (),
    donate: Collection[str] = (), hints: Mapping[str, int] | None = None, seed: int = 0,
) -> Source:  # fmt: skip
    """The source that `compile` would run, on a machine that need not have the backend's device."""
    graph, _ = declare(outputs, updates, inputs, seed)
    chosen = backends.named(_wish(backend))
    left_out, given = ({each} if isinstance(each, str) else each for each in (without, donate))
    stages = passes.run(graph, chosen.target, _evaluate, left_out, hints, given)
    return chosen.emit(stages["place"].value)


def _wish(backend: str) -> str:
    return os.environ.get("DEEPGRAPH_BACKEND", "auto") if backend == "auto" else backend


def declare(
    outputs: Outputs, updates: Mapping[Parameter, Any] | None, inputs: Sequence[Expr] | None,
    seed: int,
) -> tuple[Graph, Form]:  # fmt: skip
    """The graph that was asked for, and the form in which results come back."""
    origin = here()
    try:
        form = Form.of(outputs)
        if not isinstance(updates, Mapping | None):
            raise DTypeError(f"updates map parameters to new values: got {updates!r}")
        given = {_parameter(p): _new_value(p, v) for p, v in (updates or {}).items()}
        named = form.named(outputs)
        if updates is not None:
            given = _with_attached(given, [*named.values(), *given.values()])
        roots, became = _with_random([*named.values(), *given.values()], given, seed)
        graph = Graph(
            tuple(inputs or ()), dict(zip(named, roots, strict=False)),
            dict(zip(given, roots[len(named) :], strict=True)), became,
        )  # fmt: skip
        _check_names(graph, inputs)
        _check_sizes(graph)
    except GraphError as error:
        raise explained(error, "compile", origin) from None
    return graph, form


def _parameter(p: Any) -> Parameter:
    if not isinstance(p, Parameter):
        raise GraphError(f"updates are of parameters: got {p!r}")
    return p


def _new_value(parameter: Expr, value: Any) -> Expr:
    new = value if isinstance(value, Expr) else OPS["constant"](
        Literal(np.asarray(value, parameter.dtype)))  # fmt: skip
    if not same_type(parameter, new):
        raise ShapeError(f"an update has its parameter's type: {parameter!r} from {new!r}")
    return new


def _with_attached(given: dict[Parameter, Expr], roots: Sequence[Expr]) -> dict[Parameter, Expr]:
    """The updates and those that `dg.attach` hung on anything that is computed."""
    found = dict(given)
    for node in toposort(roots):
        if node.op.name != "attach":
            continue
        for parameter, value in zip(node.attr("parameters"), node.inputs[1:], strict=True):
            if found.get(parameter, value) is not value:
                first, second = found[parameter].origin.where, node.origin.where
                raise GraphError(f"{parameter!r} is updated twice: at {first} and at {second}")
            found[parameter] = value
    return found


def _with_random(
    roots: Sequence[Expr], updates: dict[Parameter, Expr], seed: int
) -> tuple[list[Expr], Became]:
    """Give the random operations a key and a counter, which each call advances.

    Also what each node became by that.
    """
    from deepgraph.graph import substitute

    key = [n for n in toposort(roots) if n.op.name == "random_key"]
    counter = [n for n in toposort(roots) if n.op.name == "random_counter"]
    if not key and not counter:
        return list(roots), {}
    calls = Parameter(np.uint64(0), name=RANDOM_COUNTER)
    value = OPS["constant"](Literal(np.uint64(seed % 2**64)))
    new = substitute(roots, dict.fromkeys(key, value) | dict.fromkeys(counter, calls))
    updates[calls] = calls + np.uint64(1)
    return [*(new[r] for r in roots), updates[calls]], {**new}


def _check_names(graph: Graph, inputs: Sequence[Expr] | None) -> None:
    for p in inputs or ():
        if not isinstance(p, Expr) or p.op.name != "placeholder":
            raise GraphError(f"inputs are placeholders: got {p!r}")
    seen: dict[str, Expr] = {}
    for p in graph.placeholders:
        if p.name in _KEYWORDS:
            raise GraphError(
                f"a placeholder cannot be called {p.name!r}: a step takes {p.name}= for itself"
            )
        if seen.setdefault(p.name, p) is not p:
            where = f"{seen[p.name].origin.where} and {p.origin.where}"
            raise GraphError(f"two placeholders are called {p.name!r}: from {where}")


def _check_sizes(graph: Graph) -> None:
    """Each named size must follow from the shape of something that is fed."""
    known = {name for p in graph.placeholders for size in p.shape for name in _solved(size)}
    if known.issuperset(graph.sizes):
        return
    for node in graph.nodes:
        for name in sorted(sizes_of(node) - known):
            raise ShapeError(
                f"nothing that is fed tells the size {name}: {node!r} from {node.origin.where}; "
                f"add a placeholder with an axis {name!r}, to inputs= if nothing reads it"
            )


def _solved(size: Size) -> frozenset[str]:
    """The name that a size gives away once it is a number: n for n, 2*n or n + 1."""
    found = names(size)
    if len(found) != 1 or solve(size, bind(size, dict.fromkeys(found, 1))) is None:
        return frozenset()
    return found
