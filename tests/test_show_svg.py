"""SVG: well-formed, self-contained, with every name as it is; quick, and bounded for any size."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from pictures import compiled, levels, named
from test_show_dot import NAMES

import deepgraph as dg
from deepgraph.expr import Expr
from deepgraph.graph import Graph
from deepgraph.show import save_svg, to_svg
from deepgraph.show.drawing import drawing

SVG = "{http://www.w3.org/2000/svg}"


def groups(svg: str) -> list[tuple[str, list[str]]]:
    """The class and the lines of text of each group."""
    root = ElementTree.fromstring(svg)
    return [
        (g.get("class", ""), [t.text or "" for t in g.iter(f"{SVG}text")])
        for g in root.iter(f"{SVG}g")
    ]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_shown_as_it_is(name: str) -> None:
    graph = named(name)
    drawn = [lines for kind, lines in groups(graph.to_svg()) if kind == "parameter"]
    (node,) = [n for n in drawing(graph).nodes if n.kind == "parameter"]
    assert drawn == [[*node.label.split("\n"), *node.details]]
    assert name == "" or node.label == name


def test_control_characters_leave_it_well_formed() -> None:
    svg = named("a\0b\x1b\ud800\uffff").to_svg()
    assert "a\ufffdb\ufffd\ufffd\ufffd" in svg
    ElementTree.fromstring(svg.encode())


@pytest.mark.parametrize("level", range(4))
def test_every_node_and_kernel_is_there(level: int) -> None:
    thing = levels()[level]
    shown = drawing(thing)
    found = groups(to_svg(thing))
    nodes = [lines for kind, lines in found if kind != "kernel" and "again" not in kind]
    assert [[n.label, *n.details] for n in shown.nodes] == nodes
    kernels = [lines for kind, lines in found if kind == "kernel"]
    assert kernels == [[t for t in (c.title, c.detail) if t] for c in shown.clusters]


def test_kinds_of_edges_are_paths_of_their_own() -> None:
    root = ElementTree.fromstring(levels()[3].to_svg())
    kinds = {p.get("class") for p in root.iter(f"{SVG}path")}
    assert kinds == {
        f"{part} {k}" for part in ("edge", "head") for k in ("data", "alias", "in-place")
    }
    shown = drawing(levels()[1])
    root = ElementTree.fromstring(levels()[1].to_svg())
    heads = [
        p.get("d", "").count("M") for p in root.iter(f"{SVG}path") if "head" in p.get("class", "")
    ]
    assert sum(heads) == len(shown.edges)


def strokes(svg: str, kind: str) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The ends of each line and curve of the edges of a kind."""
    root = ElementTree.fromstring(svg)
    (path,) = [p for p in root.iter(f"{SVG}path") if p.get("class") == f"edge {kind}"]
    found, pen = [], (0.0, 0.0)
    for letter, rest in re.findall("([MVC])([^MVC]*)", path.get("d", "")):
        numbers = [float(n) for n in rest.split()]
        end = (pen[0], numbers[0]) if letter == "V" else (numbers[-2], numbers[-1])
        if letter != "M":
            found.append((pen, end))
        pen = end
    return found


def test_lines_end_inside_their_heads() -> None:
    svg = levels()[1].to_svg()
    root = ElementTree.fromstring(svg)
    for kind in ("data", "alias"):
        ends = {end for _, end in strokes(svg, kind)}
        (heads,) = [p for p in root.iter(f"{SVG}path") if p.get("class") == f"head {kind}"]
        for x, y in re.findall(r"M(\S+) (\S+)h7l-3.5 7z", heads.get("d", "")):
            middle, top = float(x) + 3.5, float(y)
            assert any(abs(at - middle) < 0.11 and top <= low < top + 6 for at, low in ends), (
                f"no line leads to the head at {middle}, {top}"
            )


def test_what_edges_share_is_drawn_once() -> None:
    x = dg.placeholder("x", ("n",))
    h = y = dg.exp(x)
    for _ in range(6):
        y = dg.maximum(dg.tanh(y), h)
    drawn = strokes(y.to_svg(), "data")
    assert len(drawn) == len(set(drawn))
    for a, b in drawn:  # no upright line runs over another
        over = [s for s in drawn if s[0][0] == s[1][0] == a[0] == b[0] and s != (a, b)]
        assert all(low <= a[1] or b[1] <= high for (_, high), (_, low) in over)


