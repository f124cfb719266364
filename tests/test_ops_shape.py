from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import check_gradient, run
from views import check_view

import deepgraph as dg
from deepgraph.dims import Dim, pretty
from deepgraph.expr import OPS, Expr, Kind

B = dg.dim("batch")
SIZES = {"batch": 3}


def both(f: Callable[[Any], Any], reference: Callable[[Any], Any], *shape: int | str) -> None:
    """The same values as NumPy, the same strides as memory, and the right gradient."""
    known = tuple(SIZES[n] if isinstance(n, str) else n for n in shape)
    x = np.random.default_rng(0).integers(-9, 9, known)
    y = f(dg.placeholder("x", shape, "int64"))
    found = run(y, {_leaf(y): x}, SIZES)
    np.testing.assert_array_equal(found, reference(x), strict=True)
    check_view(f, reference, shape, SIZES)
    check_gradient(f, x)


def _leaf(y: Expr) -> Expr:
    while y.inputs:
        y = y.inputs[0]
    return y


RESHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 3, 4), (6, 4)), ((2, 3, 4), (2, 12)), ((2, 3, 4), (4, 3, 2)), ((12,), (3, 1, 4)),
    ((2, 6), (2, -1, 3)), ((6,), (-1,)), ((1, 1), ()), ((), (1, 1)), ((2, 3), (2, 3)),
    ((3, 1, 2), (1, 3, 2, 1)), ((2, 2, 3, 5), (4, 15)),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), RESHAPES)
