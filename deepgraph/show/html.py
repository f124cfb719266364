"""HTML: a widget in which pictures open and tell; one piece of text that needs nothing else.

Where scripts do not run, the picture itself is left: an SVG as the source of an image.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from os import PathLike
from typing import Any

from deepgraph.drawn import Drawn
from deepgraph.expr import Expr
from deepgraph.show.drawing import Drawing, drawing
from deepgraph.show.palette import EDGES, HOT, LEGEND, MARKS, NODES
from deepgraph.show.scenes import LIMIT, Scenes


@dataclass(frozen=True)
class Frame:
    """What one position of the slider shows.

    `lost` marks values in the drawing before it, `made` in its own: what became of them, what is
    new.
    """

    name: str
    drawing: Drawing
    told: str = ""
    lost: Mapping[Expr, str] | None = None
    made: Mapping[Expr, str] | None = None


def to_html(thing: Drawn) -> str:
    """The picture of an expression, graph, schedule, plan or step as an element of a page.

    Layers open on a click; pointing at a node tells its type, its line and its kernel.
    """
    return widget([Frame("", drawing(thing))], thing, repr(thing), sources=thing.kernel_texts())


def widget(
    frames: Sequence[Frame], fallback: Drawn, about: str, kernels: Mapping[Expr, int] | None = None,
    sources: Sequence[str] = (),
) -> str:  # fmt: skip
    """The element that shows frames; `fallback` is the picture where no script runs."""
    scenes = Scenes(kernels or {})
    stages = []
    for frame in frames:
        stage: dict[str, Any] = {
            "name": frame.name, "told": frame.told, "sheet": scenes.add(frame.drawing),
        }  # fmt: skip
        for side in ("lost", "made"):
            marks = getattr(frame, side) or {}
            stage[side] = {str(scenes.identity(value)): mark for value, mark in marks.items()}
        stages.append(stage)
    data = {
        "style": _style(), "legend": LEGEND, "stages": stages, "sheets": scenes.sheets,
        "text": scenes.text, "kernels": list(sources), "open": [],
    }  # fmt: skip
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/").replace("<!", "<\\u0021")
    image = b64encode(fallback.to_svg(LIMIT).encode()).decode()
    return (
        f'<div class="deepgraph"><img alt="{escape(about)}" style="max-width:100%" '
        f'src="data:image/svg+xml;base64,{image}">'
        f'<script type="application/json">{text}</script></div>\n'
        f"<script>{_file('widget.js')}</script>"
    )


def page(element: str, title: str = "deepgraph") -> str:
    """A whole document around an element, light or dark as the reader's system is."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n{element}\n</html>\n"
    )


def save_html(thing: Drawn, path: str | PathLike[str]) -> None:
    """Write a page that shows `to_html(thing)` to a file, in UTF-8."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(page(thing.to_html(), repr(thing)))


@cache
def _file(name: str) -> str:
    return files("deepgraph.show").joinpath("widget", name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    """The style sheet, and the tones that the palette gives to kinds of nodes and edges."""
    rules = [f":host{{--hot:{HOT}}}"]
    for kind, look in NODES.items():
        more = ";stroke-dasharray:4 3" if look.dashed else ";stroke-width:2.5" if look.bold else ""
        rules.append(
            f".{kind}>rect{{fill:{look.stroke};fill-opacity:{look.opacity};"
            f"stroke:{look.stroke}{more}}}"
        )
    for kind, (color, dashed) in EDGES.items():
        dash = ";stroke-dasharray:4 3" if dashed else ""
        rules.append(f".edge.{kind}{{stroke:{color}{dash}}}.head.{kind}{{fill:{color}}}")
    rules += [
        f".{mark}>rect{{stroke:{color};stroke-width:2.5}}" for mark, color in MARKS.items()
    ]
    return "\n".join([*rules, _file("widget.css")])
