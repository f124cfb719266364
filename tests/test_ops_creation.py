"""Filled, counted and spaced arrays, also of symbolic shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from aid import run

import deepgraph as dg


def assert_same(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_filled() -> None:
    sizes = {"n": 2}
    assert_same(run(dg.zeros(("n", 3)), sizes=sizes), np.zeros((2, 3), "float32"))
    assert_same(run(dg.ones(3, "int8")), np.ones(3, "int8"))
    assert_same(run(dg.full("n", 2.5), sizes=sizes), np.full(2, 2.5, "float32"))
    assert_same(run(dg.full((), 7)), np.array(7))
    assert_same(run(dg.full((2, 2), [1.0, 2.0], "float64")), np.array([[1.0, 2], [1, 2]]))
    scalar = dg.placeholder("s", (), "float64")
    assert_same(run(dg.full((2, 1), scalar), {scalar: 3.0}), np.full((2, 1), 3.0))


def test_filled_like_another() -> None:
    x = dg.placeholder("x", ("n", 2), "int16")
    feeds, sizes = {x: np.zeros((3, 2))}, {"n": 3}
    assert_same(run(dg.zeros_like(x), feeds, sizes), np.zeros((3, 2), "int16"))
    assert_same(run(dg.ones_like(x, "float64"), feeds, sizes), np.ones((3, 2)))
    assert_same(run(dg.full_like(x, 5), feeds, sizes), np.full((3, 2), 5, "int16"))
    assert dg.zeros_like(dg.placeholder("y", ())).op.name == "constant"


@pytest.mark.parametrize(
    "bounds", [(5,), (2, 9), (2, 9, 3), (9, 2, -2), (3, 3), (5, 2), (0,), (0.5, 3.0), (0, 1, 0.25)]
)
def test_arange(bounds: tuple[Any, ...]) -> None:
    dtype = "float64" if any(isinstance(b, float) for b in bounds) else None
    assert_same(run(dg.arange(*bounds, dtype=dtype)), np.arange(*bounds))


def test_arange_over_a_size() -> None:
    n = dg.placeholder("x", ("n",)).shape[0]
    assert str(dg.arange(n).shape) == "(n,)"
    assert_same(run(dg.arange(n), sizes={"n": 4}), np.arange(4))
    assert_same(run(dg.arange(1, n, 2, dtype="float32"), sizes={"n": 6}), np.float32([1, 3, 5]))
    assert_same(run(dg.arange(n, 2 * n), sizes={"n": 3}), np.arange(3, 6))
    assert run(dg.arange(3, n), sizes={"n": 1}).shape == (0,)
    assert dg.arange(0.0, 2.0).dtype == np.float32
    with pytest.raises(ValueError, match="arange: the step is 0"):
        dg.arange(1, 5, 0)


def test_iota() -> None:
    assert_same(run(dg.iota("n"), sizes={"n": 3}), np.arange(3))
    assert_same(run(dg.iota(3, "float16")), np.arange(3, dtype="float16"))
    labels = dg.placeholder("labels", ("batch",), "int64")
    hot = labels.reshape(labels.shape[0], 1) == dg.iota(3)
    assert run(hot, {labels: [2, 0]}, {"batch": 2}).tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("k", [0, 1, -2])
def test_eye(k: int) -> None:
    assert_same(run(dg.eye(3, 4, k)), np.eye(3, 4, k, "float32"))
    assert_same(run(dg.eye("n", k=k, dtype="int8"), sizes={"n": 3}), np.eye(3, k=k, dtype="int8"))


def test_linspace() -> None:
    assert_same(run(dg.linspace(0, 1, 5)), np.linspace(0, 1, 5, dtype="float32"))
    found = run(dg.linspace(-1, 2, 4, dtype="float64", endpoint=False))
    assert_same(found, np.linspace(-1, 2, 4, endpoint=False))
