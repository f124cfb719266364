"""Settings of a process, and of a block of code in one thread: how many threads steps run on."""

from __future__ import annotations

import os
from contextvars import ContextVar, Token
from functools import cache
from types import TracebackType

from deepgraph.errors import GraphError

setting: ContextVar[int] = ContextVar("deepgraph_threads", default=0)  # 0: as the process has it


class config:  # noqa: N801 (called as a function)
    """Set how many threads large kernels use, from here on or inside a `with` block.

    `dg.config(threads=1)` holds in this thread (in this context, as `contextvars` has it) until it
    is set again; as `with dg.config(threads=1):` it holds until the block ends. Other threads, and
    all until they say something else, use `DEEPGRAPH_THREADS`, or as many as there are processors.
    Results of a step depend on the number in their last bits at most, and are the same for the same
    number. Raises GraphError where it is not 1 or more.
    """

    def __init__(self, *, threads: int) -> None:
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise GraphError(f"config: threads are 1 or more: got {threads!r}")
        self._token: Token[int] = setting.set(threads)

    def __enter__(self) -> config:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        setting.reset(self._token)


def threads() -> int:
    """How many threads large kernels use here: what `config` says, else the process's default."""
    return setting.get() or default()


@cache
def default() -> int:
    """How many the process uses where nothing is set; asked for once, as a look at the environment
    costs more than a small step.
    """
    if not (given := os.environ.get("DEEPGRAPH_THREADS")):
        return processors()
    if not given.isdecimal() or int(given) < 1:
        raise GraphError(f"DEEPGRAPH_THREADS is a number, 1 or more: got {given!r}")
    return int(given)


def processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
