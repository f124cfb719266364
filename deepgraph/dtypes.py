"""Dtypes and promotion: NumPy 2's own rules (NEP 50), asked of NumPy itself."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from deepgraph.errors import DTypeError

DType = np.dtype[Any]
Scalar = bool | int | float

DEFAULT_FLOAT = np.dtype(np.float32)


def as_dtype(dtype: object) -> DType:
    """The NumPy dtype of a name, a type or a dtype; bfloat16 where `ml_dtypes` is installed.

    Raises DTypeError for anything that is not a boolean, an integer or a real float.
    """
    if dtype is float or dtype is None:
        return DEFAULT_FLOAT if dtype is None else np.dtype(np.float64)
    if dtype == "bfloat16":
        return _bfloat16()
    try:
        found: DType = np.dtype(dtype)  # type: ignore[call-overload]
    except TypeError as error:
        raise DTypeError(f"no such dtype: {dtype!r}") from error
    if found.kind not in "biuf" and found.name != "bfloat16":
        raise DTypeError(f"booleans, integers and real floats only: {found.name}")
    if found.itemsize > 8:
        raise DTypeError(f"no backend computes in {found.name}: use float64")
    return found if found.name == "bfloat16" else np.dtype(found.name)  # NumPy's own object


@cache
def _bfloat16() -> DType:
    try:
        import ml_dtypes
    except ImportError as error:
        raise DTypeError("bfloat16 needs ml_dtypes: pip install ml_dtypes") from error
    found: DType = np.dtype(ml_dtypes.bfloat16)
    return found


@cache
def promote(*dtypes: DType) -> DType:
    """NumPy's result type of arrays of these dtypes."""
    try:
        return np.result_type(*dtypes)
    except TypeError as error:
        raise DTypeError(f"no common dtype: {' and '.join(d.name for d in dtypes)}") from error


@cache
def ufunc_dtypes(name: str, *dtypes: DType) -> tuple[DType, ...]:
    """The dtypes with which NumPy's ufunc `name` runs on these inputs: each input's, each output's.

    >>> [d.name for d in ufunc_dtypes("divide", np.dtype("int32"), np.dtype("int32"))]
    ['float64', 'float64', 'float64']
    """
    ufunc: np.ufunc = getattr(np, name)
    try:
        return ufunc.resolve_dtypes((*dtypes, *[None] * ufunc.nout))
    except TypeError as error:
        given = " and ".join(d.name for d in dtypes)
        raise DTypeError(f"not defined for {given}") from error


def is_float(dtype: DType) -> bool:
    """True for float16, bfloat16, float32 and float64."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def accumulator(dtype: DType) -> DType:
    """What a sum over this dtype accumulates in: float32 for half precision, else itself."""
    return np.dtype(np.float32) if is_float(dtype) and dtype.itemsize == 2 else dtype


def least(dtype: DType) -> Scalar:
    """The least value of a dtype: -inf for floats."""
    if is_float(dtype):
        return float("-inf")
    return False if dtype.kind == "b" else int(np.iinfo(dtype).min)
