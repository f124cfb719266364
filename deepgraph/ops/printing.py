"""Values that a step prints as it computes them."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from deepgraph.errors import DomainError, DTypeError
from deepgraph.expr import Example, Expr, Kind, Type, composition, op

Array = npt.NDArray[Any]
Measures = Mapping[str, Callable[[Array], Any]]

PRINTERS: WeakValueDictionary[int, Printer] = WeakValueDictionary()  # alive while a graph has them
_numbers = count()
_quiet: ContextVar[bool] = ContextVar("deepgraph_quiet", default=False)


class Printer:
    """Prints measures of every so many array that it sees; generated code names it by number."""

    def __init__(
        self, label: str, every: int, measures: Measures | None, backward: Printer | None = None
    ) -> None:
        self.label, self.every, self.measures, self.backward = label, every, measures, backward
        self.number = next(_numbers)
        self._seen = 0
        self._lock = threading.Lock()
        PRINTERS[self.number] = self

    def __call__(self, x: Array) -> None:
        """Count one more array, and print it if it is its turn."""
        if _quiet.get():
            return
        with self._lock:
            due = self._seen % self.every == 0
            self._seen += 1
        if due:
            builtins.print(f"{self.label}: {self._text(x)}")

    def _text(self, x: Array) -> str:
        if self.measures is None:
            return _summary(x)
        shown = x.view()
        shown.flags.writeable = False
        return " ".join(f"{name} {_short(f(shown))}" for name, f in self.measures.items())

    def __repr__(self) -> str:
        return str(self.number)

    def __reduce__(self) -> tuple[Any, ...]:
        return Printer, (self.label, self.every, self.measures, self.backward)


def _summary(x: Array) -> str:
    shape = f"shape {x.shape}"
    if not x.size:
        return shape
    wide = x.astype(np.float64)  # the square of a large half overflows
    with np.errstate(all="ignore"):
        found = {"mean": wide.mean(), "std": wide.std(), "min": x.min(), "max": x.max()}
    return " ".join([*(f"{name} {_short(v)}" for name, v in found.items()), shape])


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


@contextmanager
def quiet() -> Iterator[None]:
    """Let no printer print or count: for those who run a graph only to check it."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def _grad(g: Expr, y: Expr, x: Expr, id: Printer) -> tuple[Expr]:
    return (g if id.backward is None else _print(g, id.backward),)


@op(
    Kind.CALL, name="print", numpy="lib.print_values({0}, {id}, {out})", flops=0, follows=0,
    grad=_grad, examples=(Example(((3, 4),), {"id": Printer("example", 1, None)}),),
)  # fmt: skip
def _print(x: Expr, id: Printer) -> Type:
    """x itself; `id` is each declaration's own, so that no two prints are one or known before."""
    return Type(x.shape, x.dtype)


@composition
def print(
    x: Expr, every: int = 1, label: str = "", measures: Measures | None = None,
    backward: bool = False,
) -> Expr:  # fmt: skip
    """x itself, of which a step prints mean, standard deviation, least, greatest and shape.

    It prints whenever it computes the value, the first time and then every `every` times; a value
    that no output and no update needs is not computed. `measures` names functions of the array
    (read-only) to print instead. `label` is the operation and line of x if empty. Gradients pass
    through, and are printed likewise with `backward`. Raises DomainError for an `every` below 1.

    >>> import deepgraph as dg
    >>> x = dg.placeholder("x", shape=(2,))
    >>> step = dg.compile(dg.print(x * 2, label="double"))
    >>> y = step(x=[1.0, 2.0])
    double: mean 3 std 1 min 2 max 4 shape (2,)
    """
    if not isinstance(x, Expr):
        raise DTypeError(f"prints an expression: got {type(x).__name__}")
    if not isinstance(every, int) or every < 1:
        raise DomainError(f"prints every so many times, 1 or more: got {every!r}")
    label = label or f"{x.name or x.op.name} at {x.origin.where}"
    back = Printer(f"gradient of {label}", every, measures) if backward else None
    return _print(x, Printer(label, every, None if measures is None else dict(measures), back))
