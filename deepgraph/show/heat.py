"""Heat: where the time of a step goes, as colours on its kernels and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from deepgraph.plan import Plan
from deepgraph.show.drawing import Drawing, drawing
from deepgraph.show.palette import HOT


def heated(plan: Plan, seconds: Sequence[float]) -> Drawing:
    """The plan's drawing, each kernel with the share that its time has of all."""
    drawn = drawing(plan)
    total = sum(seconds) or 1.0
    clusters = []
    for cluster in drawn.clusters:
        taken = seconds[cluster.number]
        told = f"{taken * 1e6:.1f} us, {taken / total:.1%}"
        detail = " · ".join(filter(None, [told, cluster.detail]))
        clusters.append(replace(cluster, detail=detail, heat=taken / total))
    return replace(drawn, clusters=tuple(clusters))


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], shares: Sequence[float]) -> str:
    """A table; the third column of each row has its share as a bar behind the number.

    Styles are written into the cells, since notebooks that are not trusted lose all others.
    """
    cell = "padding:1px 8px;text-align:{};white-space:nowrap;"
    lines = ['<table class="deepgraph" style="border-collapse:collapse;font-size:12px">', "<tr>"]
    lines += [f'<th style="{cell.format("left")}">{escape(name)}</th>' for name in head]
    for row, share in zip(rows, shares, strict=True):
        lines.append("</tr><tr>")
        for k, text in enumerate(row):
            look = cell.format("left" if k in (1, len(row) - 1) else "right")
            if k == 2:
                look += f"background:linear-gradient(90deg,{HOT}66 {share:.1%},transparent 0)"
            inner = f"<code>{escape(text)}</code>" if k == len(row) - 1 else escape(text)
            lines.append(f'<td style="{look}">{inner}</td>')
    return "\n".join([*lines, "</tr></table>"])
