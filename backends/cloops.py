"""A fused kernel as a C function: the loops of its nest, each thread over its share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from deepgraph.backends.clike import (
    expression, loaded, memory_type, number, register_type, size, size_name, stored,
)  # fmt: skip
from deepgraph.dims import Dim, Size, at_least, names, same
from deepgraph.dtypes import DType, is_float
from deepgraph.expr import Expr, Kind, Strided
from deepgraph.nest import LANES, Block, Kept, Loop, Nest, Work, kept_bytes
from deepgraph.schedule import contiguous

_STRIP = 1024  # elements that a float accumulator adds up before a double takes over


class Lines:
    """C text, indented by its braces."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    def add(self, *lines: str) -> None:
        """More lines at this depth."""
        self.lines += ["    " * self._depth + line for line in lines]

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        """A block after `head`."""
        self.add(f"{head} {{")
        self._depth += 1
        yield
        self._depth -= 1
        self.add("}")

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Fold:
    """How one reduction goes in C: what it starts from, and how it takes one more.

    It runs in an accumulator of its own dtype (`long`), which for sums of floats is double; and
    in the innermost loop, over a bounded number of elements, in one as short as they are.
    """

    def __init__(self, node: Expr) -> None:
        self.ufunc = node.op.ufunc
        self.short = _real(node.dtype) if is_float(node.dtype) else node.dtype
        wide = self.ufunc in ("add", "multiply") and is_float(node.dtype)
        self.long = np.dtype(np.float64) if wide else self.short
        truth = node.inputs[0].dtype.kind == "b" and self.ufunc in ("maximum", "minimum")
        self.some = self.ufunc == "logical_or" or (truth and self.ufunc == "maximum")
        self.every = self.ufunc == "logical_and" or (truth and self.ufunc == "minimum")
        self.extreme = self.ufunc in ("maximum", "minimum") and not truth
        self.nans = self.extreme and is_float(node.dtype)

    def start(self, dtype: DType) -> str:
        """What nothing folds to."""
        if not self.extreme:
            return number(self.every or self.ufunc == "multiply", dtype)
        highest = self.ufunc == "minimum"
        if self.nans:
            return number(np.inf if highest else -np.inf, dtype)
        limits = np.iinfo(dtype)
        return number(limits.max if highest else limits.min, dtype)

    def take(self, into: str, value: str) -> str:
        """The statement that folds one more value, or another fold's, into a variable."""
        if self.some or self.every:
            return f"{into} {self._sign()}= {value} != 0;"
        if self.extreme:
            return f"{into} = dg_{self.ufunc}({into}, {value});"
        return f"{into} {self._sign()}= {value};"

    def _sign(self) -> str:
        return "|" if self.some else "&" if self.every else "+" if self.ufunc == "add" else "*"

    # In the innermost loop, fold r runs in s<r>; a NaN among its elements marks n<r>.

    def short_start(self, r: int) -> list[str]:
        """The variables of the innermost loop."""
        kind = register_type(self.short)
        return [f"{kind} s{r} = {self.start(self.short)};"] + [f"int n{r} = 0;"] * self.nans

    def clauses(self, r: int) -> str:
        """How OpenMP may run the innermost loop in any order."""
        sign = {"maximum": "max", "minimum": "min"}[self.ufunc] if self.extreme else self._sign()
        return f" reduction({sign}:s{r})" + f" reduction(|:n{r})" * self.nans

    def short_take(self, r: int, value: str) -> list[str]:
        """One more element."""
        if not self.extreme:
            return [self.take(f"s{r}", value)]
        sign = ">" if self.ufunc == "maximum" else "<"
        marked = [f"n{r} |= {value} != {value};"] if self.nans else []
        return [f"s{r} = {value} {sign} s{r} ? {value} : s{r};", *marked]

    def short_end(self, r: int) -> str:
        """What the innermost loop came to."""
        return f"(n{r} ? ({register_type(self.short)})NAN : s{r})" if self.nans else f"s{r}"


