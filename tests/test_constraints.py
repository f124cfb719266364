"""What only fed sizes decide: positions on named axes, negative sizes; float64 by accident."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import deepgraph as dg


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
