"""numba: loops by hand into arrays that are there already.

Constants are float32 so that nothing is computed in double precision. With `fastmath` sums may be
reordered, and NaN and infinity come out wrong, as in no other peer. On more than one thread there
is one peer more, since a parallel loop costs more than a small array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import cos, exp, sin, sqrt, tanh
from typing import Any

import numba
import numpy as np
from numba import prange

from benchmarks import formulas
from benchmarks.formulas import Build, Call
from benchmarks.nets import Array
from benchmarks.peers import Peer
from deepgraph.config import threads

f = np.float32
HALF, ONE, SCALE, CUBE = f(0.5), f(1), f(formulas.SCALE), f(formulas.CUBE)
TENTH, THIRD, SLOPE = f(0.1), f(0.3), f(3 * formulas.SCALE * formulas.CUBE)
EPSILON, B1, B2 = f(formulas.EPSILON), f(formulas.BETAS[0]), f(formulas.BETAS[1])
numba.set_num_threads(min(threads(), numba.config.NUMBA_NUM_THREADS))


def k_exp(x: Array, out: Array) -> None:
    for i in prange(x.size):
        out[i] = exp(x[i])


def k_tanh(x: Array, out: Array) -> None:
    for i in prange(x.size):
        out[i] = tanh(x[i])


def k_sigmoid(x: Array, out: Array) -> None:
    for i in prange(x.size):
        out[i] = ONE / (ONE + exp(-x[i]))


def k_gelu(x: Array, dy: Array, y: Array, dx: Array) -> None:
    for i in prange(x.size):
        a = x[i]
        t = tanh(a * (SCALE + SCALE * CUBE * a * a))
        y[i] = HALF * a * (ONE + t)
        dx[i] = dy[i] * HALF * (ONE + t + a * (ONE - t * t) * (SCALE + SLOPE * a * a))


def k_softmax(x: Array, out: Array) -> None:
    for r in prange(x.shape[0]):
        row, to = x[r], out[r]
        most = row[0]
        for i in range(row.size):
            most = max(most, row[i])
        total = f(0)
        for i in range(row.size):
            e = exp(row[i] - most)
            to[i] = e
            total += e
        inverse = ONE / total
        for i in range(row.size):
            to[i] *= inverse


def k_layer_norm(x: Array, w: Array, b: Array, out: Array) -> None:
    for r in prange(x.shape[0]):
        row, to = x[r], out[r]
        total = f(0)
        for i in range(row.size):
            total += row[i]
        mean = total / f(row.size)
        total = f(0)
        for i in range(row.size):
            d = row[i] - mean
            total += d * d
        scale = ONE / sqrt(total / f(row.size) + EPSILON)
        for i in range(row.size):
            to[i] = (row[i] - mean) * scale * w[i] + b[i]


def k_adam(p: Array, g: Array, m: Array, v: Array, a: Any, b: Any) -> None:
    for i in prange(p.size):
        m[i] = B1 * m[i] + (ONE - B1) * g[i]
        v[i] = B2 * v[i] + (ONE - B2) * g[i] * g[i]
        p[i] -= a * m[i] / (sqrt(v[i]) + b)


def k_chain(x: Array, out: Array) -> None:
    for i in prange(x.size):
        y = x[i] * HALF + TENTH
        z = sin(y)
        w = y * y * z - THIRD * z
        u = exp(-(w * w))
        t = tanh(u + w)
        out[i] = (sqrt(abs(t) + ONE) * u + cos(w)) / (ONE + t * t)


def k_tiny(x: Array, y: Array, out: Array) -> None:
    for i in range(x.size):
        a = tanh(x[i] * y[i] + x[i]) * y[i] - x[i]
        out[i] = sqrt(x[i] / (exp(a) + y[i])) * x[i]


KERNELS: dict[str, Callable[..., None]] = {
    "exp": k_exp, "tanh": k_tanh, "sigmoid": k_sigmoid, "gelu": k_gelu, "softmax": k_softmax,
    "layer_norm": k_layer_norm, "chain": k_chain, "tiny": k_tiny,
}  # fmt: skip


def built(name: str, options: dict[str, bool], **arrays: Array) -> Call:
    """A call of the kernel on its arrays."""
    function = numba.njit(error_model="numpy", **options)(KERNELS[name])
    shape = next(iter(arrays.values())).shape
    outs = [np.empty(shape, np.float32) for _ in range(1 + (name == "gelu"))]
    given, result = (*arrays.values(), *outs), tuple(outs) if len(outs) > 1 else outs[0]

    def run() -> Any:
        function(*given)
        return result

    return run


def adam(options: dict[str, bool], p: Array, g: Array) -> Call:
    """In place."""
    function = numba.njit(error_model="numpy", **options)(k_adam)
    p, m, v, calls = p.copy(), np.zeros_like(p), np.zeros_like(p), 0

    def run() -> Array:
        nonlocal calls
        calls += 1
        function(p, g, m, v, *map(f, formulas.correction(calls)))
        return p

    return run


def _peer(name: str, **options: bool) -> Peer:
    builds: dict[str, Build] = {k: partial(built, k, options) for k in KERNELS}
    builds["adam"] = partial(adam, options)
    if "parallel" in options:
        del builds["tiny"]
    return Peer(name, None, builds)


PEERS = (
    _peer("numba"),
    _peer("numba fastmath", fastmath=True),
    *([_peer("numba parallel", fastmath=True, parallel=True)] if threads() > 1 else []),
)
