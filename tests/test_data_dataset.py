"""Dataset, Scaler and the stratified split."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from deepgraph import data
from deepgraph.data.split import stratified


def make(n: int = 10, shape: tuple[int, ...] = (2, 3, 4), seed: int = 0) -> data.Dataset:
    random = np.random.default_rng(seed)
    return data.Dataset(random.random((n, *shape)), np.arange(n) % 3, "toy", ("a", "b", "c"))


def test_holds_float32_and_int64() -> None:
    toy = data.Dataset(np.arange(6.0).reshape(3, 2), np.array([0, 1, 2], np.uint8))
    assert toy.x.dtype == np.float32
    assert toy.t.dtype == np.int64
    assert len(toy) == 3


def test_is_immutable_and_leaves_the_users_arrays_writable() -> None:
    x, t = np.zeros((3, 2), np.float32), np.zeros(3, np.int64)
    toy = data.Dataset(x, t)
    for part in (toy, toy[1:], toy[[0, 2]], toy.flat()):
        with pytest.raises(ValueError, match="read-only"):
            part.x[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            part.t[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        toy.x = x  # type: ignore[misc]
    x[0] = t[0] = 1


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        (slice(2, 5), [2, 3, 4]),
        (slice(None, None, -3), [9, 6, 3, 0]),
        (4, [4]),
        (np.int32(-1), [9]),
        ([3, 3, 1], [3, 3, 1]),
        (np.array([7, 0], np.uint8), [7, 0]),
        ([], []),
        (np.arange(10) % 4 == 0, [0, 4, 8]),
    ],
)
def test_rows_make_a_dataset(index: Any, rows: list[int]) -> None:
    toy = make()
    part = toy[index]
    assert isinstance(part, data.Dataset)
    assert np.array_equal(part.x, toy.x[rows])
    assert np.array_equal(part.t, toy.t[rows])
    assert part.x.shape == (len(rows), 2, 3, 4)
    assert (part.name, part.classes) == (toy.name, toy.classes)


@pytest.mark.parametrize("index", [(0, 1), [[0], [1]], 1.5, [0.5], "x", None])
def test_only_rows_are_chosen(index: Any) -> None:
    toy = make(shape=(4,))
    if index == (0, 1):
        assert len(toy[index]) == 2  # rows 0 and 1, as in a list: never row 0, column 1
        return
    with pytest.raises(TypeError, match="dataset: rows are chosen by"):
        toy[index]


def test_rows_out_of_range() -> None:
    with pytest.raises(IndexError, match="10"):
        make()[10]
    with pytest.raises(IndexError):
        make()[np.array([True, False])]


def test_is_not_walked_row_by_row() -> None:
    with pytest.raises(TypeError, match=r"toy: .* write `for x, t in dataset.batches\(size\)`"):
        iter(make())


@pytest.mark.parametrize(
    ("x", "t", "classes", "message"),
    [
        (np.zeros((3, 2)), np.zeros(2, int), (), r"one label a row: x has shape \(3, 2\).*\(2,\)"),
        (np.zeros((3, 2)), np.zeros((3, 1), int), (), "one label a row"),
        (np.float32(1), np.zeros(1, int), (), "one label a row"),
        (np.zeros((3, 2)), np.zeros(3), (), "labels are integers: t has dtype float64"),
        (np.zeros((2, 2)), np.array([0, 2]), ("a", "b"), "out of range: 0 to 2, with 2 classes"),
        (np.zeros((2, 2)), np.array([-1, 1]), ("a", "b"), "out of range: -1 to 1"),
    ],
)
def test_arrays_that_do_not_fit(x: Any, t: Any, classes: tuple[str, ...], message: str) -> None:
    with pytest.raises(data.DataError, match=message):
        data.Dataset(x, t, classes=classes)


def test_flat() -> None:
    toy = make()
    assert toy.flat().x.shape == (10, 24)
    assert np.array_equal(toy.flat().x[3], toy.x[3].ravel())
    assert toy[:0].flat().x.shape == (0, 24)
    assert np.shares_memory(toy.flat().x, toy.x)


def test_repr_says_what_it_is() -> None:
    toy = dataclasses.replace(make(1200), source="/some/folder")
    assert repr(toy) == "Dataset(toy: 1,200 of float32[2, 3, 4], 3 classes, from /some/folder)"
    assert repr(data.Dataset(np.zeros((2, 3)), [0, 1])) == "Dataset(data: 2 of float32[3])"


def test_standardized_and_the_same_for_the_test_set() -> None:
    train, test = make(100, seed=1), make(50, seed=2)
    scaled, scaler = train.standardized()
    axes = (0, 2, 3)
    mean = train.x.mean(axis=axes, dtype=np.float64)
    std = np.sqrt(np.square(train.x.astype(np.float64) - mean[:, None, None]).mean(axis=axes))
    np.testing.assert_allclose(scaled.x.mean(axis=axes), 0, atol=1e-6)
    np.testing.assert_allclose(scaled.x.std(axis=axes), 1, atol=1e-6)
    wanted = (test.x - mean[:, None, None]) / std[:, None, None]
    assert test.scaled(scaler).x.dtype == np.float32
    np.testing.assert_allclose(test.scaled(scaler).x, wanted, atol=1e-6)


def test_normalized_by_given_numbers() -> None:
    toy = make()
    np.testing.assert_allclose(toy.normalized(0.5, 2).x, (toy.x - 0.5) / 2, atol=1e-7)
    each = toy.normalized([0.1, 0.2], [1, 4]).x
    np.testing.assert_allclose(each[:, 0], toy.x[:, 0] - 0.1, atol=1e-7)
    np.testing.assert_allclose(each[:, 1], (toy.x[:, 1] - 0.2) / 4, atol=1e-7)


@pytest.mark.parametrize("shape", [(50,), (50, 4), (50, 4, 3), (50, 4, 3, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_scalers_fit_each_channel_and_invert(shape: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(3).integers(0, 200, shape).astype(dtype)
    axes = tuple(axis for axis in range(len(shape)) if axis != 1)
    for scaler in (data.Scaler.standard(x), data.Scaler.uniform(x, -1, 3)):
        y = scaler.transform(x)
        assert y.dtype == (np.float32 if dtype == "uint8" else dtype)
        np.testing.assert_allclose(scaler.inverse(y), x, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(y.min(axis=axes), -1, atol=1e-6)
    np.testing.assert_allclose(y.max(axis=axes), 3, atol=1e-5)


def test_scaler_leaves_its_input_alone() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    before = x.copy()
    scaler = data.Scaler.standard(x)
    y = scaler.transform(x)
    scaler.inverse(y)
    assert np.array_equal(x, before)
    assert not np.shares_memory(x, y)


def test_constant_channels() -> None:
    x = np.random.default_rng(4).random((1000, 2))
    x[:, 1] = 0.1  # its mean is rounded, so its computed deviation is not zero
    assert x.std(axis=0)[1] > 0
    assert np.all(np.abs(data.Scaler.standard(x).transform(x)[:, 1]) < 1e-6)
    np.testing.assert_allclose(data.Scaler.uniform(x, -1, 1).transform(x)[:, 1], -1, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: data.Scaler.standard(np.zeros((0, 3))), r"nothing to fit: x has shape \(0, 3\)"),
        (lambda: data.Scaler.uniform([[1.0]], 1, 1), "range is empty: low 1, high 1"),
        (lambda: data.Scaler(0, [1, 0]), "cannot divide by zero"),
        (lambda: data.Scaler([[0]], 1), r"one a channel: got shape \(1, 1\)"),
        (lambda: data.Scaler([0, 1], 1).transform(np.ones((5, 3))), "fitted to 2 channels.*5, 3"),
        (lambda: data.Scaler([0, 1], 1).transform(np.ones(2)), "fitted to 2 channels"),
    ],
)
def test_scaler_errors(call: Any, message: str) -> None:
    with pytest.raises(data.DataError, match=f"scaler: .*{message}"):
        call()


def test_stratified_split_keeps_the_proportions() -> None:
    labels = np.repeat([3, 5, 9], [50, 33, 17])
    train, test = stratified(labels, 20)
    assert sorted([*train, *test]) == list(range(100))
    # 10, 6.6 and 3.4 by largest remainder
    assert [int((labels[test] == value).sum()) for value in (3, 5, 9)] == [10, 7, 3]
    again = stratified(labels, 20)
    assert np.array_equal(train, again[0])
    assert np.array_equal(test, again[1])
    assert not np.array_equal(test, stratified(labels, 20, seed=1)[1])


@pytest.mark.parametrize("seed", range(3))
def test_stratified_split_is_shuffled_from_its_first_row(seed: int) -> None:
    labels = np.repeat(np.arange(10), 100)
    for part in stratified(labels, 200, seed):
        assert len(set(labels[part[:50]])) >= 9
        assert len(set(labels[part[-50:]])) >= 9
        assert np.bincount(labels[part[:50]]).max() <= 12
