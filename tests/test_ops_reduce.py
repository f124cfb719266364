from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import Array, check_gradient, gradient, run
from scipy import special

import deepgraph as dg
from deepgraph.expr import OPS, Kind
from deepgraph.graph import Graph, toposort

NAN, INF = np.nan, np.inf
B = dg.dim("batch")
AXES: list[Any] = [None, 0, 1, -1, (0, 2), (-1, 0), (0, 1, 2), ()]


def value(f: Callable[[Any], Any], a: Any) -> Array:
    """f(a) by the reference backend, once with known sizes and once with named ones: the same."""
    a = np.asarray(a)
    x = dg.placeholder("x", a.shape, a.dtype)
    found = run(f(x), {x: a})
    names = dg.placeholder("n", tuple(f"n{k}" for k in range(a.ndim)), a.dtype)
    y, sizes = f(names), {f"n{k}": n for k, n in enumerate(a.shape)}
    np.testing.assert_array_equal(run(y, {names: a}, sizes), found, strict=True)
    assert dg.dims.bind(y.shape, sizes) == found.shape
    return found


def numpy(f: Callable[[Any], Any], a: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy warns of means of nothing
        return np.asarray(f(a))


def data(dtype: str, seed: int = 0, shape: tuple[int, ...] = (3, 4, 2)) -> Array:
    found: Array = np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)
    return found


DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
def test_reductions_are_numpys(name: str, axis: Any, keepdims: bool) -> None:
    for dtype in DTYPES:
        a = data(dtype)
        f = lambda x: getattr(dg, name)(x, axis, keepdims)  # noqa: E731
        expected = np.asarray(getattr(np, name)(a, axis=axis, keepdims=keepdims))
        np.testing.assert_array_equal(value(f, a), expected, strict=True)
        method = value(lambda x: getattr(x, name)(axis=axis, keepdims=keepdims), a)
        np.testing.assert_array_equal(method, expected, strict=True)


@pytest.mark.parametrize("name", ["max", "min", "any", "all", "sum", "prod"])
def test_reductions_of_special_values(name: str) -> None:
    rows = [[NAN, 1, 2], [INF, -INF, 0], [-0.0, 0.0, -0.0], [-0.0, -0.0, -0.0], [INF, NAN, 1]]
    for a in (np.array(rows), np.array(rows, "float16"), np.float32(NAN), np.zeros((2, 3))):
        for axis in (None, *range(a.ndim)):
            found = value(lambda x, k=axis: getattr(dg, name)(x, k), a)
            expected = numpy(lambda a, k=axis: getattr(np, name)(a, axis=k), a)
            np.testing.assert_array_equal(found, expected, strict=True)
            if name in (
                "sum",
                "prod",
            ):  # NumPy leaves open which zero is the lesser, and nan's sign
                signs = [np.signbit(v[~np.isnan(v)]) for v in (found, expected)]
                np.testing.assert_array_equal(*signs)


def test_reductions_of_nothing() -> None:
    empty = np.empty((0, 3), "float32")
    for name in ("sum", "prod", "any", "all", "mean", "var", "count_nonzero"):
        for axis in (None, 0, 1):
            found = value(lambda x, f=name, k=axis: getattr(dg, f)(x, k), empty)
            expected = numpy(lambda a, f=name, k=axis: getattr(np, f)(a, axis=k), empty)
            np.testing.assert_array_equal(found, expected)
    x = dg.placeholder("x", (0, 3))
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(dg.ShapeError, match=f"^{name}: no elements along axis 0"):
            getattr(dg, name)(x, 0)
        with pytest.raises(dg.ShapeError, match=f"^{name}: no elements along axis 0"):
            getattr(dg, name)(x)
        assert getattr(dg, name)(x, 1).shape == (0,)
    for f in (dg.softmax, dg.log_softmax, dg.logsumexp):
        assert value(lambda x, f=f: f(x, 1), empty).shape[0] == 0  # rows of 3, but no rows


def test_sums_choose_their_dtype() -> None:
    a = np.full(300, 100, "int8")
    assert value(dg.sum, a) == 30000
    for dtype in ("int8", "float32", "float64", "int32"):
        found = value(lambda x, d=dtype: dg.sum(x, dtype=d), a)
        np.testing.assert_array_equal(found, np.sum(a, dtype=dtype), strict=True)
        found = value(lambda x, d=dtype: dg.prod(x[:1], dtype=d), a)
        np.testing.assert_array_equal(found, np.prod(a[:1], dtype=dtype), strict=True)
    assert dg.sum(dg.placeholder("x", (2,)), dtype=float).dtype == "float64"


