"""Views in one, operands without broadcasts, folds over one element: same values, less to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import run
from rewriting import assert_same_bits, simplified, telling, text

import deepgraph as dg
from deepgraph.dims import same_shape
from deepgraph.expr import FUNCTIONS, OPS, Expr, Kind, Op, Type
from deepgraph.graph import toposort

X = dg.placeholder("x", ("n", 3, 4))
V = dg.placeholder("v", (4,))
S = dg.placeholder("s", ())
B = dg.placeholder("b", ("n", 1))
N = 5
RNG = np.random.default_rng(0)
FEEDS = {
    X: RNG.choice(telling("float32")[:-1], (N, 3, 4)), V: telling("float32")[3:7],
    S: np.float32(-0.0), B: RNG.choice(telling("float32"), (N, 1)),
}  # fmt: skip
n = X.shape[0]

SHORT: list[tuple[Callable[[], Expr], str]] = [
    # views that change nothing
    (lambda: X.reshape(n, 3, 4), "x"),
    (lambda: dg.permute_dims(X, (0, 1, 2)), "x"),
    (lambda: dg.broadcast_to(X, X.shape), "x"),
    (lambda: X[:, :, :], "x"),
    (lambda: dg.expand_dims(X, ()), "x"),
    (lambda: dg.squeeze(X), "x"),
    (lambda: dg.stop_gradient(X), "x"),
    (lambda: dg.concat([X], 1), "x"),
    (lambda: dg.pad(X, 0), "x"),
    (lambda: dg.take(X, dg.arange(n), 0), "x"),
    # two that undo each other
    (lambda: dg.flip(dg.flip(X, (0, 2)), (0, 2)), "x"),
    (lambda: dg.permute_dims(dg.permute_dims(X, (2, 0, 1)), (1, 2, 0)), "x"),
    (lambda: X.reshape(n * 12).reshape(n, 3, 4), "x"),
    (lambda: dg.squeeze(dg.expand_dims(X, (0, 2)), (0, 2)), "x"),
    # two in one
    (lambda: dg.permute_dims(dg.permute_dims(X, (2, 0, 1)), (0, 2, 1)),
     "permute_dims(x, (2, 1, 0))"),
    (lambda: X.reshape(n, 12).reshape(n * 12), "reshape(x, (n*12,))"),
    (lambda: X.reshape(n, 1, 3, 1, 4), "expand_dims(x, (1, 3))"),
    (lambda: dg.expand_dims(X, 1).reshape(n, 12), "reshape(x, (n, 12))"),
    (lambda: dg.expand_dims(dg.expand_dims(X, 1), 0), "expand_dims(x, (0, 2))"),
    (lambda: B.reshape(n), "squeeze(b, (1,))"),
    (lambda: dg.broadcast_to(dg.broadcast_to(V, (3, 4)), X.shape), "broadcast_to(v, (n, 3, 4))"),
    (lambda: dg.broadcast_to(dg.expand_dims(V, 0), (3, 4)), "broadcast_to(v, (3, 4))"),
    (lambda: dg.broadcast_to(V, (1, 4)), "expand_dims(v, (0,))"),
    (lambda: dg.expand_dims(dg.broadcast_to(S, (n,)), 1), "broadcast_to(s, (n, 1))"),
    (lambda: dg.broadcast_to(S, (n, 4)).reshape(n * 4), "broadcast_to(s, (n*4,))"),
    (lambda: dg.broadcast_to(S, (n, 4))[2:, 1], "broadcast_to(s, (max(n - 2, 0),))"),
    (lambda: dg.diagonal(dg.broadcast_to(S, (4, 5))), "broadcast_to(s, (4,))"),
    (lambda: dg.broadcast_to(V, (3, 4)).T, "broadcast_to(expand_dims(v, (1,)), (4, 3))"),
    (lambda: dg.expand_dims(dg.broadcast_to(V, (3, 4)), 1), "broadcast_to(v, (3, 1, 4))"),
    (lambda: dg.squeeze(dg.broadcast_to(V, (3, 1, 4)), 1), "broadcast_to(v, (3, 4))"),
    (lambda: X[:, 1:][:, 1:], "slice(x, :, 2:3)"),
    (lambda: X[:, ::-1][:, 0], "slice(x, :, 2)"),
    (lambda: X[:, ::-1][:, 1], "slice(x, :, 1)"),
    (lambda: X[1:][:, 1], "slice(x, 1:, 1)"),
    (lambda: X[:, 1][..., ::2], "slice(x, :, 1, ::2)"),
    # elementwise operands
    (lambda: X + dg.broadcast_to(V, X.shape), "add(x, v)"),
    (lambda: X * dg.expand_dims(V, (0, 1)), "multiply(x, v)"),
    (lambda: X * dg.expand_dims(dg.broadcast_to(B, (n, 3)), 2),
     "multiply(x, expand_dims(b, (2,)))"),
    (lambda: X * dg.full(X.shape, 3.0), "multiply(x, 3.0)"),
    (lambda: X * dg.ones_like(X), "x"),
    (lambda: dg.where(dg.broadcast_to(B > 0, (n, 4)), dg.broadcast_to(S, (n, 4)), 0.0),
     "broadcast_to(where(greater(b, 0.0), s, 0.0), (n, 4))"),
    (lambda: dg.exp(dg.broadcast_to(S, X.shape)), "broadcast_to(exp(s), (n, 3, 4))"),
    (lambda: dg.exp(dg.broadcast_to(S, X.shape)) + X, "add(exp(s), x)"),
    (lambda: dg.broadcast_to(B, (n, 4)) * dg.broadcast_to(S, (n, 4)) + V,
     "add(multiply(b, s), v)"),
    (lambda: dg.full((n, 4), 2.0) + dg.full((n, 4), 3.0), "broadcast_to(5.0, (n, 4))"),
    (lambda: dg.astype(dg.full((n, 4), 2.5), "int32"), "broadcast_to(2, (n, 4))"),
    (lambda: dg.expand_dims(V, 0) + dg.expand_dims(S, 0), "add(expand_dims(v, (0,)), s)"),
    # folds
    (lambda: dg.max(B, axis=1), "squeeze(b, (1,))"),
    (lambda: dg.prod(dg.expand_dims(V, 0), axis=0, keepdims=True), "expand_dims(v, (0,))"),
    (lambda: dg.sum(B, axis=1), "add(squeeze(b, (1,)), 0.0)"),
    (lambda: dg.sum(X, axis=()), "add(x, 0.0)"),
    (lambda: dg.sum(dg.astype(B, "int8"), axis=1),
     "squeeze(astype(astype(b, int8), int64), (1,))"),
    (lambda: dg.any(B, axis=1), "squeeze(not_equal(b, 0.0), (1,))"),
    (lambda: dg.max(dg.broadcast_to(B, (n, 4)), axis=1), "squeeze(b, (1,))"),
    (lambda: dg.min(dg.broadcast_to(V, (3, 4)), axis=(0, 1)), "min(v, (0,), False)"),
    (lambda: dg.sum(dg.broadcast_to(B, (n, 4)), axis=1),
     "multiply(add(squeeze(b, (1,)), 0.0), 4.0)"),
    (lambda: dg.sum(dg.full((3, 4), 0.5)), "6.0"),
    (lambda: dg.sum(-X, axis=0), "subtract(0.0, sum(x, (0,), False, float32))"),
]  # fmt: skip


@pytest.mark.parametrize(("declare", "short"), SHORT, ids=[short for _, short in SHORT])
def test_shorter_and_the_same(declare: Callable[[], Expr], short: str) -> None:
    y = declare()
    better = simplified(y)
    found, expected = run(better, FEEDS, {"n": N}), run(y, FEEDS, {"n": N})
    if "int8" in short:
        assert found.dtype == expected.dtype
    else:
        assert_same_bits(found, expected)
    assert text(better) == short


KEPT: list[tuple[Callable[[], Expr], str]] = [
    (lambda: dg.exp(dg.expand_dims(V, 0)), "exp(expand_dims(v, (0,)))"),  # as much work either way
    (lambda: dg.sum(dg.broadcast_to(S, (n,))), "sum(broadcast_to(s, (n,)), (0,), False, float32)"),
    (lambda: dg.max(dg.broadcast_to(S, (n,))), "max(broadcast_to(s, (n,)), (0,), False)"),  # n = 0
    (lambda: dg.prod(dg.broadcast_to(V, (3, 4)), 0),
     "prod(broadcast_to(v, (3, 4)), (0,), False, float32)"),
    (lambda: X[2:][1:], "slice(slice(x, 2:), 1:)"),  # of named sizes it takes more terms, not less
    (lambda: dg.flip(X, 0)[0], "slice(slice(x, ::-1), 0, ...)"),
    (lambda: dg.broadcast_to(V, (3, 4)).reshape(12), "reshape(broadcast_to(v, (3, 4)), (12,))"),
    (lambda: dg.take(X, dg.arange(3), 2), "take(x, iota(3, int64), 2)"),
    (lambda: V @ X[0].T, "matmul(v, permute_dims(slice(x, 0, ...), (1, 0)))"),
    (lambda: dg.sum(dg.sum(X, 2), 1), "sum(sum(x, (2,), False, float32), (1,), False, float32)"),
]  # fmt: skip


@pytest.mark.parametrize(("declare", "kept"), KEPT, ids=[kept for _, kept in KEPT])
def test_what_stays(declare: Callable[[], Expr], kept: str) -> None:
    assert text(simplified(declare())) == kept


@pytest.mark.parametrize("size", [0, 1, 2])
def test_sizes_that_happen_to_be_small(size: int) -> None:
    """A named size may be 0 or 1 when it is fed; shapes and values follow the declaration."""
    for k, (declare, _) in enumerate(SHORT):
        y = declare()
        feeds = {x: v[:size] if "n" in x.type_text else v for x, v in FEEDS.items()}
        found, expected = (run(e, feeds, {"n": size}) for e in (simplified(y), y))
        assert found.shape == expected.shape, k
        if "int8" not in text(y):
            assert_same_bits(found, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("count", [3, 100, 5000, 70000])
def test_a_sum_of_one_number_is_a_product_at_least_as_exact(dtype: str, count: int) -> None:
    x = dg.placeholder("x", (7, 1), dtype)
    y = dg.sum(dg.broadcast_to(x, (7, count)), axis=1)
    feed = np.random.default_rng(count).uniform(-1, 1, (7, 1)).astype(dtype)
    exact = feed.astype("float64")[:, 0] * count
    found, plain = run(simplified(y), {x: feed}, {}), run(y, {x: feed}, {})
    np.testing.assert_array_equal(np.isinf(found), np.isinf(plain))
    held = np.isfinite(plain)
    off, plainly_off = np.abs(found - exact)[held], np.abs(plain - exact)[held]
    assert (off <= plainly_off + np.abs(exact * 1e-16)[held]).all()


def test_a_sum_that_wraps_still_wraps() -> None:
    small = dg.placeholder("x", (3,), "uint8")
    feed = np.array([0, 1, 255], "uint8")
    for kind in ("uint8", "uint64"):
        y = dg.sum(-small, dtype=kind)
        assert_same_bits(run(simplified(y), {small: feed}, {}), run(y, {small: feed}, {}))
    x = dg.placeholder("x", (3, 1), "int8")
    for count in (100, 200):
        y = dg.sum(dg.broadcast_to(x, (3, count)), axis=1, dtype="int8")
        feed = np.array([[7], [-128], [1]], "int8")
        assert_same_bits(run(simplified(y), {x: feed}, {}), run(y, {x: feed}, {}))


def test_a_negative_power_of_whole_numbers_is_left_to_the_step() -> None:
    x = dg.placeholder("x", (3,), "int32")
    y = x ** dg.broadcast_to(dg.asarray(np.int32(-1)), (3,))
    simplified(y)


def test_operations_that_do_not_broadcast_keep_their_operands() -> None:
    """A user's operation may ask for equal shapes, or take its shape from the first operand."""
    def equal_shapes(x: Expr, y: Expr) -> Type:
        if not same_shape(x.shape, y.shape):
            raise dg.ShapeError("shapes differ")
        return Type(x.shape, x.dtype)

    def first(x: Expr, y: Expr) -> Type:
        return Type(x.shape, x.dtype)

    for rule in (equal_shapes, first):
        mine = Op("mine", Kind.ELEMENTWISE, rule, numpy="np.add({0}, {1}, out={out})")
        try:
            y = mine(dg.broadcast_to(V, (3, 4)), dg.broadcast_to(S, (3, 4)))
            better = simplified(y)
            assert_same_bits(run(better, FEEDS, {"n": N}), run(y, FEEDS, {"n": N}))
        finally:
            del OPS["mine"], FUNCTIONS["mine"]


