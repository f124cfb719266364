"""Operations that users declare: on every backend, differentiated, pickled, declared anew."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from aid import check_gradient, run

import deepgraph as dg
from deepgraph.expr import FUNCTIONS, OPS

BACKENDS = ["numpy", "reference"]


@dg.op(
    "elementwise", numpy="{xp}.cbrt({0}, out={out})", flops=10, low=0.5, c="cbrt({0})",
    grad=lambda g, y, x: (g / (3 * y * y),),
)  # fmt: skip
def cube_root(x: dg.Expr) -> dg.Type:
    """The real cube root."""
    if x.dtype.kind != "f":
        raise dg.DTypeError(f"needs floats: got {x}")
    return dg.Type(x.shape, x.dtype)


@dg.op("call", alias=False, numpy="{out}[...] = {xp}.median({0}, axis={axis})")
def median(x: dg.Expr, axis: int = -1) -> dg.Type:
    """The median along an axis."""
    k = axis % x.ndim
    return dg.Type((*x.shape[:k], *x.shape[k + 1 :]), x.dtype, {"axis": k})


@dg.op("elementwise", expand=lambda x, slope: x * slope + 1)
def line(x: dg.Expr, slope: float) -> dg.Type:
    """x * slope + 1, defined in smaller operations."""
    return dg.Type(x.shape, x.dtype, {"slope": float(slope)})


@dg.op("call", alias=False, numpy="{out}[...] = sum(({args},))")
def total(xs: Sequence[dg.Expr]) -> dg.Type:
    """The sum of several."""
    return dg.Type(xs[0].shape, xs[0].dtype)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_operation_runs_fuses_and_differentiates(backend: str) -> None:
    x = dg.placeholder("x", ("n", 3), "float64")
    y = cube_root(x * 2) + 1
    step = dg.compile([y, median(y), line(y, 3.0), total([y, y]), dg.grad(dg.sum(y), x)],
                      backend=backend)  # fmt: skip
    for n in (1, 5):
        a = np.random.default_rng(n).uniform(0.5, 2, (n, 3))
        root = np.cbrt(2 * a)
        expected = [root + 1, np.median(root + 1, axis=1), 3 * (root + 1) + 1, 2 * (root + 1),
                    2 / 3 / root**2]  # fmt: skip
        for found, wanted in zip(step(x=a), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
    if backend == "numpy":
        assert len(dg.compile(y, backend=backend).kernels) == 1


def test_gradients_of_both_orders() -> None:
    a = np.random.default_rng(0).uniform(0.5, 2, 4)
    check_gradient(cube_root, a)

    def slope(x: dg.Expr) -> dg.Expr:
        return dg.grad(dg.sum(cube_root(x)), x)

    check_gradient(slope, a)


def test_errors_show_the_line() -> None:
    with pytest.raises(dg.DTypeError, match=r"^cube_root: needs floats") as caught:
        cube_root(dg.placeholder("i", (2,), "int64"))
    assert "at tests/test_extension.py:" in str(caught.value)
    with pytest.raises(dg.GraphError, match="median has no gradient"):
        dg.grad(dg.sum(median(y := dg.placeholder("y", (2, 3)))), y)
    with pytest.raises(TypeError, match="op: kind is one of source, elementwise"):
        dg.op("fast")


def test_an_operation_pickles_by_name() -> None:
    x = dg.placeholder("x", (2,), "float64")
    y = pickle.loads(pickle.dumps(cube_root(x)))
    assert y.op is cube_root
    step = pickle.loads(pickle.dumps(dg.compile(cube_root(x), backend="numpy")))
    assert step(x=[8.0, 27.0]).tolist() == pytest.approx([2, 3])


def test_a_pickle_of_an_unknown_operation_says_what_to_import() -> None:
    data = pickle.dumps(cube_root(dg.placeholder("x", (2,))))
    program = f"import pickle, deepgraph as dg\npickle.loads({data!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "no operation is called 'cube_root': import what declares it" in done.stderr


def test_declaring_anew_replaces_but_never_one_of_the_package() -> None:
    x = dg.placeholder("x", (2,), "float64")
    try:
        for factor in (2.0, 3.0):  # a cell that is edited and runs again

            @dg.op("elementwise", numpy=f"{{xp}}.multiply({{0}}, {factor}, out={{out}})")
            def scaled(x: dg.Expr) -> dg.Type:
                """A multiple."""
                return dg.Type(x.shape, x.dtype)

            assert run(scaled(x), {x: np.ones(2)}).tolist() == [factor] * 2
    finally:
        OPS.pop("scaled"), FUNCTIONS.pop("scaled")
    for name in ("tanh", "softmax", "flat_index"):
        with pytest.raises(dg.GraphError, match=f"two operations are called '{name}'"):
            dg.op("elementwise", name=name)(lambda x: dg.Type(x.shape, x.dtype))
    assert OPS["tanh"] is dg.tanh


def _straight(g: dg.Expr, y: dg.Expr, x: dg.Expr) -> dg.Expr:
    return g * x * x


@pytest.mark.parametrize("without", [(), ("prune",), ("fuse",)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_gradient_of_its_author(backend: str, without: tuple[str, ...]) -> None:
    rounded = dg.custom_gradient(lambda x: dg.round(x) * 2, _straight)
    x = dg.placeholder("x", ("n", 3), "float64")
    y = rounded(dg.sin(x))
    first = dg.grad(dg.sum(y), x)
    second = dg.grad(dg.sum(first), x)
    step = dg.compile([y, first, second], backend=backend, without=without)
    a = np.random.default_rng(0).normal(size=(4, 3))
    s, c = np.sin(a), np.cos(a)
    expected = np.round(s) * 2, s**2 * c, 2 * s * c * c - s**3
    for found, wanted in zip(step(x=a), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    again = pickle.loads(pickle.dumps(step))
    np.testing.assert_allclose(again(x=a)[1], expected[1], rtol=1e-12, atol=1e-12)


def test_a_gradient_by_several_inputs() -> None:
    x, y = (dg.placeholder(name, ("n",), "float64") for name in "xy")
    f = dg.custom_gradient(lambda a, b: a * b, lambda g, out, a, b: (g * out, None))
    values = {x: np.array([2.0, 3.0]), y: np.array([5.0, 7.0])}
    by_x, by_y = dg.grad(dg.sum(f(x, y)), [x, y])
    assert run(by_x, values, {"n": 2}).tolist() == [10, 21]
    assert run(by_y, values, {"n": 2}).tolist() == [0, 0]
    g = dg.custom_gradient(lambda a, b: a * b, lambda g, out, a, b: g)
    with pytest.raises(dg.GraphError, match="custom_gradient: 1 gradients for 2 inputs"):
        dg.grad(dg.sum(g(x, y)), x)
    with pytest.raises(dg.GraphError, match="function and gradient are functions: got 3"):
        dg.custom_gradient(dg.tanh, 3)  # type: ignore[arg-type]


def test_public_names() -> None:
    names = dir(dg)
    assert names == sorted(set(names))
    assert {"op", "Type", "compile", "grad", "nn", "softmax", "take", "Parameter"} <= set(names)
    hidden = ("Any", "TYPE_CHECKING", "importlib", "parameter", "constant", "flat_index", "unslice",
              "philox_bits", "conv2d_input_grad", "check_index", "annotations", "ops")  # fmt: skip
    for name in hidden:
        assert name not in names, name
    for name in names:
        assert name == "newaxis" or getattr(dg, name) is not None
        if name != "__version__" and callable(getattr(dg, name)):
            assert getattr(dg, name).__doc__, name
    assert not hasattr(dg, "flat_index")
    assert OPS["flat_index"].internal
