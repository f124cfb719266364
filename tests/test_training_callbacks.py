"""Early stopping, and checkpoints from which a fit goes on as if it had never been left."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from digits_net import Net

import deepgraph as dg
from deepgraph import io
from deepgraph.training import Checkpoint, EarlyStopping, History, fit


class Weight:
    """A model of one weight, whose value after epoch k is k."""

    def __init__(self) -> None:
        self.p = dg.Parameter(0.0, name="p")

    @property
    def state(self) -> dict[str, dg.Parameter]:
        return {"p": self.p}


def stopped_by(losses: Sequence[float], **options: Any) -> tuple[History, float]:
    """The history and last weight of EarlyStopping where epoch k has the k-th loss."""
    weight = Weight()

    def step(x: Any) -> dict[str, float]:
        weight.p.assign(weight.p.value + 1)
        return {"loss": losses[int(weight.p.value) - 1]}

    stop = EarlyStopping(weight, **options)
    history = fit(step, ([0.0],), epochs=len(losses), feeds=["x"], callbacks=[stop],
                  progress=False)  # fmt: skip
    return history, float(weight.p.value)


NAN = math.nan


@pytest.mark.parametrize(
    ("losses", "options", "epochs", "best"),
    [
        ([3, 2, 1], {"patience": 1}, 3, 3),
        ([3, 2, 4, 5, 1], {"patience": 2}, 4, 2),
        ([3, 2, 4, 1, 5, 5, 5], {"patience": 2}, 6, 4),
        ([3, 2, 2, 2], {"patience": 2}, 4, 2),  # as good is no better
        ([1, 2, 3, 3], {"patience": 5}, 4, 1),  # restored at the end as well
        ([3, 2.8, 2.6, 2.4, 2.2], {"patience": 3, "min_delta": 0.5}, 5, 4),
        ([NAN, 2, NAN, NAN, 1], {"patience": 2}, 4, 2),
        ([NAN, NAN, NAN], {"patience": 2}, 2, 2),  # nothing to restore
        ([1, 3, 2, 0], {"patience": 2, "mode": "max"}, 4, 2),
    ],
)  # fmt: skip
def test_early_stopping(
    losses: list[float], options: dict[str, Any], epochs: int, best: int
) -> None:
    history, weight = stopped_by(losses, **options)
    assert (len(history), weight) == (epochs, best)


def test_what_is_monitored() -> None:
    def best(row: dict[str, float], *given: Any, **options: Any) -> bool:
        """Is a second epoch, with all metrics higher, the better one?"""
        stop = EarlyStopping(Weight(), *given, **options)
        rows = [{"epoch": k, **{m: v + k for m, v in row.items()}} for k in range(2)]
        return stop.monitor.best(History(rows)) == 1

    assert best({"accuracy": 0.0, "loss": 0.0})
    assert not best({"loss": 0.0, "accuracy": 0.0})
    assert best({"loss": 0.0, "test_accuracy": 0.0, "test_loss": 0.0})
    assert not best({"loss": 0.0, "test_accuracy": 0.0}, "loss")
    assert not best({"test_top1_error": 0.0})
    assert best({"score": 0.0}, mode="max")
    with pytest.raises(dg.ArgumentError, match=r'is more or less of score better\? .*"max"'):
        best({"score": 0.0})
    with pytest.raises(dg.ArgumentError, match="no metric is called 'lose': there is loss"):
        best({"loss": 0.0}, "lose")
    with pytest.raises(dg.ArgumentError, match=r"mode is .*: got 'up'"):
        best({"loss": 0.0}, mode="up")
    with pytest.raises(dg.DomainError, match="patience is 1 or more: got 0"):
        EarlyStopping(Weight(), patience=0)


def test_early_stopping_looks_at_its_own_fit_alone() -> None:
    weight = Weight()
    stop = EarlyStopping(weight, patience=2)
    kept = History()
    for losses in ([1.0], [5.0, 4.0, 6.0, 6.0, 3.0]):
        left = iter(losses)

        def step(x: Any, left: Iterator[float] = left) -> dict[str, float]:
            weight.p.assign(weight.p.value + 1)
            return {"loss": next(left)}

        fit(step, ([0.0],), epochs=len(kept) + len(losses), feeds=["x"], callbacks=[stop],
            history=kept, progress=False)  # fmt: skip
    assert kept["loss"] == [1, 5, 4, 6, 6]
    assert float(weight.p.value) == 3


class LostPowerError(Exception):
    """What happens to a run."""


def trained(
    net: Net, folder: Path, epochs: int, resume: bool = False, seed: int = 5, batch: int = 16,
    interrupted: int | None = None, patience: int = 3,
) -> History:  # fmt: skip
    """Train with everything on, and interrupt it in the middle of an epoch if asked to."""

    def batches(epoch: int) -> Iterator[Any]:
        given = net.train.batches(batch, shuffle=True, seed=(seed, epoch))
        for k, pair in enumerate(given):
            if epoch == interrupted and k == 3:
                raise LostPowerError
            yield pair

    return fit(
        net.step, net.train if interrupted is None else batches, epochs=epochs, batch=batch,
        seed=seed, evaluate=net.evaluate, test=net.test, progress=False,
        callbacks=[EarlyStopping(net.model, "test_loss", patience=patience)],
        checkpoint=Checkpoint(folder, net.model, net.opt, resume=resume, monitor="test_loss"),
    )  # fmt: skip


def metrics(history: History) -> list[list[float]]:
    return [history[name] for name in ("epoch", *history.metrics)]


def same_files(a: Path, b: Path) -> bool:
    """Do both hold the same, but for the time that it took?"""
    one, other = io.read(a), io.read(b)
    assert one.keys() == other.keys()
    timeless = [name for name in one if "seconds" not in name and "per_second" not in name]
    return all(np.array_equal(one[name], other[name]) for name in timeless)


@pytest.mark.parametrize("left", [1, 2, 4])
def test_a_resumed_run_equals_an_uninterrupted_one(
    left: int, tmp_path: Path, backend: str
) -> None:  # fmt: skip
    whole, first, second = Net(backend), Net(backend), Net(backend)
    expected = trained(whole, tmp_path / "whole", 6)
    with pytest.raises(LostPowerError):
        trained(first, tmp_path / "parts", 6, interrupted=left + 1)
    assert not second.equals(whole)
    found = trained(second, tmp_path / "parts", 6, resume=True)
    assert len(found) == 6
    assert metrics(found) == metrics(expected)
    assert second.equals(whole)
    for name in ("last.npz", "best.npz"):
        assert same_files(tmp_path / "whole" / name, tmp_path / "parts" / name)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_the_best_weights_outlive_an_interruption(left: int, tmp_path: Path) -> None:
    losses = [3.0, 1.0, 2.0, 2.0]
    for resume in (False, True):
        weight = Weight()

        def step(x: Any, weight: Weight = weight, resume: bool = resume) -> dict[str, float]:
            if weight.p.value == left and not resume:
                raise LostPowerError
            weight.p.assign(weight.p.value + 1)
            return {"loss": losses[int(weight.p.value) - 1]}

        with nullcontext() if resume else pytest.raises(LostPowerError):
            fit(step, ([0.0],), epochs=4, feeds=["x"], progress=False,
                callbacks=[EarlyStopping(weight, patience=3)],
                checkpoint=Checkpoint(tmp_path, weight, resume=resume))  # fmt: skip
    assert weight.p.value == 2


SCRIPT = """
import os, sys
import deepgraph as dg
from deepgraph import data, nn, optim
from deepgraph.training import Checkpoint, fit

