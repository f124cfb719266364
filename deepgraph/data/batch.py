"""Batches: arrays of one length, some rows at a time."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepgraph.data.errors import DataError

Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence | np.random.Generator | None


class Batches:
    """An iterable of tuples, each with the same rows of every array; `len` counts the batches.

    Iterating again gives the same batches in the same order. A batch is a fresh contiguous copy:
    writing into it changes neither the arrays nor any other batch.
    """

    def __init__(
        self,
        arrays: Sequence[ArrayLike],
        size: int,
        *,
        shuffle: bool = False,
        seed: Seed = 0,
        drop_last: bool = False,
    ) -> None:
        if not isinstance(arrays, tuple | list):
            raise TypeError(
                f"batches: needs a tuple of arrays: got {type(arrays).__name__}; "
                "write (x,) for a single one"
            )
        self.arrays: tuple[NDArray[Any], ...] = tuple(np.asarray(array) for array in arrays)
        shapes = [array.shape for array in self.arrays]
        if len({shape[:1] for shape in shapes}) != 1 or not shapes[0]:
            raise DataError(f"batches: arrays need one common length: got shapes {shapes}")
        self.size = operator.index(size)
        if self.size < 1:
            raise DataError(f"batches: size must be 1 or more: got {size}")
        self.drop_last = drop_last
        # Drawn once: whatever the seed is (None, a Generator), every iteration has one order.
        self.order = _generator(seed).permutation(self._rows) if shuffle else None

    @property
    def _rows(self) -> int:
        return len(self.arrays[0])

    def __len__(self) -> int:
        return self._rows // self.size if self.drop_last else -(-self._rows // self.size)

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        for start in range(0, len(self) * self.size, self.size):
            rows = slice(start, start + self.size)
            if self.order is None:
                yield tuple(array[rows].copy() for array in self.arrays)
            else:
                picked = self.order[rows]
                yield tuple(np.ascontiguousarray(array[picked]) for array in self.arrays)

    def __repr__(self) -> str:
        order = "in order" if self.order is None else "shuffled"
        return f"Batches({len(self):,} of {self.size}, {self._rows:,} rows {order})"


def batches(
    arrays: Sequence[ArrayLike],
    size: int,
    shuffle: bool = False,
    seed: Seed = 0,
    drop_last: bool = False,
) -> Batches:
    """Batches of `size` rows of arrays that share their first axis, as tuples.

    `shuffle` takes the rows in the order `np.random.default_rng(seed).permutation(n)`: the same
    seed, the same order. A loop over epochs passes the epoch, `seed=(seed, epoch)`. The last batch
    is smaller where `size` does not divide the rows, or left out with `drop_last`.
    """
    return Batches(arrays, size, shuffle=shuffle, seed=seed, drop_last=drop_last)


def _generator(seed: Seed) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise DataError(f"batches: seed must be what default_rng takes: got {seed!r}") from error
