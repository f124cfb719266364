"""fit: the same as a loop by hand, means by examples, all forms of data, what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from digits_net import Net

import deepgraph as dg
from deepgraph import data
from deepgraph.training import Callback, History, Run, evaluate, fit
from deepgraph.training.feeding import Means
from deepgraph.training.progress import Progress


def test_the_same_as_a_loop_by_hand(backend: str) -> None:
    net, other = Net(backend), Net(backend)
    history = fit(net.step, net.train, epochs=3, batch=16, seed=7, evaluate=net.evaluate,
                  test=net.test, progress=False)  # fmt: skip
    for epoch in (1, 2, 3):
        losses, sizes = [], []
        for xb, tb in other.train.batches(16, shuffle=True, seed=(7, epoch)):
            losses.append(float(other.step(x=xb, t=tb)["loss"]))
            sizes.append(len(tb))
        row = history[epoch - 1]
        assert row["epoch"] == epoch
        assert row["loss"] == pytest.approx(np.average(losses, weights=sizes), rel=1e-12)
        right = other.evaluate(x=other.test.x, t=other.test.t)
        assert row["test_accuracy"] == pytest.approx(float(right["accuracy"]), abs=1e-6)
        assert row["test_loss"] == pytest.approx(float(right["loss"]), rel=1e-5)
        speed = 100 / row["seconds"]
        assert row["examples_per_second"] == pytest.approx(speed)
    assert net.equals(other)
    assert history.metrics == ["loss", "accuracy", "test_loss", "test_accuracy"]
    assert sizes[-1] == 4  # a partial batch was among them


@pytest.mark.parametrize("size", [7, 64, 100])
def test_means_weigh_a_last_partial_batch(size: int) -> None:
    rng = np.random.default_rng(size)
    values = rng.normal(size=100)
    found = evaluate(
        lambda x: {"mean": x.mean(), "largest": x.max()}, (values,), batch=size, feeds=["x"]
    )
    assert found["mean"] == pytest.approx(values.mean(), rel=1e-12)
    batches = [values[k : k + size] for k in range(0, 100, size)]
    weighed = sum(len(b) * b.max() for b in batches) / 100
    assert found["largest"] == pytest.approx(weighed, rel=1e-12)


def seen_by(train: Any, epochs: int = 2, **options: Any) -> list[list[Any]]:
    """What a step is fed, epoch by epoch."""
    seen: list[list[Any]] = [[]]

    def step(**fed: Any) -> dict[str, float]:
        seen[-1].append({name: np.asarray(value).tolist() for name, value in fed.items()})
        return {"loss": 0.0}

    fit(step, train, epochs=epochs, progress=False, callbacks=[lambda _: seen.append([])],
        **options)  # fmt: skip
    return seen[:-1]


def test_data_in_every_form() -> None:
    x, t = np.arange(6.0), np.arange(6)
    shuffled = [
        [{"x": a.tolist(), "t": b.tolist()} for a, b in
         data.batches((x, t), 4, shuffle=True, seed=(3, epoch))] for epoch in (1, 2)
    ]  # fmt: skip
    assert shuffled[0] != shuffled[1]
    assert seen_by((x, t), batch=4, seed=3) == shuffled
    assert seen_by(data.Dataset(x, t), batch=4, seed=3) == shuffled
    in_order = [{"x": [0, 1, 2, 3], "t": [0, 1, 2, 3]}, {"x": [4, 5], "t": [4, 5]}]
    assert seen_by(data.batches((x, t), 4)) == [in_order, in_order]
    assert seen_by(data.Loader(data.batches((x, t), 4))) == [in_order, in_order]
    dicts = [{"image": [1, 2]}]
    assert seen_by(dicts) == [dicts, dicts]
    by_epoch = seen_by(lambda epoch: [([epoch],)], feeds=["n"])
    assert by_epoch == [[{"n": [1]}], [{"n": [2]}]]


def test_callbacks_see_the_run_and_can_stop_it() -> None:
    told: list[Any] = []

    class Watcher(Callback):
        def begin(self, run: Run) -> None:
            told.append(("begin", len(run.history)))

        def epoch(self, run: Run) -> None:
            told.append(("epoch", run.history[-1]["epoch"], run.epochs))

        def end(self, run: Run) -> None:
            told.append(("end", run.stopped))

    def stopper(run: Run) -> None:
        if len(run.history) == 2:
            run.stop("enough")

    history = fit(lambda x: {"loss": 0.0}, ([1.0],), epochs=5, feeds=["x"], progress=False,
                  callbacks=[stopper, Watcher()])  # fmt: skip
    assert told == [("begin", 0), ("epoch", 1, 5), ("epoch", 2, 5), ("end", "enough")]
    assert len(history) == 2


def test_a_history_is_gone_on_with() -> None:
    net, other = Net(), Net()
    kept = History()
    first = fit(net.step, net.train, epochs=2, history=kept, progress=False)
    assert first is kept
    fit(net.step, net.train, epochs=4, history=kept, progress=False)
    whole = fit(other.step, other.train, epochs=4, progress=False)
    assert kept["loss"] == whole["loss"]
    assert kept["epoch"] == [1, 2, 3, 4]
    assert net.equals(other)


def test_an_interruption_leaves_the_history() -> None:
    kept = History()

    def step(x: Any) -> dict[str, float]:
        if len(kept) == 2:
            raise KeyboardInterrupt
        return {"loss": 1.0}

    with pytest.raises(KeyboardInterrupt):
        fit(step, ([1.0],), epochs=5, feeds=["x"], history=kept, progress=False)
    assert kept["epoch"] == [1, 2]


def test_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    fit(net.step, net.train, epochs=2, evaluate=net.evaluate, test=net.test)
    shown = capsys.readouterr()
    number = r"\d\.\d{4}"
    metrics = rf"loss {number}  accuracy +[\d.]+%  test loss {number}  test accuracy +[\d.]+%"
    assert re.fullmatch(
        rf"(epoch   [12]  {metrics}  [\d,]+ examples/s\n){{2}}", shown.out
    ), shown.out  # fmt: skip
    assert "epoch 2/2" in shown.err
    assert re.search(rf"loss={number}, accuracy=[\d.]+%", shown.err)
    assert "/200 [" in shown.err
    fit(net.step, net.train, epochs=1, progress=False)
    assert capsys.readouterr() == ("", "")


def test_the_bar_counts_examples() -> None:
    with Progress(True, epochs=3, done=1, examples=5) as shown:
        bar = shown._bar
        counts = [(bar.n, bar.total)]
        for epoch in (2, 3):
            shown.epoch(epoch)
            means = Means(lambda x: {"loss": 1.0}, ["x"])
            for size in (3, 2):
                means.take(([0.0] * size,))
                shown.batch(means)
                counts.append((bar.n, bar.total))
    assert counts == [(n, 15) for n in (5, 8, 10, 13, 15)]


def once() -> Iterator[Any]:
    yield ([1.0],)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"step": lambda x: 1.0}, 'metrics have names: got float; write dg.compile({"loss": loss}'),
        ({"step": lambda x: {"y": np.zeros(3)}}, "metrics are numbers: got y of shape (3,)"),
        ({"step": lambda x: {"epoch": 1.0}}, "metrics cannot be called epoch"),
        ({"train": ([1.0], [2.0])}, "got 2 arrays for x"),
        ({"train": once()}, "epoch 2 has no batches"),
        ({"train": []}, "epoch 1 has no batches"),
        ({"epochs": 0}, "epochs is 1 or more: got 0"),
        ({"epochs": 1.5}, "epochs is a whole number: got 1.5"),
        ({"batch": 0}, "batch is 1 or more: got 0"),
        ({"seed": -1}, "seed is 0 or more: got -1"),
        ({"evaluate": lambda x: {"loss": 1.0}}, "evaluate and test go together"),
        ({"test": ([1.0],)}, "evaluate and test go together"),
        ({"evaluate": lambda x: {"y": 1.0}, "test": []}, "evaluate: there are no batches"),
    ],
)  # fmt: skip
def test_what_it_refuses(given: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"step": lambda x: {"loss": 1.0}, "train": ([1.0],), "epochs": 2}
    with pytest.raises(dg.GraphError, match=re.escape(message)):
        fit(**{**usual, **given}, feeds=["x"], progress=False)


def test_rows_of_one_fit_have_the_same_columns() -> None:
    kept = History()
    fit(lambda x: {"loss": 1.0}, ([1.0],), epochs=1, feeds=["x"], history=kept, progress=False)
    with pytest.raises(dg.ArgumentError, match="got epoch, error, seconds"):
        fit(lambda x: {"error": 1.0}, ([1.0],), epochs=2, feeds=["x"], history=kept,
            progress=False)  # fmt: skip
