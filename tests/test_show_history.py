"""step.history: what each pass did, told from provenance; a page that shows it by itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import MISSING, Browser
from nets import lenet, mlp

import deepgraph as dg
from deepgraph import nn, optim
from deepgraph.show.history import _rising


def trained(model: nn.Module, *shape: int) -> dg.Step:
    """A training step of a model."""
    x = dg.placeholder("x", shape=("batch", *shape))
    t = dg.placeholder("t", shape=("batch",), dtype="int64")
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    updates = optim.Adam(0.01).updates(loss, model.parameters)
    return dg.compile({"loss": loss}, updates, backend="numpy", hints={"batch": 32})


@pytest.fixture(scope="module")
def step() -> dg.Step:
    return trained(lenet(), 1, 28, 28)


def brought(element: str) -> dict[str, Any]:
    """The data that a widget draws."""
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', element, re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


def test_an_entry_a_pass_with_its_time_and_counts(step: dg.Step) -> None:
    entries = {e.name: e for e in step.history}
    assert [*entries] == [*step.stages]
    for name, stage in step.stages.items():
        assert entries[name].seconds == stage.seconds
        assert entries[name].value is stage.value
    assert entries["own"].kernels is None
    assert entries["place"].kernels == len(step.kernels)
    assert entries["place"].nodes == sum(len(k.nodes) for k in step.kernels)
    assert str(entries["place"].bytes) == str(step.plan.peak_bytes)


def test_what_was_done_is_what_was_done() -> None:
    x = dg.placeholder("x", ("n", 4))
    twice = [dg.exp(x), dg.exp(x)]
    inverse = dg.negative(-x)
    step = dg.compile({"y": twice[0] + twice[1], "z": dg.tanh(inverse)}, backend="numpy")
    entries = {e.name: e for e in step.history}
    assert {n for n, mark in entries["share"].lost.items() if mark == "merged"} == {*twice}
    assert entries["share"].done == "2 merged into 1"
    assert entries["simplify"].lost[inverse] == "replaced"
    assert [*entries["simplify"].lost.values()].count("removed") == 1
    fused = entries["fuse"].made
    kernels = [k for k in step.stages["fuse"].value.kernels if len(k.nodes) > 1]
    assert {*fused} == {n for k in kernels for n in k.nodes}


def test_what_runs_in_place_is_marked() -> None:
    p = dg.Parameter(np.zeros(4, np.float32), name="p")
    step = dg.compile({"y": dg.sum(p)}, {p: p * 0.5}, backend="numpy")
    (marked,) = [e for e in step.history if e.name == "place"]
    (value,) = marked.made
    assert (value.op.name, marked.made[value]) == ("multiply", "in_place")
    assert str(step.plan.homes[value]) == "parameter p"


def test_what_moves_is_the_least_that_could() -> None:
    assert _rising([0, 1, 2]) == {0, 1, 2}
    assert _rising([1, 2, 3, 0]) == {0, 1, 2}
    assert len(_rising([3, 0, 1, 2, 5, 4])) == 4
    assert _rising([]) == set()


def test_the_table_has_a_row_a_pass(step: dg.Step) -> None:
    lines = str(step.history).splitlines()
    assert lines[0].split()[:5] == ["pass", "operations", "kernels", "memory", "ms"]
    assert [line.split()[0] for line in lines[1:]] == [*step.stages]


def test_the_page_brings_every_stage_and_every_kernel(step: dg.Step) -> None:
    data = brought(step.history.to_html())
    assert [s["name"] for s in data["stages"]] == [*step.stages]
    assert data["kernels"] == list(step.source.parts)
    assert len(data["kernels"]) == len(step.kernels)

    def kernels(number: int) -> set[int]:
        sheet = data["sheets"][number]
        inner = [kernels(n["inside"]) for n in sheet["nodes"] if "inside" in n]
        return {k["number"] for k in sheet["kernels"]}.union(*inner)

    assert kernels(data["stages"][-1]["sheet"]) == set(range(len(step.kernels)))
    declared = data["sheets"][data["stages"][0]["sheet"]]
    assert any("kernel" in n for n in declared["nodes"])  # told for nodes before there were any


def test_lines_meet_the_sides_of_boxes_to_the_pixel(step: dg.Step) -> None:
    for sheet in brought(step.history.to_html())["sheets"]:
        boxes = [node["at"] for node in sheet["nodes"]]
        for edge in sheet["edges"]:
            _, top, _, tall = boxes[edge["tail"]]
            assert edge["route"][1] == top + tall
            assert edge["route"][-1] == boxes[edge["head"]][1]


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_parts_of_a_source_are_each_kernels_own(backend: str) -> None:
    source = dg.emit(dg.sum(dg.exp(dg.placeholder("x", ("n", 4)) @ np.ones((4, 4), "float32"))),
                     backend=backend)  # fmt: skip
    assert len(source.parts) >= 2
    assert len({*source.parts}) == len(source.parts)
    for part in source.parts:
        assert part.lstrip("#/ ").strip()
        assert all(line.strip() in str(source) for line in part.splitlines())


def test_pages_need_nothing_from_elsewhere(step: dg.Step) -> None:
    element = step.history.to_html()
    outside = re.findall(r"https?://[^\"' )<]*", element)
    assert set(outside) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"@import|@font-face|url\(|fetch\(|XMLHttpRequest|<link", element)


CUT = "(() => { const m = ROOT.querySelector('.main'); return m.scrollWidth > m.clientWidth })()"


@pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")
def test_code_has_the_room_that_the_picture_leaves(tmp_path: Path) -> None:
    x = dg.placeholder("x", ("n", 4))
    y = dg.softmax(x * 2)
    dg.compile(y, backend="numpy").save_html(tmp_path / "small.html")
    with Browser(tmp_path) as browser:
        browser.open(tmp_path / "small.html")
        browser.click(".kernel > rect")
        for part in (".view", ".side pre"):
            room = browser.run(f"ROOT.querySelector('{part}').clientWidth")
            assert browser.run(f"ROOT.querySelector('{part}').scrollWidth") <= room, part
        assert not browser.run(CUT)


CENTRE = """(() => {
    const view = ROOT.querySelector('.view');
    const a = view.getBoundingClientRect(), b = view.querySelector('svg').getBoundingClientRect();
    return [(a.x + view.clientWidth / 2 - b.x) / b.width, b.width];
})()"""  # where the middle of what is seen lies in the picture, and how wide that is


@pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")
def test_zooming_keeps_the_middle_and_begins_readable(tmp_path: Path) -> None:
    wide_row = [dg.exp(dg.tanh(dg.placeholder(f"x{k}", (3,)))) for k in range(40)]
    dg.concat(wide_row).save_html(tmp_path / "wide.html")
    with Browser(tmp_path) as browser:
        browser.open(tmp_path / "wide.html")
        size = "parseFloat(getComputedStyle(ROOT.querySelector('.node text')).fontSize)"
        zoom = "ROOT.querySelector('.node rect').getBoundingClientRect().width"
        real = "ROOT.querySelector('.node rect').getBBox().width"
        assert browser.run(f"{size} * {zoom} / {real}") > 7.5
        browser.run("(() => { const v = ROOT.querySelector('.view');"
                    "v.scrollTo(v.scrollWidth / 3, 0) })()")  # fmt: skip
        x, wide = browser.run(CENTRE)
        for button in ("larger", "size of the text", "smaller"):
            browser.click(f"button[title*='{button}']")
            assert browser.run(CENTRE)[0] == pytest.approx(x, abs=0.005), button
            assert browser.run(CENTRE)[1] != wide


@pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")
@pytest.mark.parametrize("dark", [False, True])
def test_the_slider_moves_and_nodes_tell(step: dg.Step, dark: bool, tmp_path: Path) -> None:
    step.history.save_html(tmp_path / "history.html")
    with Browser(tmp_path, dark) as browser:
        browser.open(tmp_path / "history.html")
        assert browser.run("ROOT.querySelectorAll('.ticks span').length") == len(step.stages)
        for k, entry in enumerate(step.history):
            browser.run(f"(() => {{ const s = ROOT.querySelector('input'); s.value = {k};"
                        "s.dispatchEvent(new Event('input')); })()")  # fmt: skip
            told = browser.run("ROOT.querySelector('.told').textContent")
            assert told.startswith(f"{entry.nodes} operations")
            assert told.endswith(entry.done)
        shown = browser.run("ROOT.querySelectorAll('.node').length")
        browser.click(".layer")
        assert browser.run("ROOT.querySelectorAll('.layer.open').length") == 1
        assert browser.run("ROOT.querySelectorAll('.node').length") > shown
        browser.click(".layer.open > text")
        assert browser.run("ROOT.querySelectorAll('.node').length") == shown
        browser.click(".node.call > rect")
        number = int(browser.run("ROOT.querySelector('.node.call').dataset.kernel"))
        code = browser.run("ROOT.querySelector('.side pre').textContent")
        assert code == step.source.parts[number]
        assert browser.run("ROOT.querySelectorAll('.chosen').length") >= 2
        browser.hover(".node.placeholder > rect")
        assert "test_show_history.py" in browser.run("ROOT.querySelector('.side').textContent")
        browser.click("button")  # before
        assert browser.run("ROOT.querySelector('button.on').textContent") == "before"
        ink = browser.run("getComputedStyle(ROOT.querySelector('.node text')).fill")
        assert ink == ("rgb(255, 255, 255)" if dark else "rgb(0, 0, 0)")
        assert browser.run("ROOT.querySelector('.side').clientWidth") > 260
        assert not browser.run(CUT), "the widget is wider than the page"
        assert not browser.errors
        assert [a.partition(":")[0] for a in browser.asked] == ["file", "data"]
        assert browser.screenshot()[:4] == b"\x89PNG"


@pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")
def test_boxes_keep_apart_when_layers_open(tmp_path: Path) -> None:
    trained(mlp(*[16] * 6, 4), 8).history.save_html(tmp_path / "history.html")
    with Browser(tmp_path) as browser:
        browser.open(tmp_path / "history.html")
        browser.run("ROOT.querySelector('.ticks span').onclick()")
        for _ in range(5):
            browser.click(".layer:not(.open)")
        over = browser.run("""(() => {
            const rects = [...ROOT.querySelectorAll('.view .node:not(.open) > rect')].map(
                (r) => r.getBoundingClientRect());
            let over = 0;
            for (const a of rects) for (const b of rects)
                over += a !== b && a.left < b.right - 1 && b.left < a.right - 1
                    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
            return [rects.length, over];
        })()""")
        assert over[0] > 20
        assert over[1] == 0
        assert browser.run("ROOT.querySelectorAll('.layer.open').length") == 5
        outside = browser.run("""[...ROOT.querySelectorAll('.view .node > text')].filter((t) => {
            const a = t.getBoundingClientRect(),
                b = t.parentNode.querySelector('rect').getBoundingClientRect();
            return a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1;
        }).map((t) => t.textContent)""")
        assert outside == []
