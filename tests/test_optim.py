"""Each rule against a loop in NumPy at float64, written from its published formula."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import Array, run
from nets import mlp

import deepgraph as dg
from deepgraph import backends, nn, optim, passes
from deepgraph.backends import reference
from deepgraph.compile import declare
from deepgraph.errors import DTypeError, GraphError, ShapeError
from deepgraph.expr import Expr
from deepgraph.graph import toposort
from deepgraph.optim import Optimizer

Loop = Callable[[Array, Callable[[Array], Array], int], Array]
STEPS = 7


def start(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 2, (3, 2)), rng.normal(0, 2, (3, 2))


def loss_of(w: Expr, target: Any) -> Expr:
    """A loss whose gradient changes on the way: sum(cosh(w - target))."""
    return dg.sum(dg.cosh(w - target))


def train(opt: Optimizer, w: Array, target: Array, dtype: str = "float64", **options: Any) -> Array:
    """The parameter after some steps of the optimiser."""
    p = dg.Parameter(w, name="w", dtype=dtype)
    x = dg.placeholder("x", target.shape, dtype)
    loss = loss_of(p, x)
    step = dg.compile(loss, updates=opt.updates(loss, [p], **options))
    for _ in range(STEPS):
        step(x=target.astype(dtype))
    return p.value


def sgd(lr: float, mu: float, nesterov: bool, wd: float) -> Loop:
    def loop(x: Array, gradient: Any, steps: int) -> Array:
        v = np.zeros_like(x)
        for _ in range(steps):
            g = gradient(x) + wd * x
            v = mu * v + g
            x = x - lr * (g + mu * v if nesterov else v)
        return x

    return loop


def rmsprop(lr: float, alpha: float, eps: float, mu: float, wd: float) -> Loop:
    def loop(x: Array, gradient: Any, steps: int) -> Array:
        s, v = np.zeros_like(x), np.zeros_like(x)
        for _ in range(steps):
            g = gradient(x) + wd * x
            s = alpha * s + (1 - alpha) * g**2
            v = mu * v + g / (np.sqrt(s) + eps)
            x = x - lr * v
        return x

    return loop


def adagrad(lr: float, eps: float, wd: float) -> Loop:
    def loop(x: Array, gradient: Any, steps: int) -> Array:
        s = np.zeros_like(x)
        for _ in range(steps):
            g = gradient(x) + wd * x
            s = s + g**2
            x = x - lr * g / (np.sqrt(s) + eps)
        return x

    return loop


def adam(lr: float, b1: float, b2: float, eps: float, wd: float, decoupled: bool) -> Loop:
    def loop(x: Array, gradient: Any, steps: int) -> Array:
        m, s = np.zeros_like(x), np.zeros_like(x)
        for t in range(1, steps + 1):
            g = gradient(x)
            if decoupled:
                x = x - lr * wd * x
            else:
                g = g + wd * x
            m = b1 * m + (1 - b1) * g
            s = b2 * s + (1 - b2) * g**2
            x = x - lr * (m / (1 - b1**t)) / (np.sqrt(s / (1 - b2**t)) + eps)
        return x

    return loop


RULES: list[tuple[Optimizer, Loop]] = [
    (optim.SGD(0.1), sgd(0.1, 0, False, 0)),
    (optim.SGD(), sgd(0.01, 0, False, 0)),
    (optim.SGD(0.1, 0.9), sgd(0.1, 0.9, False, 0)),
    (optim.SGD(0.1, 0.8, nesterov=True, weight_decay=0.3), sgd(0.1, 0.8, True, 0.3)),
    (optim.SGD(0.1, 0.9, weight_decay=0.1), sgd(0.1, 0.9, False, 0.1)),
    (optim.RMSProp(), rmsprop(0.01, 0.99, 1e-8, 0, 0)),
    (optim.RMSProp(0.02, 0.9, 1e-3, 0.7, 0.2), rmsprop(0.02, 0.9, 1e-3, 0.7, 0.2)),
    (optim.Adagrad(), adagrad(0.01, 1e-10, 0)),
    (optim.Adagrad(0.3, 1e-2, 0.2), adagrad(0.3, 1e-2, 0.2)),
    (optim.Adam(), adam(0.001, 0.9, 0.999, 1e-8, 0, False)),
    (optim.Adam(0.1, (0.8, 0.95), 1e-2, 0.2), adam(0.1, 0.8, 0.95, 1e-2, 0.2, False)),
    (optim.AdamW(), adam(0.001, 0.9, 0.999, 1e-8, 0.01, True)),
    (optim.AdamW(0.1, (0.8, 0.95), 1e-2, 0.2), adam(0.1, 0.8, 0.95, 1e-2, 0.2, True)),
]


@pytest.mark.parametrize("k", range(len(RULES)))
@pytest.mark.parametrize("seed", [0, 1])
def test_rules(k: int, seed: int) -> None:
    opt, loop = copy.deepcopy(RULES[k])
    w, target = start(seed)
    expected = loop(w, lambda x: np.sinh(x - target), STEPS)
    np.testing.assert_allclose(train(opt, w, target), expected, rtol=1e-12)
    assert opt.iteration.value == STEPS


@pytest.mark.parametrize("k", range(len(RULES)))
def test_rules_in_float32(k: int) -> None:
    opt, loop = copy.deepcopy(RULES[k])
    w, target = start(0)
    expected = loop(w, lambda x: np.sinh(x - target), STEPS)
    found = train(opt, w, target, "float32")
    assert {p.dtype.name for n, p in opt.state.items() if n != "iteration"} == {"float32"}
    np.testing.assert_allclose(found, expected, rtol=2e-5)


def test_half_precision_is_updated_in_float32() -> None:
    w, target = np.zeros((3, 2)), np.full((3, 2), 1e-3)
    opt = optim.Adam(0.01)  # whose eps and squares are 0 in float16
    found = train(opt, w, target, "float16")
    assert (found.dtype, opt.state["square/w"].dtype) == (np.float16, np.float32)
    assert (found > 0.001).all()


def test_momentum_has_no_nodes_to_spare() -> None:
    p, x = dg.Parameter(np.zeros(3, np.float32), name="p"), dg.placeholder("x", (3,))
    opt = optim.SGD(0.1, 0.9)
    new = opt.updates(dg.sum(p * x), [p])
    v = opt.state["momentum/p"]
    assert [q.name for q in new] == ["iteration", "momentum/p", "p"]
    kept, g = new[v].inputs
    decay, old = kept.inputs
    assert (new[v].op.name, kept.op.name) == ("add", "multiply")
    assert old is v
    assert (decay.op.name, decay.dtype) == ("constant", np.float32)
    assert g.op.name == "multiply", "the gradient, as grad gives it"
    before, change = new[p].inputs
    assert (new[p].op.name, change.op.name) == ("subtract", "multiply")
    assert before is p
    assert [*map(id, change.inputs)] == [id(opt.state["lr"]), id(new[v])]


@pytest.mark.parametrize("backend", ["native", "cupy"])
@pytest.mark.parametrize("make", [
    lambda: optim.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    lambda: optim.RMSProp(0.01, momentum=0.9), optim.Adagrad, optim.Adam,
    lambda: optim.AdamW(weight_decay=0.1),
])  # fmt: skip
def test_all_that_becomes_of_a_parameter_is_one_kernel(
    make: Callable[[], Optimizer], backend: str
) -> None:
    x, t = dg.placeholder("x", ("b", 12)), dg.placeholder("t", ("b",), "int64")
    model = mlp(16, 8, 4)
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    opt = make()
    graph, _ = declare(loss, opt.updates(loss, model.parameters), None, 0)
    stages = passes.run(graph, backends.named(backend).target, reference.value)
    schedule = stages["order"].value
    maker, new = schedule.maker, schedule.graph.updates
    for p in model.parameters:
        state = [s for name, s in opt.state.items() if name.endswith(f"/{p.name}")]
        assert state
        assert len({maker[new[s]] for s in (p, *state)}) == 1, p.name


def test_the_learning_rate_is_set_without_compiling_again() -> None:
    p = dg.Parameter(np.float64(1), name="p")
    opt = optim.SGD(lr=0.5)
    assert opt.lr == 0.5
    opt.lr = 0.25
    step = dg.compile([], updates=opt.updates(p * 1.0, [p]))
    step()
    assert p.value == 0.75
    assert opt.lr == 0.25
    opt.lr *= 2
    step()
    assert p.value == 0.25
    opt.lr = 0.1
    step()
    np.testing.assert_allclose(p.value, 0.15, rtol=1e-15)
    assert f"{opt.lr:.3f}" == "0.100"
    with pytest.raises(GraphError, match="lr: updates were declared with"):
        opt.lr = optim.cosine(opt.iteration, 1.0, 10)


def rates(lr: Any, steps: int) -> list[float]:
    """The learning rates of the first steps, seen from outside."""
    p = dg.Parameter(np.float64(0), name="p")
    opt = optim.SGD(lr)
    step = dg.compile([], updates=opt.updates(-p, [p]))
    values = [0.0]
    for _ in range(steps):
        step()
        values.append(p.value.item())
    return list(np.diff(values))


def test_schedules() -> None:
    t = np.arange(12)
    cosine = 0.1 + (1 - 0.1) / 2 * (1 + np.cos(np.pi * np.minimum(t, 8) / 8))
    for schedule, expected in [
        (lambda i: optim.exponential_decay(i, 2.0, 0.5, 3), 2 * 0.5 ** (t / 3)),
        (lambda i: optim.exponential_decay(i, 2.0, 0.5), 2 * 0.5**t),
        (lambda i: optim.step_decay(i, 2.0, 0.1, 4), 2 * 0.1 ** (t // 4)),
        (lambda i: optim.cosine(i, 1.0, 8, stop=0.1), cosine),
        (lambda i: optim.linear_warmup(i, 3.0, 4), 3 * np.minimum((t + 1) / 4, 1)),
        (
            lambda i: optim.linear_warmup(i, optim.cosine(i, 1.0, 8, 0.1), 4),
            cosine * np.minimum((t + 1) / 4, 1),
        ),
    ]:
        np.testing.assert_allclose(rates(schedule, 12), expected, rtol=1e-12)


def test_a_schedule_may_be_an_expression() -> None:
    p = dg.Parameter(np.float32(0), name="p")
    opt = optim.SGD(0.1)
    opt.lr = 1 / (opt.iteration + 1.0).astype("float32")
    step = dg.compile([], updates=opt.updates(-p, [p]))
    for _ in range(3):
        step()
    np.testing.assert_allclose(p.value, 1 + 1 / 2 + 1 / 3, rtol=1e-6)
    assert isinstance(opt.lr, Expr)
    assert "lr" not in opt.state
    with pytest.raises(GraphError, match="which a schedule is part of"):
        opt.lr = 0.1
    for bad in (p.astype("int64"), dg.placeholder("x", (2,))):
        with pytest.raises(ShapeError, match="updates: a learning rate is one float"):
            optim.SGD(bad).updates(p * 1.0, [p])


def test_factors_of_a_parameter() -> None:
    target = np.zeros((3, 2))
    w, _ = start(0)
    p = dg.Parameter(w, name="p", rate=0.5, decay=2.0)
    q = dg.Parameter(w, name="q", decay=0.0)
    frozen = dg.Parameter(w, name="frozen", rate=0.0)
    loss = loss_of(p, target) + loss_of(q, target) + loss_of(frozen, target)
    for opt, loop in [
        (optim.SGD(0.1, 0.9, weight_decay=0.1), lambda lr, wd: sgd(lr, 0.9, False, wd)),
        (optim.AdamW(0.1, weight_decay=0.1),
         lambda lr, wd: adam(lr, 0.9, 0.999, 1e-8, wd, True)),
    ]:  # fmt: skip
        p.value, q.value = w, w
        new = opt.updates(loss, [p, q, frozen])
        assert frozen not in new
        step = dg.compile(loss, updates=new)
        for _ in range(STEPS):
            step()
        np.testing.assert_allclose(p.value, loop(0.05, 0.2)(w, np.sinh, STEPS), rtol=1e-12)
        np.testing.assert_allclose(q.value, loop(0.1, 0.0)(w, np.sinh, STEPS), rtol=1e-12)


def test_tied_weights_are_updated_once_by_the_sum_of_their_gradients() -> None:
    p = dg.Parameter(np.float64(1), name="p")
    new = optim.SGD(0.1).updates(2 * p + p * p, [p, p])
    assert [q.name for q in new] == ["iteration", "p"]
    assert value(new[p]) == 1 - 0.1 * 4
    new = optim.SGD(0.1).updates(2 * p + p * p, [p, p], clip_norm=1.0)
    np.testing.assert_allclose(value(new[p]), 1 - 0.1, rtol=1e-6)


def value(x: Expr) -> Array:
    return run(x, {p: p.value for p in toposort([x]) if isinstance(p, dg.Parameter)})


@pytest.mark.parametrize("limit", [0.1, 1e3])
def test_clipping_by_norm(limit: float) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(3, 2)), rng.normal(size=4).astype(np.float32)]
    gs = [dg.asarray(a) for a in arrays]
    norm = np.sqrt(sum((a.astype(float) ** 2).sum() for a in arrays))
    np.testing.assert_allclose(run(optim.global_norm(gs)), norm, rtol=1e-6)
    for g, a in zip(optim.clip_norm(gs, limit), arrays, strict=True):
        assert g.dtype == a.dtype
        np.testing.assert_allclose(run(g), a * min(1, limit / (norm + 1e-6)), rtol=1e-6)


def test_clipping_half_precision_does_not_overflow() -> None:
    (g,) = optim.clip_norm([dg.asarray(np.float16([300, 400]))], 5.0)
    np.testing.assert_allclose(run(g), [3, 4], rtol=1e-3)


def test_clipping_in_updates() -> None:
    w, target = start(0)

    def clip(x: Array) -> Array:
        g = np.clip(np.sinh(x - target), -0.5, 0.5)
        return g * min(1, 0.9 / (np.linalg.norm(g) + 1e-6))

    expected = sgd(0.1, 0.9, False, 0.1)(w, clip, STEPS)
    opt = optim.SGD(0.1, 0.9, weight_decay=0.1)
    found = train(opt, w, target, clip_norm=0.9, clip_value=0.5)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_several_losses_share_the_state() -> None:
    p, q = dg.Parameter(np.float64(1), name="p"), dg.Parameter(np.float64(1), name="q")
    opt = optim.SGD(0.1, 0.9)
    first = dg.compile([], updates=opt.updates(p * 3.0, [p]))
    second = dg.compile([], updates=opt.updates(p * 1.0 + q * q, [p, q]))
    first()
    second()
    v = 0.9 * 3 + 1
    np.testing.assert_allclose(p.value, 1 - 0.3 - 0.1 * v, rtol=1e-12)
    assert list(opt.state) == ["iteration", "lr", "momentum/p", "momentum/q"]
    assert opt.iteration.value == 2
    both = {**opt.updates(p * 3.0, [p]), **opt.updates(q * 3.0, [q])}
    dg.compile([], updates=both)()
    assert opt.iteration.value == 3


def test_two_models_in_one_optimiser_need_names() -> None:
    x = dg.placeholder("x", ("n", 3))

    def loss(*names: str) -> tuple[Expr, list[dg.Parameter]]:
        nets = [nn.Sequential(nn.Dense(1, bias=False), name=name) for name in names]
        return dg.sum(nets[0](x) * nets[1](x)), [p for net in nets for p in net.parameters]

    with pytest.raises(GraphError, match=r"two parameters are called '0.weight'; give each model"):
        optim.Adam().updates(*loss("", ""))
    opt = optim.Adam()
    opt.updates(*loss("a", "b"))
    assert {"mean/a.0.weight", "square/b.0.weight"} <= set(opt.state)


def test_what_updates_refuse() -> None:
    net, x = mlp(2), dg.placeholder("x", ("n", 3))
    loss = dg.sum(net(x))
    opt = optim.SGD()
    with pytest.raises(DTypeError, match=r"updates are of parameters: write Sequential\.param"):
        opt.updates(loss, net)  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match="updates are of parameters: got placeholder x"):
        opt.updates(loss, [x])  # type: ignore[list-item]
    with pytest.raises(GraphError, match="no parameters to update"):
        opt.updates(loss, [])
    with pytest.raises(ShapeError, match="needs a scalar loss"):
        opt.updates(net(x), net.parameters)
    with pytest.raises(GraphError, match="SGD: nesterov is a form of momentum"):
        optim.SGD(nesterov=True)


@pytest.mark.parametrize("make", [optim.SGD, optim.RMSProp, optim.Adam, optim.AdamW, optim.Adagrad])
def test_training_a_small_net(make: Callable[..., Optimizer]) -> None:
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(64, 2)).astype(np.float32)
    ts = (xs[:, 0] * xs[:, 1] > 0).astype(np.int64)
    x, t = dg.placeholder("x", ("n", 2)), dg.placeholder("t", ("n",), "int64")
    net, opt = mlp(16, 2), make(0.1 if make in (optim.SGD, optim.Adagrad) else 0.02)
    logits = net(x, training=True)
    loss = nn.softmax_cross_entropy(logits, t)
    step = dg.compile(
        {"loss": loss, "accuracy": nn.accuracy(logits, t)}, opt.updates(loss, net.parameters)
    )
    first = step(x=xs, t=ts)
    for _ in range(150):
        last = step(x=xs, t=ts)
    assert last["loss"] < 0.5 * first["loss"]
    assert last["accuracy"] > 0.9


@pytest.mark.parametrize("shape", [(), (0,), (3, 5), (1000,)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "bool"])
def test_a_parameter_is_a_copy_that_begins_with_a_cache_line(
    shape: tuple[int, ...], dtype: str
) -> None:
    for _ in range(5):
        start = np.ones(shape, dtype)
        parameter = dg.Parameter(start, "p")
        start[...] = 0
        held = parameter.storage()
        assert not held.size or held.ctypes.data % 64 == 0
        np.testing.assert_array_equal(held, np.ones(shape, dtype), strict=True)
