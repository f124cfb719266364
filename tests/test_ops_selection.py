"""where, casts and gradients that stop or turn; and branches that were not taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import check_gradient, gradient, run

import deepgraph as dg
from deepgraph.backends import library

DTYPES = ("bool", "int8", "int16", "int32", "uint64", "float16", "float32", "float64")
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.0]


def bits(x: Any) -> bytes:
    return bytes(np.ascontiguousarray(x).tobytes())


def drawn(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    numbers = [0.0, 1.5, 2.0, 100.0, 0.0 if dtype.startswith("u") else -2.0]
    return np.random.default_rng(seed).choice(numbers, shape).astype(dtype)


@pytest.mark.parametrize("size", [3, 5_000, 40_000])  # by np.where, in one piece, in several
@pytest.mark.parametrize("dtype", DTYPES)
def test_where_keeps_every_bit(dtype: str, size: int) -> None:
    rng = np.random.default_rng(size)
    c, x, y = rng.random(size) < 0.5, drawn(dtype, (size,), 1), drawn(dtype, (size,), 2)
    if dtype.startswith("float"):
        x, y = rng.choice(SPECIAL, size).astype(dtype), rng.choice(SPECIAL, size).astype(dtype)
    mask = dg.placeholder("c", (size,), "bool")
    a, b = dg.placeholder("a", (size,), dtype), dg.placeholder("b", (size,), dtype)
    feeds = {mask: c, a: x, b: y}
    zero = x.dtype.type(0)
    assert bits(run(dg.where(mask, a, b), feeds)) == bits(np.where(c, x, y))
    assert bits(run(dg.where(mask, a, zero), feeds)) == bits(np.where(c, x, zero))
    assert bits(run(dg.where(mask, zero, b), feeds)) == bits(np.where(c, zero, y))
    if dtype.startswith("float"):
        assert bits(run(dg.where(mask, a, -0.0), feeds)) == bits(np.where(c, x, -zero))


@pytest.mark.parametrize("size", [3, 5_000])
def test_where_promotes(size: int) -> None:
    c = np.random.default_rng(0).random(size) < 0.5
    mask = dg.placeholder("c", (size,), "bool")
    for first, second in itertools.product(DTYPES, DTYPES):
        x, y = drawn(first, (size,), 1), drawn(second, (size,), 2)
        a, b = dg.placeholder("a", (size,), first), dg.placeholder("b", (size,), second)
        zero = y.dtype.type(0)
        for built, expected in [
            (dg.where(mask, a, b), np.where(c, x, y)),
            (dg.where(mask, a, zero), np.where(c, x, zero)),
        ]:
            found = run(built, {mask: c, a: x, b: y})
            assert found.dtype == expected.dtype
            assert bits(found) == bits(expected)


@pytest.mark.parametrize(
    "shapes",
    [((), (50, 60), ()), ((50, 1), (60,), (50, 60)), ((60,), (), (50, 1)), ((0, 3), (3,), ())],
)
def test_where_broadcasts(shapes: Any) -> None:
    rng = np.random.default_rng(0)
    c, x, y = (rng.standard_normal(s) for s in shapes)
    mask, a, b = (dg.placeholder(n, s, "float64") for n, s in zip("cab", shapes, strict=True))
    feeds = {mask: c, a: x, b: y}
    np.testing.assert_array_equal(run(dg.where(mask > 0, a, b), feeds), np.where(c > 0, x, y))
    np.testing.assert_array_equal(run(dg.where(mask > 0, a, 0), feeds), np.where(c > 0, x, 0))


@pytest.mark.parametrize("over", ["c", "x", "y"])
def test_where_may_overwrite_an_operand(over: str) -> None:
    rng = np.random.default_rng(0)
    given = {"c": rng.random(40_000) < 0.5, "x": rng.random(40_000), "y": rng.random(40_000)}
    if over == "c":
        given = {k: v > 0.5 for k, v in given.items()}
    expected = np.where(given["c"], given["x"], given["y"])
    library.where(given["c"], given["x"], given["y"], given[over])
    np.testing.assert_array_equal(given[over], expected)


def test_where_reads_any_strides() -> None:
    rng = np.random.default_rng(0)
    x, y, c = rng.random((300, 200)), rng.random((200, 300)), rng.random((600, 200)) < 0.5
    out = np.empty((200, 300)).T
    library.where(c[::2], x[::-1], y.T, out)
    np.testing.assert_array_equal(out, np.where(c[::2], x[::-1], y.T))
    library.where(c[::2], x[:, ::-1], np.float64(0), out)
    np.testing.assert_array_equal(out, np.where(c[::2], x[:, ::-1], 0))


def test_where_needs_a_condition() -> None:
    x = dg.placeholder("x", (3,))
    with pytest.raises(dg.DTypeError, match=r"condition is not boolean: .* write condition != 0"):
        dg.where(x, x, 0)
    with pytest.raises(dg.ShapeError, match="do not broadcast"):
        dg.where(x > 0, x, np.zeros(4))


def test_gradient_of_where() -> None:
    rng = np.random.default_rng(3)
    check_gradient(lambda x, y: dg.where(x > y, x * y, x - y), rng.random((3, 4)), rng.random(4))
    first, second = gradient(
        lambda x, y: dg.where(np.array([True, False]), x, y), np.ones(2), np.ones(2),
        cotangent=np.array([np.inf, np.nan]),
    )  # fmt: skip
    np.testing.assert_array_equal(first, [np.inf, 0])
    np.testing.assert_array_equal(second, [0, np.nan])


@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [
        (lambda x: dg.where(x < 1, x, dg.sqrt(x)), [0.0, 4.0], [1, 0.25]),
        (lambda x: dg.where(x > 0, dg.log(x), x), [0.0, 2.0], [1, 0.5]),
        (lambda x: dg.where(x != 0, 1 / x, 0), [0.0, 2.0], [0, -0.25]),
        (lambda x: dg.where(x != 0, dg.sin(x) / x, 1), [0.0], [0]),
        (lambda x: dg.where(x > 0, x, dg.exp(x)), [1e5, 0.0], [1, 1]),
        (lambda x: dg.where(x > 0, x**0.3 + x**0.6, 0), [0.0, 1.0], [0, 0.9]),
        (lambda x: dg.where(x > 0, dg.sqrt(x) * dg.log(x), 3 * x), [0.0, 1.0], [3, 1]),
        (lambda x: dg.where(x < 2, dg.where(x > 0, dg.log(x), x), x), [0.0, 0.5, 2], [1, 2, 1]),
        (lambda x: dg.where(x > 0, dg.relu(dg.log(x)), x), [0.0, 0.5, 2.0], [1, 0, 0.5]),
        (lambda x: 2 * dg.where(dg.isfinite(x), x * x, 0), [np.inf, 3.0], [0, 12]),
    ],
)
def test_a_branch_not_taken_adds_nothing(
    f: Callable[[Any], Any], x: list[float], slope: list[float]
) -> None:
    np.testing.assert_allclose(gradient(f, np.array(x))[0], slope, rtol=1e-12)


def test_a_value_shared_inside_a_branch() -> None:
    def f(x: Any) -> Any:
        root = x**0.5
        return dg.where(x > 0, root * root + root, x)

    np.testing.assert_allclose(gradient(f, np.array([0.0, 4.0]))[0], [1, 1.25])


def test_a_row_of_zeros_can_be_normalised() -> None:
    def f(x: Any) -> Any:
        length = dg.sqrt(dg.sum(x * x, axis=1, keepdims=True))
        return dg.where(length > 0, x / length, 0) * np.array([1.0, 2.0])

    found = gradient(f, np.array([[0.0, 0.0], [3.0, 4.0]]))[0]
    np.testing.assert_allclose(found, [[0, 0], [(16 - 24) / 125, (18 - 12) / 125]])


def test_masks_of_a_deep_chain_stay_few() -> None:
    x = y = dg.placeholder("x", (2,), "float64")
    for _ in range(200):
        y = dg.relu(y + 1)
    slope = dg.grad(dg.sum(y), x)
    assert len(dg.graph.toposort([slope])) < 200 * 12
    assert run(slope, {x: np.array([1.0, -3.0])}).tolist() == [1, 0]


def test_astype_converts_as_numpy() -> None:
    for source, target in itertools.product(DTYPES, DTYPES):
        value = np.array([0, 1, 2.7, 100], "float64").astype(source)
        x = dg.placeholder("x", (4,), source)
        found = run(x.astype(target), {x: value})
        assert found.dtype == target
        np.testing.assert_array_equal(found, value.astype(target))
    assert dg.cast is dg.astype
    with pytest.raises(dg.DTypeError, match="no such dtype"):
        x.astype("float33")


def test_gradient_through_a_cast_returns_in_the_first_dtype() -> None:
    (g,) = gradient(lambda x: x.astype("float64") ** 2, np.array([3.0], "float32"))
    assert (g.dtype, g.tolist()) == (np.float32, [6])


def test_gradients_stop_and_turn() -> None:
    assert gradient(lambda x: dg.stop_gradient(x) * x, np.array([3.0]))[0].tolist() == [3]
    assert gradient(lambda x: dg.reverse_gradient(x) * 2, np.ones(1))[0].tolist() == [-2]
    assert gradient(lambda x: dg.reverse_gradient(x, 0.5), np.ones(1))[0].tolist() == [-0.5]
    x = dg.placeholder("x", (2,))
    for f in (dg.stop_gradient, dg.reverse_gradient, dg.copy):
        assert run(f(x), {x: np.array([1.0, 2.0])}).tolist() == [1, 2]
