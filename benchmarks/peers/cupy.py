"""CuPy: operation by operation, and what `cupy.fuse` makes one kernel of; for a GPU alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import cupy

from benchmarks import formulas
from benchmarks.formulas import BETAS, EPSILON, Build, Call
from benchmarks.nets import MOMENTUM, RATE, Array, Step, Work
from benchmarks.peers import Peer


def step(work: Work) -> Step | None:
    """Forward and backward by hand, for nets of dense layers."""
    if work.net.convs or work.net.blocks:
        return None
    x, t = cupy.asarray(work.x), cupy.asarray(work.t)
    parameters = [cupy.asarray(w) for w in work.weights]
    momenta = [cupy.zeros_like(p) for p in parameters]
    rows = cupy.arange(len(t))

    def run() -> float:
        weights, biases = parameters[::2], parameters[1::2]
        inputs = [x]
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            inputs.append(cupy.maximum(inputs[-1] @ w + b, 0))
        z = inputs[-1] @ weights[-1] + biases[-1]
        z -= z.max(axis=1, keepdims=True)
        e = cupy.exp(z)
        total = e.sum(axis=1)
        loss = (cupy.log(total) - z[rows, t]).mean()
        g = e / total[:, None]
        g[rows, t] -= 1
        g /= len(t)
        gradients: list[Any] = []
        for k in reversed(range(len(weights))):
            gradients[:0] = [inputs[k].T @ g, g.sum(axis=0)]
            if k:
                g = (g @ weights[k].T) * (inputs[k] > 0)
        for p, v, d in zip(parameters, momenta, gradients, strict=True):
            v *= MOMENTUM
            v += d
            p -= cupy.float32(RATE) * v
        return float(loss)

    return run


def softmax(x: Any) -> Any:
    """Of rows."""
    e = cupy.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(x: Any, w: Any, b: Any) -> Any:
    """Of rows."""
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return (x - mean) / cupy.sqrt(variance + cupy.float32(EPSILON)) * w + b


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "exp": lambda x: cupy.exp(x),
    "tanh": lambda x: cupy.tanh(x),
    "sigmoid": partial(formulas.sigmoid, xp=cupy),
    "gelu": partial(formulas.gelu, xp=cupy),
    "chain": partial(formulas.chain, xp=cupy),
    "tiny": partial(formulas.tiny, xp=cupy),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **ELEMENTWISE, "softmax": softmax, "layer_norm": layer_norm,
}  # fmt: skip


def built(name: str, fused: bool, **arrays: Array) -> Call:
    """A call of a function of arrays on the device."""
    names = ", ".join(arrays)
    function = FUNCTIONS[name]
    if fused:  # of a function with named positional arguments, which `fuse` inspects
        given = ", ".join(f"{n}={n}" for n in arrays)
        whole = cupy.fuse()(eval(f"lambda {names}: function({given})", {"function": function}))
        return partial(whole, *map(cupy.asarray, arrays.values()))
    return partial(function, **{k: cupy.asarray(a) for k, a in arrays.items()})


def adam(p: Array, g: Array) -> Call:
    """The formula, operation by operation."""
    gradient, parameter = cupy.asarray(g), cupy.array(p)
    m, v = cupy.zeros_like(parameter), cupy.zeros_like(parameter)
    calls = 0

    def run() -> Any:
        nonlocal calls
        calls += 1
        scale, eps = formulas.correction(calls)
        m[...] = BETAS[0] * m + (1 - BETAS[0]) * gradient
        v[...] = BETAS[1] * v + (1 - BETAS[1]) * gradient * gradient
        parameter[...] -= scale * m / (cupy.sqrt(v) + eps)
        return parameter

    return run


def _builds(names: Iterable[str], fused: bool) -> dict[str, Build]:
    return {name: partial(built, name, fused) for name in names}


PEERS = (
    Peer("cupy", step, {**_builds(FUNCTIONS, False), "adam": adam}),
    Peer("cupy.fuse", None, _builds(ELEMENTWISE, True)),
)
