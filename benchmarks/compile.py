"""What declaring and compiling cost, pass by pass for the NumPy backend, and planned memory."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import deepgraph as dg
from benchmarks.measure import Row, seconds_of
from benchmarks.nets import NETS, TINY, Net, declared
from deepgraph import optim, show
from deepgraph.config import threads
from deepgraph.dims import bind
from deepgraph.graph import Graph
from deepgraph.plan import Plan

Declared = tuple[dg.Expr, dict[dg.Parameter, dg.Expr]]


GROUPS = ("passes", "deep", "plans")
THREADED = False


def rows(group: str, seconds: float, quick: bool) -> Iterator[Row]:
    """The rows of a table; `seconds` plays no part, since each thing is done once."""
    if group == "deep":
        yield from deep(150 if quick else 50_000)
        return
    if group == "plans":
        yield from map(memory, TINY if quick else NETS)
        return
    dg.compile(chain(10)[0], backend="numpy")  # or the first row would pay for imports
    for declare in (chain, wide, residual):
        for nodes in (50, 100) if quick else (1_000, 10_000, 100_000):
            yield compiling(declare, nodes)


def chain(nodes: int) -> Declared:
    """Each node reads the one before."""
    y: dg.Expr = dg.placeholder("x", ("n",))
    for k in range(nodes // 2):
        y = dg.tanh(y * (1 + k / nodes))
    return y, {}


def wide(nodes: int) -> Declared:
    """Many nodes read one, and pairs are added up."""
    x = dg.placeholder("x", ("n",))
    level: list[dg.Expr] = [dg.sin(x * (1 + k / nodes)) for k in range(nodes // 3)]
    while len(level) > 1:
        rest = level[len(level) // 2 * 2 :]
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=False)] + rest
    return level[0], {}


def residual(nodes: int) -> Declared:
    """A deep net of blocks h + relu(h @ w + b), its gradients and its updates."""
    h: dg.Expr = dg.placeholder("x", ("batch", 8))
    learned: list[dg.Parameter] = []
    for k in range(nodes // 25):  # about so many nodes come of a block in the end
        w = dg.Parameter(np.eye(8, dtype=np.float32), f"w{k}")
        b = dg.Parameter(np.zeros(8, np.float32), f"b{k}")
        learned += [w, b]
        h = h + dg.relu(h @ w + b)
    loss = dg.mean(h * h)
    return loss, optim.SGD(0.01, 0.9).updates(loss, learned)


def compiling(declare: Callable[[int], Declared], nodes: int) -> Row:
    """Seconds of each pass; `rest` is the code: written, compiled by Python and loaded."""
    before, (loss, updates) = seconds_of(lambda: declare(nodes))
    count = len(Graph((), {"y": loss}, updates).nodes)
    total, step = seconds_of(lambda: dg.compile(loss, updates, backend="numpy"))
    passes = {name: stage.seconds for name, stage in step.stages.items() if name != "declared"}
    return {
        "graph": declare.__name__, "nodes": count, "declare us": before / count * 1e6,
        "compile s": total, "us a node": total / count * 1e6, "kernels": len(step.kernels),
        **passes, "rest": total - sum(passes.values()),
    }  # fmt: skip


def deep(nodes: int) -> Iterator[Row]:
    """All that is done to a graph, for a chain deeper than any stack; or how it fails."""
    x = dg.placeholder("x", ("n",))
    made: dict[str, Any] = {}

    def build() -> dg.Expr:
        y: dg.Expr = x
        for _ in range(nodes):
            y = dg.tanh(y)
        return dg.sum(y)

    tasks: dict[str, Callable[[], Any]] = {
        "build": build,
        "grad": lambda: dg.grad(made["build"], x),
        "compile": lambda: dg.compile(
            {"y": made["build"], "g": made["grad"]}, backend="numpy"
        ),
        "call": lambda: made["compile"](x=np.ones(4, np.float32)),
        "render": lambda: made["compile"].graph.render(),
        "draw as dot": lambda: show.to_dot(made["compile"].graph),
        "draw as svg": lambda: show.to_svg(made["compile"].graph),
        "pickle": lambda: pickle.dumps(made["compile"]),
        "unpickle": lambda: pickle.loads(made["pickle"]),
    }
    for task, function in tasks.items():
        try:
            seconds, made[task] = seconds_of(function)
            yield {"deep chain": task, "nodes": nodes, "seconds": seconds}
        except Exception as error:
            yield {"deep chain": task, "nodes": nodes, "seconds": type(error).__name__}


def memory(net: Net) -> Row:
    """Bytes of the arena as predicted and as taken, without reuse, and of what must be alive."""
    work = declared(net)
    step = dg.compile(work.loss, work.updates)
    step(x=work.x, t=work.t)
    sizes = {"batch": len(work.x)}
    arena = step.plan.bind(sizes, threads()).peak_bytes
    alive = live_bytes(step.plan, sizes)
    allocated = sum(found for name, found in step.memory.items() if name.startswith("arena"))
    return {
        "net": net.name, "arena": arena, "allocated": allocated, "alive": alive,
        "arena / alive": arena / alive, "unplanned": bind(step.plan.unplanned_bytes, sizes),
    }  # fmt: skip


def live_bytes(plan: Plan, sizes: Mapping[str, int]) -> int:
    """The most bytes that any plan for this order of kernels holds at once.

    Between kernels the values that a later one reads; in a call its operands, result and
    temporaries too. Fused kernels count as if each worked in place and needed no scratch.
    """
    life: dict[dg.Expr, list[int]] = {}
    for k, kernel in enumerate(plan.schedule.kernels):
        for value in (*kernel.writes, *kernel.reads):
            if value in plan.homes and plan.homes[value].kind == "slot":
                life.setdefault(value, [k, k])[1] = k

    def size(value: Any) -> int:
        return int(np.prod(bind(value.shape, sizes), dtype=int)) * int(value.dtype.itemsize)

    most = 0
    for k, kernel in enumerate(plan.schedule.kernels):
        called = kernel.kind == "call"
        held = sum(map(size, plan.scratch.get(kernel, ()))) if called else 0
        held += sum(size(v) for v, (a, b) in life.items() if a <= k and k + (not called) <= b)
        most = max(most, held)
    return most
