"""Rows: boxes row by row, long links as chains of points, ordered so that few links cross."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

BETWEEN_BOXES, BETWEEN_POINTS = 26.0, 12.0
LARGE = 3000  # boxes and points: of more, one beginning is tried, not two


class Link(NamedTuple):
    """From the bottom of one box to the top of another, at these distances from their left ends."""

    tail: int
    head: int
    tail_at: float
    head_at: float


class Joint(NamedTuple):
    """One end of a piece of a link, seen from the other: whom it meets, and where on both."""

    other: int
    there: float
    here: float


@dataclass
class Rows:
    """Boxes and points, numbered alike (boxes first), in rows from left to right.

    `above` and `below` say what each meets in the row before and after; `paths` through which
    points each link goes. Links that leave a box at one place share points as far as they can.
    """

    count: int  # how many are boxes
    widths: list[float]
    rows: list[list[int]]
    above: list[list[Joint]]
    below: list[list[Joint]]
    paths: list[list[int]]
    place: list[int] = field(default_factory=list)  # in its row
    rank: list[int] = field(default_factory=list)  # of which row

    def point(self, row: int) -> int:
        """A new point, where a link crosses a row."""
        self.widths.append(0.0)
        self.rank.append(row)
        self.above.append([])
        self.below.append([])
        self.rows[row].append(len(self.widths) - 1)
        return len(self.widths) - 1

    def join(self, upper: int, lower: int, at: float, to: float) -> None:
        """Let `upper`, at distance `at` from its left end, meet `lower` at `to`."""
        self.below[upper].append(Joint(lower, to, at))
        self.above[lower].append(Joint(upper, at, to))

    def settle(self) -> None:
        """Take over the order in `rows`."""
        for row in self.rows:
            for k, v in enumerate(row):
                self.place[v] = k


def rows(widths: Sequence[float], ranks: Sequence[int], links: Sequence[Link]) -> Rows:
    """The rows of boxes with these widths and ranks, with points for links that cross rows."""
    count = len(widths)
    made = Rows(
        count, list(widths), [[] for _ in range(max(ranks, default=-1) + 1)],
        [[] for _ in widths], [[] for _ in widths], [],
    )  # fmt: skip
    made.rank = list(ranks)
    for v, rank in enumerate(ranks):
        made.rows[rank].append(v)
    trunks: dict[tuple[int, float], list[int]] = {}
    for link in links:
        trunk = trunks.setdefault((link.tail, link.tail_at), [])
        first = ranks[link.tail] + 1
        while len(trunk) < ranks[link.head] - first:
            upper, at = (trunk[-1], 0.0) if trunk else (link.tail, link.tail_at)
            trunk.append(made.point(first + len(trunk)))
            made.join(upper, trunk[-1], at, 0.0)
        way = trunk[: ranks[link.head] - first]
        upper, at = (way[-1], 0.0) if way else (link.tail, link.tail_at)
        made.join(upper, link.head, at, link.head_at)
        made.paths.append([link.tail, *way, link.head])
    made.place = [0] * len(made.widths)
    made.settle()
    return made


def gap(drawn: Rows, u: int, v: int) -> float:
    """The least distance between two neighbours in a row."""
    points = (u >= drawn.count) + (v >= drawn.count)
    return (BETWEEN_BOXES, (BETWEEN_BOXES + BETWEEN_POINTS) / 2, BETWEEN_POINTS)[points]


def untangle(drawn: Rows, sweeps: int = 16) -> None:
    """Order each row so that few links cross: barycentres, down and up, then exchanged neighbours.

    Sugiyama, Tagawa and Toda (1981); the exchange is that of Gansner et al. (1993). Begins once
    with the order in which boxes were given and once with what belongs to one reader side by side.
    """
    tried = [_swept(drawn, sweeps)] if len(drawn.widths) < LARGE else []
    _by_reader(drawn)
    tried.append(_swept(drawn, sweeps))
    _, drawn.rows = min(tried, key=lambda found: found[0])
    drawn.settle()


def _by_reader(drawn: Rows) -> None:
    """Order the rows as a walk from what is read by nothing meets them."""
    for row in drawn.rows:
        row.sort(key=drawn.place.__getitem__)
    seen: dict[int, None] = {}
    stack = [v for row in drawn.rows for v in reversed(row)]
    while stack:
        v = stack.pop()
        if v not in seen:
            seen[v] = None
            stack += [joint.other for joint in reversed(drawn.above[v])]
    for row in drawn.rows:
        row.clear()
    for v in seen:
        drawn.rows[drawn.rank[v]].append(v)
    drawn.settle()


def _swept(drawn: Rows, sweeps: int) -> tuple[int, list[list[int]]]:
    """The fewest crossings that sweeps find, and the rows that have them; `drawn` is as it was."""
    given = [list(row) for row in drawn.rows]
    fewest, best, worse = crossings(drawn), given, 0
    for sweep in range(sweeps):
        down = sweep % 2 == 0
        for row in drawn.rows if down else reversed(drawn.rows):
            _by_barycentre(drawn, row, drawn.above if down else drawn.below)
            if sweep % 4 > 1:  # at once in every second round: each finds what the other does not
                _exchange(drawn, row)
        for row in drawn.rows:
            _exchange(drawn, row)
        crossed = crossings(drawn)
        if crossed < fewest:
            fewest, best, worse = crossed, [list(row) for row in drawn.rows], 0
        else:
            worse += 1
        if worse > 3 or not fewest:
            break
    drawn.rows = given
    drawn.settle()
    return fewest, best


def _where(drawn: Rows, joint: Joint) -> float:
    """A place in the row of the other, boxes counted as 1 wide."""
    width = drawn.widths[joint.other]
    return drawn.place[joint.other] + (joint.there / width if width else 0.5)


def _by_barycentre(drawn: Rows, row: list[int], joints: list[list[Joint]]) -> None:
    """Sort a row by the mean place of what each meets; what meets nothing keeps its place."""
    means = {v: sum(_where(drawn, j) for j in joints[v]) / len(joints[v]) for v in row if joints[v]}
    movers = iter(sorted((v for v in row if v in means), key=means.__getitem__))
    row[:] = [next(movers) if v in means else v for v in row]
    for k, v in enumerate(row):
        drawn.place[v] = k


def crossings(drawn: Rows) -> int:
    """How many pairs of links cross between rows."""
    total = 0
    for row in drawn.rows:
        ends = sorted((drawn.place[v] + (j.here / drawn.widths[v] if drawn.widths[v] else 0.5),
                       _where(drawn, j)) for v in row for j in drawn.below[v])  # fmt: skip
        seen: list[float] = []
        for _, end in ends:
            at = bisect_right(seen, end)
            total += len(seen) - at
            seen.insert(at, end)
    return total


def _exchange(drawn: Rows, row: list[int], rounds: int = 8) -> None:
    """Exchange neighbours in a row as long as that removes crossings."""
    met = {
        v: [[_where(drawn, j) for j in joints[v]] for joints in (drawn.above, drawn.below)]
        for v in row
    }
    for _ in range(rounds):
        better = False
        for k in range(len(row) - 1):
            left, right = row[k], row[k + 1]
            if sum(map(_inverted, met[left], met[right])) > 0:
                row[k], row[k + 1] = right, left
                better = True
        if not better:
            break
    for k, v in enumerate(row):
        drawn.place[v] = k


def _inverted(a: list[float], b: list[float]) -> int:
    """How many more pairs of links cross with ends `a` left of ends `b` than the other way."""
    found = 0
    for p in a:
        for q in b:
            found += (p > q) - (p < q)
    return found
