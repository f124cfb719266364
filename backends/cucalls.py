"""Operations that are no loop over scalars, in CUDA: a template each, by the operation's name.

A template gets a CallWriter and writes functions that run one after the other, a thread for each of
some elements. What has no template here runs as a function of CuPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from deepgraph.backends.clike import loaded, size, stored
from deepgraph.backends.cstrides import axes, place
from deepgraph.backends.cuelements import THREADS, FunctionText, blocks, indices, wide_names
from deepgraph.backends.launch import Extent, Launch, Raw
from deepgraph.dims import Size, bind, product
from deepgraph.expr import Expr, Strided, Type
from deepgraph.schedule import Access, Kernel


class CallWriter:
    """Writes the functions of a call: its operands are a0.., its result y0, scratch t0...

    `checks` are Python's text of the errors that indices found bad raise, given what was found as
    `bad`: the number of the check, counted from `first`, plus 1, the index and the extent.
    """

    def __init__(self, kernel: Kernel, name: str, text: FunctionText, first: int = 0) -> None:
        self.node: Expr = kernel.body[0].node
        self.loads: tuple[Access, ...] = kernel.loads
        self.store: Access = kernel.stores[0].access
        self.name, self.text = name, text
        self.first, self.checks = first, list[str]()
        self.includes: list[str] = []
        self.large: Callable[[Mapping[str, int]], bool] | None = None  # as of Raw
        self._launches: list[Launch] = []
        self._functions = 0

    def raw(self) -> Raw:
        """What has been written."""
        return Raw(str(self.text.out), tuple(self._launches), self.large)

    def include(self, header: str) -> None:
        """A header that the functions need."""
        self.includes.append(header)

    def add(self, *lines: str) -> None:
        """More lines of the function."""
        self.text.out.add(*lines)

    @contextmanager
    def loop(self, name: str, low: str, high: str, step: str = "1") -> Iterator[None]:
        """A loop of a counter."""
        head = f"for (dg_index {name} = {low}; {name} < {high}; {name} += {step})"
        with self.text.out.braces(head):
            yield

    @contextmanager
    def function(
        self, grid: Callable[..., tuple[Extent, Extent]], widths: Sequence[int] = (),
        hungry: bool = False,
    ) -> Iterator[None]:  # fmt: skip
        """One more function, with a grid of its own: of known sizes, and before them of V."""
        name = f"{self.name}_{self._functions}" if self._functions else self.name
        self._functions += 1
        with self.text.function(name, widths, hungry=hungry) as arguments:
            yield
        for width, each in wide_names(name, widths).items():
            rule = partial(grid, width) if widths else grid
            self._launches.append(Launch(each, tuple(arguments), rule))

    @contextmanager
    def each(self, *extents: Size, order: Sequence[int] = ()) -> Iterator[list[str]]:
        """One more function, with a thread for each element of these extents; gives its indices.

        They are named i0, i1 and so on, the last one that of neighbouring threads unless an order
        says which is.
        """

        def grid(sizes: Mapping[str, int]) -> tuple[Extent, Extent]:
            return (blocks(bind(product(extents), sizes), THREADS), 1, 1), (THREADS, 1, 1)

        with self.function(grid):
            self.add("const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;")
            self.add(f"if (p >= {size(product(extents))}) return;")
            self.add(*indices(order or range(len(extents)), extents, "p"))
            yield [f"i{k}" for k in range(len(extents))]

    @contextmanager
    def over(self, *ats: Strided) -> Iterator[list[str]]:
        """One more function, with a thread for each element of arrays of one shape.

        Neighbours are those of the first one's memory. Gives where the element of each lies.
        """
        found = axes(ats, {})
        with self.each(*(axis.extent for axis in found)) as counters:
            yield [
                place([axis.strides[k] for axis in found], counters, at.offset)
                for k, at in enumerate(ats)
            ]

    def value(self, k: int, at: str) -> str:
        """An element of a load, in a register."""
        return loaded(f"a{k}[{at}]", self.loads[k].value.dtype)

    def put(self, at: str, value: str) -> None:
        """Store a register's value."""
        self.add(f"y0[{at}] = {stored(value, self.node.dtype)};")

    def check(self, error: str) -> int:
        """The number of one more check, which raises this error."""
        self.checks.append(error)
        return self.first + len(self.checks) - 1


def at(access: Strided, counters: Sequence[str]) -> str:
    """Where the element at these counters, one an axis, lies."""
    return place(access.strides, counters, access.offset)


class Template(NamedTuple):
    """How an operation is written in CUDA."""

    write: Callable[[CallWriter], None]
    scratch: Callable[[Expr], Sequence[Type]]
    takes: Callable[[Expr], bool]


TEMPLATES: dict[str, Template] = {}


def template(
    name: str, scratch: Callable[[Expr], Sequence[Type]] = lambda node: (),
    takes: Callable[[Expr], bool] = lambda node: True,
) -> Callable[[Callable[[CallWriter], None]], Callable[[CallWriter], None]]:  # fmt: skip
    """Register how an operation is written, where it is: for the nodes that the template takes."""

    def register(write: Callable[[CallWriter], None]) -> Callable[[CallWriter], None]:
        TEMPLATES[name] = Template(write, scratch, takes)
        return write

    return register


def found(node: Expr) -> Template | None:
    """The template that takes a node."""
    known = TEMPLATES.get(node.op.name)
    return known if known is not None and known.takes(node) else None


def native(node: Expr) -> bool:
    """Is there a template that takes the node?"""
    return found(node) is not None


def own(node: Expr) -> Sequence[Type] | None:
    """The memory that a node's template needs; None for one that has no template."""
    known = found(node)
    return None if known is None else known.scratch(node)
