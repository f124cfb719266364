"""step.profile: times of kernels that add up, counts by rules, and nothing changed by measuring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import nn, optim
from deepgraph.backends.numpylike import timed


@pytest.fixture(scope="module")
def step() -> dg.Step:
    x = dg.placeholder("x", ("batch", 64))
    w = dg.Parameter(np.full((64, 256), 0.01, np.float32), name="w")
    loss = dg.sum(dg.tanh(x @ w))  # the line
    return dg.compile({"loss": loss}, {w: w - 1e-4 * dg.grad(loss, w)}, backend="numpy")


@pytest.fixture(scope="module")
def given() -> Any:
    return np.random.default_rng(0).normal(size=(128, 64)).astype(np.float32)


def test_a_row_for_each_kernel(step: dg.Step, given: Any) -> None:
    found = step.profile(x=given, repeat=5)
    assert [row.name for row in found] == [k.name for k in step.kernels]
    assert [row.kind for row in found] == [k.kind for k in step.kernels]
    assert all(row.seconds > 0 for row in found)
    assert found.sizes == {"batch": 128}
    assert found.repeat == 5
    assert found.kernel_seconds == pytest.approx(sum(row.seconds for row in found))
    assert any("# the line" in row.line and "test_profile.py:" in row.where for row in found)


def test_the_parts_add_up(step: dg.Step, given: Any) -> None:
    ratios = []
    for _ in range(5):  # other processes disturb one run, not five
        found = step.profile(x=given, repeat=20)
        ratios.append(found.kernel_seconds / found.seconds)
    assert min(ratios) < 1.3
    assert max(ratios) > 0.5


def test_bytes_and_operations_by_rule(step: dg.Step, given: Any) -> None:
    found = step.profile(x=given, repeat=1)
    first = next(row for row in found if row.name == "matmul")
    m, k, n = 128, 64, 256
    assert first.bytes == 4 * (m * k + k * n + m * n)
    assert first.flops == 2 * m * k * n
    assert first.gflop_per_second == pytest.approx(first.flops / first.seconds / 1e9)
    assert first.gb_per_second == pytest.approx(first.bytes / first.seconds / 1e9)
    tanh = next(row for row in found if "tanh" in row.name)
    assert tanh.flops >= m * n


def test_new_values_that_are_copied_have_a_row() -> None:
    p, q = (dg.Parameter(np.zeros(5, np.float32), name=n) for n in "pq")
    step = dg.compile((), {p: q + 1, q: p * 2}, backend="numpy")
    assert len(step.plan.commits) == 1
    last = step.profile(repeat=2).rows[-1]
    assert (last.name, last.bytes, last.flops) == ("new values", 40, 0)


def test_measuring_trains_nothing() -> None:
    x, t = dg.placeholder("x", ("n", 4)), dg.placeholder("t", ("n",), "int64")
    model = nn.Sequential(nn.Dense(8), nn.Dropout(0.5), nn.Dense(3), seed=0)
    loss = nn.softmax_cross_entropy(model(x, training=True), t)
    opt = optim.Adam(0.1)
    step = dg.compile(loss, opt.updates(loss, model.parameters), backend="numpy")
    feeds = {"x": np.ones((5, 4), np.float32), "t": np.arange(5) % 3}
    step(**feeds)
    parameters = step.graph.parameters
    assert any(p.name == "random_counter" for p in parameters)
    before = [p.value for p in parameters]  # type: ignore[attr-defined]
    step.profile(**feeds, repeat=4)
    for p, value in zip(parameters, before, strict=True):
        np.testing.assert_array_equal(p.value, value)  # type: ignore[attr-defined]
    step(**feeds)
    assert any((p.value != v).any() for p, v in zip(parameters, before, strict=True))  # type: ignore[attr-defined]


def test_parameters_come_back_after_an_error() -> None:
    x = dg.placeholder("x", ("n",))
    i = dg.placeholder("i", (), "int64")
    p = dg.Parameter(np.float32(1), name="p")
    step = dg.compile(x[i], {p: p + 1}, backend="numpy")
    with pytest.raises(IndexError, match="out of range"):
        step.profile(x=[1.0, 2.0], i=9)
    assert p.value == 1


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    x = dg.placeholder("x", ("n",))
    step = dg.compile(dg.print(x * 2, every=2, label="v"), backend="numpy")
    step.profile(x=[1.0], repeat=3)
    assert capsys.readouterr().out == ""
    step(x=[1.0])  # nor counted
    assert capsys.readouterr().out.startswith("v: ")


def test_table(step: dg.Step, given: Any) -> None:
    lines = str(step.profile(x=given, repeat=2)).splitlines()
    assert lines[0].endswith("(median of 2, batch=128)")
    assert lines[1].startswith("roof: ")
    assert lines[2].split() == ["kernel", "us", "share", "GB/s", "GFLOP/s", "of", "roof", "line"]
    assert len(lines) == 3 + len(step.kernels)
    shares = [float(line.split("%")[0].rsplit(None, 1)[1]) for line in lines[3:]]
    assert sum(shares) == pytest.approx(100, abs=1)
    assert "# the line" in "\n".join(lines)


def test_bad_arguments(step: dg.Step, given: Any) -> None:
    for repeat in (0, -1, 2.5):
        with pytest.raises(dg.FeedError, match="profile: repeats 1 time or more: got"):
            step.profile(x=given, repeat=repeat)  # type: ignore[arg-type]
    with pytest.raises(dg.FeedError, match="feed x is missing"):
        step.profile()
    with pytest.raises(dg.FeedError, match="feeds go by name"):
        step.profile(given)


def test_debugged_steps_profile_what_they_run(given: Any) -> None:
    x = dg.placeholder("x", ("n", 64))
    for debug in ("trace", "nan"):
        step = dg.compile(dg.sum(dg.log(x)), backend="numpy", debug=debug)
        assert len(step.profile(x=given, repeat=1).rows) == 1


def test_blocks_are_timed() -> None:
    x = dg.placeholder("x", ("n",))
    step = dg.compile(dg.sum(dg.tanh(x) * 2), backend="numpy")
    found = step.profile(x=np.ones(1 << 21, np.float32), repeat=2)
    assert found.rows[0].bytes == 4 * (1 << 21) + 4
    assert found.rows[0].seconds > 1e-4


def test_clocks_stand_between_kernels(step: dg.Step) -> None:
    plain = str(step.source).splitlines()
    clocked = timed(str(step.source)).splitlines()
    assert [line for line in clocked if line.strip() != "tick()"] == plain
    body = clocked[clocked.index("def step(x, out_loss):") :]
    kernels = [k for k, line in enumerate(body) if line.startswith("    # ")]
    assert len(kernels) == len(step.kernels)
    assert all(body[k - 1] == "    tick()" for k in kernels)
    assert body.count("    tick()") == clocked.count("    tick()") == len(kernels) + 1
    assert body[-1] == "    tick()"


def test_the_reference_backend_has_no_kernels(given: Any) -> None:
    step = dg.compile(dg.sum(dg.placeholder("x", ("n", 64))), backend="reference")
    with pytest.raises(dg.GraphError, match="profile: this backend runs no kernels"):
        step.profile(x=given, repeat=1)
