"""Literals: numbers and arrays known at declaration, keyed so that equal means the same bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.dims import pretty
from deepgraph.dtypes import DEFAULT_FLOAT, DType, Scalar, promote
from deepgraph.errors import DTypeError


class Literal:
    """A constant's value, read-only; equal when dtype and bytes are, so 1, 1.0, True, -0.0 differ.

    Arrays over 4 KB are keyed by identity: hashing them would cost more than merging saves.
    """

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        array = np.array(value, order="C")
        array.flags.writeable = False
        small = array.nbytes <= 4096
        self.value = array
        self.key = (array.dtype.str, array.shape, array.tobytes() if small else id(array))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        if self.value.size > 8:
            return f"<{self.value.dtype.name}{pretty(self.value.shape)}>"
        return str(self.value.tolist())

    def __reduce__(self) -> tuple[Any, ...]:
        return Literal, (self.value,)


def attr_key(value: Any) -> Any:
    """An attribute with its type, so that 1, True and 1.0, or 0.0 and -0.0, are different keys."""
    if isinstance(value, float):
        return float, struct.pack("d", value)
    if isinstance(value, tuple):
        return tuple(map(attr_key, value))
    return type(value), value


def weak(value: Scalar, typed: Sequence[DType]) -> npt.NDArray[Any]:
    """A Python number in the dtype it takes beside operands of these dtypes, if it fits."""
    dtype = weak_dtype(value, typed)
    try:
        return np.asarray(value, dtype)
    except OverflowError as error:
        raise DTypeError(f"{value} does not fit {dtype.name}") from error


def weak_dtype(value: Scalar, typed: Sequence[DType]) -> DType:
    """The dtype a Python number takes beside operands of these dtypes."""
    if typed and (together := promote(*typed)).name == "bfloat16":
        return together  # beside which NumPy's own numbers are not weak
    return np.result_type(*typed, value)


def default_dtypes(values: Sequence[object]) -> list[DType]:
    """The dtype of Python numbers and sizes by themselves: float32 if one of them is a float."""
    kinds = {type(v) for v in values}
    if any(issubclass(k, float) for k in kinds):
        return [DEFAULT_FLOAT]
    return [np.dtype(np.bool_ if kinds <= {bool} else np.int64)]
