"""What colours and outlines mean, in every printer.

Boxes carry their own background and a text colour that reads on it; lines and text outside boxes
are middle tones. So a picture reads on a light page and on a dark one, whichever it believes in.
"""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """The look of a kind of node: on a light page, and what changes on a dark one."""

    fill: str
    stroke: str
    dark_fill: str
    round: bool = False  # a leaf or a result: where values enter and leave
    dashed: bool = False  # nothing is computed
    bold: bool = False

    @property
    def opacity(self) -> float:
        """Of the outline's colour, where it fills the box on a page of any colour."""
        return 0.05 if self.fill == PLAIN else 0.16


PLAIN = "#fdfdfe"
INK, DARK_INK = "#111827", "#f3f4f6"
MUTED, DARK_MUTED = "#4b5563", "#c3c9d2"
LINE = "#7c8593"  # data edges, cluster borders, text outside boxes
IN_PLACE = "#e11d48"
HOT = "#ef4444"

NODES = {
    "placeholder": Look("#dbeafe", "#3b82f6", "#1e3a5f", round=True),
    "parameter": Look("#d1fae5", "#10b981", "#14463a", round=True),
    "constant": Look("#eef0f3", "#7c8593", "#353b45", round=True),
    "elementwise": Look(PLAIN, "#7c8593", "#23272f"),
    "reduce": Look("#ffedd5", "#f59e0b", "#54391a"),
    "call": Look("#ede9fe", "#8b5cf6", "#3b2f63"),
    "view": Look(PLAIN, "#7c8593", "#23272f", dashed=True),
    "output": Look("#dbeafe", "#3b82f6", "#1e3a5f", round=True, bold=True),
    "update": Look("#d1fae5", "#10b981", "#14463a", round=True, bold=True),
    "marked": Look("#fee2e2", "#dc2626", "#6b1d1d", bold=True),
    "layer": Look("#f1f5f9", "#64748b", "#2b323d", bold=True),
    "port": Look(PLAIN, "#7c8593", "#23272f", round=True, dashed=True),
    "note": Look(PLAIN, "#7c8593", "#23272f", round=True, dashed=True),
}
EDGES = {"data": (LINE, False), "alias": (LINE, True), "in-place": (IN_PLACE, False)}  # dashed?
MARKS = {
    "removed": "#dc2626", "merged": "#d97706", "replaced": "#a855f7", "new": "#16a34a",
    "fused": "#0891b2", "moved": "#a855f7", "in_place": IN_PLACE,
}  # fmt: skip
LEGEND = {
    "placeholder": "fed", "parameter": "parameter", "constant": "constant",
    "elementwise": "elementwise", "reduce": "folds", "call": "library or template",
    "view": "view: moves no bytes", "output": "output", "update": "new value",
    "layer": "layer: click to open", "port": "leads outside", "marked": "what failed",
    "removed": "removed", "merged": "merged", "replaced": "replaced", "new": "new",
    "fused": "fused", "moved": "moved", "in_place": "in place of what it reads",
}  # fmt: skip
