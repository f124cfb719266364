"""PyTorch's functions of shapes, indices and matrices, in its own argument conventions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from conformance_arrays import Dim, along, axes, spread

import deepgraph as dg
from deepgraph.expr import Expr

# Shape


def expand(x: Expr, *shape: Any) -> Expr:
    sizes = _listed(shape)
    lead = len(sizes) - x.ndim
    return dg.broadcast_to(
        x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(sizes)]
    )  # fmt: skip


def reshape(x: Expr, *shape: Any) -> Expr:
    return dg.reshape(x, _listed(shape))


def permute(x: Expr, *dims: Any) -> Expr:
    return dg.permute_dims(x, _listed(dims))


def repeat(x: Expr, *times: Any) -> Expr:
    return dg.tile(x, _listed(times))


def _listed(values: tuple[Any, ...]) -> list[Any]:
    """`f(2, 3)` and `f((2, 3))` alike."""
    return list(values[0] if len(values) == 1 and isinstance(values[0], Sequence) else values)


def flatten(x: Expr, start_dim: int = 0, end_dim: int = -1) -> Expr:
    if not x.ndim:
        return dg.reshape(x, (1,))
    first, last = start_dim % x.ndim, end_dim % x.ndim
    merged = math.prod(x.shape[first : last + 1])
    return dg.reshape(x, (*x.shape[:first], merged, *x.shape[last + 1 :]))


def squeeze(x: Expr, dim: Dim = None) -> Expr:
    if dim is None or not x.ndim:
        return dg.squeeze(x)
    listed = dim if isinstance(dim, Sequence) else (dim,)
    return dg.squeeze(x, tuple(d for d in listed if x.shape[d] == 1))


def transpose(x: Expr, dim0: int, dim1: int) -> Expr:
    return dg.swapaxes(x, dim0, dim1) if x.ndim else x


def flip(x: Expr, dims: Sequence[int]) -> Expr:
    return dg.flip(x, tuple(dims))


def roll(x: Expr, shifts: Any, dims: Any = None) -> Expr:
    return dg.roll(x, shifts, None if dims in (None, (), []) else dims)


def cat(arrays: Sequence[Expr], dim: int = 0) -> Expr:
    """Vectors of no elements fit beside anything."""
    full = [x for x in arrays if x.shape != (0,)]
    return dg.concat(full or list(arrays), dim)


def stack(arrays: Sequence[Expr], dim: int = 0) -> Expr:
    return dg.stack(arrays, dim)


def split(x: Expr, sizes: int | Sequence[int], dim: int = 0) -> list[Expr]:
    n = x.shape[dim]
    cuts = range(sizes, n, sizes) if isinstance(sizes, int) else np.cumsum(sizes[:-1]).tolist()
    return dg.split(x, list(cuts), dim)


def chunk(x: Expr, chunks: int, dim: int = 0) -> list[Expr]:
    return split(x, max(1, -(-x.shape[dim] // chunks)), dim)


def unflatten(x: Expr, dim: int, sizes: Sequence[int]) -> Expr:
    k = dim % x.ndim
    each = [x.shape[k] // -math.prod(sizes) if n == -1 else n for n in sizes]
    return dg.reshape(x, (*x.shape[:k], *each, *x.shape[k + 1 :]))


def unfold(x: Expr, dimension: int, size: int, step: int) -> Expr:
    if not x.ndim:
        return dg.reshape(x, (1,))[:size]
    return dg.windows(x, dimension, size, step)


def narrow(x: Expr, dim: int, start: Any, length: int) -> Expr:
    """A start that is data gathers; one that is known slices."""
    if isinstance(start, Expr):
        return dg.take(x, start + dg.iota(length), dim)
    first = start % max(x.shape[dim], 1)
    return dg.moveaxis(dg.moveaxis(x, dim, 0)[first : first + length], 0, dim)


def select(x: Expr, dim: int, index: int) -> Expr:
    return dg.moveaxis(x, dim, 0)[index]


def diag(x: Expr, diagonal: int = 0) -> Expr:
    return dg.diag(x, diagonal)


def tril(x: Expr, diagonal: int = 0) -> Expr:
    return dg.tril(x, diagonal)


def triu(x: Expr, diagonal: int = 0) -> Expr:
    return dg.triu(x, diagonal)


def diagonal(x: Expr, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Expr:
    return dg.diagonal(x, offset, dim1, dim2)


def diff(x: Expr, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Expr:
    """PyTorch leaves out `prepend` and `append` where n is 0."""
    parts = [part for part in (prepend, x, append) if part is not None]
    whole = dg.concat(parts, dim) if len(parts) > 1 and n else x
    return dg.diff(whole, min(n, whole.shape[dim]), dim)


def unbind(x: Expr, dim: int = 0) -> list[Expr]:
    return dg.unstack(x, dim)


def like(f: Callable[..., Expr]) -> Callable[..., Expr]:
    def made(x: Expr, *value: Any, dtype: str | None = None, device: Any = None) -> Expr:
        return f(x, *value, dtype=None if dtype is None else dtype.removeprefix("torch."))

    return made


def meshgrid(x: Any, *arrays: Any, indexing: str = "ij") -> list[Expr]:
    vectors = [*x, *arrays] if isinstance(x, list | tuple) else [x, *arrays]
    return dg.meshgrid(*(dg.reshape(v, (-1,)) for v in vectors), indexing=indexing)


# Products


def addmm(x: Any, a: Expr, b: Expr, *, beta: float = 1, alpha: float = 1) -> Expr:
    return beta * x + alpha * (a @ b)


def einsum(operands: Sequence[Expr], equation: str) -> Expr:
    return dg.einsum(equation, *operands)


def tensordot(x: Expr, other: Expr, dims: Any = 2) -> Expr:
    """PyTorch stretches an axis of size 1 that meets a longer one."""
    if isinstance(dims, int):
        return dg.tensordot(x, other, dims)
    mine, yours = (tuple(d) if isinstance(d, Sequence) else (d,) for d in dims)
    for a, b in zip(mine, yours, strict=True):
        if x.shape[a] == 1 != other.shape[b]:
            other = dg.sum(other, b, keepdims=True)
        elif other.shape[b] == 1 != x.shape[a]:
            x = dg.sum(x, a, keepdims=True)
    return dg.tensordot(x, other, (mine, yours))


# Indexing and order


def gather(x: Expr, dim: int, index: Expr, *, sparse_grad: bool = False) -> Expr:
    """The index may be shorter than x beside `dim`, and have any shape where it is empty."""
    if not x.ndim or not index.size:
        return dg.take(dg.reshape(x, (-1,)), index)
    if not index.ndim:
        return dg.reshape(gather(x, dim, dg.reshape(index, (1,))), ())
    kept = tuple(
        slice(None) if i == dim % x.ndim else slice(n) for i, n in enumerate(index.shape)
    )  # fmt: skip
    return dg.take_along_axis(x[kept], index, dim)


def index_select(x: Expr, dim: int, index: Expr) -> Expr:
    if not x.ndim:
        return dg.reshape(dg.take(dg.reshape(x, (1,)), index), ())
    return dg.take(x, dg.reshape(index, (-1,)), dim)


def take_along_dim(x: Expr, indices: Expr, dim: int | None = None) -> Expr:
    if dim is None:
        return dg.take(dg.flatten(x), dg.flatten(indices))
    return dg.take_along_axis(x, indices, dim)


def getitem(x: Expr, index: Any) -> Expr:
    return x[index]


def _scattered(x: Expr, dim: int, index: Expr, src: Expr) -> Expr:
    """Zeros like x, with each element of src added where the index along `dim` says."""
    if not x.ndim:
        return dg.reshape(dg.scatter_add(dg.reshape(src, (1,)), dg.reshape(index, (1,)), 1), ())
    place: Any = 0
    for i, n in enumerate(x.shape):
        counted = [index.shape[i] if j == i else 1 for j in range(x.ndim)]
        at = index if i == dim % x.ndim else dg.reshape(dg.iota(index.shape[i]), counted)
        place = place * n + at
    kept = src[tuple(slice(n) for n in index.shape)]
    flat = dg.scatter_add(dg.flatten(kept), dg.flatten(place), math.prod(x.shape))
    return dg.reshape(flat, x.shape)


def scatter_add(x: Expr, dim: int, index: Expr, src: Expr) -> Expr:
    return x + _scattered(x, dim, index, src)


def scatter(x: Expr, dim: int, index: Expr, src: Any) -> Expr:
    """Of indices that stand once in a line."""
    new = src if isinstance(src, Expr) else dg.full(index.shape, src, x.dtype)
    hit = _scattered(x, dim, index, dg.ones(index.shape, "int64"))
    return dg.where(hit > 0, _scattered(x, dim, index, new), x)


def argsort(x: Expr, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Expr:
    return along(lambda v, d: dg.argsort(v, d, descending), x, dim)


def sort(
    x: Expr, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> tuple[Expr, Expr]:
    values = along(lambda v, d: dg.sort(v, d, descending), x, dim)
    return values, argsort(x, dim, descending)


def topk(
    x: Expr, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Expr, Expr]:
    """In order, also if that is not asked for."""
    sign = 1 if largest else -1
    v = dg.reshape(x * sign, x.shape or (1,))
    values, found = dg.top_k(v, k, dim)
    shape = values.shape if x.ndim else ()
    return dg.reshape(values * sign, shape), dg.reshape(found, shape)


SHAPES: dict[str, Callable[..., Any]] = {
    "expand": expand, "reshape": reshape, "view": reshape, "permute": permute, "repeat": repeat,
    "tile": repeat, "flatten": flatten, "squeeze": squeeze, "transpose": transpose, "flip": flip,
    "unsqueeze": lambda x, dim: dg.expand_dims(x, dim), "roll": roll, "cat": cat, "stack": stack,
    "split": split, "narrow": narrow, "select": select, "diag": diag, "tril": tril, "triu": triu,
    "diagonal": diagonal, "diff": diff, "unbind": unbind, "meshgrid": meshgrid,
    "movedim": dg.moveaxis, "addmm": addmm, "mm": dg.matmul, "bmm": dg.matmul, "mv": dg.matmul,
    "vdot": dg.vecdot, "einsum": einsum, "tensordot": tensordot, "full_like": like(dg.full_like),
    "zeros_like": like(dg.zeros_like), "ones_like": like(dg.ones_like), "gather": gather,
    "index_select": index_select, "take_along_dim": take_along_dim, "__getitem__": getitem,
    "chunk": chunk, "split_with_sizes": split, "unflatten": unflatten, "unfold": unfold,
    "ravel": flatten, "t": lambda x: dg.permute_dims(x), "T": lambda x: x.T, "mT": lambda x: x.mT,
    "real": dg.real, "fliplr": lambda x: dg.flip(x, 1), "flipud": lambda x: dg.flip(x, 0),
    "msort": lambda x: sort(x, 0)[0], "take": lambda x, index: dg.take(dg.reshape(x, -1), index),
    "broadcast_tensors": lambda x, *others: dg.broadcast_arrays(x, *others),
    "expand_as": lambda x, other: dg.broadcast_to(x, other.shape),
    "view_as": lambda x, other: dg.reshape(x, other.shape),
    "reshape_as": lambda x, other: dg.reshape(x, other.shape),
    "var_mean": lambda x, dim=None, unbiased=True, keepdim=False, *, correction=None: (
        spread(dg.var)(x, dim, unbiased, keepdim, correction=correction),
        dg.mean(x, axes(x, None if isinstance(dim, bool) else dim), keepdim),
    ),
    "scatter_add": scatter_add, "scatter": scatter, "argsort": argsort, "sort": sort, "topk": topk,
}  # fmt: skip