def test_what_is_attached_does_not_broadcast() -> None:
    p, x = dg.Parameter(np.ones(3, "float32"), name="p"), dg.placeholder("x", (3,))
    step = dg.compile(dg.attach(x * 2.0, {p: dg.zeros((3,))}), {}, backend="numpy")
    np.testing.assert_array_equal(step(x=np.ones(3, "float32")), np.full(3, 2))
    np.testing.assert_array_equal(p.value, np.zeros(3))


def test_an_output_is_not_turned_into_a_view_for_nothing() -> None:
    """What is no smaller is computed where it stands: a view as an output would be copied."""
    for y in (dg.exp(dg.expand_dims(V, 0)), dg.exp(dg.permute_dims(X, (2, 1, 0))), X[1:] * 3.0):
        assert simplified(y).op.kind is Kind.ELEMENTWISE


@pytest.mark.parametrize("seed", range(40))
def test_chains_of_views(seed: int) -> None:
    """Random views of views: no two of a kind in a row are left, and the elements are the same."""
    rng = np.random.default_rng(seed)
    x = dg.placeholder("x", ("n", 2, 3), "int64")
    y: Expr = x if seed % 2 else dg.broadcast_to(dg.placeholder("x", (2, 3), "int64"), x.shape)
    x = next(v for v in toposort([y]) if v.op.name == "placeholder")
    for _ in range(8):
        y = _viewed(y, rng)
    feed = np.arange(np.prod([4 if not isinstance(s, int) else s for s in x.shape])).reshape(
        [4 if not isinstance(s, int) else s for s in x.shape]
    )
    better = simplified(y)
    np.testing.assert_array_equal(run(better, {x: feed}, {"n": 4}), run(y, {x: feed}, {"n": 4}))
    for node in toposort([better]):
        assert not node.inputs or node.op is not node.inputs[0].op or node.op.name == "slice"


def _viewed(y: Expr, rng: Any) -> Expr:
    match int(rng.integers(6)):
        case 0:
            return dg.permute_dims(y, rng.permutation(y.ndim).tolist())
        case 1 if y.ndim < 5:
            return dg.expand_dims(y, int(rng.integers(y.ndim + 1)))
        case 2:
            return dg.squeeze(y)
        case 3:
            return dg.flip(y, int(rng.integers(y.ndim)))
        case 4:
            return y.reshape(-1) if rng.integers(3) == 0 else y[..., :2]
        case _:
            return dg.broadcast_to(y, (2, *y.shape)) if y.ndim < 5 else y
