"""Blocks of one kernel, one after another or on threads; parts of folds are combined in order."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.dims import bind
from deepgraph.dtypes import accumulator
from deepgraph.plan import Binding, Plan
from deepgraph.schedule import Kernel

Array = npt.NDArray[Any]
_pool: tuple[int, int, ThreadPoolExecutor] | None = None  # of a process, with so many threads


def _executor(count: int) -> ThreadPoolExecutor:
    """One pool a process, remade in a forked child."""
    global _pool
    if _pool is None or _pool[0] != os.getpid() or _pool[1] < count:
        _pool = (os.getpid(), count, ThreadPoolExecutor(count, "deepgraph"))
    return _pool[2]


def run_blocks(
    plan: Plan, kernel: Kernel, binding: Binding, main: Callable[..., None],
    end: Callable[..., None] | None,
) -> Callable[..., None]:  # fmt: skip
    """A function like `main`, which runs it piece by piece along the axis that the plan cuts."""
    blocks = binding.blocks[kernel]
    axis, rows = blocks.cut.axis, blocks.rows
    extent = bind(kernel.space[axis], binding.sizes)
    first = len(kernel.loads)
    names = plan.registers[kernel]
    stores = len(kernel.stores)
    position = {"y": first, "t": first + stores}
    across = {
        position[names[k][0]] + int(names[k][1:]): kernel.body[k].node for k in blocks.cut.across
    }
    scratch = plan.scratch[kernel]
    shapes = {
        first + stores + k: _block_shape(s.shape, axis, rows, binding)
        for k, s in enumerate(scratch)
    }
    whole = {
        first + stores + int(names[k][1:])
        for k in (*blocks.cut.across, *blocks.cut.after)
        if names[k][0] == "t"
    }
    starts = range(0, extent, rows)

    def run(*arrays: Any) -> None:
        mine = [_mine(arrays, shapes, whole, w) for w in range(blocks.threads)]
        parts = {
            k: np.empty((len(starts), *mine[0][k].shape), accumulator(node.dtype))
            for k, node in across.items()
        }

        def work(worker: int) -> None:
            for b in range(worker, len(starts), blocks.threads):
                low = starts[b]
                piece = slice(low, low + rows)
                args = []
                for k, array in enumerate(mine[worker]):
                    if k in parts:
                        args.append(parts[k][b])
                    elif k in shapes and k not in whole:
                        args.append(_cut(array, axis, slice(0, min(rows, extent - low)), rows))
                    else:
                        args.append(_cut(array, axis, piece, extent))
                main(*args)

        if blocks.threads == 1:
            work(0)
        else:
            pool = _executor(blocks.threads)  # with this thread's handling of floating-point faults
            working = [pool.submit(copy_context().run, work, w) for w in range(blocks.threads)]
            wait(working)  # all of them, before an error of one lets go of what they write
            for future in working:
                future.result()
        for k, node in across.items():
            combine = getattr(np, node.op.ufunc).reduce
            combine(parts[k], axis=0, dtype=parts[k].dtype, out=mine[0][k])
        if end is not None:
            end(*mine[0])

    return run


def _block_shape(shape: tuple[Any, ...], axis: int, rows: int, binding: Binding) -> tuple[int, ...]:
    full = bind(shape, binding.sizes)
    return tuple(min(n, rows) if k == axis else n for k, n in enumerate(full))


def _mine(
    arrays: tuple[Any, ...], shapes: dict[int, tuple[int, ...]], whole: set[int], worker: int
) -> list[Any]:
    """The arrays as one worker sees them: its own piece of scratch, the rest shared."""
    mine = list(arrays)
    for k, shape in shapes.items():
        count = int(np.prod(shape))
        skip = 0 if k in whole else worker * count
        mine[k] = arrays[k].reshape(-1)[skip : skip + count].reshape(shape)
    return mine


def _cut(array: Any, axis: int, piece: slice, extent: int) -> Any:
    if not isinstance(array, np.ndarray) or array.ndim <= axis or array.shape[axis] == 1 != extent:
        return array
    return array[(slice(None),) * axis + (piece,)]
