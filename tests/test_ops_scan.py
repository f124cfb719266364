from __future__ import annotations

from functools import reduce
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from aid import Array, check_gradient, gradient, run

import deepgraph as dg

NAN = np.nan


def value(f: Any, a: Any) -> Array:
    """f(a) by the reference backend, once with known sizes and once with named ones: the same."""
    a = np.asarray(a)
    x = dg.placeholder("x", a.shape, a.dtype)
    found = run(f(x), {x: a})
    names = dg.placeholder("n", tuple(f"n{k}" for k in range(a.ndim)), a.dtype)
    sizes = {f"n{k}": n for k, n in enumerate(a.shape)}
    np.testing.assert_array_equal(run(f(names), {names: a}, sizes), found, strict=True)
    return found


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_scans_are_numpys(name: str, axis: int) -> None:
    reference = getattr(np, {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}[name])
    for dtype in ("float64", "float32", "int8", "uint8", "bool", "int64"):
        a = np.random.default_rng(0).integers(-3, 4, (3, 4, 2)).astype(dtype)
        f = lambda x: getattr(dg, name)(x, axis)  # noqa: E731
        np.testing.assert_array_equal(value(f, a), reference(a, axis), strict=True)
        wide = value(lambda x: getattr(dg, name)(x, axis, "float32"), a)
        np.testing.assert_array_equal(wide, reference(a, axis, "float32"), strict=True)
    check_gradient(f, np.random.default_rng(0).standard_normal((3, 4, 2)))
    assert value(f, np.empty((0, 3, 0))).shape == (0, 3, 0)


def test_scans_of_a_vector_and_of_a_flattened_array() -> None:
    a = np.arange(1.0, 7).reshape(2, 3)
    np.testing.assert_array_equal(value(dg.cumulative_sum, a[0]), [1, 3, 6])
    np.testing.assert_array_equal(value(dg.cumsum, a), np.cumsum(a))
    np.testing.assert_array_equal(value(dg.cumprod, a), np.cumprod(a))
    with pytest.raises(dg.ShapeError, match=r"^cumulative_sum: axis is needed"):
        dg.cumulative_sum(dg.zeros((2, 3)))


def test_scans_accumulate_half_precision_in_single() -> None:
    found = value(lambda x: dg.cumulative_sum(x, 0), np.ones(4000, "float16"))
    np.testing.assert_array_equal(found, np.arange(1, 4001).astype("float16"), strict=True)


@pytest.mark.parametrize(
    "row", [[2, 3, 4], [2, 0, 4, 5], [0, 3, 4], [2, 0, 4, 0, 5], [0, 0], [3, 4, 0]]
)
def test_the_gradient_of_cumulative_products_with_zeros(row: list[float]) -> None:
    weights = np.arange(1.0, len(row) + 1)
    expected = [
        sum(
            w * np.prod(np.delete(row[: j + 1], k))
            for j, w in enumerate(weights) if j >= k
        )
        for k in range(len(row))
    ]  # fmt: skip
    (g,) = gradient(lambda x: dg.cumulative_prod(x, 0), np.array(row, float), cotangent=weights)
    np.testing.assert_allclose(g, expected)


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_a_linear_recurrence_is_its_definition(axis: int) -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 3, 4, 2))
    a[0] = np.nan  # along axis 0 the first factor counts for nothing
    rows, given = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    expected = [given[0]]
    for factor, term in zip(rows[1:], given[1:], strict=True):
        expected.append(factor * expected[-1] + term)
    x, y = dg.placeholder("x", ("n", 4, 2), "float64"), dg.placeholder("y", ("n", 4, 2), "float64")
    found = run(dg.linear_recurrence(x, y, axis), {x: a, y: b}, {"n": 3})
    np.testing.assert_allclose(np.moveaxis(found, axis, 0), expected)
    half = dg.linear_recurrence(dg.ones(4000, "float16"), dg.ones(4000, "float16"))
    np.testing.assert_array_equal(run(half), np.arange(1, 4001).astype("float16"), strict=True)
    with pytest.raises(dg.ShapeError, match=r"one shape is needed: got \(3,\) and \(4,\)"):
        dg.linear_recurrence(dg.zeros(3), dg.zeros(4))


