"""Rows as text: aligned tables in Markdown, in which peers are columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import geometric_mean
from typing import Any

from benchmarks.measure import OWN, Row


def text(rows: Sequence[Row]) -> str:
    """Tables for rows of one suite: one for each run of rows that have the same columns."""
    tables = []
    for columns, block in groupby(rows, key=lambda row: [k for k in row if k not in _ABOUT]):
        found = list(block)
        lines = _beside(found) if "ratio" in columns else _plain(columns, found)
        tables.append(_aligned(lines))
    return "\n\n".join(tables)


_ABOUT = ("suite", "group", "threads")  # the same for all rows of a table


def _plain(columns: Sequence[str], rows: Iterable[Row]) -> list[list[str]]:
    return [list(columns), *([_cell(row[name]) for name in columns] for row in rows)]


def _beside(rows: list[Row]) -> list[list[str]]:
    """A line a workload: our time, over the floor, and the ratios of peers' times to ours.

    Of two ratios the first is of medians, the second of 90th percentiles.
    """
    peers = list(dict.fromkeys(row["peer"] for row in rows if row["peer"] != OWN))
    lines = [["workload", f"{OWN} us", "p90", "/ floor", "best peer", *peers]]
    for workload, block in groupby(rows, key=lambda row: row["workload"]):
        found = {row["peer"]: row for row in block}
        own = found.pop(OWN)
        cells = [f"{r['ratio']:.2f} / {r['ratio p90']:.2f}" if (r := found.get(name)) else "-"
                 for name in peers]  # fmt: skip
        over = own["own us"] / own["floor us"]
        lines.append([workload, *map(_cell, (own["own us"], own["own p90"], over)),
                      _best(found.values()), *cells])  # fmt: skip
    return lines + list(_means(rows, peers))


def _means(rows: list[Row], peers: list[str]) -> Iterator[list[str]]:
    """Geometric means over the workloads of a size; of a peer only where it has them all."""
    for size in dict.fromkeys(row["size"] for row in rows if "size" in row):
        there = [row for row in rows if row.get("size") == size]
        workloads = {row["workload"]: [r for r in there if r["workload"] == row["workload"]]
                     for row in there}  # fmt: skip
        if len(workloads) < 2:
            continue
        bests = [float(best) for w in workloads.values() if (best := _best(w)) != "-"]
        cells = []
        for name in peers:
            ratios = [row["ratio"] for row in there if row["peer"] == name]
            full = len(ratios) == len(workloads)
            cells.append(f"{geometric_mean(ratios):.2f}" if full else "-")
        mean = f"{geometric_mean(bests):.2f}" if bests else "-"
        yield [f"geometric mean {size:.0e}".replace("e+0", "e"), "", "", "", mean, *cells]


def _best(rows: Iterable[Row]) -> str:
    """The ratio of the fastest peer that is not deepgraph itself."""
    ratios = [row["ratio"] for row in rows if not row["peer"].startswith(OWN)]
    return f"{min(ratios):.2f}" if ratios else "-"


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    shown = []
    for line in (lines[0], rule, *lines[1:]):
        cells = (cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))
        shown.append("| " + " | ".join([line[0].ljust(widths[0]), *cells]) + " |")
    return "\n".join(shown)


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
