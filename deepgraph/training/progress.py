"""Progress: a bar for the whole of a fit, and a line for each epoch that is over."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Any, Self

from deepgraph.training.feeding import Means
from deepgraph.training.history import Row, formatted, line


class Progress:
    """tqdm's bar, in a terminal on stderr, in a notebook as its widget; nothing if not shown."""

    def __init__(self, shown: bool, epochs: int, done: int, examples: int | None) -> None:
        self._tqdm = _tqdm() if shown else None
        self._epochs = epochs
        self._before = done * (examples or 0)
        self._bar: Any = None
        if self._tqdm is not None:
            total = None if examples is None else epochs * examples
            self._bar = self._tqdm(total=total, initial=self._before, unit=" examples",
                                   unit_scale=True, leave=False)  # fmt: skip

    def epoch(self, number: int) -> None:
        """An epoch begins."""
        if self._bar is not None:
            self._before = self._bar.n
            self._bar.set_description(f"epoch {number}/{self._epochs}")

    def batch(self, means: Means) -> None:
        """A batch is done."""
        if self._bar is not None:
            told = {name: formatted(name, value) for name, value in means.values.items()}
            self._bar.set_postfix(told, refresh=False)
            self._bar.update(self._before + means.examples - self._bar.n)

    def row(self, row: Row) -> None:
        """An epoch is over."""
        if self._tqdm is not None:
            self._tqdm.write(line(row))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._bar is not None:
            self._bar.close()


def _tqdm() -> Any:
    with warnings.catch_warnings():  # a notebook without ipywidgets gets the bar of a terminal
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm
