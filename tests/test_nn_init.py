"""Initial weights: their moments over many draws, their bounds and their fans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deepgraph import nn
from deepgraph.errors import ShapeError
from deepgraph.nn import init

DENSE, CONV = (300, 200), (40, 20, 5, 3)  # fans (300, 200) and (300, 600)
VARIANCE = {
    "glorot": lambda fan_in, fan_out: 2 / (fan_in + fan_out),
    "he": lambda fan_in, fan_out: 2 / fan_in,
    "lecun": lambda fan_in, fan_out: 1 / fan_in,
}


@pytest.mark.parametrize(("shape", "fans"), [(DENSE, (300, 200)), (CONV, (300, 600))])
@pytest.mark.parametrize("name", sorted(VARIANCE))
@pytest.mark.parametrize("kind", ["uniform", "normal"])
@pytest.mark.parametrize("seed", [0, 1])
def test_scaled_by_fans(
    shape: tuple[int, ...], fans: tuple[int, int], name: str, kind: str, seed: int
) -> None:
    draw: Callable[..., Any] = getattr(init, f"{name}_{kind}")
    values = draw(shape, np.random.default_rng(seed))
    variance, n = VARIANCE[name](*fans), values.size
    assert values.shape == shape
    assert abs(values.mean()) < 5 * np.sqrt(variance / n)
    kurtosis = {"uniform": 1.8, "normal": 3.0}[kind]
    spread = np.sqrt((kurtosis - 1) / n)  # of the sample variance, in units of the variance
    assert abs(values.var() / variance - 1) < 5 * spread
    assert abs(np.mean(values**4) / variance**2 - kurtosis) < 0.25
    if kind == "uniform":
        bound = np.sqrt(3 * variance)
        assert 0.99 * bound < abs(values).max() <= bound
    twice = draw(shape, np.random.default_rng(seed), gain=2.0)
    np.testing.assert_allclose(twice, 2 * values, rtol=1e-12)


@pytest.mark.parametrize("shape", [(6, 6), (3, 7), (7, 3), (4, 2, 3, 3)])
@pytest.mark.parametrize("seed", [0, 1])
def test_orthogonal(shape: tuple[int, ...], seed: int) -> None:
    values = init.orthogonal(shape, np.random.default_rng(seed), gain=1.5)
    assert values.shape == shape
    w = values.reshape(shape[0], -1)
    gram = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(gram, 2.25 * np.eye(len(gram)), atol=1e-12)


def test_orthogonal_is_uniform() -> None:
    rng = np.random.default_rng(0)
    trace = [np.trace(init.orthogonal((2, 2), rng)) for _ in range(2000)]
    # Half are reflections, of trace 0; the others turn by a uniform angle. QR alone favours some.
    assert abs(np.mean(trace)) < 5 / np.sqrt(2000)
    assert abs(np.mean(np.square(trace)) - 1) < 5 * np.sqrt(2 / 2000)


def test_plain_draws() -> None:
    rng = np.random.default_rng(0)
    normal = init.normal((100, 100), rng, mean=2.0, std=0.5)
    assert abs(normal.mean() - 2) < 0.02
    assert abs(normal.std() - 0.5) < 0.02
    uniform = init.uniform((100, 100), rng, low=1.0, high=3.0)
    assert 1 <= uniform.min() < 1.01
    assert 2.99 < uniform.max() < 3
    np.testing.assert_array_equal(init.constant((2, 3), rng, value=0.1), np.full((2, 3), 0.1))


def test_vectors_have_no_fans() -> None:
    with pytest.raises(ShapeError, match=r"has fans: got shape \(5,\)"):
        nn.init.he_normal((5,), np.random.default_rng(0))
