"""The leaves of a graph: placeholders, parameters, constants, sizes."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

import numpy as np

from deepgraph.dims import Dim, Shape, Size, dim
from deepgraph.dtypes import DType, as_dtype
from deepgraph.errors import DTypeError, ShapeError
from deepgraph.expr import Expr, Kind, Type, composition, lift, op
from deepgraph.literal import Literal


def as_shape(shape: Any) -> Shape:
    """A shape of sizes: an int or a sequence of ints, names (`"batch"`) and sizes.

    >>> as_shape(("batch", 784))
    (batch, 784)
    """
    if isinstance(shape, str | int | np.integer | Dim):
        shape = (shape,)
    elif not isinstance(shape, Sequence):
        raise ShapeError(f"a shape is a tuple of sizes and names: got {shape!r}")
    return tuple(_as_size(n) for n in shape)


def _as_size(n: Any) -> Size:
    if isinstance(n, str):
        return dim(n)
    if isinstance(n, Dim):
        return n
    if isinstance(n, int | np.integer) and not isinstance(n, bool):
        if n < 0:
            raise ShapeError(f"a size is not negative: got {n}{_NAMES if n == -1 else ''}")
        return int(n)
    unknown = n is None or n is ...
    raise ShapeError(f"a size is a whole number or a name: got {n!r}{_NAMES if unknown else ''}")


_NAMES = '; for one that is known when arrays are fed write a name, such as "batch"'

@op(Kind.SOURCE)
def placeholder(name: str, shape: Shape = (), dtype: Any = "float32") -> Type:
    """A value fed at each call, by name.

    `shape` holds whole numbers and names; one name is one size throughout a graph.

    >>> import deepgraph as dg
    >>> dg.placeholder("x", shape=("batch", 784))
    placeholder x: float32[batch, 784]
    """
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ShapeError(
            f"a placeholder's name is fed as a keyword, so a Python name: got {name!r}"
        )
    as_type = as_dtype(dtype)
    return Type(as_shape(shape), as_type, {"shape": as_shape(shape), "dtype": as_type})


@op(Kind.SOURCE, internal=True)
def parameter(name: str, shape: Shape, dtype: DType) -> Type:
    """A value that a step keeps between calls and may update; made by `Parameter`."""
    return Type(shape, dtype)


@op(Kind.SOURCE, internal=True)
def constant(value: Literal) -> Type:
    """An array known now."""
    return Type(value.value.shape, value.value.dtype)


@op(Kind.SOURCE, internal=True)
def size(value: Size, dtype: DType) -> Type:
    """A size as a number; known when a step is called."""
    return Type((), dtype)


@composition
def asarray(value: Any, dtype: Any = None) -> Expr:
    """A constant of an array (copied, read-only), of nested lists or of a number.

    A bare Python float becomes float32 unless `dtype` says otherwise; arrays keep their dtype.
    """
    if isinstance(value, Expr):
        return value if dtype is None else value.astype(dtype)
    if dtype is None and isinstance(value, bool | int | float | Dim):
        return lift([value])[0]
    try:
        array = np.asarray(value, None if dtype is None else as_dtype(dtype))
    except ValueError as error:
        raise ShapeError(f"not a rectangular array of numbers: {error}") from error
    except OverflowError as error:
        raise DTypeError(f"{value} does not fit {as_dtype(dtype)}") from error
    if array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
        raise DTypeError(f"not an array of numbers: {array.dtype.name}")
    return lift([array])[0]
