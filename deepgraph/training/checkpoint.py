"""Checkpoint: all that a fit needs to go on, in a file after each epoch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from deepgraph import io
from deepgraph.errors import GraphError
from deepgraph.parameter import Parameter
from deepgraph.step import Step
from deepgraph.training.callback import Run
from deepgraph.training.monitor import Mode, Monitor

_HISTORY = "history/"


class Checkpoint:
    """Save after each epoch, to `last.npz`, and the best one to `best.npz`; go on with `resume`.

    `objects` are what `io.save` takes: the model, its optimiser. What a fit has itself is saved
    too: its history, its seed and batch size, the counters of random draws of its steps, and the
    state of its callbacks. So a fit that resumes gives what an uninterrupted one gives, bit for
    bit, on the same machine; where there is no `last.npz`, it starts. The best epoch is chosen as
    by `EarlyStopping`; `io.load("run/best.npz", model, strict=False)` reads its weights.

    Raises GraphError before anything runs where the step updates what none of the objects has, and
    where a fit is resumed with another seed or batch size; StateError where the file does not fit.

    >>> from deepgraph.training import Checkpoint, fit
    >>> keep = Checkpoint("run", model, opt, resume=True)              # doctest: +SKIP
    >>> fit(step, train, epochs=20, checkpoint=keep)                   # doctest: +SKIP
    """

    def __init__(
        self, folder: str | os.PathLike[str], *objects: io.Source, resume: bool = False,
        monitor: str | None = None, mode: Mode | None = None,
    ) -> None:  # fmt: skip
        self.folder = Path(folder)
        self.objects = objects
        self.resume = resume
        self.monitor = Monitor(monitor, mode)

    @property
    def last(self) -> Path:
        """The file of the last epoch."""
        return self.folder / "last.npz"

    @property
    def best(self) -> Path:
        """The file of the best epoch."""
        return self.folder / "best.npz"

    def begin(self, run: Run) -> None:
        """Check that nothing would be lost; restore what the last epoch left, if asked for."""
        self._check_complete(run)
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.resume and self.last.exists()):
            return
        arrays = io.read(self.last)
        rows = {name: arrays.pop(name) for name in list(arrays) if name.startswith(_HISTORY)}
        for name, now in run.settings.items():
            if (then := arrays.pop(f"fit/{name}", now)) != now:
                raise GraphError(
                    f"resume: {self.last} has {name}={then}: got {now}; go on with {name}={then}"
                )
        io.load_state_dict(arrays, *self.objects, _own(run))
        names = [name.removeprefix(_HISTORY) for name in rows]
        columns = [column.tolist() for column in rows.values()]
        run.history.replace(
            dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
        )
        run.resumed = True

    def epoch(self, run: Run) -> None:
        """Save; the best first, so that whatever happens between the two, a resumed run agrees."""
        columns = {name: np.asarray(run.history[name]) for name in run.history.columns}
        kept = {f"{_HISTORY}{name}": Parameter(column) for name, column in columns.items()}
        kept |= {f"fit/{name}": Parameter(np.uint64(n)) for name, n in run.settings.items()}
        if self.monitor.best(run.history) == len(run.history) - 1:
            io.save(self.best, *self.objects, kept, _own(run))
        io.save(self.last, *self.objects, kept, _own(run))

    def _check_complete(self, run: Run) -> None:
        """Everything that the steps update is saved, or a resumed run would differ."""
        known = {*io.parameters(*self.objects, _own(run)).values()}
        for step in (run.step, run.evaluate):
            updates = step.graph.updates if isinstance(step, Step) else {}
            if lost := [p.name for p in updates if p not in known]:
                raise GraphError(
                    f"checkpoint: the step updates {', '.join(lost[:5])}, which none of the "
                    "objects has: give all of them, as in Checkpoint(folder, model, optimizer)"
                )


def _own(run: Run) -> dict[str, Parameter]:
    """What a fit remembers besides the objects."""
    steps = {"step": run.step, "evaluate": run.evaluate}
    states: dict[str, Mapping[str, Parameter]] = {
        **{key: step.state for key, step in steps.items() if isinstance(step, Step)},
        **{f"callback{k}": callback.state for k, callback in enumerate(run.callbacks)},
    }
    return {f"{key}/{name}": p for key, state in states.items() for name, p in state.items()}
