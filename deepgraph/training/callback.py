"""Callback: what a fit calls between its epochs, and the run that it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deepgraph.parameter import Parameter
from deepgraph.training.history import History


@dataclass
class Run:
    """A fit that is under way: what its callbacks read, and how they stop it."""

    step: Callable[..., Any]
    evaluate: Callable[..., Any] | None
    callbacks: Sequence[Callback]
    history: History  # a row for each epoch that is over
    epochs: int  # how many there will be, unless a callback stops it
    settings: Mapping[str, int]  # what the order of examples depends on: `seed` and `batch`
    resumed: bool = False  # from a checkpoint
    stopped: str = ""  # why it ends early

    def stop(self, reason: str) -> None:
        """Let this epoch be the last one."""
        self.stopped = reason


class Callback:
    """What is called before the first epoch, after each and after the last; a subclass says what.

    Where that is all, a function of the run will do, which is called after each epoch. `state`
    names what a checkpoint saves of the callback, so that a resumed run goes on as if never left.
    """

    @property
    def state(self) -> Mapping[str, Parameter]:
        """What it remembers, by name."""
        return {}

    def begin(self, run: Run) -> None:
        """Before the first epoch of this fit; what a checkpoint holds is restored by then."""

    def epoch(self, run: Run) -> None:
        """After an epoch: its row is `run.history[-1]`."""

    def end(self, run: Run) -> None:
        """After the last epoch; not after an error or an interruption."""


class Function(Callback):
    """A function of the run that is called after each epoch."""

    def __init__(self, function: Callable[[Run], Any]) -> None:
        self.function = function

    def epoch(self, run: Run) -> None:
        """Call it."""
        self.function(run)
