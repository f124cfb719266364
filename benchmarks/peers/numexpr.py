"""numexpr: expressions compiled once, into arrays that are there already; reductions by NumPy."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numexpr
import numpy as np

from benchmarks import formulas
from benchmarks.formulas import BETAS, COLUMNS, CUBE, EPSILON, SCALE, Build, Call
from benchmarks.nets import Array
from benchmarks.peers import Peer
from deepgraph.config import threads

numexpr.set_num_threads(threads())
FLOAT = next(k for k, v in numexpr.necompiler.type_to_kind.items() if v == "float")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:e-?\d+)?")


def compiled(text: str, *names: str) -> Any:
    """A function of the named arrays and `out`.

    A number would make all float64 and becomes a further operand.
    """
    numbers = list(dict.fromkeys(NUMBER.findall(text)))
    operands = [f"c{k}" for k in range(len(numbers))]
    text = NUMBER.sub(lambda match: operands[numbers.index(match[0])], text)
    function = numexpr.NumExpr(text, [(name, FLOAT) for name in (*names, *operands)])
    values = [np.float32(number) for number in numbers]
    return lambda *arrays, out: function(*arrays, *values, out=out, ex_uses_vml=False)


def elementwise(*texts: str, **arrays: Array) -> Call:
    """One expression a result."""
    like = next(iter(arrays.values()))
    outs, calls = [np.empty_like(like) for _ in texts], []
    for text, out in zip(texts, outs, strict=True):
        names = [name for name in arrays if re.search(rf"\b{name}\b", text)]
        calls.append(partial(compiled(text, *names), *map(arrays.get, names), out=out))
    result = tuple(outs) if len(outs) > 1 else outs[0]

    def run() -> Any:
        for call in calls:
            call()
        return result

    return run


def softmax(x: Array) -> Call:
    out = np.empty_like(x)
    first, last = compiled("exp(x - m)", "x", "m"), compiled("x / s", "x", "s")

    def run() -> Array:
        first(x, np.maximum.reduce(x, axis=1, keepdims=True), out=out)
        last(out, np.add.reduce(out, axis=1, keepdims=True), out=out)
        return out

    return run


def layer_norm(x: Array, w: Array, b: Array) -> Call:
    out, squares = np.empty_like(x), np.empty_like(x)
    square = compiled("(x - m) * (x - m)", "x", "m")
    last = compiled("(x - m) * s * w + b", "x", "m", "s", "w", "b")

    def run() -> Array:
        mean = np.add.reduce(x, axis=1, keepdims=True) / np.float32(COLUMNS)
        square(x, mean, out=squares)
        variance = np.add.reduce(squares, axis=1, keepdims=True) / np.float32(COLUMNS)
        last(x, mean, 1 / np.sqrt(variance + np.float32(EPSILON)), w, b, out=out)
        return out

    return run


def adam(p: Array, g: Array) -> Call:
    p, m, v, calls = p.copy(), np.zeros_like(p), np.zeros_like(p), 0
    mean = compiled(f"{BETAS[0]} * m + {1 - BETAS[0]} * g", "m", "g")
    square = compiled(f"{BETAS[1]} * v + {1 - BETAS[1]} * g * g", "v", "g")
    move = compiled("p - a * m / (sqrt(v) + b)", "p", "m", "v", "a", "b")

    def run() -> Array:
        nonlocal calls
        calls += 1
        a, b = map(np.float32, formulas.correction(calls))
        mean(m, g, out=m)
        square(v, g, out=v)
        move(p, m, v, a, b, out=p)
        return p

    return run


T = f"tanh(x * ({SCALE} + {SCALE * CUBE} * x * x))"
SLOPE = f"({SCALE} + {3 * SCALE * CUBE} * x * x)"
Y = "(x * 0.5 + 0.1)"
W = f"({Y} * {Y} * sin{Y} - 0.3 * sin{Y})"
U = f"exp(-({W} * {W}))"
TEXTS: dict[str, tuple[str, ...]] = {  # it computes what is written twice once
    "exp": ("exp(x)",),
    "tanh": ("tanh(x)",),
    "sigmoid": ("1 / (1 + exp(-x))",),
    "gelu": (
        f"0.5 * x * (1 + {T})",
        f"dy * (0.5 * (1 + {T}) + 0.5 * x * (1 - {T} * {T}) * {SLOPE})",
    ),
    "chain": (
        f"(sqrt(abs(tanh({U} + {W})) + 1) * {U} + cos({W})) / (1 + tanh({U} + {W}) ** 2)",
    ),
    "tiny": ("sqrt(x / (exp(tanh(x * y + x) * y - x) + y)) * x",),
}
_builds: dict[str, Build] = {k: partial(elementwise, *texts) for k, texts in TEXTS.items()}
PEERS = (
    Peer("numexpr", None, {
        **_builds, "softmax": softmax, "layer_norm": layer_norm, "adam": adam,
    }),
)  # fmt: skip
