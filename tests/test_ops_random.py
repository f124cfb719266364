"""Random draws: Philox against its published vectors, and what the draws promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from aid import run

import deepgraph as dg
from deepgraph.backends import library
from deepgraph.backends.philox import _philox
from deepgraph.expr import Expr
from deepgraph.graph import Graph, rewrite, toposort

Array = npt.NDArray[Any]


def philox4x32(counter: tuple[int, ...], key: tuple[int, ...]) -> list[int]:
    """Ten rounds as the paper writes them, on whole numbers."""
    c, k, low = list(counter), list(key), 0xFFFFFFFF
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [second >> 32 ^ c[1] ^ k[0], second & low, first >> 32 ^ c[3] ^ k[1], first & low]
        k = [k[0] + 0x9E3779B9 & low, k[1] + 0xBB67AE85 & low]
    return c


def draw(y: Expr, key: int = 1, counter: int = 0, sizes: dict[str, int] | None = None) -> Array:
    """The value of an expression at the n-th call of a step with this seed."""
    given = {"random_key": key, "random_counter": counter}
    leaves = {n: np.uint64(given[n.op.name]) for n in toposort([y]) if n.op.name in given}
    return run(y, leaves, sizes)


def words(shape: Any, key: int, counter: int, id: int = 0) -> Array:
    bits = dg.ops.philox_bits(dg.ops.random_key(), dg.ops.random_counter(), id, shape)
    return draw(bits, key, counter)


PUBLISHED = [  # of Random123, examples/kat_vectors: counter, key, result
    ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]  # fmt: skip


@pytest.mark.parametrize(("counter", "key", "result"), PUBLISHED)
def test_the_published_vectors(
    counter: tuple[int, ...], key: tuple[int, ...], result: tuple[int, ...]
) -> None:
    assert philox4x32(counter, key) == list(result)
    rows = np.empty((4, 1), np.uint64)
    _philox(key[0] | key[1] << 32, counter[2] | counter[3] << 32, counter[1], counter[0], rows)
    assert rows[2:, 0].tolist() == [result[0] << 32 | result[1], result[2] << 32 | result[3]]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 31, 32769, 100_003])
def test_element_i_is_word_i_of_the_numbered_blocks(size: int) -> None:
    key, counter, id = 0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x89ABCDEF
    found = words(size, key, counter, id)
    assert (found.dtype, found.shape) == (np.uint32, (size,))
    for i in {0, 1, 2, 3, 4, 32767, 32768, size - 2, size - 1}:
        if 0 <= i < size:
            block = philox4x32((i // 4, id, 0x76543210, 0xFEDCBA98), (0x89ABCDEF, 0x01234567))
            assert found[i] == block[i % 4]


def test_elements_count_in_row_major_order_whatever_the_memory_order() -> None:
    scratch = np.empty((4, 8192), np.uint64)
    given = (np.uint64(3), np.uint64(4), 5)
    plain, turned = np.empty((70, 31, 17), np.float32), np.empty((17, 31, 70), np.float32).T
    library.philox_uniform(*given, "float32", plain, scratch)
    library.philox_uniform(*given, "float32", turned, scratch)
    np.testing.assert_array_equal(plain, turned)
    library.philox_normal(*given, "float32", plain, scratch)
    library.philox_normal(*given, "float32", turned[:, ::-1], scratch)
    np.testing.assert_array_equal(plain, turned[:, ::-1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_how_much_is_made_at_a_time_changes_nothing(dtype: str) -> None:
    found = []
    for width in (1, 100, 128, 8192):
        out = np.empty(999, dtype)
        scratch = np.empty((4, width), np.uint64)
        library.philox_normal(np.uint64(1), np.uint64(2), 3, dtype, out, scratch)
        found.append(out)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_another_key_counter_or_id_gives_other_words() -> None:
    base = words(1000, 1, 2, 3)
    np.testing.assert_array_equal(base, words(1000, 1, 2, 3))
    for others in ((2, 2, 3), (1, 3, 3), (1, 2, 4), (1 + 2**32, 2, 3), (1, 2 + 2**32, 3)):
        assert np.mean(base == words(1000, *others)) < 0.01


@pytest.mark.parametrize(("dtype", "precision"), [("float16", 11), ("float32", 24)])
def test_uniforms_are_the_leading_bits_of_words(dtype: str, precision: int) -> None:
    y = dg.ops.philox_uniform(dg.ops.random_key(), dg.ops.random_counter(), 9, (51, 67), dtype)
    found = draw(y, 5, 6)
    expected = (words((51, 67), 5, 6, 9) >> (32 - precision)) * 2.0**-precision
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)
    assert found.max() < 1


def test_uniforms_in_double_precision_are_the_leading_bits_of_two_words() -> None:
    y = dg.ops.philox_uniform(dg.ops.random_key(), dg.ops.random_counter(), 9, (333,), "float64")
    first, second = words(666, 5, 6, 9).reshape(333, 2).astype(np.uint64).T
    expected = ((first << np.uint64(32) | second) >> np.uint64(11)) * 2.0**-53
    np.testing.assert_array_equal(draw(y, 5, 6), expected)


def test_bfloat16_draws_eight_bits() -> None:
    pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")
    found = draw(dg.uniform((1000,), dtype="bfloat16")).astype(np.float64)
    assert found.max() < 1
    np.testing.assert_array_equal(found * 256, np.round(found * 256))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normals_are_those_of_box_and_muller(dtype: str) -> None:
    """Compared in long double; float32 within the 4 units in the last place that are promised."""
    size = 40_002
    y = dg.ops.philox_normal(dg.ops.random_key(), dg.ops.random_counter(), 9, (size,), dtype)
    real, wide = np.dtype(dtype).type, np.longdouble
    if dtype == "float32":
        first, second = words(size, 5, 6, 9).reshape(-1, 2).T
        power = 32
    else:
        even, odd = words(2 * size, 5, 6, 9).reshape(-1, 2).astype(np.uint64).T
        first, second = (even << np.uint64(32) | odd).reshape(-1, 2).T >> np.uint64(11)
        power = 53
    u = first.astype(dtype) * real(2.0**-power) + real(2.0 ** -(power + 1))
    t = second.astype(dtype) * real(2 * np.pi * 2.0**-power)
    radius = np.sqrt(-2 * np.log(u.astype(wide)))
    expected = np.stack([radius * np.cos(t.astype(wide)), radius * np.sin(t.astype(wide))], 1)
    found = draw(y, 5, 6)
    error = np.abs(found - expected.reshape(-1)) / np.spacing(np.abs(found))
    assert found.dtype == dtype
    assert error.max() < 4


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_moments_and_frequencies(dtype: str, seed: int) -> None:
    """Each bound is five standard deviations of the statistic wide."""
    size = 200_000
    u = draw(dg.uniform(size, dtype=dtype), seed).astype(float)
    assert abs(u.mean() - 0.5) < 5 * np.sqrt(1 / 12 / size) + 2.0**-12
    counts = np.histogram(u, 64, (0, 1))[0]
    chi_square = np.sum((counts - size / 64) ** 2) / (size / 64)
    assert abs(chi_square - 63) < 5 * np.sqrt(2 * 63)
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 5 / np.sqrt(size)
    z = draw(dg.normal((size,), dtype=dtype), seed).astype(float)
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(z**power) - moment) < 5 * np.sqrt(variance / size) + 1e-3
    assert abs(np.mean(z[0::2] * z[1::2])) < 5 / np.sqrt(size / 2)  # the two of a pair
    assert abs(np.mean(np.abs(z) < 1) - 0.6826895) < 5 * np.sqrt(0.22 / size) + 1e-3


def test_limits_scales_and_broadcasting() -> None:
    u = draw(dg.uniform((3, 4000), -2, 5))
    assert (u.min() >= -2, u.max() < 5, u.dtype) == (True, True, "float32")
    assert abs(u.mean() - 1.5) < 0.1
    z = draw(dg.normal((3, 4000), dg.asarray([[-50.0], [0.0], [50.0]]).astype("float32"), 2))
    np.testing.assert_allclose(z.mean(1), [-50, 0, 50], atol=0.2)
    np.testing.assert_allclose(z.std(1), 2, atol=0.1)
    plain = dg.normal((7,))
    assert plain.op.name == "philox_normal"  # nothing added, nothing multiplied


def test_bernoulli_hits_with_the_probability_of_each_element() -> None:
    p = np.linspace(0, 1, 5, dtype=np.float32)
    hits = draw(dg.bernoulli(p, (20_000, 5)))
    assert hits.dtype == bool
    np.testing.assert_allclose(hits.mean(0), p, atol=0.02)
    assert (hits[:, 0].any(), hits[:, 4].all()) == (False, True)
    assert draw(dg.bernoulli(p)).shape == (5,)
    assert draw(dg.bernoulli(0.5, dtype="float64")).dtype == np.float64


def test_two_draws_never_merge_but_copies_of_one_agree() -> None:
    a, b = dg.uniform(100), dg.uniform(100)
    assert not np.array_equal(draw(a), draw(b))
    key, counter = dg.ops.random_key(), dg.ops.random_counter()
    draws = [dg.ops.philox_bits(key, counter, k, 4) for k in (0, 1, 0)]
    merged = rewrite(Graph((), {str(k): y for k, y in enumerate(draws)}))
    assert sum(n.op.name == "philox_bits" for n in merged.nodes) == 2


@pytest.mark.parametrize("make", [dg.uniform, dg.normal])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5, 1, 7)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_all_shapes(make: Callable[..., Expr], shape: tuple[int, ...], dtype: str) -> None:
    found = draw(make(shape, dtype=dtype))
    assert (found.shape, found.dtype) == (shape, dtype)


def test_sizes_that_are_not_known_yet() -> None:
    y = dg.ops.philox_uniform(dg.ops.random_key(), dg.ops.random_counter(), 3, ("n", 5))
    known = dg.ops.philox_uniform(dg.ops.random_key(), dg.ops.random_counter(), 3, (9, 5))
    np.testing.assert_array_equal(draw(y, sizes={"n": 9}), draw(known))
    assert str(dg.normal(("batch", 3)).shape) == "(batch, 3)"


def test_dropout_keeps_the_mean_and_its_gradient_the_mask() -> None:
    x = dg.placeholder("x", ("n", 50), "float64")
    y = dg.dropout(x, 0.25, training=True)
    g = dg.grad(dg.sum(y * 3), x)
    leaves = {n: np.uint64(8) for n in toposort([y, g]) if n.op.name.startswith("random_")}
    value = np.random.default_rng(0).uniform(1, 2, (400, 50))
    found, back = (run(e, {x: value, **leaves}, {"n": 400}) for e in (y, g))
    kept = found != 0
    np.testing.assert_allclose(found, np.where(kept, value / 0.75, 0))
    np.testing.assert_allclose(back, np.where(kept, 4, 0))
    assert abs(kept.mean() - 0.75) < 5 * np.sqrt(0.1875 / 20_000)


def test_dropout_that_drops_nothing_is_its_argument() -> None:
    x = dg.placeholder("x", (3,))
    assert dg.dropout(x, 0.5, training=False) is x
    assert dg.dropout(x, 0, training=True) is x
    lost = dg.dropout(dg.asarray([np.inf, np.nan] * 50), 0.5, training=True)
    assert (draw(lost) == 0).sum() > 10  # dropped, not multiplied by 0


def test_errors() -> None:
    key, counter = dg.ops.random_key(), dg.ops.random_counter()
    x = dg.placeholder("x", (3,))
    with pytest.raises(dg.DTypeError, match=r"key and counter are uint64 numbers: .* x"):
        dg.ops.philox_bits(x, counter, 0, (3,))
    with pytest.raises(dg.GraphError, match=r"an id has 32 bits: got 4294967296"):
        dg.ops.philox_bits(key, counter, 2**32, (3,))
    with pytest.raises(dg.DTypeError, match="draws floats: got int32"):
        dg.uniform((3,), dtype="int32")
    with pytest.raises(
        dg.ShapeError, match=r"^normal: operands are wider than the draws: \(3,\) and \(\)"
    ):
        dg.normal((), x)
    with pytest.raises(dg.ShapeError, match=r"^bernoulli: operands .*\(2, 3\) and \(3,\)"):
        dg.bernoulli(np.ones((2, 3)), (3,))
    for rate in (1, -0.5, float("nan")):
        with pytest.raises(dg.GraphError, match=r"^dropout: rate is a number in \[0, 1\): got"):
            dg.dropout(x, rate, training=True)
    with pytest.raises(dg.DTypeError, match=r"^dropout: drops floats"):
        dg.dropout(x.astype("int32"), 0.5, training=True)
    vast, scratch = np.broadcast_to(np.uint32(0), (2**34 + 1,)), np.empty((4, 1), np.uint64)
    with pytest.raises(ValueError, match=r"2\*\*32 blocks"):
        library.philox_bits(np.uint64(0), np.uint64(0), 0, vast, scratch)
