"""Donated feeds: a step may overwrite their memory, that of nothing else, and only if it is theirs.

Each test of a kind known from elsewhere names the report.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import random_graph
from test_differential import expected

import deepgraph as dg
from deepgraph.backends.numpy import NumpyBackend
from deepgraph.errors import GraphError
from deepgraph.plan import Home
from deepgraph.target import Target


@pytest.fixture
def x() -> dg.Expr:
    return dg.placeholder("x", ("n", 4))


def lent(step: dg.Step) -> set[str]:
    """The feeds into whose memory the plan says the step writes."""
    names = {h.key.name for v, h in step.plan.homes.items() if h.kind == "feed" and v is not h.key}
    for kernel, registers in step.plan.registers.items():
        names |= {kernel.loads[int(r[1:])].value.name for r in registers if r[0] == "a"}
    return names - {""}


def test_the_memory_of_a_donated_feed_is_taken(x: dg.Expr) -> None:
    """What a step computes from it needs no memory of its own, and may be changed by it."""
    hidden = dg.tanh(x) * 2
    outputs = [dg.sum(hidden, 0), dg.max(hidden, 1)]
    plain = dg.compile(outputs, backend="numpy", without=["fuse"])
    step = dg.compile(outputs, backend="numpy", without=["fuse"], donate="x")
    given = np.linspace(-1, 1, 12, dtype="f").reshape(3, 4)
    kept = given.copy()
    np.testing.assert_array_equal(step(x=given)[1], plain(x=kept)[1])
    np.testing.assert_allclose(given, np.tanh(kept) * 2, rtol=1e-6)
    assert step.plan.bind({"n": 3}).peak_bytes == 0
    assert plain.plan.bind({"n": 3}).peak_bytes == 48
    assert lent(step) == {"x"}
    assert "in place of placeholder x" in step.explain(hidden.inputs[0])
    assert "feed x: tanh" in step.plan.render()


def test_its_memory_is_scratch_in_a_fused_kernel(x: dg.Expr) -> None:
    step = dg.compile(dg.sum(dg.exp(dg.tanh(x)), 1), backend="numpy", donate=["x"])
    given = np.linspace(-1, 1, 12, dtype="f").reshape(3, 4)
    wanted = np.exp(np.tanh(given)).sum(1)
    np.testing.assert_allclose(step(x=given), wanted, rtol=1e-6)
    assert lent(step) == {"x"}
    assert step.plan.bind({"n": 3}).peak_bytes == 0


def test_a_feed_that_is_read_again_stays_until_then(x: dg.Expr) -> None:
    """Two readers that may both overwrite; the gradient reads one too (Theano/Theano#5223)."""
    y = dg.placeholder("y", ("n", 4))
    loss = dg.sum(dg.tanh(x) * dg.exp(y) + x * y)
    outputs = [loss, *dg.grad(loss, [x, y])]
    given = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("f")
    for without in ((), ("fuse",), ("order",), ("layout", "fuse")):
        wanted = dg.compile(outputs, backend="reference")(x=given[0], y=given[1])
        step = dg.compile(outputs, backend="numpy", donate=["x", "y"], without=without)
        found = step(x=given[0].copy(), y=given[1].copy())
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_all_loads_before_any_store(x: dg.Expr) -> None:
    """A kernel of two results, x donated: both are of the old x (pymc-devs/pytensor#1322)."""
    a = dg.tanh(x) + 1
    b = x * dg.exp(a)  # reads x once more
    step = dg.compile(a @ dg.permute_dims(b), backend="numpy", donate=["x"])
    assert [k.kind for k in step.kernels] == ["map", "call"]
    given = np.linspace(-1, 1, 12, dtype="f").reshape(3, 4)
    wide = np.tanh(given) + 1
    wanted = wide @ (given * np.exp(wide)).T
    np.testing.assert_allclose(step(x=given), wanted, rtol=1e-5)
    assert lent(step) == {"x"}


def test_what_is_not_donated_is_never_written() -> None:
    """The plan names what is overwritten, and that is what is (jax-ml/jax#16906)."""
    x, y = (dg.placeholder(name, ("n",)) for name in "xy")
    outputs = {"a": dg.sum(dg.exp(dg.tanh(x))), "b": dg.sum(dg.exp(dg.tanh(y)))}
    given = {"x": np.ones(5, "f"), "y": np.ones(5, "f")}
    step = dg.compile(outputs, backend="numpy", donate=["y"], inputs=[x, y])
    step(given["x"], given["y"])
    changed = {name for name, array in given.items() if (array != 1).any()}
    assert changed == lent(step) == {"y"}


def test_a_donated_row_of_another_feed() -> None:
    """x is a row of y: an error, and y is as it was (pymc-devs/pytensor#1026)."""
    x, y = dg.placeholder("x", (3,)), dg.placeholder("y", (2, 3))
    step = dg.compile([x * 2, y * 2], backend="numpy", donate=["x"])
    rows = np.arange(6, dtype="f").reshape(2, 3)
    with pytest.raises(ValueError, match="feed x is donated but shares memory with feed y: feed"):
        step(x=rows[0], y=rows)
    np.testing.assert_array_equal(rows, np.arange(6).reshape(2, 3))
    apart = np.arange(8, dtype="f")
    np.testing.assert_array_equal(step(x=apart[:3], y=apart[:6].reshape(2, 3)[:, ::-1])[0],
                                  apart[:3] * 2)  # fmt: skip


def test_an_array_that_is_fed_twice() -> None:
    """f(a, a) with one donated names both, in either order (jax-ml/jax#9635)."""
    x, y = dg.placeholder("x", (3,)), dg.placeholder("y", (3,))
    given = np.ones(3, "f")
    for donate in (["x"], ["x", "y"], ["y"]):
        step = dg.compile(dg.sum(dg.tanh(x) + y), backend="numpy", donate=donate)
        first, second = ("y", "x") if donate == ["y"] else ("x", "y")
        with pytest.raises(dg.DonationError, match=f"feed {first} .* with feed {second}") as caught:
            step(x=given, y=given)
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, dg.FeedError)
    np.testing.assert_array_equal(given, 1)


