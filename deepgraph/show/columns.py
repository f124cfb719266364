"""Columns: where in its row each box stands, so that links run straight and boxes keep apart.

Brandes and Köpf (2002): four alignments, each of blocks that share a vertical line, each packed
to one side; a box stands between the middle two. Where blocks of links through many rows cross
shorter ones, the long ones stay straight.
"""

from __future__ import annotations

from itertools import pairwise

from deepgraph.show.rows import Joint, Rows

BETWEEN_BOXES, BETWEEN_POINTS = 26.0, 12.0


def columns(drawn: Rows) -> list[float]:
    """The left end of each box and point."""
    bent = _bent(drawn)
    found = []
    for down in (True, False):
        for mirrored in (False, True):
            side = _Side(drawn, down, mirrored, bent)
            side.align()
            found.append(side.pack())
    return pull(drawn, _balanced(drawn, found))


def _depths(drawn: Rows, down: bool) -> list[int]:
    """The number of boxes on the longest way to each, from the top or from the bottom."""
    depth = [0] * len(drawn.widths)
    joints = drawn.above if down else drawn.below
    for row in drawn.rows if down else reversed(drawn.rows):
        for v in row:
            longest = max((depth[j.other] for j in joints[v]), default=0)
            depth[v] = longest + (v < drawn.count)
    return depth


def _bent(drawn: Rows) -> set[tuple[int, int]]:
    """Pieces that cross a piece between two points: these give way, so that those stay straight."""
    bent: set[tuple[int, int]] = set()
    for row in drawn.rows[1:]:
        start, low = 0, 0
        for k, v in enumerate(row):
            inner = next((j.other for j in drawn.above[v] if _inner(drawn, j.other, v)), None)
            if inner is None and k < len(row) - 1:
                continue
            high = drawn.place[inner] if inner is not None else len(drawn.widths)
            for w in row[start : k + 1]:
                for joint in drawn.above[w]:
                    if not low <= drawn.place[joint.other] <= high and not _inner(
                        drawn, joint.other, w
                    ):
                        bent.add((joint.other, w))
            start, low = k + 1, high
    return bent


def _inner(drawn: Rows, upper: int, lower: int) -> bool:
    return upper >= drawn.count and lower >= drawn.count


class _Side:
    """One of the four: rows taken from the top or the bottom, packed to the left or the right.

    The right is the left of the mirror image.
    """

    def __init__(self, drawn: Rows, down: bool, mirrored: bool, bent: set[tuple[int, int]]) -> None:
        self.drawn = drawn
        self.down = down
        self.mirrored = mirrored
        self.bent = bent
        self.rows = [row[::-1] if mirrored else row for row in drawn.rows]
        self.root = list(range(len(drawn.widths)))  # the first of each one's block
        self.shift = [0.0] * len(drawn.widths)  # from the block's left end to its own

    def align(self) -> None:
        """Put each box into the block of its middle neighbour in the row before, if it is free."""
        drawn, flip = self.drawn, -1 if self.mirrored else 1
        joints = drawn.above if self.down else drawn.below
        depth = _depths(drawn, self.down)
        for row in self.rows if self.down else reversed(self.rows):
            last = float("-inf")
            for v in row:
                met = sorted(joints[v], key=lambda j: (flip * drawn.place[j.other], self._at(j)))
                half = (len(met) - 1) / 2
                order = sorted(
                    range(len(met)), key=lambda k: (-depth[met[k].other], abs(k - half))
                )
                for joint in (met[k] for k in order):
                    place = flip * drawn.place[joint.other]
                    pair = (joint.other, v) if self.down else (v, joint.other)
                    if place > last and pair not in self.bent:
                        aside = self._at(joint) - self._own(v, joint)
                        self.root[v] = self.root[joint.other]
                        self.shift[v] = self.shift[joint.other] + aside
                        last = place
                        break

    def _at(self, joint: Joint) -> float:
        width = self.drawn.widths[joint.other]
        return width - joint.there if self.mirrored else joint.there

    def _own(self, v: int, joint: Joint) -> float:
        return self.drawn.widths[v] - joint.here if self.mirrored else joint.here

    def pack(self) -> list[float]:
        """Move all blocks to the left as far as they go, then each back towards its neighbours."""
        widths = self.drawn.widths
        after: list[dict[int, float]] = [{} for _ in widths]  # block -> the next ones, how far
        before = [0] * len(widths)
        for row in self.rows:
            for u, v in pairwise(row):
                a, b = self.root[u], self.root[v]
                apart = self.shift[u] + widths[u] + gap(self.drawn, u, v) - self.shift[v]
                if b not in after[a]:
                    before[b] += 1
                after[a][b] = max(apart, after[a].get(b, apart))
        blocks = [v for v in range(len(widths)) if self.root[v] == v]
        ready = [b for b in blocks if not before[b]]
        x = [0.0] * len(widths)
        for a in ready:
            for b, apart in after[a].items():
                x[b] = max(x[b], x[a] + apart)
                before[b] -= 1
                if not before[b]:
                    ready.append(b)
        for a in reversed(ready):
            if after[a]:
                x[a] = max(x[a], min(x[b] - apart for b, apart in after[a].items()))
        left = [x[self.root[v]] + self.shift[v] for v in range(len(widths))]
        return [-(p + w) for p, w in zip(left, widths, strict=True)] if self.mirrored else left


def gap(drawn: Rows, u: int, v: int) -> float:
    """The least distance between two neighbours in a row."""
    points = (u >= drawn.count) + (v >= drawn.count)
    return (BETWEEN_BOXES, (BETWEEN_BOXES + BETWEEN_POINTS) / 2, BETWEEN_POINTS)[points]


def _balanced(drawn: Rows, found: list[list[float]]) -> list[float]:
    """The mean of the middle two of four placements, laid over the narrowest; starts at 0."""
    if not drawn.widths:
        return []
    lefts = [min(x) for x in found]
    rights = [max(map(sum, zip(x, drawn.widths, strict=True))) for x in found]
    narrow = min(range(4), key=lambda k: rights[k] - lefts[k])
    moves = [
        rights[narrow] - rights[k] if k % 2 else lefts[narrow] - lefts[k] for k in range(4)
    ]  # fmt: skip
    middle = []
    for each in zip(*found, strict=True):
        _, a, b, _ = sorted(x + m for x, m in zip(each, moves, strict=True))
        middle.append((a + b) / 2)
    start = min(middle)
    return [x - start for x in middle]


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
