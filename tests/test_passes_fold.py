"""What depends on constants alone is computed once, by NumPy's own rules, and never grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import run
from rewriting import TARGET, assert_same_bits, folded, simplified, telling, text

import deepgraph as dg
from deepgraph.expr import OPS, Expr, Kind
from deepgraph.graph import Graph, toposort
from deepgraph.passes.fold import fold

X = dg.placeholder("x", ("n", 3))
TABLE = dg.asarray(np.array([[1.0, -0.0, np.nan], [np.inf, 2.5, -3.0]], "float32"))
COUNT = dg.asarray(np.array([100, 100, -7], "int8"))


FOLDS: list[tuple[Callable[[], Expr], Callable[[], Any]]] = [
    (lambda: dg.asarray(2.0) * 3.0, lambda: np.float32(6)),
    (lambda: dg.asarray(True) | False, lambda: np.True_),
    (lambda: dg.sqrt(TABLE) + TABLE, lambda: np.sqrt(TABLE_) + TABLE_),
    (lambda: dg.sum(COUNT), lambda: np.sum(COUNT_)),  # int64, as NumPy's
    (lambda: COUNT + COUNT, lambda: COUNT_ + COUNT_),  # wraps
    (lambda: dg.sum(COUNT, dtype="int8"), lambda: np.sum(COUNT_, dtype="int8")),
    (lambda: dg.max(TABLE, axis=1), lambda: np.max(TABLE_, axis=1)),
    (lambda: dg.asarray(1.0) / dg.zeros((2,)), lambda: np.array([np.inf] * 2, "float32")),
    (lambda: TABLE[1, 2], lambda: np.float32(-3)),
    (lambda: dg.take(TABLE, np.array([2, 0]), 1), lambda: TABLE_[:, [2, 0]]),
    (lambda: dg.stack([dg.asarray(1.0), dg.asarray(2.0)]), lambda: np.array([1, 2], "float32")),
    (lambda: TABLE @ TABLE.T, lambda: TABLE_ @ TABLE_.T),
    (lambda: dg.eye(3, k=1), lambda: np.eye(3, k=1, dtype="float32")),
    (lambda: dg.arange(3, 9, 2) * 2, lambda: np.arange(3, 9, 2) * 2),
    (lambda: dg.where(dg.arange(3) > 1, COUNT, 0), lambda: np.array([0, 0, -7], "int8")),
    (lambda: dg.sigmoid(dg.asarray(0.0)), lambda: np.float32(0.5)),
    (lambda: dg.erf(dg.asarray(0.0)), lambda: np.float32(0.0)),
    (lambda: dg.argmax(COUNT), lambda: np.int64(0)),
    (lambda: dg.full((3,), 2.0) * dg.arange(3, dtype="float32"), lambda: np.array([0, 2, 4], "f4")),
    (lambda: dg.mean(dg.astype(dg.full((3, 4), 60000.0), "float16")), lambda: np.float16(60000)),
]  # fmt: skip
TABLE_, COUNT_ = (c.attr("value").value for c in (TABLE, COUNT))


@pytest.mark.parametrize(("declare", "expected"), FOLDS, ids=[str(k) for k in range(len(FOLDS))])
def test_constants_become_one(declare: Callable[[], Expr], expected: Callable[[], Any]) -> None:
    y = declare()
    constant = folded(y)
    assert constant.op is OPS["constant"]
    with np.errstate(all="ignore"):
        assert_same_bits(constant.attr("value").value, np.asarray(expected()))
    assert (constant.dtype, constant.shape) == (y.dtype, y.shape)


@pytest.mark.parametrize("name", ["negative", "abs", "exp", "sign", "floor", "isfinite", "square"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32"])
def test_every_bit_is_that_of_the_step(name: str, dtype: str) -> None:
    if dtype[0] != "f" and name == "exp":
        dtype = "int16"
    values = telling(dtype)
    constant = folded(OPS[name](dg.asarray(values)))
    x = dg.placeholder("x", values.shape, dtype)
    assert_same_bits(constant.attr("value").value, run(OPS[name](x), {x: values}))


BIG = dg.asarray(np.arange(2000.0, dtype="float32"))

KEPT: list[Callable[[], Expr]] = [
    lambda: X + 1.0,
    lambda: dg.full(("n", 3), 2.0),  # a number, broadcast
    lambda: dg.full((1000, 1000), 2.0),
    lambda: dg.full((3,), 2.0),
    lambda: BIG + 1.0,  # 8 KB
    lambda: BIG.reshape(40, 50).T,  # moves nothing
    lambda: TABLE.T,
    lambda: dg.arange(10),
    lambda: dg.expand_dims(dg.arange(10), 1),
    lambda: dg.sum(dg.arange(2**20)),  # too much to read while compiling
    lambda: dg.sum(dg.full((10**6,), 2.0)),
    lambda: dg.sum(dg.arange(2**20)[:4]),  # too much to make
    lambda: dg.uniform((3,)),
    lambda: OPS["philox_uniform"](np.uint64(1), np.uint64(2), 3, (4,), "float32"),
    lambda: dg.normal((2,)) * 2.0,
    lambda: dg.arange(X.shape[0]) + 1,
    lambda: dg.asarray(1.0) * X.shape[0],
    lambda: dg.ops.check_index(dg.asarray(np.array([0, 3])), 3),  # IndexError when the step runs
]


@pytest.mark.parametrize("declare", KEPT, ids=[str(k) for k in range(len(KEPT))])
def test_what_is_not_constant_or_not_small_stays(declare: Callable[[], Expr]) -> None:
    y = declare()
    assert folded(y) is y


def test_only_what_is_constant_folds() -> None:
    y = folded(X * (dg.asarray(2.0) * 3.0) + dg.sum(TABLE[1, 1:]))
    assert text(y) == "add(multiply(x, 6.0), -0.5)"


def test_a_sum_of_much_folds_if_it_is_small() -> None:
    assert text(folded(dg.sum(BIG))) == "1999000.0"


def test_a_constant_of_one_element_becomes_a_number() -> None:
    """Kernels then hold it in their text; a view gives it its shape."""
    one = dg.asarray(np.array([[2.5]], "float32"))
    assert text(folded(one)) == "broadcast_to(2.5, (1, 1))"
    assert text(simplified(X * one)) == "multiply(x, 2.5)"
    assert text(simplified(dg.squeeze(one) + one[0])) == "expand_dims(5.0, (0,))"
    step = dg.compile(X * one, backend="numpy")
    assert not step.plan.schedule.kernels[0].loads[1:]


def test_numbers_keep_their_sign_and_dtype() -> None:
    some = np.float32(-0.0), np.float16(1.5), np.int8(-1), np.bool_(True), np.float64(np.nan)
    for value in some:
        (found,) = toposort([folded(dg.asarray(np.array([value])))])[:1]
        assert_same_bits(found.attr("value").value, np.asarray(value))


def test_large_constants_are_neither_copied_nor_written_into_code() -> None:
    held = dg.asarray(np.random.default_rng(0).normal(size=(1000, 2000)).astype("float32"))
    y = dg.exp(dg.permute_dims(held)[::2] * 2.0 - dg.asarray(1.0))
    start = time.process_time()
    graph = fold(Graph((), {"y": y}), TARGET, run)
    assert time.process_time() - start < 0.5
    inside = [n.attr("value").value for n in graph.nodes if n.op is OPS["constant"]]
    assert [v.nbytes for v in inside] == [8_000_000, 4, 4]
    assert inside[0] is held.attr("value").value
    small = (TABLE * 2.0) @ dg.ones((3, 1)) + X[0]
    assert len(str(dg.compile([y, small], backend="numpy").source)) < 3000


def test_draws_are_drawn_anew_at_each_call() -> None:
    step = dg.compile(dg.uniform((4,)) * 2.0, updates={}, backend="numpy")
    assert not np.array_equal(step(), step())


def test_a_graph_of_constants_runs() -> None:
    step = dg.compile({"a": dg.asarray(3.0) + 1, "b": dg.ones((2, 2)) * 4}, backend="numpy")
    np.testing.assert_array_equal(step()["a"], np.float32(4))
    np.testing.assert_array_equal(step()["b"], np.full((2, 2), 4, "float32"))


def test_a_folded_index_is_checked_like_any_other() -> None:
    """What the sum of two constants points at is known when compiling, not before."""
    y = dg.take(X, dg.asarray(np.array([1])) + 5, 1)
    with pytest.raises((IndexError, dg.GraphError), match="out of range"):
        dg.compile(y, backend="numpy")(x=np.zeros((2, 3), "float32"))


@pytest.mark.parametrize("count", [2000])
def test_long_chains_of_constants_fold_in_time(count: int) -> None:
    y = dg.asarray(1.0)
    for _ in range(count):
        y = y * 0.5 + 1.0
    start = time.process_time()
    assert text(folded(y)) == "2.0"
    assert time.process_time() - start < 2


def test_what_folds_leaves_no_operation_on_constants_behind() -> None:
    rng = np.random.default_rng(3)
    pool: list[Expr] = [dg.asarray(rng.normal(size=s)) for s in ((3,), (2, 3), (2, 1))]
    for _ in range(60):
        a, b = (pool[int(rng.integers(len(pool)))] for _ in range(2))
        new = [dg.tanh(a), dg.minimum(a, b), dg.sum(a, axis=-1, keepdims=True), a[..., :1]]
        pool.append(new[int(rng.integers(4))])
    for y in pool[3:]:
        left = folded(y)
        assert left.op.kind in (Kind.SOURCE, Kind.VIEW)
        assert_same_bits(run(left), run(y))
