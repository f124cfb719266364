"""Mermaid: the flowchart language that code hosts and wikis draw."""

from __future__ import annotations

import re

from deepgraph.drawn import Drawn
from deepgraph.show.drawing import Node, drawing
from deepgraph.show.layers import folded
from deepgraph.show.palette import INK, NODES

_ARROWS = {"data": "-->", "alias": "-.->", "in-place": "==>"}


def to_mermaid(thing: Drawn) -> str:
    """An expression, graph, schedule or plan as a Mermaid flowchart, kernels as subgraphs.

    Dotted arrows lead to views, thick ones to what takes the memory of what it reads. Layers of
    large graphs are folded, since hosts refuse long charts.
    """
    shown = folded(drawing(thing))
    inside: dict[int | None, list[int]] = {}
    for k, node in enumerate(shown.nodes):
        inside.setdefault(node.cluster, []).append(k)
    lines = ["flowchart TD"]
    for c, cluster in enumerate(shown.clusters):
        title = " · ".join(filter(None, [cluster.title, cluster.detail]))
        lines.append(f"  subgraph k{c}[{quoted(title)}]")
        lines += [f"    {_node(k, shown.nodes[k])}" for k in inside.get(c, [])]
        lines.append("  end")
    lines += [f"  {_node(k, shown.nodes[k])}" for k in inside.get(None, [])]
    lines += [f"  n{e.tail} {_ARROWS[e.kind]} n{e.head}" for e in shown.edges]
    for kind in dict.fromkeys(node.kind for node in shown.nodes):
        look = NODES[kind]
        dash = ",stroke-dasharray:4 3" if look.dashed else ""
        colours = f"fill:{look.fill},stroke:{look.stroke},color:{INK}{dash}"
        lines.append(f"  classDef {_class(kind)} {colours}")
    return "\n".join([*lines, ""])


def _node(k: int, node: Node) -> str:
    text = quoted("\n".join([node.label, *node.details]))
    box = f"([{text}])" if NODES[node.kind].round else f"[{text}]"
    return f"n{k}{box}:::{_class(node.kind)}"


def _class(kind: str) -> str:
    return f"of_{kind}"  # call, among others, is a word of the language


def quoted(text: str) -> str:
    """A string that shows exactly this text: what Mermaid or HTML would read goes by its number."""
    lines = text.replace("\\n", "\\\u2060n").split("\n")  # or it would break the line there
    coded = [re.sub(r"[^\w\s.,:=()\[\]+·*-]", lambda c: f"#{ord(c[0])};", line) for line in lines]
    return '"' + "<br>".join(line or " " for line in coded) + '"'