@pytest.mark.parametrize(
    "row", [[2, 3, 4], [2, 0, 4, 5], [0, 3, 4], [2, 0, 4, 0, 5], [0, 0], [0, 0, 0, 2], [7]]
)
@pytest.mark.parametrize("f", [dg.prod, dg.cumulative_prod])
def test_derivatives_of_products_with_zeros_in_every_order(f: Any, row: list[float]) -> None:
    """A product is linear in each element: its derivative by some is the product of the others."""
    x = dg.placeholder("x", (len(row),), "float64")
    ends = [len(row)] if f is dg.prod else range(1, len(row) + 1)
    weights = np.arange(1.0, len(row) + 1)
    loss = dg.sum(f(x) * weights[[end - 1 for end in ends]])
    for order in (1, 2, 3):
        loss = dg.sum(dg.grad(loss, x) * (order + weights))
    expected = sum(
        end * np.prod([k + 1 + weights[i] for k, i in enumerate(chosen)])
        * np.prod(np.delete(row[:end], chosen))
        for end in ends for chosen in permutations(range(end), 3)
    )  # fmt: skip
    found = dg.compile(loss, backend="numpy")(x=np.array(row, float))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_second_derivatives_of_products_over_any_axes() -> None:
    """Along a line the product of shifted elements is a polynomial: differentiated exactly."""
    rng = np.random.default_rng(1)
    a = rng.integers(-2, 3, (3, 4, 2)).astype(float)
    a[0, :2], a[1, 0, 0] = 0, -0.0
    way = rng.integers(-2, 3, a.shape).astype(float)
    x, v = (dg.placeholder(k, ("n", 4, "m"), "float64") for k in "xv")
    for axis in (None, 0, 1, -1, (0, 2), (1, 2), ()):
        for keepdims in (False, True):
            along = dg.grad(dg.sum(dg.prod(x, axis, keepdims)), x) * v
            twice = dg.grad(dg.sum(along), x) * v
            found = run(twice, {x: a, v: way}, {"n": 3, "m": 2})
            axes = tuple(range(3)) if axis is None else np.atleast_1d(axis).astype(int) % 3
            rest = [k for k in range(3) if k not in axes]
            lines = np.transpose(a, (*rest, *axes)).reshape(*(a.shape[k] for k in rest), -1)
            ways = np.transpose(way, (*rest, *axes)).reshape(lines.shape)
            pairs = zip(lines.reshape(-1, lines.shape[-1]), ways.reshape(-1, lines.shape[-1]),
                        strict=True)  # fmt: skip
            products = [reduce(np.polymul, map(list, zip(w, v, strict=True))) for v, w in pairs]
            expected = sum(2 * (p[-3] if len(p) > 2 else 0) for p in products)
            assert found.sum() == expected


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sort(axis: int) -> None:
    for dtype in ("float64", "int8", "uint8", "bool"):
        a = np.random.default_rng(0).integers(-3, 4, (4, 5, 3)).astype(dtype)
        order = np.argsort(a, axis, kind="stable")
        np.testing.assert_array_equal(value(lambda x: dg.argsort(x, axis), a), order, strict=True)
        np.testing.assert_array_equal(value(lambda x: dg.sort(x, axis), a), np.sort(a, axis))
        down = value(lambda x: dg.argsort(x, axis, descending=True), a)
        by_loop = np.apply_along_axis(
            lambda line: sorted(range(len(line)), key=lambda i: -int(line[i])), axis, a
        )
        np.testing.assert_array_equal(down, by_loop)
        found = value(lambda x: dg.sort(x, axis, True), a)
        np.testing.assert_array_equal(found, np.flip(np.sort(a, axis), axis))
    distinct = np.random.default_rng(0).permutation(60).reshape(4, 5, 3) / 7
    check_gradient(lambda x: dg.sort(x, axis), distinct)
    check_gradient(lambda x: dg.sort(x, axis, descending=True), distinct)


def test_sorting_of_nan_and_of_ties() -> None:
    a = np.array([3, NAN, -np.inf, np.inf, NAN, -1])
    np.testing.assert_array_equal(value(dg.sort, a), np.sort(a))
    found = value(lambda x: dg.sort(x, descending=True), a)
    np.testing.assert_array_equal(found, [NAN, NAN, np.inf, 3, -1, -np.inf])
    (g,) = gradient(dg.sort, np.array([2.0, 1, 2]), cotangent=np.array([1.0, 2, 4]))
    assert g.tolist() == [2, 1, 4]


@pytest.mark.parametrize("axis", [0, -1])
def test_top_k(axis: int) -> None:
    a = np.random.default_rng(0).permutation(20).reshape(4, 5) / 3
    for k in (0, 1, 3):
        x = dg.placeholder("x", a.shape, "float64")
        values, indices = dg.top_k(x, k, axis)
        expected = np.take(np.flip(np.sort(a, axis), axis), np.arange(k), axis)
        np.testing.assert_array_equal(run(values, {x: a}), expected, strict=True)
        found = np.take_along_axis(a, run(indices, {x: a}), axis)
        np.testing.assert_array_equal(found, expected)
        check_gradient(lambda x, k=k: dg.top_k(x, k, axis)[0], a)
    with pytest.raises(dg.ShapeError, match=r"^top_k: 6 of 5 elements along axis 1"):
        dg.top_k(dg.zeros((4, 5)), 6)
    x = dg.placeholder("x", ("n",))
    for n in (2, 7):
        found = run(dg.top_k(x, 3)[0], {x: np.arange(n)}, {"n": n})
        assert found.tolist() == [n - 1, n - 2, n - 3][:n]
