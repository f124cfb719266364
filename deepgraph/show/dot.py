"""DOT, the language of Graphviz, written so that any name a user can type stays what it is."""

from __future__ import annotations

import re
from os import PathLike

from deepgraph.drawn import Drawn
from deepgraph.show.drawing import Drawing, Node, drawing
from deepgraph.show.palette import EDGES, INK, LINE, NODES

_FONT = "fontname=Helvetica, fontsize=11"


def to_dot(thing: Drawn) -> str:
    """An expression, graph, schedule or plan as DOT: values flow down, kernels are clusters.

    Ids are `n0`, `n1`, ... and `cluster_0`, ...; what people read is in the labels, and a node's
    tooltip is where it was declared.
    """
    shown = drawing(thing)
    inside: dict[int | None, list[int]] = {}
    for k, node in enumerate(shown.nodes):
        inside.setdefault(node.cluster, []).append(k)
    lines = [
        "digraph {",
        f"  graph [bgcolor=transparent, {_FONT}];",
        f"  node [shape=box, {_FONT}, {_pair('fontcolor', INK)}];",
        f"  edge [arrowsize=0.7, {_pair('color', LINE)}];",
    ]
    lines += [f"  {_node(k, shown.nodes[k])}" for k in inside.get(None, [])]
    for c, cluster in enumerate(shown.clusters):
        title = "\n".join(filter(None, [cluster.title, cluster.detail]))
        lines.append(f'  subgraph "cluster_{c}" {{')
        lines.append(f"    graph [{_pair('label', title)}, labeljust=l, style=rounded, "
                     f"{_pair('color', LINE)}, {_pair('fontcolor', LINE)}];")  # fmt: skip
        lines += [f"    {_node(k, shown.nodes[k])}" for k in inside.get(c, [])]
        lines.append("  }")
    lines += _edges(shown)
    return "\n".join([*lines, "}", ""])


def save_dot(thing: Drawn, path: str | PathLike[str]) -> None:
    """Write `to_dot(thing)` to a file, in UTF-8."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(to_dot(thing))


def _node(k: int, node: Node) -> str:
    look = NODES[node.kind]
    style = ",".join(["filled", *["rounded"] * look.round, *["dashed"] * look.dashed])
    given = {
        "label": "\n".join([node.label, *node.details]), "style": style,
        "fillcolor": look.fill, "color": look.stroke,
    }  # fmt: skip
    if look.bold:
        given["penwidth"] = "2"
    if node.hint:
        given["tooltip"] = node.hint
    return f'"n{k}" [{", ".join(_pair(*item) for item in given.items())}];'


def _edges(shown: Drawing) -> list[str]:
    lines = []
    for edge in shown.edges:
        color, dashed = EDGES[edge.kind]
        given = [_pair("style", "dashed")] if dashed else []
        if edge.kind == "in-place":
            given += [_pair("color", color), _pair("penwidth", "2")]
        look = f" [{', '.join(given)}]" if given else ""
        lines.append(f'  "n{edge.tail}" -> "n{edge.head}"{look};')
    return lines


def _pair(name: str, value: str) -> str:
    return f"{name}={quoted(value)}"


def quoted(text: str) -> str:
    """A DOT string that shows exactly this text.

    In a quoted string only `"` is special; in a label Graphviz also reads `\\n`, `\\N` and other
    escapes, and entities such as `&lt;`.
    """
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
