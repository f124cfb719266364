from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import check_gradient, run
from views import check_view

import deepgraph as dg

B = dg.dim("batch")
A = np.random.default_rng(0).standard_normal((4, 3, 6))


def check(f: Callable[[Any], Any], reference: Callable[[Any], Any], a: Any = A) -> None:
    """Like NumPy, also with a named first axis; and the right gradient."""
    x = dg.placeholder("x", a.shape, a.dtype)
    np.testing.assert_array_equal(run(f(x), {x: a}), reference(a), strict=True)
    if a.ndim and a.dtype == "float64":
        n = dg.placeholder("n", ("batch", *a.shape[1:]), a.dtype)
        y, sizes = f(n), {"batch": a.shape[0]}
        np.testing.assert_array_equal(run(y, {n: a}, sizes), reference(a), strict=True)
        assert dg.dims.bind(y.shape, sizes) == reference(a).shape
        g = run(dg.grad(dg.sum(y * y), n), {n: a}, sizes)
        known = run(dg.grad(dg.sum(f(x) * f(x)), x), {x: a})
        np.testing.assert_allclose(g, known, rtol=1e-12)
        check_gradient(f, a)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat_and_stack(axis: int) -> None:
    b = np.take(A, [1, 0], axis)
    empty = np.take(A, [], axis)
    parts = dg.concat([A, empty, b], axis)
    np.testing.assert_array_equal(run(parts), np.concatenate([A, b], axis), strict=True)
    check(lambda x: dg.concat([x, x * 2, x], axis), lambda x: np.concatenate([x, x * 2, x], axis))
    check(lambda x: dg.stack([x, -x], axis), lambda x: np.stack([x, -x], axis))
    check_gradient(lambda x, y: dg.concat([x, y, x], axis), A, b)


def test_concat_promotes() -> None:
    arrays = [np.ones(2, "int8"), np.ones(1, "float32"), np.ones(3, bool)]
    np.testing.assert_array_equal(run(dg.concat(arrays)), np.concatenate(arrays), strict=True)
    assert dg.concatenate is dg.concat


def test_concat_adds_named_sizes() -> None:
    x, y = dg.placeholder("x", ("n", 2)), dg.placeholder("y", ("m", 2))
    z = dg.concat([x, y, x])
    assert z.shape == (2 * dg.dim("n") + dg.dim("m"), 2)
    feeds, sizes = {x: np.ones((3, 2)), y: np.zeros((2, 2))}, {"n": 3, "m": 2}
    assert run(z, feeds, sizes)[:, 0].tolist() == [1] * 3 + [0] * 2 + [1] * 3
    g = dg.grad(dg.sum(z * dg.arange(z.shape[0])[:, None]), [x, y])
    assert [run(one, feeds, sizes)[:, 0].tolist() for one in g] == [[5, 7, 9], [3, 4]]


def test_concat_of_what_windows_left() -> None:
    """Sizes that no one can prove to be >= 0 still come back whole in the gradient."""
    x = dg.placeholder("x", ("h",), "float64")
    y = dg.windows(x, 0, 3)[:, 0]
    assert y.shape == y[::-1].shape == (dg.dim("h") - 2,)
    z = dg.pad(dg.concat([y, y]), 1)
    g = dg.grad(dg.sum(z * dg.iota(z.shape)), x)
    assert run(g, {x: np.zeros(5)}, {"h": 5}).tolist() == [5, 7, 9, 0, 0]


