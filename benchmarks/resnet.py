"""ResNet, written once in terms of what each library calls its functions.

He et al. 2016, with the stem for large images; batch normalisation by the batch, as in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
STAGES = (64, 128, 256, 512)
EPSILON = 1e-5


class Functions(Protocol):
    """What a library brings: over its arrays, or over expressions."""

    def conv(self, x: Any, w: Any, stride: int, padding: int) -> Any:
        """Without a bias; images are (batch, channel, height, width)."""
        ...

    def norm(self, x: Any, w: Any, b: Any) -> Any:
        """Each channel by its mean and variance in the batch."""
        ...

    def relu(self, x: Any) -> Any:
        """max(x, 0)."""
        ...

    def pool(self, x: Any) -> Any:
        """The greatest of windows of 3 by 3 at every second place, padded by one."""
        ...

    def mean(self, x: Any) -> Any:
        """Over height and width."""
        ...

    def dense(self, x: Any, w: Any, b: Any) -> Any:
        """x @ w + b."""
        ...


def weights(
    channels: int, blocks: Sequence[int], classes: int, rng: np.random.Generator
) -> list[Array]:
    """Filters, scales and shifts in the order in which `scores` takes them, by He et al. 2015."""
    found: list[Array] = []

    def layer(filters: int, inputs: int, kernel: int) -> None:
        drawn = rng.standard_normal((filters, inputs, kernel, kernel), np.float32)
        found.append(drawn * np.float32(np.sqrt(2 / (inputs * kernel**2))))
        found.extend((np.ones(filters, np.float32), np.zeros(filters, np.float32)))

    layer(STAGES[0], channels, 7)
    for inputs, filters, _ in _blocks(blocks):
        layer(filters, inputs, 3)
        layer(filters, filters, 3)
        if inputs != filters:
            layer(filters, inputs, 1)
    last = STAGES[len(blocks) - 1]
    found.append(rng.standard_normal((last, classes), np.float32) / np.float32(np.sqrt(last)))
    return [*found, np.zeros(classes, np.float32)]


def scores(f: Functions, blocks: Sequence[int], given: Sequence[Any], x: Any) -> Any:
    """What the last layer says of images x."""
    left = iter(given)

    def layer(x: Any, stride: int, padding: int) -> Any:
        return f.norm(f.conv(x, next(left), stride, padding), next(left), next(left))

    x = f.pool(f.relu(layer(x, 2, 3)))
    for inputs, filters, stride in _blocks(blocks):
        y = layer(f.relu(layer(x, stride, 1)), 1, 1)
        x = f.relu(y + (layer(x, stride, 0) if inputs != filters else x))
    return f.dense(f.mean(x), next(left), next(left))


def _blocks(counts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Channels in and out, and the stride, of each block."""
    for (before, filters), count in zip(
        pairwise((STAGES[0], *STAGES)), counts, strict=False
    ):  # fmt: skip
        yield before, filters, 1 if filters == before else 2
        yield from [(filters, filters, 1)] * (count - 1)
