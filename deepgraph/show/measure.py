"""How wide text is: for pictures laid out without a font at hand, and for tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence

# Advance widths in ems. Those of DejaVu Sans, rounded up: the widest of the faces that a plain
# `sans-serif` commonly means, so that what fits here fits everywhere.
_GLYPHS = {
    0.3: "'IJijl",
    0.35: " ,./:;\\|·",
    0.4: "()-[]ft",
    0.45: "!r",
    0.5: '"*_`',
    0.55: "?csz",
    0.6: "FLkvxy",
    0.65: "$0123456789EPSTYabdeghnopqu{}",
    0.7: "ABCKRVXZ",
    0.75: "NU",
    0.8: "&DGHOQ",
    0.85: "#+<=>^w~→←↑↓",
    0.9: "M",
}
_EMS = {glyph: ems for ems, glyphs in _GLYPHS.items() for glyph in glyphs}


def width(text: str, size: float) -> float:
    """An upper bound on the width of one line of text in a font of this size."""
    return size * sum(_EMS[c] if c in _EMS else _other(c) for c in text)


def _other(c: str) -> float:
    if unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.4 if unicodedata.east_asian_width(c) in "WF" else 1.0


def shortened(text: str, length: int) -> str:
    """The text in at most `length` characters, its middle left out where it has more."""
    if len(text) <= length:
        return text
    head = (length - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - length :]}"


def table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """A line a row; the columns in `right` are aligned to the right."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.rjust(w) if k in right else text.ljust(w)
            for k, (text, w) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    ]