def test_a_broadcast_view() -> None:
    """Elements that are one in memory cannot be written apart (cupy/cupy#2405)."""
    x = dg.placeholder("x", (2, 3))
    step = dg.compile(dg.sum(dg.tanh(x), 0), backend="numpy", donate=["x"])
    row = np.ones(3, "f")
    spread = np.lib.stride_tricks.as_strided(row, (2, 3), (0, 4), writeable=True)
    for given in (spread, np.broadcast_to(row, (2, 3))):
        with pytest.raises(dg.DonationError, match="feed x is donated but broadcast: feed a copy"):
            step(x=given)
    frozen = np.ones((2, 3), "f")
    frozen.flags.writeable = False
    with pytest.raises(dg.DonationError, match="feed x is donated but read-only: feed a copy"):
        step(x=frozen)
    np.testing.assert_array_equal(row, 1)
    np.testing.assert_array_equal(frozen, 1)


def test_what_is_converted_is_a_copy_and_stays() -> None:
    x = dg.placeholder("x", (4,), "float64")
    step = dg.compile(dg.sum(dg.exp(dg.tanh(x))), backend="numpy", donate=["x"])
    for given in (np.ones(4, "f"), np.ones(8)[::2], np.ones(4, "int32")):
        step(x=given)
        np.testing.assert_array_equal(given, 1)
    assert step(x=[1, 1, 1, 1]) == pytest.approx(4 * np.exp(np.tanh(1)))


def test_a_name_that_no_placeholder_has(x: dg.Expr) -> None:
    with pytest.raises(GraphError, match="donate: no placeholder is called 'z'"):
        dg.compile(x * 2, backend="numpy", donate=["z"])
    with pytest.raises(GraphError, match="donate: no placeholder is called 'z'"):
        dg.emit(x * 2, donate="z")
    assert "feed x" in dg.compile(dg.sum(dg.tanh(x)), donate=["x"]).plan.render()


