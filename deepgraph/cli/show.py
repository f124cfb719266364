"""Print a pickled step, graph, schedule, plan or expression.

A pickle can run any code when it is opened: show only files that you trust.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepgraph.drawn import Drawn
from deepgraph.errors import GraphError
from deepgraph.show.html import page
from deepgraph.step import Step


def _source(step: Step) -> str:
    return str(step.source)


def _stages(step: Step) -> str:
    return "\n\n".join(
        f"# {s.name}: {s.level}, {s.seconds * 1e3:.2f} ms\n{s.value.to_text()}"
        for s in step.stages.values()
    )


FORMS: dict[str, Callable[[Any], str]] = {
    "text": lambda thing: str((thing.schedule if isinstance(thing, Step) else thing).to_text()),
    "dot": Drawn.to_dot,
    "mermaid": Drawn.to_mermaid,
    "svg": Drawn.to_svg,
    "html": lambda thing: page(thing.to_html(), repr(thing)),
    "source": _source,
    "plan": lambda step: step.plan.to_text(),
    "timeline": lambda step: step.plan.timeline().to_svg(),
    "stages": _stages,
    "history": lambda step: page(step.history.to_html(), repr(step)),
}
OF_STEPS = ("source", "plan", "timeline", "stages", "history")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `show`."""
    parser.add_argument("file", type=Path, help="such as deepgraph-run/step.pickle")
    parser.add_argument(
        "--as", dest="form", choices=FORMS, default="text",
        help=f"{', '.join(OF_STEPS)} are of steps; default: text",
    )  # fmt: skip


def run(given: argparse.Namespace) -> int:
    """Open the file and print what is asked for."""
    thing = opened(given.file)
    if given.form in OF_STEPS and not isinstance(thing, Step):
        held = type(thing).__name__
        raise GraphError(f"show: only a step has {given.form}: {given.file} holds {held}")
    print(FORMS[given.form](thing))
    return 0


def opened(path: Path) -> Drawn:
    """What a file holds that has a picture. Raises GraphError where it holds none."""
    with path.open("rb") as file:
        try:
            thing = pickle.load(file)
        except GraphError:
            raise
        except Exception as error:  # a file that is no pickle can make it raise anything
            raise GraphError(f"show: not a pickle: {path}: {error}") from None
    if not isinstance(thing, Drawn):
        raise GraphError(f"show: nothing to show: {path} holds {type(thing).__name__}")
    return thing
