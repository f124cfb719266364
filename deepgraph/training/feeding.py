"""Feeding: a data set to a step, batch by batch, and the means of the metrics that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from deepgraph.data import Dataset, batches
from deepgraph.errors import ArgumentError

Batch: TypeAlias = Sequence[Any] | Mapping[str, Any]
Data: TypeAlias = Dataset | tuple[Any, ...] | Iterable[Batch] | Callable[[int], Iterable[Batch]]
FEEDS = ("x", "t")  # what a data set calls its parts


class Means:
    """The means so far of the metrics that a step gives, a batch counting by its examples."""

    def __init__(self, step: Callable[..., Any], feeds: Sequence[str]) -> None:
        self.examples = 0
        self._step = step
        self._feeds = feeds
        self._sums: dict[str, float] = {}

    def take(self, batch: Batch) -> None:
        """Call the step with a batch. Raises ArgumentError unless it gives numbers by name."""
        fed = _named(batch, self._feeds)
        metrics = self._step(**fed)
        examples = len(next(iter(fed.values())))
        if not isinstance(metrics, Mapping):
            raise ArgumentError(
                f"metrics have names: got {type(metrics).__name__}; "
                'write dg.compile({"loss": loss}, ...)'
            )
        for name, value in metrics.items():
            if np.ndim(value):
                raise ArgumentError(
                    f"metrics are numbers: got {name} of shape {np.shape(value)}; "
                    "write dg.mean, or leave it out of what the step gives"
                )
            self._sums[name] = self._sums.get(name, 0.0) + examples * float(value)
        self.examples += examples

    @property
    def values(self) -> dict[str, float]:
        """Each metric's mean."""
        return {name: total / self.examples for name, total in self._sums.items()}


def evaluate(
    step: Callable[..., Any], test: Data, *, batch: int = 500, feeds: Sequence[str] = FEEDS
) -> dict[str, float]:
    """The means over a data set of the metrics that a step gives by name.

    The last batch counts by its examples, so the means do not depend on `batch`, beyond rounding.
    `test` and `feeds` are as in `fit`.
    """
    means = Means(step, feeds)
    for given in batched(test, batch):
        means.take(given)
    if not means.examples:
        raise ArgumentError(f"evaluate: there are no batches: got {test!r}")
    return means.values


def batched(
    given: Data, size: int, seed: tuple[int, int] | None = None, epoch: int = 0
) -> Iterable[Batch]:  # fmt: skip
    """The batches of an epoch: a data set's or a tuple's of `size`, shuffled if there is a seed."""
    arrays = (given.x, given.t) if isinstance(given, Dataset) else given
    if isinstance(arrays, tuple):
        return batches(arrays, size, shuffle=seed is not None, seed=seed)
    return arrays(epoch) if callable(arrays) else arrays


def length(given: Data) -> int | None:
    """How many examples there are, where that is known beforehand."""
    if isinstance(given, Dataset):
        return len(given)
    return len(given[0]) if isinstance(given, tuple) else None


def _named(batch: Batch, feeds: Sequence[str]) -> Mapping[str, Any]:
    """The arrays of a batch by the names under which a step takes them."""
    if isinstance(batch, Mapping):
        return batch
    if len(batch) != len(feeds):
        raise ArgumentError(
            f"a batch has an array for each feed: got {len(batch)} arrays for "
            f"{', '.join(feeds)}; name all of them, as in feeds=('x', 'mask', 't')"
        )
    return dict(zip(feeds, batch, strict=True))
