"""PyTorch's own sample inputs: what is declared here gives its outputs and gradients in float64.

`DEEPGRAPH_CONFORMANCE` names the folder of cases; the run ends with what passed, failed and was
skipped, and why.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance import OPERATIONS, Case, read

import deepgraph as dg
from deepgraph.backends.reference import evaluate
from deepgraph.expr import Expr
from deepgraph.graph import Graph

FOLDER = os.environ.get("DEEPGRAPH_CONFORMANCE", "")
CASES = list(read(Path(FOLDER))) if FOLDER else []
pytestmark = pytest.mark.skipif(not FOLDER, reason="DEEPGRAPH_CONFORMANCE names no folder of cases")


def _has_mask(case: Case) -> bool:
    return any(a.dtype.kind == "b" for a in case.arrays[1:])


# All that is skipped, and why.
SKIPPED: tuple[tuple[str, Callable[[Case], bool]], ...] = (
    ("an operation of a later release", lambda c: c.op not in OPERATIONS),
    ("complex numbers are outside", lambda c: any(a.dtype.kind == "c" for a in c.arrays)),
    (
        "a boolean mask selects a number of elements that data decides",
        lambda c: c.op == "__getitem__" and _has_mask(c),
    ),
    (
        "draws of PyTorch's own generator",
        lambda c: c.op.endswith("attention") and bool(c.kwargs.get("dropout_p")),
    ),
    (
        "singular values are of a later release",
        lambda c: c.op == "norm" and "nuc" in (*c.args[:1], c.kwargs.get("p")),
    ),
)

INEXACT = {"nn.functional.hardsigmoid": 1e-7}  # PyTorch multiplies its gradient by a float32 sixth


def test_there_are_cases() -> None:
    assert CASES, f"no cases in {FOLDER}"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    for reason, applies in SKIPPED:
        if applies(case):
            pytest.skip(reason)
    placeholders, outputs = case.declare()
    assert len(outputs) == len(case.outputs)
    wanted = dict(zip([f"output {k}" for k in range(len(outputs))], case.outputs, strict=True))
    asked = dict(zip(wanted, outputs, strict=True))
    if case.input_grads is not None:
        learned = case.learned()
        grads = dg.grad(_projection(outputs), [placeholders[k] for k in learned])
        for k, g, expected in zip(learned, grads, case.input_grads, strict=True):
            if expected is not None:
                wanted[f"gradient {k}"], asked[f"gradient {k}"] = expected, g
    graph = Graph((), asked)
    values = dict(zip(placeholders, case.arrays, strict=True))
    values |= {p: p.value for p in graph.parameters}
    rtol = INEXACT.get(case.op, 1e-9)
    _compare(evaluate(graph, values, {})[0], wanted, rtol)
    step = dg.compile(asked, inputs=placeholders, backend="numpy")
    for _ in range(2):  # the second call finds dirty buffers
        _compare(step(*case.arrays), wanted, rtol)


def _projection(outputs: list[Expr]) -> Expr:
    """The sum of all floats, each times a number that PyTorch's gradients were drawn for too."""
    floats = [y for y in outputs if y.dtype.kind == "f"]
    draws = (np.asarray(np.random.RandomState(7).randn(*y.shape)) for y in floats)
    return reduce(dg.add, (dg.sum(y * draw) for y, draw in zip(floats, draws, strict=True)))


def _compare(found: dict[str, Any], wanted: dict[str, Any], rtol: float) -> None:
    for name, expected in wanted.items():
        assert (found[name].shape, found[name].dtype) == (expected.shape, expected.dtype), name
        np.testing.assert_allclose(found[name], expected, rtol=rtol, atol=1e-12, err_msg=name)
