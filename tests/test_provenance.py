"""Where values come from: what passes merge or replace is still of every line that declared it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from aid import spoil

import deepgraph as dg
from deepgraph.expr import Expr
from deepgraph.graph import Graph, rewrite


@pytest.fixture
def x() -> Expr:
    return dg.placeholder("x", ("n", 4))


def marks(step: dg.Step, node: Expr) -> set[str]:
    """The `# mark` at the end of each line that a node of the schedule is of."""
    found = (o.line.partition("# ")[2] for o in step.schedule.origins(node))
    return {mark for mark in found if mark}


def of(step: dg.Step, *names: str) -> Iterator[set[str]]:
    """The marks of each computed node of an operation, in the order they run."""
    for kernel in step.kernels:
        yield from (marks(step, n) for n in kernel.nodes if n.op.name in names)


def comments(step: dg.Step, *words: str) -> list[str]:
    """The comments of the source that hold all these words."""
    lines = [line.strip() for line in str(step.source).splitlines()]
    return [t for t in lines if t.startswith("# ") and all(w in t for w in words)]


def test_equal_expressions_of_two_lines(x: Expr) -> None:
    one = dg.tanh(x)  # first
    two = dg.tanh(x)  # second
    other = dg.exp(x)  # third
    step = dg.compile([one + 1, two * other], backend="numpy")
    assert list(of(step, "tanh")) == [{"first", "second"}]
    assert list(of(step, "exp")) == [{"third"}]
    (comment,) = comments(step, "# first")
    assert comment.count(f"{Path(__file__).name}:") == 2
    assert comment.index("# first") < comment.index("; also ") < comment.index("# second")
    for node, line in ((one, two.origin.where), (two, one.origin.where)):
        assert f"share made it one with the one from {line}" in step.explain(node)


def test_a_line_is_shown_once(x: Expr) -> None:
    both = dg.tanh(x) + 1, dg.tanh(x) + 1
    step = dg.compile(list(both), backend="numpy", without=["fuse"])
    assert all(c.count("both =") == 1 for c in comments(step, "both ="))
    assert not comments(step, "also")


def test_constants_that_become_one(x: Expr) -> None:
    rows = np.arange(4, dtype="f")
    one = dg.asarray(rows) + 1  # first
    two = dg.asarray(rows + 2) - 1  # second
    step = dg.compile([x * one, x - two], backend="numpy")
    graph: Graph = step.stages["simplify.2"].value
    (known,) = [n for n in graph.nodes if n.op.name == "constant" and n.shape == (4,)]
    assert {"first", "second"} <= marks(step, known)


def test_what_simplify_makes_equal(x: Expr) -> None:
    one = dg.tanh(x * 1)  # first
    two = dg.tanh(dg.negative(-x))  # second
    step = dg.compile([one + 1, two * 2], backend="numpy")
    assert list(of(step, "tanh")) == [{"first", "second"}]


def test_what_a_rule_replaced_is_of_both_lines(x: Expr) -> None:
    inner = dg.exp(x)  # inner
    outer = dg.log(inner + 1)  # outer
    step = dg.compile(outer, backend="numpy")
    assert "outer" in set().union(*(marks(step, n) for k in step.kernels for n in k.nodes))
    assert marks(step, step.kernels[-1].nodes[-1]) == {"outer"}


@pytest.mark.parametrize("turned", [False, True])
def test_parts_of_lowered_operations(x: Expr, turned: bool) -> None:
    one = dg.sigmoid(x)  # first
    two = dg.sigmoid(x)  # second
    three = dg.exp(-x)  # third
    outputs = [one + 1, two * 2, three]
    step = dg.compile(outputs[::-1] if turned else outputs, backend="numpy")
    assert list(of(step, "negative", "exp")) == [{"first", "second", "third"}] * 2
    assert list(of(step, "reciprocal")) == [{"first", "second"}]


def test_a_copy_that_layout_makes(x: Expr) -> None:
    y = dg.reshape(x, (-1, 2, 2))
    one = dg.reshape(dg.permute_dims(y, (2, 0, 1)), (-1, 2))  # first
    two = dg.reshape(dg.permute_dims(y, (2, 0, 1)), (-1, 2))  # second
    step = dg.compile([one @ np.eye(2, dtype="f"), dg.sin(two)], backend="numpy")
    copies = list(of(step, "copy"))
    assert copies
    assert all(found == {"first", "second"} for found in copies)


def test_a_result_in_memory_of_its_own(x: Expr) -> None:
    one = dg.tanh(x)  # first
    two = dg.tanh(x)  # second
    step = dg.compile([one, two], backend="numpy")
    assert list(of(step, "tanh", "copy")) == [{"first", "second"}] * 2


def test_failures_name_all_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    x = dg.placeholder("x", ("n",))
    one = dg.max(x)  # first
    two = dg.max(x)  # second
    step = dg.compile([dg.tanh(one), dg.exp(two)], backend="numpy")
    step(x=[1.0])
    spoil(step, "maximum", monkeypatch)
    with pytest.raises(AttributeError, match="reduce") as caught:
        step(x=[1.0])
    (note,) = caught.value.__notes__
    first, second = note.split("also at ")
    assert "# first" in first
    assert "^^^" in first
    assert "# second" in second


def test_a_fault_at_a_call_names_the_operation_below_a_shared_comment(
    x: Expr, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statement at fault is found though its comment holds the lines of several nodes."""
    one = dg.sin(x)  # first
    two = dg.sin(x)  # second
    last = dg.max(one * two, axis=0)  # the fold
    step, ones = dg.compile(last, backend="numpy"), np.ones((1, 4), "f")
    step(x=ones)
    spoil(step, "maximum", monkeypatch)
    with pytest.raises(AttributeError, match="reduce") as caught:
        step(x=ones)
    (note,) = caught.value.__notes__
    assert note.startswith("max, in kernel 0")
    assert "# the fold" in note


