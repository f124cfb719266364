"""Monitor: which epoch was the best."""

from __future__ import annotations

import math
from typing import Literal

from deepgraph.errors import ArgumentError
from deepgraph.training.history import TEST, History

Mode = Literal["min", "max"]
_MODES: dict[str, Mode] = {"loss": "min", "error": "min", "accuracy": "max"}  # by a name's end


class Monitor:
    """A metric, and whether less of it is better ("min") or more ("max").

    Without a name it is the first metric of the evaluation, or else of the training step. The mode
    follows from names that end in loss, error or accuracy. An epoch is better than the best before
    if it is by more than `min_delta`; NaN is never better.
    """

    def __init__(self, name: str | None, mode: Mode | None, min_delta: float = 0.0) -> None:
        if mode not in ("min", "max", None):
            raise ArgumentError(f'mode is "min" or "max": got {mode!r}')
        self.name = name
        self.mode = mode
        self.min_delta = min_delta

    def best(self, history: History, since: int = 0) -> int | None:
        """The place of the best row from `since` on; None if there is none, or only NaN."""
        if len(history) <= since:
            return None
        name = self._named(history)
        sign = 1 if self._mode(name) == "max" else -1
        found, least = None, -math.inf
        for k, value in enumerate(history[name]):
            if k >= since and sign * value > least:
                found, least = k, sign * value + self.min_delta
        return found

    def _named(self, history: History) -> str:
        metrics = history.metrics
        name = self.name or next((m for m in metrics if m.startswith(TEST)), metrics[0])
        if name not in metrics:
            raise ArgumentError(f"no metric is called {name!r}: there is {', '.join(metrics)}")
        return name

    def _mode(self, name: str) -> Mode:
        mode = self.mode or next((m for end, m in _MODES.items() if name.endswith(end)), None)
        if mode is None:
            raise ArgumentError(f'is more or less of {name} better? write mode="max" or "min"')
        return mode
