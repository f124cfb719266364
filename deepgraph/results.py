"""Results: fresh arrays that alias nothing, over memory that is used again when they die."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepgraph.arena import ALIGN
from deepgraph.backends.device import HOST, Device
from deepgraph.dims import Shape, bind, pretty
from deepgraph.errors import DTypeError, FeedError, ShapeError
from deepgraph.graph import Graph

Array = npt.NDArray[Any]
_LARGE = 1 << 18  # bytes from which fresh memory costs more (page faults) than looking for used


class Result(NamedTuple):
    """What one output is for known sizes."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int


class _Block(NamedTuple):
    """Memory of which results are made, from the start of a cache line on."""

    memory: Array
    start: int
    nbytes: int

    @staticmethod
    def of(nbytes: int) -> _Block:
        memory = np.empty(nbytes + ALIGN, np.uint8)
        return _Block(memory, -memory.ctypes.data % ALIGN, nbytes)

    def is_free(self) -> bool:
        """Does nothing but this and the argument of getrefcount refer to the memory?"""
        return sys.getrefcount(self.memory) == 2


class Results:
    """Makes the arrays into which a step writes its outputs.

    Large ones of NumPy's come from blocks that are kept. A block is free when nothing but this list
    refers to it: every array and view made of it keeps it as its base, so the reference count
    tells.
    """

    def __init__(self, graph: Graph, device: Device = HOST) -> None:
        self._device, self._xp = device, device.xp
        self._empty = np.empty if device.xp is np else device.empty
        self._types = [(v.shape, v.dtype) for v in graph.outputs.values()]
        self._names = list(graph.outputs)
        self._blocks: list[_Block] = []

    @property
    def kept_bytes(self) -> int:
        """Bytes of all blocks, in use or free."""
        return sum(block.nbytes for block in self._blocks)

    def bind(self, sizes: Mapping[str, int]) -> tuple[Result, ...]:
        """The outputs for known sizes."""

        def result(shape: Shape, dtype: np.dtype[Any]) -> Result:
            known = bind(shape, sizes)
            return Result(known, dtype, math.prod(known) * dtype.itemsize)

        return tuple(result(shape, dtype) for shape, dtype in self._types)

    def makers(self, results: Sequence[Result]) -> tuple[Callable[[], Array], ...]:
        """For each output a function that gives an array of its own, uninitialised."""
        return tuple(
            partial(self._empty, shape, dtype) if nbytes < _LARGE or self._xp is not np
            else partial(self._from_block, shape, dtype, nbytes)
            for shape, dtype, nbytes in results
        )  # fmt: skip

    def _from_block(self, shape: tuple[int, ...], dtype: np.dtype[Any], nbytes: int) -> Array:
        free = None
        for block in self._blocks:
            if nbytes <= block.nbytes <= 2 * nbytes and block.is_free():
                free = block
                if block.nbytes == nbytes:
                    break
        if free is None:
            self._drop_unused()
            free = _Block.of(nbytes)
            self._blocks.append(free)
        return np.ndarray(shape, dtype, free.memory, free.start)

    def _drop_unused(self) -> None:
        """Keep no more free blocks than one call takes, so that memory does not pile up."""
        spare = len(self._types)
        kept = []
        for block in self._blocks:
            free = block.is_free()
            if spare > 0 or not free:
                kept.append(block)
                spare -= free
        self._blocks = kept

    def given(
        self, out: Any, results: Sequence[Result], feeds: Sequence[Array]
    ) -> list[Array]:
        """The caller's arrays, checked: right shapes and dtypes, plain memory, apart."""
        values = self._by_name(out)
        for name, array, (shape, dtype, _) in zip(self._names, values, results, strict=True):
            if not isinstance(array, self._xp.ndarray) or array.dtype != dtype:
                got = getattr(array, "dtype", type(array).__name__)
                raise DTypeError(f"out= for {name} has another dtype: wants {dtype}, got {got}")
            if array.shape != shape:
                shapes = f"wants {pretty(shape)}, got {pretty(array.shape)}"
                raise ShapeError(f"out= for {name} has another shape: {shapes}")
            if not self._device.plain(array):
                raise FeedError(f"out= for {name} must be contiguous, aligned and writable")
        self._check_apart(values, feeds)
        return values

    def _by_name(self, out: Any) -> list[Any]:
        """What the caller gives for each output, in their order."""
        if isinstance(out, Mapping):
            if out.keys() == set(self._names):
                return [out[n] for n in self._names]
        elif isinstance(out, self._xp.ndarray) and len(self._names) == 1:
            return [out]
        elif isinstance(out, Sequence) and len(out) == len(self._names):
            return list(out)
        raise FeedError(f"out= needs an array for each output: {', '.join(self._names)}")

    def _check_apart(self, values: Sequence[Array], feeds: Sequence[Array]) -> None:
        for k, array in enumerate(values):
            for other in (*values[:k], *feeds):
                if np.may_share_memory(array, other):
                    name = self._names[k]
                    raise FeedError(f"out= for {name} shares memory with a feed or another output")
