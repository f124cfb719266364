"""Views of views in one, operands as small as they may be, and folds over copies of one element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from deepgraph.dims import Shape, Size, at_least, product, same, same_shape
from deepgraph.dtypes import DType
from deepgraph.errors import DomainError
from deepgraph.expr import OPS, Expr
from deepgraph.graph import Rule
from deepgraph.ops.rules import broadcast
from deepgraph.ops.slicing import Span, positions
from deepgraph.passes.patterns import fit

# Elementwise operations: their operands broadcast by themselves.


def hoist(node: Expr) -> Expr | None:
    """Operands without their broadcasts; where all stretch along an axis, stretch the result."""
    if node.op.variadic or not node.inputs:
        return None
    small = tuple(map(narrow, node.inputs))
    if all(a is b for a, b in zip(small, node.inputs, strict=True)):
        return None
    try:
        if _is_smaller(broadcast(*(x.shape for x in small)), node.shape):
            return OPS["broadcast_to"](node.op(*small, *node.attrs), node.shape)
        kept = list(node.inputs)
        for k, x in enumerate(small):
            others = (y.shape for i, y in enumerate(kept) if i != k)
            if same_shape(broadcast(x.shape, *others), node.shape):
                kept[k] = x
        if all(a is b for a, b in zip(kept, node.inputs, strict=True)):
            return None
        return node.op(*kept, *node.attrs)
    except DomainError:  # a negative power of whole numbers: the step raises, as declared
        return None


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


def _is_smaller(shape: Shape, other: Shape) -> bool:
    """Does a shape lack elements of the one it broadcasts to?"""
    lead = len(other) - len(shape)
    return any(not same(n, 1) for n in other[:lead]) or any(
        same(n, 1) and not same(m, 1) for n, m in zip(shape, other[lead:], strict=True)
    )


# Views. Those that only bring axes of size 1 or cut axes anew are one; broadcasts come last.


def reshaped(x: Expr, shape: Shape) -> Expr:
    """`x` in row-major order under another shape, by the view that says most."""
    if same_shape(x.shape, shape):
        return x
    if (axes := _ones_added(x.shape, shape)) is not None:
        return OPS["expand_dims"](x, axes)
    if (axes := _ones_added(shape, x.shape)) is not None:
        return OPS["squeeze"](x, axes)
    return OPS["reshape"](x, shape)


def _ones_added(short: Shape, long: Shape) -> tuple[int, ...] | None:
    """The axes of `long`, of size 1, without which it is `short`."""
    found: list[int] = []
    k = 0
    for i, n in enumerate(long):
        if k < len(short) and same(n, short[k]):
            k += 1
        elif same(n, 1):
            found.append(i)
        else:
            return None
    return tuple(found) if k == len(short) else None


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
    if (axes := _ones_added(x.shape, node.shape)) is not None:
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


def _input(node: Expr) -> Expr | None:
    return node.inputs[0]


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


# Reductions.


def _fold(node: Expr) -> Expr | None:
    """A fold over axes of size 1, or along which a broadcast repeats one element."""
    (x,), axes = node.inputs, node.attr("axis")
    if all(same(x.shape[a], 1) for a in axes):
        return _alone(node, x)
    repeated = [a for a in axes if at_least(x.shape[a], 1) is True and _is_repeated(x, a)]
    return _fold_repeated(node, x, repeated) if repeated else None


def _is_repeated(x: Expr, axis: int) -> bool:
    if x.op.name != "broadcast_to":
        return False
    source = x.inputs[0].shape
    k = axis - (x.ndim - len(source))
    return not same(x.shape[axis], 1) and (k < 0 or same(source[k], 1))


def _fold_repeated(node: Expr, x: Expr, axes: Sequence[int]) -> Expr | None:
    name = node.op.name
    if name == "prod":
        return None
    count = product(x.shape[a] for a in axes)
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    x = OPS["broadcast_to"](x.inputs[0], shape)
    rest = [a for a in node.attr("axis") if a not in axes]
    if not node.attr("keepdims"):
        x = OPS["squeeze"](x, axes)
        rest = [a - sum(b < a for b in axes) for a in rest]
    once = node.op(x, **(node.attributes | {"axis": rest}))
    if name != "sum":
        return once
    return once * count if isinstance(count, int) and count <= _counts_to(node.dtype) else None


def _counts_to(dtype: DType) -> int:
    """Up to where a dtype holds every whole number."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max)
    return 2 ** (int(np.finfo(dtype).nmant) + 1) if dtype.kind == "f" else 0


def _alone(node: Expr, x: Expr) -> Expr:
    """A fold of one element: itself. The sum of -0.0 is 0.0, as NumPy's is."""
    name = node.op.name
    if name in ("any", "all") and x.dtype.kind != "b":
        x = x != 0
    if x.dtype != node.dtype:
        x = OPS["astype"](x, node.dtype)
    y = reshaped(x, node.shape)
    return y + 0.0 if name == "sum" and x.dtype.kind not in "biu" else y


def _negated(node: Expr) -> Expr | None:
    """sum(-x) -> 0 - sum(x): a sum that is 0 is never -0.0."""
    (x,) = node.inputs
    if x.op.name != "negative" or x.dtype != node.dtype:
        return None
    return fit(0, node) - node.op(x.inputs[0], *node.attrs)


ELEMENTWISE: list[Rule] = [hoist]
SHAPES: dict[str, list[Rule]] = {
    "reshape": [_reshape],
    "expand_dims": [_reshape],
    "squeeze": [_reshape],
    "broadcast_to": [_broadcast_to],
    "permute_dims": [_permute_dims],
    "slice": [_slice],
    "diagonal": [_any_view],
    "windows": [_any_view],
    "concat": [_concat],
    "pad": [_pad],
    "unslice": [_unslice],
    "take": [_take],
    "sum": [_fold, _negated],
    **{name: [_fold] for name in ("prod", "max", "min", "any", "all")},
    **{name: [_input] for name in ("stop_gradient", "reverse_gradient", "positive", "attach")},
}