def test_unstack_and_split() -> None:
    for axis in (0, 1, -1):
        for found, expected in zip(
            dg.unstack(dg.asarray(A), axis), np.moveaxis(A, axis, 0), strict=True
        ):
            np.testing.assert_array_equal(run(found), expected)
    cuts: list[Any] = [(2, 0), (3, 1), (3, 2), ([1, 3], 0), ([0, 2, 2, 9], -1), ([-2], 2), ([], 1)]
    for sections, axis in cuts:
        found = [run(y) for y in dg.split(dg.asarray(A), sections, axis)]
        for part, expected in zip(found, np.split(A, sections, axis), strict=True):
            np.testing.assert_array_equal(part, expected, strict=True)
    x = dg.placeholder("x", (2 * B, 3))
    assert [y.shape for y in dg.split(x, 2)] == [(B, 3), (B, 3)]
    assert [y.shape for y in dg.split(x, [B])] == [(B, 3), (B, 3)]
    assert [str(y.shape[0]) for y in dg.split(dg.placeholder("y", ("n",)), [2])] == [
        "min(n, 2)", "max(n - 2, 0)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "widths", [0, 1, (1, 2), ((1, 2),), ((0, 1), (2, 0), (1, 1)), [[0, 0], [3, 1], [0, 0]]]
)
def test_pad(widths: Any) -> None:
    for number in (0, 1.5, -np.inf, np.nan):
        check_value = lambda x, v=number: dg.pad(x, widths, v)  # noqa: E731
        expected = np.pad(A, widths, constant_values=number)
        x = dg.placeholder("x", A.shape, "float64")
        np.testing.assert_array_equal(run(check_value(x), {x: A}), expected)
    check(lambda x: dg.pad(x, widths, 2), lambda x: np.pad(x, widths, constant_values=2))
    integers = A.astype("int16")
    found = run(dg.pad(dg.asarray(integers), widths, -7))
    np.testing.assert_array_equal(found, np.pad(integers, widths, constant_values=-7), strict=True)


