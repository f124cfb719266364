"""dg.print: what a step shows of a value on its way, and that the value is left alone."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import numpy as np
import pytest
from aid import check_gradient, run

import deepgraph as dg
from deepgraph.errors import DomainError
from deepgraph.ops.printing import PRINTERS

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def x() -> dg.Expr:
    return dg.placeholder("x", ("n", 2))


def test_one_line_a_run(x: dg.Expr, capsys: Capture) -> None:
    step = dg.compile(dg.print(x * 2, label="double") + 1, backend="numpy")
    given = np.array([[1, 2], [3, 6]], np.float32)
    np.testing.assert_array_equal(step(x=given), given * 2 + 1)
    step(x=given * np.float32(np.nan))
    first, second = capsys.readouterr().out.splitlines()
    deviation = f"{np.std(given * 2):.4g}"
    assert first == f"double: mean 6 std {deviation} min 2 max 12 shape (2, 2)"
    assert second == "double: mean nan std nan min nan max nan shape (2, 2)"


def test_nothing_is_printed_before_a_call(x: dg.Expr, capsys: Capture) -> None:
    dg.compile(dg.print(x), backend="numpy")
    dg.compile(dg.print(dg.asarray([1.0, 2.0])) * 2, backend="numpy")  # nor while constants fold
    dg.emit(dg.print(x))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("every", [1, 2, 3, 10])
def test_every(x: dg.Expr, every: int, capsys: Capture) -> None:
    step = dg.compile(
        dg.print(x, every, measures={"first": lambda a: float(a[0, 0])}), backend="numpy"
    )
    for k in range(7):
        step(x=np.full((1, 2), k, np.float32))
    shown = [line.rsplit(" ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    assert shown == [str(k) for k in range(0, 7, every)]


def test_label_is_the_operation_and_its_line(x: dg.Expr, capsys: Capture) -> None:
    dg.compile(dg.print(dg.tanh(x)), backend="numpy")(x=[[0, 0]])
    dg.compile(dg.print(x), backend="numpy")(x=[[0, 0]])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("tanh at ")
    assert "test_print.py:" in first
    assert second.startswith("x at ")


def test_own_measures(x: dg.Expr, capsys: Capture) -> None:
    measures = {"norm": np.linalg.norm, "nans": lambda a: int(np.isnan(a).sum())}
    dg.compile(dg.print(x, label="x", measures=measures), backend="numpy")(x=[[3, 4]])
    assert capsys.readouterr().out == "x: norm 5 nans 0\n"


def test_a_measure_cannot_write(x: dg.Expr) -> None:
    def spoil(a: Any) -> None:
        a[...] = 0

    step = dg.compile(dg.print(dg.tanh(x), measures={"spoil": spoil}), backend="numpy")
    with pytest.raises(ValueError, match="read-only") as caught:
        step(x=[[1, 2]])
    assert caught.value.__notes__[0].startswith("print, in kernel ")


@pytest.mark.parametrize(
    ("dtype", "values", "text"),
    [
        ("float16", [60000, 60000], "mean 6e+04 std 0 min 6e+04 max 6e+04 shape (2,)"),
        ("int64", [1, 4], "mean 2.5 std 1.5 min 1 max 4 shape (2,)"),
        ("bool", [True, False], "mean 0.5 std 0.5 min False max True shape (2,)"),
        ("float32", [], "shape (0,)"),
    ],
)
def test_dtypes(dtype: str, values: list[Any], text: str, capsys: Capture) -> None:
    x = dg.placeholder("x", ("n",), dtype)
    dg.compile(dg.print(x, label="v"), backend="numpy")(x=np.array(values, dtype))
    assert capsys.readouterr().out == f"v: {text}\n"


def test_a_number(capsys: Capture) -> None:
    x = dg.placeholder("x")
    assert dg.compile(dg.print(x, label="v") * 2, backend="numpy")(x=1.5) == 3
    assert capsys.readouterr().out == "v: mean 1.5 std 0 min 1.5 max 1.5 shape ()\n"


def test_no_pass_merges_folds_or_drops_one(x: dg.Expr, capsys: Capture) -> None:
    c = dg.asarray(np.ones(2, np.float32))
    twice = dg.print(c, label="a") + dg.print(c, label="a")
    nested = dg.print(dg.print(x, label="b"), label="c")
    step = dg.compile(twice + nested, backend="numpy")
    step(x=[[0, 0]])
    step(x=[[0, 0]])
    labels = sorted(line[0] for line in capsys.readouterr().out.splitlines())
    assert labels == list("aaaabbcc")


def test_what_nothing_needs_is_not_printed(x: dg.Expr, capsys: Capture) -> None:
    dg.print(x, label="dead")
    dg.compile(x + 1, backend="numpy")(x=[[0, 0]])
    assert capsys.readouterr().out == ""


def test_each_without(x: dg.Expr, capsys: Capture) -> None:
    for without in ((), ("fuse",), ("place",), ("share", "fold", "simplify", "prune", "layout")):
        step = dg.compile(
            dg.sum(dg.print(dg.tanh(x), label="t") * x), backend="numpy", without=without
        )
        given = np.array([[1, -2]], np.float32)
        np.testing.assert_allclose(step(x=given), np.sum(np.tanh(given) * given), rtol=1e-6)
        assert capsys.readouterr().out.startswith("t: mean -0.1012 std")


def test_the_reference_backend_prints_too(x: dg.Expr, capsys: Capture) -> None:
    run(dg.print(x * 2, label="r"), {x: np.ones((1, 2))}, {"n": 1})
    assert capsys.readouterr().out == "r: mean 2 std 0 min 2 max 2 shape (1, 2)\n"


def test_strided_values(x: dg.Expr, capsys: Capture) -> None:
    measures = {"all": lambda a: a.tolist()}
    y = dg.print(dg.permute_dims(x, (1, 0))[::-1], label="t", measures=measures)
    found = dg.compile(y * 1, backend="numpy")(x=[[1, 2], [3, 4]])
    assert capsys.readouterr().out == "t: all [[2.0, 4.0], [1.0, 3.0]]\n"
    np.testing.assert_array_equal(found, [[2, 4], [1, 3]])


def test_gradients_pass_through(capsys: Capture) -> None:
    check_gradient(lambda x: dg.print(dg.sin(x)) * x, np.array([0.5, -1.0, 2.0]))
    capsys.readouterr()
    x = dg.placeholder("x", ("n",))
    loss = dg.sum(dg.print(x * x, label="square", backward=True) * 3)
    step = dg.compile([loss, dg.grad(loss, x)], backend="numpy")
    np.testing.assert_array_equal(step(x=[1.0, 2.0])[1], [6, 12])
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == [
        "gradient of square: mean 3 std 0 min 3 max 3 shape (2,)",
        "square: mean 2.5 std 1.5 min 1 max 4 shape (2,)",
    ]


def test_a_gradient_is_quiet_unless_asked(x: dg.Expr, capsys: Capture) -> None:
    loss = dg.sum(dg.print(x * x, label="square"))
    dg.compile(dg.grad(loss, x), backend="numpy")(x=[[1, 2]])
    assert "gradient" not in capsys.readouterr().out


def test_bad_arguments(x: dg.Expr) -> None:
    for every in (0, -1, 1.5, "2"):
        with pytest.raises(DomainError, match="print: prints every so many times, 1 or more: got"):
            dg.print(x, every=every)  # type: ignore[arg-type]
    with pytest.raises(dg.DTypeError, match="print: prints an expression: got int"):
        dg.print(3)  # type: ignore[arg-type]


def test_pickled(x: dg.Expr, capsys: Capture) -> None:
    step = pickle.loads(pickle.dumps(dg.compile(dg.print(x, 2, "v"), backend="numpy")))
    for _ in range(3):
        step(x=[[1, 1]])
    assert capsys.readouterr().out.count("v: mean 1") == 2


def test_printers_die_with_their_graph() -> None:
    gc.collect()
    before = len(PRINTERS)
    step: Any = dg.compile(dg.print(dg.placeholder("x")), backend="numpy")
    assert len(PRINTERS) == before + 1
    del step
    gc.collect()
    assert len(PRINTERS) == before
