"""Device: where a program's arrays live, and what is asked of it beside running steps."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol

import numpy as np

Convert = Callable[[str, Any, np.dtype[Any]], Any]  # a feed's name, value and dtype -> NumPy array


class Device(Protocol):
    """Memory and a clock. `xp` is the module of its arrays, which is like NumPy."""

    device: str  # as parameters know it
    xp: Any

    def bring(self, name: str, given: Any, dtype: np.dtype[Any], convert: Convert) -> Any:
        """A feed as a contiguous, aligned array of `dtype`; `convert` makes one of NumPy's."""
        ...

    def empty(self, shape: Any, dtype: Any) -> Any:
        """A new array whose elements may be anything."""
        ...

    def array(self, value: Any) -> Any:
        """A copy of an array on the device."""
        ...

    def host(self, array: Any) -> Any:
        """A copy of a device's array, as NumPy's."""
        ...

    def plain(self, array: Any) -> bool:
        """May kernels write into an array as it is: contiguous, aligned, and nobody's constant?"""
        ...

    def mark(self) -> Any:
        """This moment in the device's work."""
        ...

    def seconds(self, first: Any, last: Any) -> float:
        """The time between two marks."""
        ...


class Host:
    """The processor, whose arrays are NumPy's."""

    device = "cpu"
    xp: Any = np

    def bring(self, name: str, given: Any, dtype: np.dtype[Any], convert: Convert) -> Any:
        """What `convert` makes."""
        return convert(name, given, dtype)

    def empty(self, shape: Any, dtype: Any) -> Any:
        """A new array."""
        return np.empty(shape, dtype)

    def array(self, value: Any) -> Any:
        """A copy."""
        return np.array(value, order="C")

    def host(self, array: Any) -> Any:
        """A copy."""
        return np.array(array)

    def plain(self, array: Any) -> bool:
        """Contiguous, aligned and writable."""
        return bool(array.flags.carray)

    def mark(self) -> Any:
        """The time."""
        return perf_counter()

    def seconds(self, first: Any, last: Any) -> float:
        """The time between two marks."""
        return float(last - first)


HOST = Host()
