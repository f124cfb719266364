"""Things to draw, for the tests of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from graphs import random_graph

import deepgraph as dg
from deepgraph.expr import Expr
from deepgraph.graph import Graph
from deepgraph.plan import Plan
from deepgraph.schedule import Schedule

Levels = tuple[Graph, Schedule, Plan]


def compiled(outputs: Mapping[str, Expr], updates: Mapping[Expr, Expr] | None = None) -> Levels:
    """The graph, the schedule and the plan of a step."""
    step = dg.compile(dict(outputs), updates=dict(updates or {}), backend="numpy")
    return Graph((), outputs, updates or {}), step.schedule, step.plan


def random_levels(seed: int, size: int = 25) -> Levels:
    """Those of a random graph."""
    outputs, updates, _ = random_graph(seed, size)
    return compiled(outputs, updates)  # type: ignore[arg-type]


def levels() -> list[Any]:
    """An expression, a graph, a schedule and a plan: a layer with its gradient."""
    x = dg.placeholder("x", ("n", 8))
    w = dg.Parameter(np.zeros((8, 8), np.float32), name="w")
    loss = dg.mean(dg.softmax(dg.relu(x @ w) @ w.T))
    return [loss, *compiled({"loss": loss}, {w: w - 0.1 * dg.grad(loss, w)})]


def named(name: str) -> Graph:
    """A graph with this name at its parameter, its output and its update."""
    p = dg.Parameter(np.zeros(3, np.float32), name=name)
    return Graph((), {name: dg.exp(p)}, {p: p * 2})
