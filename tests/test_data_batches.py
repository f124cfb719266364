"""Batches: sizes, order, reproducibility, and that they never alias the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deepgraph import data


def make(n: int) -> data.Dataset:
    return data.Dataset(np.arange(n * 3.0).reshape(n, 3), np.arange(n))


def labels(batches: data.Batches) -> list[int]:
    return [int(value) for _, t in batches for value in t]


@pytest.mark.parametrize(
    ("n", "size", "sizes", "whole"),
    [
        (10, 4, [4, 4, 2], 2),
        (8, 4, [4, 4], 2),
        (3, 4, [3], 0),
        (1, 1, [1], 1),
        (0, 4, [], 0),
    ],
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_sizes_and_length(n: int, size: int, sizes: list[int], whole: int, shuffle: bool) -> None:
    kept = make(n).batches(size, shuffle=shuffle)
    assert [len(t) for _, t in kept] == sizes
    assert len(kept) == len(sizes)
    dropped = make(n).batches(size, shuffle=shuffle, drop_last=True)
    assert [len(t) for _, t in dropped] == [size] * whole
    assert len(dropped) == whole


def test_in_order_without_shuffle() -> None:
    assert labels(make(10).batches(3)) == list(range(10))


@pytest.mark.parametrize("seed", [0, 7, (3, 5), np.random.SeedSequence(4)])
def test_shuffled_order_is_that_of_default_rng(seed: Any) -> None:
    wanted = np.random.default_rng(seed).permutation(20)
    batches = make(20).batches(6, shuffle=True, seed=seed)
    assert labels(batches) == list(wanted)
    assert labels(make(20).batches(6, shuffle=True, seed=seed)) == list(wanted)


@pytest.mark.parametrize("seed", [0, None, np.random.default_rng(5)])
def test_iterating_again_gives_the_same_order(seed: Any) -> None:
    batches = make(50).batches(8, shuffle=True, seed=seed)
    first = labels(batches)
    assert sorted(first) == list(range(50))
    assert labels(batches) == first
    assert [(len(x), len(y)) for (x, _), (y, _) in zip(batches, batches, strict=True)]


def test_epochs_differ() -> None:
    orders = {
        tuple(labels(make(30).batches(7, shuffle=True, seed=(0, epoch)))) for epoch in range(5)
    }
    assert len(orders) == 5


@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_stay_together(shuffle: bool) -> None:
    toy = make(25)
    for x, t in toy.batches(4, shuffle=shuffle, seed=1):
        assert np.array_equal(x, toy.x[t])
        assert x.dtype == np.float32
        assert t.dtype == np.int64


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_batch_is_the_callers_own(shuffle: bool, order: Any) -> None:
    x = np.asarray(np.random.default_rng(0).random((12, 3, 4)), order=order)
    t = np.arange(12)
    before = x.copy()
    batches = data.batches((x, t), 5, shuffle=shuffle)
    for xb, tb in batches:
        assert xb.flags.c_contiguous
        assert not np.shares_memory(xb, x)
        assert not np.shares_memory(tb, t)
        xb[...] = -1
        tb[...] = -1
    assert np.array_equal(x, before)
    assert np.array_equal(t, np.arange(12))
    assert all((xb >= 0).all() for xb, _ in batches)


def test_any_arrays_of_one_length() -> None:
    one, two, three = [1, 2, 3], np.ones((3, 2)), np.array(["a", "b", "c"])
    got = list(data.batches((one, two, three), 2))
    assert [len(batch) for batch in got] == [3, 3]
    assert [list(batch[2]) for batch in got] == [["a", "b"], ["c"]]
    assert [list(x) for (x,) in data.batches(([5, 6],), 1)] == [[5], [6]]


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        ((np.ones(3), np.ones(4)), data.DataError, r"one common length: .*\(3,\), \(4,\)"),
        ((np.ones(3), 1.0), data.DataError, "one common length"),
        ((1.0,), data.DataError, "one common length"),
        ((), data.DataError, "one common length"),
        (np.ones((3, 2)), TypeError, r"got ndarray; write \(x,\)"),
    ],
)
def test_arrays_without_one_length(arrays: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"batches: .*{message}"):
        data.batches(arrays, 2)


@pytest.mark.parametrize("size", [0, -1])
def test_size_is_positive(size: int) -> None:
    with pytest.raises(data.DataError, match=f"batches: size must be 1 or more: got {size}"):
        make(3).batches(size)


def test_size_is_an_integer() -> None:
    with pytest.raises(TypeError):
        make(3).batches(1.5)  # type: ignore[arg-type]
    assert len(make(3).batches(np.int64(2))) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, "a"])
def test_bad_seed(seed: Any) -> None:
    with pytest.raises(data.DataError, match=f"batches: seed .*: got {seed!r}"):
        make(3).batches(1, shuffle=True, seed=seed)


def test_repr() -> None:
    assert repr(make(10).batches(4)) == "Batches(3 of 4, 10 rows in order)"
    assert repr(make(10).batches(4, shuffle=True)) == "Batches(3 of 4, 10 rows shuffled)"