def test_half_precision_accumulates_in_single() -> None:
    ones = np.ones((5000, 2), "float16")
    for f in (dg.sum, lambda x: dg.sum(x, 0), lambda x: dg.sum(x.T, 1)):
        assert set(value(f, ones).ravel().tolist()) <= {5000.0, 10000.0}
    big = np.full(1000, 300, "float16")  # the sum, and the squares, are beyond float16
    assert value(dg.mean, big) == 300
    wide = np.array([0, 1000] * 50, "float16")
    found = value(dg.std, wide)
    assert (found, found.dtype) == (500, "float16")
    assert value(dg.norm, np.array([300, 400], "float16")) == 500


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_moments(name: str, axis: Any) -> None:
    for dtype in ("float64", "float32", "int32", "bool", "uint8"):
        a = data(dtype)
        for keepdims in (False, True):
            found = value(lambda x, d=keepdims: getattr(dg, name)(x, axis, d), a)
            expected = numpy(lambda a, d=keepdims: getattr(np, name)(a, axis=axis, keepdims=d), a)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == "float32" else 1e-13)
    if axis != ():
        check_gradient(lambda x: getattr(dg, name)(x, axis), data("float64"))


@pytest.mark.parametrize("name", ["var", "std"])
def test_correction(name: str) -> None:
    a = data("float64")
    for less in (0, 1, 1.0, 0.5, 2, 3, 4):
        expected = numpy(lambda a, n=less: getattr(np, name)(a, axis=0, ddof=n), a)
        x = dg.placeholder("x", a.shape, a.dtype)
        for y in (getattr(dg, name)(x, 0, correction=less), getattr(x, name)(0, ddof=less)):
            np.testing.assert_allclose(run(y, {x: a}), expected, rtol=1e-13)
    found = value(lambda x: getattr(dg, name)(x, correction=1), a)
    np.testing.assert_allclose(found, getattr(np, name)(a, ddof=1), rtol=1e-13)
    n = dg.placeholder("n", ("batch",))
    with pytest.raises(dg.ShapeError, match="a correction of a named size is a whole number"):
        getattr(dg, name)(n, correction=0.5)


def test_the_standard_deviation_of_equal_values_has_gradient_zero() -> None:
    (g,) = gradient(lambda x: dg.std(x, 1), np.array([[2.0, 2, 2], [1, 2, 3]]))
    assert g[0].tolist() == [0, 0, 0]
    np.testing.assert_allclose(g[1], np.array([-1, 0, 1]) / (3 * np.std([1, 2, 3])))


def test_count_nonzero() -> None:
    for dtype in ("float32", "int8", "bool"):
        for axis in (None, 0, (1, 2)):
            a = data(dtype)
            found = value(lambda x, k=axis: dg.count_nonzero(x, k), a)
            np.testing.assert_array_equal(found, np.count_nonzero(a, axis), strict=False)
            assert found.dtype == "int64"


@pytest.mark.parametrize("order", [2, 1, 3, 0.5, 1.5, -1, -2, INF, -INF, 0])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_norm(order: float, axis: Any) -> None:
    a = np.random.default_rng(0).standard_normal((3, 4))
    flat, k = (a, axis) if axis is not None else (a.ravel(), None)
    expected = np.linalg.norm(flat, order, k)
    f = lambda x: dg.norm(x, axis, ord=order)  # noqa: E731
    np.testing.assert_allclose(value(f, a), expected, rtol=1e-12)
    if order:
        check_gradient(f, a)
    kept = value(lambda x: dg.norm(x, axis, True, order), a)
    assert kept.shape == ((1, 1) if axis is None else np.expand_dims(expected, axis).shape)


