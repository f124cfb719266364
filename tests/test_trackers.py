"""Faults that users of such compilers reported to their public trackers, and what is owed instead.

Each docstring names the report. Faults of one topic have their tests with that topic: donated
memory in test_donation.py, lost lines in test_provenance.py, names in DOT in test_show_dot.py,
symbols as truth values in test_surprises.py, peaks in test_differential.py and test_step.py.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import optim, passes
from deepgraph.dims import bind
from deepgraph.graph import Graph

WITHOUT = [(), ("fuse",), ("place",), ("order",), ("share", "fold", "simplify"), passes.NAMES]
LEVELS = pytest.mark.parametrize(
    "without", [tuple(n for n in names if n not in ("lower", "own")) for names in WITHOUT],
    ids=lambda names: "-".join(names) or "all passes",
)  # fmt: skip


@pytest.fixture
def x() -> dg.Expr:
    return dg.placeholder("x", ("n", 4))


def compiled(outputs: Any, updates: Any = None, **options: Any) -> dg.Step:
    return dg.compile(outputs, updates, backend="numpy", **options)


# Memory: what is shared, overwritten, read too late.


@LEVELS
def test_a_parameter_that_is_only_read_is_never_written(without: tuple[str, ...]) -> None:
    """A shared variable was overwritten by the optimised function only (Theano/Theano#3823)."""
    p = dg.Parameter(np.linspace(-1, 1, 6), name="p")
    kept = p.value
    step = compiled([dg.exp(dg.tanh(p)) * 2, dg.sum(dg.exp(p * 3))], without=without)
    for _ in range(2):
        np.testing.assert_allclose(step()[0], np.exp(np.tanh(kept)) * 2)
        np.testing.assert_array_equal(p.value, kept)


@LEVELS
def test_the_old_value_is_read_beside_the_new_one(without: tuple[str, ...]) -> None:
    """The same fault (Theano/Theano#3823) where a step updates what it still has to read."""
    p = dg.Parameter(np.linspace(-1, 1, 9).reshape(3, 3), name="p")
    new = dg.tanh(p) + 1
    step = compiled([new @ p, dg.sum(p, 0)], {p: new}, without=without)
    for _ in range(2):
        old = p.value
        found = step()
        np.testing.assert_allclose(found[0], (np.tanh(old) + 1) @ old)
        np.testing.assert_allclose(found[1], old.sum(0))
        np.testing.assert_allclose(p.value, np.tanh(old) + 1)


@LEVELS
def test_a_copy_of_what_is_updated_has_the_old_value(without: tuple[str, ...]) -> None:
    """dst = copy(src); src += 1 gave dst the new value (pytorch/pytorch#198131)."""
    a, b = (dg.Parameter(np.full(3, v), name=n) for n, v in (("a", 1.0), ("b", 5.0)))
    step = compiled({"seen": b}, {a: b, b: b + 1}, without=without)
    for k in range(3):
        np.testing.assert_array_equal(step()["seen"], 5 + k)
        np.testing.assert_array_equal(a.value, 5 + k)
        np.testing.assert_array_equal(b.value, 6 + k)


@LEVELS
def test_a_view_shows_the_version_it_was_read_at(without: tuple[str, ...]) -> None:
    """What read a cast view was computed after a later write (pytorch/pytorch#198101)."""
    p = dg.Parameter(np.arange(6.0), name="p")
    turned, cast = dg.flip(p), dg.astype(dg.reshape(p, (2, 3)), "float32")
    step = compiled([turned * 1.5, cast, p[1::2]], {p: p * 2 + 1}, without=without)
    for _ in range(3):
        old = p.value
        found = step()
        np.testing.assert_array_equal(found[0], old[::-1] * 1.5)
        np.testing.assert_array_equal(found[1], old.reshape(2, 3).astype("f"))
        np.testing.assert_array_equal(found[2], old[1::2])
        np.testing.assert_array_equal(p.value, old * 2 + 1)


@LEVELS
def test_momentum_stays_momentum(without: tuple[str, ...]) -> None:
    """A planner that reused a slot let momentum become the gradient (pytorch/pytorch#183575)."""
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(4, 5)), rng.normal(size=(5,)), rng.normal(size=(5, 2)).astype("f")]
    w, b, v = (dg.Parameter(a, name=n) for a, n in zip(values, "wbv", strict=True))
    x = dg.placeholder("x", ("n", 4), "float64")
    loss = dg.mean((dg.tanh(x @ w + b) @ dg.astype(v, "float64")) ** 2)
    opt = optim.SGD(lr=0.125, momentum=0.75)
    step = compiled(loss, opt.updates(loss, [w, b, v]), without=without)
    given = rng.normal(size=(7, 4))
    state = [np.zeros_like(a) for a in values]
    for _ in range(3):
        step(x=given)
        w0, b0, v0 = (a.astype(float) for a in values)
        h = np.tanh(given @ w0 + b0)
        dy = 2 * (h @ v0) / (7 * 2)
        dh = (dy @ v0.T) * (1 - h * h)
        for k, g in enumerate((given.T @ dh, dh.sum(0), h.T @ dy)):
            state[k] = (0.75 * state[k] + g).astype(values[k].dtype)
            values[k] = (values[k] - 0.125 * state[k]).astype(values[k].dtype)
    for p, value in zip((w, b, v), values, strict=True):
        np.testing.assert_allclose(p.value, value, rtol=1e-5 if p is v else 1e-7)
    kept = [p for p in opt.state.values() if p.shape in {a.shape for a in state}]
    assert len(kept) == 3
    for p in kept:
        (wanted,) = [a for a in state if a.shape == p.shape]
        np.testing.assert_allclose(p.value, wanted, rtol=1e-5, atol=1e-7)


