"""Attached updates are made by whoever computes the value; checked indices raise."""

from __future__ import annotations

import numpy as np
import pytest
from aid import check_gradient, run

import deepgraph as dg
from deepgraph.errors import DTypeError, GraphError, ShapeError


def test_attach_is_the_value_itself() -> None:
    x, seen = dg.placeholder("x", (3,)), dg.Parameter(0.0, name="seen")
    y = dg.attach(x * 2, {seen: seen + dg.sum(x)})
    np.testing.assert_array_equal(run(y, {x: [1, 2, 3], seen: 0}), [2, 4, 6])


def test_whoever_computes_the_value_updates() -> None:
    x, seen, last = (
        dg.placeholder("x", ("n",)), dg.Parameter(0.0, name="seen"), dg.Parameter(0, name="last")
    )  # fmt: skip
    y = dg.exp(dg.attach(x, {seen: seen + dg.sum(x), last: 7}))
    other = dg.Parameter(1.0, name="other")
    dg.compile(y)(x=[1.0, 2.0])
    dg.compile(x, updates={})(x=[1.0, 2.0])
    assert (seen.value, last.value) == (0, 0)
    step = dg.compile(dg.sum(y), updates={other: other + seen})
    step(x=[1.0, 2.0])
    step(x=[3.0])
    assert (seen.value, last.value) == (6, 7)
    assert other.value == 1 + 0 + 3, "an update sees the old value of what is attached"
    dg.compile([], updates={other: dg.max(y)})(x=[0.0])
    assert seen.value == 6
    dg.compile([], updates={other: dg.max(y)})(x=[4.0])
    assert seen.value == 10


def test_gradients_pass_to_the_value_alone() -> None:
    def f(x: dg.Expr) -> dg.Expr:
        seen = dg.Parameter(np.float64(0), name="seen")
        return dg.attach(x * x, {seen: dg.sum(x)})

    check_gradient(f, [1.0, 2.0])


def test_nothing_is_left_of_it_in_a_schedule() -> None:
    x, seen = dg.placeholder("x", ("n",)), dg.Parameter(0.0, name="seen")
    step = dg.compile(dg.exp(dg.attach(x, {seen: dg.sum(x)})) + 1)
    assert {n.op.name for k in step.kernels for n in k.nodes} == {"exp", "add"}


def test_what_attach_refuses() -> None:
    x, seen = dg.placeholder("x", ("n",)), dg.Parameter(0.0, name="seen")
    with pytest.raises(ShapeError, match="attach: an update has its parameter's type: parameter"):
        dg.attach(x, {seen: x})
    with pytest.raises(GraphError, match="attach: updates are of parameters: got placeholder x"):
        dg.attach(x, {x: x})
    y = dg.attach(x, {seen: seen + 1}) + dg.attach(x, {seen: seen + 2})
    with pytest.raises(GraphError, match=r"seen.* is updated twice: at .* and at "):
        dg.compile(y, updates={})


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_check_index(dtype: str) -> None:
    x = dg.placeholder("x", (2, 3), dtype)
    y = dg.ops.check_index(x, 100)
    good = np.array([[0, 99, 5], [7, 8, 9]], dtype)
    np.testing.assert_array_equal(run(y, {x: good}), good)
    for bad in {100, 127, np.array(-1).astype(dtype).item()}:
        with pytest.raises(IndexError, match=f"index {bad} is out of range"):
            run(y, {x: np.where(good == 9, bad, good)})
    with pytest.raises(DTypeError, match="check_index: indices are whole numbers"):
        dg.ops.check_index(dg.placeholder("f", (2,)), 3)


def test_check_index_of_a_named_size_and_of_nothing() -> None:
    x, table = dg.placeholder("x", ("n",), "int64"), dg.placeholder("table", ("rows",))
    step = dg.compile(dg.ops.check_index(x, table.shape[0]), inputs=[x, table])
    np.testing.assert_array_equal(step([2, 0], [0.0] * 3), [2, 0])
    with pytest.raises(IndexError, match="index 3 is out of range: needs 0 to 2"):
        step([3, 0], [0.0] * 3)
    assert step(np.empty(0, np.int64), []).shape == (0,)
