"""SVG of a drawing: our own layout, no other program, no network, no font of its own."""

from __future__ import annotations

from os import PathLike
from xml.sax.saxutils import escape

from deepgraph.drawn import Drawn
from deepgraph.show.drawing import Drawing, Node, drawing
from deepgraph.show.elide import elided
from deepgraph.show.layered import Box, Point, Route
from deepgraph.show.layers import folded
from deepgraph.show.layout import Layout, layout
from deepgraph.show.lettering import DETAIL, LABEL, LEADING, Text
from deepgraph.show.palette import DARK_INK, DARK_MUTED, EDGES, HOT, INK, LINE, MARKS, MUTED, NODES
from deepgraph.show.repeat import repeated

LIMIT = 5000  # nodes in a picture
MARGIN = 12.0


def to_svg(thing: Drawn, limit: int | None = None) -> str:
    """An expression, graph, schedule or plan as SVG: values flow down, kernels box their nodes.

    Dashed edges lead to views, which move no bytes; red ones to results that take the memory of
    what they read. A node's tooltip is where it was declared. Of more than `limit` nodes (5,000)
    the first and the last are drawn and those between are counted.
    """
    return _text(repeated(elided(folded(drawing(thing)), limit or LIMIT)))


def save_svg(thing: Drawn, path: str | PathLike[str], limit: int | None = None) -> None:
    """Write `to_svg(thing)` to a file, in UTF-8."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(thing.to_svg(limit))


def _text(shown: Drawing) -> str:
    placed = layout(shown)
    wide, tall = placed.width + 2 * MARGIN, placed.height + 2 * MARGIN
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="deepgraph" width="{_n(wide)}" '
        f'height="{_n(tall)}" viewBox="{_n(-MARGIN)} {_n(-MARGIN)} {_n(wide)} {_n(tall)}">',
        f"<style>{STYLE}</style>",
    ]
    for k, box in enumerate(placed.clusters):
        title, text = placed.titles[k], placed.headings[k]
        face = _rect(box, 8, shown.clusters[k].heat)
        body.append(f'<g class="kernel">{face}{_lines(text, title.x, title.y)}</g>')
    body += _edges(shown, placed)
    for k, node in enumerate(shown.nodes):
        body.append(_node(node, placed.nodes[k], placed.texts[k]))
    return "\n".join([*body, "</svg>", ""])


def _node(node: Node, box: Box, text: Text) -> str:
    hint = f"<title>{escape(node.hint)}</title>" if node.hint else ""
    corner = min(box.height / 2, 14) if NODES[node.kind].round else 3
    middle = box.x + box.width / 2
    lines = _lines(text, middle, box.y + (box.height - text.size[1]) / 2)
    sort = " ".join(filter(None, [node.kind, "again" * node.repeat, node.mark]))
    return f'<g class="{sort}">{hint}{_rect(box, corner, node.heat)}{lines}</g>'


def _lines(text: Text, x: float, y: float) -> str:
    made = []
    for lines, size, sort in ((text.labels, LABEL, ""), (text.details, DETAIL, ' class="detail"')):
        for line in lines:
            y += size * LEADING
            baseline = y - size * (LEADING - 1) / 2 - size * 0.18
            made.append(f'<text{sort} x="{_n(x)}" y="{_n(baseline)}">{escape(line)}</text>')
    return "".join(made)


def _edges(shown: Drawing, placed: Layout) -> list[str]:
    """Edges by kind, the marked kinds over the others; what edges of a kind share is drawn once."""
    lines = []
    for kind in EDGES:
        seen: set[tuple[Point, Point]] = set()
        runs, heads = [], []
        for edge, route in zip(shown.edges, placed.routes, strict=True):
            if edge.kind == kind and route:
                runs += _runs(route, seen)
                heads.append(f"M{_n(route[-1].x - 3.5)} {_n(route[-1].y - 7)}h7l-3.5 7z")
        if runs:
            lines.append(f'<path class="edge {kind}" d="{"".join(runs)}"/>')
            lines.append(f'<path class="head {kind}" d="{"".join(heads)}"/>')
    return lines


def _runs(route: Route, seen: set[tuple[Point, Point]]) -> list[str]:
    """Path commands for what was not drawn yet: upright lines, and curves upright at both ends."""
    made: list[str] = []
    pen: Point | None = None
    end = Point(route[-1].x, route[-1].y - 5)  # the head begins here
    for a, b in zip(route, [*route[1:-1], end], strict=False):
        if (a, b) in seen or a == b:
            continue
        seen.add((a, b))
        if pen != a:
            made.append(f"M{_n(a.x)} {_n(a.y)}")
        if abs(a.x - b.x) < 0.05:
            if made[-1].startswith("V"):
                made.pop()
            made.append(f"V{_n(b.y)}")
        else:
            y = _n((a.y + b.y) / 2)
            made.append(f"C{_n(a.x)} {y} {_n(b.x)} {y} {_n(b.x)} {_n(b.y)}")
        pen = b
    return made


def _rect(box: Box, corner: float, heat: float) -> str:
    hot = f' style="fill:{HOT};fill-opacity:{0.03 + 0.75 * heat:.2f}"' if heat else ""
    return (f'<rect x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" '
            f'height="{_n(box.height)}" rx="{_n(corner)}"{hot}/>')  # fmt: skip


def _n(value: float) -> str:
    """A number to a tenth of a pixel."""
    return f"{value + 0.0:.1f}".removesuffix(".0")


def _style() -> str:
    look = [
        "svg.deepgraph{font-family:sans-serif}",
        f".deepgraph text{{font-size:{_n(LABEL)}px;text-anchor:middle;fill:{INK}}}",
        f".deepgraph .detail{{font-size:{_n(DETAIL)}px;fill:{MUTED}}}",
        f".deepgraph .kernel text{{text-anchor:start;fill:{LINE}}}",
        f".deepgraph .kernel rect{{fill:{LINE};fill-opacity:.07;stroke:{LINE};stroke-opacity:.5}}",
        ".deepgraph .edge{fill:none;stroke-width:1.2}",
    ]
    for kind, (color, dashed) in EDGES.items():
        dash = ";stroke-dasharray:4 3" if dashed else ""
        look.append(f".deepgraph .edge.{kind}{{stroke:{color}{dash}}}")
        look.append(f".deepgraph .head.{kind}{{fill:{color}}}")
    look.append(".deepgraph .edge.in-place{stroke-width:2}")
    dark = [
        f".deepgraph text{{fill:{DARK_INK}}}", f".deepgraph .detail{{fill:{DARK_MUTED}}}",
        f".deepgraph .kernel text{{fill:{LINE}}}",
    ]  # fmt: skip
    for kind, node in NODES.items():
        more = ";stroke-dasharray:4 3" if node.dashed else ";stroke-width:2.5" if node.bold else ""
        look.append(f".deepgraph .{kind} rect{{fill:{node.fill};stroke:{node.stroke}{more}}}")
        dark.append(f".deepgraph .{kind} rect{{fill:{node.dark_fill}}}")
    look.append(".deepgraph .again rect{stroke-dasharray:4 3}")
    look += [
        f".deepgraph .{mark} rect{{stroke:{color};stroke-width:2.5}}"
        for mark, color in MARKS.items()
    ]
    look.append(".deepgraph .removed text{text-decoration:line-through}")
    return "\n".join([*look, "@media (prefers-color-scheme:dark){", *dark, "}", *_inline()])


def _inline() -> list[str]:
    """Inside a page: thin tones and the page's own ink, whatever theme it has."""
    inside = "svg.deepgraph:not(:root)"
    rules = [f"{inside} text{{fill:currentColor}}{inside} .detail{{opacity:.75}}"]
    for kind, node in NODES.items():
        rules.append(f"{inside} .{kind} rect{{fill:{node.stroke};fill-opacity:{node.opacity}}}")
    return rules


STYLE = _style()
