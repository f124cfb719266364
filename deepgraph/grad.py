"""Reverse-mode differentiation: a graph in, more graph out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

from deepgraph import ops
from deepgraph.dims import same
from deepgraph.dtypes import is_float
from deepgraph.errors import DTypeError, GraphError, ShapeError, deriving, here
from deepgraph.expr import OPS, Expr, Kind, explained, same_type
from deepgraph.graph import toposort
from deepgraph.stable import stable_form


@overload
def grad(loss: Expr, wrt: Expr) -> Expr: ...
@overload
def grad(loss: Expr, wrt: Sequence[Expr]) -> list[Expr]: ...
def grad(loss: Expr, wrt: Expr | Sequence[Expr]) -> Expr | list[Expr]:
    """The derivative of a scalar `loss` by `wrt`: an Expr for an Expr, a list for a sequence.

    The result is ordinary graph, so it can be differentiated again. Of what is computed in a form
    that overflows, such as `log(sigmoid(x))`, it is the derivative of the stable form. What `loss`
    does not depend on has gradient zero. Raises ShapeError where `loss` is no scalar, DTypeError
    where `loss` or `wrt` is no float, GraphError naming the operation and the line where one has
    no gradient.
    """
    origin = here()
    try:
        if not isinstance(loss, Expr) or not isinstance(wrt, Iterable):
            wrong = wrt if isinstance(loss, Expr) else loss
            raise DTypeError(f"differentiates an expression by expressions: got {wrong!r}")
        targets = [wrt] if isinstance(wrt, Expr) else list(wrt)
        _check(loss, targets)
        found = _reverse(loss, targets)
    except GraphError as error:
        shown = [loss] if isinstance(loss, Expr) else []
        raise explained(error, "grad", origin, shown) from None
    return found[0] if isinstance(wrt, Expr) else found


def _check(loss: Expr, wrt: Sequence[Expr]) -> None:
    if loss.shape != ():
        raise ShapeError(f"needs a scalar loss: got {loss}; take its mean or sum first")
    for x in (loss, *wrt):
        if not isinstance(x, Expr):
            raise DTypeError(f"differentiates by expressions: got {type(x).__name__}")
        if not is_float(x.dtype):
            raise DTypeError(f"only floats have gradients: got {x}")


def _reverse(loss: Expr, wrt: Sequence[Expr]) -> list[Expr]:
    order = toposort([loss])
    live = _depending(order, wrt)
    with deriving(loss.origin, "gradient"):
        total: dict[Expr, Expr] = {loss: ops.ones_like(loss)}
    known, targets = set(order), set(wrt)
    for node in reversed(order):
        if node not in total or node not in live or node.op.kind is Kind.SOURCE:
            continue
        with deriving(node.origin, "gradient"):
            form = stable_form(node)
            steps = [] if form is None else toposort([form], known)
            if form is None or _passes_over(node, {form, *steps}, targets):
                _pass_back(node, total, live)
                continue
            live |= _depending(steps, live)
            _add(total, form, total[node])
            for step in reversed(steps):
                if step in total and step in live:
                    _pass_back(step, total, live)
    with deriving(loss.origin, "gradient"):
        return [total[x] if x in total else ops.zeros_like(x) for x in wrt]


def _pass_back(node: Expr, total: dict[Expr, Expr], live: set[Expr]) -> None:
    """Add to the gradients of a node's inputs what they have of its own."""
    if node.op.grad is None:
        where = node.origin.show()
        raise GraphError(f"{node.op.name} has no gradient: it was declared at {where}")
    for x, g in zip(node.inputs, _parts(node, total[node]), strict=True):
        if g is not None and x in live and is_float(x.dtype):
            _add(total, x, fit(g, x))


def _add(total: dict[Expr, Expr], x: Expr, g: Expr) -> None:
    total[x] = _plus(total[x], g) if x in total else g


def _passes_over(node: Expr, steps: set[Expr], targets: set[Expr]) -> bool:
    """Does a form of `node`, made in these steps, leave out an expression of the targets?"""
    seen = steps.union(*(step.inputs for step in steps))
    below = [node]
    while below:
        new = [i for i in below.pop().inputs if i not in seen]
        if any(i in targets for i in new):
            return True
        seen.update(new)
        below += new
    return False


def _parts(node: Expr, g: Expr) -> Sequence[Expr | None]:
    """The gradients of a node's inputs, by its rule.

    Where a branch was not taken its gradient is `where(condition, g, 0)`, and 0 times an infinite
    slope would be nan. An elementwise rule scales each element by itself, so it is applied to g,
    and the mask to what it gives.
    """
    assert node.op.grad is not None
    mask = _mask(g) if node.op.kind is Kind.ELEMENTWISE else None
    inner = g if mask is None else g.inputs[1]
    parts = node.op.grad(inner, node, *node.inputs, **node.attributes)
    return parts if mask is None else [p if p is None else _masked(mask, p) for p in parts]


def _mask(g: Expr) -> Expr | None:
    """The condition of a `where` that is 0 elsewhere."""
    if g.op is OPS["where"] and (zero := g.inputs[2]).op is OPS["constant"] and not zero.shape:
        return None if zero.attr("value").value else g.inputs[0]
    return None


def _masked(mask: Expr, g: Expr) -> Expr:
    if (inner := _mask(g)) is not None:
        mask, g = mask & inner, g.inputs[1]
    return OPS["where"](mask, g, 0)


def _plus(a: Expr, b: Expr) -> Expr:
    mask = _mask(a)
    if mask is not None and mask is _mask(b):
        return _masked(mask, a.inputs[1] + b.inputs[1])
    return a + b


def _depending(order: Sequence[Expr], wrt: Iterable[Expr]) -> set[Expr]:
    live = set(wrt)
    for node in order:
        if any(i in live for i in node.inputs):
            live.add(node)
    return live


def fit(g: Expr, x: Expr) -> Expr:
    """A gradient in the type of `x`: summed over the axes along which `x` was stretched."""
    if same_type(g, x):
        return g
    negated = g.op is OPS["negative"]
    if negated:
        (g,) = g.inputs  # the sum has fewer elements to negate
    if len(g.shape) < len(x.shape):
        g = ops.broadcast_to(g, x.shape)
    lead = len(g.shape) - len(x.shape)
    pairs = enumerate(zip(g.shape[lead:], x.shape, strict=True))
    stretched = tuple(i for i, (a, b) in pairs if same(b, 1) and not same(a, 1))
    if not lead and stretched:
        g = ops.sum(g, axis=stretched, keepdims=True)
    elif lead:
        g = ops.sum(g, axis=(*range(lead), *(i + lead for i in stretched)))
    g = -g if negated else g
    if lead and stretched:
        g = ops.expand_dims(g, stretched)
    if not all(map(same, g.shape, x.shape)):
        g = ops.broadcast_to(g, x.shape)
    return g if g.dtype == x.dtype else g.astype(x.dtype)
