"""The elementwise and row workloads: their inputs, and their texts over any array namespace."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.nets import Array

COLUMNS = 1000
SCALE, CUBE = math.sqrt(2 / math.pi), 0.044715
EPSILON = 1e-5  # of layer norm
RATE, BETAS, EPS = 1e-3, (0.9, 0.999), 1e-8  # of Adam
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)

Call = Callable[[], Any]  # gives a result, or a tuple of them
Build = Callable[..., Call]  # takes the inputs by name


class Formula(NamedTuple):
    """A workload: its inputs for n elements, and the arrays of n that it reads or writes once."""

    name: str
    inputs: tuple[str, ...]
    arrays: int
    sizes: tuple[int, ...] = SIZES


FORMULAS = (
    Formula("exp", ("x",), 2),
    Formula("tanh", ("x",), 2),
    Formula("sigmoid", ("x",), 2),
    Formula("gelu", ("x", "dy"), 4),  # the tanh form, and its gradient
    Formula("softmax", ("x",), 2),
    Formula("layer_norm", ("x", "w", "b"), 2),
    Formula("adam", ("p", "g"), 7),  # p, m and v in and out, with the corrections of the start
    Formula("chain", ("x",), 2),
    Formula("tiny", ("x", "y"), 3, (8,)),
)
ROWS = ("softmax", "layer_norm")  # of n / COLUMNS rows


def drawn(formula: Formula, n: int) -> dict[str, Array]:
    """Inputs, the same for a size: standard normal numbers, for `tiny` from 1 to 2."""
    found = {}
    for k, name in enumerate(formula.inputs):
        shape = (n // COLUMNS, COLUMNS) if formula.name in ROWS else (n,)
        if name in ("w", "b"):
            shape = (COLUMNS,)
        rng = np.random.default_rng(k)
        draw = rng.standard_normal if formula.name != "tiny" else rng.random
        found[name] = draw(shape, np.float32) + np.float32(formula.name == "tiny")
    return found


def sigmoid(x: Any, xp: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + xp.exp(-x))


def gelu(x: Any, dy: Any, xp: Any) -> tuple[Any, Any]:
    """x / 2 * (1 + tanh(...)), and dy times its derivative."""
    t = xp.tanh(SCALE * (x + CUBE * x * x * x))
    slope = SCALE * (1 + 3 * CUBE * x * x)
    return 0.5 * x * (1 + t), dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)


def chain(x: Any, xp: Any) -> Any:
    """Twenty-one operations, five of them transcendental."""
    y = x * 0.5 + 0.1
    z = xp.sin(y)
    w = y * y * z - 0.3 * z
    u = xp.exp(-(w * w))
    t = xp.tanh(u + w)
    return (xp.sqrt(xp.abs(t) + 1) * u + xp.cos(w)) / (1 + t * t)


def tiny(x: Any, y: Any, xp: Any) -> Any:
    """Ten operations."""
    a = xp.tanh(x * y + x) * y - x
    return xp.sqrt(x / (xp.exp(a) + y)) * x


def correction(calls: int) -> tuple[float, float]:
    """Adam's p -= a * m / (sqrt(v) + b): what the numbers a and b are in a call."""
    root = math.sqrt(1 - BETAS[1] ** calls)
    return RATE * root / (1 - BETAS[0] ** calls), EPS * root
