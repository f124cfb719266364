"""What surprises people who know NumPy: each either works or says what to write instead."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deepgraph as dg

TRUTH = "has no truth value: use dg.where, & and |, not if, and, or, in, =="


@pytest.fixture
def x() -> dg.Expr:
    return dg.placeholder("x", ("batch", 4))


@pytest.fixture
def y() -> dg.Expr:
    return dg.placeholder("y", ("batch", 4))


def refuses(text: str, f: Callable[[], object], kind: type[Exception] = TypeError) -> None:
    """f raises a GraphError that contains the text, with the user's line and carets."""
    with pytest.raises(dg.GraphError) as caught:
        f()
    assert isinstance(caught.value, kind)
    assert text in str(caught.value)
    assert "test_surprises.py:" in str(caught.value)
    assert "^^" in str(caught.value)


def test_membership_in_a_list(x: dg.Expr, y: dg.Expr) -> None:
    refuses(TRUTH, lambda: x in [y, x])
    assert x in [x, y]  # Python looks at identity first
    assert x in {x, y}  # and sets go by identity alone
    assert x not in {y}
    assert {x: 1, y: 2}[y] == 2
    refuses(TRUTH, lambda: [y, x].index(x))
    refuses(TRUTH, lambda: [y, x].remove(x))


def test_comparison_is_a_node(x: dg.Expr, y: dg.Expr) -> None:
    def checks() -> None:
        assert x == y

    refuses(TRUTH, checks)
    refuses(TRUTH, lambda: 1 if x > 0 else 2)
    refuses(TRUTH, lambda: x and y)
    refuses(TRUTH, lambda: x or y)
    refuses(TRUTH, lambda: not x)
    refuses(TRUTH, lambda: 0 < x < 1)
    refuses(TRUTH, lambda: max(x, y))
    refuses(TRUTH, lambda: sorted([x, y]))
    assert (x == y).dtype == np.bool_
    assert (x != y).shape == x.shape


def test_search_in_a_symbol(x: dg.Expr) -> None:
    refuses("cannot be searched: use dg.any(x == value)", lambda: 1.0 in x)


def test_a_named_size_has_no_number_yet(x: dg.Expr) -> None:
    def branches() -> int:
        return 1 if x.shape[0] == 10 else 2

    for f in (branches, lambda: x.shape[0] > 3, lambda: x.shape == (10, 4)):
        with pytest.raises(dg.GraphError, match="not known before sizes are bound: batch and "):
            f()
    assert x.shape[1] == 4
    assert x.shape[0] == x.shape[0]


def test_length_and_iteration(x: dg.Expr) -> None:
    refuses("has no length known now: use .shape[0]", lambda: len(x))
    refuses("has no length known now", lambda: list(x))
    with pytest.raises(dg.GraphError, match="has no length known now"):
        _, _ = x
    rows = list(dg.placeholder("z", (3, "n")))
    assert [str(r.shape) for r in rows] == ["(n,)"] * 3


def test_numpy_asks_for_an_array(x: dg.Expr, y: dg.Expr) -> None:
    for f in (
        lambda: np.asarray(x), lambda: np.array(x), lambda: np.array([x, y]),
        lambda: np.concatenate([x, y]), lambda: np.dot(np.ones((4, 4)), x),
    ):  # fmt: skip
        refuses("is not an array yet: dg.compile it and call the step", f)


def test_numpy_functions_and_operands_stay_symbolic(x: dg.Expr) -> None:
    for z in (np.exp(x), np.ones(4, np.float32) * x, np.float32(2) * x, np.maximum(x, 0)):
        assert isinstance(z, dg.Expr)
        assert z.shape[1] == 4
        assert z.dtype == np.float32
    refuses("cannot go through np.add: use the dg function", lambda: np.add.reduce(x))
    refuses("cannot go through np.add", lambda: np.add(x, 1, out=np.empty((2, 4))))
    refuses("cannot go through np.divmod", lambda: np.divmod(x, 2))


def test_numpy_s_reductions_stay_symbolic(x: dg.Expr) -> None:
    given = np.array([[1, 2, 3, 5], [0, 1, 2, 9]], np.float32)
    for f in (np.sum, np.mean, np.max, np.min, np.prod, np.var, np.std, np.argmax):
        for axis in (None, 0, -1) if f is not np.argmax else (0, -1):
            step = dg.compile(f(x, axis=axis), backend="numpy")
            np.testing.assert_allclose(step(x=given), f(given, axis=axis), rtol=1e-5)
    assert np.any(x > 0).dtype == np.bool_
    assert np.sum(x, keepdims=True).ndim == 2
    out = np.empty(4, np.float32)
    with pytest.raises(dg.GraphError, match="cannot be written into an array: sum takes no out="):
        np.sum(x, axis=0, out=out)


