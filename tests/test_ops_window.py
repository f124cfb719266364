"""Convolution, as one operation and as matrix products, against its definition in loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from aid import check_gradient, run

import deepgraph as dg
from deepgraph.backends.reference import evaluate
from deepgraph.expr import Expr
from deepgraph.graph import Graph, expanded, rewrite
from deepgraph.ops.window import pads, places

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

CASES: list[tuple[Shape, Shape, dict[str, Any]]] = [
    ((2, 3, 6, 5), (4, 3, 3, 2), {}),
    ((1, 1, 4, 4), (1, 1, 4, 4), {}),
    ((2, 3, 7, 9), (2, 3, 3, 3), {"stride": (2, 3)}),
    ((2, 2, 5, 4), (3, 2, 3, 2), {"padding": ((1, 0), (2, 3)), "stride": 2}),
    ((2, 2, 7, 6), (3, 2, 3, 2), {"dilation": (3, 2), "padding": 1}),
    ((3, 4, 5, 5), (6, 2, 2, 3), {"groups": 2, "padding": "same"}),
    ((2, 3, 4, 4), (6, 1, 3, 3), {"groups": 3, "stride": 2, "padding": "full"}),
    ((3, 4, 2, 3), (5, 4, 1, 1), {}),
    ((2, 2, 5, 5), (3, 2, 1, 1), {"stride": 2}),
    ((0, 2, 4, 4), (3, 2, 3, 3), {}),
]


def by_loops(x: Array, w: Array, y_shape: Shape, **how: Any) -> Array:
    """The sum that defines it, term by term, over an image that is 0 outside."""
    (sh, sw), (dh, dw), groups = how["stride"], how["dilation"], how["groups"]
    (above, _), (left, _) = how["padding"]
    y = np.zeros(y_shape, np.result_type(x, w))
    outs, ins = w.shape[0] // groups, w.shape[1]
    for n, o, i, j in np.ndindex(*y_shape):
        for c, u, v in np.ndindex(*w.shape[1:]):
            row, column = i * sh + u * dh - above, j * sw + v * dw - left
            if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                y[n, o, i, j] += x[n, o // outs * ins + c, row, column] * w[o, c, u, v]
    return y


def lowered(y: Expr, feeds: dict[Expr, Array], sizes: dict[str, int] | None = None) -> Array:
    """The value by matrix products alone."""
    graph = expanded(Graph((), {"y": y}), lambda node: False)
    graph.verify()
    assert not [n for n in graph.nodes if n.op.name.startswith("conv2d")]
    found: Array = evaluate(graph, feeds, sizes or {})[0]["y"]
    return found


def both(y: Expr, feeds: dict[Expr, Array], sizes: dict[str, int] | None = None) -> Array:
    """The value by definition, which the lowered one equals."""
    value = run(y, feeds, sizes)
    np.testing.assert_allclose(lowered(y, feeds, sizes), value, rtol=1e-12, atol=1e-12)
    return value


def inputs(*shapes: Shape, seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def placed(*arrays: Array) -> tuple[list[Expr], dict[Expr, Array]]:
    xs = [dg.placeholder(f"x{k}", a.shape, a.dtype) for k, a in enumerate(arrays)]
    return xs, dict(zip(xs, arrays, strict=True))


@pytest.mark.parametrize(("x_shape", "w_shape", "how"), CASES)
def test_a_convolution_is_the_sum_that_defines_it(
    x_shape: Shape, w_shape: Shape, how: dict[str, Any]
) -> None:
    x, w = inputs(x_shape, w_shape)
    (px, pw), feeds = placed(x, w)
    y = dg.conv2d(px, pw, **how)
    np.testing.assert_allclose(both(y, feeds), by_loops(x, w, y.shape, **y.attributes), atol=1e-12)


@pytest.mark.parametrize(("x_shape", "w_shape", "how"), CASES)
def test_gradients_are_those_of_the_sum(
    x_shape: Shape, w_shape: Shape, how: dict[str, Any]
) -> None:
    """A convolution is linear in each input: its gradient is read off its values at unit inputs."""
    x, w = inputs(x_shape, w_shape)
    (px, pw), feeds = placed(x, w)
    y = dg.conv2d(px, pw, **how)
    (g,) = inputs(y.shape, seed=1)
    by_x, by_w = dg.grad(dg.sum(y * g), [px, pw])
    found_x, found_w = both(by_x, feeds), both(by_w, feeds)
    for k in list(np.ndindex(*w_shape))[::5]:
        unit = np.zeros(w_shape)
        unit[k] = 1
        expected = np.sum(by_loops(x, unit, y.shape, **y.attributes) * g)
        np.testing.assert_allclose(found_w[k], expected, atol=1e-12)
    for k in list(np.ndindex(*x_shape))[::7]:
        unit = np.zeros(x_shape)
        unit[k] = 1
        expected = np.sum(by_loops(unit, w, y.shape, **y.attributes) * g)
        np.testing.assert_allclose(found_x[k], expected, atol=1e-12)


@pytest.mark.parametrize(("x_shape", "w_shape", "how"), CASES[2:8])
def test_gradients_of_gradients(x_shape: Shape, w_shape: Shape, how: dict[str, Any]) -> None:
    x, w = inputs(x_shape, w_shape)
    (g,) = inputs(dg.conv2d(*placed(x, w)[0], **how).shape, seed=2)
    check_gradient(lambda x, w: dg.conv2d(x, w, **how), x, w)
    check_gradient(lambda g, w: dg.ops.conv2d_input_grad(g, w, x_shape[2:], **how), g, w)
    check_gradient(lambda x, g: dg.ops.conv2d_weight_grad(x, g, w_shape[2:], **how), x, g)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_convolution_and_its_gradient_by_the_weights_share_columns(
    padding: str, groups: int
) -> None:
    x, w = dg.placeholder("x", ("n", 4, 9, 9)), dg.placeholder("w", (6, 4 // groups, 3, 3))
    y = dg.conv2d(x, w, padding=padding, groups=groups)
    by_x, by_w = dg.grad(dg.sum(y * y), [x, w])
    graph = expanded(Graph((), {"x": by_x, "w": by_w}), lambda node: node.op.expand is None)
    names = [n.op.name for n in rewrite(graph).nodes]
    assert names.count("windows") == 1
    assert names.count("unwindows") == 1
    assert names.count("matmul") == 3
    assert names.count("pad") == (padding == "same")
    assert names.count("copy") == (padding == "valid")  # what is fed is turned over once


def test_a_kernel_of_one_place_is_a_matrix_product_without_columns() -> None:
    x, w = dg.placeholder("x", ("n", 4, 9, 9)), dg.placeholder("w", (6, 4, 1, 1))
    by_x = dg.grad(dg.sum(dg.conv2d(x, w) * 2), x)
    graph = expanded(Graph((), {"x": by_x}), lambda node: node.op.expand is None)
    assert "unwindows" not in [n.op.name for n in graph.nodes]


@pytest.mark.parametrize("how", [
    {}, {"padding": "same"}, {"stride": 2, "padding": (1, 0)},
    {"stride": (2, 3), "padding": "same"},
])  # fmt: skip
@pytest.mark.parametrize(("n", "h"), [(1, 3), (3, 8)])
def test_sizes_that_are_not_known_yet(how: dict[str, Any], n: int, h: int) -> None:
    given = inputs((n, 2, h, 9), (3, 2, 3, 2))
    known, named = (
        [dg.asarray(a) for a in given],
        [
            dg.placeholder("x", ("n", 2, "h", 9), "float64"),
            dg.placeholder("w", (3, 2, 3, 2), "float64"),
        ],
    )
    ys = [dg.conv2d(*xs, **how) for xs in (known, named)]
    grads = [dg.grad(dg.sum(y * y), xs) for y, xs in zip(ys, (known, named), strict=True)]
    values, sizes = dict(zip(named, given, strict=True)), {"n": n, "h": h}
    for expected, y in zip((ys[0], *grads[0]), (ys[1], *grads[1]), strict=True):
        np.testing.assert_allclose(both(y, values, sizes), run(expected), atol=1e-11)


def test_shapes_are_read_as_formulas() -> None:
    x, w = dg.placeholder("x", ("n", 2, "h", 9)), dg.placeholder("w", (3, 2, 3, 2))
    assert str(dg.conv2d(x, w).shape) == "(n, 3, h - 2, 8)"
    assert str(dg.conv2d(x, w, padding="same").shape) == "(n, 3, h, 9)"


@pytest.mark.parametrize("stride", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [1, 4, 5, 7])
@pytest.mark.parametrize("reach", [1, 2, 3, 4])
def test_same_padding_gives_size_over_stride_windows(size: int, reach: int, stride: int) -> None:
    around = pads("same", (size, size), (reach, reach), (stride, stride))
    assert places((size, size), (reach, reach), (stride, stride), around)[0] == -(-size // stride)
    (before, after), _ = around
    assert before in (after, after - 1)  # the odd one comes after


@pytest.mark.parametrize(("given", "normal"), [
    ("valid", ((0, 0), (0, 0))), ("full", ((2, 2), (1, 1))), (3, ((3, 3), (3, 3))),
    ((1, 2), ((1, 1), (2, 2))), (((1, 2), 3), ((1, 2), (3, 3))), ("same", ((1, 1), (0, 1))),
])  # fmt: skip
def test_padding_in_all_its_forms(given: Any, normal: Any) -> None:
    assert pads(given, (8, 8), (3, 2), (1, 1)) == normal
    assert pads(normal, (8, 8), (3, 2), (1, 1)) == normal


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_dtypes(dtype: str) -> None:
    x, w = (np.round(a * 4).astype(dtype) for a in inputs((2, 3, 5, 5), (4, 3, 3, 3)))
    xs, feeds = placed(x, w)
    y = dg.conv2d(*xs)
    expected = by_loops(x.astype(float), w.astype(float), y.shape, **y.attributes)
    assert run(y, feeds).dtype == dtype
    np.testing.assert_array_equal(run(y, feeds), expected)  # whole numbers: exact in each
    np.testing.assert_array_equal(lowered(y, feeds), expected)
    assert dg.conv2d(xs[0], dg.asarray(np.ones((1, 3, 1, 1)))).dtype == np.float64


def test_half_precision_is_summed_in_single() -> None:
    x, w = np.full((1, 1, 64, 64), 1, np.float16), np.full((1, 1, 64, 64), 1, np.float16)
    xs, feeds = placed(x, w)
    assert run(dg.conv2d(*xs), feeds).item() == 4096  # by halves it stops at 2048
    spread = dg.ops.conv2d_input_grad(*xs, (127, 127))
    assert run(spread, feeds).max() == lowered(spread, feeds).max() == 4096


@pytest.mark.parametrize(("how", "expected"), [
    ({}, "valid"), ({"padding": "same"}, "same"), ({"padding": "full"}, "full"),
])  # fmt: skip
def test_one_dimension_is_numpys_correlation(how: dict[str, Any], expected: str) -> None:
    x, w = inputs((1, 1, 9), (1, 1, 3))
    xs, feeds = placed(x, w)
    y = run(dg.conv1d(*xs, **how), feeds)
    np.testing.assert_allclose(y[0, 0], np.correlate(x[0, 0], w[0, 0], expected))


def test_one_dimension_with_all_its_attributes() -> None:
    x, w = inputs((2, 4, 11), (6, 2, 3))
    xs, feeds = placed(x, w)
    y = run(dg.conv1d(*xs, stride=2, padding=(3, 1), dilation=2, groups=2), feeds)
    image, weights = x[:, :, None], w[:, :, None]
    how = {"stride": (1, 2), "padding": ((0, 0), (3, 1)), "dilation": (1, 2), "groups": 2}
    expected = by_loops(image, weights, (2, 6, 1, 6), **how)
    np.testing.assert_allclose(y, expected[:, :, 0])


@pytest.mark.parametrize("how", [
    {}, {"stride": 2, "padding": 1}, {"stride": (2, 3), "padding": "same"}, {"padding": "full"},
    {"dilation": 2, "groups": 2}, {"stride": 3, "size": (15, 17)},
])  # fmt: skip
def test_transposed_convolution_is_the_adjoint(how: dict[str, Any]) -> None:
    y, w = inputs((2, 4, 5, 5), (4, 3, 3, 3))
    (py, pw), feeds = placed(y, w)
    up = dg.conv_transpose2d(py, pw, **how)
    (x,) = inputs(up.shape, seed=3)
    forward = dg.conv2d(dg.asarray(x), pw, **{k: v for k, v in how.items() if k != "size"})
    assert forward.shape == y.shape
    np.testing.assert_allclose(np.sum(run(up, feeds) * x), np.sum(run(forward, feeds) * y))


def test_a_stride_of_two_doubles_an_image() -> None:
    x, w = dg.placeholder("x", ("n", 4, 7, 7)), dg.placeholder("w", (4, 3, 4, 4))
    assert str(dg.conv_transpose2d(x, w, 2, 1).shape) == "(n, 3, 14, 14)"
    assert str(dg.conv_transpose2d(x, w, 2, "same").shape) == "(n, 3, 14, 14)"


@pytest.mark.parametrize(("x_shape", "w_shape", "how", "message"), [
    (("n", 3, 8, 8), (4, 2, 3, 3), {}, r"channels differ: \(n, 3, 8, 8\) and \(4, 2, 3, 3\)"),
    ((2, 4, 8, 8), (4, 4, 3, 3), {"groups": 2}, "weights take 4 for each of 2 groups"),
    ((2, 4, 8, 8), (5, 2, 3, 3), {"groups": 2}, "groups divide the channels .* got 2 for 5"),
    ((2, 3, 8), (4, 3, 3, 3), {}, r"got \(2, 3, 8\) and \(4, 3, 3, 3\)"),
    ((2, 3, 4, 2), (4, 3, 3, 3), {}, r"window of \(3, 3\) does not fit .*\(4, 2\)"),
    ((2, 3, 4, 2), (4, 3, 3, 5), {"padding": (0, 1)}, r"\(4, 2\), padded to \(4, 4\)"),
    ((2, 3, 8, 8), (4, 3, 3, "k"), {}, r"whole numbers: got \(4, 3, 3, k\)"),
    ((2, 3, 8, 8), (4, 3, 3, 3), {"stride": 0}, "stride is a whole number >= 1.*: 0"),
    ((2, 3, 8, 8), (4, 3, 3, 3), {"stride": (1, 2, 3)}, "stride is a whole number"),
    ((2, 3, 8, 8), (4, 3, 3, 3), {"dilation": 1.5}, "dilation is a whole number >= 1.*: 1.5"),
    ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": "some"}, '"valid", "same", "full" or numbers'),
    ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": -1}, "not negative: got -1"),
    ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": (1, 2, 3)}, r"\(\(above, below\), \(left, right\)\)"),
])  # fmt: skip
def test_errors_name_what_does_not_fit(
    x_shape: Any, w_shape: Any, how: dict[str, Any], message: str
) -> None:
    with pytest.raises(dg.ShapeError, match=message) as error:
        dg.conv2d(dg.placeholder("x", x_shape), dg.placeholder("w", w_shape), **how)
    assert str(error.value).startswith("conv2d: ")


def test_errors_of_gradients_and_compositions() -> None:
    g, w, x = (dg.placeholder(k, s) for k, s in
               (("g", (2, 4, 6, 6)), ("w", (4, 3, 3, 3)), ("x", (2, 3, 9, 8))))  # fmt: skip
    with pytest.raises(dg.ShapeError, match=r"make \(2, 4, 7, 6\), got \(2, 4, 6, 6\)"):
        dg.ops.conv2d_input_grad(g, w, (9, 8))
    with pytest.raises(dg.ShapeError, match=r"make \(2, 4, 7, 6\), got \(2, 4, 6, 6\)"):
        dg.ops.conv2d_weight_grad(x, g, 3)
    with pytest.raises(dg.ShapeError, match=r"^conv1d: needs .* got \(2, 4, 6, 6\)"):
        dg.conv1d(g, w)
