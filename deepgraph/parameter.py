"""Parameter: an Expr that owns its storage, read and updated by every step that names it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.arena import taken
from deepgraph.dims import pretty
from deepgraph.dtypes import DEFAULT_FLOAT, as_dtype
from deepgraph.errors import DTypeError, GraphError, Origin, ShapeError, here
from deepgraph.expr import OPS, Expr, explained

_count = itertools.count()


class Parameter(Expr):
    """A value that outlives the call of a step: weights, an optimiser's state, a counter.

    `value` is an array, nested lists or a number (a Python float becomes float32). `rate` and
    `decay` scale the optimiser's learning rate and weight decay for this parameter alone. The
    storage is written into, never replaced, so steps may keep its address. `tied` to another
    parameter it would be the same object: use that object twice, and gradients add up.

    >>> w = Parameter([[1.0, 2.0]], name="w", dtype="float32")
    >>> w.value
    array([[1., 2.]], dtype=float32)
    """

    __slots__ = ("_newest", "copies", "decay", "lock", "rate", "serial")

    rate: float
    decay: float
    lock: threading.RLock
    serial: int  # the order of locking, so that two calls never wait for each other
    copies: dict[str, Any]  # the storage on each device
    _newest: str  # the device that was written last; "" if all agree

    def __init__(
        self, value: Any, name: str = "", dtype: Any = None, rate: float = 1.0, decay: float = 1.0
    ) -> None:
        origin = here()
        try:
            array = _first(value, dtype)
        except GraphError as error:
            raise explained(error, "parameter", origin) from None
        serial = next(_count)
        attrs = (name or f"parameter{serial}", array.shape, array.dtype)
        super().__init__(OPS["parameter"], (), attrs, array.shape, array.dtype, origin)
        put = object.__setattr__
        put(self, "rate", rate)
        put(self, "decay", decay)
        put(self, "lock", threading.RLock())
        put(self, "serial", serial)
        put(self, "copies", {"cpu": array})
        put(self, "_newest", "cpu")

    def storage(
        self, device: str = "cpu", move: Callable[[npt.NDArray[Any]], Any] | None = None
    ) -> Any:
        """The live array on `device`, brought up to date by `move` if another is newer."""
        copies = self.copies
        if device not in copies:
            assert move is not None, f"no storage on {device}"
            copies[device] = move(self._host())
        elif self._newest not in (device, ""):
            newer = self._host()
            copies[device][...] = newer if move is None else move(newer)
            object.__setattr__(self, "_newest", "")  # all copies agree
        return copies[device]

    def written(self, device: str = "cpu") -> None:
        """Say that a step wrote the storage on `device`: the other copies are older now."""
        if len(self.copies) > 1:
            object.__setattr__(self, "_newest", device)

    def _host(self) -> npt.NDArray[Any]:
        array = self.copies[self._newest or "cpu"]
        return array if isinstance(array, np.ndarray) else np.asarray(array.get())

    @property
    def value(self) -> npt.NDArray[Any]:
        """A copy of what the parameter holds now."""
        with self.lock:
            return np.array(self._host())

    @value.setter
    def value(self, value: Any) -> None:
        self.assign(value)

    def __setattr__(self, name: str, value: Any) -> None:  # type: ignore[override]
        if name == "value":
            self.assign(value)
        elif name in ("rate", "decay"):
            object.__setattr__(self, name, float(value))
        else:
            super().__setattr__(name, value)

    def assign(self, value: Any) -> None:
        """Write a value of the same shape into the storage; another kind of dtype raises."""
        array = np.asarray(value)
        if array.shape != self.shape:
            shapes = f"{pretty(array.shape)} into {self!r}"
            raise ShapeError(f"assign: shapes differ: {shapes}")
        same_kind = np.can_cast(array.dtype, self.dtype, "same_kind")
        if not same_kind and not isinstance(value, bool | int | float | list):
            raise DTypeError(f"assign: dtypes differ: {array.dtype} into {self!r}; use .astype")
        with self.lock:
            self.storage()[...] = array
            self.written()

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self.value, self.name, self.rate, self.decay, self.origin)


def _remade(
    value: npt.NDArray[Any], name: str, rate: float, decay: float, origin: Origin
) -> Parameter:
    parameter = Parameter(value, name, value.dtype, rate, decay)
    object.__setattr__(parameter, "origin", origin)
    return parameter


def _first(value: Any, dtype: Any) -> npt.NDArray[Any]:
    """What a parameter starts from: a copy of its own, of whose vectors none lies in two lines."""
    if isinstance(value, Expr):
        raise DTypeError("starts from numbers: got an expression; update it instead")
    if dtype is None and isinstance(value, float) and not isinstance(value, np.generic):
        dtype = DEFAULT_FLOAT
    wanted = None if dtype is None else as_dtype(dtype)
    try:
        array = np.asarray(value, wanted, order="C")
    except (TypeError, ValueError):
        raise DTypeError(f"starts from an array or numbers: got {value!r}") from None
    as_dtype(array.dtype)
    copy = taken(array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
