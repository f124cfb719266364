"""Operands of products as matrices, whatever their ranks."""

from __future__ import annotations

from deepgraph.backends.cfunction import offset
from deepgraph.dims import same
from deepgraph.expr import Strided


def matrices(x: Strided, y: Strided, z: Strided) -> tuple[Strided, Strided, Strided]:
    """Vectors as matrices of one row or column; a batch of rows as one matrix, where it is."""
    if len(x.shape) == 1:
        x, z = _inserted(x, 0), _inserted(z, len(z.shape) - (len(y.shape) > 1))
    if len(y.shape) == 1:
        y, z = _inserted(y, 1), _inserted(z, len(z.shape))
    while len(z.shape) > 2 and len(y.shape) == 2 and _joins(x) and _joins(z):
        x, z = _joined(x), _joined(z)
    return x, y, z


def _inserted(at: Strided, axis: int) -> Strided:
    return Strided((*at.shape[:axis], 1, *at.shape[axis:]),
                   (*at.strides[:axis], 0, *at.strides[axis:]), at.offset)  # fmt: skip


def _joins(at: Strided) -> bool:
    """Do the rows of a batch follow each other evenly?"""
    return len(at.shape) > 2 and same(at.strides[-3], at.strides[-2] * at.shape[-2])


def _joined(at: Strided) -> Strided:
    shape = (*at.shape[:-3], at.shape[-3] * at.shape[-2], at.shape[-1])
    return Strided(shape, (*at.strides[:-3], *at.strides[-2:]), at.offset)


def start(at: Strided, batch: int) -> str:
    """Where the matrix of this step of the batch lies; the axes of batches align at the right."""
    lead = at.shape[:-2]
    strides = [0] * (batch - len(lead)) + [
        0 if same(n, 1) else s for n, s in zip(lead, at.strides, strict=False)
    ]
    moved = offset(Strided((1,) * batch, tuple(strides), at.offset))
    return "" if moved == "0" else f" + {moved}"
