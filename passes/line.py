"""A line of things that depend on each other, kept in order while they merge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar, cast

_SEARCH = 200  # items visited before a merge is given up: keeps many merges near linear


@dataclass(eq=False)
class Item:
    """One of the line, at a place behind all that it needs (`before`)."""

    place: int = field(default=-1, init=False)
    before: dict[Item, None] = field(default_factory=dict, init=False)
    after: dict[Item, None] = field(default_factory=dict, init=False)


Kind = TypeVar("Kind", bound=Item)


class Line(Generic[Kind]):
    """A topological order that changes locally (Pearce and Kelly, 2006)."""

    def __init__(self) -> None:
        self._items: list[Kind | None] = []  # by place; None where one was merged away

    def append(self, item: Kind) -> None:
        """Put an item behind all others."""
        item.place = len(self._items)
        self._items.append(item)

    def depend(self, item: Kind, on: Kind) -> None:
        """Say that `item` needs `on`, which stands before it."""
        item.before[on] = on.after[item] = None

    def items(self) -> list[Kind]:
        """The items in order."""
        return [item for item in self._items if item is not None]

    def busy(self, low: int, high: int, but: Kind) -> bool:
        """Does anything but one item stand at the places from `low` to before `high`?"""
        return any(self._items[place] not in (None, but) for place in range(low, high))

    def stretch(self, a: Kind, b: Kind) -> list[Item] | None:
        """The order of what lies between `a` and `b`, which needs `a`, once `b` stands for both.

        First what `b` needs, then `b`, then what needs `a`; None if a path goes around.
        """
        late = _reached([c for c in a.after if c is not b], "after", range(a.place, b.place + 1))
        if late is None or b in late:
            return None
        early = _reached([c for c in b.before if c is not a], "before", range(a.place, b.place))
        if early is None:
            return None
        return [*sorted(early, key=_place), b, *sorted(late, key=_place)]

    def merge(self, a: Kind, b: Kind, stretch: list[Item]) -> None:
        """Let `b` stand for both, in the order that `stretch` gave."""
        places = sorted([a.place, *(c.place for c in stretch)])
        self._items[places[0]] = None
        for item, place in zip(stretch, places[1:], strict=True):
            item.place = place
            self._items[place] = cast(Kind, item)
        _replace(a, b)


def _replace(a: Item, b: Item) -> None:
    for c in a.before:
        c.after.pop(a, None)
        if c is not b:
            c.after[b] = b.before[c] = None
    for c in a.after:
        c.before.pop(a, None)
        if c is not b:
            c.before[b] = b.after[c] = None


def _reached(
    start: list[Item], way: Literal["before", "after"], places: range
) -> set[Item] | None:
    """The items that lie this way, within these places; None after too long a search."""
    seen: set[Item] = set()
    stack = start
    while stack:
        item = stack.pop()
        if item in seen or item.place not in places:
            continue
        if len(seen) >= _SEARCH:
            return None
        seen.add(item)
        stack.extend(getattr(item, way))
    return seen


def _place(item: Item) -> int:
    return item.place
