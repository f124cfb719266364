"""Matrix products in CUDA, for those so small that a library's call would cost more than they do.

Large ones are cuBLAS's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from deepgraph.backends.cfunction import parenthesised, times
from deepgraph.backends.clike import loaded, register_type, size, stored
from deepgraph.backends.cucalls import CallWriter, template
from deepgraph.backends.cuelements import blocks, indices
from deepgraph.backends.launch import Extent
from deepgraph.backends.matrices import matrices, start
from deepgraph.dims import bind, minimum, product, same
from deepgraph.dtypes import is_float
from deepgraph.expr import Expr, Strided, Type
from deepgraph.nest import register_dtype

_SIDES = (4, 2)  # elements of a thread along each side of a tile
_THREADS = 256
_BUSY = 264  # blocks that keep a device busy
_PARTS = 16  # pieces of the inner extent that blocks multiply apart
_DEEP = 64  # the least inner extent that is worth a block
_ROOM = 1 << 20  # elements of parts
_LARGE = 1 << 32  # operations from which a product is a library's


def _takes(node: Expr) -> bool:
    return is_float(node.dtype) and all(x.dtype == node.dtype for x in node.inputs)


def _scratch(node: Expr) -> list[Type]:
    """Products of pieces of the inner extent."""
    return [Type((minimum(_PARTS * node.size, _ROOM),), register_dtype(node))]


@template("matmul", scratch=_scratch, takes=_takes)
def matmul(out: CallWriter) -> None:
    """Tiles; of few and deep ones pieces, which are added up in order."""
    out.include("product.cuh")
    writer = _Product(out)
    writer.tiles(parted=False)
    writer.tiles(parted=True)
    writer.end()
    operations = out.node.size * out.node.inputs[0].shape[-1] * 2
    if out.node.dtype.kind == "f":  # CuPy multiplies no stacks of bfloat16
        out.large = lambda sizes: bind(operations, sizes) >= _LARGE


class _Product:
    """Writes the functions of one product."""

    def __init__(self, out: CallWriter) -> None:
        self.out = out
        self.x, self.y, self.z = matrices(out.loads[0].at, out.loads[1].at, out.store.at)
        self.batch = self.z.shape[:-2]
        self.m, self.n, self.k = self.z.shape[-2], self.z.shape[-1], self.x.shape[-1]
        self.kind = register_type(register_dtype(out.node))

    def tiles(self, parted: bool) -> None:
        """A block a tile, or a piece of the inner extent of one."""
        out, kind = self.out, self.kind
        m, n, k = map(size, (self.m, self.n, self.k))
        low = f"dg_stretch({k}, DG_DEPTH, blockIdx.y)" if parted else "0"
        high = f"dg_stretch({k}, DG_DEPTH, blockIdx.y + 1)" if parted else k
        together = [str(same(at.strides[-1], 1)).lower() for at in (self.x, self.y)]
        with out.function(partial(self._grid, parted), _SIDES, hungry=True):
            out.add(
                f"__shared__ {kind} shared[2 * DG_DEPTH * (16 * V + 1)];",
                f"const dg_index tiles = dg_tiles<V>({m}, {n});",
                "const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;",
                *indices(range(len(self.batch)), self.batch, "which"),
                f"dg_product<V, {', '.join(together)}, {kind}>(",
                f"    tile, {m}, {n}, {low}, {high},",
                f"    [=](dg_index i, dg_index j) {{ return {self._element(0, self.x)}; }},",
                f"    [=](dg_index i, dg_index j) {{ return {self._element(1, self.y)}; }},",
                f"    [=](dg_index i, dg_index j, {kind} sum) {{ {self._put(parted)} }}, shared);",
            )

    def end(self) -> None:
        """The pieces added up, those of an element by threads along y."""
        out, kind, total = self.out, self.kind, size(product((*self.batch, self.m, self.n)))

        def grid(sizes: Mapping[str, int]) -> tuple[Extent, Extent]:
            pieces, elements = self._parts(4, sizes), bind(self.out.node.size, sizes)
            lanes = _THREADS // pieces
            return (blocks(elements, lanes) * (pieces > 1), 1, 1), (lanes, pieces, 1)

        with out.function(grid):
            axes = range(len(self.batch))
            extents = (*self.batch, self.m, self.n)
            out.add(
                f"__shared__ uint64_t shared[{_THREADS}];",
                "const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;",
                f"const dg_index place = dg_least(p, {total} - 1);",
                *indices(range(len(extents)), extents, "place"),
                f"const dg_index i = i{len(axes)}, j = i{len(axes) + 1};",
                f"const {kind} part = t0[threadIdx.y * (dg_index){parenthesised(total)} + place];",
                f"const {kind} sum = dg_across_y(part, "
                f"[]({kind} &into, {kind} value) {{ into += value; }}, shared);",
                f"if (p == place && threadIdx.y == 0) {{ {self._put(parted=False)} }}",
            )

    def _element(self, load: int, at: Strided) -> str:
        return loaded(f"a{load}[{self._place(at)}]", self.out.node.dtype)

    def _put(self, parted: bool) -> str:
        if not parted:
            return f"y0[{self._place(self.z)}] = {stored('sum', self.out.node.dtype)};"
        m, n = parenthesised(size(self.m)), parenthesised(size(self.n))
        whole = parenthesised(size(product((*self.batch, self.m, self.n))))
        return f"t0[blockIdx.y * (dg_index){whole} + (which * {m} + i) * {n} + j] = sum;"

    def _place(self, at: Strided) -> str:
        terms = [times(i, s) for i, s in zip("ij", at.strides[-2:], strict=True) if not same(s, 0)]
        return (" + ".join(terms) or "0") + start(at, len(self.batch))

    # How many blocks.

    def _grid(self, parted: bool, side: int, sizes: Mapping[str, int]) -> tuple[Extent, Extent]:
        wanted = 4 if self._tiles(4, sizes) * self._parts(4, sizes) >= _BUSY // 2 else 2
        pieces = self._parts(wanted, sizes)
        taken = side == wanted and parted == (pieces > 1)
        return (self._tiles(side, sizes) * taken, pieces, 1), (_THREADS, 1, 1)

    def _tiles(self, side: int, sizes: Mapping[str, int]) -> int:
        m, n = bind(self.m, sizes), bind(self.n, sizes)
        batch: int = bind(product(self.batch), sizes)
        return blocks(m, 16 * side) * blocks(n, 16 * side) * batch

    def _parts(self, side: int, sizes: Mapping[str, int]) -> int:
        """In how many pieces the inner extent comes."""
        elements = max(bind(self.out.node.size, sizes), 1)
        deep = bind(self.k, sizes) // _DEEP
        room = min(_ROOM // elements, _PARTS)
        return max(1, min(_BUSY // max(self._tiles(side, sizes), 1), deep, room))
