"""plan.timeline: bars that tell where values are, against the plan; the picture itself."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import numpy as np
import pytest
from pictures import random_levels

import deepgraph as dg
from deepgraph.dims import bind
from deepgraph.plan import Plan, times

SEEDS = range(6)


def plan() -> Plan:
    x = dg.placeholder("x", ("n", 8))
    w = dg.Parameter(np.ones((8, 8), np.float32), name="w")
    h = dg.relu(dg.tanh(x @ w) @ w)
    return dg.compile({"y": dg.sum(h)}, {w: w * 0.5}, backend="numpy", without=["fuse"]).plan


@pytest.mark.parametrize("seed", SEEDS)
def test_bars_never_lie_over_each_other(seed: int) -> None:
    line = random_levels(seed, 40)[2].timeline()
    for a, b in itertools.combinations([b for b in line.bars if b.bytes], 2):
        handed = (a.value is not None and b.over is a.value) or (
            b.value is not None and a.over is b.value
        )
        if a.first <= b.last and b.first <= a.last and not handed:
            assert a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
    assert all(b.offset + b.bytes <= line.binding.peak_bytes for b in line.bars)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_value_in_the_arena_has_a_bar_from_its_maker_to_its_last_reader(seed: int) -> None:
    held = random_levels(seed, 40)[2]
    line = held.timeline()
    bars = {b.value: b for b in line.bars if b.value is not None}
    assert {*bars} == {v for v, home in held.homes.items() if home.kind == "slot"}
    when = times(held.schedule, held.target)
    for value, bar in bars.items():
        maker = held.schedule.maker[value]
        assert bar.first < when[maker].stop
        reading = [when[k].start for k in held.schedule.kernels if value in {*k.reads}]
        assert bar.last >= max(reading, default=bar.first)
    assert max(line.alive, default=0) <= line.binding.peak_bytes


def test_sizes_are_those_given_or_typical_ones() -> None:
    held = plan()
    assert held.timeline().sizes == {"n": 32}
    line = held.timeline(n=100)
    assert line.binding.peak_bytes == held.bind({"n": 100}).peak_bytes
    assert line.unplanned_bytes == bind(held.unplanned_bytes, {"n": 100})
    assert "n=100" in repr(line)


def test_what_runs_in_place_is_handed_over() -> None:
    line = plan().timeline(n=4)
    handed = [b for b in line.bars if b.over is not None]
    assert handed
    by_value = {b.value: b for b in line.bars}
    for bar in handed:
        before = by_value[bar.over]
        assert (before.offset, before.last) == (bar.offset, bar.first)
    root = ElementTree.fromstring(line.to_svg())
    red = [p for p in root.iter() if p.get("class") == "edge in-place"]
    assert len(red) == len(handed)
    assert len([p for p in root.iter() if p.get("class") == "peak"]) == 1


def test_the_picture_has_every_value_and_both_sums() -> None:
    line = plan().timeline(n=4)
    text = line.to_svg()
    root = ElementTree.fromstring(text)
    hints = [t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len(hints) == len(line.bars)
    assert any("matmul" in hint and "test_show_timeline.py" in hint for hint in hints)
    assert ">reuse<" in text
    assert ">no reuse<" in text
    assert plan().to_html().startswith("<svg")


def test_a_plan_without_an_arena_is_an_empty_picture() -> None:
    p = dg.Parameter(np.zeros(3, np.float32), name="p")
    line = dg.compile({}, {p: p * 2}, backend="numpy").plan.timeline()
    assert line.bars == ()
    ElementTree.fromstring(line.to_svg())