def test_formats_of_a_symbol(x: dg.Expr) -> None:
    refuses("is not a number yet: compile it and call the step", lambda: f"{dg.sum(x):.3f}")
    assert "float32[batch, 4]" in f"{x}"


def test_numbers(x: dg.Expr) -> None:
    total = dg.sum(x)
    for f in (float, int, complex, range, [1, 2].__getitem__):
        refuses("is not a number yet: compile it and call the step", lambda f=f: f(total))


def test_item_assignment(x: dg.Expr) -> None:
    def assigns() -> None:
        x[0] = 1  # type: ignore[index]

    refuses("is immutable: use dg.where(mask, value, x), or dg.concat of slices", assigns)


def test_augmented_assignment_makes_a_new_node(x: dg.Expr) -> None:
    before = z = x
    z += 1
    z *= 2
    assert z is not before
    step = dg.compile([before, z], inputs=[x], backend="numpy")
    given = np.ones((1, 4), np.float32)
    unchanged, changed = step(given)
    np.testing.assert_array_equal(unchanged, 1)
    np.testing.assert_array_equal(changed, 4)
    np.testing.assert_array_equal(given, 1)


def test_augmented_assignment_of_an_array(x: dg.Expr) -> None:
    total: Any = np.zeros(4)
    with pytest.raises(dg.GraphError, match=r"cannot go through np\.add"):
        total += x


def test_attributes_cannot_be_set(x: dg.Expr) -> None:
    with pytest.raises(AttributeError, match="an Expr is immutable: cannot set 'shape'"):
        x.shape = (3, 4)
    with pytest.raises(AttributeError, match="an Expr is immutable: cannot delete 'shape'"):
        del x.shape


def test_results_are_arrays(x: dg.Expr) -> None:
    found = dg.compile({"loss": dg.mean(x), "x": x}, backend="numpy")(x=[[1, 2, 3, 4]])
    loss = found["loss"]
    assert f"{loss:.3f}" == "2.500"
    assert f"{loss:8.2e}" == "2.50e+00"
    assert "%.1f" % loss == "2.5"  # noqa: UP031
    assert (float(loss), loss.item(), round(float(loss)), bool(loss > 2)) == (2.5, 2.5, 2, True)
    assert max([loss, loss * 2]) == 5
    assert isinstance(loss, np.ndarray)
    assert loss.shape == ()
    total = 0.0
    total += loss
    assert total == 2.5
    found["x"] += 1  # it is the caller's


def test_a_loop_over_losses(x: dg.Expr) -> None:
    step = dg.compile(dg.mean(x), backend="numpy")
    losses = [step(x=np.full((2, 4), k, np.float32)) for k in range(5)]
    assert [float(v) for v in losses] == [0, 1, 2, 3, 4]
    assert np.mean(losses) == 2
    assert np.array(losses).shape == (5,)


def test_feeds_by_position(x: dg.Expr, y: dg.Expr) -> None:
    given = np.ones((2, 4), np.float32)
    step = dg.compile(x + y, backend="numpy")
    with pytest.raises(dg.FeedError) as caught:
        step(given, given)
    text = str(caught.value)
    assert text.startswith("feeds go by name: step(x=..., y=...); ")
    assert "for feeds by position compile with inputs=[...]" in text
    assert isinstance(caught.value, TypeError)
    assert dg.compile(x + y, inputs=[x, y], backend="numpy")(given, given).shape == (2, 4)


def test_copies_are_the_node_itself_or_equal(x: dg.Expr) -> None:
    y = dg.tanh(x)
    again = copy.deepcopy({"y": y, "z": y})
    assert again["y"] is again["z"]
    assert again["y"].op is y.op


def test_none_is_no_operand(x: dg.Expr) -> None:
    refuses("equal: expected an expression, an array or a number: NoneType", lambda: x == None)  # noqa: E711
    assert x is not None


def test_sum_of_python(x: dg.Expr, y: dg.Expr) -> None:
    assert sum([x, y]).shape == x.shape  # type: ignore[union-attr]


def test_warnings_of_numpy_stay_away(x: dg.Expr) -> None:
    """Warnings are errors here: what is not finite comes back, without one."""
    step = dg.compile([dg.log(x), 1 / x, x - np.inf, dg.exp(x * 1e30)], backend="numpy")
    with np.errstate(all="raise"):
        found = step(x=[[-1, 0, 1, 2]])
    np.testing.assert_array_equal(np.isnan(found[0]), [[True, False, False, False]])
    np.testing.assert_array_equal(found[1], [[-1, np.inf, 1, 0.5]])


def test_a_node_made_through_numpy_is_of_the_users_line() -> None:
    x = dg.placeholder("x", (3,))
    assert "np.sum(x)" in np.sum(x).origin.line  # type: ignore[attr-defined]
