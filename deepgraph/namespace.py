"""What the array API standard has beside functions of arrays: dtypes, constants, questions."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
from numpy import (
    bool,
    e,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    inf,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    nan,
    newaxis,
    pi,
    uint8,
    uint16,
    uint32,
    uint64,
)

from deepgraph.dims import Shape
from deepgraph.dtypes import DType, promote
from deepgraph.expr import Expr
from deepgraph.literal import weak_dtype
from deepgraph.ops.rules import broadcast

__all__ = [
    "bool", "broadcast_shapes", "can_cast", "e", "finfo", "float16", "float32", "float64", "iinfo",
    "inf", "int8", "int16", "int32", "int64", "isdtype", "nan", "newaxis", "pi", "result_type",
    "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip


def result_type(*operands: Any) -> DType:
    """The dtype to which expressions, arrays, dtypes and Python's numbers promote; those are weak.

    >>> import deepgraph as dg
    >>> dg.result_type(dg.placeholder("x", (3,)), dg.int8, 2.0)
    dtype('float32')
    """
    found = list(map(_dtype, operands))
    numbers = [n for n in found if type(n) in (builtins.bool, int, float)]
    typed = [np.result_type(t) for t in found if type(t) not in (builtins.bool, int, float)]
    return promote(*typed, *(weak_dtype(n, typed) for n in numbers))


def can_cast(source: Any, to: Any) -> builtins.bool:
    """True where a value of this dtype, or this expression, becomes `to` without loss."""
    return np.can_cast(_dtype(source), to)


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that arrays of these shapes have together; ShapeError if there is none."""
    return broadcast(*shapes)


def _dtype(operand: Any) -> Any:
    return operand.dtype if isinstance(operand, Expr) else operand
