"""What a kernel does for one element, or for a vector of them, as C."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deepgraph.backends.cfold import Fold
from deepgraph.backends.cfunction import FunctionWriter, offset, remark, times
from deepgraph.backends.clike import (
    converted,
    expression,
    loaded,
    register_type,
    size,
    stored,
)  # fmt: skip
from deepgraph.expr import Expr, Kind
from deepgraph.nest import Kept, Nest, Work, folds
from deepgraph.schedule import Instr, contiguous

FLOATS = "dg_floats"  # one or more, in a loop over vectors


class ElementsWriter(FunctionWriter):
    """Writes what one element takes: loads, operations, stores, and what is kept of it.

    r0.. are registers, f0.. folds under way, and m0.. what is kept from one loop to another, in
    memory of the thread's own if it is more than a strip.
    """

    def __init__(
        self, loops: Nest, name: str, size_at: Mapping[str, int], place: Callable[[Expr], str]
    ) -> None:
        super().__init__(loops.kernel, name, size_at, len(loops.memory))
        self.nest, self.place = loops, place
        self.first = len(self.kernel.loads)
        self.memory = {kept.register: f"t{k}" for k, kept in enumerate(loops.memory)}
        self.folds = {r: Fold(self.kernel.body[r - self.first].node) for r in folds(loops.kernel)}
        self.shown = ""
        self.known: set[int] = set()  # registers in scope
        self.along: int | None = None  # the axis along which registers are vectors

    def _work(self, work: Work) -> None:
        r = work.register
        if work.adds:
            self.out.add(self.folds[r].take(self._sum(r), self._added(r)))
            return
        if r < self.first:
            access = self.kernel.loads[r]
            dtype = access.value.dtype
            value = loaded(self._read(f"a{r}[{offset(access.at)}]"), dtype)
        else:
            instr = self.kernel.body[r - self.first]
            dtype = instr.node.dtype
            self._comment(instr.node)
            value = self._sum(r) if r in self.folds else self._expression(instr)
        kind = register_type(dtype) if self.along is None else FLOATS
        self.out.add(f"const {kind} r{r} = {value};")
        self.known.add(r)
        for k, store in enumerate(self.kernel.stores):
            if work.stores and store.register == r:
                at = offset(store.access.at)
                value = stored(f"r{r}", store.access.value.dtype)
                self.out.add(self._write(f"y{k}[{at}]", value))
        kept = self.nest.kept.get(r)
        if kept is not None and r not in self.folds:
            self.out.add(self._write(self._memory_of(kept), f"r{r}"))

    def _expression(self, instr: Instr) -> str:
        node = instr.node
        args = [self._register(a) if isinstance(a, int) else a for a in instr.args]
        if node.op.kind is Kind.REDUCE:  # over axes of size 1
            fold, value = Fold(node), converted(str(args[0]), node.inputs[0].dtype, node.dtype)
            start = fold.start(node.dtype)
            return value if fold.initial is None else f"dg_{fold.ufunc}({value}, {start})"
        return expression(node, args)

    def _comment(self, node: Expr) -> None:
        place = self.place(node)
        if place and place != self.shown:
            self.shown = place
            self.out.add(remark(place))

    def _register(self, r: int) -> str:
        """A register that is in scope, or where it was kept."""
        if r in self.known:
            return f"r{r}"
        kept = self.nest.kept[r]
        element = self._memory_of(kept)
        return self._read(element) if self.along in kept.axes else element

    def _read(self, element: str) -> str:
        """What lies in memory there; along a loop over vectors, a vector from there on."""
        return element if self.along is None else f"DG_GET({element})"

    def _write(self, element: str, value: str) -> str:
        return f"{element} = {value};" if self.along is None else f"DG_PUT({element}, {value});"

    def _added(self, r: int) -> str:
        """What a fold takes of one element."""
        (arg,) = self.kernel.body[r - self.first].registers
        return self._register(arg)

    def _type(self, r: int) -> str:
        """The C type of a register."""
        if r < self.first:
            return register_type(self.kernel.loads[r].value.dtype)
        return register_type(self.kernel.body[r - self.first].node.dtype)

    def _sum(self, r: int) -> str:
        return f"m{r}[{self._index(self.nest.kept[r])}]" if r in self.nest.kept else f"f{r}"

    # Memory.

    def _memory_of(self, kept: Kept) -> str:
        """The element that is kept of a register, at the loops' indices."""
        if kept.store is not None:
            return f"y{kept.store}[{offset(self.kernel.stores[kept.store].access.at)}]"
        return f"m{kept.register}[{self._index(kept)}]"

    def _step(self, kept: Kept) -> str:
        """The bytes from one thread's memory to the next's."""
        return f"dg_padded({size(self.nest.bytes(kept))})"

    def _index(self, kept: Kept) -> str:
        """Where the loops' indices find their element of what is kept."""
        at = contiguous(self.nest.extents(kept))
        terms = []
        for axis, stride in zip(kept.axes, at.strides, strict=True):
            lane = kept.lanes and axis == kept.axes[-1]
            terms.append(times(f"(i{axis} - s)" if lane else f"i{axis}", stride))
        return " + ".join(terms) or "0"
