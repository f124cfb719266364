"""A step's random draws: the same again from the same seed and counter, and saved with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import deepgraph as dg
from deepgraph import io


def test_draws_advance_and_go_on_from_a_file(tmp_path: Path, backend: str) -> None:
    draw = dg.uniform((4,))
    step = dg.compile([draw, draw + 0.0, dg.uniform((4,))], seed=3, backend=backend)
    first, same, other = step()
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
    io.save(tmp_path / "counter.npz", step)
    second = step()[0]
    assert not np.array_equal(first, second)
    again = dg.compile([draw, draw, dg.uniform((4,))], seed=3, backend=backend)
    np.testing.assert_array_equal(again()[0], first)
    io.load(tmp_path / "counter.npz", step)
    np.testing.assert_array_equal(step()[0], second)


def test_another_seed_draws_otherwise(backend: str) -> None:
    draw = dg.normal((100,))
    one, two = (dg.compile(draw, seed=seed, backend=backend)() for seed in (0, 1))
    assert not np.array_equal(one, two)
