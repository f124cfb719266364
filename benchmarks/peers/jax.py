"""JAX: one jitted function a step, which may overwrite the state it is given."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks import formulas, resnet
from benchmarks.formulas import BETAS, EPS, EPSILON, Build, Call
from benchmarks.nets import MOMENTUM, RATE, Array, Step, Work
from benchmarks.peers import Peer

jax.config.update("jax_default_matmul_precision", "highest")  # a GPU's would be less than float32


def step(work: Work) -> Step:
    """Value and gradient, and the update."""
    x, t = jnp.array(work.x), jnp.array(work.t.astype("int32"))
    parameters = [jnp.array(w) for w in work.weights]
    state = parameters, [jnp.zeros_like(p) for p in parameters]
    graded = jax.value_and_grad(partial(_loss, work))

    def update(parameters: list[Any], momenta: list[Any], x: Any, t: Any) -> Any:
        loss, gradients = graded(parameters, x, t)
        new = [MOMENTUM * v + g for v, g in zip(momenta, gradients, strict=True)]
        return loss, ([p - RATE * v for p, v in zip(parameters, new, strict=True)], new)

    jitted = jax.jit(update, donate_argnums=(0, 1))

    def run() -> float:
        nonlocal state
        loss, state = jitted(*state, x, t)
        return float(loss)

    return run


class _Functions:
    """Of ResNet."""

    def conv(self, x: Any, w: Any, stride: int, padding: int) -> Any:
        names, pads = ("NCHW", "OIHW", "NCHW"), [(padding, padding)] * 2
        return jax.lax.conv_general_dilated(x, w, (stride, stride), pads, dimension_numbers=names)

    def norm(self, x: Any, w: Any, b: Any) -> Any:
        mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        scaled = (x - mean) * jax.lax.rsqrt(variance + resnet.EPSILON)
        return scaled * w[:, None, None] + b[:, None, None]

    def relu(self, x: Any) -> Any:
        return jax.nn.relu(x)

    def pool(self, x: Any) -> Any:
        pads = (0, 0), (0, 0), (1, 1), (1, 1)
        return jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (1, 1, 3, 3), (1, 1, 2, 2), pads
        )  # fmt: skip

    def mean(self, x: Any) -> Any:
        return x.mean((2, 3))

    def dense(self, x: Any, w: Any, b: Any) -> Any:
        return x @ w + b


def _cross_entropy(z: Any, t: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(z), t[:, None], 1).mean()


def _loss(work: Work, parameters: list[Any], h: Any, t: Any) -> Any:
    if work.net.blocks:
        return _cross_entropy(resnet.scores(_Functions(), work.net.blocks, parameters, h), t)
    pairs = list(zip(parameters[::2], parameters[1::2], strict=True))
    for conv, (w, b) in zip(work.net.convs, pairs, strict=False):
        names = "NCHW", "OIHW", "NCHW"
        h = jax.lax.conv_general_dilated(h, w, (1, 1), "VALID", dimension_numbers=names)
        h = jax.nn.relu(h + b[:, None, None])
        if conv.pooled:
            window = 1, 1, 2, 2
            h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, window, window, "VALID")
    h = h.reshape(len(h), -1)
    for w, b in pairs[len(work.net.convs) : -1]:
        h = jax.nn.relu(h @ w + b)
    w, b = pairs[-1]
    return _cross_entropy(h @ w + b, t)


def gelu(x: Any, dy: Any) -> tuple[Any, Any]:
    """The function and its gradient."""
    y, back = jax.vjp(jax.nn.gelu, x)
    return y, back(dy)[0]


def layer_norm(x: Any, w: Any, b: Any) -> Any:
    """Of rows."""
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + EPSILON) * w + b


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": jnp.exp,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "gelu": gelu,
    "softmax": lambda x: jax.nn.softmax(x, axis=1),
    "layer_norm": layer_norm,
    "chain": partial(formulas.chain, xp=jnp),
    "tiny": partial(formulas.tiny, xp=jnp),
}


def built(name: str, **arrays: Array) -> Call:
    """A call of the jitted function, until its result is there."""
    jitted = jax.jit(lambda *given: FUNCTIONS[name](*given))
    given = [jnp.array(a) for a in arrays.values()]
    return lambda: jax.block_until_ready(jitted(*given))


def adam(p: Array, g: Array) -> Call:
    """The formula, over a state that is donated."""
    gradient, parameter = jnp.array(g), jnp.array(p)
    state = parameter, jnp.zeros_like(parameter), jnp.zeros_like(parameter), jnp.zeros(())
    b1, b2 = BETAS

    def update(p: Any, m: Any, v: Any, calls: Any, g: Any) -> Any:
        calls = calls + 1
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        root = jnp.sqrt(1 - b2**calls)
        scale = formulas.RATE * root / (1 - b1**calls)
        return p - scale * m / (jnp.sqrt(v) + EPS * root), m, v, calls

    jitted = jax.jit(update, donate_argnums=(0, 1, 2, 3))

    def run() -> Any:
        nonlocal state
        state = jax.block_until_ready(jitted(*state, gradient))
        return state[0]

    return run


_builds: dict[str, Build] = {k: partial(built, k) for k in FUNCTIONS}
PEERS = (Peer("jax", step, {**_builds, "adam": adam}),)