def test_reshape(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    both(lambda x: x.reshape(new), lambda x: x.reshape(new), *old)


def test_reshape_of_empty_arrays() -> None:
    x = dg.placeholder("x", (0, 3))
    for shape in ((3, 0), (0,), (0, 7), (2, 0, 2)):
        assert run(x.reshape(shape), {x: np.empty((0, 3))}).shape == shape
    assert x.reshape(-1, 3).shape == (0, 3)


def test_reshape_keeps_and_solves_named_sizes() -> None:
    x = dg.placeholder("x", ("batch", 1, 8, 8))
    assert dg.reshape(x, (B, 64)).shape == (B, 64)
    assert dg.reshape(x, ("batch", 64)).shape == (B, 64)
    assert x.reshape(-1, 64).shape == (B, 64)
    assert x.reshape(x.shape[0], -1).shape == (B, 64)
    assert x.reshape(-1).shape == (64 * B,)
    assert x.reshape(-1, 2, 32).shape == (B, 2, 32)
    assert x.flatten().shape == (64 * B,)
    assert dg.flatten(x, 1).shape == (B, 64)
    assert dg.flatten(x, -2).shape == (B, 1, 64)
    assert dg.flatten(dg.asarray(1.0)).shape == (1,)
    both(lambda x: x.reshape(-1, 4), lambda x: x.reshape(-1, 4), "batch", 8)
    both(lambda x: x.reshape(2, -1), lambda x: x.reshape(2, -1), "batch", 2, 5)


@pytest.mark.parametrize(
    ("shape", "new", "words"),
    [
        ((2, 3), (4, 2), "differ in elements: (2, 3) holds 6 and (4, 2) holds 8"),
        ((2, 3), (4, -1), "differ in elements"),
        ((2, 3), (-1, -1), "only one size may be -1"),
        ((2, 3), (0, -1), "-1 beside a size of 0"),
        (("batch", 3), (5, -1), "not proved to hold as many elements"),
        (("batch", 3), (10, 3), "not proved to hold as many elements"),
        (("batch", 3), ("other", 3), "not proved to hold as many elements"),
        (("batch", 3), ("batch", 4), "as many elements"),
        ((2, 3), (-2, -3), "not negative"),
    ],
)
def test_reshape_refuses(shape: Any, new: Any, words: str) -> None:
    with pytest.raises(dg.ShapeError, match=r"^reshape: ") as caught:
        dg.placeholder("x", shape).reshape(new)
    assert words in str(caught.value)


def test_permute_dims_and_its_kin() -> None:
    both(lambda x: dg.permute_dims(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1), "batch", 4, 5)
    both(lambda x: dg.permute_dims(x, (-1, 0, 1)), lambda x: x.transpose(2, 0, 1), 2, 4, 5)
    both(dg.transpose, np.transpose, 2, 3, 4)
    both(lambda x: x.transpose(1, 0), np.transpose, 2, 3)
    both(lambda x: x.transpose(), np.transpose, 2, 3, 4)
    both(lambda x: x.T, np.transpose, "batch", 3)
    both(lambda x: x.mT, np.matrix_transpose, 2, 3, 4)
    both(dg.matrix_transpose, np.matrix_transpose, 2, 3, 4)
    both(lambda x: dg.swapaxes(x, 0, -1), lambda x: np.swapaxes(x, 0, -1), 2, 3, "batch")
    both(lambda x: dg.permute_dims(x, ()), np.transpose)


@pytest.mark.parametrize(
    ("source", "destination"), [(0, -1), (-1, 0), ((0, 1), (-1, -2)), ((3, 0), (0, 1)), ((), ())]
)
def test_moveaxis(source: Any, destination: Any) -> None:
    both(
        lambda x: dg.moveaxis(x, source, destination),
        lambda x: np.moveaxis(x, source, destination),
        2, "batch", 4, 5,
    )  # fmt: skip


def test_expand_dims_and_squeeze() -> None:
    both(dg.expand_dims, lambda x: np.expand_dims(x, 0), "batch", 2)
    both(lambda x: dg.expand_dims(x, 2), lambda x: np.expand_dims(x, 2), "batch", 2)
    both(lambda x: dg.expand_dims(x, (0, -1)), lambda x: np.expand_dims(x, (0, -1)), 3, 2)
    both(lambda x: dg.expand_dims(x, (3, 0)), lambda x: np.expand_dims(x, (3, 0)), 3, 2)
    both(dg.expand_dims, lambda x: np.expand_dims(x, 0))
    both(dg.squeeze, np.squeeze, 1, "batch", 1, 2)
    both(lambda x: x.squeeze(-1), lambda x: np.squeeze(x, -1), 1, 3, 1)
    both(lambda x: x.squeeze((0, 2)), lambda x: np.squeeze(x, (0, 2)), 1, 3, 1)


def test_broadcast_to() -> None:
    both(lambda x: dg.broadcast_to(x, (2, 3)), lambda x: np.broadcast_to(x, (2, 3)), 3)
    both(lambda x: dg.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4)), 3, 1)
    both(
        lambda x: dg.broadcast_to(x, (4, x.shape[0], 2)), lambda x: np.broadcast_to(x, (4, 3, 2)),
        "batch", 1,
    )  # fmt: skip
    x, a = dg.placeholder("x", (1, 2)), np.ones((1, 2))
    y = dg.broadcast_to(x, ("batch", 2))
    assert run(y, {x: a}, SIZES).shape == (3, 2)
    assert run(dg.grad(dg.sum(y), x), {x: a}, SIZES).tolist() == [[3, 3]]
    both(lambda x: dg.broadcast_to(x, 3), lambda x: np.broadcast_to(x, 3))


def test_broadcast_arrays() -> None:
    a, b = np.arange(3.0), np.arange(8.0).reshape(2, 4, 1)
    found = dg.broadcast_arrays(a, b, 2.0)
    for y, expected in zip(found, np.broadcast_arrays(a, b, 2.0), strict=True):
        np.testing.assert_array_equal(run(y), expected)


@pytest.mark.parametrize("offset", [-5, -2, -1, 0, 1, 2, 4])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (3, 3)])
def test_diagonal(shape: tuple[int, int], offset: int) -> None:
    both(lambda x: dg.diagonal(x, offset), lambda x: np.diagonal(x, offset), *shape)
    both(
        lambda x: dg.diagonal(x, offset, 2, 0), lambda x: np.diagonal(x, offset, 2, 0),
        shape[0], 2, shape[1],
    )  # fmt: skip


