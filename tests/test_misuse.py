"""What a wrong argument gets: an error of this package that says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import nn, optim
from deepgraph.errors import ArgumentError
from deepgraph.expr import FUNCTIONS, OPS, Op

X = dg.placeholder("x", ("n", 4))
IMAGES = dg.placeholder("images", ("n", 2, 8, 8))
T = dg.placeholder("t", ("n",), "int64")
W = dg.Parameter(np.ones(4, np.float32), name="w")
WHOLE = dg.Parameter(np.ones(4, np.int64), name="whole")
LOSS = dg.sum(X @ W)

LAYERS: list[Callable[[Any], Any]] = [
    nn.Dense, lambda v: nn.Conv2D(v, 3), lambda v: nn.Conv2D(4, v),
    lambda v: nn.Conv2D(4, 3, stride=v), lambda v: nn.Conv2D(4, 3, groups=v),
    lambda v: nn.Conv2D(4, 3, dilation=v), nn.MaxPool2D, nn.AvgPool2D,
    lambda v: nn.MaxPool2D(2, stride=v), lambda v: nn.Embedding(v, 3), lambda v: nn.Embedding(3, v),
    nn.LayerNorm,
]  # fmt: skip
RATES: list[Callable[[Any], Any]] = [
    nn.Dropout, nn.SpatialDropout, optim.SGD,
    lambda v: nn.BatchNorm(eps=v), lambda v: nn.LayerNorm(eps=v),
    lambda v: optim.SGD(0.1, momentum=v), lambda v: optim.SGD(0.1, weight_decay=v),
    lambda v: optim.RMSProp(alpha=v), lambda v: optim.RMSProp(eps=v), optim.Adagrad,
    lambda v: optim.Adagrad(eps=v), lambda v: optim.Adam(betas=(v, 0.9)),
    lambda v: optim.Adam(betas=(0.9, v)), lambda v: optim.AdamW(weight_decay=v),
]  # fmt: skip
STARTS: list[Callable[[Any], Any]] = [
    lambda v: nn.Dense(3, init=v), lambda v: nn.Dense(3, bias=v), lambda v: nn.PReLU(v),
    lambda v: nn.Conv2D(3, 3, init=v), lambda v: nn.Embedding(3, 3, init=v),
]  # fmt: skip


def ours(make: Callable[[], Any]) -> str:
    """The text of the error, which names a class or an operation and shows this file."""
    with pytest.raises(dg.GraphError) as caught:
        make()
    assert isinstance(caught.value, TypeError | ValueError)
    text = str(caught.value)
    assert re.match(r"\w+: [^A-Z]", text), text
    assert "at tests/test_misuse.py:" in text or "at test_misuse.py:" in text
    assert "^^^" in text
    return text


@pytest.mark.parametrize("bad", [0, -1, 2.5, "a", None, float("nan"), X], ids=str)
@pytest.mark.parametrize("make", LAYERS, ids=lambda f: getattr(f, "__name__", ""))
def test_sizes_of_layers(make: Callable[[Any], Any], bad: Any) -> None:
    if bad is None and make is LAYERS[8]:
        return  # a stride may be left out
    ours(lambda: make(bad))


@pytest.mark.parametrize("bad", [-1, "a", None, float("nan"), float("inf"), X, [0.1, 0.2]], ids=str)
@pytest.mark.parametrize("make", RATES, ids=lambda f: getattr(f, "__name__", ""))
def test_rates_of_layers_and_optimisers(make: Callable[[Any], Any], bad: Any) -> None:
    if bad is X and make in (optim.SGD, optim.Adagrad):
        return  # the expression of a schedule
    ours(lambda: make(bad))


@pytest.mark.parametrize("bad", ["glorot", None, ["a"], [[1.0], [1.0, 2.0]], {}], ids=str)
@pytest.mark.parametrize("make", STARTS)
def test_how_weights_start(make: Callable[[Any], Any], bad: Any) -> None:
    assert "nn.init" in ours(lambda: make(bad))


def test_what_an_initialiser_gives() -> None:
    layer = nn.Dense(3, init=lambda shape, rng: None)  # type: ignore[arg-type,return-value]
    with pytest.raises(ArgumentError, match="Dense: what init gives for weight is"):
        layer(dg.placeholder("x", (2, 4)))


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: dg.sum(X, dim=1), "write axis="),
        (lambda: X.sum(dim=1), "write axis="),
        (lambda: X.mean(keepdim=True), "write keepdims="),
        (lambda: dg.mean(X, dim=1), "write axis="),
        (lambda: dg.softmax(X, dim=1), "write axis="),
        (lambda: dg.softmax(X, axs=1), "write axis="),
        (lambda: dg.max(X, qqq=1), "it takes x, axis, keepdims"),
        (lambda: dg.max(), "missing a required argument: 'x'"),
        (lambda: dg.max(X, 0, axis=1), "multiple values for argument 'axis'"),
        (lambda: dg.tanh(X, X, X), "too many positional arguments: it takes x"),
        (lambda: dg.leaky_relu(X, negative_slope=0.1), "write slope="),
        (lambda: nn.Dropout(p=0.5), "write rate="),
        (lambda: nn.Dense(3, use_bias=False), "write bias="),
        (lambda: nn.Dense(units=3), "write n_out="),
        (lambda: nn.Dense(3, 4), "too many positional"),
        (lambda: nn.Conv2D(3, kernel_size=3), "write kernel="),
        (lambda: nn.BatchNorm(epsilon=1), "write eps="),
        (lambda: nn.softmax_cross_entropy(X, labels=T), "write targets="),
        (lambda: optim.SGD(learning_rate=0.1), "write lr="),
        (lambda: optim.Adam(beta1=0.9), "write betas="),
        (lambda: optim.SGD().updates(LOSS, params=[W]), "write parameters="),
    ],
)
def test_arguments_by_the_names_of_other_libraries(call: Callable[[], Any], hint: str) -> None:
    assert hint in ours(call)


def test_every_function_names_itself_when_it_is_called_wrongly() -> None:
    for name, function in FUNCTIONS.items():
        with pytest.raises(ArgumentError) as caught:
            function(no_such_argument=1)
        own = function.name if isinstance(function, Op) else name
        assert str(caught.value).startswith(f"{own}: "), name


def test_errors_inside_a_function_are_its_own() -> None:
    """A TypeError that is not about the arguments stays what it is."""
    bad = nn.Dense(2, init=lambda shape: np.ones(shape))  # type: ignore[arg-type,misc]
    with pytest.raises(TypeError, match="positional argument") as caught:
        bad(dg.placeholder("x", (2, 4)))
    assert not isinstance(caught.value, dg.GraphError)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dg.placeholder("y", (None, 3)), 'write a name, such as "batch"'),
        (lambda: dg.placeholder("y", (-1, 3)), 'write a name, such as "batch"'),
        (lambda: optim.SGD().updates(LOSS, W), "got parameter w: float32[4]; write [w]"),
        (lambda: optim.SGD().updates(LOSS, [WHOLE]), "only floats are learned: got parameter w"),
        (lambda: optim.SGD().updates(LOSS, [W], clip_norm=0), "clip_norm is a number in (0, inf]"),
        (lambda: nn.Sequential([nn.Dense(3)]), "write Sequential(*layers)"),
        (lambda: nn.Sequential(nn.Dense), "write Dense(...)"),
        (lambda: nn.Sequential(seed="a"), "seed is a whole number"),
        (lambda: nn.Flatten("a"), "start_axis is a whole number"),
    ],
)  # fmt: skip
def test_what_to_write_instead(call: Callable[[], Any], words: str) -> None:
    assert words in ours(call)


@pytest.mark.parametrize(
    "ask", [lambda: range(X.shape[0]), lambda: np.zeros(X.shape), lambda: int(X.shape[0])]
)
def test_a_named_size_is_no_number(ask: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"the size n is known once .*: use dg\.arange"):
        ask()


@pytest.mark.parametrize(
    "ask", [lambda: list(X), lambda: dg.concat(X, X), lambda: dg.stack(X, X), lambda: sum(X)]
)
def test_an_expression_of_unknown_length_is_no_list(ask: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"no length known now .* write a list, \[x, y\]"):
        ask()


@pytest.mark.parametrize("given", [None, "a", {1}, {}, len, [[1.0], [1.0, 2.0]]], ids=str)
def test_feeds_that_are_no_numbers(given: Any) -> None:
    with pytest.raises(dg.DTypeError, match="feed x is") as caught:
        dg.compile(X * 2, backend="numpy")(x=given)
    assert "object" not in str(caught.value)


def test_a_learning_rate_that_is_set() -> None:
    opt = optim.SGD(lr=0.1)
    opt.updates(LOSS, [W])
    for bad in ("a", None, -1):
        ours(lambda bad=bad: setattr(opt, "lr", bad))  # type: ignore[misc]
    opt.lr = np.float32(0.5)
    assert opt.lr == 0.5


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_a_step_is_not_called_while_it_runs(backend: str) -> None:
    steps: list[dg.Step] = []
    x = dg.placeholder("x", (2,))
    measured = dg.print(x * 2, measures={"again": lambda a: steps[0](x=a)})
    steps.append(dg.compile(measured + 1, backend=backend))
    with pytest.raises(dg.FeedError, match="a step is called while it runs"):
        steps[0](x=[1.0, 2.0])
    plain = dg.compile(x * 2, backend=backend)
    assert plain(x=[1.0, 2.0]).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("backend", ["numpy", "reference"])
@pytest.mark.parametrize("bad", [4, -1, 100])
def test_targets_that_are_no_class(bad: int, backend: str) -> None:
    for f in (nn.accuracy, nn.softmax_cross_entropy):
        step = dg.compile(f(X, T), backend=backend)
        logits = np.eye(2, 4, dtype="float32")
        assert np.isfinite(step(x=logits, t=[0, 3]))
        with pytest.raises(IndexError, match=f"target {bad} is out of range: needs 0 to 3") as info:
            step(x=logits, t=[0, bad])
        assert "f(X, T)" in "".join(info.value.__notes__)


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_batch_norm_of_an_empty_batch_spoils_nothing(backend: str) -> None:
    model = nn.BatchNorm()
    loss = dg.sum(model(IMAGES, training=True))
    step = dg.compile(loss, {}, backend=backend)
    step(images=np.ones((2, 2, 8, 8), "float32"))
    kept = {name: p.value for name, p in model.state.items()}
    with pytest.raises(dg.ShapeError, match=r"^BatchNorm: no elements along axis 0 .* for n=0"):
        step(images=np.ones((0, 2, 8, 8), "float32"))
    for name, p in model.state.items():
        np.testing.assert_array_equal(p.value, kept[name])
    evaluate = dg.compile(model(IMAGES), backend=backend)
    assert evaluate(images=np.ones((0, 2, 8, 8), "float32")).shape == (0, 2, 8, 8)
    with pytest.raises(dg.ShapeError, match="no elements along axis 0"):
        nn.BatchNorm()(dg.placeholder("empty", (0, 2)), training=True)


def test_layers_of_their_own_start_differently_and_reproducibly() -> None:
    x = dg.placeholder("x", ("n", 4))
    one, two = nn.Dense(3), nn.Dense(3)
    one(x), two(x)
    assert not np.array_equal(one.weight.value, two.weight.value)
    again = nn.Dense(3)
    again.seed = one.seed
    again(x)
    np.testing.assert_array_equal(one.weight.value, again.weight.value)
    models = [nn.Sequential(nn.Dense(3), nn.Dense(2)) for _ in range(2)]
    for model in models:
        model(x)
    first, second = (m.state for m in models)  # a seed of their own: 0
    for name in first:
        np.testing.assert_array_equal(first[name].value, second[name].value)


class Net(nn.Module):
    """A module of a user's."""

    def __init__(self, width: int, dropout: float = 0.5) -> None:
        self.width = width
        self.hidden = nn.Dense(width)

    def forward(self, x: dg.Expr) -> Any:
        """One layer."""
        return self.hidden(x)


