"""Provenance: the user's lines that a node stands for once passes merged and replaced nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from deepgraph.errors import Origin
from deepgraph.expr import Expr

Origins = tuple[Origin, ...]
Pairs = Iterable[tuple[Expr, Expr | None]]

_KEPT = 8  # origins kept beside a node's own
_SHOWN = 3  # lines shown for one node


def others(before: Mapping[Expr, Origins], became: Pairs, made: Pairs) -> dict[Expr, Origins]:
    """For each node that stands for more than its own line, the other origins, the first few.

    `before` says that of the graph before a pass, `became` what its nodes turned into, `made` for
    which of them the pass made which nodes. One step for each pair, and memory only for merges.
    """
    found: dict[Expr, Origins] = {}
    for node, now in chain(became, made):
        if now is None:
            continue
        if node.origin is not now.origin:
            _add(found, now, node.origin)
        for origin in before.get(node, ()):
            _add(found, now, origin)
    return found


def _add(found: dict[Expr, Origins], node: Expr, origin: Origin) -> None:
    known = found.get(node, ())
    if len(known) < _KEPT and all(origin.key != o.key for o in (node.origin, *known)):
        found[node] = (*known, origin)


def first_lines(origins: Sequence[Origin]) -> list[Origin]:
    """The first few origins of different lines."""
    return _distinct(origins)[:_SHOWN]


def _distinct(origins: Sequence[Origin]) -> list[Origin]:
    found: dict[str, Origin] = {}
    for origin in origins:
        found.setdefault(origin.where, origin)
    return list(found.values())


def on_one_line(origins: Sequence[Origin], scope: bool = False) -> str:
    """Where the lines are and what they say, for a comment: `a.py:3  y = f(x); also a.py:9  ...`"""

    def text(origin: Origin) -> str:
        where = f"{origin.scope} {origin.where}".strip() if scope else origin.where
        return "  ".join(filter(None, [where, origin.line]))

    more = "; ..." if len(_distinct(origins)) > _SHOWN else ""
    return "; also ".join(map(text, first_lines(origins))) + more


def at(origins: Sequence[Origin], indent: str = "  ") -> str:
    """Where the first is, with its line and carets, then where the same is declared, for errors."""
    first, *rest = first_lines(origins)
    also = [f"{indent}also at {o.where}  {o.line}".rstrip() for o in rest]
    return "\n".join([f"{indent}at {first.show()}", *also])
