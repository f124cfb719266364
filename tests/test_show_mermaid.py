"""Mermaid: any name a user can type, the same nodes, edges and kernels as every other picture."""

from __future__ import annotations

import re

import pytest
from pictures import levels, named
from test_show_dot import NAMES

from deepgraph.show.drawing import drawing
from deepgraph.show.mermaid import quoted


def shown(text: str) -> str:
    """What a browser shows of a quoted string."""
    assert text[0] == text[-1] == '"'
    assert not set(text[1:-1].replace("<br>", "")) & set('"<>`&')
    decoded = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), text[1:-1].replace("<br>", "\n"))
    return decoded.replace("\u2060", "")  # takes no room


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_shown_as_it_is(name: str) -> None:
    assert shown(quoted(name)) == (name or " ")
    graph = named(name)
    texts = re.findall(r'n\d+\(?\[(".*")\]\)?:::', graph.to_mermaid())
    wanted = ["\n".join([n.label, *n.details]) for n in drawing(graph).nodes]
    assert [shown(t) for t in texts] == [
        "\n".join(line or " " for line in w.split("\n")) for w in wanted
    ]


@pytest.mark.parametrize("level", range(4))
def test_nodes_edges_and_kernels_are_there(level: int) -> None:
    thing = levels()[level]
    text, seen = thing.to_mermaid(), drawing(thing)
    assert text.startswith("flowchart TD\n")
    assert len(re.findall(r"^ *n\d+[\[(]", text, re.MULTILINE)) == len(seen.nodes)
    edges = re.findall(r"^  n(\d+) (-->|-\.->|==>) n(\d+)$", text, re.MULTILINE)
    arrow = {"data": "-->", "alias": "-.->", "in-place": "==>"}
    assert edges == [(str(e.tail), arrow[e.kind], str(e.head)) for e in seen.edges]
    assert text.count("subgraph ") == text.count("\n  end") == len(seen.clusters)
