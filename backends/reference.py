"""The meaning of a graph: node by node through NumPy, no passes, no reuse; every test's oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.backends import Bound, Source, library
from deepgraph.backends.device import HOST, Device
from deepgraph.backends.text import size_name, statement
from deepgraph.dims import bind
from deepgraph.dtypes import DType, is_float
from deepgraph.expr import Expr, Kind
from deepgraph.graph import Graph, expanded
from deepgraph.parameter import Parameter
from deepgraph.plan import Plan
from deepgraph.target import Target

Arrays = dict[Expr, Any]


def evaluate(
    graph: Graph, values: Mapping[Expr, Any], sizes: Mapping[str, int], float64: bool = False
) -> tuple[dict[str, Any], Arrays]:
    """The outputs by name and the updates by parameter, given the placeholders and parameters.

    With `float64` every float is computed in float64, whatever its declared dtype.
    """
    if not all(map(_has_text, graph.nodes)):
        graph = expanded(graph, _has_text)
    known: Arrays = {}
    for node in graph.nodes:
        dtype = np.dtype(np.float64) if float64 and is_float(node.dtype) else node.dtype
        try:
            known[node] = _value(node, known, values, sizes, dtype, float64)
        except Exception as error:
            error.add_note(f"{node.op.name}\n  at {node.origin.show()}")
            raise
    return (
        {k: np.array(known[v]) for k, v in graph.outputs.items()},
        {p: np.array(known[v]) for p, v in graph.updates.items()},
    )


def value(node: Expr) -> npt.NDArray[Any]:
    """The value of an expression of constants alone."""
    found: npt.NDArray[Any] = evaluate(Graph((), {"value": node}), {}, {})[0]["value"]
    return found


def _has_text(node: Expr) -> bool:
    return bool(node.op.numpy or node.op.ufunc) or node.op.expand is None


def _value(
    node: Expr, known: Arrays, values: Mapping[Expr, Any], sizes: Mapping[str, int], dtype: DType,
    float64: bool,
) -> Any:  # fmt: skip
    if node in values:
        return np.asarray(values[node]).astype(dtype)
    if node.op.name == "constant":
        return node.attr("value").value.astype(dtype)
    if node.op.name == "size":
        return np.asarray(bind(node.attr("value"), sizes), dtype)
    scope: dict[str, Any] = {"np": np, "lib": library}
    scope |= {size_name(name): value for name, value in sizes.items()}
    scope |= {f"x{k}": known[i] for k, i in enumerate(node.inputs)}
    names = [f"x{k}" for k in range(len(node.inputs))]
    if node.op.kind is Kind.VIEW:
        return eval(statement(node, names, ""), scope)
    out = scope["out"] = np.empty(bind(node.shape, sizes), dtype)
    for k, (shape, kind, _) in enumerate(node.op.scratch(node) if node.op.scratch else ()):
        wide = np.dtype(np.float64) if float64 and is_float(kind) else kind
        scope[f"tmp{k}"] = np.empty(bind(shape, sizes), wide)
    with np.errstate(all="ignore"):
        exec(statement(node, names, "out"), scope)
    return out


class ReferenceBackend:
    """Runs graphs as they were declared: slow, and right by definition."""

    name = "reference"
    target = Target(
        "reference", optimised=False,
        native=lambda node: bool(node.op.numpy or node.op.ufunc),
    )  # fmt: skip

    def missing(self) -> str | None:
        """Nothing: the package needs NumPy."""
        return None

    def emit(self, plan: Plan) -> Source:
        """What runs, node by node; for reading."""
        return Source(plan.schedule.graph.render() + "\n", ())

    def load(self, source: Source, plan: Plan) -> ReferenceProgram:
        """The graph itself, ready to be evaluated."""
        return ReferenceProgram(plan)


class ReferenceProgram:
    """Evaluates the graph at each call, and writes outputs and updates at the end."""

    device: Device = HOST

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def bind(self, sizes: Mapping[str, int], tick: Callable[[], None] | None = None) -> Bound:
        """The evaluation at these sizes; it keeps no memory between calls, and has no kernels."""
        graph = self.plan.schedule.graph

        def run(*arrays: Any) -> None:
            outs = arrays[len(graph.placeholders) :]
            values = dict(zip(graph.placeholders, arrays, strict=False))
            values |= {p: p.storage() for p in graph.parameters if isinstance(p, Parameter)}
            outputs, updates = evaluate(graph, values, sizes)
            for out, result in zip(outs, outputs.values(), strict=True):
                out[...] = result
            for p, new in updates.items():
                values[p][...] = new

        return Bound(self.plan.bind(sizes), run, 0)


backend = ReferenceBackend()
