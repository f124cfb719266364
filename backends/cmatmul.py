"""Matrix products as C: each thread multiplies a slice."""

from __future__ import annotations

from contextlib import ExitStack

from deepgraph.backends.ccalls import CallWriter, template
from deepgraph.backends.cepilogue import EpilogueWriter
from deepgraph.backends.cfunction import times
from deepgraph.backends.clike import memory_type, size
from deepgraph.backends.matrices import matrices, start
from deepgraph.dims import same
from deepgraph.expr import Expr, Strided

_FLOATS = ("float32", "float64")


def _takes(node: Expr) -> bool:
    """Operands of one dtype."""
    return all(x.dtype == node.dtype for x in node.inputs)


def epilogue(node: Expr) -> bool:
    """Can elementwise work on the result be part of the kernel? On that of two matrices of floats.

    Not if one side is known to be 1: a vector's work is small.
    """
    if node.op.name != "matmul" or node.dtype.name not in _FLOATS or not _takes(node):
        return False
    return all(x.ndim == 2 for x in node.inputs) and not any(same(n, 1) for n in node.shape)


@template("matmul", takes=_takes)
def matmul(out: CallWriter) -> None:
    """A loop over what is left of the batch where its rows do not make one tall matrix."""
    out.include("matmul.h")
    if out.epilogue:
        _sliced(out, out.epilogue)
        return
    x, y, z = matrices(out.loads[0].at, out.loads[1].at, out.store.at)
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
            f"{name}{start(at, len(batch))}, {size(at.strides[-2])}, {size(at.strides[-1])}"
            for name, at in (("a0", x), ("a1", y), ("y0", z))
        )
        out.add(f"dg_matmul_{out.node.dtype.name}(call, {slices}, {extents}, {operands});")


def _sliced(out: CallWriter, after: EpilogueWriter) -> None:
    """Tile by tile, and what comes after while the tile is in the cache."""
    x, y = out.loads[0].at, out.loads[1].at
    (m, k), (_, n) = x.shape, y.shape
    dtype = out.node.dtype
    out.add(after.text())
    with out.function():
        out.add(f"_Alignas(64) {memory_type(dtype)} tile[DG_TILE / sizeof({memory_type(dtype)})];")
        out.add(f"const dg_slice s = dg_slice_of({size(m)}, {size(n)}, sizeof *tile, me, count);")
        with out.loop("top", "s.r0", "s.r1", "s.high"), out.loop("left", "s.c0", "s.c1", "s.wide"):
            x0, x1, y0, y1 = map(size, (*x.strides, *y.strides))
            out.add(
                "const int64_t bottom = dg_min(top + s.high, s.r1);",
                "const int64_t right = dg_min(left + s.wide, s.c1), n_tile = right - left;",
                f"dg_multiply_{dtype.name}(call, bottom - top, n_tile, {size(k)}, "
                f"{_from('a0', x, 0, 'top')}, {x0}, {x1}, {_from('a1', y, 1, 'left')}, {y0}, {y1}, "
                "tile, n_tile, 1);",
                after.call(),
            )


def _from(pointer: str, at: Strided, axis: int, index: str) -> str:
    """The pointer moved to an index along an axis."""
    terms = [pointer, times(index, at.strides[axis])]
    return " + ".join(terms if same(at.offset, 0) else [*terms, size(at.offset)])
