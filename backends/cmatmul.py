"""Matrix products as C: each thread multiplies a slice, with BLAS where BLAS can."""

from __future__ import annotations

from contextlib import ExitStack

from deepgraph.backends import toolchain
from deepgraph.backends.ccalls import CallWriter, template
from deepgraph.backends.cfunction import offset
from deepgraph.backends.clike import size
from deepgraph.dims import same
from deepgraph.expr import Expr, Strided


def _takes(node: Expr) -> bool:
    """Operands of one dtype; of floats only where there is a BLAS: NumPy's beats plain loops."""
    alike = all(x.dtype == node.dtype for x in node.inputs)
    return alike and (node.dtype.name not in ("float32", "float64") or toolchain.blas() is not None)


@template("matmul", takes=_takes)
def matmul(out: CallWriter) -> None:
    """A loop over what is left of the batch where its rows do not make one tall matrix."""
    out.include("matmul.h")
    x, y, z = _matrices(out.loads[0].at, out.loads[1].at, out.store.at)
    batch = range(len(z.shape) - 2)
    with out.function(), ExitStack() as loops:
        if batch:
            out.share(size(z.shape[0]))
        for axis in batch:
            low, high = ("low", "high") if axis == 0 else ("0", size(z.shape[axis]))
            loops.enter_context(out.loop(f"i{axis}", low, high))
        slices = "0, 1" if batch else "me, count"
        extents = ", ".join(map(size, (z.shape[-2], z.shape[-1], x.shape[-1])))
        operands = ", ".join(
            f"{name} + {_start(at, len(batch))}, {size(at.strides[-2])}, {size(at.strides[-1])}"
            for name, at in (("a0", x), ("a1", y), ("y0", z))
        )
        out.add(f"dg_matmul_{out.node.dtype.name}(call, {slices}, {extents}, {operands});")


def _start(at: Strided, batch: int) -> str:
    """Where the matrix of this step of the batch lies; the axes of batches align at the right."""
    lead = at.shape[:-2]
    strides = [0] * (batch - len(lead)) + [
        0 if same(n, 1) else s for n, s in zip(lead, at.strides, strict=False)
    ]
    return offset(Strided((1,) * batch, tuple(strides), at.offset))


def _matrices(x: Strided, y: Strided, z: Strided) -> tuple[Strided, Strided, Strided]:
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
