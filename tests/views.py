"""Check a view's strided rule against memory: NumPy's own strides, and bases of many layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

import deepgraph as dg
from deepgraph.dims import bind
from deepgraph.expr import Expr, Kind, Strided

Array = npt.NDArray[Any]


def bases(shape: tuple[int, ...], seed: int) -> Iterator[tuple[Array, Array, int]]:
    """Arrays whose elements all differ: the buffer, the array in it, where its first element is."""
    rng = np.random.default_rng(seed)
    n = len(shape)
    for permuted in (False, True):
        for steps in ((1,) * n, tuple(rng.choice([-2, -1, 1, 2], n))):
            order = rng.permutation(n) if permuted else np.arange(n)
            big = [shape[a] * abs(int(steps[a])) for a in order]
            buffer = np.arange(int(np.prod(big)) + 3)
            whole = buffer[3:].reshape(big).transpose(np.argsort(order))
            array = whole[(*(slice(None, None, int(s)) for s in steps), ...)]
            assert array.shape == shape
            yield buffer, array, _offset(buffer, array)


def _offset(buffer: Array, array: Array) -> int:
    start = array.__array_interface__["data"][0] - buffer.__array_interface__["data"][0]
    return int(start // buffer.itemsize)


def check_view(
    f: Callable[[Expr], Expr], reference: Callable[[Array], Array], shape: Sequence[int | str],
    sizes: dict[str, int] | None = None, seed: int = 0,
) -> None:  # fmt: skip
    """Follow the rules of all views in f(x), with strides as numbers and as names; compare memory.

    Where the rule declines, NumPy must have had to copy too.
    """
    x = dg.placeholder("x", tuple(shape), "int64")
    y = f(x)
    chain = []
    while y is not x:
        assert y.op.kind is Kind.VIEW, y
        chain.append(y)
        (y,) = y.inputs
    known = sizes or {}
    for buffer, array, offset in bases(bind(x.shape, known), seed):
        expected = reference(array)
        strides = tuple(int(s) // buffer.itemsize for s in array.strides)
        names = {f"stride{k}": s for k, s in enumerate(strides) if s >= 0}
        symbols = tuple(dg.dim(f"stride{k}") if s >= 0 else s for k, s in enumerate(strides))
        for given in (strides, symbols):
            at: Strided | None = Strided(x.shape, given, offset)
            for node in reversed(chain):
                assert node.op.view is not None
                assert at is not None
                at = node.op.view(at, node)
                if at is None:
                    break
            if at is None:
                assert given is symbols or not np.shares_memory(expected, buffer)
                continue
            values = {**known, **names}
            found = as_strided(
                buffer[bind(at.offset, values) :], bind(at.shape, values),
                [s * buffer.itemsize for s in bind(at.strides, values)],
            )  # fmt: skip
            np.testing.assert_array_equal(found, expected)