@LEVELS
def test_every_replay_is_like_the_first(without: tuple[str, ...], x: dg.Expr) -> None:
    """Gradients were wrong at each replay but the first (tinygrad/tinygrad#16571)."""
    w = dg.Parameter(np.linspace(-1, 1, 16).reshape(4, 4).astype("f"), name="w")
    hidden = dg.tanh(x @ w)
    one, two = dg.mean(hidden[:, ::2] ** 2), dg.sum(dg.exp(dg.permute_dims(hidden)))
    step = compiled([one, two, dg.grad(one, w), dg.grad(two, w)], without=without)
    given = np.random.default_rng(1).normal(size=(6, 4)).astype("f")
    first = [a.copy() for a in step(x=given)]
    for _ in range(4):
        step(x=given[:3])
        for a, b in zip(step(x=given), first, strict=True):
            np.testing.assert_array_equal(a, b)


def test_an_output_over_an_input_is_refused_or_right() -> None:
    """evaluate("x - x*0.001", out=x) gave zeros (pydata/numexpr#93, #137)."""
    x, y = (dg.placeholder(name, (3,), "float64") for name in "xy")
    step = compiled(x - y * 0.001)
    given = {"x": np.ones(3), "y": np.ones(3)}
    for array in given.values():
        with pytest.raises(dg.FeedError, match="out= for output shares memory with a feed"):
            step(**given, out=array)
    np.testing.assert_array_equal([*given.values()], 1)
    np.testing.assert_allclose(step(**given), 0.999)


# Feeds and sizes: nothing of one call is left in the next.


def test_lists_are_read_at_each_call() -> None:
    """A list was frozen at the values of the first call (tinygrad/tinygrad#10850)."""
    x = dg.placeholder("x", (2, 2))
    step = compiled(x * 2)
    fed = [[1.0, 2.0], [3.0, 4.0]]
    np.testing.assert_array_equal(step(x=fed), [[2, 4], [6, 8]])
    fed[0][1] = 10.0
    np.testing.assert_array_equal(step(x=fed), [[2, 20], [6, 8]])
    arrays = [np.float32([1, 2]), np.float32([3, 4])]
    arrays[1][:] = 9
    np.testing.assert_array_equal(step(x=arrays), [[2, 4], [18, 18]])
    with pytest.raises(TypeError, match="feed x is not an array of numbers"):
        step(x=[fed, None])


