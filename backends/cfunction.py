"""A kernel as C functions that every thread runs: what all kinds of kernels have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from deepgraph.backends.clike import memory_type, size, size_name
from deepgraph.dims import Dim, Size, names, same
from deepgraph.expr import Strided
from deepgraph.schedule import Kernel


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


class FunctionWriter:
    """Writes the functions of one kernel, which run one after the other, each on all threads.

    Pointers are a0.. for loads, y0.. for stores and t0.. for the threads' own memory; a thread is
    number `me` of `count`.
    """

    def __init__(self, kernel: Kernel, name: str, size_at: Mapping[str, int], own: int) -> None:
        self.kernel, self.name, self.size_at, self.own = kernel, name, size_at, own
        self.out = Lines()
        self.functions: list[str] = []

    @contextmanager
    def function(self) -> Iterator[None]:
        """One more function; when it runs, all threads are through with the one before."""
        name = self.name + f"_{len(self.functions)}" * bool(self.functions)
        self.functions.append(name)
        with self.out.braces(f"static void {name}({', '.join(self._parameters())})"):
            self.out.add("(void)call, (void)me, (void)count;")
            for n in sorted(self._names()):
                self.out.add(f"const int64_t {size_name(n)} = call->size[{self.size_at[n]}];")
            yield
        self.out.add("")

    @contextmanager
    def loop(self, name: str, low: str, high: str, step: int = 1) -> Iterator[None]:
        """A loop of a counter from `low` up to `high`."""
        more = f"{name}++" if step == 1 else f"{name} += {step}"
        with self.out.braces(f"for (int64_t {name} = {low}; {name} < {high}; {more})"):
            yield

    def _parameters(self) -> list[str]:
        found = ["dg_call *call", "int64_t me", "int64_t count"]
        for k, access in enumerate(self.kernel.loads):
            found.append(f"const {memory_type(access.value.dtype)} *a{k}")
        for k, store in enumerate(self.kernel.stores):
            found.append(f"{memory_type(store.access.value.dtype)} *y{k}")
        return [*found, *(f"char *t{k}" for k in range(self.own))]

    def _names(self) -> set[str]:
        """The named sizes that the function may mention."""
        found = set(names(self.kernel.space))
        for access in (*self.kernel.loads, *(s.access for s in self.kernel.stores)):
            found |= names((*access.at.shape, *access.at.strides, access.at.offset))
        for instr in self.kernel.body:
            found |= names(tuple(a for a in instr.args if isinstance(a, Dim)))
        return found


def offset(at: Strided) -> str:
    """Where the element at the loops' indices lies."""
    terms = [
        times(f"i{axis}", stride) for axis, stride in enumerate(at.strides) if not same(stride, 0)
    ]
    if not same(at.offset, 0):
        terms.append(size(at.offset))
    return " + ".join(terms) or "0"


def times(index: str, stride: Size) -> str:
    return index if same(stride, 1) else f"{index} * {parenthesised(size(stride))}"


def parenthesised(text: str) -> str:
    return text if text.replace("_", "").isalnum() else f"({text})"

