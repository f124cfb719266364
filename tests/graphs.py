"""Random graphs for differential tests: seeded, over named sizes, with everything that fuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import deepgraph as dg
from deepgraph.expr import Expr

Feeds = dict[str, Any]

UNARY: list[Callable[[Any], Any]] = [
    dg.tanh, dg.sin, dg.abs, dg.relu, dg.negative, dg.sigmoid,
    lambda x: x * 0.5 + 0.25, lambda x: dg.exp(x * 0.25), lambda x: dg.sqrt(dg.abs(x) + 1.0),
    lambda x: dg.where(x > 0, x, x * 0.1), dg.square,
]  # fmt: skip
BINARY: list[Callable[[Any, Any], Any]] = [
    dg.add, dg.subtract, dg.multiply, dg.maximum, dg.minimum,
    lambda x, y: x / (dg.abs(y) + 1.0), lambda x, y: dg.where(x > y, x - y, y),
]  # fmt: skip


def random_graph(
    seed: int, size: int = 25, updates: int = 2
) -> tuple[dict[str, Expr], dict[dg.Parameter, Expr], Callable[[int], Feeds]]:
    """Outputs, updates, and a function that draws feeds for a value of the named size.

    Shapes are (n, 4), (n, 1), (4,), (n,) and what views and reductions make of them.
    """
    rng = np.random.default_rng(seed)
    x = dg.placeholder("x", ("n", 4), "float64")
    y = dg.placeholder("y", (4,), "float64")
    z = dg.placeholder("z", ("n", 1), "float64")
    parameters = [
        dg.Parameter(rng.normal(size=shape), name=f"p{k}")
        for k, shape in enumerate([(4,), (4, 4), (1, 4)])
    ]
    pool: list[Expr] = [x, y, z, *parameters]

    def pick() -> Expr:
        return pool[int(rng.integers(max(0, len(pool) - 9), len(pool)))]

    while len(pool) < size + 6:
        a, b = pick(), pick()
        try:
            match int(rng.integers(16)):
                case 0:
                    new = dg.sum(a, axis=int(rng.integers(a.ndim)), keepdims=True)
                case 1:
                    new = dg.max(a, axis=-1)
                case 2:
                    new = dg.softmax(a)
                case 3:
                    new = dg.flip(a, axis=int(rng.integers(a.ndim)))
                case 4:
                    new = dg.permute_dims(a, tuple(rng.permutation(a.ndim).tolist()))
                case 5:
                    new = dg.expand_dims(a, axis=int(rng.integers(a.ndim + 1))) if a.ndim < 3 else a
                case 6:
                    new = a @ dg.tanh(parameters[1]) if a.ndim == 2 else dg.mean(a)
                case 7:
                    new = a[..., 1:3] if a.ndim and a.shape[-1] is not None else a
                case 8:
                    new = dg.reshape(a, (-1,))
                case 9 | 10 | 11:
                    new = UNARY[int(rng.integers(len(UNARY)))](a)
                case _:
                    new = BINARY[int(rng.integers(len(BINARY)))](a, b)
        except (dg.GraphError, IndexError, ValueError):
            continue
        pool.append(new)
    outputs = {f"out{k}": pool[int(i)] for k, i in enumerate(rng.integers(6, len(pool), 3))}
    outputs["last"] = pool[-1]
    new_values: dict[dg.Parameter, Expr] = {}
    for p in parameters[:updates]:
        total = sum((dg.mean(v) for v in outputs.values()), start=dg.mean(p))
        new_values[p] = p * 0.9 + dg.tanh(total) * p
    if updates > 1:
        new_values[parameters[2]] = dg.reshape(parameters[0], (1, 4))

    def feeds(n: int) -> Feeds:
        draw = np.random.default_rng(seed + 1)
        return {
            p.name: draw.normal(size=tuple(n if not isinstance(s, int) else s for s in p.shape))
            for p in (x, y, z)
        }

    return outputs, new_values, feeds
