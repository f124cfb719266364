"""DOT: read by pydot, by networkx and by Graphviz itself, with any name a user can type."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from pictures import levels, named

import deepgraph as dg
from deepgraph.show.drawing import drawing

NAMES = [
    "a:b", "A\\A", '"q"', "<b>", "two\nlines", "über 漢字 🎈", "{x|y}", "a;b -> c", "end\\", "\\N",
    "&lt;b&gt;", "a&b", "&#65;", "node", "#", "//", "[x]", "a\\nb", '\\"', " ", "",
]  # fmt: skip
# pydot's grammar makes pyparsing complain while it is built
pytestmark = [
    pytest.mark.filterwarnings("ignore:warn_ungrouped_named_tokens"),
    pytest.mark.filterwarnings("ignore:.* deprecated - use:DeprecationWarning"),
]
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


def unescaped(quoted: str) -> str:
    """The text that Graphviz shows for a quoted label: its escapes, then its entities."""
    assert quoted[0] == quoted[-1] == '"'
    text = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), quoted[1:-1])
    return text.replace("&amp;", "&")


def graphviz(text: str, form: str) -> str:
    done = subprocess.run(
        ["dot", f"-T{form}"], input=text.encode(), capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize("name", NAMES)
def test_labels_survive_pydot(name: str) -> None:
    pydot = pytest.importorskip("pydot", reason="pydot is not installed")
    graph = named(name)
    (parsed,) = pydot.graph_from_dot_data(graph.to_dot())
    found = [unescaped(n.get("label")) for n in parsed.get_nodes() if n.get("label")]
    assert found == ["\n".join([n.label, *n.details]) for n in drawing(graph).nodes]
    assert Counter((e.get_source(), e.get_destination()) for e in parsed.get_edges()) == Counter(
        (f'"n{e.tail}"', f'"n{e.head}"') for e in drawing(graph).edges
    )


@pytest.mark.parametrize("name", NAMES)
def test_networkx_reads_the_same_graph(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pydot", reason="pydot is not installed")
    import networkx as nx

    graph = named(name)
    graph.save_dot(tmp_path / "graph.dot")
    text = (tmp_path / "graph.dot").read_text(encoding="utf-8")
    assert text == graph.to_dot()
    read = nx.nx_pydot.read_dot(tmp_path / "graph.dot")
    shown = drawing(graph)
    assert sorted(read.edges()) == sorted((f"n{e.tail}", f"n{e.head}") for e in shown.edges)
    assert [unescaped(read.nodes[f"n{k}"]["label"]) for k in range(len(shown.nodes))] == [
        "\n".join([n.label, *n.details]) for n in shown.nodes
    ]


@needs_dot
@pytest.mark.parametrize("name", NAMES)
def test_graphviz_shows_every_name_as_it_is(name: str) -> None:
    graph = named(name)
    drawn = json.loads(graphviz(graph.to_dot(), "json"))
    texts = [
        [op["text"] for op in node.get("_ldraw_", ()) if op["op"] == "T"]
        for node in sorted(drawn["objects"], key=lambda node: node["_gvid"])
    ]
    wanted = [[*n.label.split("\n"), *n.details] for n in drawing(graph).nodes]
    assert texts == [[line for line in lines if line] for lines in wanted]


def test_what_no_picture_can_show_is_replaced() -> None:
    text = named("a\0b\x1b\ud800").to_dot()
    assert "a\ufffdb\ufffd\ufffd" in text
    text.encode()


@needs_dot
@pytest.mark.parametrize("level", range(4))
def test_graphviz_reads_every_level_without_a_warning(level: int) -> None:
    graphviz(levels()[level].to_dot(), "svg")


@pytest.mark.parametrize("level", [2, 3])
def test_kernels_are_clusters_with_titles(level: int) -> None:
    pydot = pytest.importorskip("pydot", reason="pydot is not installed")
    thing = levels()[level]
    schedule = thing if level == 2 else thing.schedule
    (parsed,) = pydot.graph_from_dot_data(thing.to_dot())
    clusters = parsed.get_subgraphs()
    assert [c.get_name() for c in clusters] == [
        f'"cluster_{k}"' for k in range(len(schedule.kernels))
    ]
    shown = drawing(thing)
    for k, cluster in enumerate(clusters):
        (look,) = cluster.get_node("graph")
        title = shown.clusters[k]
        assert unescaped(look.get("label")) == "\n".join(filter(None, [title.title, title.detail]))
        inside = [n.get_name() for n in cluster.get_nodes() if n.get_name() != "graph"]
        assert inside == [f'"n{i}"' for i, n in enumerate(shown.nodes) if n.cluster == k]


def test_edges_of_each_kind_look_different() -> None:
    lines = levels()[3].to_dot().split("\n")
    shown = drawing(levels()[3])
    looks: dict[str, set[str]] = {}
    for edge in shown.edges:
        head = f'  "n{edge.tail}" -> "n{edge.head}"'
        looks.setdefault(edge.kind, set()).update(
            line.removeprefix(head) for line in lines if line.startswith(head)
        )
    assert set(looks) == {"data", "alias", "in-place"}
    assert len(set().union(*looks.values())) == 3


def test_the_same_graph_gives_the_same_text() -> None:
    assert levels()[3].to_dot() == levels()[3].to_dot()


def test_a_deep_graph_is_written_whole() -> None:
    x = dg.placeholder("x", ("n",))
    y = x
    for _ in range(50_000):
        y = dg.tanh(y)
    assert y.to_dot().count("tanh") >= 50_000
