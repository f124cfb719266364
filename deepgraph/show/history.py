"""History: what each pass did, drawn before and after it, with its counts, bytes and time."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deepgraph.dims import Size, product
from deepgraph.drawn import Drawn
from deepgraph.expr import Expr, Kind
from deepgraph.graph import Graph
from deepgraph.plan import Plan
from deepgraph.schedule import Schedule
from deepgraph.show.drawing import drawing
from deepgraph.show.html import Frame, widget
from deepgraph.show.labels import size_text
from deepgraph.show.measure import table

Level = Graph | Schedule | Plan
Marks = dict[Expr, str]


@dataclass(frozen=True)
class Entry:
    """A pass: what it left, and what it did to the values before it and to those it left.

    `bytes` are those of all values that have memory: for a graph all that is computed, for a
    schedule what kernels store, for a plan the arena's peak.
    """

    name: str
    seconds: float
    value: Level
    lost: Mapping[Expr, str]
    made: Mapping[Expr, str]

    @property
    def nodes(self) -> int:
        """How many operations there are."""
        return sum(n.op.kind is not Kind.SOURCE for n in _computed(self.value))

    @property
    def kernels(self) -> int | None:
        """How many kernels there are, once there are any."""
        schedule = _schedule(self.value)
        return None if schedule is None else len(schedule.kernels)

    @property
    def bytes(self) -> Size:
        """What the values take."""
        if isinstance(self.value, Plan):
            return self.value.peak_bytes
        total: Size = 0
        for node in _stored(self.value):
            total = total + product(node.shape) * node.dtype.itemsize
        return total

    @property
    def done(self) -> str:
        """What it did, counted."""
        lost, made = Counter(self.lost.values()), Counter(self.made.values())
        counts = {**made, **lost}  # what is marked on both sides is counted where it comes from
        told = {mark: f"{n} {mark.replace('_', ' ')}" for mark, n in counts.items()}
        if "merged" in told:
            told["merged"] += f" into {made['merged']}"
        return ", ".join(told.values())


class History(Drawn):
    """The passes of a step in the order they ran; iterate for one entry each, `str` for a table."""

    def __init__(self, step: Drawn, stages: Mapping[str, Any]) -> None:
        self._step = step
        self.entries = _entries(stages)

    def __iter__(self) -> Any:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def drawn_as(self) -> Any:
        """Where pictures stand still, the last stage."""
        return self._step.drawn_as()

    def kernel_texts(self) -> Any:
        """Those of the step."""
        return self._step.kernel_texts()

    def to_text(self) -> str:
        """A row a pass."""
        rows = [("pass", "operations", "kernels", "memory", "ms", "what it did")]
        for e in self.entries:
            kernels = "" if e.kernels is None else str(e.kernels)
            rows.append((e.name, str(e.nodes), kernels, size_text(e.bytes),
                         f"{e.seconds * 1e3:.2f}", e.done))  # fmt: skip
        return "\n".join(table(rows, right=(1, 2, 3, 4)))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<history of {len(self)} stages: {self._step!r}>"

    def to_html(self) -> str:
        """A slider over the passes: the graph before and after each, and the code of kernels."""
        schedule = _schedule(self.entries[-1].value)
        assert schedule is not None
        final = {node: k for k, kernel in enumerate(schedule.kernels) for node in kernel.nodes}
        frames = [
            Frame(e.name, drawing(e.value), _told(e), e.lost, e.made) for e in self.entries
        ]
        sources = self.kernel_texts()
        return widget(frames, self, repr(self), _followed(self.entries, final), sources)


def _told(entry: Entry) -> str:
    parts = [f"{entry.nodes} operations"]
    if entry.kernels is not None:
        parts.append(f"{entry.kernels} kernels")
    parts += [size_text(entry.bytes), f"{entry.seconds * 1e3:.2f} ms"]
    return " · ".join([*parts, *filter(None, [entry.done])])


def _entries(stages: Mapping[str, Any]) -> list[Entry]:
    found = []
    before: Level | None = None
    for stage in stages.values():
        lost, made = ({}, {}) if before is None else _changes(before, stage.value)
        found.append(Entry(stage.name, stage.seconds, stage.value, lost, made))
        before = stage.value
    return found


def _changes(before: Level, after: Level) -> tuple[Marks, Marks]:
    """What a pass did to what was there, and to what is there now."""
    if isinstance(before, Graph) and isinstance(after, Graph):
        return _rewritten(before, after)
    if isinstance(before, Graph):
        return {}, _fused(after)
    if isinstance(after, Plan):
        return {}, _in_place(after)
    return {}, _scheduled(before, after)


def _rewritten(before: Graph, after: Graph) -> tuple[Marks, Marks]:
    if after is before:
        return {}, {}
    became = after.became
    there = set(after.nodes)
    into: dict[Expr, list[Expr]] = {}
    lost: Marks = {}
    for node in before.nodes:
        now = became.get(node, node)
        if now is None or (now is node and node not in there):
            lost[node] = "removed"
        else:
            into.setdefault(now, []).append(node)
    made: Marks = {}
    for now, sources in into.items():
        alike = [n for n in sources if n is now or _rebuilt(n, now)]
        if len(alike) > 1 and now.op.kind is not Kind.SOURCE:
            lost.update(dict.fromkeys(alike, "merged"))
            made[now] = "merged"
        lost.update((n, "replaced") for n in sources if n not in {*alike})
        if not alike:
            made[now] = "replaced"
    made.update((n, "new") for n in after.nodes if n not in into and n.op.kind is not Kind.SOURCE)
    return lost, made


def _rebuilt(node: Expr, now: Expr) -> bool:
    """Is it the same operation over inputs that changed?"""
    return node.op is now.op and len(node.inputs) == len(now.inputs)


def _fused(after: Level) -> Marks:
    schedule = _schedule(after)
    assert schedule is not None
    return {n: "fused" for k in schedule.kernels if len(k.nodes) > 1 for n in k.nodes}


def _scheduled(before: Level, after: Level) -> Marks:
    """Nodes that a pass over schedules brought, and those of kernels that run at another time."""
    old, new = _schedule(before), _schedule(after)
    assert old is not None
    assert new is not None
    known = {n for kernel in old.kernels for n in kernel.nodes}
    marks = {n: "new" for kernel in new.kernels for n in kernel.nodes if n not in known}
    was = {kernel.nodes[-1]: k for k, kernel in enumerate(old.kernels)}
    kept = [kernel for kernel in new.kernels if kernel.nodes[-1] in was]
    stay = _rising([was[kernel.nodes[-1]] for kernel in kept])
    for k, kernel in enumerate(kept):
        if k not in stay:
            marks.update((n, "moved") for n in kernel.nodes)
    return marks


def _rising(numbers: Sequence[int]) -> set[int]:
    """The places of a longest rising subsequence: what keeps its order where others move."""
    ends: list[int] = []  # the least end of a rising subsequence of each length
    places: list[int] = []
    before: list[int] = []
    for k, n in enumerate(numbers):
        at = bisect_left(ends, n)
        before.append(places[at - 1] if at else -1)
        ends[at : at + 1], places[at : at + 1] = [n], [k]
    found: set[int] = set()
    k = places[-1] if places else -1
    while k >= 0:
        found.add(k)
        k = before[k]
    return found


def _in_place(plan: Plan) -> Marks:
    marks: Marks = {}
    for kernel in plan.schedule.kernels:
        homes = {plan.homes[r] for r in kernel.reads if r in plan.homes}
        for made in kernel.writes:
            home = plan.homes[made]
            if home in homes or (home.kind == "parameter" and home.key in {*kernel.reads}):
                marks[made] = "in_place"
    return marks


def _followed(entries: Collection[Entry], final: Mapping[Expr, int]) -> dict[Expr, int]:
    """The kernel of each value of any stage, by what passes say became of it."""
    found = dict(final)
    for entry in reversed([*entries]):
        if isinstance(entry.value, Graph):
            for node, now in entry.value.became.items():
                if now in found and now is not None:
                    found.setdefault(node, found[now])
    return found


def _schedule(level: Level) -> Schedule | None:
    if isinstance(level, Plan):
        return level.schedule
    return level if isinstance(level, Schedule) else None


def _computed(level: Level) -> list[Expr]:
    schedule = _schedule(level)
    if schedule is None:
        assert isinstance(level, Graph)
        return [*level.nodes]
    return [n for kernel in schedule.kernels for n in kernel.nodes]


def _stored(level: Level) -> list[Expr]:
    schedule = _schedule(level)
    if schedule is not None:
        return [v for kernel in schedule.kernels for v in kernel.writes]
    return [n for n in _computed(level) if n.op.kind not in (Kind.SOURCE, Kind.VIEW)]
