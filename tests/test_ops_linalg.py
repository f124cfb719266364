from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import Array, check_gradient, run

import deepgraph as dg
from deepgraph.expr import OPS, Kind
from deepgraph.graph import toposort

B = dg.dim("batch")


def normal(*shape: int, seed: int = 0) -> Array:
    found: Array = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return found


def value(f: Callable[..., Any], *arrays: Any) -> Array:
    """f(*arrays) by the reference backend, with known sizes and with named ones: the same."""
    known = [dg.placeholder(f"x{k}", a.shape, a.dtype) for k, a in enumerate(arrays)]
    found = run(f(*known), dict(zip(known, arrays, strict=True)))
    names = [
        dg.placeholder(f"n{k}", tuple(n if n < 2 else f"s{n}" for n in a.shape), a.dtype)
        for k, a in enumerate(arrays)
    ]
    sizes = {f"s{n}": n for a in arrays for n in a.shape}
    y = f(*names)
    np.testing.assert_array_equal(
        run(y, dict(zip(names, arrays, strict=True)), sizes), found, strict=True
    )
    assert dg.dims.bind(y.shape, sizes) == found.shape
    return found


@pytest.mark.parametrize("example", OPS["matmul"].examples, ids=lambda e: str(e.shapes))
def test_matmul(example: Any) -> None:
    for dtype in ("float64", "float32", "float16", "int8", "int64", "bool"):
        arrays = [np.random.default_rng(0).integers(-3, 4, s).astype(dtype) for s in example.shapes]
        found = value(dg.matmul, *arrays)
        np.testing.assert_array_equal(found, np.matmul(*arrays), strict=True)
    check_gradient(dg.matmul, *(normal(*s) for s in example.shapes))
    check_gradient(lambda x, y: dg.matmul(x, y) ** 2, *(normal(*s) for s in example.shapes))


def test_matmul_promotes_and_has_operators() -> None:
    a, b = np.ones((2, 3), "int32"), np.ones((3, 2), "float32")
    np.testing.assert_array_equal(value(dg.matmul, a, b), a @ b, strict=True)
    x = dg.placeholder("x", ("batch", 3))
    assert (x @ np.ones((3, 5), "float32")).shape == (B, 5)
    assert (np.ones((4, 3), "float32") @ x.T).shape == (4, B)
    assert OPS["matmul"].flops(x @ x.T) == 6 * B * B  # type: ignore[operator]


def test_the_gradient_of_a_matrix_is_one_product_over_all_rows() -> None:
    x, w = dg.placeholder("x", ("batch", 7, 3)), dg.placeholder("w", (3, 4))
    g = dg.grad(dg.sum(x @ w), w)
    products = [n for n in toposort([g]) if n.op.name == "matmul"]
    assert [n.shape for n in products if n.inputs[0].shape == (3, 7 * B)] == [(3, 4)]


