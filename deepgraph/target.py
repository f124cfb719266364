"""Target: what a pass may know of a backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deepgraph.expr import Expr, Type


def nothing(node: Expr) -> Sequence[Type] | None:
    """Of a target whose calls are all NumPy's, or another library's like it."""
    return None


def never(node: Expr) -> bool:
    """Of a target whose calls do nothing but their own operation."""
    return False


@dataclass(frozen=True)
class Target:
    """The properties of a backend that decide what passes may do.

    `atomic`: a kernel reads all inputs of an element before it writes any output, and keeps what
    is between in registers. Where not, each instruction is a statement over whole arrays (or
    blocks of them), and what is between needs memory: scratch.
    """

    name: str
    atomic: bool
    optimised: bool = True  # False: it runs graphs as they were declared
    natives: frozenset[str] = frozenset()  # operations it has although they have a definition
    own: Callable[[Expr], Sequence[Type] | None] = nothing
    epilogue: Callable[[Expr], bool] = never
    max_operands: int = 64  # values a kernel may read
    max_nodes: int = 500  # instructions a kernel may hold
    block: int = 1 << 17  # elements of a block, where a kernel runs block by block
    block_from: int = 1 << 18  # elements from which a kernel does
    threads_from: int = 1 << 20  # elements from which blocks go to several threads
