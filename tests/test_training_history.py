"""History: its rows as a table, as CSV and as a chart; the live chart of a notebook."""

from __future__ import annotations

import csv
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph.training import Chart, History, LivePlot, fit


def history(epochs: int) -> History:
    return History(
        {"epoch": k, "loss": 1 / k, "accuracy": 1 - 1 / (k + 1), "test_accuracy": 0.5,
         "seconds": 0.25, "examples_per_second": 12345.6}
        for k in range(1, epochs + 1)
    )  # fmt: skip


def test_rows_and_columns() -> None:
    kept = history(3)
    assert len(kept) == 3
    assert kept[-1]["epoch"] == 3
    assert kept["loss"] == [1, 1 / 2, 1 / 3]
    assert list(kept[1:]["epoch"]) == [2, 3]
    assert kept.metrics == ["loss", "accuracy", "test_accuracy"]
    with pytest.raises(KeyError, match="no column is called 'lose': there is epoch, loss,"):
        kept["lose"]
    with pytest.raises(dg.ArgumentError, match="a row has the columns of its history: got epoch a"):
        kept.append({"epoch": 4})
    assert history(0).columns == []


def test_the_table() -> None:
    assert repr(history(0)) == "History of no epochs"
    assert repr(history(2)).splitlines() == [
        "epoch    loss  accuracy  test accuracy  seconds  examples per second",
        "    1  1.0000    50.00%         50.00%     0.25               12,346",
        "    2  0.5000    66.67%         50.00%     0.25               12,346",
    ]
    lines = repr(history(100)).splitlines()
    assert [line.split()[0] for line in lines[1:]] == [
        *map(str, range(1, 11)), "…", *map(str, range(91, 101))
    ]  # fmt: skip
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0000"), (0.00012, "0.00012"), (123456.0, "1.23e+05"), (-2.5, "-2.5000"),
     (float("nan"), "nan"), (float("inf"), "inf")],
)  # fmt: skip
def test_numbers(value: float, text: str) -> None:
    row = {"epoch": 1, "loss": value, "seconds": 1.0, "examples_per_second": 1.0}
    assert repr(History([row])).splitlines()[1].split()[1] == text


def test_csv_keeps_every_digit(tmp_path: Path) -> None:
    kept = history(3)
    kept.to_csv(tmp_path / "history.csv")
    with (tmp_path / "history.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [{k: float(v) for k, v in row.items()} for row in rows] == list(kept)
    assert rows[0]["epoch"] == "1"
    assert b"\r" not in (tmp_path / "history.csv").read_bytes()


def lines(panel: Any) -> dict[str, list[list[float]]]:
    return {line.get_label(): np.asarray(line.get_data()).tolist() for line in panel.get_lines()}


def test_the_chart() -> None:
    pytest.importorskip("matplotlib", reason="charts need matplotlib")
    kept = history(4)
    chart = kept.plot()
    assert [panel.get_title() for panel in chart.axes] == ["loss", "accuracy"]
    epochs = [1, 2, 3, 4]
    assert lines(chart.axes[0]) == {"train": [epochs, kept["loss"]]}
    assert lines(chart.axes[1]) == {
        "train": [epochs, kept["accuracy"]], "test": [epochs, [0.5] * 4]
    }  # fmt: skip
    assert repr(chart) == "<chart of loss, accuracy>"
    bundle = chart._repr_mimebundle_()
    assert bundle["text/plain"] == repr(chart)
    assert bundle["image/svg+xml"] == history(4).plot().to_svg()
    root = ElementTree.fromstring(bundle["image/svg+xml"])
    told = {"".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"loss", "accuracy", "epoch", "train", "test"} <= told


def test_a_chart_of_nothing_and_of_one_epoch() -> None:
    pytest.importorskip("matplotlib", reason="charts need matplotlib")
    assert "<svg" in history(0).plot().to_svg()
    assert "<svg" in history(1).plot().to_svg()


def test_a_chart_on_axes_of_ones_own(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="charts need matplotlib")
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(2, 1)
    chart = history(2).plot(axes)
    assert chart.figure is figure
    assert lines(axes[0])["train"][1] == [1, 0.5]
    chart.save(tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(dg.ArgumentError, match="one for each kind of metric: got 1 for loss, acc"):
        history(2).plot(axes[:1])


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    message = r'a chart needs matplotlib: pip install "deepgraph-compiler\[notebook\]"'
    for make in (history(2).plot, LivePlot):
        with pytest.raises(ImportError, match=message):
            make()


def live(monkeypatch: pytest.MonkeyPatch, shell: object) -> list[Any]:
    """What LivePlot shows during a fit of three epochs, and how."""
    shown: list[Any] = []

    def points(chart: Chart) -> int:
        return sum(len(xs) for xs, *_ in lines(chart.axes[0]).values())

    class Handle:
        def update(self, what: Chart) -> None:
            shown.append(("update", points(what)))

    def display(what: Chart, *, display_id: bool) -> Handle:
        shown.append(("display", points(what)))
        return Handle()

    ipython, module = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    plot = LivePlot()
    for _ in range(2):
        fit(lambda x: {"loss": 1.0}, ([1.0],), epochs=3, feeds=["x"], callbacks=[plot],
            progress=False)  # fmt: skip
    return shown


def test_a_live_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="charts need matplotlib")

    class Notebook:
        kernel = object()

    once = [("display", 0), ("update", 1), ("update", 2), ("update", 3)]
    assert live(monkeypatch, Notebook()) == once * 2  # a chart for each fit
    assert live(monkeypatch, object()) == []  # IPython in a terminal
    assert live(monkeypatch, None) == []
