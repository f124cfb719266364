"""History: what each epoch came to."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from deepgraph.errors import ArgumentError

if TYPE_CHECKING:
    from deepgraph.training.plot import Chart

Row: TypeAlias = Mapping[str, float]
CLOCK = ("seconds", "examples_per_second")  # of the training alone
TEST = "test_"  # what the names of an evaluation's metrics begin with
_SHOWN = 20  # rows of a table; of more, the middle is left out


class History(Sequence[Row]):
    """A row for each epoch: `epoch`, the metrics, `seconds` and `examples_per_second`.

    Metrics are means over the epoch, those of the evaluation under names that begin with `test_`.
    `history[-1]` is the last row, `history["loss"]` a column. A fit that is given a history goes
    on after its last epoch.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: list[Row] = []
        self.replace(rows)

    def append(self, row: Row) -> None:
        """Add an epoch. Raises ArgumentError where it has other columns than those before."""
        if self._rows and list(row) != self.columns:
            raise ArgumentError(
                f"a row has the columns of its history: got {', '.join(row)} "
                f"after {', '.join(self.columns)}"
            )
        self._rows.append(dict(row))

    def replace(self, rows: Iterable[Row]) -> None:
        """Hold these rows alone."""
        self._rows = []
        for row in rows:
            self.append(row)

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self._rows[0]) if self._rows else []

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""
        return [name for name in self.columns if name not in ("epoch", *CLOCK)]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> History: ...
    @overload
    def __getitem__(self, key: str) -> list[float]: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return History(self._rows[key])
        if isinstance(key, str):
            if key not in self.columns:
                known = ", ".join(self.columns) or "none yet"
                raise KeyError(f"no column is called {key!r}: there is {known}")
            return [row[key] for row in self._rows]
        return self._rows[key]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows below a line of names; numbers are as exact as they are kept."""
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(self.columns)
            lines.writerows(row.values() for row in self._rows)

    def plot(self, axes: Sequence[Any] | None = None) -> Chart:
        """The metrics against the epochs, each beside its `test_` twin, by matplotlib.

        In a notebook it shows itself; `chart.save(path)` writes it, `chart.figure` is matplotlib's.
        `axes` are those to draw on, one for each kind of metric. Raises ImportError that says what
        to install where matplotlib is missing.
        """
        from deepgraph.training.plot import Chart

        return Chart(self, axes)

    def to_text(self) -> str:
        """The rows as a table."""
        names = self.columns
        rows = [[formatted(k, v) for k, v in row.items()] for row in self._rows]
        if len(rows) > _SHOWN:
            gap = ["…"] * len(names)
            rows = [*rows[: _SHOWN // 2], gap, *rows[-_SHOWN // 2 :]]
        table = [[name.replace("_", " ") for name in names], *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in table
        )

    def __repr__(self) -> str:
        return self.to_text() if self._rows else "History of no epochs"


def formatted(name: str, value: float) -> str:
    """A number of a column as people read it."""
    if name.endswith("accuracy"):
        return f"{value:.2%}"
    if name == "examples_per_second":
        return f"{value:,.0f}"
    if name == "seconds":
        return f"{value:.2f}"
    if isinstance(value, int):
        return str(value)
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.3g}"


def line(row: Row) -> str:
    """A row as a sentence."""
    told = [
        f"{name.replace('_', ' ')} {formatted(name, value):>6}"
        for name, value in row.items() if name not in ("epoch", *CLOCK)
    ]  # fmt: skip
    speed = f"{row['examples_per_second']:,.0f} examples/s"
    return "  ".join([f"epoch {row['epoch']:3}", *told, speed])