@pytest.mark.parametrize(
    "shapes",
    [((), ()), ((), (2, 3)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
     ((5, 2, 3), (4, 3, 6)), ((5, 2, 3), (3,)), ((3,), (4, 3, 6))],
)  # fmt: skip
def test_dot(shapes: Any) -> None:
    arrays = [normal(*s) for s in shapes]
    np.testing.assert_allclose(value(dg.dot, *arrays), np.dot(*arrays), rtol=1e-12)
    check_gradient(dg.dot, *arrays)


def test_vecdot() -> None:
    for shapes, axis in (
        (((3,), (3,)), -1), (((2, 3), (2, 3)), 1), (((2, 3), (3,)), -1), (((4, 1, 3), (5, 3)), -1),
        (((3, 2), (3, 2)), 0),
    ):  # fmt: skip
        arrays = [normal(*s) for s in shapes]
        f = lambda x, y, k=axis: dg.vecdot(x, y, k)  # noqa: E731
        np.testing.assert_allclose(value(f, *arrays), np.vecdot(*arrays, axis=axis), rtol=1e-12)
        check_gradient(f, *arrays)
    for dtype in ("int8", "bool"):
        a = np.ones((2, 3), dtype)
        np.testing.assert_array_equal(value(dg.vecdot, a, a), np.vecdot(a, a), strict=True)


@pytest.mark.parametrize(
    ("shapes", "axes"),
    [
        (((2, 3), (3, 4)), 1), (((2, 3), (2, 3)), 2), (((2,), (3,)), 0),
        (((2, 3, 4), (3, 4, 5)), 2),
        (((2, 3, 4), (5, 4, 3)), ((1, 2), (2, 1))), (((2, 3, 4), (4, 5)), (-1, 0)),
        (((2, 3), (3, 4)), ((1,), (0,))), (((2, 3), (4, 5)), ((), ())), (((0, 3), (3, 2)), 1),
    ],
)  # fmt: skip
def test_tensordot(shapes: Any, axes: Any) -> None:
    arrays = [normal(*s) for s in shapes]
    f = lambda x, y: dg.tensordot(x, y, axes)  # noqa: E731
    np.testing.assert_allclose(value(f, *arrays), np.tensordot(*arrays, axes), rtol=1e-12)
    check_gradient(f, *arrays)


def test_outer_and_trace() -> None:
    a, b = normal(3), normal(2, 2)
    np.testing.assert_array_equal(value(dg.outer, a, b), np.outer(a, b), strict=True)
    check_gradient(dg.outer, a, b)
    c = normal(3, 4, 5)
    for args in ((), (1,), (-1, 2, 0), (0, -2, -1)):
        f = lambda x, args=args: dg.trace(x, *args)  # noqa: E731
        np.testing.assert_allclose(value(f, c), np.trace(c, *args), rtol=1e-12)
        check_gradient(f, c)
    small = np.full((2, 2), 100, "int8")
    np.testing.assert_array_equal(value(dg.trace, small), np.trace(small), strict=True)


EINSUMS = [
    ("i->", (3,)), ("ij->i", (2, 3)), ("ij->ji", (2, 3)), ("ii->i", (3, 3)), ("ii", (3, 3)),
    ("iji->j", (3, 2, 3)), ("iijj->ij", (2, 2, 3, 3)), ("iiii->", (2,) * 4), ("->", ()),
    ("i,i->", (3,), (3,)), ("i,j->ij", (2,), (3,)), ("i,i->i", (3,), (3,)), (",i->i", (), (3,)),
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ba,cb", (3, 2), (4, 3)),
    ("ij,jk->ki", (2, 3), (3, 4)), ("ji,jk->ik", (3, 2), (3, 4)), ("ij,kj->", (2, 3), (4, 3)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)), ("bij,jk->bik", (5, 2, 3), (3, 4)),
    ("bij,bij->b", (5, 2, 3), (5, 2, 3)), ("bi,bi->b", (5, 3), (5, 3)),
    ("ijb,jb->bi", (2, 3, 5), (3, 5)),
    ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)), ("ij,Ab->ijAb", (2, 3), (4, 5)),
    ("ij,j,jk->ik", (2, 3), (3,), (3, 4)), ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    ("ab,bc,ca->", (2, 3), (3, 4), (4, 2)), ("a,b,c->cab", (2,), (3,), (4,)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)), ("...ij,jk->...ik", (6, 2, 3, 4), (4, 5)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (6, 4, 5)), ("...i->...", (2, 3, 4)),
    ("i...->...i", (2, 3, 4)),
    ("...,...", (2, 3), (3,)), ("...ii->...i", (2, 3, 3)),
    ("ij...,jk...->ik...", (2, 3, 5), (3, 4, 5)),
    ("i,i->i", (1,), (3,)), ("ij,ij->", (1, 3), (2, 3)), ("i j , j k -> i k", (2, 3), (3, 4)),
    ("ij,ik->jk", (0, 2), (0, 3)), ("ij->", (0, 2)), ("i,ij,j->", (2,), (2, 3), (3,)),
]  # fmt: skip


