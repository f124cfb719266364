"""How many threads: what the environment, a call and a block say, and who listens."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph.config import threads


def test_a_block_sets_and_restores() -> None:
    before = threads()
    with dg.config(threads=3):
        assert threads() == 3
        with dg.config(threads=1):
            assert threads() == 1
        assert threads() == 3
    assert threads() == before


def test_a_call_holds_in_its_thread() -> None:
    seen = []

    def call() -> None:
        dg.config(threads=5)
        seen.append(threads())

    before = threads()
    other = threading.Thread(target=call)
    other.start()
    other.join()
    assert seen == [5]
    assert threads() == before


@pytest.mark.parametrize("count", [0, -1, 1.0, True, None, "2"])
def test_what_is_no_number_of_threads(count: Any) -> None:
    before = threads()
    with pytest.raises(dg.GraphError, match=r"config: threads are 1 or more: got "):
        dg.config(threads=count)
    assert threads() == before


SAYS = "from deepgraph.config import threads; print(threads())"


@pytest.mark.parametrize(
    ("given", "told"),
    [("3", "3"), ("", str(len(os.sched_getaffinity(0)))), ("x", None), ("0", None), ("-2", None)],
)
def test_the_environment(
    given: str, told: str | None, python: Callable[..., CompletedProcess[str]]
) -> None:
    done = python("-c", SAYS, DEEPGRAPH_THREADS=given)
    if told is None:
        assert f"DEEPGRAPH_THREADS is a number, 1 or more: got {given!r}" in done.stderr
    else:
        assert done.stdout == f"{told}\n"


def test_a_step_follows() -> None:
    """What was bound for one number is not what runs on another."""
    x = dg.placeholder("x", ("n", 1024))
    step = dg.compile(dg.tanh(x) * dg.exp(x), backend="numpy")
    given = np.ones((1500, 1024), np.float32)
    used = []
    for count in (1, 2, 1):
        with dg.config(threads=count):
            step(x=given)
        (*_, last) = step._ready.values()
        used.append(max(blocks.threads for blocks in last.bound.binding.blocks.values()))
    assert used == [1, 2, 2]
    assert len(step._ready) == 2