def test_norm_at_zero_has_gradient_zero() -> None:
    a = np.array([[0.0, 0, 0], [3, 0, 4]])
    assert value(lambda x: dg.norm(x, 1), a).tolist() == [0, 5]
    for order in (2, 3, 1.5, 1, INF):
        (g,) = gradient(lambda x, p=order: dg.norm(x, 1, ord=p), a)
        assert g[0].tolist() == [0, 0, 0]
        assert np.isfinite(g).all()
    np.testing.assert_allclose(gradient(lambda x: dg.norm(x, 1), a)[0][1], [0.6, 0, 0.8])
    assert np.isnan(value(dg.norm, np.array([NAN, 1])))
    assert value(dg.norm, np.array([3, 4])).dtype == "float64"


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arg(name: str) -> None:
    for dtype in ("float64", "int8", "bool"):
        for axis in (None, 0, 1, -1):
            for keepdims in (False, True):
                found = value(lambda x, k=axis, d=keepdims: getattr(dg, name)(x, k, d), data(dtype))
                expected = getattr(np, name)(data(dtype), axis, keepdims=keepdims)
                np.testing.assert_array_equal(found, expected)
                assert found.dtype == "int64"
    assert value(getattr(dg, name), np.array([1.0, NAN, -9, 9, NAN])) == 1
    assert value(lambda x: getattr(x, name)(axis=0), np.array([2, 2])) == 0
    with pytest.raises(dg.ShapeError, match="axis is out of range: 2 of 2"):
        getattr(dg, name)(dg.zeros((2, 2)), 2)
    x = dg.placeholder("x", (3,))
    y = dg.sum(x * getattr(dg, name)(x))  # no gradient flows through the index
    a = np.array([0, 5, -1])
    assert run(dg.grad(y, x), {x: a}).tolist() == [getattr(np, name)(a)] * 3


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "logsumexp"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_gradients(name: str, axis: Any, keepdims: bool) -> None:
    a = np.random.default_rng(0).standard_normal((3, 4, 2))
    check_gradient(lambda x: getattr(dg, name)(x, axis, keepdims), a)
    second = lambda x: dg.grad(dg.sum(getattr(dg, name)(x, axis, keepdims) ** 3), x)  # noqa: E731
    check_gradient(second, a, rtol=1e-5)


def test_the_gradient_of_a_product_with_zeros() -> None:
    for row in ([2.0, 3, 4], [0.0, 3, 4], [0.0, 0, 4], [0.0, 0, 0], [-0.0, 5, -1], [5.0]):
        expected = [np.prod(np.delete(row, k)) for k in range(len(row))]
        (g,) = gradient(dg.prod, np.array(row))
        np.testing.assert_allclose(g, expected)
        check_gradient(lambda x: dg.prod(x, 1), np.array([row, row]))
    (g,) = gradient(lambda x: dg.prod(x, (0, 2)), np.array([[[0.0, 2]], [[3, 5]]]))
    assert g.tolist() == [[[30, 0]], [[0, 0]]]


@pytest.mark.parametrize("name", ["max", "min"])
def test_ties_share_the_gradient(name: str) -> None:
    a = np.array([[1.0, 1, 1], [2, -2, 2]])
    (g,) = gradient(lambda x: getattr(dg, name)(x, 1), a)
    hits = a == getattr(np, name)(a, axis=1, keepdims=True)
    np.testing.assert_array_equal(g, hits / hits.sum(1, keepdims=True))
    (g,) = gradient(getattr(dg, name), a)
    hits = a == getattr(np, name)(a)
    np.testing.assert_array_equal(g, hits / hits.sum())


def test_gradients_in_half_precision_and_of_many_ties() -> None:
    x = dg.placeholder("x", (5000,), "float16")
    g = dg.grad(dg.max(x), x)
    assert g.dtype == "float16"
    np.testing.assert_allclose(run(g, {x: np.ones(5000)}), 1 / 5000, rtol=1e-3)


EXTREME = np.array([
    [1000, 1001, 1002], [-1000, -1001, -1002], [-INF, 0, 1], [-INF, -INF, -INF], [INF, 0, 1],
    [NAN, 0, 1], [1e-300, 0, -1e-300], [-INF, INF, 0],
])  # fmt: skip


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 1), None])
def test_softmax_and_its_kin(axis: Any) -> None:
    a = np.random.default_rng(0).standard_normal((4, 5)) * 5
    every = (0, 1) if axis is None else axis
    for name in ("softmax", "log_softmax"):
        f = lambda x, n=name: getattr(dg, n)(x, axis)  # noqa: E731
        np.testing.assert_allclose(value(f, a), getattr(special, name)(a, every), rtol=1e-12)
        check_gradient(f, a)
        assert f(dg.placeholder("x", (4, 5), "float16")).dtype == "float16"
    for keepdims in (False, True):
        f = lambda x, d=keepdims: dg.logsumexp(x, axis, d)  # noqa: E731
        expected = special.logsumexp(a, every, keepdims=keepdims)
        np.testing.assert_allclose(value(f, a), expected, rtol=1e-12)


