"""NumPy: plain expressions, and with `out=` everywhere, as careful as one writes it by hand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks import formulas
from benchmarks.formulas import BETAS, COLUMNS, CUBE, EPSILON, SCALE, Build, Call
from benchmarks.nets import Array, Step, Work
from benchmarks.peers import Peer
from benchmarks.peers.byhand import LAYOUTS, HandWritten

row_sum = partial(np.add.reduce, axis=1, keepdims=True)
row_max = partial(np.maximum.reduce, axis=1, keepdims=True)


def step(work: Work, layout: str) -> Step | None:
    """By hand; the layout of images plays no part where there are none."""
    if work.net.blocks or (not work.net.convs and layout != "nchw"):
        return None
    return partial(HandWritten(work, layout), work.x, work.t)


def softmax(x: Array) -> Any:
    """Of rows."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(x: Array, w: Array, b: Array) -> Any:
    """Of rows."""
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(variance + EPSILON) * w + b


def adam(p: Array, g: Array) -> Iterator[Array]:
    """The parameter after each update."""
    m, v, calls = 0 * p, 0 * p, 0
    while True:
        calls += 1
        m = BETAS[0] * m + (1 - BETAS[0]) * g
        v = BETAS[1] * v + (1 - BETAS[1]) * g * g
        a, b = formulas.correction(calls)
        p = p - a * m / (np.sqrt(v) + b)
        yield p


def expression(f: Any, **arrays: Array) -> Call:
    """A call of a plain expression."""
    return partial(f, **arrays)


PLAIN: dict[str, Build] = {
    "exp": partial(expression, lambda x: np.exp(x)),
    "tanh": partial(expression, lambda x: np.tanh(x)),
    "sigmoid": partial(expression, partial(formulas.sigmoid, xp=np)),
    "gelu": partial(expression, partial(formulas.gelu, xp=np)),
    "softmax": partial(expression, softmax),
    "layer_norm": partial(expression, layer_norm),
    "adam": lambda **arrays: partial(next, adam(**arrays)),
    "chain": partial(expression, partial(formulas.chain, xp=np)),
    "tiny": partial(expression, partial(formulas.tiny, xp=np)),
}


def program(*lines: tuple[Any, ...], gives: Any = None) -> Call:
    """Functions called one after the other, each with its `out` last; gives the last of these."""
    result = lines[-1][-1] if gives is None else gives

    def run() -> Any:
        for function, *given, out in lines:
            function(*given, out=out)
        return result

    return run


def unary(f: np.ufunc, x: Array) -> Call:
    """One ufunc."""
    y = np.empty_like(x)
    return lambda: f(x, out=y)


def out_sigmoid(x: Array) -> Call:
    y = np.empty_like(x)
    return program(
        (np.negative, x, y), (np.exp, y, y), (np.add, y, 1, y), (np.reciprocal, y, y)
    )  # fmt: skip


def out_gelu(x: Array, dy: Array) -> Call:
    y, dx, s, t = (np.empty_like(x) for _ in range(4))
    return program(
        (np.multiply, x, x, s), (np.multiply, s, SCALE * CUBE, t), (np.add, t, SCALE, t),
        (np.multiply, t, x, t), (np.tanh, t, t), (np.multiply, s, 3 * SCALE * CUBE, s),
        (np.add, s, SCALE, s), (np.multiply, x, 0.5, y), (np.multiply, s, y, s),
        (np.multiply, t, t, dx), (np.subtract, 1, dx, dx), (np.multiply, s, dx, s),
        (np.add, t, 1, t), (np.multiply, y, t, y), (np.multiply, t, 0.5, t), (np.add, t, s, t),
        (np.multiply, t, dy, dx), gives=(y, dx),
    )  # fmt: skip


def out_softmax(x: Array) -> Call:
    y, column = np.empty_like(x), np.empty((len(x), 1), np.float32)
    return program(
        (row_max, x, column), (np.subtract, x, column, y), (np.exp, y, y), (row_sum, y, column),
        (np.divide, y, column, y),
    )  # fmt: skip


def out_layer_norm(x: Array, w: Array, b: Array) -> Call:
    y, t, column = np.empty_like(x), np.empty_like(x), np.empty((len(x), 1), np.float32)
    return program(
        (row_sum, x, column), (np.divide, column, COLUMNS, column), (np.subtract, x, column, y),
        (np.multiply, y, y, t), (row_sum, t, column), (np.divide, column, COLUMNS, column),
        (np.add, column, EPSILON, column), (np.sqrt, column, column), (np.divide, y, column, y),
        (np.multiply, y, w, y), (np.add, y, b, y),
    )  # fmt: skip


def out_adam(p: Array, g: Array) -> Call:
    p, m, v, s, t = p.copy(), np.zeros_like(p), np.zeros_like(p), np.empty_like(p), np.empty_like(p)
    calls, (b1, b2) = 0, BETAS

    def run() -> Array:
        nonlocal calls
        calls += 1
        a, b = formulas.correction(calls)
        np.multiply(m, b1, out=m)
        np.multiply(g, 1 - b1, out=s)
        np.add(m, s, out=m)
        np.multiply(v, b2, out=v)
        np.multiply(g, g, out=s)
        np.multiply(s, 1 - b2, out=s)
        np.add(v, s, out=v)
        np.sqrt(v, out=s)
        np.add(s, b, out=s)
        np.multiply(m, a, out=t)
        np.divide(t, s, out=t)
        return np.subtract(p, t, out=p)

    return run


def out_chain(x: Array) -> Call:
    y, z, w, t = (np.empty_like(x) for _ in range(4))
    return program(
        (np.multiply, x, 0.5, y), (np.add, y, 0.1, y), (np.sin, y, z), (np.multiply, y, y, w),
        (np.multiply, w, z, w), (np.multiply, z, 0.3, z), (np.subtract, w, z, w),
        (np.multiply, w, w, y), (np.negative, y, y), (np.exp, y, y), (np.add, y, w, t),
        (np.tanh, t, t), (np.abs, t, z), (np.add, z, 1, z), (np.sqrt, z, z), (np.multiply, z, y, z),
        (np.cos, w, w), (np.add, z, w, z), (np.multiply, t, t, t), (np.add, t, 1, t),
        (np.divide, z, t, z),
    )  # fmt: skip


def out_tiny(x: Array, y: Array) -> Call:
    """Without the loop of `program`, which would cost as much as the work."""
    a = np.empty_like(x)

    def run() -> Array:
        np.multiply(x, y, out=a)
        np.add(a, x, out=a)
        np.tanh(a, out=a)
        np.multiply(a, y, out=a)
        np.subtract(a, x, out=a)
        np.exp(a, out=a)
        np.add(a, y, out=a)
        np.divide(x, a, out=a)
        np.sqrt(a, out=a)
        return np.multiply(a, x, out=a)

    return run


BY_HAND: dict[str, Build] = {
    "exp": partial(unary, np.exp),
    "tanh": partial(unary, np.tanh),
    "sigmoid": out_sigmoid,
    "gelu": out_gelu,
    "softmax": out_softmax,
    "layer_norm": out_layer_norm,
    "adam": out_adam,
    "chain": out_chain,
    "tiny": out_tiny,
}
PEERS = (
    Peer("numpy", None, PLAIN),
    Peer("numpy out=", partial(step, layout="nchw"), BY_HAND),
    *(Peer(f"numpy {k}", partial(step, layout=k), {}) for k in LAYOUTS if k != "nchw"),
)