def test_many_lines_are_cut(x: Expr) -> None:
    scope: dict[str, Any] = {"dg": dg, "x": x}
    exec("\n".join(f"y{k} = dg.tanh(x)" for k in range(40)), scope)
    step = dg.compile([scope[f"y{k}"] + k for k in range(40)], backend="numpy")
    (comment,) = comments(step, "<string>:1;", "<string>:3; ...")
    assert comment.count("<string>:") == 3
    (node,) = [n for k in step.kernels for n in k.nodes if n.op.name == "tanh"]
    assert len(step.schedule.origins(node)) < 12
    assert step.explain(scope["y0"]).count("<string>:") == 1 + 3


def test_two_layers_of_one_line_stay_apart(x: Expr) -> None:
    from deepgraph.errors import scope

    found = []
    for name in ("left", "right"):
        with scope(name):
            found.append(dg.tanh(x))
    step = dg.compile(found[0] * found[1], backend="numpy", without=["fuse"])
    scopes = [o.scope for o in step.schedule.origins(step.kernels[0].nodes[0])]
    assert scopes == ["left", "right"]


def test_one_step_tells_nothing_of_another(x: Expr) -> None:
    one = dg.tanh(x)  # first
    two = dg.tanh(x)  # second
    both = dg.compile(one * two, backend="numpy")
    alone = dg.compile(one + 1, backend="numpy")
    assert list(of(both, "tanh")) == [{"first", "second"}]
    assert list(of(alone, "tanh")) == [{"first"}]


def test_every_node_of_a_step_is_of_a_declared_line() -> None:
    from graphs import random_graph

    for seed in range(10):
        outputs, updates, _ = random_graph(seed)
        step = dg.compile(outputs, updates, backend="numpy")
        declared = {n.origin.where for n in step.graph.nodes}
        graph: Graph = step.stages["own"].value
        for node in graph.nodes:
            assert {o.where for o in graph.origins(node)} <= declared
        for node in step.graph.nodes:  # and no declared line is lost on the way
            after = followed(node, step)
            if after is not None:
                assert node.origin.key in {o.key for o in graph.origins(after)}


def followed(node: Expr, step: dg.Step) -> Expr | None:
    now: Expr | None = node
    for stage in step.stages.values():
        if stage.level == "graph" and now is not None:
            now = stage.value.became.get(now, now)
    return now


def test_merges_cost_little_time_and_memory() -> None:
    """40,000 equal nodes, on two lines and in ten layers: few origins are kept, and quickly."""
    from deepgraph.errors import scope

    x = dg.placeholder("x", ("n",))
    chain = x
    for k in range(20_000):
        with scope(f"layer{k % 10}"):
            one = dg.tanh(x)
            two = dg.tanh(x)
        chain = chain + one * two
    graph = rewrite(rewrite(Graph((), {"y": chain})))
    nodes = graph.nodes
    start = process_time()
    counts = [len(graph.origins(n)) for n in nodes]
    assert process_time() - start < 2  # it takes a twentieth
    assert max(counts) == 9
    assert sum(counts) < 2 * len(nodes)


def test_pictures_tell_all_lines(x: Expr) -> None:
    from deepgraph.show.drawing import drawing

    one = dg.tanh(x)  # first
    two = dg.tanh(x)  # second
    step = dg.compile([one + 1, two * 2], backend="numpy")
    for level in (step, step.stages["share"].value):
        (hint,) = [n.hint for n in drawing(level).nodes if n.label.startswith("tanh")]
        assert hint.index("# first") < hint.index("# second")


def test_a_node_behind_a_draw_is_explained() -> None:
    """The key of a draw enters when a step is compiled: what reads it is declared all the same."""
    x = dg.placeholder("x", ("n", 3))
    hidden = dg.dropout(x, 0.5, training=True)
    y = dg.sum(hidden * 2)
    step = dg.compile({"y": y}, backend="numpy")
    for node in (hidden, y):
        assert "kernel" in step.explain(node)
