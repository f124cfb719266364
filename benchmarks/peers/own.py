"""deepgraph: with the backend that `auto` takes, and with NumPy's."""

from __future__ import annotations

from functools import partial
from typing import Any

import deepgraph as dg
from benchmarks import formulas
from benchmarks.formulas import COLUMNS, Build, Call
from benchmarks.measure import OWN
from benchmarks.nets import Array, Step, Work
from benchmarks.peers import Peer
from deepgraph import nn, optim


def step(work: Work, backend: str) -> Step:
    """The step, fed by name."""
    compiled = dg.compile(work.loss, work.updates, backend=backend)
    move = compiled.device.array
    return partial(compiled, x=move(work.x), t=move(work.t))


def built(name: str, backend: str, **arrays: Array) -> Call:
    """A call of a compiled expression, fed by name; the number of elements or rows is a name."""
    fed = {k: dg.placeholder(k, _shape(k, a), a.dtype) for k, a in arrays.items()}
    compiled = dg.compile(EXPRESSIONS[name](**fed), backend=backend)
    return partial(compiled, **{k: compiled.device.array(a) for k, a in arrays.items()})


def _shape(name: str, array: Array) -> tuple[Any, ...]:
    return ("n", *array.shape[1:]) if name not in ("w", "b") else (COLUMNS,)


def gelu(x: dg.Expr, dy: dg.Expr) -> tuple[dg.Expr, dg.Expr]:
    """The function and its gradient."""
    y = dg.gelu(x, approximate="tanh")
    return y, dg.grad(dg.sum(y * dy), x)


def adam(backend: str, p: Array, g: Array) -> Call:
    """One update, by the rule of the optimiser; gives the parameter where it lies."""
    opt = optim.Adam(formulas.RATE, formulas.BETAS, formulas.EPS)
    parameter, fed = dg.Parameter(p, "p"), dg.placeholder("g", g.shape)
    new = {opt.iteration: opt.iteration + 1}
    new[parameter] = opt.rule(parameter, parameter, fed, dg.Parameter(opt.lr, "lr", "float32"), new)
    compiled = dg.compile((), new, backend=backend)
    device, fed_g = compiled.device, compiled.device.array(g)

    def call() -> Any:
        compiled(g=fed_g)
        return parameter.storage(device.device, device.array)

    return call


EXPRESSIONS: dict[str, Any] = {
    "exp": dg.exp,
    "tanh": dg.tanh,
    "sigmoid": dg.sigmoid,
    "gelu": gelu,
    "softmax": dg.softmax,
    "layer_norm": lambda x, w, b: nn.layer_norm(x, weight=w, bias=b),
    "chain": partial(formulas.chain, xp=dg),
    "tiny": partial(formulas.tiny, xp=dg),
}


def _peer(name: str, backend: str) -> Peer:
    builds: dict[str, Build] = {k: partial(built, k, backend) for k in EXPRESSIONS}
    return Peer(name, partial(step, backend=backend), {**builds, "adam": partial(adam, backend)})


PEERS = (_peer(OWN, "auto"), _peer(f"{OWN} numpy", "numpy"))
