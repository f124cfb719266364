"""Dataset: images and their labels, immutable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepgraph.data.batch import Batches, Seed, batches
from deepgraph.data.errors import DataError
from deepgraph.data.scaler import Scaler


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Dataset:
    """Examples `x` and their labels `t`, row by row.

    `x` becomes float32 with one example a row, images as (n, channels, height, width); `t` becomes
    int64 of shape (n,), indices into `classes` where those are named. Both are read-only views:
    nothing written to a batch or to a part of the set reaches the set. `source` says where the
    data came from. Raises DataError where the arrays do not fit each other or the classes.

    `train[:100]`, `train[indices]` and `train[train.t == 3]` are data sets again.
    """

    x: NDArray[np.float32]
    t: NDArray[np.int64]
    name: str
    classes: tuple[str, ...]
    source: str

    def __init__(
        self,
        x: ArrayLike,
        t: ArrayLike,
        name: str = "data",
        classes: Sequence[str] = (),
        source: str = "",
    ) -> None:
        x, t = np.asarray(x, dtype=np.float32), np.asarray(t)
        if x.ndim == 0 or t.ndim != 1 or len(x) != len(t):
            raise DataError(
                f"{name}: needs one label a row: x has shape {x.shape}, t has shape {t.shape}"
            )
        if not np.issubdtype(t.dtype, np.integer):
            raise DataError(
                f"{name}: labels are integers: t has dtype {t.dtype}; "
                "for other targets use data.batches((x, t), size)"
            )
        if classes and len(t) and not 0 <= t.min() <= t.max() < len(classes):
            raise DataError(
                f"{name}: labels are out of range: {t.min()} to {t.max()}, "
                f"with {len(classes)} classes"
            )
        x, t = x.view(), t.astype(np.int64, copy=False).view()
        x.flags.writeable = t.flags.writeable = False
        values = {"x": x, "t": t, "name": name, "classes": tuple(classes), "source": source}
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(
        self, index: SupportsIndex | slice | Sequence[int] | NDArray[np.integer[Any] | np.bool_]
    ) -> Dataset:
        """Some of the rows as a data set: an index, a slice, a list of indices or a mask."""
        rows = _rows(index)
        return replace(self, x=self.x[rows], t=self.t[rows])

    def __iter__(self) -> Iterator[NoReturn]:
        raise TypeError(
            f"{self.name}: a data set is not walked row by row: "
            "write `for x, t in dataset.batches(size)`, or use dataset.x and dataset.t"
        )

    def batches(
        self, size: int, shuffle: bool = False, seed: Seed = 0, drop_last: bool = False
    ) -> Batches:
        """Batches (x, t) of `size` rows, shuffled or in order; see `deepgraph.data.batches`."""
        return batches((self.x, self.t), size, shuffle=shuffle, seed=seed, drop_last=drop_last)

    def flat(self) -> Dataset:
        """The same set with each example as one vector: x of shape (n, features)."""
        return replace(self, x=self.x.reshape(len(self), int(np.prod(self.x.shape[1:]))))

    def scaled(self, scaler: Scaler) -> Dataset:
        """The same set with `scaler` applied to x."""
        return replace(self, x=scaler.transform(self.x))

    def normalized(self, mean: ArrayLike, std: ArrayLike) -> Dataset:
        """The same set with x as (x - mean) / std; each a number, or one number a channel."""
        return self.scaled(Scaler(mean, std))

    def standardized(self) -> tuple[Dataset, Scaler]:
        """The set with mean 0 and deviation 1 in each channel, and the scaler that did it.

        Give the test set the statistics of the training set:
        `train, scaler = train.standardized()`, then `test = test.scaled(scaler)`.
        """
        scaler = Scaler.standard(self.x)
        return self.scaled(scaler), scaler

    def __repr__(self) -> str:
        one = f"{self.x.dtype}[{', '.join(map(str, self.x.shape[1:]))}]"
        classes = f", {len(self.classes)} classes" if self.classes else ""
        source = f", from {self.source}" if self.source else ""
        return f"Dataset({self.name}: {len(self):,} of {one}{classes}{source})"


Pair = tuple[Dataset, Dataset]


def from_pixels(
    pixels: NDArray[np.uint8],
    labels: NDArray[np.integer[Any]],
    *,
    white: int,
    name: str,
    classes: tuple[str, ...],
    source: str,
) -> Dataset:
    """A set from pixels 0 to `white` of shape (n, channels, height, width), scaled to [0, 1]."""
    x = np.divide(pixels, np.float32(white), dtype=np.float32)
    return Dataset(x, labels.astype(np.int64), name, classes, source)


def _rows(index: Any) -> slice | NDArray[Any]:
    if isinstance(index, slice):
        return index
    rows = np.atleast_1d(index)
    if rows.size == 0:
        rows = rows.astype(np.intp)  # an empty list is of floats
    if rows.ndim != 1 or rows.dtype.kind not in "iub":
        raise TypeError(
            "dataset: rows are chosen by an integer, a slice, a list of integers or a mask: "
            f"got {index!r}"
        )
    return rows
