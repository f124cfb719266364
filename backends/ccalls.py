"""Operations that are no loop over scalars, as C: a template each, by the operation's name.

A template gets a CallWriter and writes the functions of the kernel. Whatever has no template here
is NumPy's to compute, between two parts of C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from deepgraph.backends import cstrides
from deepgraph.backends.cepilogue import EpilogueWriter
from deepgraph.backends.cfunction import FunctionWriter
from deepgraph.backends.clike import loaded, number, size, stored
from deepgraph.backends.cstrides import Bounds, place
from deepgraph.expr import Expr, Strided, Type
from deepgraph.schedule import Access, Kernel, Order
from deepgraph.target import anywhere

_APART = 16  # elements of the innermost axis that threads do not share out among them


class CallWriter(FunctionWriter):
    """Writes the functions of a call: its operands are a0.., its node the first of the body.

    Where elementwise work on the result is part of the kernel, `epilogue` writes that. `checks` are
    those of its first function, numbered from `first` on: Python's text of the error that each
    raises, given what was found as `bad`. After a fault nothing that follows runs.
    """

    def __init__(
        self, kernel: Kernel, name: str, size_at: Mapping[str, int], own: int,
        lines: Callable[[Expr], str], first: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(kernel, name, size_at, own)
        self.node: Expr = kernel.body[0].node
        self.loads: tuple[Access, ...] = kernel.loads
        self.store: Access = kernel.stores[0].access  # of the result, if that is all there is
        self.includes: list[str] = []
        self.first, self.checks = first, list[str]()
        self._counters = count()
        self.epilogue = None
        if len(kernel.body) > 1:
            self.epilogue = EpilogueWriter(kernel, f"{name}_slice", size_at, lines)
        else:
            self.parameters["y0"] += "restrict "  # a call writes over nothing that it reads

    def add(self, *lines: str) -> None:
        """More lines of the function."""
        self.out.add(*lines)

    def include(self, header: str) -> None:
        """A header that the functions need."""
        self.includes.append(header)

    def check(self, error: str) -> int:
        """The number of one more check, which raises this error."""
        self.checks.append(error)
        return self.first + len(self.checks) - 1

    def stretch(self, extent: str, step: int = 1) -> Bounds:
        """From where to where of an extent, in multiples of `step`, is this thread's."""
        k = next(self._counters)
        for name, who in ((f"low{k}", "me"), (f"high{k}", "me + 1")):
            self.declare(name, f"const int64_t {name} = dg_share({extent}, {step}, {who}, count);")
        return f"low{k}", f"high{k}"

    @contextmanager
    def over(
        self, *ats: Strided, share: bool = False, bounds: Mapping[int, Bounds] | None = None,
        simd: bool = True, clauses: str = "", starts: Sequence[str] = (),
    ) -> Iterator[list[str]]:  # fmt: skip
        """Loops over arrays of one shape in the order of the first one's memory; see `cstrides`.

        Gives where the element of each lies, from its `starts` on if there are any. Threads share
        an axis if told to. `simd` loops may run many elements at once, with OpenMP's `clauses`.
        """
        found = cstrides.axes(ats, bounds or {})
        counters = [f"i{next(self._counters)}" for _ in found]
        with ExitStack() as loops:
            if share and not found:
                loops.enter_context(self.out.braces("if (me == 0)"))
            elif share:
                k = cstrides.shared([axis.extent for axis in found])
                step = _APART if k == len(found) - 1 else 1
                found[k] = replace(found[k], bounds=self.stretch(size(found[k].extent), step))
            for k, (axis, counter) in enumerate(zip(found, counters, strict=True)):
                if k == len(found) - 1 and simd:
                    self.out.add(f"#pragma omp simd{clauses}")
                low, high = axis.bounds or ("0", size(axis.extent))
                loops.enter_context(self.loop(counter, low, high))
            begun = [*starts, *[""] * len(ats)]
            yield [
                place([axis.strides[k] for axis in found], counters, at.offset, begun[k])
                for k, at in enumerate(ats)
            ]

    def value(self, k: int, at: str) -> str:
        """An element of a load, in a register."""
        return loaded(f"a{k}[{at}]", self.loads[k].value.dtype)

    def put(self, at: str, value: str) -> None:
        """Store a register's value."""
        self.out.add(self.stored(at, value))

    def stored(self, at: str, value: str) -> str:
        """The statement that stores a register's value."""
        return f"y0[{at}] = {stored(value, self.node.dtype)};"

    def held(self, at: str) -> str:
        """An element of the store, in a register."""
        return loaded(f"y0[{at}]", self.node.dtype)

    def fill(self, at: Strided, value: Any = 0, **how: Any) -> None:
        """One value at all these places of the store."""
        with self.over(at, **how) as (to,):
            self.put(to, number(value, self.node.dtype))


class Template(NamedTuple):
    """How an operation is written in C."""

    write: Callable[[CallWriter], None]
    memory: Callable[[Expr], Sequence[Type]]  # that each thread needs, as t0, ...
    takes: Callable[[Expr], bool]
    orders: Callable[[Expr], Sequence[Order | None]]  # of memory: each operand's, the result's


TEMPLATES: dict[str, Template] = {}


def template(
    name: str, memory: Callable[[Expr], Sequence[Type]] = lambda node: (),
    takes: Callable[[Expr], bool] = lambda node: True,
    orders: Callable[[Expr], Sequence[Order | None]] = anywhere,
) -> Callable[[Callable[[CallWriter], None]], Callable[[CallWriter], None]]:  # fmt: skip
    """Register how an operation is written, where it is: for the nodes that the template takes."""

    def register(write: Callable[[CallWriter], None]) -> Callable[[CallWriter], None]:
        TEMPLATES[name] = Template(write, memory, takes, orders)
        return write

    return register


def found(node: Expr) -> Template | None:
    """The template that takes a node."""
    known = TEMPLATES.get(node.op.name)
    return known if known is not None and known.takes(node) else None


def own(node: Expr) -> Sequence[Type] | None:
    """The memory that each thread needs for a node; None for one that has no template."""
    known = found(node)
    return None if known is None else known.memory(node)


def native(node: Expr) -> bool:
    """Is there a template that takes the node?"""
    return found(node) is not None


def orders(node: Expr) -> Sequence[Order | None]:
    """The memory order that a node's template needs of each operand and of the result."""
    known = found(node)
    return anywhere(node) if known is None else known.orders(node)
