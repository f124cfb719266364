"""Loader: order, errors, bounded memory, and that no thread stays behind."""

from __future__ import annotations

import functools
import gc
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from itertools import count
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from deepgraph import data


@pytest.fixture(autouse=True)
def _no_thread_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def numbers(n: int) -> list[tuple[int]]:
    return [(i,) for i in range(n)]


def drain(loader: data.Loader, into: list[Any]) -> None:
    for item in loader:
        into.append(item)  # one by one: what came before an error stays


def running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "deepgraph-loader" in thread.name]


def test_the_same_as_the_batches_alone() -> None:
    train, _ = data.digits()
    batches = train.batches(100, shuffle=True, seed=2)
    loader = data.Loader(batches)
    assert len(loader) == len(batches) == 15
    for _ in range(2):
        for (x, t), (x0, t0) in zip(loader, batches, strict=True):
            assert np.array_equal(x, x0)
            assert np.array_equal(t, t0)


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("prefetch", [1, 4, 50])
def test_keeps_the_order_of_slow_and_fast_items(workers: int, prefetch: int) -> None:
    def slow(i: int) -> int:
        time.sleep((i * 7 % 5) / 2000)
        return i * i

    loader = data.Loader(numbers(20), slow, workers=workers, prefetch=prefetch)
    assert list(loader) == [i * i for i in range(20)]


@pytest.mark.parametrize("seed", range(5))
def test_keeps_the_order_at_random(seed: int) -> None:
    random = np.random.default_rng(seed)
    delays = random.random(60) / 500
    workers, prefetch = (int(n) for n in random.integers(1, 6, 2))

    def slow(i: int) -> int:
        time.sleep(delays[i])
        return i

    loader = data.Loader(numbers(60), slow, workers=workers, prefetch=prefetch)
    assert list(loader) == list(range(60))


def test_transforms_in_other_threads_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=10)  # passes only if two workers wait at once

    def meet(i: int) -> int:
        both.wait()
        return threading.get_ident()

    threads = set(data.Loader(numbers(6), meet, workers=2))
    assert len(threads) == 2
    assert threading.get_ident() not in threads


def test_transform_takes_the_parts_of_a_batch() -> None:
    train, _ = data.digits()
    loader = data.Loader(train.batches(500), lambda x, t: (x * 2, t))
    assert np.array_equal(np.concatenate([x for x, _ in loader]), train.x * 2)


