"""fit: the loop over epochs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from deepgraph.arguments import whole
from deepgraph.errors import ArgumentError
from deepgraph.training.callback import Callback, Function, Run
from deepgraph.training.checkpoint import Checkpoint
from deepgraph.training.feeding import FEEDS, Data, Means, batched, length
from deepgraph.training.feeding import evaluate as measured
from deepgraph.training.history import CLOCK, TEST, History, Row
from deepgraph.training.progress import Progress


def fit(
    step: Callable[..., Any], train: Data, *, epochs: int, batch: int = 32, seed: int = 0,
    evaluate: Callable[..., Any] | None = None, test: Data | None = None,
    feeds: Sequence[str] = FEEDS, callbacks: Iterable[Callback | Callable[[Run], Any]] = (),
    checkpoint: Checkpoint | None = None, history: History | None = None, progress: bool = True,
) -> History:  # fmt: skip
    """Call a step with the batches of a data set, epoch after epoch; return what each came to.

    `step` and `evaluate` give metrics by name, `{"loss": ...}`; `evaluate` is called with all of
    `test` after each epoch. A data set, or a tuple of arrays, is trained on in batches of `batch`,
    shuffled in epoch k by the seed (`seed`, k), k counting from 1. Instead `train` may be any
    iterable of batches, or a function that gives one for an epoch. A batch is a dict of feeds, or
    arrays in the order of `feeds`, the names under which the step takes them.

    `callbacks` are functions of the run, called after each epoch, or have more to do (`Callback`).
    `history` is gone on with after its last epoch, up to `epochs` in all, and holds what was done
    also if the fit is interrupted; `checkpoint` saves all there is, to go on in another process.
    `progress` shows a bar and a line for each epoch.

    >>> from deepgraph.training import fit
    >>> history = fit(step, train, epochs=10, evaluate=evaluation, test=test)   # doctest: +SKIP
    """
    epochs, batch, seed = whole("epochs", epochs), whole("batch", batch), whole("seed", seed, 0)
    if (evaluate is None) != (test is None):
        raise ArgumentError("evaluate and test go together: write evaluate=step, test=data")
    called = [c if isinstance(c, Callback) else Function(c) for c in callbacks]
    history = History() if history is None else history
    run = Run(step, evaluate, called, history, epochs, {"seed": seed, "batch": batch})
    if checkpoint is not None:
        checkpoint.begin(run)
    for callback in called:
        callback.begin(run)
    with Progress(progress, epochs, len(history), length(train)) as shown:
        while len(history) < epochs and not run.stopped:
            epoch = len(history) + 1
            shown.epoch(epoch)
            start = time.perf_counter()
            means = Means(step, feeds)
            for given in batched(train, batch, (seed, epoch), epoch):
                means.take(given)
                shown.batch(means)
            seconds = time.perf_counter() - start
            if not means.examples:
                raise ArgumentError(
                    f"epoch {epoch} has no batches: got {train!r}; what is walked only once does "
                    "not do: give a list, data.batches(...), or a function of the epoch"
                )
            tested = {}
            if evaluate is not None and test is not None:
                tested = measured(evaluate, test, feeds=feeds)
            history.append(_row(epoch, means, tested, seconds))
            shown.row(history[-1])
            for callback in called:
                callback.epoch(run)
            if checkpoint is not None:
                checkpoint.epoch(run)
    for callback in called:
        callback.end(run)
    return history


def _row(epoch: int, means: Means, tested: Mapping[str, float], seconds: float) -> Row:
    metrics = means.values | {f"{TEST}{name}": value for name, value in tested.items()}
    if taken := metrics.keys() & {"epoch", *CLOCK}:
        raise ArgumentError(f"metrics cannot be called {', '.join(taken)}: a history has its own")
    speed = means.examples / max(seconds, 1e-9)
    return {"epoch": epoch, **metrics, **dict(zip(CLOCK, (seconds, speed), strict=True))}
