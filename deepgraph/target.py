"""Target: what a pass may know of a backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from deepgraph.expr import Expr, Type
from deepgraph.schedule import Kernel, Order


class Loops(Protocol):
    """How a kernel runs that keeps its values in registers, as far as a plan must know it."""

    @property
    def scratch(self) -> Sequence[Type]:
        """The memory that it needs all the same."""
        ...

    @property
    def each_thread(self) -> bool:
        """Does every thread need that memory, for itself?"""
        ...

    def in_place(self, load: int, store: int) -> bool:
        """May a store's memory be a load's, where both name the same elements?"""
        ...


def nothing(node: Expr) -> Sequence[Type] | None:
    """Of a target whose calls are all NumPy's, or another library's like it."""
    return None


def never(node: Expr) -> bool:
    """Of a target whose calls do nothing but their own operation."""
    return False


def foreign(node: Expr) -> bool:
    """Of a target that has no code of its own for calls."""
    return False


def anywhere(node: Expr) -> Sequence[Order | None]:
    """Of a target whose calls read and write whatever memory order their operands have."""
    return [None] * (len(node.inputs) + 1)


@dataclass(frozen=True)
class Target:
    """The properties of a backend that decide what passes may do.

    `loops`: how a kernel runs that reads all inputs of an element before it writes any output, and
    keeps what is between in registers. None: each instruction is a statement over whole arrays (or
    blocks of them), and what is between needs memory: scratch.
    `mixed`: may the folds of a kernel go over different axes?
    `native`: does it compute a node by code of its own, whatever else the node may be defined by?
    `orders`: for each operand of a call and, last, for its result the memory order that it has to
    have, or None. What is in another order is copied.
    """

    name: str
    loops: Callable[[Kernel], Loops] | None = None
    mixed: bool = True
    optimised: bool = True  # False: it runs graphs as they were declared
    native: Callable[[Expr], bool] = foreign
    own: Callable[[Expr], Sequence[Type] | None] = nothing
    epilogue: Callable[[Expr], bool] = never
    orders: Callable[[Expr], Sequence[Order | None]] = anywhere
    max_operands: int = 64  # values a kernel may read
    max_nodes: int = 500  # instructions a kernel may hold
    block: int = 1 << 17  # elements of a block, where a kernel runs block by block
    block_from: int = 1 << 18  # elements from which a kernel does
    threads_from: int = 1 << 20  # elements from which blocks go to several threads

    @property
    def atomic(self) -> bool:
        """Does a kernel keep what is between its instructions in registers?"""
        return self.loops is not None