def test_diagonal_of_named_sizes() -> None:
    x = dg.placeholder("x", ("batch", "batch", 2))
    assert dg.diagonal(x).shape == (2, B)
    for offset in (-1, 0, 2):
        both(lambda x, k=offset: dg.diagonal(x, k), lambda x, k=offset: np.diagonal(x, k),
             "batch", "batch", 2)  # fmt: skip
    both(dg.diagonal, np.diagonal, "batch", 5)


def test_meshgrid() -> None:
    vectors = [np.arange(3), np.arange(4.0), np.arange(2)]
    for indexing in ("xy", "ij"):
        found = dg.meshgrid(*vectors, indexing=indexing)
        for y, expected in zip(found, np.meshgrid(*vectors, indexing=indexing), strict=True):
            np.testing.assert_array_equal(run(y), expected, strict=True)


X = dg.placeholder("x", ("batch", 1, 3))


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda: dg.permute_dims(X, (0, 1)), "permute_dims: not a permutation of 3 axes: (0, 1)"),
        (lambda: dg.permute_dims(X, (0, 1, 3)), "permute_dims: axis is out of range: 3 of 3"),
        (lambda: dg.moveaxis(X, (0, 1), 2), "moveaxis: as many axes as places are needed"),
        (lambda: dg.moveaxis(X, (0, 0), (1, 2)), "moveaxis: an axis stands there twice"),
        (lambda: dg.squeeze(X, 0), "squeeze: axis 0 is not of size 1: (batch, 1, 3)"),
        (lambda: dg.broadcast_to(X, (5, 1, 3)), "broadcast_to: shapes do not broadcast"),
        (lambda: dg.broadcast_to(X, (1, 3)), "broadcast_to: does not broadcast: (batch, 1, 3)"),
        (lambda: dg.diagonal(X, 0, 1, -2), "diagonal: a diagonal needs two axes: got 1 and -2"),
        (lambda: dg.meshgrid(X, indexing="yx"), "meshgrid: indexing is"),
        (lambda: dg.windows(X, 2, 4), "windows: a window of 4 does not fit in axis 2"),
        (lambda: dg.windows(X, 2, 2, dilation=3), "windows: a window of 4 does not fit"),
        (lambda: dg.windows(X, 2, 0), "windows: kernel is one whole number >= 1"),
        (lambda: dg.windows(X, (0, 2), (1, 2, 3)), "windows: kernel is one whole number >= 1"),
        (lambda: dg.windows(X, (2, -1), 1), "windows: an axis stands there twice"),
        (lambda: dg.unwindows(X, (5, 3), 0, 2), "unwindows: windows of (5, 3) have shape (4, "),
    ],
)
def test_errors(declare: Callable[[], Any], words: str) -> None:
    with pytest.raises(dg.ShapeError) as caught:
        declare()
    assert str(caught.value).startswith(words)
    assert "test_ops_shape.py" in str(caught.value)


# Windows.


def windows_by_numpy(
    x: Any, axes: tuple[int, ...], kernel: Any, stride: Any, dilation: Any
) -> Any:  # fmt: skip
    """sliding_window_view, then every stride-th window and every dilation-th element."""
    spans = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axes)
    at = [slice(None)] * view.ndim
    for i, (a, s, d) in enumerate(zip(axes, stride, dilation, strict=True)):
        at[a], at[x.ndim + i] = slice(None, None, s), slice(None, None, d)
    return view[tuple(at)]


WINDOWS: list[tuple[Any, ...]] = [
    ((2, 7), (1,), (3,), (1,), (1,)),
    (("batch", 2, 8), (0, 2), (2, 3), (1, 2), (1, 1)),
    ((9, 9), (1, 0), (2, 3), (3, 3), (4, 2)),
    (("batch", 2, 6, 5), (2, 3), (2, 2), (2, 2), (1, 1)),
    ((5,), (0,), (5,), (2,), (1,)),
    ((5,), (0,), (1,), (3,), (1,)),
]


@pytest.mark.parametrize(("shape", "axes", "kernel", "stride", "dilation"), WINDOWS)
def test_windows(shape: Any, axes: Any, kernel: Any, stride: Any, dilation: Any) -> None:
    both(
        lambda x: dg.windows(x, axes, kernel, stride, dilation),
        lambda x: windows_by_numpy(x, axes, kernel, stride, dilation),
        *shape,
    )


