"""Steps, parameters and results under several threads at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import deepgraph as dg

THREADS = 6


@pytest.fixture(autouse=True)
def _switches_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(*functions: Callable[[], Any]) -> list[Any]:
    """Run functions on a thread each, started at once; what one raises is raised."""
    start = threading.Barrier(len(functions))

    def begin(f: Callable[[], Any]) -> Any:
        start.wait()
        return f()

    with ThreadPoolExecutor(len(functions)) as pool:
        return [future.result(60) for future in [pool.submit(begin, f) for f in functions]]


@pytest.mark.parametrize("n", [5, 1 << 17])
def test_calls_of_one_step(n: int) -> None:
    x = dg.placeholder("x", ("n",))
    y = dg.tanh(x)
    outputs = {"y": y[::-1] * 2, "sum": dg.sum(y @ dg.reshape(y, (-1, 1)))}
    step = dg.compile(outputs, backend="numpy")

    def caller(seed: int) -> Callable[[], None]:
        def call() -> None:
            rng = np.random.default_rng(seed)
            kept = []
            for _ in range(200 if n < 100 else 20):
                size = int(rng.integers(1, n))
                given = rng.normal(size=size).astype(np.float32)
                kept.append((given, step(x=given)))
            for given, found in kept:
                np.testing.assert_allclose(found["y"], np.tanh(given)[::-1] * 2, rtol=1e-5)
                np.testing.assert_allclose(found["sum"], (np.tanh(given) ** 2).sum(), rtol=1e-3)

        return call

    together(*map(caller, range(THREADS)))


def test_no_update_is_lost() -> None:
    p = dg.Parameter(np.zeros(1000), name="p")
    by_one = dg.compile(dg.sum(p), {p: p + 1}, backend="numpy")
    by_ten = dg.compile((), {p: p + 10}, backend="numpy")
    callers = [lambda s=s: [s() for _ in range(200)] for s in (by_one, by_ten)]
    together(*callers * 3)
    np.testing.assert_array_equal(p.value, 3 * 200 + 3 * 2000)


def test_steps_over_parameters_in_other_orders() -> None:
    """Locks are taken in one order, so that no two calls wait for each other."""
    p, q = (dg.Parameter(np.zeros(100), name=n) for n in "pq")
    one = dg.compile((), {p: q + 1, q: p + 1}, backend="numpy")
    two = dg.compile((), {q: p + 1, p: q + 1}, backend="numpy")
    together(*[lambda: [one() for _ in range(300)], lambda: [two() for _ in range(300)]] * 2)
    np.testing.assert_array_equal(p.value, 1200)
    np.testing.assert_array_equal(q.value, 1200)


class Recorder:
    """A lock that writes down when it is taken."""

    def __init__(self, name: str, taken: list[str]) -> None:
        self.name, self.taken, self.lock = name, taken, threading.RLock()

    def acquire(self) -> None:
        self.lock.acquire()
        self.taken.append(self.name)

    def release(self) -> None:
        self.lock.release()


def test_locks_are_taken_in_one_order() -> None:
    parameters = [dg.Parameter(np.zeros(2), name=name) for name in "abcdefgh"]
    taken: list[str] = []
    for p in parameters:
        object.__setattr__(p, "lock", Recorder(p.name, taken))
    a, b, *_, h = parameters
    for updates in ({a: h + 1, h: a}, {h: a, a: h + 1, b: b * 2}, dict(zip(
        parameters, parameters[::-1], strict=True))):  # fmt: skip
        taken.clear()
        dg.compile(dg.sum(a * h), updates, backend="numpy")()
        assert taken == sorted(p.name for p in updates)
    taken.clear()
    dg.compile(dg.sum(h + a), backend="numpy")()
    assert taken == ["a", "h"]


def test_a_reading_step_sees_all_of_an_update_or_none() -> None:
    n = 200_000
    p, q = (dg.Parameter(np.zeros(n, np.float32), name=name) for name in "pq")
    update = dg.compile((), {p: p + 1, q: q + 1}, backend="numpy")
    read = dg.compile([p + 0, q + 0], backend="numpy")
    stop = threading.Event()

    def updates() -> None:
        while not stop.is_set():
            update()

    def reads() -> None:
        seen = set()
        try:
            while len(seen) < 10:
                a, b = read()
                assert a.min() == a.max() == b.min() == b.max()
                seen.add(float(a[0]))
        finally:
            stop.set()

    together(updates, reads)


def test_values_are_read_and_assigned_beside_steps() -> None:
    p = dg.Parameter(np.zeros(100_000, np.float32), name="p")
    step = dg.compile((), {p: p + 1}, backend="numpy")

    def reads() -> None:
        for _ in range(100):
            value = p.value
            assert value.min() == value.max()

    def assigns() -> None:
        for k in range(50):
            p.assign(np.full(100_000, -k, np.float32))

    together(lambda: [step() for _ in range(100)], reads, assigns)


def test_profiles_and_explanations_beside_calls() -> None:
    x = dg.placeholder("x", ("n",))
    p = dg.Parameter(np.float32(0), name="p")
    step = dg.compile(dg.sum(x) + p * 0, {p: p + 1}, backend="numpy")

    def calls() -> None:
        for n in range(1, 60):
            assert step(x=np.ones(n, np.float32)) == n

    def looks() -> None:
        for _ in range(20):
            step.profile(x=np.ones(3, np.float32), repeat=2)
            assert step.memory["results"] >= 0
            assert "kernel" in step.explain(p)

    together(calls, looks, calls, looks)
    assert p.value == 2 * 59


def test_compiling_on_threads() -> None:
    x = dg.placeholder("x", ("n",))

    def build(k: int) -> Callable[[], None]:
        def compile_and_call() -> None:
            for j in range(10):
                step = dg.compile(dg.tanh(x * k) + j, backend="numpy")
                np.testing.assert_allclose(step(x=[0.5]), np.tanh(0.5 * k) + j, rtol=1e-5)

        return compile_and_call

    together(*map(build, range(THREADS)))


@pytest.mark.parametrize("debug", ["trace", "nan"])
def test_debugged_steps(debug: str) -> None:
    x = dg.placeholder("x", ("n",))
    p = dg.Parameter(np.float32(0), name="p")
    step = dg.compile(dg.sum(x) + p * 0, {p: p + 1}, backend="numpy", debug=debug)
    together(*[lambda: [step(x=np.ones(1 + k % 3, np.float32)) for k in range(20)]] * 4)
    assert p.value == 80


def test_prints_count_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    x = dg.placeholder("x")
    y = dg.print(x, every=10, label="v")
    steps = [dg.compile(y, backend="numpy") for _ in range(3)]
    together(*[lambda s=s: [s(x=1.0) for _ in range(100)] for s in steps])  # type: ignore[misc]
    assert capsys.readouterr().out.count("v: ") == 30
