"""Views of views in one, and calls that move elements to where they are."""

from __future__ import annotations

from collections.abc import Iterable

from deepgraph.dims import Size, same, same_shape
from deepgraph.expr import OPS, Expr
from deepgraph.graph import Rule
from deepgraph.ops.slicing import Span, positions
from deepgraph.passes.prune import MARKERS, through
from deepgraph.patterns import ones_added, reshaped

# Views that only bring axes of size 1, or cut axes anew, become one; broadcasts come last.


def narrow(x: Expr) -> Expr:
    """The smallest value of which `x` is a broadcast."""
    while x.op.name in ("broadcast_to", "expand_dims"):
        (source,) = x.inputs
        if x.op.name == "broadcast_to" or source.shape == ():
            x = source
            continue
        axes = x.attr("axis")
        lead = next((i for i, a in enumerate(axes) if a != i), len(axes))
        return x if not lead else reshaped(source, x.shape[lead:])
    return x


def _reshape(node: Expr) -> Expr | None:
    (x,) = node.inputs
    if x.op.name == "broadcast_to":
        return _after_broadcast(node, x)
    while x.op.name in ("reshape", "expand_dims", "squeeze"):
        (x,) = x.inputs
    better = reshaped(x, node.shape)
    return None if better.key == node.key else better


def _after_broadcast(node: Expr, x: Expr) -> Expr | None:
    """A view of a broadcast as a broadcast of a view."""
    (source,) = x.inputs
    if all(same(n, 1) for n in source.shape):
        return OPS["broadcast_to"](reshaped(source, ()), node.shape)
    if node.op.name not in ("expand_dims", "squeeze", "permute_dims"):
        return None
    whole = reshaped(source, (*[1] * (x.ndim - source.ndim), *source.shape))
    return OPS["broadcast_to"](node.op(whole, *node.attrs), node.shape)


def _broadcast_to(node: Expr) -> Expr | None:
    (x,) = node.inputs
    if same_shape(x.shape, node.shape):
        return x
    if (source := narrow(x)) is not x:
        return OPS["broadcast_to"](source, node.shape)
    if (axes := ones_added(x.shape, node.shape)) is not None:
        return OPS["expand_dims"](x, axes)
    return None


def _permute_dims(node: Expr) -> Expr | None:
    (x,), axes = node.inputs, node.attr("axes")
    if axes == tuple(range(node.ndim)):
        return x
    if x.op is node.op:
        return OPS["permute_dims"](x.inputs[0], [x.attr("axes")[a] for a in axes])
    if x.op.name in ("expand_dims", "squeeze"):  # where only axes of size 1 move, they are put anew
        long = [a for a in axes if not same(x.shape[a], 1)]
        return reshaped(x, node.shape) if long == sorted(long) else None
    return _after_broadcast(node, x) if x.op.name == "broadcast_to" else None


def _slice(node: Expr) -> Expr | None:
    (x,), entries = node.inputs, node.attr("index").entries
    if _is_whole(entries):
        return x
    if x.op is node.op:
        return _slice_of_slice(node, x)
    return _after_broadcast(node, x) if x.op.name == "broadcast_to" else None


def _is_whole(entries: Iterable[Size | Span]) -> bool:
    return all(isinstance(e, Span) and e == Span() for e in entries)


def _slice_of_slice(node: Expr, x: Expr) -> Expr | None:
    """One slice for two, where each axis is cut once, or by known numbers, or flipped twice."""
    (source,) = x.inputs
    outer = iter(zip(node.attr("index").entries, x.shape, strict=True))
    entries: list[Size | Span] = []
    for inner, n in zip(x.attr("index").entries, source.shape, strict=True):
        if not isinstance(inner, Span):
            entries.append(inner)
            continue
        entry = _composed(inner, n, *next(outer))
        if entry is None:
            return None
        entries.append(entry)
    return node.op(source, entries)


def _composed(inner: Span, n: Size, outer: Size | Span, m: Size) -> Size | Span | None:
    if inner == Span():
        return outer
    if outer == Span():
        return inner
    if inner == outer == Span(None, None, -1):
        return Span()
    first, _ = positions(inner, n)
    if not isinstance(first, int) or not isinstance(m, int):
        return None
    if not isinstance(outer, Span):
        return first + outer * inner.step if isinstance(outer, int) else None
    start, count = positions(outer, m)
    if not isinstance(start, int) or not isinstance(count, int) or count < 1:
        return None
    step = inner.step * outer.step
    begin = first + start * inner.step
    end = begin + count * step
    return Span(begin, None if end < 0 else end, step)


def _any_view(node: Expr) -> Expr | None:
    (x,) = node.inputs
    return _after_broadcast(node, x) if x.op.name == "broadcast_to" else None


# Calls that move elements to where they are.


def _concat(node: Expr) -> Expr | None:
    return node.inputs[0] if len(node.inputs) == 1 else None


def _pad(node: Expr) -> Expr | None:
    return node.inputs[0] if all(same(w, 0) for pair in node.attr("widths") for w in pair) else None


def _unslice(node: Expr) -> Expr | None:
    return node.inputs[0] if _is_whole(node.attr("index").entries) else None


def _take(node: Expr) -> Expr | None:
    x, indices = node.inputs
    each = indices.op.name == "iota" and same(indices.shape[0], x.shape[node.attr("axis")])
    return x if each else None


SHAPES: dict[str, list[Rule]] = {
    **{name: [_reshape] for name in ("reshape", "expand_dims", "squeeze")},
    **{name: [_any_view] for name in ("diagonal", "windows")},
    **{name: [through] for name in MARKERS},
    "broadcast_to": [_broadcast_to],
    "permute_dims": [_permute_dims],
    "slice": [_slice],
    "concat": [_concat],
    "pad": [_pad],
    "unslice": [_unslice],
    "take": [_take],
}
