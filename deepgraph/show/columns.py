"""Columns: where in its row each box stands, so that links run straight and boxes keep apart.

Brandes and Köpf (2002): four alignments, each of blocks that share a vertical line, each packed
to one side; a box stands between the middle two. Where links through many rows cross shorter
ones, the long ones stay straight. Unlike there, a box prefers among its neighbours the one on the
longest way, so that the main line of a graph runs straight, and then the middle one.
"""

from __future__ import annotations

from itertools import pairwise

from deepgraph.show.pull import pull
from deepgraph.show.rows import Joint, Rows, gap


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
        """Put each box into the block of a neighbour in the row before, if one is free."""
        drawn, flip = self.drawn, -1 if self.mirrored else 1
        joints = drawn.above if self.down else drawn.below
        depth = _depths(drawn, self.down)
        for row in self.rows if self.down else reversed(self.rows):
            last = float("-inf")
            for v in row:
                met = joints[v]
                if len(met) > 1:
                    met = sorted(met, key=lambda j: (flip * drawn.place[j.other], self._at(j)))
                    half = (len(met) - 1) / 2
                    rank = {j: (-depth[j.other], abs(k - half)) for k, j in enumerate(met)}
                    met.sort(key=rank.__getitem__)
                for joint in met:
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