train, _ = data.digits()
train = train.flat()[:200]
x = dg.placeholder("x", shape=("batch", 64))
t = dg.placeholder("t", shape=("batch",), dtype="int64")
model = nn.Sequential(nn.Dense(20), dg.relu, nn.Dropout(0.5), nn.Dense(10))
loss = nn.softmax_cross_entropy(model(x, training=True), t)
opt = optim.Adam(lr=0.01)
step = dg.compile({"loss": loss}, updates=opt.updates(loss, model.parameters))
fatal = int(sys.argv[2])

def batches(epoch):
    for k, pair in enumerate(train.batches(32, shuffle=True, seed=(1, epoch))):
        if epoch == fatal and k == 4:
            os._exit(9)
        yield pair

fit(step, batches, epochs=4, checkpoint=Checkpoint(sys.argv[1], model, opt, resume=True))
"""


def test_a_process_that_dies_and_one_that_goes_on(
    tmp_path: Path, python: Callable[..., CompletedProcess[str]]
) -> None:
    for folder, fatal, code in (("whole", 0, 0), ("parts", 3, 9), ("parts", 0, 0)):
        done = python("-W", "error", "-c", SCRIPT, folder, str(fatal))
        assert done.returncode == code, done.stderr
    assert "epoch   3" in done.stdout
    assert "epoch   2" not in done.stdout
    assert same_files(tmp_path / "whole" / "last.npz", tmp_path / "parts" / "last.npz")


def test_a_run_that_stopped_early_stays_so(tmp_path: Path) -> None:
    whole, again = Net(), Net()
    whole.opt.lr = 0.5  # too much, so that it gets worse
    expected = trained(whole, tmp_path, 20, patience=2)
    assert len(expected) < 20
    best = int(np.argmin(expected["test_loss"]))
    assert best == len(expected) - 3
    found = trained(again, tmp_path, 20, patience=2, resume=True)
    assert list(found) == list(expected)
    for name, p in again.model.state.items():
        assert np.array_equal(p.value, whole.model.state[name].value), name
        assert np.array_equal(p.value, io.read(tmp_path / "best.npz")[name]), name


def test_the_best_and_the_last_epoch_are_kept(tmp_path: Path) -> None:
    net, other = Net(), Net()
    weights: list[Any] = []
    fit(net.step, net.train, epochs=5, evaluate=net.evaluate, test=net.test, progress=False,
        callbacks=[lambda run: weights.append(net.model.state["0.weight"].value)],
        checkpoint=(kept := Checkpoint(tmp_path / "a" / "b", net.model, net.opt, mode="max",
                                       monitor="test_loss")))  # fmt: skip
    rows = io.read(kept.last)["history/test_loss"]
    for path, k in ((kept.last, 4), (kept.best, int(np.argmax(rows)))):
        assert io.read(path)["history/epoch"].tolist() == list(range(1, k + 2))
        io.load(path, other.model, other.opt, strict=False)
        assert np.array_equal(other.model.state["0.weight"].value, weights[k])


def test_without_resume_a_fit_starts_anew(tmp_path: Path) -> None:
    net, other = Net(), Net()
    trained(net, tmp_path, 2)
    history = trained(other, tmp_path, 2)
    assert len(history) == 2
    assert other.equals(net)


def test_a_checkpoint_that_would_lose_something(tmp_path: Path) -> None:
    net = Net()
    with pytest.raises(dg.GraphError, match=r"the step updates iteration, .*which none of the"):
        fit(net.step, net.train, epochs=1, checkpoint=Checkpoint(tmp_path, net.model))
    with pytest.raises(dg.GraphError, match=re.escape("the step updates 0.weight")):
        fit(net.step, net.train, epochs=1, checkpoint=Checkpoint(tmp_path, net.opt))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "value"), [("seed", 6), ("batch", 17)])
def test_resuming_what_would_go_on_otherwise(name: str, value: int, tmp_path: Path) -> None:
    trained(Net(), tmp_path, 1)
    then = {"seed": 5, "batch": 16}[name]
    other = Net()
    with pytest.raises(dg.GraphError, match=f"last.npz has {name}={then}: got {value}; go on"):
        trained(other, tmp_path, 2, resume=True, **{name: value})  # type: ignore[arg-type]
    assert other.equals(Net())


def test_resuming_with_other_callbacks(tmp_path: Path) -> None:
    trained(Net(), tmp_path, 1)
    net = Net()
    with pytest.raises(io.StateError, match="unknown: callback0/since"):
        fit(net.step, net.train, epochs=2, seed=5, batch=16, evaluate=net.evaluate, test=net.test,
            checkpoint=Checkpoint(tmp_path, net.model, net.opt, resume=True))  # fmt: skip
    assert net.equals(Net())
