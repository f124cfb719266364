"""show.diff: what only one of two graphs computes, in text and marked in the picture."""

from __future__ import annotations

import pytest
from graphs import random_graph
from pictures import levels

import deepgraph as dg
from deepgraph import show
from deepgraph.expr import Expr
from deepgraph.graph import Graph


def layer(function: str = "tanh", scale: float = 2.0) -> Expr:
    x, w = dg.placeholder("x", ("n", 4)), dg.placeholder("w", (4, 4))
    y: Expr = getattr(dg, function)(x @ w) * scale
    return y


@pytest.mark.parametrize("seed", range(4))
def test_a_graph_is_the_same_as_itself_built_again(seed: int) -> None:
    one = Graph((), random_graph(seed, 25)[0])
    found = show.diff(one, one)
    assert not found
    assert not show.diff(layer(), layer())
    assert str(found) == "0 removed, 0 added"


def test_what_follows_from_a_change_is_another_node() -> None:
    found = show.diff(layer("tanh"), layer("exp"))
    assert found
    assert [n.op.name for n in found.removed] == ["tanh", "multiply"]
    assert [n.op.name for n in found.added] == ["exp", "multiply"]
    assert found.results == ("output output is another",)
    lines = str(found).splitlines()
    assert lines[0] == "2 removed, 2 added"
    assert [line[0] for line in lines[1:5]] == ["-", "-", "+", "+"]
    assert "test_show_diff.py" in lines[1]


def test_the_public_name_is_that_of_arrays_too() -> None:
    x = dg.placeholder("x", ("n", 4))
    one, two = dg.compile(dg.tanh(x)), dg.compile(dg.tanh(x) + 1)
    for before, after in ((one, two), (one.graph, two.graph), (dg.tanh(x), dg.tanh(x) + 1)):
        assert [n.op.name for n in dg.diff(before, after).added][-1:] == ["add"]
        assert not dg.diff(after, after)
    assert dg.diff(x).shape[1] == 3
    with pytest.raises(TypeError, match="compares expressions, graphs and steps"):
        dg.diff([1, 2], one)


def test_numbers_types_and_attributes_count() -> None:
    assert show.diff(layer(scale=2.0), layer(scale=3.0))
    x = dg.placeholder("x", (4, 4))
    assert show.diff(dg.sum(x, axis=0), dg.sum(x, axis=1))
    assert show.diff(dg.exp(x), dg.exp(dg.placeholder("x", (4, 4), "float64")))


def test_results_by_name() -> None:
    x = dg.placeholder("x", (4,))
    a, b = Graph((), {"y": x + 1, "z": x + 2}), Graph((), {"y": x + 2, "w": x + 1})
    found = show.diff(a, b)
    assert found.results == ("output y is another", "- output z", "+ output w")
    assert (found.removed, found.added) == ((), ())


def test_steps_are_compared_by_what_runs() -> None:
    x = dg.placeholder("x", ("n",))
    plain = dg.compile(dg.log(dg.exp(dg.negative(-x))), backend="numpy")
    assert not show.diff(plain, dg.compile(dg.log(dg.exp(x)), backend="numpy"))
    assert show.diff(plain, dg.compile(dg.log(dg.tanh(x)), backend="numpy"))


def test_the_picture_has_both_and_marks_what_differs() -> None:
    found = show.diff(layer("tanh"), layer("exp"))
    drawn = found.drawn_as()
    marks = {n.label: n.mark for n in drawn.nodes}
    assert marks == {
        "x": "", "w": "", "matmul": "", "exp": "new", "tanh": "removed",
        "multiply(·, 2.0)": "removed", "output": "",
    }  # fmt: skip
    assert [n.mark for n in drawn.nodes if n.label.startswith("multiply")] == ["new", "removed"]
    assert all(e.tail < e.head for e in drawn.edges)
    matmul = next(k for k, n in enumerate(drawn.nodes) if n.label == "matmul")
    assert sum(e.tail == matmul for e in drawn.edges) == 2
    assert 'class="elementwise removed"' in found.to_svg()
    assert '"mark":"removed"' in found.to_html()
    assert found.to_networkx().number_of_nodes() == len(drawn.nodes)


def test_only_levels_are_compared() -> None:
    assert show.diff(levels()[1], levels()[2])
    with pytest.raises(TypeError, match="diff: compares"):
        show.diff(show.diff(layer(), layer("exp")), layer())
