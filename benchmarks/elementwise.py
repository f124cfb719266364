"""Elementwise and row expressions, against plain NumPy and against NumPy with `out=` by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import deepgraph as dg
from benchmarks.measure import OWN, Row, compared
from benchmarks.nets import Array
from deepgraph import nn, optim

SIZES, TINY = (100_000, 1_000_000, 10_000_000), (2_000,)
COLUMNS = 1000
SCALE, CUBE = math.sqrt(2 / math.pi), 0.044715
row_sum = partial(np.add.reduce, axis=1, keepdims=True)
row_max = partial(np.maximum.reduce, axis=1, keepdims=True)


class Forms(NamedTuple):
    """One computation in three forms, each a call that gives its result."""

    own: Callable[[], Any]
    plain: Callable[[], Any]
    by_hand: Callable[[], Any]


def rows(seconds: float, quick: bool) -> Iterator[Row]:
    """A row for each workload, size and form."""
    for n in TINY if quick else SIZES:
        for workload in WORKLOADS:
            name = f"{workload.__name__} {n:.0e}".replace("e+0", "e")
            forms = checked(workload, n)
            named = dict(zip((OWN, "numpy", "numpy out="), forms, strict=True))
            yield from compared(name, named, seconds)


def checked(workload: Callable[[int], Forms], n: int) -> Forms:
    """The forms of a workload; AssertionError where their first results differ."""
    forms = workload(n)
    found = forms.own()
    for other in forms[1:]:
        np.testing.assert_allclose(found, other(), rtol=1e-4, atol=1e-5)
    return forms


def gelu(n: int) -> Forms:
    """The tanh form."""
    x, y = drawn(n), np.empty(n, np.float32)

    def plain() -> Array:
        return 0.5 * x * (1 + np.tanh(SCALE * (x + CUBE * x * x * x)))

    by_hand = program(
        (np.multiply, x, x, y), (np.multiply, y, SCALE * CUBE, y), (np.add, y, SCALE, y),
        (np.multiply, y, x, y), (np.tanh, y, y), (np.add, y, 1, y), (np.multiply, y, x, y),
        (np.multiply, y, 0.5, y),
    )  # fmt: skip
    return Forms(compiled(lambda x: dg.gelu(x, approximate="tanh"), x=x), plain, by_hand)


def softmax(n: int) -> Forms:
    """Of rows of `COLUMNS`."""
    x, y = (drawn(n // COLUMNS, COLUMNS) for _ in range(2))
    column = drawn(n // COLUMNS, 1)

    def plain() -> Array:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    by_hand = program(
        (row_max, x, column), (np.subtract, x, column, y), (np.exp, y, y), (row_sum, y, column),
        (np.divide, y, column, y),
    )  # fmt: skip
    return Forms(compiled(dg.softmax, x=x), plain, by_hand)


def layer_norm(n: int) -> Forms:
    """Of rows of `COLUMNS`, with weight and bias."""
    x, y, t = (drawn(n // COLUMNS, COLUMNS) for _ in range(3))
    w, b, column = drawn(COLUMNS), drawn(COLUMNS), drawn(n // COLUMNS, 1)

    def plain() -> Array:
        mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        return (x - mean) / np.sqrt(variance + 1e-5) * w + b

    by_hand = program(
        (row_sum, x, column), (np.divide, column, COLUMNS, column), (np.subtract, x, column, y),
        (np.multiply, y, y, t), (row_sum, t, column), (np.divide, column, COLUMNS, column),
        (np.add, column, 1e-5, column), (np.sqrt, column, column), (np.divide, y, column, y),
        (np.multiply, y, w, y), (np.add, y, b, y),
    )  # fmt: skip
    return Forms(compiled(nn.layer_norm, x=x, weight=w, bias=b), plain, by_hand)


def adam(n: int) -> Forms:
    """One update of a parameter by a gradient that is fed."""
    g, rate, (b1, b2), eps = drawn(n), 1e-3, (0.9, 0.999), 1e-8
    opt, p, fed = optim.Adam(rate), dg.Parameter(drawn(n), "p"), dg.placeholder("g", (n,))
    new = {opt.iteration: opt.iteration + 1}
    new[p] = opt.rule(p, p, fed, dg.Parameter(rate, "lr"), new)
    step = dg.compile((), new)
    mine: list[Any] = [drawn(n), np.zeros_like(g), np.zeros_like(g), 0]  # p, m, v, calls
    yours: list[Any] = [drawn(n), np.zeros_like(g), np.zeros_like(g), 0]
    a, b = drawn(n), drawn(n)

    def own() -> Array:
        step(g=g)
        return p.storage()

    def plain() -> Array:
        p, m, v, calls = mine
        calls += 1
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        p = p - rate * (m / (1 - b1**calls)) / (np.sqrt(v / (1 - b2**calls)) + eps)
        mine[:] = p, m, v, calls
        return p

    def by_hand() -> Array:
        yours[3] += 1
        p, m, v, calls = yours
        root = math.sqrt(1 - b2**calls)
        return program(
            (np.multiply, m, b1, m), (np.multiply, g, 1 - b1, a), (np.add, m, a, m),
            (np.multiply, v, b2, v), (np.multiply, g, g, a), (np.multiply, a, 1 - b2, a),
            (np.add, v, a, v), (np.sqrt, v, a), (np.add, a, eps * root, a),
            (np.multiply, m, rate * root / (1 - b1**calls), b), (np.divide, b, a, b),
            (np.subtract, p, b, p),
        )()  # fmt: skip

    return Forms(own, plain, by_hand)


def chain(n: int) -> Forms:
    """Twenty-one operations, five of them transcendental."""
    x, y, z, w, t = (drawn(n) for _ in range(5))

    def expression(x: Any, xp: Any = dg) -> Any:
        y = x * 0.5 + 0.1
        z = xp.sin(y)
        w = y * y * z - 0.3 * z
        u = xp.exp(-(w * w))
        t = xp.tanh(u + w)
        return (xp.sqrt(xp.abs(t) + 1) * u + xp.cos(w)) / (1 + t * t)

    by_hand = program(
        (np.multiply, x, 0.5, y), (np.add, y, 0.1, y), (np.sin, y, z), (np.multiply, y, y, w),
        (np.multiply, w, z, w), (np.multiply, z, 0.3, z), (np.subtract, w, z, w),
        (np.multiply, w, w, y), (np.negative, y, y), (np.exp, y, y), (np.add, y, w, t),
        (np.tanh, t, t), (np.abs, t, z), (np.add, z, 1, z), (np.sqrt, z, z), (np.multiply, z, y, z),
        (np.cos, w, w), (np.add, z, w, z), (np.multiply, t, t, t), (np.add, t, 1, t),
        (np.divide, z, t, z),
    )  # fmt: skip
    return Forms(compiled(expression, x=x), partial(expression, x, np), by_hand)


WORKLOADS = (gelu, softmax, layer_norm, adam, chain)


def compiled(f: Callable[..., dg.Expr], **arrays: Array) -> Callable[[], Any]:
    """A call of the compiled function of these arrays."""
    step = dg.compile(f(*(dg.placeholder(name, a.shape, a.dtype) for name, a in arrays.items())))
    return partial(step, **arrays)


def program(*lines: tuple[Any, ...]) -> Callable[[], Any]:
    """Functions called one after the other, each with its `out` last; gives the last of these."""

    def run() -> Any:
        for function, *given, out in lines:
            function(*given, out=out)
        return lines[-1][-1]

    return run


def drawn(*shape: int) -> Array:
    """Standard normal numbers, the same for a shape."""
    return np.random.default_rng(0).standard_normal(shape, np.float32)