def test_worker_exception_arrives_in_place_with_its_traceback() -> None:
    def fail(i: int) -> int:
        if i == 3:
            raise KeyError("broken here")
        time.sleep(0.01 if i == 2 else 0)  # the failure is ready before its turn
        return i

    got: list[int] = []
    with pytest.raises(KeyError, match="broken here") as caught:
        drain(data.Loader(numbers(10), fail), got)
    assert got == [0, 1, 2]
    assert "fail" in [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert not running()


def test_exception_of_the_batches_arrives_in_place() -> None:
    def source() -> Iterator[tuple[int]]:
        yield from numbers(3)
        raise OSError("disk gone")

    got: list[int] = []
    with pytest.raises(OSError, match="disk gone") as caught:
        drain(data.Loader(source(), lambda i: i), got)
    assert got == [0, 1, 2]
    assert "source" in [frame.name for frame in traceback.extract_tb(caught.tb)]


def test_stop_iteration_in_a_transform_is_no_silent_end() -> None:
    def stop(i: int) -> int:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        list(data.Loader(numbers(3), stop))


def test_break_leaves_no_thread() -> None:
    taken = []
    for i in data.Loader(((n,) for n in count()), lambda i: i, workers=3):
        assert running()
        taken.append(i)
        if i == 2:
            break
    assert taken == [0, 1, 2]
    assert not running()


def test_break_waits_for_no_work_not_begun() -> None:
    begun = []

    def slow(i: int) -> int:
        begun.append(i)
        time.sleep(0.01)
        return i

    for _ in data.Loader(numbers(100), slow, workers=1, prefetch=100):
        break
    assert len(begun) < 10


def test_exception_in_the_loop_leaves_no_thread() -> None:
    def loop() -> None:
        for _ in data.Loader((n,) for n in count()):
            raise ValueError("in the loop")

    with pytest.raises(ValueError, match="in the loop"):
        loop()
    assert not running()


def test_dropping_the_iterator_leaves_no_thread() -> None:
    iterator = iter(data.Loader((n,) for n in count()))
    assert next(iterator) == (0,)
    assert running()
    del iterator
    assert not running()


def test_an_iterator_never_started_starts_no_thread() -> None:
    iterator = iter(data.Loader(numbers(3)))
    assert not running()
    del iterator


def test_a_cycle_collected_by_a_worker_ends_too() -> None:
    # The collector runs in any thread: here in a worker, which cannot wait for its own end.
    collect = threading.Event()

    def transform(i: int) -> int:
        if i == 1:
            collect.wait(10)
            gc.collect()
        return i

    cycle: list[Any] = [iter(data.Loader(((n,) for n in count()), transform, workers=1))]
    cycle.append(cycle)
    gc.disable()
    try:
        assert next(cycle[0]) == 0
        alive = weakref.ref(cycle[0])
        del cycle
        assert alive() is not None
        collect.set()
        wait_until(lambda: not running())
        assert alive() is None
    finally:
        gc.enable()


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.mark.parametrize("prefetch", [1, 3])
def test_memory_is_bounded(prefetch: int) -> None:
    live: weakref.WeakSet[Any] = weakref.WeakSet()
    made = []

    class Item:
        pass

    def make(i: int) -> Item:
        item = Item()
        live.add(item)
        made.append(i)
        return item

    most = 0
    for step, item in enumerate(data.Loader(numbers(30), make, workers=4, prefetch=prefetch)):
        allowed = min(30, step + 1 + prefetch)
        wait_until(functools.partial(lambda n: len(made) == n, allowed))
        time.sleep(0.002)  # time to run too far ahead, were there nothing to stop it
        assert len(made) == allowed
        most = max(most, len(live))
        del item
    assert most == prefetch + 1


def test_reads_ahead_while_the_loop_works() -> None:
    third = threading.Event()

    def transform(i: int) -> int:
        if i == 2:
            third.set()
        return i

    for _ in data.Loader(numbers(5), transform, prefetch=2):
        assert third.wait(10)
        break


def test_two_iterations_at_once_are_independent() -> None:
    loader = data.Loader(numbers(10), lambda i: i)
    assert list(zip(loader, loader, strict=True)) == [(i, i) for i in range(10)]


def test_random_transforms_seeded_by_row_are_reproducible() -> None:
    train, _ = data.digits()

    def noisy(x: Any, t: Any, row: Any) -> Any:
        return x + np.random.default_rng(int(row[0])).random(x.shape, np.float32), t

    def run(workers: int) -> list[Any]:
        arrays = (train.x, train.t, np.arange(len(train)))
        batches = data.batches(arrays, 200, shuffle=True, seed=1)
        return [x for x, _ in data.Loader(batches, noisy, workers=workers)]

    assert all(np.array_equal(a, b) for a, b in zip(run(1), run(4), strict=True))


@pytest.mark.parametrize(("workers", "prefetch"), [(0, 4), (2, 0)])
def test_workers_and_prefetch_are_positive(workers: int, prefetch: int) -> None:
    with pytest.raises(ValueError, match=f"must be 1 or more: got {workers} and {prefetch}"):
        data.Loader(numbers(3), workers=workers, prefetch=prefetch)


def test_length_of_a_generator() -> None:
    with pytest.raises(TypeError, match="loader: generator has no length"):
        len(data.Loader((i,) for i in range(3)))


def test_interpreter_exits_with_an_iterator_half_way(
    python: Callable[..., CompletedProcess[str]],
) -> None:
    program = (
        "from deepgraph import data\n"
        "train, test = data.digits()\n"
        "iterator = iter(data.Loader(train.batches(10), lambda x, t: (x, t)))\n"
        "print(len(next(iterator)[1]))\n"
    )
    result = python("-c", program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "10\n", "")
