"""Which loops work on vectors of float32, as values that C's operators and our functions take."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from deepgraph.backends.clike import memory_type
from deepgraph.dims import same
from deepgraph.expr import Expr
from deepgraph.literal import Literal
from deepgraph.nest import Loop, Nest, Work

_SIMPLE = frozenset({"add", "subtract", "multiply", "divide", "negative", "square", "reciprocal",
                     "abs", "relu"})  # fmt: skip
_FUNCTIONS = frozenset({"exp", "log", "sin", "cos", "tanh", "sqrt", "sigmoid", "silu", "gelu"})
_FLOAT = np.dtype(np.float32)


def by_vectors(nest: Nest, loop: Loop, axis: int, along: Collection[int]) -> bool:
    """Can this loop without loops, over an axis, work on vectors, and does it gain by that?

    All is float32 and one after another in memory; of folds, sums along it. It gains where it has
    functions of which backends/c has vector forms: calls of them would cost as much again.
    """
    kernel, first = nest.kernel, len(nest.kernel.loads)
    gains = False
    for item in loop.body:
        assert isinstance(item, Work)
        r = item.register
        if r < first:
            access = kernel.loads[r]
            good = access.value.dtype == _FLOAT and same(access.at.strides[axis], 1)
        else:
            instr = kernel.body[r - first]
            if item.adds:
                good = r in along and instr.node.op.ufunc == "add" and _float(instr.node)
            else:
                good = not instr.fold and _computed(instr.node, instr.args)
                gains |= instr.node.op.name in _FUNCTIONS
            good &= all(_followed(nest, a, axis) for a in instr.registers)
            if not item.adds:
                good &= _followed(nest, r, axis)
        if not good or (item.stores and not _stored(nest, r, axis)):
            return False
    return gains


def _float(node: Expr) -> bool:
    return node.dtype == _FLOAT and all(x.dtype == _FLOAT for x in node.inputs)


def _computed(node: Expr, args: Collection[object]) -> bool:
    """Is it an operation that takes vectors?"""
    name = node.op.name
    known = name in _SIMPLE or name in _FUNCTIONS
    plain = all(isinstance(a, int | Literal) for a in args)
    return known and plain and _float(node) and node.attributes.get("approximate", "tanh") == "tanh"


def _stored(nest: Nest, register: int, axis: int) -> bool:
    """Do the stores of a register put its elements one after another?"""
    return all(
        memory_type(s.access.value.dtype) == "float" and same(s.access.at.strides[axis], 1)
        for s in nest.kernel.stores
        if s.register == register
    )


def _followed(nest: Nest, register: int, axis: int) -> bool:
    """If it is kept: is it one float, or do its elements lie one after another?"""
    kept = nest.kept.get(register)
    if kept is None:
        return True
    if kept.store is not None:
        follows = same(nest.kernel.stores[kept.store].access.at.strides[axis], 1)
    else:
        follows = kept.axes[-1:] == (axis,)
    return kept.dtype == _FLOAT and (follows or axis not in kept.axes)