def test_modules_of_users() -> None:
    first, second = Net(3), Net(3)
    first(X), second(X)
    assert not np.array_equal(first.hidden.weight.value, second.hidden.weight.value)
    assert "Net: missing a required argument: 'width'" in ours(lambda: Net())  # type: ignore[call-arg]
    assert repr(first).splitlines()[0] == "Net(3)"


def test_what_optimisers_and_layers_print() -> None:
    opt = optim.SGD(lr=0.1, momentum=0.9)
    assert repr(opt) == "SGD(lr=0.1, momentum=0.9)"
    opt.updates(LOSS, [W])
    opt.lr = 0.25
    assert repr(opt) == "SGD(lr=0.25, momentum=0.9)"
    assert repr(optim.Adam()) == "Adam"
    assert repr(optim.Adam(betas=(0.5, 0.9))) == "Adam(betas=(0.5, 0.9))"
    model = nn.Sequential(
        nn.Conv2D(6, 5, padding="same", bias=False), nn.relu, nn.MaxPool2D(2), nn.Flatten(),
        nn.Dropout(0.2), nn.Dense(10, init=nn.init.he_normal), seed=3,
    )  # fmt: skip
    assert repr(model).splitlines() == [
        "Sequential(seed=3)", "0  Conv2D(6, (5, 5), padding='same')", "2  MaxPool2D((2, 2))",
        "3  Flatten", "4  Dropout(rate=0.2)", "5  Dense(10)",
    ]  # fmt: skip


