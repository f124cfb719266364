"""Modules: how they find, name and draw parameters, and what they say when misused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from aid import run
from nets import mlp

import deepgraph as dg
from deepgraph import nn
from deepgraph.errors import DTypeError, GraphError, ShapeError
from deepgraph.expr import Expr
from deepgraph.graph import toposort


def x(*shape: Any, dtype: str = "float32") -> Expr:
    return dg.placeholder("x", shape or ("batch", 3), dtype)


class Block(nn.Module):
    def __init__(self) -> None:
        self.layers = [nn.Dense(4), {"deep": (nn.Dense(4, bias=False), nn.relu)}]
        self.gain = dg.Parameter(2.0, name="gain")
        self.tied = self.layers[0]

    def forward(self, x: Expr) -> Expr:
        first, rest = self.layers
        inner, relu = rest["deep"]
        return relu(inner(self.tied(first(x)))) * self.gain


def test_parameters_are_named_by_path_and_listed_once() -> None:
    net = nn.Sequential(nn.Dense(4), nn.relu, Block(), name="net")
    net(x())
    names = ["net.0.weight", "net.0.bias", "net.2.gain", "net.2.layers.0.weight",
             "net.2.layers.0.bias", "net.2.layers.1.deep.0.weight"]  # fmt: skip
    assert list(net.state) == names
    assert all(p is q for p, q in zip(net.parameters, net.state.values(), strict=True))
    assert [p.name for p in net.parameters] == [n.replace("net.2.gain", "gain") for n in names]


def test_a_second_call_shares_the_parameters() -> None:
    net = mlp(4, 2)
    first, second = net(x(), training=True), net(dg.placeholder("y", ("other", 3)))
    assert len(net.parameters) == 4
    for y in (first, second):
        assert {n for n in toposort([y]) if n.op.name == "parameter"} == set(net.parameters)


@pytest.mark.parametrize("seed", [0, 7])
def test_weights_depend_on_seed_and_place_alone(seed: int) -> None:
    def weights(net: nn.Module) -> list[Any]:
        net(x())
        return [p.value for p in net.parameters]

    a, b = weights(mlp(4, 4, 4, seed=seed)), weights(mlp(4, 4, 4, seed=seed))
    for p, q in zip(a, b, strict=True):
        np.testing.assert_array_equal(p, q)
    assert not np.array_equal(a[2], a[4]), "two layers drew the same weights"
    assert not np.array_equal(a[0], weights(mlp(4, 4, 4, seed=seed + 1))[0])
    longer = weights(mlp(4, 4, 4, 9, seed=seed))
    np.testing.assert_array_equal(a[4], longer[4])


def test_one_child_seed_a_layer() -> None:
    net = nn.Sequential(nn.Flatten(), nn.Dense(2, init=nn.init.normal), seed=5)
    net(x())
    child = np.random.SeedSequence(5).spawn(2)[1]
    expected = nn.init.normal((3, 2), np.random.default_rng(child.spawn(1)[0]))
    np.testing.assert_array_equal(net.parameters[0].value, expected.astype(np.float32))


def test_parameters_of_one_layer_are_drawn_apart() -> None:
    layer = nn.Dense(3, init=nn.init.normal, bias=nn.init.normal)
    layer(x("batch", 1))
    assert not set(layer.weight.value.ravel()) & set(layer.bias.value)


def test_before_an_input_there_are_no_parameters() -> None:
    net = mlp(4, 2)
    with pytest.raises(GraphError, match="Dense 0 has not met an input"):
        _ = net.parameters
    with pytest.raises(GraphError, match="call the model first"):
        _ = nn.Sequential().state


def test_what_a_called_model_leaves_out_is_not_waited_for() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.used, self.unused = nn.Dense(2), nn.Dense(2)

        def forward(self, x: Expr) -> Expr:
            return self.used(x)

    net = Net()
    net(x())
    assert list(net.state) == ["used.weight", "used.bias"]

    class Pair(nn.Module):  # never called itself
        def __init__(self) -> None:
            self.a, self.b = Net(), Net()

    pair = Pair()
    pair.a(x())
    with pytest.raises(GraphError, match=r"b\.used"):
        _ = pair.parameters
    pair.b(x())
    assert list(pair.state) == ["a.used.weight", "a.used.bias", "b.used.weight", "b.used.bias"]


def test_other_sizes_are_a_shape_error_that_names_the_layer() -> None:
    net = mlp(4, 2)
    net(x())
    with pytest.raises(ShapeError) as caught:
        net(dg.placeholder("wide", ("batch", 5)))
    text = str(caught.value)
    assert "Dense: 0.weight has shape (3, 4), but this input needs (5, 4)" in text
    assert "in layer 0 (Dense)" in text
    assert "net(dg.placeholder" in text
    assert "^^^^" in text


def test_errors_of_operations_name_the_layer_too() -> None:
    net = nn.Sequential(nn.Dense(4), nn.Sequential(nn.Conv2D(2, 3)))
    with pytest.raises(ShapeError, match=r"in layer 1\.0 \(Conv2D\)") as caught:
        net(x())
    assert str(caught.value).count("in layer") == 1


def test_a_failed_first_call_leaves_nothing_behind() -> None:
    net = nn.Sequential(nn.Dense(4), lambda y: y @ dg.zeros((5, 1)))
    with pytest.raises(ShapeError):
        net(x())
    with pytest.raises(GraphError, match="not met"):
        _ = net.parameters
    good = nn.Sequential(net[0], nn.relu)
    good(x("batch", 7))
    assert good.parameters[0].shape == (7, 4)


def test_sizes_of_weights_must_be_known() -> None:
    with pytest.raises(ShapeError, match=r"0.weight must be known now: got \(width, 4\)"):
        mlp(4)(x("batch", "width"))


def test_weights_take_the_dtype_of_the_input() -> None:
    net = mlp(4)
    assert net(x("batch", 3, dtype="float64")).dtype == np.float64
    assert {p.dtype for p in net.parameters} == {np.dtype(np.float64)}
    with pytest.raises(DTypeError, match=r"0\.weight is a float"):
        mlp(4)(x("batch", 3, dtype="int32"))


def test_a_module_made_on_the_fly_would_lose_its_weights() -> None:
    class Net(nn.Module):
        def forward(self, x: Expr) -> Expr:
            return nn.Dense(2)(x)

    with pytest.raises(GraphError, match="Dense is called inside a module but is none of its"):
        Net()(x())


def test_a_model_that_is_built_may_be_used_inside_another() -> None:
    backbone = mlp(4)
    backbone(x())

    class Head(nn.Module):
        def __init__(self) -> None:
            self.scores = nn.Dense(2)

        def forward(self, x: Expr) -> Expr:
            return self.scores(backbone(x))

    head = Head()
    head(x())
    assert list(head.state) == ["scores.weight", "scores.bias"]


def test_training_reaches_every_module_inside() -> None:
    seen = []

    class Probe(nn.Module):
        def forward(self, x: Expr, training: bool) -> Expr:
            seen.append(training)
            return x

    class Plain(nn.Module):
        def __init__(self) -> None:
            self.probe = Probe()

        def forward(self, x: Expr) -> Expr:
            return self.probe(self.probe(x), training=False)

    def function(x: Expr, training: bool = False) -> Expr:
        seen.append(training)
        return x

    net = nn.Sequential(Probe(), Plain(), function)
    net(x(), training=True)
    assert seen == [True, True, False, True]
    seen.clear()
    net(x())
    assert seen == [False] * 4


def test_nodes_know_their_layer() -> None:
    net = nn.Sequential(nn.Dense(4), nn.Sequential(nn.relu, nn.Dense(2)), name="net")
    y = net(x())
    scopes = {n.origin.scope for n in toposort([y]) if n.op.name == "matmul"}
    assert scopes == {"net.0", "net.1.1"}


def test_statistics_are_state_but_not_learned() -> None:
    net = nn.Sequential(nn.BatchNorm())
    net(x(), training=True)
    assert list(net.state) == ["0.weight", "0.bias", "0.running_mean", "0.running_var"]
    assert [p.name for p in net.parameters] == ["0.weight", "0.bias"]


def test_statistics_are_called_once_in_training() -> None:
    net = nn.Sequential(nn.BatchNorm())
    net(x(), training=True)
    net(x())
    net(x())
    with pytest.raises(GraphError, match=r"called in training before, at .*test_nn_module.py:\d+"):
        net(x(), training=True)
    twin = copy.deepcopy(net)
    twin(x(), training=True)

    norm = nn.BatchNorm()
    with pytest.raises(GraphError, match="BatchNorm: statistics have one new value a step"):
        nn.Sequential(norm, norm)(x(), training=True)
    nn.Sequential(norm)(x(), training=True)  # the attempt that failed does not count


def test_a_parameter_may_be_shared() -> None:
    encode = nn.Dense(2)
    encode(x())
    decode = nn.Dense(2, init=encode.weight, bias=False)
    net = nn.Sequential(decode)
    net(x())
    assert net.parameters[0] is encode.weight
    with pytest.raises(ShapeError, match=r"weight has shape \(3, 2\)"):
        nn.Dense(5, init=encode.weight)(x())


@pytest.mark.parametrize("init", [0.5, np.full((3, 2), 0.5), lambda s, rng: np.full(s, 0.5)])
def test_init_is_a_number_an_array_or_a_function(init: Any) -> None:
    layer = nn.Dense(2, init=init, bias=init if not isinstance(init, np.ndarray) else 0.5)
    layer(x())
    np.testing.assert_array_equal(layer.weight.value, np.full((3, 2), 0.5, np.float32))
    np.testing.assert_array_equal(layer.bias.value, np.full(2, 0.5, np.float32))
    with pytest.raises(ShapeError, match=r"weight has shape \(3, 2\): init gives \(2, 3\)"):
        nn.Dense(2, init=np.ones((2, 3)))(x())


@pytest.mark.parametrize("again", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_have_parameters_of_their_own(again: Any) -> None:
    net = nn.Sequential(nn.Dense(4), nn.relu, nn.BatchNorm(), nn.softmax, nn.Dropout(0.5))
    net(x(), training=True)
    twin = again(net)
    assert list(twin.state) == list(net.state)
    assert not set(twin.parameters) & set(net.parameters)
    feed = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    values = [
        run(m(p), {p: feed, **{q: q.value for q in m.state.values()}}, {"batch": 5})
        for m in (net, twin) for p in [x()]
    ]  # fmt: skip
    np.testing.assert_array_equal(*values)


def test_sequential_is_a_sequence_of_layers() -> None:
    net = mlp(4, 3, 2)
    net(x())
    assert len(net) == 5
    assert net[1] is nn.relu
    assert [*net][-1] is net[-1]
    tail = net[2:]
    assert [p.shape for p in tail.parameters] == [(4, 3), (3,), (3, 2), (2,)]
    with pytest.raises(GraphError, match=r"called on an expression: got 3"):
        nn.Sequential(nn.Dense(2), 3)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match=r"write Flatten\(\.\.\.\)"):
        nn.Sequential(nn.Flatten)


def test_a_model_prints_its_layers() -> None:
    net = nn.Sequential(nn.Dense(4), nn.relu, nn.BatchNorm(affine=False))
    assert repr(net).splitlines() == ["Sequential", "0  Dense(4)", "2  BatchNorm(affine=False)"]
    net(x())
    assert repr(net).splitlines()[1:] == [
        "0  Dense(4)  weight (3, 4)  bias (4,)",
        "2  BatchNorm(affine=False)  running_mean (4,)  running_var (4,)",
    ]  # fmt: skip