def test_tooltips_say_where_a_node_was_declared() -> None:
    x = dg.placeholder("x", (3,))
    root = ElementTree.fromstring(dg.exp(x < 1).to_svg())
    hints = [t.text or "" for t in root.iter(f"{SVG}title")]
    assert all("test_show_svg.py" in h for h in hints)
    assert any("dg.exp(x < 1)" in h for h in hints)


def test_it_needs_nothing_from_elsewhere() -> None:
    svg = levels()[3].to_svg()
    assert svg.count("http") == 1  # the name of the SVG namespace
    assert not re.search(r"<(image|script|use|foreignObject|link)|@import|@font-face|url\(", svg)
    assert re.findall(r"font-family:([^;}]*)", svg) == ["sans-serif"]
    assert "@media (prefers-color-scheme:dark)" in svg
    assert " id=" not in svg  # pictures in one page cannot meet


def test_it_is_drawn_inside_its_view_box() -> None:
    root = ElementTree.fromstring(levels()[3].to_svg())
    x0, y0, wide, tall = map(float, root.get("viewBox", "").split())
    assert (float(root.get("width", "")), float(root.get("height", ""))) == (wide, tall)
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(k, "")) for k in ("x", "y", "width", "height"))
        assert x0 < x < x + w < x0 + wide
        assert y0 < y < y + h < y0 + tall


def test_the_same_graph_gives_the_same_picture(tmp_path: Path) -> None:
    one, two = levels()[3], levels()[3]
    assert one.to_svg() == two.to_svg()
    one.save_svg(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == one.to_svg()


@pytest.mark.skipif(shutil.which("rsvg-convert") is None, reason="librsvg is not installed")
@pytest.mark.parametrize("level", range(4))
def test_a_renderer_draws_it(level: int, tmp_path: Path) -> None:
    save_svg(levels()[level], tmp_path / "a.svg")
    done = subprocess.run(
        ["rsvg-convert", "a.svg", "-o", "a.png"], cwd=tmp_path, capture_output=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"", b"")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def deep(count: int) -> Expr:
    y = dg.placeholder("x", ("n",))
    for _ in range(count):
        y = dg.tanh(y)
    return y


def ladder(count: int) -> Graph:
    """A chain and its gradient: every rung crosses the whole graph."""
    w = dg.Parameter(np.zeros(4, np.float32), name="w")
    loss = dg.sum(_layers(w, count))
    return Graph((), {"loss": loss}, {w: dg.grad(loss, w)})


def _layers(w: Expr, count: int) -> Expr:
    y = w
    for _ in range(count):
        y = dg.tanh(y * w)
    return y


def fan(count: int) -> Graph:
    x = dg.placeholder("x", ("n",))
    return Graph((), {f"y{k}": dg.exp(x * float(k)) for k in range(count)})


@pytest.mark.parametrize(
    ("make", "most"),
    [(lambda: deep(50_000), 5_010), (lambda: ladder(150), 5_010), (lambda: fan(300), 5_010),
     (lambda: ladder(1_500), 5_010), (lambda: fan(5_000), 5_010)],
    ids=["deep", "ladder", "fan", "long ladder", "wide fan"],
)  # fmt: skip
def test_any_size_is_drawn_in_seconds(make: Callable[[], Any], most: int) -> None:
    thing = make()
    count = len(drawing(thing).nodes)
    start = time.process_time()
    svg = to_svg(thing)
    seconds = time.process_time() - start
    root = ElementTree.fromstring(svg)
    drawn = [g for g in root.iter(f"{SVG}g") if "again" not in g.get("class", "")]
    assert len(drawn) == min(count, 5_001)
    assert ("more nodes" in svg) == (count > 5_000)
    assert seconds < 12  # a quarter of that on an idle machine


def test_plans_of_many_kernels_are_drawn() -> None:
    outputs = {f"y{k}": dg.sum(dg.exp(dg.placeholder(f"x{k}", (4, 5))), axis=0) for k in range(60)}
    plan = compiled(outputs)[2]
    kinds = [kind for kind, _ in groups(plan.to_svg())]
    assert kinds.count("kernel") == len(plan.schedule.kernels)
    assert kinds.count("output") == 60


def test_an_empty_graph_is_an_empty_picture() -> None:
    assert groups(Graph((), {}).to_svg()) == []
