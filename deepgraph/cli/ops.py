"""List the operations, or explain one."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from deepgraph.errors import GraphError
from deepgraph.expr import FUNCTIONS, Op


class Row(NamedTuple):
    """What the table says of a function."""

    name: str
    kind: str
    gradient: str
    signature: str
    summary: str


def arguments(parser: argparse.ArgumentParser) -> None:
    """The argument of `ops`."""
    parser.add_argument("name", nargs="?", help="the operation to explain; without it, a table")


def run(given: argparse.Namespace) -> int:
    """Print the table or the explanation."""
    if given.name is not None:
        print(explanation(given.name))
        return 0
    rows = [Row("name", "kind", "gradient", "signature", "summary"), *table()]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(text.ljust(w) for text, w in zip(row, wide, strict=True)).rstrip())
    return 0


def table() -> list[Row]:
    """A row for each public function, under its first name."""
    return [row(name, f) for name, f in sorted(FUNCTIONS.items()) if _first_name(name, f)]


def row(name: str, function: Callable[..., Any]) -> Row:
    """What the table says of this function."""
    kind, gradient = "composition", "of its parts"
    if isinstance(function, Op):
        kind = function.kind.value
        gradient = "yes" if function.grad else "no"
    return Row(name, kind, gradient, signature(function), _doc(function).splitlines()[0])


def explanation(name: str) -> str:
    """All that the registry says of a function."""
    if name not in FUNCTIONS:
        near = [known for known in sorted(FUNCTIONS) if name in known or known in name]
        hint = f"; there is {', '.join(near)}" if near else ""
        raise GraphError(f"no operation is called {name!r}{hint}")
    function = FUNCTIONS[name]
    shown = row(function.name if isinstance(function, Op) else name, function)
    lines = [f"{shown.name}{shown.signature}", "", _doc(function), ""]
    lines.append(f"kind: {shown.kind}; gradient: {shown.gradient}")
    if isinstance(function, Op):
        if function.aliases:
            lines.append(f"also called: {', '.join(function.aliases)}")
        if text := function.ufunc or function.numpy:
            lines.append(f"NumPy: {text}")
        if function.c:
            lines.append(f"C: {function.c}")
    return "\n".join(lines)


def signature(function: Callable[..., Any]) -> str:
    """Parameters and defaults, without types."""
    found = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def _first_name(name: str, function: Callable[..., Any]) -> bool:
    return not isinstance(function, Op) or function.name == name


def _doc(function: Callable[..., Any]) -> str:
    return inspect.cleandoc(function.__doc__ or "")
