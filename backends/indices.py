"""Indices that a step reads, as text for C and CUDA: where they point, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deepgraph.backends.cfunction import parenthesised
from deepgraph.backends.clike import size
from deepgraph.dims import Size, same
from deepgraph.expr import Strided
from deepgraph.schedule import Access


class Check(NamedTuple):
    """The load that holds indices, the first number past them, and the error of a bad one."""

    load: int
    n: Size
    negative: bool  # may they count from the end?
    error: str

    @property
    def range(self) -> str:
        """From where to where they may go."""
        n = size(self.n)
        return f"{f'-{parenthesised(n)}' if self.negative else 0}, {n}"


def index_check(loads: Sequence[Access], load: int, n: Size, axis: int) -> Check:
    """Indices into an axis."""
    negative = loads[load].value.dtype.kind == "i"
    return Check(load, n, negative, f"lib.bad_index({_bad(loads[load])}, bad[2], {axis})")


def value_check(loads: Sequence[Access], n: Size, what: str) -> Check:
    """Values that are no indices yet, of the first load."""
    return Check(0, n, False, f"lib.bad_value({_bad(loads[0])}, bad[2], {what!r})")


def _bad(access: Access) -> str:
    """The index that was found, which travels as int64."""
    return "bad[1] % 2**64" if access.value.dtype.name == "uint64" else "bad[1]"


def position(load: int, at: str, n: Size) -> str:
    """An element of a load, counted from the front of an axis of this size."""
    return f"dg_position((int64_t)a{load}[{at}], {size(n)})"


def broadcast(at: Strided, y: Strided) -> Strided:
    """As the axes of y, which align at the right, step through it."""
    lead = len(y.shape) - len(at.shape)
    strides = (0 if same(n, 1) else s for n, s in zip(at.shape, at.strides, strict=True))
    return Strided(y.shape, (*[0] * lead, *strides), at.offset)