def test_results_alias_no_donated_feed(x: dg.Expr) -> None:
    step = dg.compile({"x": x, "y": dg.tanh(x), "v": x[::-1]}, backend="numpy", donate=["x"])
    given = np.arange(8, dtype="f").reshape(2, 4)
    kept = given.copy()
    found = step(x=given)
    for name, wanted in {"x": kept, "y": np.tanh(kept), "v": kept[::-1]}.items():
        assert not np.shares_memory(found[name], given)
        np.testing.assert_allclose(found[name], wanted, rtol=1e-6)


def test_a_new_value_from_a_donated_feed(x: dg.Expr) -> None:
    p = dg.Parameter(np.zeros((2, 4), "f"), name="p")
    x = dg.placeholder("x", (2, 4))
    step = dg.compile(dg.sum(x), {p: x}, backend="numpy", donate=["x"])
    given = np.ones((2, 4), "f")
    step(x=given)
    given[:] = 7
    np.testing.assert_array_equal(p.value, 1)


def test_profiles_leave_donated_feeds_alone(x: dg.Expr) -> None:
    i = dg.placeholder("i", ("n",), "int64")
    step = dg.compile(dg.sum(dg.exp(dg.tanh(x))[i * 1 + 0]), backend="numpy", donate=["x", "i"])
    given = {"x": np.ones((3, 4), "f"), "i": np.arange(3)}
    step.profile(**given, repeat=3)
    np.testing.assert_array_equal(given["x"], 1)
    np.testing.assert_array_equal(given["i"], np.arange(3))


def test_the_checker_sees_a_feed_that_is_read_too_late(x: dg.Expr) -> None:
    from dataclasses import replace

    first = dg.exp(x)
    step = dg.compile([dg.sum(dg.tanh(first)), dg.sum(first * x)], backend="numpy",
                      without=["fuse"], donate=["x"])  # fmt: skip
    (value,) = [v for v in step.plan.homes if v.op.name == "exp"]
    for donated in (True, False):
        homes = {**step.plan.homes, value: Home("feed", x)}
        if not donated:
            homes.pop(x)
        words = "after it was overwritten" if donated else "into feed x"
        with pytest.raises(GraphError, match=words):
            replace(step.plan, homes=homes).verify()


@pytest.mark.parametrize("debug", ["trace", "nan"])
def test_debugged_steps_may_take_it_too(x: dg.Expr, debug: str) -> None:
    step = dg.compile(dg.sum(dg.exp(dg.tanh(x))), backend="numpy", donate=["x"], debug=debug)
    for _ in range(2):
        found = step(x=np.ones((2, 4), "f"))
        assert found == pytest.approx(8 * np.exp(np.tanh(1)))


@pytest.mark.parametrize("blocks", [False, True], ids=["whole", "blocks"])
@pytest.mark.parametrize("without", [(), ("fuse",), ("layout", "order")], ids="-".join)
@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_over_donated_feeds(
    seed: int, without: tuple[str, ...], blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Value by value what the definition gives; feeds that are not donated stay."""
    if blocks:
        tiny = Target("numpy", block=6, block_from=4, threads_from=8)
        monkeypatch.setattr(NumpyBackend, "target", tiny)
    outputs, updates, feeds = random_graph(seed)
    names = {p.name for p in dg.compile(outputs, updates, backend="numpy").graph.placeholders}
    donate = {name for name in names if (seed + ord(name)) % 3}
    step = dg.compile(outputs, updates, backend="numpy", without=without, donate=donate)
    for _ in range(2):
        given: dict[str, Any] = {k: v for k, v in feeds(5).items() if k in names}
        want, new = expected(outputs, updates, feeds(5), 5)
        found = step(**{k: v.copy() for k, v in given.items() if k in donate},
                     **{k: v for k, v in given.items() if k not in donate})  # fmt: skip
        for name, value in want.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-11, err_msg=name)
        for p, value in new.items():
            np.testing.assert_allclose(p.value, value, rtol=1e-9, atol=1e-11, err_msg=p.name)
            p.assign(value)
        for name in names - donate:
            np.testing.assert_array_equal(given[name], feeds(5)[name])
