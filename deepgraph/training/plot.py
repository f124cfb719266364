"""Charts of a history by matplotlib, once and live; it is imported when one is asked for."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Sequence
from typing import Any

from deepgraph.errors import ArgumentError
from deepgraph.training.callback import Callback, Run
from deepgraph.training.history import TEST, History

_METADATA = ("Creator", "Date", "Format", "Type")  # nothing of when and where it was drawn
_INK = "#7c8593"  # reads on white and on black
_LINES = (("", "train", "#3b82f6"), (TEST, "test", "#f59e0b"))  # names begin with


class Chart:
    """A history drawn by matplotlib: a panel for each kind of metric, a line for each of a kind.

    It shows itself in a notebook, as SVG on the page's own ground. `figure` and `axes` are
    matplotlib's, for anything more.
    """

    def __init__(self, history: History, axes: Sequence[Any] | None = None) -> None:
        kinds = list(dict.fromkeys(name.removeprefix(TEST) for name in history.metrics))
        if axes is None:
            axes = _panels(max(1, len(kinds)))
        self.axes = list(axes)
        if kinds and len(self.axes) != len(kinds):
            raise ArgumentError(
                f"axes: one for each kind of metric: got {len(self.axes)} for {', '.join(kinds)}"
            )
        self.figure = self.axes[0].figure
        epochs = history["epoch"] if history else []
        for panel, kind in zip(self.axes, kinds, strict=False):
            panel.set_title(kind.replace("_", " "))
            panel.set_xlabel("epoch")
            for start, label, colour in _LINES:
                if (name := start + kind) in history.metrics:
                    panel.plot(epochs, history[name], ".-", color=colour, label=label)
            panel.legend(labelcolor="linecolor", frameon=False)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the figure to a file; its name tells the format: .png, .svg, .pdf."""
        self.figure.savefig(path, **{"bbox_inches": "tight", **options})

    def to_svg(self) -> str:
        """The figure as SVG; the same history gives the same text."""
        from matplotlib import rc_context

        text = io.StringIO()
        with rc_context({"svg.hashsalt": "deepgraph", "svg.fonttype": "none"}):
            self.figure.savefig(text, format="svg", bbox_inches="tight", transparent=True,
                                metadata=dict.fromkeys(_METADATA))  # fmt: skip
        return text.getvalue()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<chart of {', '.join(panel.get_title() for panel in self.axes)}>"


def _figure(*args: Any, **options: Any) -> Any:
    """A figure that belongs to no window. Raises ImportError where there is no matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'a chart needs matplotlib: pip install "deepgraph-compiler[notebook]"'
        ) from error
    return Figure(*args, **options)


def _panels(count: int) -> list[Any]:
    """New axes in a row, whose ink reads in a light and in a dark theme."""
    figure = _figure(figsize=(4.2 * count, 2.8), layout="constrained")
    panels: list[Any] = list(figure.subplots(1, count, squeeze=False)[0])
    for panel in panels:
        panel.tick_params(colors=_INK)
        panel.grid(color=_INK, alpha=0.2)
        for text in (panel.title, panel.xaxis.label):
            text.set_color(_INK)
        for side, spine in panel.spines.items():
            spine.set(color=_INK, visible=side in ("left", "bottom"))
        panel.xaxis.get_major_locator().set_params(integer=True)
    return panels


class LivePlot(Callback):
    """A chart in a notebook that grows with each epoch; elsewhere nothing is shown.

    What is left in the cell is the last chart.

    >>> from deepgraph.training import LivePlot, fit
    >>> fit(step, train, epochs=20, callbacks=[LivePlot()])            # doctest: +SKIP
    """

    def __init__(self) -> None:
        _figure()  # if it is missing, then now
        self._display: Any = None

    def begin(self, run: Run) -> None:
        """Show what there is so far, above all that the fit prints."""
        self._display = None
        if _in_notebook():
            from IPython.display import display

            self._display = display(  # type: ignore[no-untyped-call]
                Chart(run.history), display_id=True
            )

    def epoch(self, run: Run) -> None:
        """Draw it anew."""
        if self._display is not None:
            self._display.update(Chart(run.history))


def _in_notebook() -> bool:
    """Is there a page to show things on? IPython in a terminal has none."""
    import sys

    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
