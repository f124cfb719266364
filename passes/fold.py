"""Compute now what depends on constants alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy.typing as npt

from deepgraph.dims import Dim, product
from deepgraph.expr import OPS, Expr, Kind
from deepgraph.graph import Graph, Rule, rewrite
from deepgraph.literal import Literal
from deepgraph.target import Target

Evaluate = Callable[[Expr], npt.NDArray[Any]]  # the value of an expression of constants

_MADE = 4096  # bytes: more than this is not made now and kept for every call
_READ = 1 << 20  # bytes: more than this is not worked through while compiling


def fold(graph: Graph, target: Target, evaluate: Evaluate) -> Graph:
    """The graph with small values that no feed or parameter changes computed once, by `evaluate`.

    Dtypes stay. Random draws are left alone, and so are views, which cost nothing: a number that is
    broadcast stays a number. What raises is left for the step to raise.
    """
    return rewrite(graph, folding(evaluate), via="fold")


def folding(evaluate: Evaluate) -> dict[str, list[Rule]]:
    """For each operation, the rule that computes it from constants."""
    compute = partial(_computed, evaluate=evaluate)
    names = {op.name for op in OPS.values() if op.kind is not Kind.SOURCE}
    return {**{name: [compute] for name in names}, "constant": [_as_number], "size": [_as_number]}


def _computed(node: Expr, evaluate: Evaluate) -> Expr | None:
    if not all(map(_is_known, node.inputs)) or "id" in node.op.attr_names:
        return None
    if any(map(_is_symbolic, node.attrs)):
        return None
    nbytes = _bytes(node)
    if nbytes > _MADE or (node.op.kind is Kind.VIEW and nbytes >= _bytes(node.inputs[0])):
        return None
    try:
        value = evaluate(node)
    except (IndexError, ValueError):
        return None
    return OPS["constant"](Literal(value))


def _is_symbolic(attr: Any) -> bool:
    """Does an attribute hold a size that is only known when a step is called?"""
    parts = attr if isinstance(attr, tuple) else getattr(attr, "entries", ())
    return isinstance(attr, Dim) or any(map(_is_symbolic, parts))


def _is_known(x: Expr) -> bool:
    """Is it a constant, a count, or a view of one, and small enough to read now?"""
    leaf = x
    while leaf.op.kind is Kind.VIEW:
        (leaf,) = leaf.inputs
    if leaf.op.name == "iota":
        return max(_bytes(x), _bytes(leaf)) <= _READ
    return leaf.op.name == "constant" and _bytes(x) <= _READ


def _bytes(x: Expr) -> float:
    """Infinite if a size is only known when a step is called."""
    total = product(x.shape) * x.dtype.itemsize
    return math.inf if isinstance(total, Dim) else total


def _as_number(node: Expr) -> Expr | None:
    """A constant of one element as a number, seen under the constant's shape; a known size too."""
    if node.op.name == "size":
        value = node.attr("value")
        return None if isinstance(value, Dim) else OPS["constant"](Literal(node.dtype.type(value)))
    held = node.attr("value").value
    if held.size != 1 or held.shape == ():
        return None
    return OPS["broadcast_to"](OPS["constant"](Literal(held.reshape(()))), node.shape)
