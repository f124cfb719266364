"""What tests of operations share: a value from the reference backend, and a check of a gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import deepgraph as dg
from deepgraph.backends.reference import evaluate
from deepgraph.expr import Expr
from deepgraph.graph import Graph

Array = npt.NDArray[Any]


def run(
    y: Expr, feeds: Mapping[Expr, Any] | None = None, sizes: Mapping[str, int] | None = None
) -> Array:
    """The value of an expression, given those of its placeholders and the sizes it names."""
    graph = Graph((), {"y": y})
    graph.verify()
    found: Array = evaluate(graph, feeds or {}, sizes or {})[0]["y"]
    return found


def gradient(f: Callable[..., Expr], *arrays: Any, cotangent: Any = 1.0) -> list[Array]:
    """The gradients of sum(f(*arrays) * cotangent) by each array."""
    xs, values = _placeholders(arrays)
    loss = dg.sum(f(*xs) * cotangent)
    return [run(g, values) for g in dg.grad(loss, xs)]


def check_gradient(f: Callable[..., Expr], *arrays: Any, seed: int = 0, rtol: float = 1e-6) -> None:
    """Compare the gradient of f, in float64, with central differences along a random direction."""
    rng = np.random.default_rng(seed)
    arrays = tuple(np.asarray(a, np.float64) for a in arrays)
    xs, values = _placeholders(arrays)
    y = f(*xs)
    cotangent = rng.uniform(0.5, 1.5, run(y, values).shape)
    ways = [rng.choice([-1.0, 1.0], a.shape) * rng.uniform(0.5, 1.0, a.shape) for a in arrays]
    step = 1e-6

    def loss(sign: int) -> float:
        moved = {x: a + sign * step * w for x, a, w in zip(xs, arrays, ways, strict=True)}
        return float(np.sum(run(y, moved) * cotangent))

    found = gradient(f, *arrays, cotangent=cotangent)
    for g, a in zip(found, arrays, strict=True):
        assert (g.shape, g.dtype) == (a.shape, a.dtype)
    along = sum(float(np.sum(g * w)) for g, w in zip(found, ways, strict=True))
    np.testing.assert_allclose(along, (loss(1) - loss(-1)) / (2 * step), rtol=rtol, atol=1e-7)


def spoil(step: dg.Step, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the generated code of a step that was called fail where it uses this name."""
    (run,) = (ready.run for ready in step._ready.values())
    monkeypatch.setitem(run.__globals__, name, None)  # type: ignore[attr-defined]


def _placeholders(arrays: tuple[Any, ...]) -> tuple[list[Expr], dict[Expr, Array]]:
    given = [np.asarray(a) for a in arrays]
    xs = [dg.placeholder(f"x{k}", a.shape, a.dtype) for k, a in enumerate(given)]
    return xs, dict(zip(xs, given, strict=True))
