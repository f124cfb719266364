"""Pull: move boxes sideways, with all that hangs on them, until links are short."""

from __future__ import annotations

from deepgraph.show.rows import Rows, gap


def pull(drawn: Rows, x: list[float]) -> list[float]:
    """Shorten links: move what hangs together by upright links as a whole, and what is in its way.

    The best place of such a group is the median of those at which one of its other links would
    be upright; so groups grow.
    """
    for _ in range(8 if len(x) < 5000 else 3):
        groups = _upright(drawn, x)
        home = {v: group for group in groups for v in group}
        moved = [_slide(drawn, x, group, home) for group in groups]
        if True not in moved:
            break
    start = min(x, default=0.0)
    return [p - start for p in x]


def _slide(
    drawn: Rows, x: list[float], group: dict[int, None], home: dict[int, dict[int, None]]
) -> bool:
    """Move a group where its links are shortest; say whether it moved.

    Where others are in the way they join it, as long as all together still want to move.
    """
    moving, moved = dict(group), False
    for _ in range(8):
        wishes = sorted(w for v in moving for w in _wishes(drawn, x, v, moving))
        if not wishes:
            break
        low, high = wishes[(len(wishes) - 1) // 2], wishes[len(wishes) // 2]
        wish = low if low > 0 else min(high, 0.0)
        if abs(wish) < 0.05:
            break
        room, blockers = _room(drawn, x, moving, wish)
        if abs(room) < 0.05:
            for v in blockers:
                moving |= home[v]
            if len(moving) > 32 + 2 * len(group):  # keeps a round near linear
                break
            continue
        moved = True
        for v in moving:
            x[v] += room
    return moved


def _upright(drawn: Rows, x: list[float]) -> list[dict[int, None]]:
    """Boxes and points that upright links hold together."""
    found: list[dict[int, None]] = []
    seen: set[int] = set()
    for first in range(len(x)):
        if first in seen:
            continue
        group: dict[int, None] = {}
        stack = [first]
        while stack:
            v = stack.pop()
            if v in seen:
                continue
            seen.add(v)
            group[v] = None
            for j in (*drawn.above[v], *drawn.below[v]):
                if j.other not in seen and abs(x[j.other] + j.there - x[v] - j.here) < 0.05:
                    stack.append(j.other)
        found.append(group)
    return found


def _wishes(drawn: Rows, x: list[float], v: int, group: dict[int, None]) -> list[float]:
    return [
        x[j.other] + j.there - x[v] - j.here
        for j in (*drawn.above[v], *drawn.below[v])
        if j.other not in group
    ]


def _room(
    drawn: Rows, x: list[float], group: dict[int, None], wish: float
) -> tuple[float, list[int]]:
    """How much of a move is free; and who stands in the way of more."""
    side = 1 if wish > 0 else -1
    free, blockers = abs(wish), list[int]()
    for v in group:
        row, k = drawn.rows[drawn.rank[v]], drawn.place[v] + side
        if 0 <= k < len(row) and row[k] not in group:
            left, right = (v, row[k]) if side > 0 else (row[k], v)
            between = x[right] - x[left] - drawn.widths[left] - gap(drawn, left, right)
            if between < 0.05:
                blockers.append(row[k])
            free = min(free, max(between, 0.0))
    return side * free, blockers
