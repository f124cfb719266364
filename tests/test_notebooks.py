"""The notebooks run, and the outputs committed with them are what they give."""

from __future__ import annotations

import copy
import os
import re
from pathlib import Path
from typing import Any

import pytest
from browser import MISSING, Browser, exported

import deepgraph

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")
nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient")
pytest.importorskip("ipykernel", reason="notebooks need ipykernel")

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def run(path: Path, folder: Path) -> Any:
    """The notebook as it is after all cells ran in a folder, without what only a run has."""
    notebook = copy.deepcopy(nbformat.read(path, as_version=4))
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(
        notebook, timeout=120, resources=resources, coalesce_streams=True
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def spent() -> float:
    """Seconds that processors worked for what was started here and has ended."""
    used = os.times()
    return used.children_user + used.children_system


def kinds(cell: Any) -> list[Any]:
    """What kinds of output a cell has, in order."""
    return [sorted(o["data"]) if "data" in o else [o["name"]] for o in cell.outputs]


def test_there_is_a_notebook() -> None:
    names = ["01-declare", "02-passes", "03-kernels", "04-mnist", "05-memory"]
    assert [path.stem for path in NOTEBOOKS] == names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_committed_can_be_read_anywhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|work|tmp|usr|Users)/|site-packages", text)
    assert len(text) < 500_000
    for cell in nbformat.reads(text, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.execution_count, "was not run"
            assert not any(output.output_type == "error" for output in cell.outputs)
            assert not any("widget" in kind for output in cell.outputs
                           for kind in output.get("data", ()))  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_gives_what_is_committed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(deepgraph.__file__).parents[1]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # threads that wait for cores would spin
    before = spent()
    found = run(path, tmp_path)
    assert spent() - before < 20
    if request.config.getoption("--update-golden"):
        nbformat.write(found, path)
    for new, old in zip(found.cells, nbformat.read(path, as_version=4).cells, strict=True):
        if new.cell_type == "code":
            assert kinds(new) == kinds(old), new.source
            assert new.execution_count == old.execution_count
            if "same" in new.metadata.get("tags", ()):  # on every machine
                assert new.outputs == old.outputs, new.source


WIDGETS = "[...document.querySelectorAll('div.deepgraph')].map((host) => host.shadowRoot)"
MOVE = """(widget) => {
    const slider = widget.querySelector('input'), told = widget.querySelector('.told');
    const before = told.textContent;
    slider.value = 1;
    slider.dispatchEvent(new Event('input'));
    return [before, told.textContent];
}"""


@pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_committed_is_a_page_that_answers(
    path: Path, theme: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    image = pytest.importorskip("matplotlib.image", reason="a screenshot is read by matplotlib")
    notebook = nbformat.read(path, as_version=4)
    (tmp_path / "page.html").write_text(exported(notebook, theme), encoding="utf-8")
    with Browser(tmp_path, dark=theme == "dark") as browser:
        browser.open(tmp_path / "page.html")
        drawn = browser.run(f"{WIDGETS}.map((w) => w.querySelectorAll('.node').length)")
        outputs = [o for cell in notebook.cells for o in cell.get("outputs", ())]
        pages = [o.get("data", {}).get("text/html", "") for o in outputs]
        assert len(drawn) == sum('<div class="deepgraph">' in page for page in pages)
        assert all(drawn)
        if drawn:
            browser.click(".node:not(.layer) > rect")
            assert ", line " in browser.run("ROOT.querySelector('.side p').textContent")
        moved = browser.run(f"{WIDGETS}.filter((w) => w.querySelector('input')).map({MOVE})")
        assert bool(moved) == (path.stem == "02-passes")
        assert all(before != after for before, after in moved)
        folder = Path(request.config.getoption("--screenshots") or tmp_path)
        shot = folder / f"{path.stem}-{theme}.png"
        shot.write_bytes(browser.screenshot())
        pixels = image.imread(shot)[..., :3]
        assert (pixels.mean() > 0.8) == (theme == "light")
        assert pixels.std() > 0.05
        assert not browser.errors
        assert {a.partition(":")[0] for a in browser.asked} <= {"file", "data"}