def test_pad_of_a_scalar_and_by_a_size() -> None:
    assert run(dg.pad(dg.asarray(2.0), ())) == 2
    x = dg.placeholder("x", ("n",))
    y = dg.pad(x, ((dg.dim("k"), 1),))
    assert run(y, {x: np.ones(2)}, {"n": 2, "k": 3}).tolist() == [0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
def test_flip(axis: Any) -> None:
    check(lambda x: dg.flip(x, axis), lambda x: np.flip(x, axis))
    check_view(lambda x: dg.flip(x, axis), lambda x: np.flip(x, axis), ("b", 2, 3), {"b": 4})


@pytest.mark.parametrize(
    ("shift", "axis"),
    [(0, 0), (1, 0), (-1, 1), (10000, 2), ((1, 2, -1), (0, 1, 2)), (2, (0, 1)), (5, None), (-3, 0)],
)
def test_roll(shift: Any, axis: Any) -> None:
    check(lambda x: dg.roll(x, shift, axis), lambda x: np.roll(x, shift, axis))
    empty = dg.placeholder("x", ("n", 2))
    assert run(dg.roll(empty, 1, 0), {empty: np.ones((0, 2))}, {"n": 0}).shape == (0, 2)
    assert run(dg.roll(dg.zeros((0, 2)), 1, 0)).shape == (0, 2)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_repeat(axis: Any) -> None:
    for times in (0, 1, 3):
        check(lambda x, n=times: dg.repeat(x, n, axis), lambda x, n=times: np.repeat(x, n, axis))
    if axis is not None:
        n = A.shape[axis]
        times = np.arange(n).tolist()
        found = run(dg.repeat(dg.asarray(A), times, axis))
        np.testing.assert_array_equal(found, np.repeat(A, times, axis), strict=True)


@pytest.mark.parametrize("times", [2, (1,), (2, 1, 3), (2, 2), (2, 1, 1, 1), (0, 1), ()])
def test_tile(times: Any) -> None:
    check(lambda x: dg.tile(x, times), lambda x: np.tile(x, times))
    check(lambda x: dg.tile(x, times), lambda x: np.tile(x, times), np.array(2.0))


@pytest.mark.parametrize("k", [-4, -1, 0, 1, 3, 7])
def test_triangles(k: int) -> None:
    check(lambda x: dg.tril(x, k), lambda x: np.tril(x, k))
    check(lambda x: dg.triu(x, k), lambda x: np.triu(x, k))
    check(lambda x: dg.tril(x, k), lambda x: np.tril(x, k), np.ones((3, 3), "int8"))
    check(lambda x: dg.triu(x, k), lambda x: np.triu(x, k), np.ones((3, 3), bool))
    square = dg.placeholder("x", ("n", "n"))
    found = run(dg.tril(square, k), {square: np.ones((4, 4))}, {"n": 4})
    np.testing.assert_array_equal(found, np.tri(4, 4, k))


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
def test_diag(k: int) -> None:
    check(lambda x: dg.diag(x, k), lambda x: np.diag(x, k), A[0])
    check(lambda x: dg.diag(x, k), lambda x: np.diag(x, k), A[0, 0])


def test_diff() -> None:
    for axis in (0, 1, -1):
        for n in (0, 1, 2):
            check(lambda x, n=n, a=axis: dg.diff(x, n, a), lambda x, n=n, a=axis: np.diff(x, n, a))
    bits = np.array([True, True, False, True])
    check(dg.diff, np.diff, bits)
    check(dg.diff, np.diff, np.array([1, 5, 2], "uint8"))


X = dg.placeholder("x", ("batch", 3))


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda: dg.concat([]), "concat: at least one array is needed"),
        (lambda: dg.concat([X, X[:, :2]]), "concat: shapes differ beside axis 0: (batch, 3) and"),
        (lambda: dg.concat([X, X[0]]), "concat: shapes differ beside axis 0"),
        (lambda: dg.concat([X, X], 2), "concat: axis is out of range: 2 of 2 dimensions"),
        (lambda: dg.concat([X, X], None), "concat: an axis is a whole number: got None"),
        (lambda: dg.concat([1.0, 2.0]), "concat: axis is out of range: 0 of 0 dimensions"),
        (lambda: dg.stack([]), "stack: at least one array is needed"),
        (lambda: dg.stack([X, X[:1]]), "stack: shapes differ beside axis 0"),
        (lambda: dg.unstack(X), "unstack: axis 0 has no size known now: (batch, 3)"),
        (lambda: dg.split(X, 2), "split: axis 0 is not proved to fall into 2 equal parts: batch"),
        (lambda: dg.split(X, 2, 1), "split: axis 1 is not proved to fall into 2 equal parts: 3"),
        (lambda: dg.split(X, 0, 1), "split: axis 1 is not proved to fall into 0 equal parts: 3"),
        (lambda: dg.pad(X, -1), "pad: a width is not negative: got -1"),
        (lambda: dg.pad(X, ((1, 1),) * 3), "pad: (before, after) is needed for each of 2 axes"),
        (lambda: dg.pad(X, ((1, 1, 1),) * 2), "pad: (before, after) is needed for each"),
        (lambda: dg.pad(X.astype("int8"), 1, 0.5), "pad: not a int8: 0.5"),
        (lambda: dg.pad(X.astype("int8"), 1, 300), "pad: not a int8: 300"),
        (lambda: dg.roll(X, (1, 2), (0,)), "roll: as many shifts as axes are needed"),
        (lambda: dg.repeat(X, [1, 2], 1), "repeat: as many repeats as elements are needed: 2 "),
        (lambda: dg.repeat(X, -1, 1), "repeat: a size is not negative: got -1"),
        (lambda: dg.tril(X[0]), "tril: two dimensions or more are needed: got (3,)"),
        (lambda: dg.diag(dg.zeros((1, 1, 1))), "diag: a vector or a matrix is needed"),
        (lambda: dg.diff(X, -1), "diff: the order of a difference is not negative: -1"),
    ],
)
def test_errors(declare: Callable[[], Any], words: str) -> None:
    with pytest.raises(dg.GraphError) as caught:
        declare()
    assert str(caught.value).startswith(words)
    assert "test_ops_join.py" in str(caught.value)
