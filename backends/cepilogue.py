"""What a call's kernel does with its result, as C: elementwise work on one tile after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from deepgraph.backends.cloops import LoopsWriter
from deepgraph.dims import dim
from deepgraph.expr import Expr, Strided
from deepgraph.nesting import nest
from deepgraph.schedule import Access, Instr, Kernel


class EpilogueWriter(LoopsWriter):
    """Writes what a call's kernel does with its result, matrix by matrix.

    The function takes the rows from `top` to before `bottom` of the result and the columns from
    `left` to before `right`, which lie at `tile` in rows of `n_tile` elements; its other parameters
    are the kernel's own.
    """

    def __init__(
        self, kernel: Kernel, name: str, size_at: Mapping[str, int], place: Callable[[Expr], str]
    ) -> None:
        leader = kernel.body[0].node
        skipped, last = len(kernel.body[0].registers), len(kernel.loads)
        tile = Access(leader, Strided(leader.shape, (dim("tile"), 1)))

        def moved(instr: Instr) -> Instr:
            args = tuple(a - skipped if isinstance(a, int) else a for a in instr.args)
            return replace(instr, args=args)

        rest = replace(
            kernel, kind="map", loads=(*kernel.loads[skipped:], tile),
            body=tuple(map(moved, kernel.body[1:])),
            stores=tuple(replace(s, register=s.register - skipped) for s in kernel.stores),
        )  # fmt: skip
        super().__init__(nest(rest), name, size_at, place)
        self.bounds = {0: ("top", "bottom"), 1: ("left", "right")}
        renamed = {f"a{k}": f"a{k + skipped}" for k in range(last - skipped)}
        self.outside = {**renamed, f"a{last - skipped}": "tile - top * n_tile - left"}
        for p in ("top", "bottom", "left", "right", "n_tile"):
            self.parameters[p] = "int64_t "

    def text(self) -> str:
        """The function."""
        with self._start():
            self._block(self.nest.main)
        return str(self.out)

    def call(self) -> str:
        """The call of it, from a function with the kernel's own parameters and a tile."""
        (function,) = self.functions
        args = (self.outside.get(p, p) for p in function.parameters)
        return f"{function.name}({', '.join(args)});"