def test_a_fold_over_a_size_that_changes() -> None:
    """A reduction gave the first call's value for other lengths (ml-explore/mlx#3201)."""
    table, i = dg.placeholder("table", (5,)), dg.placeholder("i", ("n",), "int64")
    step = compiled(dg.sum(dg.take(table, i)))
    given = np.float32([1, 10, 100, 1000, 10000])
    for n in (1, 2, 3, 4, 2, 1):
        assert step(table=given, i=np.arange(n)) == given[:n].sum()


def test_one_compilation_for_all_batch_sizes(x: dg.Expr, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch size was compiled anew (jax-ml/jax#803, #2521)."""
    step = compiled(dg.softmax(x))
    monkeypatch.setattr(passes, "run", None)
    monkeypatch.setattr("builtins.compile", None)
    for n in range(1, 65):
        assert step(x=np.ones((n, 4), "f")).shape == (n, 4)


def test_no_elements_and_no_feeds() -> None:
    """Empty arrays and constant expressions were refused (pydata/numexpr#64, #145)."""
    x, s = dg.placeholder("x", ("n", 3)), dg.placeholder("s", ())
    step = compiled({"y": dg.tanh(x) + s, "sum": dg.sum(x, 0), "c": dg.asarray(3.0), "s": s + 1})
    found = step(x=np.empty((0, 3), "f"), s=2)
    assert found["y"].shape == (0, 3)
    np.testing.assert_array_equal(found["sum"], [0, 0, 0])
    assert (found["c"].shape, found["c"], found["s"]) == ((), 3, 3)
    out = np.empty((), "f")
    assert compiled(dg.asarray(3.0))(out=out) is out
    assert out == 3


def test_a_size_of_one_beside_an_unknown_one() -> None:
    """Fusion crashed where a result's static shape is less exact (pymc-devs/pytensor#741)."""
    x, one = dg.placeholder("x", ("n",)), dg.placeholder("one", (1,))
    step = compiled(dg.exp(dg.tanh(one) ** x) + one)
    given = np.float32([1, 2, 3])
    wanted = np.exp(np.tanh(np.float32(0.5)) ** given) + 0.5
    np.testing.assert_allclose(step(x=given, one=[0.5]), wanted, rtol=1e-6)


# Fusion: what runs together, and that it gives what runs apart gives.


def test_outputs_keep_their_own_shapes() -> None:
    """Two results of one fused kernel came back in one shape (cupy/cupy#8381, #8198)."""
    a, b = dg.placeholder("a", (2, 2, 2)), dg.placeholder("b", (2, 2))
    step = compiled([a * 2, b * 3, b, a + b, dg.sum(a) * b])
    found = step(a=np.ones((2, 2, 2), "f"), b=np.ones((2, 2), "f"))
    assert [y.shape for y in found] == [(2, 2, 2), (2, 2), (2, 2), (2, 2, 2), (2, 2)]
    for y, wanted in zip(found, (2, 3, 1, 2, 8), strict=True):
        np.testing.assert_array_equal(y, wanted)


def kernels(*outputs: dg.Expr) -> int:
    return len(compiled(list(outputs)).kernels)


def test_clip_fuses_and_may_have_one_bound(x: dg.Expr) -> None:
    """clip could not be fused, and a_min=None failed (cupy/cupy#7098)."""
    y = dg.exp(dg.clip(x * 2, None, 1)) + dg.clip(x, -1, None)
    assert kernels(y) == 1
    given = np.linspace(-3, 3, 8, dtype="f").reshape(2, 4)
    wanted = np.exp(np.clip(given * 2, None, 1)) + np.clip(given, -1, None)
    np.testing.assert_allclose(compiled(y)(x=given), wanted, rtol=1e-6)


def test_a_fold_and_what_follows_it() -> None:
    """A fused sum and comparison lost to two kernels (cupy/cupy#9008): here no more is moved."""
    x, v = dg.placeholder("x", ("n", 2)), dg.placeholder("v", ("n",))
    fused = compiled(dg.sum(x, 1) > v)
    apart = compiled(dg.sum(x, 1) > v, without=["fuse"])
    assert len(fused.kernels) == 1
    moved = [sum(bind(k.bytes, {"n": 1000}) for k in s.kernels) for s in (fused, apart)]
    assert moved[0] <= moved[1]
    given = np.random.default_rng(0).normal(size=(1000, 3)).astype("f")
    found = fused(x=given[:, :2], v=given[:, 2])
    np.testing.assert_array_equal(found, given[:, 0] + given[:, 1] > given[:, 2])


def test_forms_of_one_formula_fuse_alike(x: dg.Expr) -> None:
    """a + (b-a)*w was one kernel, a*(1-w) + b*w two (tinygrad/tinygrad#5527)."""
    y = dg.placeholder("y", ("n", 4))
    for shape in ((), (1,), (1, 1)):
        w = dg.placeholder("w", shape)
        assert kernels(x + (y - x) * w) == kernels(x * (1 - w) + y * w) == 1


def test_a_shared_value_is_computed_once(x: dg.Expr) -> None:
    """Two fused kernels each computed exp again (pymc-devs/pytensor#121, #249)."""
    y = dg.exp(x / 5)
    step = compiled([y + 1, y * 2])
    assert len(step.kernels) == 1
    assert str(step.source).count(" exp(") == 1


@pytest.mark.parametrize("count", [33, 40, 150])
@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_more_operands_than_a_kernel_may_have(count: int, backend: str) -> None:
    """Fusion made a ufunc of more than 32 operands (Theano/Theano#2870)."""
    given = {f"x{k}": dg.placeholder(f"x{k}", (3,)) for k in range(count)}
    total = dg.tanh(sum(given.values(), start=dg.asarray(0.0)))
    found = dg.compile(total, backend=backend)(**{n: np.full(3, 0.01, "f") for n in given})
    np.testing.assert_allclose(found, np.tanh(0.01 * count), rtol=1e-5)


def test_a_part_that_is_set_beside_a_broadcast() -> None:
    """Writing into zeros and a broadcast became an addition to a part (pymc-devs/pytensor#2349)."""
    x, one = dg.placeholder("x", (7,)), dg.placeholder("one", (1,))
    part = dg.grad(dg.sum(one * x[:1] * 3), x)  # 3 * one at the first element, else 0
    step = compiled([x + part, dg.zeros(1) + part + x, part * one + dg.zeros((7,))])
    given = np.arange(7, dtype="f")
    found = step(x=given, one=[2.0])
    first = np.float32([6, 0, 0, 0, 0, 0, 0])
    for y, wanted in zip(found, (given + first, given + first, first * 2), strict=True):
        np.testing.assert_array_equal(y, wanted)


# Rewrites: never another answer.


def test_roots_and_squares_do_not_change_places() -> None:
    """sqrt(x)**2 and sqrt(x**2) were exchanged (pymc-devs/pytensor#1922, #1954, #1955)."""
    x = dg.placeholder("x", (3,), "float64")
    found = compiled([dg.sqrt(x**2), dg.sqrt(x) ** 2, dg.square(dg.sqrt(x))])(x=[-2.0, 0.0, 3.0])
    np.testing.assert_allclose(found[0], [2, 0, 3])
    for y in found[1:]:
        np.testing.assert_allclose(y, [np.nan, 0, 3])


def test_infinities_have_numpys_sign() -> None:
    """-1.0 / 0.0 lost its sign when optimised (pytorch/pytorch#101009)."""
    x = dg.placeholder("x", (2,), "float64")
    zeros = np.array([0.0, -0.0])
    for outputs in ([-1.0 / x, 1 / -x, -(1.0 / x), x * 1.0, -x, 0.0 + x, x - 0.0],):
        with np.errstate(all="ignore"):
            wanted = [-1 / zeros, 1 / -zeros, -(1 / zeros), zeros, -zeros, 0.0 + zeros, zeros - 0.0]
        for y, exact in zip(compiled(outputs)(x=zeros), wanted, strict=True):
            np.testing.assert_array_equal(y, exact)
            np.testing.assert_array_equal(np.signbit(y), np.signbit(exact))


def test_nan_goes_through_maxima_and_repeated_indices_add_up() -> None:
    """Several regressions of rewrites of indexed writes and maxima (pymc-devs/pytensor#2272)."""
    x, i = dg.placeholder("x", (4,), "float64"), dg.placeholder("i", (5,), "int64")
    step = compiled([dg.max(x), dg.min(x), dg.grad(dg.sum(x[i] * x[i]), x), dg.maximum(x, 0)])
    given, where = np.array([1.0, np.nan, -2.0, 3.0]), np.array([0, 0, 2, 3, 0])
    found = step(x=given, i=where)
    assert np.isnan(found[0])
    assert np.isnan(found[1])
    np.testing.assert_array_equal(found[2], [6, 0, -4, 6])
    np.testing.assert_array_equal(found[3], [1, np.nan, 0, 3])


def test_a_branch_that_is_not_taken_warns_of_nothing() -> None:
    """Values of the branch not taken gave warnings (pydata/numexpr#298); here warnings raise."""
    x = dg.placeholder("x", (3,))
    y = dg.where(x > 0, dg.log(x), 0) + dg.where(x == 0, 0, 1 / x)
    np.testing.assert_allclose(compiled(y)(x=[0, 1, 2]), [0, 1, np.log(2) + 0.5], rtol=1e-6)


def test_a_pass_that_fails_is_an_error_that_names_it(
    x: dg.Expr, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing rewrite printed a line and was skipped (Theano/Theano#4255)."""
    real = passes.pipeline

    def broken(graph: Graph) -> Graph:
        raise ZeroDivisionError("no such rule")

    monkeypatch.setattr(passes, "pipeline", lambda *args: real(*args) | {"simplify": broken})
    with pytest.raises(ZeroDivisionError, match="no such rule") as caught:
        compiled(dg.tanh(x))
    assert caught.value.__notes__ == ["in pass simplify"]


def test_large_constants_neither_fold_nor_stand_in_the_code() -> None:
    """Folding of large constants took minutes and all memory (jax-ml/jax#21300, #14655, #10596)."""
    table = dg.asarray(np.broadcast_to(np.float32(1), (5_000, 1000)))
    x = dg.placeholder("x", ())
    step = compiled(dg.sum(table[:10] * 2 + 1) * x)
    graph: Graph = step.stages["own"].value
    assert {n.op.name for n in graph.nodes} >= {"sum"}
    assert len(str(step.source)) < 2000
    assert step(x=1) == 30_000


# Numbers: dtypes are NumPy's, half precision is summed in single, kinks have one documented slope.


def test_dtypes_and_values_of_mixed_operands_are_numpys() -> None:
    """uint32 and int8 gave -1; int16 ** -2.0 gave 0; float32 / 123456 became float64.

    (jax-ml/jax#4187, #9931; pydata/numexpr#71, #428; cupy/cupy#7630)
    """
    given = {
        "u": np.array([2**32 - 1, 0], "uint32"), "b": np.array([-1, 1], "int8"),
        "i": np.array([0, -7], "int32"), "s": np.array([2, 4], "int16"),
        "f": np.array([1.0, 3.0], "float32"), "h": np.array([0.5, 2.0], "float16"),
    }  # fmt: skip

    def declare(u: Any, b: Any, i: Any, s: Any, f: Any, h: Any) -> list[Any]:
        return [
            u + b, u + i, u * b, u - u[::-1], s**2, s**-2.0, s**4.0, f / 123456, 123456 / f,
            f * True, h * 3, s / 2, s // 2, b - 1, h + f, f + i, b + 1.5, u >> 1,
        ]  # fmt: skip

    xs = {k: dg.placeholder(k, (2,), a.dtype) for k, a in given.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PrecisionWarning)
        step = compiled(declare(**xs))
    for y, wanted in zip(step(**given), declare(**given), strict=True):
        np.testing.assert_array_equal(y, wanted, strict=True)
    with pytest.raises(ValueError, match="integers have no negative powers"):
        xs["s"] ** -2


def test_folding_keeps_the_dtype() -> None:
    """A sum of constants folded to another dtype (tinygrad/tinygrad#4349)."""
    small = np.full(3, 100, "int8")
    declared = [
        dg.sum(dg.asarray(small)), dg.sum(dg.asarray(small), dtype="int8"), dg.asarray(small) * 2,
        dg.mean(dg.asarray(small)), dg.prod(dg.asarray(small > 0)), dg.asarray(small) + True,
    ]  # fmt: skip
    wanted = [
        np.sum(small), np.sum(small, dtype="int8"), small * 2, np.mean(small), np.prod(small > 0),
        small + True,
    ]  # fmt: skip
    step = compiled(declared)
    assert {n.op.name for n in step.stages["fold"].value.nodes} == {"constant"}
    for y, exact in zip(step(), wanted, strict=True):
        np.testing.assert_array_equal(y, exact, strict=True)


def test_half_precision_means_of_much() -> None:
    """They were 0 or infinite (jax-ml/jax#17792, #26365; numpy/numpy#7930)."""
    count = 1 << 20
    x = dg.placeholder("x", ("n",), "float16")
    step = compiled([dg.mean(x), dg.sum(x), dg.mean(x * 0 + 1000), dg.sum(x, dtype="float32")])
    mean, total, large, wide = step(x=np.full(count, 1e-5, "float16"))
    each = float(np.float16(1e-5))
    assert (mean.dtype, total.dtype, large, wide.dtype) == ("f2", "f2", 1000, "f4")
    np.testing.assert_allclose([mean, total, wide], [each, each * count, each * count], rtol=1e-3)


def test_slopes_at_kinks_and_of_branches_not_taken() -> None:
    """Ties gave 1, 1 or 0, 0; branches not taken nan (Theano/Theano#4568, jax-ml/jax#5798)."""
    x = dg.placeholder("x", (2,), "float64")
    forms: list[tuple[Any, list[float], list[float]]] = [
        (dg.max(x), [1, 1], [0.5, 0.5]),
        (dg.maximum(x, 0), [0, 1], [0.5, 1]),
        (dg.relu(x), [0, 1], [0, 1]),
        (dg.clip(x, 0, 1), [0, 1], [0.5, 0.5]),
        (dg.clip(x, None, 1), [1, 2], [0.5, 0]),
        (dg.abs(x), [0, -2], [0, -1]),
        (dg.where(x < 1, x, dg.sqrt(x)), [0, 4], [1, 0.25]),
    ]
    for y, at, wanted in forms:
        np.testing.assert_array_equal(compiled(dg.grad(dg.sum(y), x))(x=at), wanted)


# A machine as it is.

FORK = """
import os
import numpy as np
import deepgraph as dg

x = dg.placeholder("x", ("n", 1024))
p = dg.Parameter(np.float32(0), name="p")
step = dg.compile({"y": dg.tanh(x) * dg.exp(x), "p": p}, {p: p + 1}, backend="numpy")
given = np.ones((1500, 1024), np.float32)
wanted = step(x=given)["y"] if USED_BEFORE else np.tanh(given) * np.exp(given)
child = os.fork()
found = step(x=given)
assert np.allclose(found["y"], wanted) and found["p"] == USED_BEFORE
if not child:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.parametrize("used", [0, 1], ids=["before use", "after use"])
def test_a_fork_may_use_what_was_imported(
    used: int, python: Callable[..., CompletedProcess[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device or a pool that was touched before a fork broke the child (pytorch/pytorch#2517)."""
    monkeypatch.setenv("DEEPGRAPH_THREADS", "2")
    done = python("-c", FORK.replace("USED_BEFORE", str(used)))
    assert (done.returncode, done.stderr) == (0, "")


def test_pictures_need_no_other_program(x: dg.Expr, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the `dot` executable the cell failed (szagoruyko/pytorchviz#89)."""
    monkeypatch.setenv("PATH", "")
    bundle = compiled(dg.tanh(x))._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")


def test_a_chain_compiles_in_time_that_grows_as_it_does(x: dg.Expr) -> None:
    """Passes quadratic in the number of nodes took hours (Theano/Theano#4494, #6501, #1681)."""

    def seconds(count: int) -> float:
        y = x
        for k in itertools.islice(itertools.cycle((0.5, 0.25)), count):
            y = dg.tanh(y) * k
        return sum(stage.seconds for stage in compiled(y).stages.values())

    assert seconds(2000) < 25 * max(seconds(250), seconds(250))
