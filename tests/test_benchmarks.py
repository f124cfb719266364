"""The benchmarks run, at sizes too small to measure anything, and compare what is equal."""

from __future__ import annotations

import importlib
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import elementwise, handwritten, measure
from benchmarks.__main__ import SUITES, main
from benchmarks.nets import TINY, Conv, Net, declared

SAME = Net(
    "two sizes", 6, (3, 11, 9), (Conv(2, 2, True), Conv(5, 3, False), Conv(2, 2, False)), (4,)
)


@pytest.mark.parametrize("net", [*TINY, SAME], ids=lambda net: net.name)
def test_steps_by_hand_learn_what_the_compiled_step_learns(net: Net) -> None:
    step, work = declared(net, seed=1)
    peers = dict(handwritten.steps(work))
    assert len(peers) == (3 if net.convs else 1)
    wanted = []
    rng = np.random.default_rng(2)
    batches = [(rng.standard_normal(work.x.shape, np.float32), work.t) for _ in range(30)]
    for x, t in batches:
        wanted.append(float(step(x=x, t=t)))
    assert abs(wanted[0] - wanted[-1]) > 1e-3
    for name, peer in peers.items():
        found = [float(peer(x, t)) for x, t in batches]
        np.testing.assert_allclose(found, wanted, rtol=2e-5, err_msg=name)


@pytest.mark.parametrize("workload", elementwise.WORKLOADS)
def test_forms_of_a_workload_agree(workload: Any) -> None:
    forms = elementwise.checked(workload, 3000)
    for _ in range(3):
        found = [np.array(form()) for form in forms]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_gives_rows(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = list(importlib.import_module(f"benchmarks.{suite}").rows(0, True))
    assert found
    for row in found:
        assert row.get("ratio", 1) > 0
        assert row.get("arena") == row.get("allocated")
        assert isinstance(row.get("seconds", 0.0), float | int), row
    measure.show(found)
    assert len(capsys.readouterr().out.splitlines()) > len(found)


def test_a_ratio_above_one_is_a_slower_peer() -> None:
    functions = {measure.OWN: lambda: time.sleep(1e-4), "peer": lambda: time.sleep(4e-3)}
    (row,) = measure.compared("sleep", functions, 0)
    assert row["peer"] == "peer"
    assert row["ratio"] > 2
    assert row["own us"] < row["peer us"] <= row["peer p90"]


def test_each_number_of_threads_has_a_clean_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started = []

    def run(command: list[str], env: dict[str, str], check: bool) -> Any:
        started.append((command, env))
        text = json.dumps({"machines": [{}], "rows": [{"threads": env["DEEPGRAPH_THREADS"]}]})
        Path(command[command.index("--json") + 1]).write_text(text)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    path = tmp_path / "all.json"
    assert main(["steps", "calls", "--threads", "1", "2", "--quick", "--json", str(path)]) == 0
    assert [env["OPENBLAS_NUM_THREADS"] for _, env in started] == ["1", "2"]
    assert all("OPENBLAS_CORETYPE" not in env for _, env in started)
    assert ["calls" in command for command, _ in started] == [True, False]
    assert [row["threads"] for row in json.loads(path.read_text())["rows"]] == ["1", "2"]


def test_a_suite_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["step"])
    assert "no suite is called 'step': there are steps," in capsys.readouterr().err
