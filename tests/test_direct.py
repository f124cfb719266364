"""Short steps whose calls are all C give what the long way gives, and go it where they must."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph.backends import toolchain

pytestmark = pytest.mark.skipif(toolchain.missing() is not None, reason="no C compiler here")


def declared(**options: Any) -> dg.Step:
    x, y = dg.placeholder("x", ("n", 3)), dg.placeholder("y", (3,))
    outputs = {"sum": x + y, "product": x * y - 1}
    return dg.compile(outputs, backend="native", **options)


def feeds(n: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"x": rng.normal(size=(n, 3)).astype("f4"), "y": rng.normal(size=3).astype("f4")}


def check(found: dict[str, Any], given: dict[str, Any]) -> None:
    assert list(found) == ["sum", "product"]
    np.testing.assert_allclose(found["sum"], given["x"] + given["y"], rtol=1e-6)
    np.testing.assert_allclose(found["product"], given["x"] * given["y"] - 1, rtol=1e-5)


def long_way(step: dg.Step, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What goes the long way is listed."""
    seen: list[Any] = []
    take = step._feeds.take

    def watched(args: Any, given: Any) -> Any:
        seen.append(given)
        return take(args, given)

    monkeypatch.setattr(step._feeds, "take", watched)
    return seen


def test_calls_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    step = declared()
    seen = long_way(step, monkeypatch)
    for seed in range(5):
        check(step(**feeds(4, seed)), feeds(4, seed))
    assert len(seen) == 1
    for n in (5, 4, 4, 4):
        check(step(**feeds(n)), feeds(n))
    assert len(seen) == 3  # whenever sizes change
    step(**feeds(4), out=step(**feeds(4)))
    assert len(seen) == 4


def test_large_steps_too(
    monkeypatch: pytest.MonkeyPatch, use_threads: Callable[[int], None]
) -> None:
    """Whose binding is for a number of threads, and whose results are of memory that is kept."""
    step = declared()
    seen = long_way(step, monkeypatch)
    for k, (count, ways) in enumerate([(1, 1), (1, 1), (2, 2), (2, 2), (1, 3), (1, 3)]):
        use_threads(count)
        for seed in range(2):
            check(step(**feeds(50_000, k + seed)), feeds(50_000, k + seed))
        assert len(seen) == ways
    assert step.memory["results"] < 3 * 2 * 50_000 * 3 * 4


def test_results_are_their_own() -> None:
    step = declared()
    kept = [step(**feeds(4, seed)) for seed in range(5)]
    for seed, found in enumerate(kept):
        check(found, feeds(4, seed))
    assert not np.shares_memory(kept[1]["sum"], kept[2]["sum"])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"x": np.zeros((4, 3))}, r'x\.astype\("float32"\)'),
        ({"x": np.zeros((4, 2), "f4")}, "feed x has another shape"),
        ({"z": np.zeros(3, "f4")}, "no placeholder is called 'z'"),
    ],
)
def test_wrong_feeds_are_told_as_ever(change: dict[str, Any], told: str) -> None:
    step = declared()
    for _ in range(3):
        step(**feeds(4))
    with pytest.raises(dg.GraphError, match=told):
        step(**feeds(4) | change)
    check(step(**feeds(4)), feeds(4))


def test_feeds_that_need_a_copy() -> None:
    step, given = declared(), feeds(4)
    raw = np.empty(given["x"].nbytes + 1, np.uint8)[1:]
    crooked = raw.view("f4").reshape(4, 3)
    crooked[...] = given["x"]
    for x in (np.asfortranarray(given["x"]), given["x"].tolist(), given["x"].astype(">f4"), crooked,
              given["x"].astype("f2").astype("f4")):  # fmt: skip
        step(**given)
        check(step(x=x, y=given["y"]), {"x": np.asarray(x, "f4"), "y": given["y"]})


@pytest.mark.parametrize("options", [{"donate": ("x",)}, {"debug": "nan"}])
def test_steps_that_always_go_the_long_way(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = declared(**options)
    seen = long_way(step, monkeypatch)
    for seed in range(3):
        check(step(**feeds(4, seed)), feeds(4, seed))
    assert len(seen) == 3


def test_no_update_is_lost() -> None:
    """Steps that share a parameter, short and long, on threads that change at any moment."""
    before = sys.getswitchinterval()
    p = dg.Parameter(np.zeros(10), name="p")
    x = dg.placeholder("x", (10,), "float64")
    long = dg.Parameter(np.zeros(200_000), name="long")
    steps = [
        dg.compile(p * 1, {p: p + x}, backend="native"),
        dg.compile((), {p: p + 10 * x}, backend="native"),
        dg.compile((), {p: p + 100 * x, long: long + p[0]}, backend="native"),
        dg.compile((), {p: p + 1000 * x}, backend="numpy"),
    ]

    def caller(step: dg.Step) -> Callable[[], None]:
        def call() -> None:
            for _ in range(50):
                step(x=np.ones(10))

        return call

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(caller(step)) for step in steps * 2]:
                done.result(60)
    finally:
        sys.setswitchinterval(before)
    np.testing.assert_array_equal(p.value, 100 * 1111)


def test_a_parameter_that_is_assigned() -> None:
    p = dg.Parameter(np.zeros(3, "f4"), name="p")
    x = dg.placeholder("x", (3,))
    step = dg.compile(x + p, backend="native")
    for k in range(4):
        p.value = np.full(3, k)
        np.testing.assert_array_equal(step(x=np.ones(3, "f4")), np.full(3, k + 1))
