"""Pictures and tables of what a step is at each level: text, DOT, Mermaid, SVG, HTML."""

from __future__ import annotations

from collections.abc import Callable, Collection

from deepgraph.drawn import Drawn
from deepgraph.expr import Expr
from deepgraph.show.diff import Diff as Diff
from deepgraph.show.diff import diff as diff
from deepgraph.show.dot import save_dot as save_dot
from deepgraph.show.dot import to_dot as to_dot
from deepgraph.show.html import save_html as save_html
from deepgraph.show.html import to_html as to_html
from deepgraph.show.mermaid import to_mermaid as to_mermaid
from deepgraph.show.networks import to_networkx as to_networkx
from deepgraph.show.svg import save_svg as save_svg
from deepgraph.show.svg import to_svg as to_svg
from deepgraph.show.text import to_text as to_text

NOTEBOOK_NODES, NOTEBOOK_LINES = 1000, 60  # what a cell shows of a larger thing


def mimebundle(
    thing: Drawn, include: Collection[str] | None = None, exclude: Collection[str] | None = None
) -> dict[str, str]:
    """What a notebook shows: HTML that answers to the mouse, else SVG, else text."""
    short = isinstance(thing, Expr) or thing.drawn_as() is not thing  # these have a short repr
    formats: dict[str, Callable[[], str]] = {
        "text/html": lambda: thing.to_html(),
        "image/svg+xml": lambda: thing.to_svg(NOTEBOOK_NODES),
        "text/plain": lambda: repr(thing) if short else to_text(thing, NOTEBOOK_LINES),
    }
    return {
        kind: make()
        for kind, make in formats.items()
        if (not include or kind in include) and kind not in (exclude or ())
    }
