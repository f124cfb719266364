"""What a notebook is given: HTML, SVG and text of everything that has a picture."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import MISSING, Browser, exported
from nets import mlp
from pictures import levels, named

import deepgraph as dg
from deepgraph import nn, show
from deepgraph.dims import dim

ALL = {"text/html", "image/svg+xml", "text/plain"}


def things() -> dict[str, Any]:
    x = dg.placeholder("x", ("n", 8))
    model = mlp(8, 4)
    step = dg.compile({"y": model(x)}, backend="numpy")
    expr, graph, schedule, plan = levels()
    return {
        "expr": expr, "graph": graph, "schedule": schedule, "plan": plan, "step": step,
        "history": step.history, "timeline": plan.timeline(), "model": model,
        "profile": step.profile(x=np.ones((3, 8), np.float32), repeat=2),
        "diff": show.diff(expr, graph),
    }  # fmt: skip


@pytest.mark.parametrize("name", [*things()])
def test_everything_has_a_page_a_picture_and_a_text(name: str) -> None:
    thing = things()[name]
    bundle = thing._repr_mimebundle_()
    assert {*bundle} == ALL
    ElementTree.fromstring(bundle["image/svg+xml"])
    assert bundle["text/plain"]
    assert "http" not in re.sub(r"http://www.w3.org/2000/svg", "", bundle["text/html"])
    assert {*thing._repr_mimebundle_(include={"text/plain"})} == {"text/plain"}


@pytest.mark.parametrize("name", ["expr", "plan", "step", "profile"])
def test_without_scripts_the_picture_is_left(name: str) -> None:
    page = things()[name].to_html()
    (image,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    ElementTree.fromstring(base64.b64decode(image))


def test_a_model_is_text_until_it_has_met_an_input() -> None:
    model = mlp(8, 4)
    assert {*model._repr_mimebundle_()} == {"text/plain"}
    model(dg.placeholder("x", (dim("batch"), 3)))
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert "matmul" in bundle["image/svg+xml"]


def test_nodes_of_a_model_are_of_the_line_that_called_it() -> None:
    model = mlp(8, 4)
    model(dg.placeholder("x", (dim("batch"), 3)))  # met here
    page = model._repr_mimebundle_()["text/html"]
    assert "met here" in page
    assert "_repr_mimebundle_" not in page


def test_models_of_several_results_are_drawn() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            self.a, self.b = nn.Dense(3), nn.Dense(2)

        def forward(self, x: dg.Expr, y: dg.Expr) -> Any:
            return self.a(x), self.b(y)

    model = Two()
    model(dg.placeholder("p", ("n", 4)), dg.placeholder("q", ("n", 5)))
    picture = model._repr_mimebundle_()["image/svg+xml"]
    assert ">x0<" in picture
    assert ">x1<" in picture


def test_the_time_of_kernels_is_told_and_coloured() -> None:
    profile = things()["profile"]
    drawn = profile.drawn_as()
    assert sum(c.heat for c in drawn.clusters) == pytest.approx(1)
    assert all("us, " in c.detail for c in drawn.clusters)
    assert profile.to_svg().count("fill-opacity:") > len(drawn.clusters)
    assert profile.to_html().count("<tr>") == 1 + len(profile.rows)
    assert all(html.escape(row.name) in profile.to_html() for row in profile)
    row = profile.rows[0]
    best = max(row.bytes / profile.roof.bytes, row.flops / profile.roof.flops)
    assert profile.of_roof(row) == pytest.approx(best / row.seconds)


HOSTILE = "</script><script>document.title='taken'</script><!--<b>&amp;\""


@pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")
def test_names_cannot_leave_the_data(tmp_path: Path) -> None:
    named(HOSTILE).save_html(tmp_path / "page.html")
    with Browser(tmp_path) as browser:
        browser.open(tmp_path / "page.html")
        assert browser.run("document.title") != "taken"
        texts = browser.run("[...ROOT.querySelectorAll('.parameter text')].map(t => t.textContent)")
        assert texts[0].startswith(HOSTILE[:20])
        assert not browser.errors


@pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_exported_notebooks_show_it(theme: str, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    cells = []
    for name, thing in things().items():
        output = nbformat.v4.new_output("execute_result", thing._repr_mimebundle_())
        cells.append(nbformat.v4.new_code_cell(name, outputs=[output]))
    (tmp_path / "book.html").write_text(exported(nbformat.v4.new_notebook(cells=cells), theme))
    with Browser(tmp_path) as browser:
        browser.open(tmp_path / "book.html")
        hosts = "[...document.querySelectorAll('div.deepgraph')]"
        drawn = browser.run(f"{hosts}.map(h => h.shadowRoot?.querySelectorAll('.node').length)")
        assert len(drawn) == len(things()) - 1  # a timeline is a picture alone
        assert all(drawn)
        ink = browser.run("getComputedStyle(ROOT.querySelector('.node text')).fill")
        level = int(re.findall(r"\d+", ink)[0])
        assert level < 60 if theme == "light" else level > 200
