"""Elementwise functions that no ufunc computes, or none as fast, from arrays into `out`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_CHUNK = 16384  # elements: what stays in the cache while several ufuncs pass over it


def _chunks(inputs: Sequence[Any], out: Array, dtypes: Sequence[Any]) -> np.nditer:
    """Vectors of the inputs, broadcast and converted, and of `out`, a piece of each at a time."""
    access: list[Any] = [["readonly"]] * len(inputs) + [["writeonly"]]
    return np.nditer(
        [*inputs, out], ["external_loop", "buffered", "zerosize_ok"], access, dtypes,
        casting="unsafe", buffersize=_CHUNK,
    )  # fmt: skip


def where(condition: Any, x: Any, y: Any, out: Array) -> None:
    """`x` where the condition holds, else `y`, bit for bit; `out` may be one of them.

    A bit pattern times a mask is the pattern or 0, and y ^ (x ^ y) * mask is x or y: integer
    arithmetic at the speed of memory, where np.where takes a branch at each element.
    """
    if out.size <= 1024:
        np.copyto(out, np.where(condition, x, y), casting="unsafe")
        return
    bits = f"i{out.itemsize}"
    if isinstance(x, np.ndarray) and x.dtype == out.dtype and _is_zero(y, out.dtype):
        np.multiply(x.view(bits), condition, out=out.view(bits))
        return
    spare = np.empty(min(_CHUNK, out.size), bits)
    with _chunks([condition, x, y], out, [bool, *[out.dtype] * 3]) as chunks:
        for mask, a, b, result in chunks:
            mixed, b = spare[: mask.size], b.view(bits)
            np.bitwise_xor(a.view(bits), b, out=mixed)
            np.multiply(mixed, mask, out=mixed)
            np.bitwise_xor(mixed, b, out=result.view(bits))


def _is_zero(value: Any, dtype: np.dtype[Any]) -> bool:
    """Is it one number whose bits are all 0, as -0.0's are not?"""
    return np.ndim(value) == 0 and not any(np.asarray(value, dtype).tobytes())


# erf(x) = 1 - exp(-x q(x)) for x >= 0, where q = -log(erfc(x)) / x is so smooth that a quotient of
# polynomials follows it everywhere, and errors in q shrink on their way through. Coefficients by a
# weighted minimax fit (Lawson's algorithm in 80 digits): errors of erf below 2**-58 up to 5.95, and
# 2**-32 up to 3.95. Beyond, erf rounds to 1. All are positive, so that nothing cancels.
_ERF64 = (
    (1.1283791670955126, 2.522553499805919, 2.668789790955925, 1.713319346327164,
     0.7198391534023078, 0.19969803797026245, 0.03493531875744353, 0.0033645064355878745,
     0.00011820140127414056),
    (1.0, 1.671365248875337, 1.331106659154393, 0.6321176764793205, 0.1885882581950985,
     0.03437681563629037, 0.0033620663287405143, 0.00011822244009810864),
    6.0,
)  # fmt: skip
_ERF32 = (
    (1.1283791673392274, 1.5174823460417066, 0.914275259857205, 0.2805850516189209,
     0.03723590996848414),
    (1.0, 0.7806441570575893, 0.27874368930823473, 0.03725260821420436),
    4.0,
)  # fmt: skip


def erf(x: Any, out: Array) -> None:
    """The error function, within 4 units in the last place; float16 is computed in float32."""
    work = np.float64 if out.itemsize == 8 else np.float32
    above, below, bound = _ERF64 if work is np.float64 else _ERF32
    spare = np.empty((3, min(_CHUNK, max(out.size, 1))), work)
    with _chunks([x], out, [work, work]) as chunks:
        for u, result in chunks:
            a, p, q = spare[:, : u.size]
            np.minimum(np.absolute(u, out=a), bound, out=a)
            np.divide(_polynomial(above, a, p), _polynomial(below, a, q), out=p)
            np.expm1(np.negative(np.multiply(p, a, out=p), out=p), out=p)
            np.copysign(p, u, out=result)


def _polynomial(coefficients: Sequence[float], x: Array, out: Array) -> Array:
    """Horner's rule; coefficients from the constant up."""
    np.multiply(x, coefficients[-1], out=out)
    for c in coefficients[-2:0:-1]:
        np.multiply(np.add(out, c, out=out), x, out=out)
    return np.add(out, coefficients[0], out=out)
