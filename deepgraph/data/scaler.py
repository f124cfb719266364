"""Scaler: an affine map fitted to one set and applied to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepgraph.data.errors import DataError


@dataclass(frozen=True, eq=False, init=False)
class Scaler:
    """The map x -> (x - offset) / scale, with one offset and scale a channel, or one for all.

    Channels are axis 1: features of an (n, features) array, colours of (n, channels, height,
    width). Floating x keeps its dtype, anything else becomes float32. Fit it to the training set
    and use it on both: `scaler = Scaler.standard(train.x)`, then `test.scaled(scaler)`.
    """

    offset: NDArray[np.float64]
    scale: NDArray[np.float64]

    def __init__(self, offset: ArrayLike, scale: ArrayLike) -> None:
        for field, value in (("offset", offset), ("scale", scale)):
            array = np.array(value, dtype=np.float64)
            if array.ndim > 1:
                raise DataError(
                    f"scaler: {field} is a number, or one a channel: got shape {array.shape}"
                )
            array.flags.writeable = False
            object.__setattr__(self, field, array)
        if np.any(self.scale == 0):
            raise DataError(f"scaler: cannot divide by zero: scale is {self.scale}")

    @classmethod
    def standard(cls, x: ArrayLike) -> Scaler:
        """The scaler that gives each channel of `x` mean 0 and standard deviation 1.

        Statistics are taken in float64. A constant channel becomes 0.
        """
        x, axes, constant = _channels(x)
        mean = x.mean(axis=axes, dtype=np.float64)
        return cls(mean, np.where(constant, 1.0, x.std(axis=axes, dtype=np.float64)))

    @classmethod
    def uniform(cls, x: ArrayLike, low: float = 0.0, high: float = 1.0) -> Scaler:
        """The scaler that stretches each channel of `x` over [low, high], up to rounding.

        A constant channel becomes `low`.
        """
        if not low < high:
            raise DataError(f"scaler: the range is empty: low {low}, high {high}")
        x, axes, constant = _channels(x)
        smallest = x.min(axis=axes).astype(np.float64)
        scale = np.where(constant, 1.0, (x.max(axis=axes) - smallest) / (high - low))
        return cls(smallest - low * scale, scale)

    def transform(self, x: ArrayLike) -> NDArray[Any]:
        """A new array (x - offset) / scale."""
        x = _floating(x)
        scaled: NDArray[Any] = x - _per_channel(self.offset, x)
        scaled /= _per_channel(self.scale, x)
        return scaled

    def inverse(self, x: ArrayLike) -> NDArray[Any]:
        """A new array x * scale + offset: what `transform` was given, up to rounding."""
        x = _floating(x)
        restored: NDArray[Any] = x * _per_channel(self.scale, x)
        restored += _per_channel(self.offset, x)
        return restored


def _floating(x: ArrayLike) -> NDArray[Any]:
    array = np.asarray(x)
    return array if array.dtype.kind == "f" else array.astype(np.float32)


def _channels(x: ArrayLike) -> tuple[NDArray[Any], tuple[int, ...], NDArray[np.bool_]]:
    array = _floating(x)
    if array.size == 0:
        raise DataError(f"scaler: nothing to fit: x has shape {array.shape}")
    axes = tuple(axis for axis in range(array.ndim) if axis != 1)
    # Told by the values: a deviation computed from a rounded mean is seldom exactly zero.
    return array, axes, array.max(axis=axes) == array.min(axis=axes)


def _per_channel(value: NDArray[np.float64], x: NDArray[Any]) -> NDArray[Any]:
    if value.ndim and (x.ndim < 2 or x.shape[1] != len(value)):
        raise DataError(f"scaler: fitted to {len(value)} channels: x has shape {x.shape}")
    return value.reshape(value.shape + (1,) * (x.ndim - 2) * value.ndim).astype(x.dtype)