class LoopsWriter:
    """Writes one kernel.

    Pointers are a0.. for loads and y0.. for stores; r0.. are registers, f0.. folds under way, and
    m0.. what is kept from one loop to another, in memory of the thread's own at t0.. if it is more
    than a strip.
    """

    def __init__(
        self, nest: Nest, name: str, size_at: Mapping[str, int], place: Callable[[Expr], str]
    ) -> None:
        self.nest, self.kernel, self.name = nest, nest.kernel, name
        self.size_at, self.place = size_at, place
        self.first = len(self.kernel.loads)
        self.folds = {
            self.first + k: Fold(i.node) for k, i in enumerate(self.kernel.body)
            if i.node.op.kind is Kind.REDUCE
        }  # fmt: skip
        self.out = Lines()
        self.shown = ""
        self.known: set[int] = set()  # registers in scope
        self.shared: int | None = None  # the axis of which this thread has a share

    def text(self) -> str:
        """The function, and one more for what runs once all threads are through."""
        nest = self.nest
        with self._function(self.name):
            if nest.shared is None:
                self.out.add("if (me) return;")
            else:
                self._share(nest.shared)
            self._block(nest.main)
        if nest.end:
            with self._function(f"{self.name}_end"):
                self.out.add("if (me) return;")
                self._combine()
                self._block(nest.end)
        return str(self.out)

    @contextmanager
    def _function(self, name: str) -> Iterator[None]:
        self.shown, self.known, self.shared = "", set(), None
        with self.out.braces(f"static void {name}({', '.join(self._parameters())})"):
            self.out.add("(void)call, (void)me, (void)count;")
            for n in sorted(self._names()):
                self.out.add(f"const int64_t {size_name(n)} = call->size[{self.size_at[n]}];")
            for kept in self.nest.kept.values():
                kind, r = self._kept_type(kept), kept.register
                if kept in self.nest.memory:
                    own = f"t{r} + me * {self._step(kept)}"
                    self.out.add(f"{kind} *const m{r} = ({kind} *)({own});")
                elif kept.store is None:
                    self.out.add(f"{kind} m{r}[{LANES}];")
            yield
        self.out.add("")

    def _parameters(self) -> list[str]:
        found = ["dg_call *call", "int64_t me", "int64_t count"]
        for k, access in enumerate(self.kernel.loads):
            found.append(f"const {memory_type(access.value.dtype)} *a{k}")
        for k, store in enumerate(self.kernel.stores):
            found.append(f"{memory_type(store.access.value.dtype)} *y{k}")
        return [*found, *(f"char *t{kept.register}" for kept in self.nest.memory)]

    def _names(self) -> set[str]:
        """The named sizes that the function mentions."""
        found = set(names(self.kernel.space))
        for access in (*self.kernel.loads, *(s.access for s in self.kernel.stores)):
            found |= names((*access.at.strides, access.at.offset))
        for instr in self.kernel.body:
            found |= names(tuple(a for a in instr.args if isinstance(a, Dim)))
        return found

    # Loops.

    def _share(self, axis: int) -> None:
        self.shared = axis
        whole = self._extent(axis)
        step = 64 if axis == self.nest.levels[-1].axis else 1  # no two threads in a cache line
        self.out.add(
            f"const int64_t low = dg_share({whole}, {step}, me, count);",
            f"const int64_t high = dg_share({whole}, {step}, me + 1, count);",
        )

    def _extent(self, axis: int) -> str:
        return size(self.kernel.space[axis])

    def _bounds(self, axis: int) -> tuple[str, str]:
        return ("low", "high") if axis == self.shared else ("0", self._extent(axis))

    @contextmanager
    def _offset(at: Strided) -> str:
    """Where the element at the loops' indices lies."""
    terms = [
        _times(f"i{axis}", stride) for axis, stride in enumerate(at.strides) if not same(stride, 0)
    ]
    if not same(at.offset, 0):
        terms.append(size(at.offset))
    return " + ".join(terms) or "0"


def _times(index: str, stride: Size) -> str:
    return index if same(stride, 1) else f"{index} * {_parenthesised(size(stride))}"


def _parenthesised(text: str) -> str:
    return text if text.replace("_", "").isalnum() else f"({text})"


def _real(dtype: DType) -> DType:
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)
