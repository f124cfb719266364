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
from nets import ResNet

import deepgraph as dg
from benchmarks import elementwise, measure, nets, peers, resnet, steps, tables
from benchmarks.__main__ import SUITES, main
from benchmarks.formulas import FORMULAS, Formula
from benchmarks.nets import TINY, TINY_RESNET, Conv, Net, declared, products
from benchmarks.peers.byhand import LAYOUTS, HandWritten
from deepgraph.backends import cudevice

SAME = Net(
    "two sizes", 6, (3, 11, 9), (Conv(2, 2, True), Conv(5, 3, False), Conv(2, 2, False)), (4,)
)
GROUPS = [
    (name, group)
    for names in SUITES.values()
    for name in names
    for group in importlib.import_module(f"benchmarks.{name}").GROUPS
]


@pytest.fixture(autouse=True)
def few_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else is installed takes long to compile."""
    monkeypatch.setattr(peers, "MODULES", ("own", "numpy"))


@pytest.mark.parametrize("net", [*TINY, SAME], ids=lambda net: net.name)
def test_steps_by_hand_learn_what_the_compiled_step_learns(net: Net) -> None:
    work = declared(net, seed=1)
    step = dg.compile(work.loss, work.updates)
    by_hand = {name: HandWritten(work, name) for name in (LAYOUTS if net.convs else ["nchw"])}
    wanted = []
    rng = np.random.default_rng(2)
    batches = [(rng.standard_normal(work.x.shape, np.float32), work.t) for _ in range(30)]
    for x, t in batches:
        wanted.append(float(step(x=x, t=t)))
    assert abs(wanted[0] - wanted[-1]) > 1e-3
    for name, peer in by_hand.items():
        found = [float(peer(x, t)) for x, t in batches]
        np.testing.assert_allclose(found, wanted, rtol=2e-5, err_msg=name)


def test_resnet_is_the_net_built_of_layers() -> None:
    work = declared(TINY_RESNET, seed=3)
    x = dg.placeholder("x", work.x.shape)
    model = ResNet(TINY_RESNET.blocks, TINY_RESNET.dense[-1])
    wanted = model(x, training=True)
    rng = np.random.default_rng(4)
    drawn = [w + 0.1 * rng.standard_normal(w.shape, np.float32) for w in work.weights]
    for parameter, w in zip(model.parameters, drawn, strict=True):
        parameter.value = w
    found = resnet.scores(nets.Functions(), TINY_RESNET.blocks, list(map(dg.Parameter, drawn)), x)
    a, b = dg.compile((found, wanted), {})(x=work.x)
    np.testing.assert_allclose(a, b, atol=1e-4 * np.abs(b).max())
    assert np.ptp(b) > 1
    assert set(steps.checked(TINY_RESNET)) == {measure.OWN, f"{measure.OWN} numpy"}


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.name)
def test_forms_of_a_workload_agree(formula: Formula) -> None:
    found = elementwise.checked(formula, 8 if formula.name == "tiny" else 3000)
    assert list(found) == [measure.OWN, f"{measure.OWN} numpy", "numpy", "numpy out="]


@pytest.mark.parametrize("suite", [elementwise, steps])
def test_peers_that_compute_something_else_are_an_error(
    suite: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, *others = peers.installed()
    formulas: dict[str, Any] = {"exp": lambda x: lambda: 1.001 * np.exp(x)}
    wrong = peers.Peer("wrong", lambda work: lambda: 2.3, formulas)
    monkeypatch.setattr(peers, "installed", lambda: [own, wrong, *others])
    with pytest.raises(AssertionError, match="wrong"):
        suite.checked(FORMULAS[0], 1000) if suite is elementwise else suite.checked(TINY[0])


def test_peers_that_fail_are_said_and_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own, *_ = peers.installed()
    broken = peers.Peer("broken", None, {"exp": lambda x: 1 // 0})
    monkeypatch.setattr(peers, "installed", lambda: [own, broken])
    assert list(elementwise.checked(FORMULAS[0], 1000)) == [measure.OWN]
    assert "exp: broken fails: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "group"), GROUPS)
def test_a_group_gives_rows(name: str, group: str) -> None:
    found = list(importlib.import_module(f"benchmarks.{name}").rows(group, 0, True))
    if name == "gpu" and (reason := cudevice.missing()):
        assert not found
        pytest.skip(reason)
    assert found
    for row in found:
        assert row.get("ratio", 1) > 0
        assert row.get("floor us", 1) > 0
        if isinstance(arena := row.get("arena", "-"), int):  # a small step takes one thread's
            assert 0 < row["allocated"] <= arena
        assert isinstance(row.get("seconds", 0.0), float | int), row
    lines = tables.text(found).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert len(lines) > 2


def test_a_ratio_above_one_is_a_slower_peer() -> None:
    functions = {measure.OWN: lambda: time.sleep(1e-4), "peer": lambda: time.sleep(4e-3)}
    own, row = measure.compared("sleep", functions, 0, 1e-5)
    assert own["ratio"] == own["ratio p90"] == 1
    assert row["peer"] == "peer"
    assert row["ratio"] > 2
    assert row["own us"] < row["peer us"] <= row["peer p90"]


def test_tables_show_the_best_peer_and_means_over_workloads() -> None:
    def row(workload: str, peer: str, ratio: float) -> measure.Row:
        return {"workload": workload, "peer": peer, "ratio": ratio, "ratio p90": 2 * ratio,
                "own us": 30.0, "own p90": 40.0, "floor us": 20.0, "size": 10}  # fmt: skip

    found = [row(w, p, r) for w, ratios in (("a", (1, 0.5, 4, 8)), ("b", (1, 0.5, 2, 1)))
             for p, r in zip((measure.OWN, "deepgraph numpy", "x", "y"), ratios, strict=True)]
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in tables.text(found).splitlines()]  # fmt: skip
    assert lines[0][3:] == ["/ floor", "best peer", "deepgraph numpy", "x", "y"]
    assert lines[2][:5] == ["a", "30", "40", "1.5", "4.00"]
    assert lines[2][5:] == ["0.50 / 1.00", "4.00 / 8.00", "8.00 / 16.00"]
    assert lines[4][4:] == ["2.00", "0.50", "2.83", "2.83"]


def test_products_of_a_step_are_counted() -> None:
    """Forward, by the weights, and by the inputs of all layers but the first."""
    dense = 3 * 2 * 4 * 5 * 3 + 2 * 2 * 4 * 6 * 5
    assert products(declared(TINY[0])) == dense
    convs = 2 * 2 * 3 * 36 * (2 * 27) + 3 * 2 * 3 * 16 * (4 * 18)
    assert products(declared(TINY[2])) == convs + 3 * 2 * 3 * (16 * 3)


def test_each_group_has_a_clean_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started = []

    def run(command: list[str], env: dict[str, str], check: bool) -> Any:
        at = command.index("--here")
        started.append((*command[at + 1 : at + 3], env))
        if command[at + 2] == "imports":
            return subprocess.CompletedProcess(command, 1)
        rows = [{"threads": env["DEEPGRAPH_THREADS"], "x": 1.5}]
        text = json.dumps({"machine": {"python": "3"}, "rows": rows})
        Path(command[command.index("--json") + 1]).write_text(text)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    files = [str(tmp_path / name) for name in ("all.json", "all.md")]
    given = ["--quick", "--threads", "1,2", "--json", files[0], "--markdown", files[1]]
    assert main(["peers", "calls", "--only", "mlp,exp,leaks", *given]) == 0
    groups = [("steps", "mlp"), ("elementwise", "exp")]
    assert [each[:2] for each in started] == [*groups, *groups, ("calls", "leaks")]
    assert [env["OPENBLAS_NUM_THREADS"] for *_, env in started] == ["1", "1", "2", "2", "2"]
    assert all("OPENBLAS_CORETYPE" not in env for *_, env in started)
    rows = json.loads(Path(files[0]).read_text())["rows"]
    assert [row["threads"] for row in rows] == ["1", "1", "2", "2", "2"]
    written = Path(files[1]).read_text()
    assert "- python: 3" in written
    assert "## elementwise, threads 2" in written
    assert "## elementwise, threads 2" in capsys.readouterr().out
    assert main(["calls", "--quick"]) == 1


@pytest.mark.parametrize(("arguments", "said"), [
    (["step"], "no suite is called 'step': there are peers,"),
    (["--only", "mlp,resnet"], "no group is called 'resnet': there are mlp,"),
])  # fmt: skip
def test_what_is_not_there_is_an_error(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert said in capsys.readouterr().err
