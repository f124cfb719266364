"""Layers: all is drawn once, in boxes that open; nothing waits for itself; small graphs stay."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import networkx as nx
import pytest
from nets import ResNet, mlp

import deepgraph as dg
from deepgraph import nn, optim
from deepgraph.errors import scope
from deepgraph.graph import Graph
from deepgraph.show.contract import contracted
from deepgraph.show.drawing import Drawing, drawing
from deepgraph.show.layers import BOXES, LEAVES, folded

SEEDS = range(6)


@cache
def levels() -> tuple[Any, ...]:
    """The graph and the schedule of the training step of a small ResNet."""
    x = dg.placeholder("x", shape=("batch", 3, 32, 32))
    t = dg.placeholder("t", shape=("batch",), dtype="int64")
    model = ResNet((1, 1, 1, 1), classes=10)
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    updates = optim.SGD(0.1).updates(loss, model.parameters)
    step = dg.compile({"loss": loss}, updates, backend="numpy")
    return step.stages["declared"].value, step.plan


def sheets(shown: Drawing) -> Iterator[Drawing]:
    """A drawing and all that is inside its layers."""
    yield shown
    for node in shown.nodes:
        if node.inside is not None:
            yield from sheets(node.inside)


@pytest.mark.parametrize("level", range(2))
def test_each_node_is_drawn_once_and_leaves_beside_their_readers(level: int) -> None:
    whole = drawing(levels()[level])
    inside = [n for s in sheets(folded(whole)) for n in s.nodes if n.kind not in ("layer", "port")]
    assert Counter(id(n.value) for n in inside if n.kind not in LEAVES) == Counter(
        id(n.value) for n in whole.nodes if n.kind not in LEAVES
    )
    assert {n.label for n in inside} == {n.label for n in whole.nodes}


@pytest.mark.parametrize("level", range(2))
def test_edges_lead_to_later_nodes_in_every_sheet(level: int) -> None:
    for sheet in sheets(folded(drawing(levels()[level]))):
        assert all(e.tail < e.head < len(sheet.nodes) for e in sheet.edges)
        used = Counter(n.cluster for n in sheet.nodes if n.cluster is not None)
        assert sorted(used) == list(range(len(sheet.clusters)))


@pytest.mark.parametrize("level", range(2))
def test_a_model_of_many_nodes_shows_few_boxes(level: int) -> None:
    whole = drawing(levels()[level])
    shown = folded(whole)
    assert len(whole.nodes) > 800
    assert len(shown.nodes) < 2 * BOXES
    labels = [n.label for n in shown.nodes if n.kind == "layer"]
    assert {"layer1.0", "layer4.0", "gradient of layer1.0", "gradient of layer4.0", "SGD"} <= {
        *labels
    }


def test_a_training_step_is_its_layers_their_gradients_the_loss_and_updates_by_parameter() -> None:
    x = dg.placeholder("x", ("n", 784))
    t = dg.placeholder("t", ("n",), "int64")
    model = mlp(512, 256, 10)
    logits = model(x, training=True)
    loss, accuracy = nn.softmax_cross_entropy(logits, t), nn.accuracy(logits, t)
    updates = optim.Adam().updates(loss, model.parameters)
    outputs = {"loss": loss, "right": accuracy}
    step = dg.compile(outputs, updates, backend="numpy", without=("fuse",))
    weights = [f"{k}.{name}" for k in (0, 2, 4) for name in ("weight", "bias")]
    names = {"0", "2", "4", "gradient of 0", "gradient of 2", "gradient of 4",
             "softmax_cross_entropy", "gradient of softmax_cross_entropy", "accuracy", "Adam",
             *(f"Adam.{w}" for w in weights)}  # fmt: skip
    shown = folded(drawing(step))
    assert {n.label for n in shown.nodes if n.kind == "layer"} == names
    assert {n.label for n in shown.nodes if n.kind != "layer"} >= {"x", "t", "loss", "right"}


def test_a_layer_says_what_it_does() -> None:
    shown = folded(drawing(levels()[0]))
    (layer,) = [n for n in shown.nodes if n.label == "fc"]
    assert layer.told == ("matmul", "2 operations")
    assert layer.inside is not None
    assert [n.label for n in layer.inside.nodes][-1].startswith("to ")
    ports = [n for n in layer.inside.nodes if n.kind == "port"]
    assert len(ports) >= 2  # what comes in, what goes out


def test_what_is_read_and_written_outside_a_layer_is_joined_to_it() -> None:
    graph = levels()[0]
    whole = drawing(graph)
    shown = folded(whole)
    drawn = nx.DiGraph((e.tail, e.head) for e in shown.edges)
    x = next(k for k, n in enumerate(shown.nodes) if n.label == "x")
    loss = next(k for k, n in enumerate(shown.nodes) if n.kind == "output")
    assert nx.has_path(drawn, x, loss)
    layers = {n.label: k for k, n in enumerate(shown.nodes) if n.kind == "layer"}
    assert not any(e.head == layers["SGD"] for e in shown.edges)  # it counts calls
    assert all(nx.has_path(drawn, x, k) for name, k in layers.items() if name != "SGD")


def test_small_graphs_and_graphs_without_layers_stay_as_they_are() -> None:
    x = dg.placeholder("x", ("n", 8))
    small = drawing(mlp(8, 4)(x))
    assert folded(small) is small
    y = x
    for _ in range(300):
        y = dg.tanh(y)
    deep = drawing(y)
    assert folded(deep) is deep


def test_a_value_that_leaves_a_layer_and_comes_back_makes_it_two() -> None:
    y = dg.placeholder("x", ("n",))
    for _ in range(80):
        with scope("inner"):
            y = dg.tanh(y)
        y = dg.exp(y)
        with scope("inner"):
            y = dg.sin(dg.cos(y))
    shown = folded(drawing(Graph((), {"y": y})))
    assert all(e.tail < e.head for e in shown.edges)
    names = [n.label for n in shown.nodes if n.kind == "layer"]
    assert set(names) == {"inner"}
    assert len(names) == 80


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_never_wait_for_each_other(seed: int) -> None:
    rng = random.Random(seed)
    count = 120
    above: list[dict[int, None]] = [{}]
    for v in range(1, count):
        read = rng.choices(range(max(0, v - 10), v), k=rng.randint(0, 2))
        above.append(dict.fromkeys(read))
    keys = [rng.choice(["a", "b", "c", None]) for _ in range(count)]
    groups = contracted(range(count), above, keys.__getitem__)
    assert sorted(v for group in groups for v in group) == list(range(count))
    of = {v: g for g, group in enumerate(groups) for v in group}
    for group in groups:
        assert len({keys[v] for v in group}) == 1
        assert len(group) == 1 or keys[group[0]] is not None
    edges = {(of[a], of[v]) for v in range(count) for a in above[v]} - {(g, g) for g in of.values()}
    drawn = nx.DiGraph(edges)
    assert nx.is_directed_acyclic_graph(drawn)
    for a, b in itertools.combinations(range(len(groups)), 2):  # none could be joined
        key = keys[groups[a][0]]
        if key is not None and key == keys[groups[b][0]]:
            joined = nx.DiGraph(drawn)
            joined.add_nodes_from((a, b))
            joined = nx.contracted_nodes(joined, a, b, self_loops=False)
            assert not nx.is_directed_acyclic_graph(joined)