@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
def test_einsum(case: Any) -> None:
    subscripts, *shapes = case
    arrays = [normal(*s, seed=k) for k, s in enumerate(shapes)]
    f = lambda *xs: dg.einsum(subscripts, *xs)  # noqa: E731
    np.testing.assert_allclose(
        value(f, *arrays), np.einsum(subscripts, *arrays), rtol=1e-11, atol=1e-13
    )
    check_gradient(f, *arrays)
    for dtype in ("int8", "float32", "bool"):
        integers = [np.random.default_rng(0).integers(0, 3, s).astype(dtype) for s in shapes]
        found, expected = value(f, *integers), np.einsum(subscripts, *integers)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_einsum_beyond_numpy_sums_over_dots_that_the_output_lacks() -> None:
    a, b = normal(5, 2, 3), normal(5, 4)
    expected = np.einsum("nik,nj->ij", a, b)
    np.testing.assert_allclose(
        value(lambda x, y: dg.einsum("...ik, ...j -> ij", x, y), a, b), expected, rtol=1e-12
    )


def test_einsum_promotes() -> None:
    arrays = [np.ones((2, 3), "int8"), np.ones((3, 4), "float32"), np.ones(4, "int32")]
    found = value(lambda *xs: dg.einsum("ij,jk,k->i", *xs), *arrays)
    np.testing.assert_array_equal(found, np.einsum("ij,jk,k->i", *arrays), strict=True)
    assert found.dtype == "float64"


def test_einsum_of_attention_is_two_products() -> None:
    q = dg.placeholder("q", ("batch", "length", 4, 8))
    scores = dg.einsum("bqhd,bkhd->bhqk", q, q)
    y = dg.einsum("bhqk,bkhd->bqhd", dg.softmax(scores), q)
    assert y.shape == q.shape
    calls = [n for n in toposort([y]) if n.op.kind is Kind.CALL]
    assert [n.op.name for n in calls] == ["matmul", "matmul"]


X = dg.placeholder("x", ("batch", 784))


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda: X @ np.ones(10, "float32"), "matmul: inner sizes differ: (batch, 784) and (10,)"),
        (lambda: X @ X, "matmul: inner sizes differ: (batch, 784) and (batch, 784)"),
        (lambda: X @ dg.placeholder("y", ("b", "d", 2)), "matmul: inner sizes differ"),
        (lambda: X @ np.float32(2), "matmul: no scalars: got (batch, 784) and (); write *"),
        (lambda: dg.zeros((2, 1, 3)) @ dg.zeros((4, 3, 1)), "matmul: shapes do not broadcast"),
        (lambda: dg.vecdot(X, X[:, 1:]), "vecdot: sizes along axis -1 differ"),
        (lambda: dg.tensordot(X, X, 1), "tensordot: sizes differ: axes (1,) of (batch, 784) and"),
        (lambda: dg.tensordot(X, X, 3), "tensordot: 3 axes of (batch, 784) and (batch, 784)"),
        (lambda: dg.tensordot(X, X, ((0, 1), (0,))), "tensordot: sizes differ"),
        (lambda: dg.dot(X, X), "dot: sizes differ: axes (1,)"),
        (lambda: dg.einsum("ij,jk->ik", X, X), "einsum: label 'j' has two sizes: 784 and batch"),
        (lambda: dg.einsum("ii->i", X), "einsum: label 'i' has two sizes: batch and 784"),
        (lambda: dg.einsum("ij,jk->ik", X), "einsum: as many operands as subscripts are needed"),
        (lambda: dg.einsum("ijk->i", X), "einsum: 'ijk' does not name 2 axes"),
        (lambda: dg.einsum("i->i", X), "einsum: 'i' does not name 2 axes"),
        (lambda: dg.einsum("ij->ik", X), "einsum: no operand has label 'k' of the output"),
        (lambda: dg.einsum("ij->ii", X), "einsum: a label stands twice in the output: 'ii'"),
        (lambda: dg.einsum("i1->i", X), "einsum: labels are letters: got '1' in 'i1->i'"),
        (lambda: dg.einsum("...ijk->i", X), "einsum: '...ijk' does not name 2 axes"),
        (lambda: dg.einsum("i...,j...->ij", X, X[:, 1:]), "einsum: an axis of '...' has two sizes"),
    ],
)
def test_errors(declare: Callable[[], Any], words: str) -> None:
    with pytest.raises(dg.ShapeError) as caught:
        declare()
    assert str(caught.value).startswith(words)
    assert "test_ops_linalg.py" in str(caught.value)
