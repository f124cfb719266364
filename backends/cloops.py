"""A fused kernel as a C function: the loops of its nest, each thread over its share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from deepgraph.backends.celements import FLOATS, ElementsWriter
from deepgraph.backends.cfold import products
from deepgraph.backends.cfunction import Lines, words
from deepgraph.backends.clike import register_type, size
from deepgraph.backends.cvectors import by_vectors
from deepgraph.dims import at_least, product
from deepgraph.expr import Expr
from deepgraph.nest import LANES, Block, Loop, Nest, Work

_STRIP = 4096  # elements that floats add up, in lanes, before a double takes over
_ROWS = 4  # short rows whose folds come together side by side
_MANY = 128  # elements from which a fold goes by lanes, and a loop over vectors is worth its text


class LoopsWriter(ElementsWriter):
    """Writes one kernel.

    A map over one axis is told its extent, n, so that the same function is for all extents.
    """

    def __init__(
        self, loops: Nest, name: str, size_at: Mapping[str, int], place: Callable[[Expr], str]
    ) -> None:
        super().__init__(loops, name, size_at, place)
        self.parameters["n"] = "int64_t "
        self.shared: int | None = None  # the axis of which this thread has a share
        self.bounds: dict[int, tuple[str, str]] = {}  # of axes that are run over in part

    def text(self) -> str:
        """The function, and one more for what runs once all threads are through."""
        nest = self.nest
        with self._start():
            if nest.shared is None:
                self.out.add("if (me) return;")
            else:
                self._share(nest.shared)
            self._block(nest.main)
        if nest.end:
            with self._start():
                self.out.add("if (me) return;")
                self._combine()
                self._block(nest.end)
        return str(self.out)

    @contextmanager
    def _start(self) -> Iterator[None]:
        """A function, and in it the memory of what is kept."""
        self.shown, self.known, self.shared = "", set(), None
        with self.function():
            for kept in self.nest.kept.values():
                kind, r = register_type(kept.dtype), kept.register
                if r in self.memory:
                    own = f"{self.memory[r]} + me * {self._step(kept)}"
                    self.declare(f"m{r}", f"{kind} *const m{r} = ({kind} *)({own});")
                elif kept.store is None:
                    count = LANES if kept.lanes else size(product(self.nest.extents(kept)))
                    self.declare(f"m{r}", f"{kind} m{r}[{count}];")
            yield

    # Loops.

    def _share(self, axis: int) -> None:
        self.shared = axis
        innermost = axis == self.nest.levels[-1].axis
        self.share(self._extent(axis), 64 if innermost else 1)  # no two threads in a cache line

    def _extent(self, axis: int) -> str:
        told = self.kernel.kind == "map" and len(self.kernel.space) == 1
        return "n" if told else size(self.kernel.space[axis])

    def _bounds(self, axis: int) -> tuple[str, str]:
        whole = ("low", "high") if axis == self.shared else ("0", self._extent(axis))
        return self.bounds.get(axis, whole)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What becomes a register here is none outside."""
        known = set(self.known)
        yield
        self.known = known

    @contextmanager
    def loop(self, name: str, low: str, high: str, step: int | str = 1) -> Iterator[None]:
        with self.scope(), super().loop(name, low, high, step):
            yield

    @contextmanager
    def _strips(self, low: str, high: str, step: int) -> Iterator[None]:
        with self.loop("s", low, high, step):
            self.out.add(f"const int64_t e = dg_min(s + {step}, {high});")
            yield

    def _block(self, block: Block) -> None:
        for item in block:
            if isinstance(item, Work):
                self._work(item)
                continue
            for r in item.folds:
                self._begin(r)
            self._loop(item)

    def _loop(self, loop: Loop) -> None:
        level = self.nest.levels[loop.level]
        axis = level.axis
        low, high = ("s", "e") if level.part == "lanes" else self._bounds(axis)
        if level.part == "strips":
            with self._strips(low, high, LANES):
                self._block(loop.body)
        elif any(isinstance(item, Loop) for item in loop.body):
            steps = self._steps(loop)
            if len(steps) > 1:
                self._rows(steps, axis, low, high)
                return
            with self.loop(f"i{axis}", low, high):
                self._block(loop.body)
        else:
            self._innermost(loop, axis, low, high)

    def _steps(self, loop: Loop) -> list[list[Work | Loop]]:
        """The body up to what each fold gives, if its rows are short and can take turns."""
        steps: list[list[Work | Loop]] = [[]]
        axis, kept = self.nest.levels[loop.level].axis, self.nest.kept
        good = all(k.store is not None or axis in k.axes for k in kept.values())
        for item in loop.body:
            if isinstance(item, Loop):
                inner = self.kernel.space[self.nest.levels[item.level].axis]
                good &= at_least(_STRIP // _ROWS, inner) is True
                good &= not any(isinstance(i, Loop) for i in item.body)
                if any(isinstance(i, Loop) for i in steps[-1]):
                    steps.append([])
            steps[-1].append(item)
        for step in steps:
            given = {item.register for item in step if isinstance(item, Work)} | kept.keys()
            good &= all(given.issuperset(i.folds) for i in step if isinstance(i, Loop))
        return steps if good and self.nest.levels[loop.level].part == "all" else [[*loop.body]]

    def _rows(
        self, steps: Sequence[Sequence[Work | Loop]], axis: int, low: str, high: str
    ) -> None:
        """Some rows at once: while the sum of one comes together, others are added up."""
        with self._strips(low, high, _ROWS):
            outside, out, texts = set(self.known), self.out, list[tuple[list[str], set[int]]]()
            for step in steps:
                self.out = Lines()
                before = set(self.known)
                self._block(tuple(step))
                texts.append((self.out.lines, self.known - before))
            self.out, self.known = out, outside
            passed: set[int] = set()
            for k, (lines, made) in enumerate(texts):
                later = words(line for more, _ in texts[k + 1 :] for line in more)
                here = words(lines)
                mine = sorted(r for r in made if f"r{r}" in later)
                for r in mine:
                    self.out.add(f"{self._type(r)} r{r}_of[{_ROWS}];")
                with self.loop(f"i{axis}", "s", "e"):
                    for r in sorted(passed):
                        if f"r{r}" in here:
                            self.out.add(f"const {self._type(r)} r{r} = r{r}_of[i{axis} - s];")
                    self.out.add(*lines, *(f"r{r}_of[i{axis} - s] = r{r};" for r in mine))
                passed.update(mine)

    def _innermost(self, loop: Loop, axis: int, low: str, high: str) -> None:
        """A loop without loops; what adds up many floats goes in strips of bounded length."""
        adds = [w.register for w in loop.body if isinstance(w, Work) and w.adds]
        along = [r for r in adds if axis in self.kernel.body[r - self.first].fold]
        widens = any(self.folds[r].long != self.folds[r].short for r in along)
        lanes = self.nest.levels[loop.level].part == "lanes"
        extent = LANES if lanes else self.kernel.space[axis]
        many = at_least(_MANY, extent) is not True
        fold = self._by_lanes if many else self._simd
        self.along = axis if many and by_vectors(self.nest, loop, axis, along) else None
        if not along:
            (self._simd if self.along is None else self._by_vectors)(loop, along, axis, low, high)
        elif widens and at_least(_STRIP, extent) is not True:
            with self._strips(low, high, _STRIP):
                fold(loop, along, axis, "s", "e")
        else:
            with self.out.braces(""):
                fold(loop, along, axis, low, high)
        self.along = None

    def _by_vectors(
        self, loop: Loop, along: Sequence[int], axis: int, low: str, high: str
    ) -> None:  # fmt: skip
        """Vectors as values, with nothing that folds along the loop."""
        head = f"DG_MAP_VECTORS(i{axis}, {low}, {high},"
        with self.scope(), self.out.braces(""), self.out.braces(head, ")"):
            self._fold(loop, along)

    def _simd(self, loop: Loop, along: Sequence[int], axis: int, low: str, high: str) -> None:
        """Many elements at once, with what folds along the loop in variables of its own."""
        for r in along:
            self.out.add(*self.folds[r].short_start(r))
        self.out.add(f"#pragma omp simd{''.join(self.folds[r].clauses(r) for r in along)}")
        with self.loop(f"i{axis}", low, high):
            self._fold(loop, along)
        self._end_short(along)

    def _by_lanes(self, loop: Loop, along: Sequence[int], axis: int, low: str, high: str) -> None:
        """As above, but with many variables for each fold, as each must wait for itself."""
        variables = [v for r in along for v in self.folds[r].short_variables(r)]
        for v in variables:
            self.out.add(f"{v.type} {v.name}_of[DG_LANES];")
        with self.loop("l", "0", "DG_LANES"):
            self.out.add(*(f"{v.name}_of[l] = {v.start};" for v in variables))
        form = "DG_BY_LANES" if self.along is None else "DG_FOLD_VECTORS"
        with self.scope(), self.out.braces(f"{form}(i{axis}, {low}, {high},", ")"):
            for v in variables:
                kind = v.type if self.along is None else FLOATS
                self.out.add(f"{kind} {v.name} = {self._read(f'{v.name}_of[l]')};")
            self._fold(loop, along)
            self.out.add(*(self._write(f"{v.name}_of[l]", v.name) for v in variables))
        with self.out.braces("DG_JOIN_LANES(", ")"):
            for r in along:
                self.out.add(*self.folds[r].short_join(r))
        self.out.add(*(f"const {v.type} {v.name} = {v.name}_of[0];" for v in variables))
        self._end_short(along)

    def _fold(self, loop: Loop, along: Sequence[int]) -> None:
        """One element of a loop without loops."""
        factors = products(self.nest, loop, along)
        for item in loop.body:
            assert isinstance(item, Work)
            r = item.register
            if item.adds and r in along:
                (arg,) = self.kernel.body[r - self.first].registers
                if arg in factors:
                    x, y = map(self._register, factors[arg])
                    self.out.add(f"s{r} = dg_fma({x}, {y}, s{r});")
                else:
                    self.out.add(*self.folds[r].short_take(r, self._added(r)))
            elif r not in factors:
                self._work(item)

    def _end_short(self, along: Sequence[int]) -> None:
        for r in along:
            self.out.add(self.folds[r].take(self._sum(r), self.folds[r].short_end(r)))

    # Folds.

    def _begin(self, r: int) -> None:
        """An accumulator, or one for each index of what is kept, at its start."""
        fold = self.folds[r]
        start = fold.start(fold.long)
        if r in self.nest.kept:
            self._over(self.nest.kept[r].axes, f"{self._sum(r)} = {start};", r)
        else:
            self.out.add(f"{register_type(fold.long)} f{r} = {start};")

    def _over(self, axes: Sequence[int], statement: str, r: int) -> None:
        """A statement for each element that is kept of a register."""
        if not axes:
            self.out.add(statement)
            return
        lanes = len(axes) == 1 and self.nest.kept[r].lanes
        low, high = ("s", "e") if lanes else self._bounds(axes[0])
        with self.loop(f"i{axes[0]}", low, high):
            self._over(axes[1:], statement, r)

    def _combine(self) -> None:
        """Take the other threads' parts into this one's, in their order."""
        for r in self.nest.parts:
            kept = self.nest.kept[r]
            kind, index = register_type(kept.dtype), self._index(kept)
            with self.loop("other", "1", "count"):
                theirs = f"{self.memory[r]} + other * {self._step(kept)}"
                self.out.add(f"const {kind} *const part = (const {kind} *)({theirs});")
                self._over(kept.axes, self.folds[r].take(f"m{r}[{index}]", f"part[{index}]"), r)
