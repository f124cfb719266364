"""Explain: what became of a declared node, pass by pass, down to kernel and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deepgraph.errors import GraphError
from deepgraph.expr import Expr, Kind
from deepgraph.graph import Graph
from deepgraph.plan import Plan
from deepgraph.schedule import Kernel


def explain(node: Expr, graph: Graph, stages: Mapping[str, Any]) -> str:
    """A sentence on a node of `graph`, by what each pass says the nodes before it became.

    Raises GraphError for a node that the step was not compiled from.
    """
    now = graph.became.get(node, node) if isinstance(node, Expr) else None
    if now is None or now not in graph.users:
        raise GraphError(f"explain: not a node of this step: {node!r}")
    story: list[str] = []
    before = graph
    for name, stage in stages.items():
        if stage.level != "graph" or stage.value is before:
            continue
        after = stage.value.became.get(now, now)
        if after not in stage.value.users:
            after = None
        story += _change(name, now, after, stage.value.became)
        if after is None:
            break
        now, before = after, stage.value
    else:
        story.append(_place(now, stages["place"].value))
    return f"{node!r} from {node.origin.where}: {'; '.join(story)}"


def _change(name: str, now: Expr, after: Expr | None, became: Mapping[Expr, Any]) -> list[str]:
    """What one pass did, if it did more than to rebuild a node over other inputs."""
    if after is None:
        return [f"{name} removed it: nothing needs it"]
    if after is now or (after.op is now.op and len(after.inputs) == len(now.inputs)):
        twins = [n for n, a in became.items() if a is after and n is not now and n.op is now.op]
        others = list(dict.fromkeys(n.origin.where for n in twins))
        shown = [*others[:3], *(["..."] if len(others) > 3 else [])]
        return [f"{name} made it one with the one from {', '.join(shown)}"] if shown else []
    if after.op.name == "constant":
        return [f"{name} computed it: it is the constant {after.attr('value')!r}"]
    return [f"{name} made it {after!r}"]


def _place(now: Expr, plan: Plan) -> str:
    """Where a node of the last graph is computed and kept, and who reads it."""
    kernels = plan.schedule.kernels
    number = {n: k for k, kernel in enumerate(kernels) for n in kernel.nodes}
    if now in number:
        k = number[now]
        return f"kernel {k} ({kernels[k].name}) computes it{_kept(now, kernels[k], plan)}"
    if now.op.kind is Kind.SOURCE:
        return _source(now, plan)
    shown = now
    while shown.op.kind is Kind.VIEW:
        shown = shown.inputs[0]
    copies = [k for n, k in number.items() if n.op.name == "copy" and n.inputs[0] is now]
    how = f"kernel {copies[0]} copies it" if copies else "it moves no bytes"
    return f"a view of {shown!r}: {how}; {_readers(shown, plan)}"


def _kept(now: Expr, kernel: Kernel, plan: Plan) -> str:
    if now not in plan.schedule.maker:
        return " and keeps it to itself, in no memory of its own"
    home = plan.homes[now]
    text = f" into {home}"
    for read in kernel.reads:
        if plan.homes.get(read) == home or (home.kind == "parameter" and read is home.key):
            text += f", in place of {read!r}"
    for parameter, value in plan.commits:
        if value is now:
            text += f", copied into {parameter!r} at the end"
    return f"{text}; {_readers(now, plan)}" if home.kind in ("slot", "feed") else text


def _source(now: Expr, plan: Plan) -> str:
    updates = plan.schedule.graph.updates
    text = {"placeholder": "it is fed", "parameter": "its own storage holds it"}.get(
        now.op.name, "known before a call"
    )
    text = f"{text}; {_readers(now, plan)}"
    if now in updates:
        writer = plan.schedule.maker[updates[now]]
        number = next(k for k, kernel in enumerate(plan.schedule.kernels) if kernel is writer)
        text += f"; kernel {number} computes its new value"
    return text


def _readers(value: Expr, plan: Plan) -> str:
    found = [str(k) for k, kernel in enumerate(plan.schedule.kernels) if value in {*kernel.reads}]
    if not found:
        return "no kernel reads its memory"
    return f"kernel{'s' * (len(found) > 1)} {', '.join(found)} read{'s' * (len(found) == 1)} it"
