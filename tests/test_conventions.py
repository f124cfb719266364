"""What users of array libraries take for granted: logging, warnings, one namespace of functions."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

import deepgraph as dg


def test_the_chosen_backend_and_why_is_logged_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["deepgraph.compile"], "_told", set())
    monkeypatch.delenv("DEEPGRAPH_BACKEND", raising=False)
    x = dg.placeholder("x", ("n",))
    with caplog.at_level(logging.INFO, "deepgraph"):
        for _ in range(3):
            chosen = dg.compile(x + 1).backend
        dg.compile(x + 1, backend="numpy")
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("deepgraph", "INFO")
    assert record.getMessage().startswith(f"backend {chosen}: ")
    assert f"{chosen} answers" in record.getMessage()


def test_auto_goes_on_where_c_does_not_compile(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, native: str
) -> None:
    """A compiler that refuses a step: a message, and NumPy; if native was asked for, an error."""
    monkeypatch.delenv("DEEPGRAPH_BACKEND", raising=False)
    monkeypatch.setenv("DEEPGRAPH_CFLAGS", "-no-such-flag")
    x = dg.placeholder("x", ("n",))
    step = dg.compile(x + 1)
    assert (step.backend, step(x=[1.0]).tolist()) == ("numpy", [2.0])
    assert "native failed, numpy takes over" in caplog.text
    with pytest.raises(dg.GraphError, match="the C compiler refuses"):
        dg.compile(x + 1, backend=native)


def test_logs_go_where_the_program_says(python: Callable[..., CompletedProcess[str]]) -> None:
    quiet = "import logging, deepgraph; logging.getLogger('deepgraph.x').error('lost')"
    done = python("-c", quiet)
    assert (done.stdout, done.stderr) == ("", "")
    done = python("-c", f"import logging; logging.basicConfig(); {quiet}")
    assert done.stderr == "ERROR:deepgraph.x:lost\n"


def test_code_for_any_array_library() -> None:
    """What takes its functions from `__array_namespace__` gives here a graph, there numbers."""

    def standardised(x: Any) -> Any:
        xp = x.__array_namespace__()
        wide = xp.astype(x, xp.result_type(x, xp.float64))
        assert xp.isdtype(wide.dtype, "real floating")
        return (wide - xp.mean(wide, axis=0)) / xp.std(wide, axis=0, correction=1)

    x = dg.placeholder("x", ("n", 3))
    given = np.random.default_rng(0).normal(size=(5, 3)).astype("f")
    found = dg.compile(standardised(x), backend="numpy")(x=given)
    np.testing.assert_allclose(found, standardised(given), rtol=1e-12)
    assert x.__array_namespace__(api_version="2024.12") is dg


def test_questions_about_dtypes_and_shapes() -> None:
    x, k = dg.placeholder("x", ("n", 1)), dg.placeholder("k", (3,), dg.int32)
    assert dg.result_type(x, 2.0) == dg.float32
    half = dg.placeholder("half", (3,), "bfloat16")
    assert dg.result_type(half, 2.0, 1) == (2 * half + 0.5).dtype == half.dtype
    assert dg.compile(dg.gelu(half))(half=[0.0, 0.0, 0.0]).dtype == half.dtype
    assert dg.result_type(x, k) == (x + k).dtype == dg.float64
    assert dg.result_type(dg.uint8, dg.int8, True) == np.int16
    assert dg.can_cast(k, "int64")
    assert not dg.can_cast(k, dg.float32)
    assert dg.finfo(x.dtype).eps == np.finfo("f").eps
    assert dg.broadcast_shapes(x.shape, k.shape) == (x + k).shape
    with pytest.raises(dg.ShapeError, match=r"shapes do not broadcast: \(2,\) and \(3,\)"):
        dg.broadcast_shapes((2,), (3,))
    assert x[:, dg.newaxis].shape == (x.shape[0], 1, 1)


def test_a_warning_is_of_the_users_line(python: Callable[..., CompletedProcess[str]]) -> None:
    code = """
import warnings
import deepgraph as dg
x, y = dg.placeholder("x", (3,)), dg.placeholder("y", (3,), "float64")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        x + y
(w,) = caught
print(w.filename, w.lineno, issubclass(w.category, dg.DeepgraphWarning), w.category.__name__)
"""
    assert python("-c", code).stdout == "<string> 8 True PrecisionWarning\n"
