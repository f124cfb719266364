from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import check_gradient, gradient, run
from views import check_view

import deepgraph as dg
from deepgraph import nn, optim
from deepgraph.dims import pretty
from deepgraph.expr import OPS
from deepgraph.ops.slicing import Index, Span, as_index

B = dg.dim("batch")
ALL = slice(None)


def value(f: Callable[[Any], Any], a: Any, *, named: tuple[int, ...] = ()) -> Any:
    """f(a), computed by the reference backend; the axes `named` have named sizes."""
    a = np.asarray(a)
    names = {k: f"n{k}" for k in named}
    x = dg.placeholder("x", tuple(names.get(k, n) for k, n in enumerate(a.shape)), a.dtype)
    return run(f(x), {x: a}, {names[k]: a.shape[k] for k in named})


BASIC: list[Any] = [
    0, -1, 3, ALL, ..., None, (), (..., 0), (0, ...), (ALL, 1), (ALL, -2, ALL), (1, 2, 3),
    (-1, -1, -1), slice(1, None), slice(None, -1), slice(-2, None), slice(1, 3), slice(3, 1),
    slice(None, None, 2), slice(None, None, -1), slice(None, None, -2), slice(-1, 0, -1),
    slice(2, None, -1), slice(-100, 100), slice(100, -100, -3), slice(0, 0), slice(2, 3),
    slice(10, 20), slice(1, 4, 2), slice(0, 4, 3), slice(-3, -1, 5), slice(None, 1),
    (slice(1, 3), slice(None, None, -1), 2), (..., slice(None, 2)), (None, 0, None),
    (ALL, None, slice(1, None), ..., None), (slice(None, None, -1), ..., slice(None, None, -2)),
    (slice(3, None, -1), slice(1, -1)), (..., None), (None, ...),
]  # fmt: skip


@pytest.mark.parametrize("index", BASIC, ids=str)
def test_basic_indexing(index: Any) -> None:
    a = np.arange(60).reshape(4, 3, 5)
    np.testing.assert_array_equal(value(lambda x: x[index], a), a[index], strict=True)
    check_gradient(lambda x: x[index], a / 10)
    y = dg.placeholder("x", (4, 3, 5))[index]
    assert y.shape == a[index].shape
    check_view(lambda x: x[index], lambda x: x[index], (4, 3, 5))


@pytest.mark.parametrize("index", BASIC, ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 4, 7])
def test_basic_indexing_of_named_sizes(n: int, index: Any) -> None:
    """One declaration fits every size, also where a slice reaches beyond the axis."""
    a = np.arange(n * 15).reshape(n, 3, 5)
    x = dg.placeholder("x", ("batch", 3, 5), "int64")
    y = x[index]
    try:
        expected = a[index]
    except IndexError:
        with pytest.raises(IndexError):
            run(y, {x: a}, {"batch": n})
        return
    found = run(y, {x: a}, {"batch": n})
    np.testing.assert_array_equal(found, expected, strict=True)
    assert dg.dims.bind(y.shape, {"batch": n}) == expected.shape
    check_view(lambda x: x[index], lambda x: x[index], ("batch", 3, 5), {"batch": n})
    z = dg.placeholder("z", x.shape, "float64")
    g = run(dg.grad(dg.sum(z[index] * y), z), {x: a, z: a}, {"batch": n})
    mask = np.zeros(a.shape)
    mask[index] = expected
    np.testing.assert_array_equal(g, mask)


def test_zero_dimensional_indexing() -> None:
    for index in ((), ..., None, (None, ..., None)):
        found = value(lambda x, i=index: x[i], np.array(2.5))
        np.testing.assert_array_equal(found, np.array(2.5)[index])
    assert value(lambda x: x[1], np.arange(3)).shape == ()