@pytest.mark.parametrize("memory", ["rows", "planes", "windows together"])
@pytest.mark.parametrize(("shape", "axes", "kernel", "stride", "dilation"), WINDOWS)
def test_unwindows_is_the_adjoint(
    shape: Any, axes: Any, kernel: Any, stride: Any, dilation: Any, memory: str
) -> None:
    x = dg.placeholder("x", shape, "float64")
    how = axes, kernel, stride, dilation
    w = dg.windows(x, *how)
    rng = np.random.default_rng(0)
    known = tuple(SIZES.get(n, n) for n in shape)
    places = windows_by_numpy(np.arange(np.prod(known)).reshape(known), *how)
    g = rng.standard_normal(places.shape)
    if memory == "planes":
        g = np.moveaxis(np.ascontiguousarray(np.moveaxis(g, -1, 0)), 0, -1)
    expected = np.bincount(places.ravel(), g.ravel(), np.prod(known)).reshape(known)
    cotangent = dg.placeholder("g", w.shape, "float64")
    y = dg.unwindows(cotangent, x.shape, *how)
    np.testing.assert_allclose(run(y, {cotangent: g}, SIZES), expected, rtol=1e-12)
    (back,) = dg.grad(dg.sum(w * cotangent), [x])
    np.testing.assert_allclose(
        run(back, {cotangent: g, x: np.zeros(known)}, SIZES), expected, rtol=1e-12
    )
    check_gradient(lambda g: dg.unwindows(g, known, *how), g)


def test_unwindows_in_blocks_and_in_half_precision() -> None:
    shape = (37, 3, 34, 33)
    how = (2, 3), (3, 3), (1, 2), (1, 1)
    places = windows_by_numpy(np.arange(np.prod(shape)).reshape(shape), *how)
    g = np.random.default_rng(0).integers(-8, 9, places.shape)
    assert g.size > 1 << 18
    expected = np.bincount(places.ravel(), g.ravel(), np.prod(shape)).reshape(shape)
    x = dg.placeholder("x", g.shape, "float32")
    np.testing.assert_array_equal(run(dg.unwindows(x, shape, *how), {x: g}), expected)
    ones = dg.placeholder("ones", (2100, 2100), "float16")
    y = dg.unwindows(ones, (4199,), 0, 2100)
    found = run(y, {ones: np.ones((2100, 2100))})
    count = np.minimum(np.arange(1, 4200), np.arange(4199, 0, -1))
    np.testing.assert_array_equal(found, count.astype("float16"), strict=True)


def test_windows_of_named_sizes() -> None:
    x = dg.placeholder("x", ("batch", "height"))
    h = dg.dim("height")
    assert dg.windows(x, 1, 5).shape == (B, h - 4, 5)
    assert dg.windows(x, 1, 5, stride=2).shape == (B, (h - 5) // 2 + 1, 5)
    y = dg.unwindows(dg.windows(x, 1, 5, stride=2), x.shape, 1, 5, stride=2)
    a = np.random.default_rng(0).standard_normal((2, 10)).astype("float32")
    counts = np.bincount(np.add.outer([0, 2, 4], np.arange(5)).ravel(), minlength=10)
    found = run(y, {x: a}, {"batch": 2, "height": 10})
    np.testing.assert_allclose(found, a * counts, rtol=1e-6)


def test_attributes_are_fixed_points() -> None:
    for op in set(OPS.values()):
        if op.kind is Kind.VIEW:
            for example in op.examples:
                xs = [dg.placeholder(f"x{k}", s) for k, s in enumerate(example.shapes)]
                y = op(*xs, **example.attrs)
                again = y.op.infer(y.inputs, y.attributes)
                assert {**y.attributes, **again.attrs} == y.attributes
                assert pretty(again.shape) == pretty(y.shape)


def test_every_size_is_an_int_or_a_dim() -> None:
    y = dg.windows(dg.diagonal(X, 1, 0, 2).reshape(-1)[None], 0, 1)
    assert all(isinstance(n, int | Dim) for n in y.shape)
