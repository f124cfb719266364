"""The passes, and the driver that runs them: graph to graph, to schedule, to plan."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

if __name__ != "deepgraph.passes":
    raise ImportError(f"this folder installs as deepgraph.passes; import that, not {__name__}")

from deepgraph.errors import GraphError
from deepgraph.graph import Graph
from deepgraph.passes.fold import Evaluate, fold
from deepgraph.passes.fuse import fuse, split
from deepgraph.passes.layout import layout
from deepgraph.passes.lower import lower
from deepgraph.passes.order import order
from deepgraph.passes.own import own
from deepgraph.passes.place import place
from deepgraph.passes.prune import prune
from deepgraph.passes.share import share
from deepgraph.passes.simplify import simplify
from deepgraph.plan import Plan
from deepgraph.schedule import Schedule
from deepgraph.target import Target


@dataclass(frozen=True)
class Stage:
    """What a pass gave, and how long it took; `level` is graph, schedule or plan."""

    name: str
    level: str
    seconds: float
    value: Any


class Stages(dict[str, Stage]):
    """The stages by name, `declared` first; prints as a table."""

    def __repr__(self) -> str:
        rows = [("pass", "level", "holds", "ms")]
        for stage in self.values():
            graph = stage.level == "graph"
            plan = stage.value if graph else getattr(stage.value, "schedule", stage.value)
            count = f"{len(plan.nodes)} nodes" if graph else f"{len(plan.kernels)} kernels"
            rows.append((stage.name, stage.level, count, f"{stage.seconds * 1e3:.2f}"))
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = (
            "  ".join([*map(str.ljust, row[:3], wide), row[3].rjust(wide[3])]) for row in rows
        )
        return "\n".join(lines)


def pipeline(
    target: Target, evaluate: Evaluate, hints: Mapping[str, int], donate: Collection[str]
) -> dict[str, Callable[[Any], Any]]:
    """The passes by name, in the order they run; `simplify.2` sees what `lower` brought.

    What `fuse` plans to compare it, and then takes, is planned once.
    """
    laid = cache(partial(layout, target=target))
    ordered = cache(partial(order, target=target, hints=hints))
    placed = cache(partial(place, target=target, donate=donate))

    def plan(schedule: Schedule) -> Plan:
        return placed(ordered(laid(schedule)))

    return {
        "share": partial(share, target=target),
        "fold": partial(fold, target=target, evaluate=evaluate),
        "simplify": partial(simplify, target=target, evaluate=evaluate),
        "prune": partial(prune, target=target),
        "lower": partial(lower, target=target),
        "simplify.2": partial(simplify, target=target, evaluate=evaluate, stable=False),
        "own": partial(own, target=target),
        "fuse": partial(fuse, target=target, hints=hints, donate=donate, plan=plan),
        "layout": laid,
        "order": ordered,
        "place": placed,
    }


NAMES = ("share", "fold", "simplify", "prune", "lower", "own", "fuse", "layout", "order", "place")
_NEEDED = ("lower", "own")  # no backend runs what they leave out


def run(
    graph: Graph, target: Target, evaluate: Evaluate, without: Collection[str] = (),
    hints: Mapping[str, int] | None = None, donate: Collection[str] = (),
    check: Callable[[Stage], None] | None = None,
) -> Stages:  # fmt: skip
    """Run the passes over a graph; each result is verified and kept under the pass's name.

    `evaluate` gives the value of an expression of constants. `without` names passes to leave out:
    without `fuse` each node is a kernel, without `place` nothing shares memory. `donate` names
    feeds whose memory may be taken; GraphError if there is no such placeholder.
    `DEEPGRAPH_DUMP=folder` writes every stage there as text.
    """
    for name in without:
        if name not in NAMES or name in _NEEDED:
            can = ", ".join(n for n in NAMES if n not in _NEEDED)
            raise GraphError(f"no pass {name!r} to leave out: there are {can}")
    if not target.optimised:
        without = [n for n in NAMES if n not in _NEEDED]
    if unknown := set(donate) - {p.name for p in graph.placeholders}:
        raise GraphError(f"donate: no placeholder is called {min(unknown)!r}")
    stages = Stages(declared=Stage("declared", "graph", 0.0, graph))
    value: Any = graph
    for name, pass_ in pipeline(target, evaluate, hints or {}, donate).items():
        if name.partition(".")[0] in without:
            if name not in _INSTEAD:
                continue
            pass_ = partial(_INSTEAD[name], target=target)
        start = time.perf_counter()
        try:
            value = pass_(value)
        except Exception as error:
            error.add_note(f"in pass {name}")
            raise
        seconds = time.perf_counter() - start
        try:
            value.verify()
        except GraphError as error:
            raise GraphError(f"pass {name} left a fault: {error}") from error
        stages[name] = Stage(name, type(value).__name__.lower(), seconds, value)
        if check is not None:
            check(stages[name])
    if folder := os.environ.get("DEEPGRAPH_DUMP"):
        dump(stages, Path(folder))
    return stages


_INSTEAD: dict[str, Callable[..., Any]] = {"fuse": split, "place": partial(place, reuse=False)}


def dump(stages: Mapping[str, Stage], folder: Path) -> None:
    """Write each stage as `NN-name.txt`, with the time its pass took."""
    folder.mkdir(parents=True, exist_ok=True)
    for k, stage in enumerate(stages.values()):
        head = f"# {stage.name}: {stage.level}, {stage.seconds * 1e3:.2f} ms\n"
        (folder / f"{k:02}-{stage.name}.txt").write_text(head + stage.value.render() + "\n")
