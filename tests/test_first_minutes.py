"""What a new user runs into in the first minutes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import io, nn, optim


def test_constant_index_arrays_on_a_named_axis() -> None:
    x = dg.placeholder("x", ("n", 5))
    array = np.arange(20, dtype="float32").reshape(4, 5)
    picked = x[[0, 1], [1, 2]]
    step = dg.compile([picked, x[[-1], [-1]], dg.grad(dg.sum(picked), x)], backend="numpy")
    first, last, slope = step(x=array)
    np.testing.assert_array_equal(first, array[[0, 1], [1, 2]])
    np.testing.assert_array_equal(last, array[[-1], [-1]])
    assert slope.sum() == 2
    counted = dg.asarray(np.arange(9.0))[x.shape[0]]
    assert dg.compile(counted, inputs=[x], backend="numpy")(array) == 4.0


def test_trace_takes_a_stable_form_for_no_fault() -> None:
    z = dg.placeholder("z", (3,), "float64")
    loss = -dg.mean(dg.log(dg.sigmoid(z)))
    step = dg.compile(loss, debug="trace", backend="numpy")
    assert float(step(z=[50.0, -800.0, 0.0])) == pytest.approx((800 + np.log(2)) / 3)


def test_saving_a_step_without_state_is_an_empty_file(tmp_path: Path) -> None:
    x = dg.placeholder("x", (3,))
    io.save(tmp_path / "step.npz", dg.compile(x * 2, backend="numpy"))
    assert io.read(tmp_path / "step.npz") == {}


def test_a_layer_takes_one_size_as_torch_takes_two() -> None:
    with pytest.raises(TypeError, match="positional"):
        nn.Dense(64, 10)  # type: ignore[misc]


def test_one_pass_to_leave_out_may_stand_alone() -> None:
    x = dg.placeholder("x", ("n",))
    step = dg.compile(dg.tanh(x * 2), without="fuse", backend="numpy")
    assert len(step.kernels) == 2


def test_updates_are_a_mapping() -> None:
    w = dg.Parameter(1.0, name="w")
    with pytest.raises(dg.DTypeError, match="updates map parameters to new values"):
        dg.compile(w * 2, [(w, w * 2)])  # type: ignore[arg-type]


def test_one_parameter_is_no_list_of_them() -> None:
    w = dg.Parameter([1.0, 2.0], name="w", dtype="float32")
    with pytest.raises(dg.GraphError, match="parameters"):
        optim.SGD(lr=0.1).updates(dg.sum(w * w), w)  # type: ignore[arg-type]


def test_a_file_that_holds_more_says_how_to_load_a_part(tmp_path: Path) -> None:
    x = dg.placeholder("x", ("n", 2))
    model, opt = nn.Sequential(nn.Dense(1)), optim.Adam(lr=0.1)
    opt.updates(dg.mean(model(x)), model.parameters)
    io.save(tmp_path / "both.npz", model, opt)
    with pytest.raises(io.StateError, match="strict=False"):
        io.load(tmp_path / "both.npz", model)
    io.load(tmp_path / "both.npz", model, strict=False)
