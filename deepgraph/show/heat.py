"""Heat: where the time of a step goes, as colours on its kernels and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from deepgraph.plan import Plan
from deepgraph.show.drawing import Drawing, drawing
from deepgraph.show.measure import shortened
from deepgraph.show.palette import HOT

LONGEST = 80  # characters of a line of the user's


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
    """A table; the column of shares, the fourth, has each as a bar behind the number.

    Styles are written into the cells, since notebooks that are not trusted lose all others.
    """
    cell = "padding:1px 8px;text-align:{};white-space:nowrap;"
    lines = ['<div style="max-height:420px;overflow:auto">']
    lines += ['<table style="border-collapse:collapse;font-size:12px">', "<tr>"]
    side = ["left" if k in (1, len(head) - 1) else "right" for k in range(len(head))]
    for name, flush in zip(head, side, strict=True):
        lines.append(f'<th style="{cell.format(flush)}">{escape(name)}</th>')
    for row, share in zip(rows, shares, strict=True):
        lines.append("</tr><tr>")
        for k, text in enumerate(row):
            look = cell.format(side[k])
            if k == 3:
                look += f"background:linear-gradient(90deg,{HOT}66 {share:.1%},transparent 0)"
            if k == len(row) - 1:
                look, text = look + "font-family:monospace", shortened(text, LONGEST)
            lines.append(f'<td style="{look}">{escape(text)}</td>')
    return "\n".join([*lines, "</tr></table></div>"])
