"""Elementwise and row expressions; `tiny` is ten operations on 8 elements: what a call costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.formulas import COLUMNS, FORMULAS, Call, Formula, drawn
from benchmarks.measure import Row, compared
from benchmarks.peers.numpy import PLAIN
from benchmarks.roofline import seconds_to_move

GROUPS = tuple(formula.name for formula in FORMULAS)
THREADED = True


def rows(group: str, seconds: float, quick: bool) -> Iterator[Row]:
    """A row for each size of a workload and each peer."""
    formula = FORMULAS[GROUPS.index(group)]
    for n in [2 * COLUMNS] if quick and group != "tiny" else formula.sizes:
        name = f"{group} {n:.0e}".replace("e+0", "e")
        floor = seconds_to_move(formula.arrays * 4 * n)
        for row in compared(name, checked(formula, n), seconds, floor):
            yield {**row, "size": n}


def checked(formula: Formula, n: int) -> dict[str, Call]:
    """The workload of each peer that is installed, on the same inputs.

    Raises AssertionError where the result of one's second call is not what float64 gives.
    """
    arrays = drawn(formula, n)
    reference = PLAIN[formula.name](**{k: a.astype(np.float64) for k, a in arrays.items()})
    wanted = [reference() for _ in range(2)][-1]
    found: dict[str, Call] = {}
    for peer in peers.installed():
        if formula.name not in peer.formulas:
            continue
        with peers.tried(peer.name, formula.name):
            call = peer.formulas[formula.name](**drawn(formula, n))
            results = [call() for _ in range(2)][-1]
            for got, want in zip(_each(results), _each(wanted), strict=True):
                peers.agree(got, want, f"{formula.name}: {peer.name} and float64", 1e-4)
            found[peer.name] = call
    return found


def _each(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, tuple | list) else (results,)
