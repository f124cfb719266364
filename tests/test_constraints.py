"""What only fed sizes decide: positions on named axes, negative sizes; float64 by accident."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import nn
from deepgraph.expr import Expr


def test_a_position_on_a_named_axis_is_checked_when_fed() -> None:
    x = dg.placeholder("x", (4, "n"), "float64")
    step = dg.compile([x[:, 3], x[:, -3]], backend="numpy")
    array = np.arange(20.0).reshape(4, 5)
    third, last = step(x=array)
    np.testing.assert_array_equal(third, array[:, 3])
    np.testing.assert_array_equal(last, array[:, -3])
    for n in (2, 3):
        with pytest.raises(IndexError, match=rf"index .* is out of range of n for n={n}"):
            step(x=np.zeros((4, n)))


def test_a_size_that_would_be_negative_is_an_error() -> None:
    x = dg.placeholder("x", ("n",), "float64")
    step = dg.compile(dg.windows(x, 0, 4).sum(axis=1), backend="numpy")
    assert step(x=np.ones(4)).tolist() == [4.0]
    with pytest.raises(dg.ShapeError, match=r"the size .* is negative for n=2"):
        step(x=np.ones(2))


EXTREMES: dict[str, Callable[[Expr], Expr]] = {
    "max": lambda x: dg.max(x, 1),
    "min of all": dg.min,
    "argmax": lambda x: dg.argmax(x, 1),
    "argmin of all": dg.argmin,
    "norm": lambda x: dg.norm(x, 1, ord=np.inf),
    "cross entropy": lambda x: nn.softmax_cross_entropy(x, dg.zeros((x.shape[0],), "int64")),
    "gradient": lambda x: dg.grad(dg.sum(dg.max(x, 1)), x),
}


@pytest.mark.parametrize("backend", ["numpy", "reference"])
@pytest.mark.parametrize("name", EXTREMES)
def test_the_extreme_of_a_named_size_needs_an_element(name: str, backend: str) -> None:
    x = dg.placeholder("x", ("batch", "n"))
    step = dg.compile(EXTREMES[name](x), backend=backend)
    step(x=np.ones((2, 3), "float32"))
    with pytest.raises(dg.ShapeError, match=r"^(arg)?m(ax|in): no elements along axis 1: ") as info:
        step(x=np.ones((2, 0), "float32"))
    assert "(batch, n) for batch=2, n=0" in str(info.value)
    assert "test_constraints.py:" in str(info.value)
    if "of all" not in name and name != "cross entropy":
        step(x=np.ones((0, 3), "float32"))  # rows of 3, but no rows


def test_float32_that_meets_float64_warns_once_with_the_line() -> None:
    program = (
        "import warnings, numpy as np, deepgraph as dg\n"
        "x = dg.placeholder('x', (3,))\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    y = x * 2.0 + 1\n"
        "    print(len(seen))\n"
        "    z = x * np.ones(3)\n"
        "    z = x * np.ones(3)\n"
        "    print(len(seen), z.dtype, seen[0].category.__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["0", "1 float64 PrecisionWarning"]
