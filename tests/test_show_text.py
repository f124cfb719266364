"""Text: trees and tables, and what a notebook is given."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from pictures import compiled

import deepgraph as dg
from deepgraph.drawn import Drawn
from deepgraph.graph import Graph
from deepgraph.plan import times
from deepgraph.show import to_text


@cache
def graph() -> Graph:
    x = dg.placeholder("x", ("batch", 4))
    w = dg.Parameter(np.ones((4, 3), np.float32), name="w")
    h = dg.relu(x @ w)
    loss = dg.sum(h * 0.5 + h.T.mT)
    return Graph((), {"loss": loss}, {w: w - 0.1 * dg.grad(loss, w)})


def columns(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def test_a_graph_is_a_row_a_node_in_the_order_and_numbers_of_render() -> None:
    g = graph()
    rows = [columns(line) for line in to_text(g).split("\n") if line.startswith("%")]
    numbers = {line.split(" = ")[0] for line in g.render().split("\n") if line.startswith("%")}
    assert {row[0] for row in rows} <= numbers
    calls = {row[1]: row for row in rows}
    assert calls["matmul(x, w)"][2] == "float32[batch, 3]"
    assert calls["matmul(x, w)"][3].startswith("test_show_text.py:") or "tests" in calls[
        "matmul(x, w)"][3]  # fmt: skip
    assert calls["matmul(x, w)"][4] == "h = dg.relu(x @ w)"
    assert "float32[batch, 4]" in calls["x"]
    assert f"output loss = {rows[[r[1][:3] for r in rows].index('sum')][0]}" in to_text(g)
    assert "update w = %" in to_text(g)


def test_numbers_stand_where_they_are_read() -> None:
    text = to_text(graph())
    assert re.search(r"multiply\(%\d+, 0\.5\)", text)
    assert re.search(r"multiply\(0\.1, %\d+\)", text)
    assert "constant" not in text


def test_gradients_say_so() -> None:
    rows = to_text(graph()).split("\n")
    assert any("gradient" in row and "x @ w" in row for row in rows)


def test_a_tree_shows_shared_parts_once() -> None:
    x = dg.placeholder("x", (3,))
    h = dg.exp(x)
    rows = [columns(line)[0] for line in to_text(h * dg.sin(h)).split("\n")]
    assert rows == ["%3 multiply", "%1 exp", "%0 x", "%2 sin", "%1 exp (above)"]
    indents = [len(line) - len(line.lstrip()) for line in to_text(h * dg.sin(h)).split("\n")]
    assert indents == [0, 2, 4, 2, 4]


def test_a_tree_of_shared_diamonds_is_short_and_a_deep_one_ends() -> None:
    x = dg.placeholder("x", ())
    wide = deep = x
    for _ in range(100):
        wide = wide + wide * wide
    for _ in range(50_000):
        deep = dg.tanh(deep)
    assert len(to_text(wide).split("\n")) < 100
    assert " …" in to_text(deep).split("\n")[-1]
    assert len(to_text(deep)) < 10_000


def test_a_schedule_lists_what_each_kernel_computes_and_moves() -> None:
    _, schedule, _ = compiled(graph().outputs, graph().updates)
    text = to_text(schedule)
    heads = [line for line in text.split("\n") if re.match(r"\d", line)]
    assert len(heads) == len(schedule.kernels)
    for k, (head, kernel) in enumerate(zip(heads, schedule.kernels, strict=True)):
        assert head.startswith(f"{k} {kernel.kind}")
        assert f"{kernel.flops} flops" in head
    rows = [columns(line)[1] for line in text.split("\n") if line.startswith("  %")]
    assert [r.partition("(")[0] for r in rows] == [
        n.op.name for k in schedule.kernels for n in k.nodes
    ]
    assert "matmul(x, w)" in rows
    assert text.count(" stored ") == sum(len(k.writes) for k in schedule.kernels)


def test_a_plan_shows_lives_and_what_shares_memory() -> None:
    *_, plan = compiled(graph().outputs, graph().updates)
    lines = to_text(plan).split("\n")
    assert lines[0].startswith(f"peak {plan.peak_bytes}")
    assert f"{plan.unplanned_bytes}" in lines[0]
    spans = times(plan.schedule, plan.target).values()
    rows = [columns(line) for line in lines[2 : 2 + len(plan.slots)]]
    for k, (slot, row) in enumerate(zip(plan.slots, rows, strict=True)):
        assert row[0] == str(k)
        alive = [
            i for i, when in enumerate(spans) if slot.first < when.stop and slot.last >= when.start
        ]
        assert [i for i, c in enumerate(row[3]) if c == "━"] == alive
        assert len(row[3]) == len(spans)
        held = [v for v, h in plan.homes.items() if (h.kind, h.key) == ("slot", k)]
        parts = row[4].split(" → ")
        assert [part.split()[1] for part in parts if held] == [v.op.name for v in held]
    assert any(line.startswith("parameter w: ") for line in lines)


def test_limit_counts_the_lines_it_leaves_out() -> None:
    lines = to_text(graph(), limit=6).split("\n")
    whole = to_text(graph()).split("\n")
    assert lines == [*whole[:3], f"… {len(whole) - 6} more lines", *whole[-3:]]


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "\x1b[31m", "a\u2028b"])
def test_a_name_cannot_break_the_table(name: str) -> None:
    p = dg.Parameter(np.zeros(2, np.float32), name=name)
    g = Graph((), {"y": dg.exp(p)}, {p: p * 2})
    assert len(to_text(g).splitlines()) == 5
    assert "\x1b" not in to_text(g)


def test_a_notebook_gets_html_svg_and_text() -> None:
    _, schedule, plan = compiled(graph().outputs, graph().updates)
    for thing in (graph(), schedule, plan):
        shown = thing._repr_mimebundle_()
        assert list(shown) == ["text/html", "image/svg+xml", "text/plain"]
        assert shown["text/html"] == thing.to_html()
        assert shown["image/svg+xml"] == thing.to_svg()
        assert shown["text/plain"] == thing.to_text()
    expr = graph().outputs["loss"]
    assert expr._repr_mimebundle_()["text/plain"] == repr(expr)
    assert list(expr._repr_mimebundle_(include=["text/plain"])) == ["text/plain"]
    assert list(expr._repr_mimebundle_(exclude={"text/html"})) == ["image/svg+xml", "text/plain"]


def test_a_thing_may_be_drawn_as_another() -> None:
    class Holder(Drawn):
        def drawn_as(self) -> Graph:
            return graph()

        def __repr__(self) -> str:
            return "<holder>"

    assert Holder().to_dot() == graph().to_dot()
    assert Holder()._repr_mimebundle_()["text/plain"] == "<holder>"
