"""What repeats along an axis is computed once: operands without broadcasts, folds over copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deepgraph.dims import Shape, at_least, product, same, same_shape
from deepgraph.dtypes import DType
from deepgraph.errors import GraphError
from deepgraph.expr import OPS, Expr, Kind
from deepgraph.graph import Rule
from deepgraph.ops.rules import broadcast
from deepgraph.passes.shapes import narrow
from deepgraph.patterns import reshaped


def hoist(node: Expr) -> Expr | None:
    """Operands without their broadcasts; where all stretch along an axis, stretch the result."""
    if node.op.variadic or not node.inputs:
        return None
    small = tuple(map(narrow, node.inputs))
    if all(a is b for a, b in zip(small, node.inputs, strict=True)):
        return None
    shape = broadcast(*(x.shape for x in small))
    if _is_smaller(shape, node.shape):
        once = _over(node, small, shape)
        return None if once is None else OPS["broadcast_to"](once, node.shape)
    kept = list(node.inputs)
    for k, x in enumerate(small):
        others = (y.shape for i, y in enumerate(kept) if i != k)
        if same_shape(broadcast(x.shape, *others), node.shape):
            kept[k] = x
    if all(a is b for a, b in zip(kept, node.inputs, strict=True)):
        return None
    return _over(node, kept, node.shape)


def _over(node: Expr, operands: Sequence[Expr], shape: Shape) -> Expr | None:
    """The same operation over other operands, if it takes them and gives this shape."""
    try:
        new = node.op(*operands, *node.attrs)
    except GraphError:  # it does not broadcast, or knows now what it will refuse when the step runs
        return None
    return new if same_shape(new.shape, shape) and new.dtype == node.dtype else None


def _is_smaller(shape: Shape, other: Shape) -> bool:
    """Does a shape lack elements of the one it broadcasts to?"""
    lead = len(other) - len(shape)
    return any(not same(n, 1) for n in other[:lead]) or any(
        same(n, 1) and not same(m, 1) for n, m in zip(shape, other[lead:], strict=True)
    )


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
    if (initial := node.attributes.get("initial")) is not None:
        x = OPS[node.op.ufunc](x, initial)
    y = reshaped(x, node.shape)
    return y + 0.0 if name == "sum" and x.dtype.kind not in "biu" else y


def broadcasts() -> dict[str, list[Rule]]:
    """The rules for every elementwise operation there is, and for reductions."""
    elementwise = {op.name for op in OPS.values() if op.kind is Kind.ELEMENTWISE}
    reductions = ("sum", "prod", "max", "min", "any", "all")
    return {**{name: [hoist] for name in elementwise}, **{name: [_fold] for name in reductions}}
