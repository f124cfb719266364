"""Compare: how two arrays that should hold the same numbers differ, beyond rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.dtypes import DType, is_float

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Difference:
    """Where two arrays differ most: the place, what is there, and by how much they may differ."""

    place: tuple[int, ...]
    found: Any
    wanted: Any
    largest: float
    allowed: float

    def __str__(self) -> str:
        at = f" at {self.place}" if self.place else ""
        return (
            f"max difference {self.largest:.4g}{at}: {self.found!s} instead of {self.wanted!s}, "
            f"allowed {self.allowed:.4g}"
        )


def tolerance(dtype: DType) -> tuple[float, float]:
    """How far results of this dtype may be apart, relative to the largest, and absolutely.

    Some thousand times the rounding of one operation, as sums add it up; nothing for integers.
    """
    if not is_float(dtype):
        return 0.0, 0.0
    return {2: (2e-2, 1e-3), 4: (1e-4, 1e-6), 8: (1e-9, 1e-12)}[dtype.itemsize]


def compare(
    found: Array, wanted: Array, rtol: float | None = None, atol: float | None = None
) -> Difference | None:
    """Where `found` and `wanted` are furthest apart, or None if that is within the tolerance.

    The tolerance is `rtol` times the largest finite value wanted, plus `atol`; by dtype where not
    given. NaN equals NaN, and infinity an infinity of its sign. Shapes must be the same.
    """
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    relative, absolute = tolerance(wanted.dtype)
    same = (found == wanted) | ((found != found) & (wanted != wanted))
    if same.all():
        return None
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(b)
    scale = float(np.abs(b[finite]).max(initial=0.0))
    allowed = scale * (relative if rtol is None else rtol) + (absolute if atol is None else atol)
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(a - b))
    apart[np.isnan(apart)] = np.inf
    # Large integers may differ by less than their difference in float64 can tell.
    apart[~same & (apart == 0)] = np.finfo(float).tiny
    worst = int(apart.argmax())
    largest = float(apart.flat[worst])
    if largest <= allowed:
        return None
    place = tuple(int(i) for i in np.unravel_index(worst, apart.shape))
    return Difference(place, found[place], wanted[place], largest, allowed)