def test_softmax_of_extreme_values() -> None:
    with np.errstate(all="ignore"):
        for name in ("softmax", "log_softmax", "logsumexp"):
            f = lambda x, n=name: getattr(dg, n)(x, axis=1)  # noqa: E731
            expected = getattr(special, name)(EXTREME, axis=1)
            if name == "log_softmax":  # SciPy: inf - inf there is nan too, but 0 - inf is -inf
                finite = np.isfinite(EXTREME.max(1))
                expected = np.where(finite[:, None], expected, value(f, EXTREME))
            np.testing.assert_allclose(value(f, EXTREME), expected, rtol=1e-12)


def test_logsumexp_of_nothing_likely_has_gradient_zero() -> None:
    (g,) = gradient(lambda x: dg.logsumexp(x, 1), np.array([[-INF, -INF], [-INF, 3.0], [1, 1]]))
    np.testing.assert_allclose(g, [[0, 0], [0, 1], [0.5, 0.5]])


def test_the_gradient_of_softmax_does_not_pass_its_maximum() -> None:
    """exp(x - max): the maximum cancels, so its own gradient need not be computed."""
    x = dg.placeholder("x", ("batch", 10))
    for f in (dg.softmax, dg.log_softmax):
        nodes = toposort([dg.grad(dg.sum(f(x) * f(x)), x)])
        assert "equal" not in {n.op.name for n in nodes}


def test_softmax_is_elementwise_operations_and_reductions() -> None:
    x = dg.placeholder("x", ("batch", 10))
    y = dg.softmax(x)
    graph = Graph((), {"y": y, "g": dg.grad(dg.sum(y * y), x)})
    assert Kind.CALL not in {n.op.kind for n in graph.nodes}


X = dg.placeholder("x", ("batch", 3))


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda: dg.sum(X, 2), "sum: axis is out of range: 2 of 2 dimensions"),
        (lambda: dg.max(X, (0, -2)), "max: an axis stands there twice: (0, -2)"),
        (lambda: dg.mean(X, 1.5), "mean: an axis is a whole number: got 1.5"),
        (lambda: dg.sum(X, dtype="complex64"), "sum: booleans, integers and real floats only"),
        (lambda: dg.softmax(X, 3), "softmax: axis is out of range: 3 of 2 dimensions"),
    ],
)
def test_errors(declare: Callable[[], Any], words: str) -> None:
    with pytest.raises(dg.GraphError) as caught:
        declare()
    assert str(caught.value).startswith(words)
    assert "test_ops_reduce.py" in str(caught.value)


def test_attributes_of_reductions_are_what_passes_rely_on() -> None:
    for name in ("sum", "prod", "max", "min", "any", "all"):
        y = OPS[name](dg.placeholder("x", (2, 3, 4)), axis=(-1, 0))
        assert (y.attr("axis"), y.attr("keepdims")) == ((0, 2), False)
        assert OPS[name](X).attr("axis") == (0, 1)


def test_softmax_and_logsumexp_of_no_elements() -> None:
    for size in (0, "n"):
        x = dg.placeholder("x", (2, size), "float64")
        outputs = [dg.logsumexp(x, 1)]
        for f in (dg.softmax, dg.log_softmax):
            outputs += [f(x), dg.grad(dg.sum(f(x)), x)]
        for backend in ("reference", "numpy"):
            total, *others = dg.compile(outputs, backend=backend)(x=np.zeros((2, 0)))
            assert total.tolist() == [-np.inf, -np.inf]
            assert [y.shape for y in others] == [(2, 0)] * 4


def test_an_initial_value_of_an_extreme() -> None:
    x = dg.placeholder("x", ("n", 1, 3), "float64")
    outputs = [f(x, k, initial=1.5) for f in (dg.max, dg.min) for k in (None, 0, 1, -1)]
    slope = dg.grad(dg.sum(dg.max(x, 0, initial=0.0)), x)
    for backend in ("reference", "numpy"):
        step = dg.compile([*outputs, slope], backend=backend)
        for n in (0, 4):
            a = np.random.default_rng(n).normal(size=(n, 1, 3)) - 0.5
            *found, g = step(x=a)
            expected = [f(a, k, initial=1.5) for f in (np.max, np.min) for k in (None, 0, 1, -1)]
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(g, (a == a.max(0, initial=0)) * 1.0)
    half = dg.placeholder("h", ("n",), "float16")
    assert dg.compile(dg.max(half, initial=-1))(h=np.zeros(0, "float16")) == -1
