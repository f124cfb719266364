"""EarlyStopping: end a fit that gets no better, with the best weights it had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deepgraph.arguments import number, whole
from deepgraph.parameter import Parameter
from deepgraph.training.callback import Callback, Run
from deepgraph.training.monitor import Mode, Monitor


class EarlyStopping(Callback):
    """Stop once `patience` epochs in a row bring nothing better; end with the best weights.

    They are restored also where the last epoch comes first. `model` has met its inputs; anything
    will do whose `state` names parameters. `monitor` is a column of the history, by default the
    first metric of the evaluation; `mode` says whether less ("min") or more ("max") is better,
    which names that end in loss, error or accuracy tell. Better is by more than `min_delta`.

    >>> from deepgraph.training import EarlyStopping, fit
    >>> stop = EarlyStopping(model, patience=3)                        # doctest: +SKIP
    >>> fit(step, train, epochs=100, evaluate=evaluation, test=test, callbacks=[stop])
    ...                                                                # doctest: +SKIP
    """

    def __init__(
        self, model: Any, monitor: str | None = None, *, patience: int = 5,
        mode: Mode | None = None, min_delta: float = 0.0,
    ) -> None:  # fmt: skip
        self.monitor = Monitor(monitor, mode, number("min_delta", min_delta, "[0, inf)"))
        self.patience = whole("patience", patience)
        self._kept = {name: (p, Parameter(p.value, p.name)) for name, p in model.state.items()}
        self._since = Parameter(np.int64(0), "since")  # rows before are another run's

    @property
    def state(self) -> Mapping[str, Parameter]:
        """The best weights so far, and the epochs after which this began to look."""
        best = {f"best/{name}": copy for name, (_, copy) in self._kept.items()}
        return {"since": self._since, **best}

    def begin(self, run: Run) -> None:
        """Look at what is to come alone, or go on where a checkpoint was saved."""
        if run.resumed:
            self._judge(run)
        else:
            self._since.assign(len(run.history))

    def epoch(self, run: Run) -> None:
        """Keep the weights if they are the best so far; else stop if that was to be expected."""
        if self._best(run) == len(run.history) - 1:
            for p, copy in self._kept.values():
                copy.assign(p.value)
        self._judge(run)

    def end(self, run: Run) -> None:
        """Restore the best weights."""
        if self._best(run) is not None:
            for p, copy in self._kept.values():
                p.assign(copy.value)

    def _judge(self, run: Run) -> None:
        best, since = self._best(run), int(self._since.value)
        waited = len(run.history) - (since if best is None else best + 1)
        if waited >= self.patience:
            run.stop(f"nothing better in {waited} epochs")

    def _best(self, run: Run) -> int | None:
        return self.monitor.best(run.history, int(self._since.value))
