"""torch: eager, eager with images as (batch, height, width, channel), and torch.compile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as nf

from benchmarks import formulas, peers, resnet
from benchmarks.formulas import BETAS, COLUMNS, EPS, EPSILON, Build, Call
from benchmarks.nets import MOMENTUM, RATE, Array, Step, Work
from benchmarks.peers import Peer
from deepgraph.config import threads

torch.set_num_threads(threads())
torch.backends.cudnn.allow_tf32 = False  # float32 is float32, as it is for products by itself


def _tensor(array: Array) -> Any:
    """The array on the device that is measured."""
    return torch.from_numpy(array).to(peers.device)


def step(work: Work, last: bool = False, compiled: bool = False) -> Step | None:
    """Forward and backward by autograd, and the fused SGD."""
    if last and not work.net.convs and not work.net.blocks:
        return None
    x, t = _tensor(work.x), _tensor(work.t)
    parameters = [_tensor(w.copy()).requires_grad_() for w in work.weights]
    if last:
        x = x.contiguous(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(parameters, lr=RATE, momentum=MOMENTUM, fused=True)
    forward: Callable[..., Any] = partial(_loss, work)
    if compiled:
        forward = _compile(forward)

    def run() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = forward(parameters, x, t)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return run


def whole(work: Work) -> Step:
    """All of a step in what torch.compile sees: gradients by torch.func, the update by hand."""
    x, t = _tensor(work.x), _tensor(work.t)
    parameters = [_tensor(w.copy()) for w in work.weights]
    momenta = [torch.zeros_like(p) for p in parameters]
    graded = torch.func.grad_and_value(partial(_loss, work))

    def update(parameters: list[Any], momenta: list[Any], x: Any, t: Any) -> Any:
        gradients, loss = graded(parameters, x, t)
        for p, v, g in zip(parameters, momenta, gradients, strict=True):
            v.mul_(MOMENTUM).add_(g)
            p.sub_(v, alpha=RATE)
        return loss

    compiled = _compile(update)

    def run() -> float:
        with torch.no_grad():
            return float(compiled(parameters, momenta, x, t).item())

    return run


class _Functions:
    """Of ResNet."""

    def conv(self, x: Any, w: Any, stride: int, padding: int) -> Any:
        return nf.conv2d(x, w, None, stride, padding)

    def norm(self, x: Any, w: Any, b: Any) -> Any:
        return nf.batch_norm(x, None, None, w, b, training=True, eps=resnet.EPSILON)

    def relu(self, x: Any) -> Any:
        return nf.relu(x)

    def pool(self, x: Any) -> Any:
        return nf.max_pool2d(x, 3, 2, 1)

    def mean(self, x: Any) -> Any:
        return x.mean((2, 3))

    def dense(self, x: Any, w: Any, b: Any) -> Any:
        return torch.addmm(b, x, w)


def _loss(work: Work, parameters: list[Any], h: Any, t: Any) -> Any:
    if work.net.blocks:
        return nf.cross_entropy(resnet.scores(_Functions(), work.net.blocks, parameters, h), t)
    pairs = list(zip(parameters[::2], parameters[1::2], strict=True))
    for conv, (w, b) in zip(work.net.convs, pairs, strict=False):
        h = nf.relu(nf.conv2d(h, w, b))
        if conv.pooled:
            h = nf.max_pool2d(h, 2)
    h = h.flatten(1)
    for w, b in pairs[len(work.net.convs) : -1]:
        h = nf.relu(torch.addmm(b, h, w))
    w, b = pairs[-1]
    return nf.cross_entropy(torch.addmm(b, h, w), t)


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    torch._dynamo.reset()  # it keeps a few versions of one function only
    compiled: Callable[..., Any] = torch.compile(function, dynamic=False)
    return compiled


def gelu(x: Any, dy: Any) -> tuple[Any, Any]:
    """The function and its gradient."""
    back = torch.ops.aten.gelu_backward
    return nf.gelu(x, approximate="tanh"), back(dy, x, approximate="tanh")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": torch.exp,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "gelu": gelu,
    "softmax": partial(torch.softmax, dim=1),
    "layer_norm": lambda x, w, b: nf.layer_norm(x, (COLUMNS,), w, b, EPSILON),
    "chain": partial(formulas.chain, xp=torch),
    "tiny": partial(formulas.tiny, xp=torch),
}


def built(name: str, compiled: bool, **arrays: Array) -> Call:
    """A call of a function of tensors, which gives tensors."""
    function = FUNCTIONS[name]
    if compiled:
        function = _compile(lambda **given: FUNCTIONS[name](**given))
    return partial(function, **{k: _tensor(a) for k, a in arrays.items()})


def adam(p: Array, g: Array) -> Call:
    """The fused optimiser."""
    parameter = _tensor(p.copy()).requires_grad_()
    parameter.grad = _tensor(g)
    rule = torch.optim.Adam([parameter], formulas.RATE, BETAS, EPS, fused=True)

    def run() -> Any:
        rule.step()
        return parameter.detach()

    return run


def compiled_adam(p: Array, g: Array) -> Call:
    """The formula, in place."""
    parameter, gradient = _tensor(p.copy()), _tensor(g)
    m, v, (b1, b2) = torch.zeros_like(parameter), torch.zeros_like(parameter), BETAS
    calls = torch.zeros(())

    def update(p: Any, g: Any, m: Any, v: Any, calls: Any) -> None:
        calls.add_(1)
        m.mul_(b1).add_(g, alpha=1 - b1)
        v.mul_(b2).addcmul_(g, g, value=1 - b2)
        root = torch.sqrt(1 - b2**calls)
        p.sub_(m * (formulas.RATE * root / (1 - b1**calls)) / (v.sqrt() + EPS * root))

    compiled = _compile(update)

    def run() -> Any:
        compiled(parameter, gradient, m, v, calls)
        return parameter

    return run


def _builds(compiled: bool) -> dict[str, Build]:
    rule = compiled_adam if compiled else adam
    return {"adam": rule, **{k: partial(built, k, compiled) for k in FUNCTIONS}}


PEERS = (
    Peer("torch", step, _builds(False)),
    Peer("torch channels_last", partial(step, last=True), {}),
    Peer("torch.compile", partial(step, compiled=True), _builds(True)),
    Peer("torch.compile whole", whole, {}),
)
