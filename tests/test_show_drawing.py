"""What is drawn: nodes, edges and clusters of each level, against the level itself."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from pictures import compiled, random_levels

import deepgraph as dg
from deepgraph.dims import product, same
from deepgraph.drawn import Drawn
from deepgraph.expr import Kind
from deepgraph.graph import Graph
from deepgraph.show.drawing import Drawing, Edge, drawing
from deepgraph.show.elide import elided

SEEDS = range(4)


def labels(shown: Drawing) -> list[str]:
    return [node.label for node in shown.nodes]


def test_numbers_and_sizes_stand_in_the_node_that_reads_them() -> None:
    x = dg.placeholder("x", ("n", 3))
    shown = drawing(0.1 - dg.sum(x * 2, axis=1) / x.shape[0])
    assert labels(shown) == [
        "x", "multiply(·, 2.0)", "sum(axis=1)", "divide(·, n)", "subtract(0.1, ·)",
    ]  # fmt: skip
    assert [(e.tail, e.head) for e in shown.edges] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_a_number_that_is_a_result_is_drawn() -> None:
    shown = drawing(Graph((), {"y": dg.asarray(np.float32(3))}))
    assert [n.kind for n in shown.nodes] == ["constant", "output"]


def test_nodes_say_type_bytes_kind_and_where_they_were_declared() -> None:
    x = dg.placeholder("x", ("batch", 784))
    w = dg.Parameter(np.zeros((784, 300), np.float32), name="w")
    shown = drawing(Graph((), {"y": dg.max(x @ w, axis=1)}, {w: w * 0.5}))
    by_label = {n.label: n for n in shown.nodes if n.kind not in ("output", "update")}
    assert by_label["x"].details == ("float32[batch, 784]", "batch*3136 B")
    assert by_label["w"].details == ("float32[784, 300]", "919 KiB")
    assert by_label["matmul"].details == ("float32[batch, 300]", "batch*1200 B")
    assert "test_show_drawing.py" in by_label["matmul"].hint
    assert "dg.max(x @ w, axis=1)" in by_label["matmul"].hint
    assert Counter(n.kind for n in shown.nodes) == Counter(
        ["placeholder", "parameter", "call", "reduce", "elementwise", "output", "update"]
    )


def test_views_are_read_through_alias_edges_and_take_no_bytes() -> None:
    x = dg.placeholder("x", (4, 5))
    shown = drawing(dg.exp(x.T))
    assert shown.edges == (Edge(0, 1, "alias"), Edge(1, 2, "data"))
    assert [n.bytes for n in shown.nodes] == [80, None, 80]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_graph_is_drawn_node_by_node(seed: int) -> None:
    graph, *_ = random_levels(seed)
    shown = drawing(graph)
    small = {"constant", "size"}
    kept = [
        n for n in graph.nodes if n in graph.results or n.op.name not in small or n.size not in (1,)
    ]
    boxes = shown.nodes[: len(kept)]
    for node, box in zip(kept, boxes, strict=True):
        assert box.label.startswith(node.name or node.op.name)
        assert box.dtype + box.shape == node.type_text
    at = {n: k for k, n in enumerate(kept)}
    wanted = Counter((at[i], at[n]) for n in kept for i in n.inputs if i in at)
    results = [*graph.outputs.values(), *graph.updates.values()]
    wanted.update((at[v], len(kept) + k) for k, v in enumerate(results))
    assert Counter((e.tail, e.head) for e in shown.edges) == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_lead_to_later_nodes_at_every_level(seed: int) -> None:
    for level in random_levels(seed):
        assert all(e.tail < e.head for e in drawing(level).edges)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_kernel_is_a_cluster_of_what_it_computes(seed: int) -> None:
    _, schedule, _ = random_levels(seed)
    shown = drawing(schedule)
    assert len(shown.clusters) == len(schedule.kernels)
    for k, kernel in enumerate(schedule.kernels):
        inside = [n for n in shown.nodes if n.cluster == k and n.kind != "view"]
        names = [n.label.partition("(")[0] for n in inside]
        assert names == [n.op.name for n in kernel.nodes]
        assert shown.clusters[k].title.startswith(f"{k} {kernel.kind}")
        sizes = [n.bytes for n in inside if n.bytes is not None]
        stored = [
            product(v.shape) * v.dtype.itemsize for v in kernel.nodes if v in {*kernel.writes}
        ]
        assert all(map(same, sizes, stored))
        assert len(sizes) == len(stored)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kernel_reads_in_the_drawing_what_it_loads(seed: int) -> None:
    _, schedule, _ = random_levels(seed)
    shown = drawing(schedule)
    for k, kernel in enumerate(schedule.kernels):
        tails = {
            e.tail for e in shown.edges
            if shown.nodes[e.head].cluster == k and shown.nodes[e.tail].cluster != k
        }  # fmt: skip
        assert sorted(shown.nodes[t].label.partition("(")[0] for t in tails) == sorted(
            value.name or value.op.name for value in kernel.reads
        )


def test_what_must_be_copied_is_drawn_between_the_view_and_its_reader() -> None:
    x = dg.placeholder("x", (4, 5))
    _, schedule, _ = compiled({"y": dg.exp(dg.reshape(x.T, (20,)))})
    shown = drawing(schedule)
    assert any(n.op.name == "copy" for k in schedule.kernels for n in k.nodes)
    assert labels(shown) == ["x", "permute_dims(axes=(1, 0))", "copy", "reshape", "exp", "y"]
    assert [(e.tail, e.head) for e in shown.edges] == [(k, k + 1) for k in range(5)]


def test_in_place_edges_lead_to_what_takes_the_memory_of_what_it_reads() -> None:
    x = dg.placeholder("x", ("n", 8))
    w = dg.Parameter(np.zeros((8, 8), np.float32), name="w")
    h = dg.relu(x @ w)
    *_, plan = compiled({"loss": dg.sum(dg.tanh(h @ w))}, {w: w * 0.5})
    shown = drawing(plan)
    marked = [e for e in shown.edges if e.kind == "in-place"]
    assert any(shown.nodes[e.tail].kind == "parameter" for e in marked)
    for edge in marked:
        tail, head = shown.nodes[edge.tail], shown.nodes[edge.head]
        assert head.home == (tail.home or f"parameter {tail.label}")
    homes = Counter(n.home for n in shown.nodes if n.home)
    assert homes == Counter(str(h) for h in plan.homes.values())


def test_a_large_drawing_keeps_its_ends_and_counts_the_rest() -> None:
    x = dg.placeholder("x", ("n",))
    y = x
    for _ in range(50_000):
        y = dg.tanh(y)
    whole = drawing(Graph((), {"y": y}))
    short = elided(whole, 100)
    assert len(whole.nodes) == 50_002
    assert len(short.nodes) == 101
    assert labels(short)[50] == "… 49,902 more nodes"
    assert (labels(short)[0], labels(short)[-1]) == ("x", "y")
    assert all(e.head == e.tail + 1 for e in short.edges)
    assert elided(short, 101) is short


def test_a_kernel_is_left_out_whole() -> None:
    _, schedule, _ = random_levels(0, 60)
    shown = drawing(schedule)
    sizes = Counter(n.cluster for n in shown.nodes if n.cluster is not None)
    for limit in (4, 20, len(shown.nodes) - 1):
        short = elided(shown, limit)
        left = Counter(n.cluster for n in short.nodes if n.cluster is not None)
        assert sorted(left) == list(range(len(short.clusters)))
        titles = {c.title: sizes[k] for k, c in enumerate(shown.clusters)}
        assert all(left[k] == titles[c.title] for k, c in enumerate(short.clusters))
        assert all(e.tail < e.head for e in short.edges)


def test_operands_are_ordered_where_order_matters() -> None:
    x, y = dg.placeholder("x", (3,)), dg.placeholder("y", (3,))
    assert drawing(y - x).nodes[-1].ordered
    assert not drawing(y + x).nodes[-1].ordered
    assert [drawing(y - x).nodes[e.tail].label for e in drawing(y - x).edges] == ["y", "x"]


def test_what_is_no_level_is_refused() -> None:
    class Other(Drawn):
        pass

    with pytest.raises(TypeError, match="got Other"):
        drawing(Other())


def test_labels_leave_out_what_is_known() -> None:
    x = dg.placeholder("x", (2, 3, 8, 8))
    w = dg.placeholder("w", (4, 3, 3, 3))
    assert drawing(dg.sum(x, axis=(1, 2), keepdims=True)).nodes[-1].label == "sum(axis=(1, 2))"
    assert drawing(x.astype("float64")).nodes[-1].label == "astype"
    assert drawing(x[::-1]).nodes[-1].label == "slice(index=::-1)"
    y = dg.placeholder("y", (8, 8))
    assert drawing(y[::-1, 1:]).nodes[-1].label == "slice(index=::-1, 1:)"
    assert drawing(y[::-1, ::-1]).nodes[-1].label == "slice(index=::-1, ::-1)"
    conv = drawing(dg.conv2d(x, w, stride=2, padding=((1, 0), (1, 0)))).nodes[-1].label
    assert conv == "conv2d(stride=2, padding=(1, 0), dilation=1)"


def test_kinds_follow_the_operations() -> None:
    x = dg.placeholder("x", (3, 3))
    for node in Graph((), {"y": dg.sum(dg.exp(x.T @ x), axis=0)}).nodes:
        box = drawing(node).nodes[-1]
        assert box.kind == ("placeholder" if node.op.kind is Kind.SOURCE else node.op.kind.value)
