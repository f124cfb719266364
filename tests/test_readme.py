"""The Python blocks of the documents run, and give what stands below them."""

from __future__ import annotations

import linecache
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from deepgraph.errors import GraphError

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


class Block(NamedTuple):
    """Code, and what it prints or how it fails; None where the README does not say."""

    line: int
    code: str
    output: str | None


def blocks() -> Iterator[Block]:
    text = README.read_text(encoding="utf-8")
    fence = r"^```python\n(.*?)^```\n(?:\n```(?:text|py)\n(.*?)^```\n)?"
    for found in re.finditer(fence, text, re.DOTALL | re.MULTILINE):
        yield Block(text.count("\n", 0, found.start()) + 1, found[1], found[2])


BLOCKS = list(blocks())


def ran(code: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What code prints and how it fails, as if it stood in example.py."""
    lines = code.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "example.py", (len(code), None, lines, "example.py"))
    try:
        exec(compile(code, "example.py", "exec"), {"__name__": "example"})
    except GraphError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def test_the_readme_has_blocks_of_each_kind() -> None:
    assert len(BLOCKS) >= 3
    assert {block.output is None for block in BLOCKS} == {True, False}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line{block.line}")
def test_a_block_gives_what_the_readme_says(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest,
    golden: Callable[[str, str], None],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    error = ran(block.code, monkeypatch)
    printed = capsys.readouterr().out + error
    for picture in tmp_path.glob("*.svg"):
        golden(f"../../docs/{picture.name}", picture.read_text(encoding="utf-8"))
        assert f'src="docs/{picture.name}"' in README.read_text(encoding="utf-8")
    if block.output is not None and request.config.getoption("--update-golden"):
        text = README.read_text(encoding="utf-8")
        README.write_text(text.replace(block.output, f"{printed.strip()}\n"), encoding="utf-8")
    elif block.output is None:
        assert error == ""
    else:
        assert printed.strip() == block.output.strip()


def test_the_example_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "example"}
    exec(f"{BLOCKS[0].code}\nfound = evaluate(x=test.x, t=test.t)['accuracy']\n", scope)
    assert scope["found"] > 0.95
    assert (tmp_path / "digits.npz").exists()
    pytest.importorskip("matplotlib", reason="charts need matplotlib")
    text = README.read_text(encoding="utf-8")
    (training,) = re.findall(r"^```py\n(from deepgraph.training.*?)^```\n", text, re.S | re.M)
    exec(training, scope)
    assert scope["history"][-1]["test_accuracy"] > 0.95  # type: ignore[index]
    for name in ("history.csv", "history.svg", "run/last.npz", "run/best.npz"):
        assert (tmp_path / name).exists(), name


CHECKED = """
import numpy as np
import deepgraph as dg
from deepgraph.check import check_grad, check_step

values = np.linspace(-3, 3, 24).reshape(4, 6)
x = dg.placeholder("x", shape=("n", 6), dtype="float64")
step = dg.compile(softsign(x), backend="numpy")
np.testing.assert_allclose(step(x=values), values / (1 + np.abs(values)), rtol=1e-15)
check_step(softsign(x), feeds={"x": values})
check_grad(softsign, values)
"""


def test_the_operation_of_contributing_works(
    python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```\n", text, re.DOTALL | re.MULTILINE)
    done = python("-W", "error", "-c", block + CHECKED)
    assert done.returncode == 0, done.stderr
