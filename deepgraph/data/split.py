"""A fixed split for sets that come without one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def stratified(
    labels: NDArray[np.integer[Any]], test: int, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Shuffled indices of a training and a test part, each class with its share in both.

    The `test` places go to the classes in proportion to their sizes, by largest remainder. The
    same labels and seed give the same split with every NumPy.
    """
    # RandomState, because NEP 19 freezes its streams for good and those of Generator not.
    random = np.random.RandomState(seed)
    order = random.permutation(len(labels))
    classes, counts = np.unique(labels, return_counts=True)
    shares = counts * test / len(labels)
    quota = np.floor(shares).astype(np.intp)
    quota[np.argsort(quota - shares, kind="stable")[: test - quota.sum()]] += 1
    chosen = np.zeros(len(labels), dtype=bool)
    for value, size in zip(classes, quota, strict=True):
        chosen[order[labels[order] == value][:size]] = True
    # Shuffled anew: in the first order, what remains to train begins with the classes first filled.
    return random.permutation(np.flatnonzero(~chosen)), random.permutation(np.flatnonzero(chosen))
