"""What small programs compile to, as text: any change of it is to be looked at.

`pytest tests/test_golden.py --update-golden` writes the files anew; read the difference.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import PROGRAMS, Program

import deepgraph as dg

ROOT = Path(__file__).parents[1]
STAGES = ("fuse", "layout", "place")


def text(program: Program) -> str:
    """The kernels as fused and as laid out, the plan, and the source."""
    outputs, updates = program
    step = dg.compile(outputs, updates, backend="numpy")
    parts: list[str] = []
    before = ""
    for name in STAGES:
        stage = step.stages[name].value.render().rstrip()
        parts += [f"# {name}", "as before" if stage == before else stage, ""]
        before = stage
    return "\n".join([*parts, "# source", str(step.source).rstrip(), ""])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_text_of_a_program(
    program: Callable[[], Program], golden: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(ROOT)  # positions are relative to the current folder
    monkeypatch.setattr("deepgraph.ops.random._ids", itertools.count())
    found = text(program())
    assert str(ROOT) not in found
    golden(f"{program.__name__}.txt", found)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_c_of_a_program(
    program: Callable[[], Program], golden: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What the native backend writes; no compiler is needed to see it."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("deepgraph.ops.random._ids", itertools.count())
    outputs, updates = program()
    found = str(dg.emit(outputs, updates, backend="native")).rstrip() + "\n"
    assert str(ROOT) not in found
    golden(f"{program.__name__}.c", found)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_cuda_of_a_program(
    program: Callable[[], Program], golden: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What the cupy backend writes; no CuPy is needed to see it."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("deepgraph.ops.random._ids", itertools.count())
    outputs, updates = program()
    found = str(dg.emit(outputs, updates, backend="cupy")).rstrip() + "\n"
    assert str(ROOT) not in found
    golden(f"{program.__name__}.cu", found)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_cuda_loads_all_of_an_element_before_it_stores(program: Callable[[], Program]) -> None:
    """A map may run in place: what it stores must not be what it has yet to load."""
    outputs, updates = program()
    for text in dg.emit(outputs, updates, backend="cupy").kernels:
        if "\n// map over" in text:
            loads = [m.start() for m in re.finditer(r"dg_load<|= a\d+|\ba\d+\[", text)]
            stores = [m.start() for m in re.finditer(r"dg_save<|^\s*y\d+(\[.*\])? = ", text, re.M)]
            assert stores
            assert max(loads, default=0) < min(stores), text
