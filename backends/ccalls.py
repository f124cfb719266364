"""Operations that are no loop over scalars, as C: a template each, by the operation's name.

A template gets a CallWriter and writes the functions of the kernel. Whatever has no template here
is NumPy's to compute, between two parts of C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from deepgraph.backends.cfunction import FunctionWriter
from deepgraph.expr import Expr, Type
from deepgraph.schedule import Access, Kernel


class CallWriter(FunctionWriter):
    """Writes the functions of a call: loads a0.., the one store y0, its node."""

    def __init__(self, kernel: Kernel, name: str, size_at: Mapping[str, int], own: int) -> None:
        super().__init__(kernel, name, size_at, own)
        self.node: Expr = kernel.body[0].node
        self.loads: tuple[Access, ...] = kernel.loads
        self.store: Access = kernel.stores[0].access

    def add(self, *lines: str) -> None:
        """More lines of the function."""
        self.out.add(*lines)


class Template(NamedTuple):
    """How an operation is written in C."""

    write: Callable[[CallWriter], None]
    memory: Callable[[Expr], Sequence[Type]]  # that each thread needs, as t0, ...
    takes: Callable[[Expr], bool]


TEMPLATES: dict[str, Template] = {}


def template(
    name: str, memory: Callable[[Expr], Sequence[Type]] = lambda node: (),
    takes: Callable[[Expr], bool] = lambda node: True,
) -> Callable[[Callable[[CallWriter], None]], Callable[[CallWriter], None]]:  # fmt: skip
    """Register how an operation is written, where it is: for the nodes that the template takes."""

    def register(write: Callable[[CallWriter], None]) -> Callable[[CallWriter], None]:
        TEMPLATES[name] = Template(write, memory, takes)
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
