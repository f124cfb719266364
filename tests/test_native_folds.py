"""Folds in C of what was folded along another axis, at sizes around those of a strip."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import deepgraph as dg


@pytest.mark.parametrize("size", [1, 50, 255, 257, 1025, 3000])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("fold", ["mean", "sum", "max"])
def test_a_fold_of_what_was_folded_across(
    fold: str, threads: int, size: int, native: str,
    use_threads: Callable[[int], None],
) -> None:  # fmt: skip
    use_threads(threads)
    x = dg.placeholder("x", (10, "n"))
    highest = dg.max(x, axis=0, keepdims=True)
    y = getattr(dg, fold)(dg.log(dg.sum(dg.exp(x - highest), axis=0)))
    given = np.random.default_rng(size).normal(size=(10, size)).astype("float32")
    wide = given.astype("float64")
    expected = np.log(np.exp(wide - wide.max(axis=0)).sum(axis=0))
    found = dg.compile(y, backend=native)(x=given)
    np.testing.assert_allclose(found, getattr(np, fold)(expected), rtol=1e-6)


def test_what_a_line_of_the_user_says_is_a_comment_alone(native: str) -> None:
    """A line that ends in a backslash, sizes whose names begin alike, names of generated C."""
    n, me = dg.placeholder("n", ("n", "nn")), dg.placeholder("me", ("count",))
    y = dg.exp(n) + \
        1
    count = dg.sum(me * 2)  # count, few, me, a0, y0, n_n, call
    step = dg.compile([y, count], backend=native)
    found = step(n=np.zeros((2, 3), np.float32), me=np.ones(4, np.float32))
    np.testing.assert_array_equal(found[0], np.full((2, 3), 2))
    assert found[1] == 8


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("fold", ["sum", "prod", "max", "min", "any"])
def test_a_fold_by_lanes(fold: str, dtype: str, native: str) -> None:
    """Whole turns of all lanes, what is left, and an odd one at either end or between."""
    x = dg.placeholder("x", ("n", "size"), dtype)
    step = dg.compile(getattr(dg, fold)(x, axis=1), backend=native)
    for size in (1, 127, 128, 191, 1000, 4097, 10_000):
        rng = np.random.default_rng(size)
        ones, numbers = rng.choice([1, -1], (3, size)), rng.integers(-9, 9, (3, size))
        given = (ones if fold == "prod" else numbers).astype(dtype)
        for odd in (0, 100, -100 if dtype == "int32" else np.nan):
            for place in (0, size // 2, size - 1):
                row = given.copy()
                row[:, place] = odd
                wide = {"dtype": dtype} if fold in ("sum", "prod") else {}
                wanted = getattr(np, fold)(row, axis=1, **wide)
                np.testing.assert_array_equal(step(x=row), wanted)


@pytest.mark.parametrize("columns", [7, 200, 1000, 1030])
def test_rows_that_take_turns(columns: int, native: str) -> None:
    """Each row is as if it were alone, however many stand beside it."""
    x, w = dg.placeholder("x", ("n", columns)), dg.placeholder("w", (columns,))
    off = x - dg.mean(x, axis=1, keepdims=True)
    scaled = off * w / dg.sqrt(dg.mean(off * off, axis=1, keepdims=True) + 1e-5)
    step = dg.compile([dg.softmax(x), scaled], backend=native)
    rng = np.random.default_rng(columns)
    given = rng.normal(3, 2, (9, columns)).astype("float32")
    given[4, columns // 2] = np.nan
    weights = rng.normal(size=columns).astype("float32")
    alone = [step(x=given[k : k + 1], w=weights) for k in range(9)]
    for count in range(10):
        for k, found in enumerate(step(x=given[:count], w=weights)):
            rows = np.concatenate([found[:0], *(a[k] for a in alone[:count])])
            np.testing.assert_array_equal(found, rows)
    wide = given.astype(float)
    powers, off = np.exp(wide - wide.max(axis=1, keepdims=True)), wide - wide.mean(1, keepdims=True)
    scaled = off * weights / np.sqrt((off * off).mean(1, keepdims=True) + 1e-5)
    wanted = powers / powers.sum(1, keepdims=True), scaled
    for found, exact in zip(step(x=given, w=weights), wanted, strict=True):
        np.testing.assert_allclose(found, exact, rtol=3e-6, atol=1e-6)


def test_squares_of_a_sum_that_is_stored_too(native: str) -> None:
    """A product that something else reads, or that two sums take, is computed on its own."""
    x, y = dg.placeholder("x", ("n", 300)), dg.placeholder("y", ("n", 300))
    square, product = x * x, x * y
    step = dg.compile(
        [square, dg.sum(square, 1), dg.sum(product, 1), dg.max(product, 1), dg.sum(x * y + x, 1)],
        backend=native,
    )
    a, b = np.random.default_rng(0).integers(-9, 9, (2, 5, 300)).astype("float32")
    wanted = a * a, (a * a).sum(1), (a * b).sum(1), (a * b).max(1), (a * b + a).sum(1)
    for found, exact in zip(step(x=a, y=b), wanted, strict=True):
        np.testing.assert_array_equal(found, exact)
