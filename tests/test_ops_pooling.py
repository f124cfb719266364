"""Pooling against loops over windows, in several memory orders; its gradients, at ties too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from aid import check_gradient, gradient, run

import deepgraph as dg
from deepgraph.backends import library
from deepgraph.expr import Expr

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

ORDERS = [(0, 1, 2, 3), (1, 2, 3, 0), (0, 2, 3, 1), (3, 1, 0, 2)]
CASES: list[tuple[Shape, dict[str, Any]]] = [
    ((2, 3, 4, 6), {"window": 2}),
    ((2, 3, 7, 8), {"window": 2}),
    ((1, 2, 6, 6), {"window": (3, 2)}),
    ((2, 2, 7, 9), {"window": 3, "stride": 2}),
    ((2, 2, 6, 6), {"window": 3, "stride": 1, "padding": "same"}),
    ((2, 2, 5, 8), {"window": (2, 3), "stride": (1, 4), "padding": ((1, 0), (2, 1))}),
    ((2, 1, 4, 4), {"window": 2, "padding": ((1, 0), (0, 0))}),
    ((2, 1, 8, 7), {"window": 2, "stride": 3}),
    ((2, 2, 5, 4), {"window": (5, 4)}),
    ((2, 2, 3, 3), {"window": 1}),
    ((1, 1, 2, 2), {"window": 3, "padding": 2, "stride": 2}),
    ((0, 2, 4, 4), {"window": 2}),
]


def each_window(y: Expr) -> list[tuple[Shape, tuple[slice, slice], int]]:
    """Each place of a pooled image, what of the image lies in its window, and how much padding."""
    x = y.inputs[0]
    found = []
    for n, c, i, j in np.ndindex(*y.shape):
        cut, area = [], 1
        for at, k, s, (before, _), size in zip(
            (i, j), *(y.attr(a) for a in ("window", "stride", "padding")), x.shape[2:], strict=True
        ):
            start = at * s - before
            cut.append(slice(max(start, 0), min(start + k, size)))
            area *= k
        inside = (cut[0].stop - cut[0].start) * (cut[1].stop - cut[1].start)
        found.append(((n, c, i, j), (cut[0], cut[1]), area - inside))
    return found


def image(shape: Shape, dtype: str = "float64", seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def few(shape: Shape, seed: int = 0) -> Array:
    """An image with many equal places."""
    return np.random.default_rng(seed).integers(-2, 2, shape).astype(float)


@pytest.mark.parametrize(("shape", "how"), CASES)
def test_the_greatest_and_the_mean_of_each_window(shape: Shape, how: dict[str, Any]) -> None:
    x = image(shape)
    p = dg.placeholder("x", shape, "float64")
    greatest, mean = dg.max_pool2d(p, **how), dg.avg_pool2d(p, **how)
    padded = dg.avg_pool2d(p, **how, count_include_pad=True)
    found = [run(y, {p: x}) for y in (greatest, mean, padded)]
    for (n, c, i, j), cut, outside in each_window(greatest):
        window = x[n, c, *cut]
        assert found[0][n, c, i, j] == window.max()
        np.testing.assert_allclose(found[1][n, c, i, j], window.mean())
        np.testing.assert_allclose(found[2][n, c, i, j], window.sum() / (window.size + outside))


@pytest.mark.parametrize(("shape", "how"), CASES)
@pytest.mark.parametrize("make", [image, few])
def test_the_gradient_goes_to_the_greatest_in_equal_shares(
    shape: Shape, how: dict[str, Any], make: Callable[..., Array]
) -> None:
    x = make(shape)
    y = dg.max_pool2d(dg.placeholder("x", shape, "float64"), **how)
    g = image(y.shape, seed=1)
    expected = np.zeros(shape)
    for (n, c, *at), cut, _ in each_window(y):
        best = x[n, c, *cut] == x[n, c, *cut].max()
        expected[n, c, *cut] += g[n, c, *at] * best / best.sum()
    (found,) = gradient(lambda x: dg.max_pool2d(x, **how), x, cotangent=g)
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(("shape", "how"), CASES)
@pytest.mark.parametrize("padded", [False, True])
def test_the_gradient_of_means(shape: Shape, how: dict[str, Any], padded: bool) -> None:
    y = dg.avg_pool2d(dg.placeholder("x", shape, "float64"), **how)
    g = image(y.shape, seed=1)
    expected = np.zeros(shape)
    for (n, c, *at), cut, outside in each_window(y):
        places = expected[n, c, *cut].size + outside * padded
        expected[n, c, *cut] += g[n, c, *at] / places
    (found,) = gradient(
        lambda x: dg.avg_pool2d(x, **how, count_include_pad=padded), image(shape), cotangent=g
    )
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(("shape", "how"), CASES)
def test_gradients_of_gradients(shape: Shape, how: dict[str, Any]) -> None:
    """The gradient is linear in g, with the same choice of places in both directions."""
    x = few(shape)
    y = dg.max_pool2d(dg.asarray(x), **how)
    g, t = image(y.shape, seed=1), image(shape, seed=2)
    check_gradient(lambda g: dg.ops.max_pool2d_grad(g, x, y, **how), g)
    check_gradient(lambda t: dg.ops.max_pool2d_jvp(t, x, y, **how), t)
    check_gradient(lambda g: dg.ops.avg_pool2d_grad(g, shape[2:], **how), g)
    forth = run(dg.sum(dg.ops.max_pool2d_jvp(dg.asarray(t), x, y, **how) * g))
    back = run(dg.sum(dg.ops.max_pool2d_grad(dg.asarray(g), x, y, **how) * t))
    np.testing.assert_allclose(forth, back)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("other", ORDERS)
@pytest.mark.parametrize(("shape", "how"), [CASES[1], CASES[3], CASES[5]])
def test_any_memory_order(
    shape: Shape, how: dict[str, Any], order: tuple[int, ...], other: tuple[int, ...]
) -> None:
    """The functions that generated code calls: images in one memory order, results in another."""

    def laid(a: Array, order: tuple[int, ...]) -> Array:
        stored = np.ascontiguousarray(a.transpose(order))
        return stored.transpose(np.argsort(order))

    p = dg.placeholder("x", shape, "float64")
    for f in (dg.max_pool2d, dg.avg_pool2d):
        y = f(p, **how)
        g = dg.placeholder("g", y.shape, "float64")
        values = {p: few(shape), g: image(y.shape, seed=1)}
        values[y] = run(y, values)
        backward = y.op.grad(g, y, p, **y.attributes)[0]  # type: ignore[misc]
        second = [*backward.op.grad(p, backward, *backward.inputs, **backward.attributes)][:1]
        for node in (y, backward, *second):
            scratch = [np.full(t.shape, 77).astype(t.dtype) for t in node.op.scratch(node)]  # type: ignore[misc]
            out = laid(np.full(node.shape, np.nan), other)
            given = [laid(values[i], order) for i in node.inputs]
            attrs = {k: v for k, v in node.attributes.items() if k != "size"}
            getattr(library, node.op.name)(*given, out, *attrs.values(), *scratch)
            np.testing.assert_allclose(out, run(node, values), atol=1e-14)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "float16", "float32"])
def test_dtypes(dtype: str) -> None:
    x = (image((2, 2, 5, 5)) * 50).astype(dtype)
    p = dg.placeholder("x", x.shape, dtype)
    greatest = run(dg.max_pool2d(p, 3, 1, 1), {p: x})
    mean = run(dg.avg_pool2d(p, 2), {p: x})
    assert greatest.dtype == dtype
    assert greatest[0, 0, 0, 0] == x[0, 0, :2, :2].max()
    assert mean.dtype == (dtype if dtype.startswith("float") else "float64")
    np.testing.assert_allclose(mean[1, 1, 1, 1], x[1, 1, 2:4, 2:4].astype(float).mean(), rtol=1e-3)


def test_padding_is_never_the_greatest() -> None:
    for dtype, least in (("float32", -np.inf), ("int16", -(2**15)), ("float16", -np.inf)):
        x = np.full((1, 1, 3, 3), least, dtype)
        p = dg.placeholder("x", x.shape, dtype)
        np.testing.assert_array_equal(run(dg.max_pool2d(p, 3, 1, 1), {p: x}), x)


def test_nan_is_the_greatest_and_receives_nothing() -> None:
    x = np.array([[[[1, np.nan, 2, 3], [0, 1, np.inf, -np.inf]]]])
    p = dg.placeholder("x", x.shape, "float64")
    np.testing.assert_array_equal(run(dg.max_pool2d(p, 2), {p: x}), [[[[np.nan, np.inf]]]])
    (g,) = gradient(lambda x: dg.max_pool2d(x, 2), x)
    np.testing.assert_array_equal(g, [[[[0, 0, 0, 0], [0, 0, 1, 0]]]])


@pytest.mark.parametrize("stride", [1, 2])
def test_an_infinite_gradient_leaves_no_nan_beside_it(stride: int) -> None:
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    (g,) = gradient(lambda x: dg.max_pool2d(x, 2, stride), x, cotangent=np.float64(np.inf))
    assert not np.isnan(g).any()
    assert np.isinf(g).sum() == (9 if stride == 1 else 4)


def test_a_window_with_more_equal_places_than_a_byte_counts() -> None:
    (g,) = gradient(lambda x: dg.max_pool2d(x, 16), np.zeros((1, 1, 16, 16)))
    np.testing.assert_array_equal(g, np.full((1, 1, 16, 16), 1 / 256))


def test_half_precision_means_are_summed_in_single() -> None:
    x = np.full((1, 1, 64, 64), 100, np.float16)
    p = dg.placeholder("x", x.shape, "float16")
    assert run(dg.avg_pool2d(p, 64), {p: x}).item() == 100  # 409600 is no half
    g = dg.placeholder("g", (1, 1, 64, 64), "float16")
    ones = run(dg.ops.avg_pool2d_grad(g, (65, 65), 2, 1), {g: np.ones(g.shape, np.float16)})
    assert ones.dtype == np.float16
    assert ones[0, 0, 1, 1] == 1


def test_the_oracle_in_double_precision_chooses_the_same_places() -> None:
    from deepgraph.backends.reference import evaluate
    from deepgraph.graph import Graph

    x = image((2, 2, 6, 6)) / 3
    p = dg.placeholder("x", x.shape)  # float32, in which scratch is declared
    g = dg.grad(dg.sum(dg.max_pool2d(p, 2)), p)
    found = evaluate(Graph((), {"g": g}), {p: x}, {}, float64=True)[0]["g"]
    assert found.sum() == 2 * 2 * 3 * 3


@pytest.mark.parametrize("pool", [dg.max_pool2d, dg.avg_pool2d])
def test_sizes_that_are_not_known_yet(pool: Callable[..., Expr]) -> None:
    p = dg.placeholder("x", ("n", 2, "h", 7), "float64")
    for how in ({"window": 2}, {"window": 3, "stride": 2, "padding": "same"}):
        y = pool(p, **how)
        for n, h in ((1, 4), (3, 9)):
            x = image((n, 2, h, 7))
            expected = pool(dg.asarray(x), **how)
            np.testing.assert_array_equal(run(y, {p: x}, {"n": n, "h": h}), run(expected))
            back = dg.grad(dg.sum(y * y), p)
            (g,) = gradient(lambda x, how=how: pool(x, **how) ** 2, x)  # type: ignore[misc]
            np.testing.assert_allclose(run(back, {p: x}, {"n": n, "h": h}), g)
    assert str(pool(p, 2).shape) == "(n, 2, h//2, 3)"


def test_the_buffer_of_ufuncs_is_left_as_it_was() -> None:
    usual = np.setbufsize(4096)
    try:
        x, y, how = np.zeros((1, 1, 4, 4)), np.zeros((1, 1, 2, 2)), ((2, 2), (2, 2), ((0, 0),) * 2)
        library.max_pool2d(x, y, *how, np.zeros((1, 1, 2, 4)))
        assert np.getbufsize() == 4096
        with pytest.raises(ValueError, match="broadcast"):
            library.max_pool2d(x, y, *how, np.zeros((1, 1, 3, 5)))
        assert np.getbufsize() == 4096
    finally:
        np.setbufsize(usual)


@pytest.mark.parametrize(("shape", "how", "message"), [
    (("n", 4, 4), {"window": 2}, r"needs images .* got \(n, 4, 4\)"),
    (("n", 1, 4, 3), {"window": 4}, r"window of \(4, 4\) does not fit in the image: \(4, 3\)"),
    (("n", 1, 4, 4), {"window": 2, "padding": 2}, r"padding alone: window \(2, 2\)"),
    (("n", 1, 4, 4), {"window": 3, "padding": ((0, 3), (0, 0))}, "padding alone"),
    (("n", 1, 4, 4), {"window": 0}, "window is a whole number >= 1.*: 0"),
    (("n", 1, 4, 4), {"window": 2, "stride": (0, 1)}, r"stride is .* \(0, 1\)"),
])  # fmt: skip
@pytest.mark.parametrize("pool", [dg.max_pool2d, dg.avg_pool2d])
def test_errors_name_what_does_not_fit(
    pool: Callable[..., Expr], shape: Any, how: dict[str, Any], message: str
) -> None:
    with pytest.raises(dg.ShapeError, match=message):
        pool(dg.placeholder("x", shape), **how)


def test_gradients_check_the_shapes_they_are_given() -> None:
    x, y = dg.placeholder("x", ("n", 1, 4, 4)), dg.placeholder("y", ("n", 1, 2, 1))
    good = dg.placeholder("g", ("n", 1, 2, 2))
    misfit = r"\(n, 1, 2, 1\), not \(n, 1, 2, 2\)"
    with pytest.raises(dg.ShapeError, match="the pooled image has another shape: " + misfit):
        dg.ops.max_pool2d_grad(good, x, y, 2)
    with pytest.raises(dg.ShapeError, match="its gradient has another shape: " + misfit):
        dg.ops.max_pool2d_grad(y, x, good, 2)
    with pytest.raises(dg.ShapeError, match=r"the direction .*, not \(n, 1, 4, 4\)"):
        dg.ops.max_pool2d_jvp(good, x, good, 2)
    with pytest.raises(dg.ShapeError, match="the gradient has another shape: " + misfit):
        dg.ops.avg_pool2d_grad(y, (4, 4), 2)