def test_stages_print_as_a_table() -> None:
    stages = dg.compile(dg.softmax(X), backend="numpy").stages
    lines = repr(stages).splitlines()
    assert lines[0].split() == ["pass", "level", "holds", "ms"]
    assert len(lines) == 1 + len(stages)
    assert [line.split()[0] for line in lines[1:]] == list(stages)
    (fuse,) = (line for line in lines if line.startswith("fuse "))
    assert re.fullmatch(r"fuse +schedule  1 kernels? +\d+\.\d\d", fuse)


def test_the_op_of_a_name_that_nothing_registered() -> None:
    assert "no_such_op" not in OPS
    with pytest.raises(dg.GraphError, match=r"no operation is called 'no_such_op': .*@dg.op"):
        dg.expr.op_named("no_such_op")


@pytest.mark.parametrize("value", ["a", None, float("nan"), float("inf")])
def test_a_batch_norms_momentum_is_any_finite_number(value: Any) -> None:
    assert "momentum is a number in (-inf, inf)" in ours(lambda: nn.BatchNorm(momentum=value))
    assert nn.BatchNorm(momentum=-1).momentum == -1


@pytest.mark.parametrize("of", [lambda x: dg.grad(dg.sum(x), 3), lambda x: dg.grad(3, x),
                                lambda x: dg.grad(dg.sum(x), None)])  # fmt: skip
def test_grad_is_of_an_expression_by_expressions(of: Callable[[dg.Expr], Any]) -> None:
    x = dg.placeholder("x", ("n",))
    assert "grad: differentiates an expression by expressions: got" in ours(lambda: of(x))


@pytest.mark.parametrize("value", ["abc", [[1.0], [1.0, 2.0]], {"a": 1}, None])
def test_a_parameter_starts_from_numbers(value: Any) -> None:
    assert "parameter: " in ours(lambda: dg.Parameter(value))
