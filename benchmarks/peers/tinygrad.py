"""tinygrad: forward, backward and update under one TinyJit."""

from __future__ import annotations

from typing import Any

from tinygrad import Tensor, TinyJit

from benchmarks.nets import MOMENTUM, RATE, Step, Work
from benchmarks.peers import Peer


def step(work: Work) -> Step:
    """What TinyJit records in the second call and replays after that."""
    x, t = Tensor(work.x).realize(), Tensor(work.t.astype("int32")).realize()
    parameters = [Tensor(w.copy()).realize() for w in work.weights]
    momenta = [p.zeros_like().contiguous().realize() for p in parameters]

    def update(x: Any, t: Any) -> Any:
        loss = _loss(work, parameters, x, t)
        for p, v, g in zip(parameters, momenta, loss.gradient(*parameters), strict=True):
            v.assign(MOMENTUM * v + g)
            p.assign(p - RATE * v)
        return loss.realize(*parameters, *momenta)

    replayed = TinyJit(update)
    return lambda: float(replayed(x, t).item())


def _loss(work: Work, parameters: list[Any], h: Any, t: Any) -> Any:
    pairs = list(zip(parameters[::2], parameters[1::2], strict=True))
    for conv, (w, b) in zip(work.net.convs, pairs, strict=False):
        h = h.conv2d(w, b).relu()
        if conv.pooled:
            h = h.max_pool2d(2)
    h = h.flatten(1)
    for w, b in pairs[len(work.net.convs) : -1]:
        h = (h @ w + b).relu()
    w, b = pairs[-1]
    return (h @ w + b).sparse_categorical_crossentropy(t)


PEERS = (Peer("tinygrad", step, {}),)
