"""Order along an axis."""

from __future__ import annotations

from operator import index

import numpy as np

from deepgraph.dims import at_least
from deepgraph.errors import ShapeError
from deepgraph.expr import Example, Expr, Kind, Type, composition, op
from deepgraph.ops.index import take_along_axis
from deepgraph.ops.rules import one_axis
from deepgraph.ops.slicing import Span, _slice


@op(
    Kind.CALL, alias=False, numpy="lib.argsort({0}, {out}, {axis}, {descending})",
    flops=lambda node: node.size * 10,
    examples=(
        Example(((5,),), {}),
        Example(((2, 4, 3),), {"axis": 1, "descending": True}),
        Example(((0, 2),), {"axis": 0}),
    ),
)  # fmt: skip
def argsort(x: Expr, axis: int = -1, descending: bool = False) -> Type:
    """The indices, int64, that put the elements along an axis in order; equal ones stay in theirs.

    NaN counts as greater than all numbers: last when ascending, first when descending.
    """
    attrs = {"axis": one_axis(axis, x.ndim), "descending": bool(descending)}
    return Type(x.shape, np.dtype(np.int64), attrs)


@composition
def sort(x: Expr, axis: int = -1, descending: bool = False) -> Expr:
    """The elements along an axis in order; NaN counts as greater than all numbers."""
    return take_along_axis(x, argsort(x, axis, descending), axis)


@composition
def top_k(x: Expr, k: int, axis: int = -1) -> tuple[Expr, Expr]:
    """The k greatest elements along an axis, in descending order, and their indices.

    Of a named size that turns out to be less than k, all of them.
    """
    a = one_axis(axis, x.ndim)
    if index(k) < 0 or at_least(x.shape[a], k) is False:
        raise ShapeError(f"{k} of {x.shape[a]} elements along axis {a}")
    found = _slice(argsort(x, a, True), [*[Span()] * a, Span(0, k)])
    return take_along_axis(x, found, a), found
