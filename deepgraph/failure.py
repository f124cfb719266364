"""Failure: what a step adds to an error that NumPy raised, the kernel and the user's line."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Sequence

from deepgraph.expr import Expr
from deepgraph.provenance import at
from deepgraph.schedule import Kernel, Schedule

_KERNEL = "# "  # how a driver marks where a kernel's lines begin, and a kernel where a user's do
_LATE = re.compile(r"# of k(\d+)$")  # and the kernel of an error that is only raised at the end


def explain_failure(error: Exception, schedule: Schedule) -> None:
    """Note on an error which kernel it comes from, which operation, and the user's lines.

    The generated lines that the traceback passed through tell: a driver's comments count its
    kernels, and in a fused kernel the nearest comment is the user's line. An error that passed
    through none (a bad feed, a debugger's own) stays as it is.
    """
    passed = [
        linecache.getlines(frame.f_code.co_filename)[frame.f_code.co_firstlineno : line]
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith("<deepgraph step")
        and frame.f_code.co_name != "<module>"
    ]
    if not passed:
        return
    late = _LATE.search(passed[0][-1])
    number = sum(line.lstrip().startswith(_KERNEL) for line in passed[0]) - 1
    number = int(late[1]) if late else number
    if not 0 <= number < len(schedule.kernels):
        return
    kernel = schedule.kernels[number]
    node = _node(kernel, passed[-1]) if len(passed) > 1 else kernel.nodes[-1]
    where = at(schedule.origins(node))
    error.add_note(f"{node.op.name}, in kernel {number} ({kernel.name})\n{where}")


def _node(kernel: Kernel, lines: Sequence[str]) -> Expr:
    """The node of a fused kernel whose statement is the last of these lines, under its comment."""
    shown = next((line for line in reversed(lines) if line.lstrip().startswith(_KERNEL)), "")
    where = shown.strip().removeprefix(_KERNEL).split("  ")[0]
    there = [n for n in kernel.nodes if n.origin.where == where] or kernel.nodes
    words = set(re.findall(r"\w+", lines[-1]))
    named = (n for n in there if (n.op.ufunc or n.op.name) in words)
    return next(named, there[-1])