def test_bounds_that_are_sizes() -> None:
    x = dg.placeholder("x", ("batch", 3))
    assert x[:B].shape == x.shape
    assert x[: B // 2].shape == (B // 2, 3)
    assert x[B // 2 :].shape == (B - B // 2, 3)
    assert x[dg.dim("k") :: 2].shape[1] == 3
    a = np.arange(15.0).reshape(5, 3)
    for f in (lambda x, n: x[: n // 2], lambda x, n: x[n // 2 :: -1], lambda x, n: x[n // 3]):
        found = run(f(x, B), {x: a}, {"batch": 5})
        np.testing.assert_array_equal(found, f(a, 5))
    y = x[B - 3 :]  # a position, so for two rows it is cut to 0, not counted from the end
    for n in (2, 5):
        found = run(y, {x: a[:n]}, {"batch": n})
        np.testing.assert_array_equal(found, a[max(n - 3, 0) : n])


def test_slices_in_normal_form() -> None:
    x = dg.placeholder("x", (6, 4))
    assert x[:] is x
    assert str(x[0:6].attr("index")) == str(x[-100:].attr("index")) == "..."
    assert str(x[1:6].attr("index")) == "1:"
    assert str(x[0:5:2].attr("index")) == str(x[::2].attr("index")) == "::2"
    assert str(x[5::-1].attr("index")) == "::-1"
    assert str(x[3:1].attr("index")) == "0:0"
    assert str(x[-1, :2].attr("index")) == "5, :2"
    assert str(x[2, 3].attr("index")) == "2, 3, ..."
    named = dg.placeholder("n", ("batch", 4))
    assert str(named[-3:].attr("index")) == "-3:"
    assert str(named[:, 1:].attr("index")) == ":, 1:"
    assert str(named[0:B].attr("index")) == "..."


def test_index_is_an_attribute_like_any_other() -> None:
    x = dg.placeholder("x", ("batch", 6))
    for entries in ((1, Span(2, 5)), (Span(None, -2, 3),), (-1,), (Span(B // 2),)):
        index = as_index(entries, x.shape)
        assert as_index(index.entries, x.shape) == index
        assert hash(pickle.loads(pickle.dumps(index))) == hash(index)
        assert pickle.loads(pickle.dumps(index)) == index
    assert x[1:3].key[3:] == x[1:3].key[3:] != x[1:4].key[3:]


def test_unslice_puts_back() -> None:
    for example in OPS["unslice"].examples:
        (shape,) = example.shapes
        a = np.random.default_rng(0).standard_normal(shape)
        x = dg.placeholder("x", shape, "float64")
        y = OPS["unslice"](x, **example.attrs)
        found = run(y, {x: a})
        assert found.sum() == pytest.approx(a.sum())
        again = run(OPS["slice"](dg.asarray(found), y.attr("index")))
        np.testing.assert_array_equal(again, a)
        check_gradient(lambda x, e=example: OPS["unslice"](x, **e.attrs), a)


X = dg.placeholder("x", ("batch", 3, 5))
N = dg.placeholder("n", (), "int64")


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda: X[0, 3], "getitem: index 3 is out of range: axis 1 has size 3"),
        (lambda: X[..., -6], "getitem: index -6 is out of range: axis 2 has size 5"),
        (lambda: X[0, 0, 0, 0], "getitem: 4 indices for 3 axes: (batch, 3, 5)"),
        (lambda: X[..., ...], "getitem: an index holds `...` once"),
        (lambda: X[::0], "getitem: the step of a slice is not 0"),
        (lambda: X[B - 1], "getitem: a symbolic index counts from the front"),
        (lambda: X[:-B], "getitem: a symbolic bound counts from the front"),
        (lambda: X[:N], "getitem: the bound of a slice is known before a step runs"),
        (lambda: X[1.0], "getitem: an index is a number, a slice or an array: got 1.0"),
        (lambda: X["a"], "getitem: an index is a number, a slice or an array"),
        (lambda: X[True], "getitem: a truth value is no index"),
        (lambda: X[X > 0], "getitem: a mask selects a number of elements that only data decides"),
        (lambda: X[np.ones(3, bool)], "getitem: a mask selects"),
        (lambda: X[[True, False]], "getitem: a mask selects"),
        (lambda: X[X], "getitem: indices are whole numbers"),
        (lambda: X[:, [0, 3]], "getitem: index 3 is out of range: axis 1 has size 3"),
        (lambda: X[0, [0, 1], [5, 0]], "getitem: index 5 is out of range: axis 1 has size 5"),
        (lambda: X[:, [0, 1], [0, 1, 2]], "getitem: shapes do not broadcast: (2,) and (3,)"),
        (lambda: dg.take(X, "0"), "take: indices are whole numbers: got '0'"),
        (lambda: dg.take(X, [0, None], 0), "take: indices are whole numbers: got [0, None]"),
        (lambda: dg.take(X, [[0], [1, 2]], 0), "take: indices are whole numbers: got [[0], [1, 2"),
        (lambda: dg.take(X, [True], 0), "take: a mask selects"),
        (lambda: dg.take(X, np.array([0])), "take: axis is needed unless x is a vector"),
        (lambda: dg.take(X, np.array([0.5]), 0), "take: indices are whole numbers"),
        (lambda: dg.take(X, N, 3), "take: axis is out of range: 3 of 3 dimensions"),
        (lambda: dg.take_along_axis(X, np.zeros((3, 5), int), 1), "take_along_axis: as many axes"),
        (lambda: dg.take_along_axis(X, np.zeros((1, 1, 4), int), 1), "take_along_axis: shapes do"),
        (lambda: dg.take_along_axis(X, X, 1), "take_along_axis: indices are whole numbers"),
        (lambda: dg.scatter_add(X, np.zeros(4, int), 9, 1), "scatter_add: axes from 1 on are not"),
        (lambda: dg.one_hot(X, 3), "one_hot: indices are whole numbers"),
        (lambda: dg.one_hot(N, 3, axis=2), "one_hot: axis is out of range"),
    ],
)
def test_errors(declare: Callable[[], Any], words: str) -> None:
    with pytest.raises(dg.GraphError) as caught:
        declare()
    assert str(caught.value).startswith(words)
    assert "test_ops_index.py" in str(caught.value)


def test_masks_are_refused_in_favour_of_where() -> None:
    with pytest.raises(dg.DTypeError, match=r"dg\.where\(mask"):
        X[X > 0]
    with pytest.raises(dg.GraphError, match=r"dg\.where"):
        X[False]


def test_out_of_range_is_an_index_error_too() -> None:
    with pytest.raises(IndexError):
        X[0, 3]
    with pytest.raises(IndexError):
        dg.asarray([1.0, 2.0])[[2]]


I = np.array([[0, 2, -1], [1, 1, 0]])  # noqa: E741
J = np.array([3, -2, 0])
ARRAYS: list[Any] = [
    (I,), (ALL, I), (..., I), (I, 0), (0, I), (ALL, I, 0), (I, J), (I, J, J), (ALL, I, J),
    (I, ALL, J), (0, ALL, I), (I, ..., 1), (ALL, ALL, I), (slice(1, 3), I, slice(None, None, -1)),
    (None, I), (I, None), (I, None, J), (None, 0, I), (0, None, I), (I[:, :1], J), (J, I), (I[0],),
    (np.int64(2),), (np.array(1), ALL, np.array(2)), ([1, 2], [0, 1]), ([],), (slice(3, None), [1]),
    (ALL, I, slice(1, 4), J), (I, slice(1, 2), slice(None), J), (0, I, 1, J), (..., I, J),
    (np.array([[1]]), ALL, J, ALL), (ALL, [0, 1], None, [1, 2]), (1, ..., I, 1),
]  # fmt: skip


@pytest.mark.parametrize("index", ARRAYS, ids=str)
def test_arrays_of_indices(index: Any) -> None:
    a = np.random.default_rng(0).standard_normal((4, 5, 4, 6))
    np.testing.assert_array_equal(value(lambda x: x[index], a), a[index], strict=True)
    found = value(lambda x: x[index], a, named=(0, 2))
    np.testing.assert_array_equal(found, a[index], strict=True)
    check_gradient(lambda x: x[index], a)


def test_indices_that_are_expressions() -> None:
    x = dg.placeholder("x", ("n", 4), "float64")
    for dtype in ("int64", "int32", "int8", "uint8", "uint64"):
        i = dg.placeholder("i", ("batch",), dtype)
        a, k = np.arange(20.0).reshape(5, 4), np.array([4, 0, 0])
        feeds, sizes = {x: a, i: k}, {"n": 5, "batch": 3}
        assert x[i].shape == (B, 4)
        np.testing.assert_array_equal(run(x[i], feeds, sizes), a[k])
        np.testing.assert_array_equal(run(x[:, i[1:] + 0], feeds, sizes), a[:, k[1:]])
        np.testing.assert_array_equal(run(x[i, i // 2], feeds, sizes), a[k, k // 2])
        np.testing.assert_array_equal(run(x[i[0]], feeds, sizes), a[4])
    j = dg.placeholder("j", (), "int64")
    np.testing.assert_array_equal(run(x[j], {x: a, j: -1}, sizes), a[-1])


@pytest.mark.parametrize("bad", [5, -6, 100])
def test_a_bad_index_raises_when_it_is_met(bad: int) -> None:
    x = dg.placeholder("x", ("n", 4))
    i = dg.placeholder("i", ("k",), "int64")
    feeds, sizes = {x: np.zeros((5, 4)), i: np.array([0, bad, 1])}, {"n": 5, "k": 3}
    words = f"index {bad} is out of range: axis 0 has size 5"
    g = dg.placeholder("g", ("k", 4))
    for y in (x[i], x[i, i % 4], dg.scatter_add(g, i, dg.dim("n"))):
        with pytest.raises(IndexError, match=words):
            run(y, {**feeds, g: np.zeros((3, 4))}, sizes)
    along = dg.take_along_axis(x, dg.expand_dims(i, 1), 0)
    with pytest.raises(IndexError, match=words):
        run(along, feeds, sizes)


def test_a_bad_index_writes_nothing() -> None:
    from deepgraph.backends import library

    bad, out = np.array([0, 9]), np.full((2, 3), 7.0)
    with pytest.raises(IndexError):
        library.take(np.zeros((4, 3)), bad, out, 0)
    assert (out == 7).all()
    total = np.full((4, 3), 7.0)
    with pytest.raises(IndexError):
        library.scatter_add(out, bad, total, 0, np.empty((2, 3), np.int64), np.empty(()))
    assert (total == 7).all()
    place = np.full(2, 7)
    with pytest.raises(IndexError):
        library.flat_index((np.array([0, 1]), bad), (4, 4), place)
    assert (place == 7).all()


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("indices", [I, I[0], np.array(1), I[:0]], ids=["2d", "1d", "0d", "empty"])
def test_take(indices: Any, axis: int) -> None:
    a = np.random.default_rng(0).standard_normal((4, 3, 5))
    expected = np.take(a, indices, axis)
    f = lambda x: dg.take(x, indices, axis)  # noqa: E731
    np.testing.assert_array_equal(value(f, a), expected, strict=True)
    np.testing.assert_array_equal(value(f, a, named=(0, 1, 2)), expected, strict=True)
    check_gradient(f, a)


def test_take_of_a_vector_needs_no_axis() -> None:
    np.testing.assert_array_equal(value(lambda x: dg.take(x, I), np.arange(4.0)), np.arange(4.0)[I])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "int64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scatter_add_adds_repeated_indices(dtype: str, axis: int) -> None:
    rng = np.random.default_rng(axis)
    indices = rng.integers(-4, 4, (6, 2))
    a = rng.integers(-5, 6, (*(2, 3)[:axis], 6, 2, *(2, 3)[axis:])).astype(dtype)
    shape = [*a.shape[:axis], 4, *a.shape[axis + 2 :]]
    expected = np.zeros(shape, dtype)
    np.add.at(expected, (slice(None),) * axis + (indices,), a)
    f = lambda x: dg.scatter_add(x, indices, 4, axis)  # noqa: E731
    np.testing.assert_array_equal(value(f, a), expected, strict=True)
    check_gradient(f, a)


def test_scatter_add_accumulates_half_precision_in_single() -> None:
    ones = np.ones(5000, np.float16)
    assert value(lambda x: dg.scatter_add(x, np.zeros(5000, int), 1), ones).tolist() == [5000]


def test_scatter_add_into_any_layout() -> None:
    from deepgraph.backends import library

    rng = np.random.default_rng(0)
    a, indices = rng.standard_normal((3, 6, 5)), rng.integers(0, 4, 6)
    expected = np.zeros((3, 4, 5))
    np.add.at(expected, (ALL, indices), a)
    out = np.empty((5, 3, 4)).transpose(1, 2, 0)
    values = np.asfortranarray(a)
    library.scatter_add(values, indices, out, 1, np.empty(a.shape, np.int64), np.empty(()))
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_take_along_axis(axis: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 4, 5))
    for other in ((3, 4, 5), (1, 1, 1), (3, 1, 5)):
        shape = list(other)
        shape[axis] = 7
        indices = rng.integers(-3, 3, shape)
        expected = np.take_along_axis(a, indices, axis)
        f = lambda x, i=indices: dg.take_along_axis(x, i, axis)  # noqa: E731
        np.testing.assert_array_equal(value(f, a), expected, strict=True)
        check_gradient(f, a)
    b = a[:, :, :1]
    indices = rng.integers(0, 1 if axis in (2, -1) else 3, (3, 4, 5))
    found = value(lambda x: dg.take_along_axis(x, indices, axis), b)
    np.testing.assert_array_equal(found, np.take_along_axis(b, indices, axis))
    vector = rng.standard_normal(4)
    found = value(lambda x: dg.take_along_axis(x, I[0], 0), vector)
    np.testing.assert_array_equal(found, vector[I[0]])


def test_picking_a_class_of_each_row() -> None:
    x = dg.placeholder("x", ("batch", 10), "float64")
    t = dg.placeholder("t", ("batch",), "int64")
    y = dg.take_along_axis(x, t[:, None], 1)
    assert pretty(y.shape) == "(batch, 1)"
    a, k = np.random.default_rng(0).standard_normal((6, 10)), np.array([0, 9, -1, 3, 3, 5])
    feeds = {x: a, t: k}
    np.testing.assert_array_equal(run(y, feeds, {"batch": 6})[:, 0], a[np.arange(6), k])
    np.testing.assert_array_equal(run(dg.grad(dg.sum(y), x), feeds, {"batch": 6}), np.eye(10)[k])
    z = x[dg.arange(B), t]
    np.testing.assert_array_equal(run(z, feeds, {"batch": 6}), a[np.arange(6), k])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_one_hot(axis: int) -> None:
    indices = np.array([[0, 2, 5], [1, -1, 3]])
    expected = np.moveaxis(np.arange(4) == indices[..., None], -1, axis)
    found = run(dg.one_hot(indices, 4, axis=axis))
    np.testing.assert_array_equal(found, expected.astype("float32"), strict=True)
    x = dg.placeholder("x", ("batch", 3), "uint8")
    y = dg.one_hot(x, 4, bool, axis)
    found = run(y, {x: np.abs(indices)}, {"batch": 2})
    expected = np.moveaxis(np.arange(4) == np.abs(indices)[..., None], -1, axis)
    np.testing.assert_array_equal(found, expected, strict=True)
    assert dg.one_hot(N, 4).shape == (4,)


def test_a_gradient_reaches_x_alone() -> None:
    table = np.arange(6.0).reshape(3, 2)
    (g,) = gradient(lambda x: x[np.array([2, 2, 0])], table, cotangent=np.array([[1.0], [2], [4]]))
    assert g.tolist() == [[4, 4], [0, 0], [3, 3]]


def test_the_index_prints_as_numpy_text() -> None:
    entries = [(), (Span(),), (2, Span(1, None, 3)), (Span(), 1, Span()), (1, Span()), (B // 2,)]
    texts = ["...", "...", "2, 1::3", ":, 1", "1, ...", "batch//2, ..."]
    assert [repr(Index(e)) for e in entries] == texts


def test_lists_and_numbers_are_indices_as_arrays_are() -> None:
    x = dg.placeholder("x", (4, 3), "float32")
    a = np.arange(12, dtype="float32").reshape(4, 3)
    for i in (2, np.int8(1), [1, 2], [[0], [3]], (3, 0), [], range(2), np.array([1, 1])):
        index = np.asarray(i, int)
        for found, expected in (
            (dg.take(x, i, 0), np.take(a, index, 0)),
            (dg.one_hot(i, 4), np.eye(4, dtype="float32")[index]),
        ):
            assert found.shape == expected.shape
            np.testing.assert_array_equal(run(found, {x: a}), expected)
    added = dg.scatter_add(x, [0, 2, 2, 0], 3)
    np.testing.assert_array_equal(run(added, {x: a}), [a[0] + a[3], a[0] * 0, a[1] + a[2]])
    np.testing.assert_array_equal(run(dg.take_along_axis(x, [[0, 1, 2]], 0), {x: a}), [[0, 4, 8]])


def test_a_bad_index_stops_a_step_before_it_changes_any_parameter(backend: str) -> None:
    """Wherever the index is looked at: in labels, in an embedding, where it is scattered."""
    words = dg.placeholder("words", ("n",), "int64")
    labels, places = dg.placeholder("labels", ("n",), "int64"), dg.placeholder("to", (3,), "int64")
    table = dg.Parameter(np.ones((5, 4), np.float32), name="table")
    sums = dg.Parameter(np.zeros(6, np.float32), name="sums")
    loss = nn.softmax_cross_entropy(dg.take(table, words, axis=0), labels)
    updates = optim.Adam(0.1).updates(loss, [table])
    updates[sums] = sums + dg.scatter_add(dg.take(sums, places, axis=0) + 1, places, 6)
    step = dg.compile(loss, updates, backend=backend)
    right = {"words": [0, 4], "labels": [3, 0], "to": [0, 1, 5]}
    step(**right)
    before = [p.value for p in step._parameters]
    for name in right:
        with pytest.raises(IndexError):
            step(**right | {name: [*right[name][:-1], 9]})
        for p, value in zip(step._parameters, before, strict=True):
            np.testing.assert_array_equal(p.value, value, err_msg=f"{name}: {p.name}")
    step(**right)
    assert all(not np.array_equal(p.value, b) for p, b in zip(step._parameters, before, strict=True)
               if p.name != "lr")  # fmt: skip
