"""PyTensor: with the linker that is its default, on shared variables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt

from benchmarks import formulas
from benchmarks.formulas import BETAS, EPS, EPSILON, Build, Call
from benchmarks.nets import MOMENTUM, RATE, Array, Step, Work
from benchmarks.peers import Peer

pytensor.config.floatX = "float32"


def step(work: Work) -> Step | None:
    """The step of a net without convolutions."""
    if work.net.convs:
        return None
    x, t = (pt.TensorType(str(a.dtype), shape=a.shape)() for a in (work.x, work.t))
    parameters = [pytensor.shared(w.copy(), shape=w.shape) for w in work.weights]
    h, pairs = x, list(zip(parameters[::2], parameters[1::2], strict=True))
    for w, b in pairs[:-1]:
        h = pt.maximum(h @ w + b, np.float32(0))
    w, b = pairs[-1]
    scores = pt.special.log_softmax(h @ w + b, axis=-1)
    loss = -pt.mean(scores[pt.arange(len(work.x)), t], dtype="float32")
    updates = []
    for p, g in zip(parameters, pytensor.grad(loss, parameters), strict=True):
        v = pytensor.shared(np.zeros_like(p.get_value()), shape=p.type.shape)
        new = np.float32(MOMENTUM) * v + g
        updates += [(v, new), (p, p - np.float32(RATE) * new)]
    return partial(_function([x, t], loss, updates), work.x, work.t)


def _function(inputs: list[Any], outputs: Any, updates: list[Any] | None = None) -> Any:
    given = [pytensor.In(x, borrow=True) for x in inputs]
    return pytensor.function(given, outputs, updates=updates, trust_input=True)


def layer_norm(x: Any, w: Any, b: Any) -> Any:
    """Of rows."""
    centred = x - pt.mean(x, axis=1, keepdims=True)
    variance = pt.mean(centred * centred, axis=1, keepdims=True)
    return centred / pt.sqrt(variance + np.float32(EPSILON)) * w + b


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": pt.exp,
    "tanh": pt.tanh,
    "sigmoid": pt.sigmoid,
    "gelu": partial(formulas.gelu, xp=pt),
    "softmax": partial(pt.special.softmax, axis=1),
    "layer_norm": layer_norm,
    "chain": partial(formulas.chain, xp=pt),
    "tiny": partial(formulas.tiny, xp=pt),
}


def built(name: str, **arrays: Array) -> Call:
    """A call of the compiled function."""
    fed = [pt.TensorType("float32", shape=a.shape)(k) for k, a in arrays.items()]
    found = FUNCTIONS[name](*fed)
    outputs = list(found) if isinstance(found, tuple) else found
    return partial(_function(fed, outputs), *arrays.values())


def adam(p: Array, g: Array) -> Call:
    """The formula, on shared variables."""
    fed = pt.TensorType("float32", shape=g.shape)("g")
    parameter = pytensor.shared(p.copy(), shape=p.shape)
    m, v = (pytensor.shared(np.zeros_like(p), shape=p.shape) for _ in range(2))
    calls = pytensor.shared(np.float32(0))
    (b1, b2), now = map(np.float32, BETAS), calls + np.float32(1)
    new_m = b1 * m + (1 - b1) * fed
    new_v = b2 * v + (1 - b2) * fed * fed
    root = pt.sqrt(1 - b2**now)
    change = np.float32(formulas.RATE) * root / (1 - b1**now) * new_m
    new_p = parameter - change / (pt.sqrt(new_v) + np.float32(EPS) * root)
    updates = [(parameter, new_p), (m, new_m), (v, new_v), (calls, now)]
    function = _function([fed], [], updates)

    def run() -> Any:
        function(g)
        return parameter.get_value(borrow=True)

    return run


_builds: dict[str, Build] = {k: partial(built, k) for k in FUNCTIONS}
PEERS = (Peer("pytensor", step, {**_builds, "adam": adam}),)
