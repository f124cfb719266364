"""Train a net on images, and write what its training step became.

The loss is softmax cross-entropy with label smoothing of 0.1; the learning rate falls to zero along
half a cosine wave. The output folder then holds the optimised graph (step.dot, step.svg), the
generated source (step.py), the memory plan (plan.txt), the weights (weights.npz), what happened in
each epoch (history.csv), and the step itself (step.pickle, for `python -m deepgraph show`).
"""

from __future__ import annotations

import argparse
import math
import pickle
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

import deepgraph as dg
from deepgraph import backends, data, io, nn, optim
from deepgraph.cli import blas
from deepgraph.cli.nets import NETS
from deepgraph.data import Dataset
from deepgraph.dims import bind
from deepgraph.training import History, Run, fit
from deepgraph.training.history import line

Pair = tuple[Dataset, Dataset]
SMOOTHING = 0.1
SMALL = 3e7  # FLOPs of a matrix product that gains little from threads


class Set(NamedTuple):
    """A data set, and how it is trained on unless flags say otherwise."""

    load: Callable[[str | None], Pair]
    net: str
    epochs: int
    batch: int


SETS = {
    "digits": Set(lambda folder: data.digits(), "small", 30, 16),
    "mnist": Set(data.mnist, "lenet", 10, 32),
    "fashion_mnist": Set(data.fashion_mnist, "lenet", 10, 32),
    "cifar10": Set(data.cifar10, "wide", 5, 64),
}

OPTIMIZERS: dict[str, tuple[Callable[..., optim.Optimizer], float]] = {
    "sgd": (partial(optim.SGD, momentum=0.9), 0.05),
    "rmsprop": (optim.RMSProp, 0.001),
    "adagrad": (optim.Adagrad, 0.01),
    "adam": (optim.Adam, 0.002),
    "adamw": (optim.AdamW, 0.002),
}  # how each is made, and its learning rate


class Trained(NamedTuple):
    """A model with the steps that train and evaluate it."""

    model: nn.Module
    step: dg.Step
    evaluate: dg.Step


def arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `train`."""
    usual = "; ".join(f"{name}: {s.net}, {s.epochs}, {s.batch}" for name, s in SETS.items())
    rates = ", ".join(f"{name} {rate}" for name, (_, rate) in OPTIMIZERS.items())
    parser.epilog = f"Net, epochs and batch unless given: {usual}."
    add = parser.add_argument
    add("set", nargs="?", default="digits", choices=SETS, help="the data set (default: digits)")
    add("--net", choices=NETS, help="which net")
    add("--epochs", type=_count, help="passes over the training set")
    add("--batch", type=_count, help="images a step")
    add("--optimizer", choices=OPTIMIZERS, default="sgd", help="default: sgd, with momentum 0.9")
    add("--lr", type=_rate, help=f"learning rate at the start (default: {rates})")
    add("--seed", type=_seed, default=0, help="of weights and order of images (default: 0)")
    add("--backend", choices=("auto", *backends.NAMES), default="auto", help="default: auto")
    add("--data", metavar="FOLDER", help="where the files are; the digits come with the package")
    add("--out", metavar="FOLDER", default="deepgraph-run", type=Path,
        help="where results are written (default: deepgraph-run)")  # fmt: skip
    add("--no-progress", action="store_true", help="without a progress bar")


def run(given: argparse.Namespace) -> int:
    """Load, compile, train, write."""
    start = time.perf_counter()
    chosen = SETS[given.set]
    train, test = chosen.load(given.data)
    net, batch = given.net or chosen.net, given.batch or chosen.batch
    epochs = given.epochs or chosen.epochs
    make, usual = OPTIMIZERS[given.optimizer]
    rate = given.lr or usual
    steps = epochs * math.ceil(len(train) / batch)
    optimizer = make(lr=lambda t: optim.cosine(t, rate, steps))
    trained = declare(train, NETS[net], optimizer, given.seed, given.backend)
    weights = sum(p.value.size for p in trained.model.parameters)
    print(f"{train!r}, {len(test):,} to test")
    kernels = len(trained.step.kernels)
    print(f"{net}: {weights:,} weights; {kernels} kernels, run by {trained.step.backend}")

    out: Path = given.out
    out.mkdir(parents=True, exist_ok=True)
    written = _pictures(trained.step, batch, out)
    callbacks = [_stop_unless_finite, *([_tell] if given.no_progress else [])]
    with blas.limited(1) if largest(trained.step, batch) < SMALL else nullcontext():
        history = fit(
            trained.step, train, epochs=epochs, batch=batch, seed=given.seed,
            evaluate=trained.evaluate, test=test, callbacks=callbacks,
            progress=not given.no_progress,
        )  # fmt: skip
    if not math.isfinite(loss := history[-1]["loss"]):
        print(f"the loss is {loss}: try --lr below {rate:g}", file=sys.stderr)
        return 1
    written += _results(trained, history, out)
    seconds = time.perf_counter() - start
    accuracy = history[-1]["test_accuracy"]
    print(f"test accuracy {accuracy:.2%} after {epochs} epochs, {seconds:.1f} s")
    print(f"written to {out}: {', '.join(written)}")
    return 0


def declare(
    train: Dataset, net: Callable[[int], list[nn.Layer]], optimizer: optim.Optimizer, seed: int,
    backend: str,
) -> Trained:  # fmt: skip
    """The net with its training step and its evaluation, compiled."""
    x = dg.placeholder("x", shape=("batch", *train.x.shape[1:]))
    t = dg.placeholder("t", shape=("batch",), dtype="int64")
    model = nn.Sequential(*net(len(train.classes)), seed=seed)
    logits = model(x, training=True)
    loss = nn.softmax_cross_entropy(logits, t, label_smoothing=SMOOTHING)
    updates = optimizer.updates(loss, model.parameters)
    metrics = {"loss": loss, "accuracy": nn.accuracy(logits, t)}
    step = dg.compile(metrics, updates, backend=backend, seed=seed)
    evaluated = {"accuracy": nn.accuracy(model(x), t)}
    return Trained(model, step, dg.compile(evaluated, backend=backend))


def largest(step: dg.Step, batch: int) -> int:
    """The FLOPs of the kernel that has most of them."""
    return max(bind(kernel.flops, {"batch": batch}) for kernel in step.kernels)


def _stop_unless_finite(run: Run) -> None:
    loss = run.history[-1]["loss"]
    if not math.isfinite(loss):
        run.stop(f"the loss is {loss}")


def _tell(run: Run) -> None:
    print(line(run.history[-1]))


def _pictures(step: dg.Step, batch: int, out: Path) -> list[str]:
    """Write what the step is; it holds before the first call."""
    step.save_dot(out / "step.dot")
    step.save_svg(out / "step.svg")
    bound = step.plan.bind({"batch": batch})
    plan = f"{step.plan.to_text()}\nfor batch={batch}: peak {bound.peak_bytes:,} bytes\n"
    for name, text in (("step.py", f"{step.source}\n"), ("plan.txt", plan)):
        (out / name).write_text(text, encoding="utf-8")
    return ["step.dot", "step.svg", "step.py", "plan.txt"]


def _results(trained: Trained, history: History, out: Path) -> list[str]:
    """Write what training came to."""
    io.save(out / "weights.npz", trained.model)
    (out / "step.pickle").write_bytes(pickle.dumps(trained.step))
    history.to_csv(out / "history.csv")
    return ["weights.npz", "step.pickle", "history.csv"]


def _count(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more: {text}")
    return value


def _seed(text: str) -> int:
    if (value := int(text)) < 0:
        raise argparse.ArgumentTypeError(f"must be 0 or more: {text}")
    return value


def _rate(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be above 0: {text}")
    return value
