"""Arrays that are made, not fed: filled, counted, spaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from deepgraph import dims
from deepgraph.dims import Size, same_shape
from deepgraph.dtypes import DEFAULT_FLOAT, as_dtype
from deepgraph.errors import DomainError
from deepgraph.expr import FUNCTIONS, Example, Expr, Kind, Type, composition, op
from deepgraph.ops.source import as_shape, asarray


@op(Kind.SOURCE, numpy="{out}[...] = {xp}.arange({n})", examples=(Example((), {"n": 3}),))
def iota(n: Size, dtype: Any = "int64") -> Type:
    """The numbers from 0 up to but without n, which may be a named size."""
    shape, found = as_shape(n), as_dtype(dtype)
    return Type(shape, found, {"n": shape[0], "dtype": found})


@composition
def full(shape: Any, value: Any, dtype: Any = None) -> Expr:
    """An array of this shape with `value` everywhere; names make a shape symbolic.

    >>> import deepgraph as dg
    >>> dg.full(("batch", 3), 0.5)
    broadcast_to: float32[batch, 3]
    """
    sizes, filling = as_shape(shape), asarray(value, dtype)
    fits = same_shape(filling.shape, sizes)
    return filling if fits else FUNCTIONS["broadcast_to"](filling, sizes)


@composition
def zeros(shape: Any, dtype: Any = None) -> Expr:
    """An array of zeros, float32 unless said otherwise."""
    return full(shape, 0, as_dtype(dtype))


@composition
def ones(shape: Any, dtype: Any = None) -> Expr:
    """An array of ones, float32 unless said otherwise."""
    return full(shape, 1, as_dtype(dtype))


@composition
def full_like(x: Expr, value: Any, dtype: Any = None) -> Expr:
    """`value` everywhere, with the shape of x, and its dtype unless said otherwise."""
    return full(x.shape, value, x.dtype if dtype is None else dtype)


@composition
def zeros_like(x: Expr, dtype: Any = None) -> Expr:
    """Zeros with the shape of x, and its dtype unless said otherwise."""
    return full_like(x, 0, dtype)


@composition
def ones_like(x: Expr, dtype: Any = None) -> Expr:
    """Ones with the shape of x, and its dtype unless said otherwise."""
    return full_like(x, 1, dtype)


@composition
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Expr:
    """Numbers from `start` (0 if only one bound is given) up to but without `stop`.

    The bounds may be sizes: `arange(x.shape[0])` counts the rows. Of integers int64, else float32,
    unless said otherwise.
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise DomainError("the step is 0")
    if any(isinstance(n, float) for n in (start, stop, step)):
        return asarray(np.arange(start, stop, step), as_dtype(dtype))
    count: Size = -((start - stop) // step)
    index = iota(dims.maximum(count, 0), "int64" if dtype is None else dtype)
    scaled = index if step == 1 else index * step
    return scaled if isinstance(start, int) and start == 0 else scaled + start


@composition
def linspace(start: float, stop: float, num: int, dtype: Any = None, endpoint: bool = True) -> Expr:
    """`num` numbers evenly from `start` to `stop`, which is the last unless `endpoint` is false."""
    spaced = np.linspace(start, stop, num, endpoint=endpoint)
    return asarray(spaced, DEFAULT_FLOAT if dtype is None else dtype)


@composition
def eye(n_rows: Any, n_cols: Any = None, k: int = 0, dtype: Any = None) -> Expr:
    """A matrix with ones where the column is `k` more than the row, and zeros elsewhere."""
    row, column = iota(n_rows), iota(n_rows if n_cols is None else n_cols)
    below = row.reshape(row.size, 1)
    return ((below + k if k else below) == column).astype(as_dtype(dtype))
