"""Saving and loading: names, faults that are all listed, and files that are whole or not there."""

from __future__ import annotations

import os
import pickle
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nets import mlp

import deepgraph as dg
from deepgraph import io, nn, optim
from deepgraph.errors import GraphError
from deepgraph.io import StateError


def feeds() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=(4, 3)).astype(np.float32), "t": rng.integers(0, 2, 4)}


def trained(seed: int, steps: int) -> tuple[nn.Module, optim.Optimizer, Any]:
    """A small model, its optimiser and its step, after some steps."""
    x, t = dg.placeholder("x", ("n", 3)), dg.placeholder("t", ("n",), "int64")
    net = nn.Sequential(nn.Dense(5), nn.BatchNorm(), nn.relu, nn.Dense(2), seed=seed)
    loss = nn.softmax_cross_entropy(net(x, training=True), t)
    opt = optim.Adam(0.01 * (seed + 1))
    step = dg.compile(loss, updates=opt.updates(loss, net.parameters))
    for _ in range(steps):
        step(**feeds())
    return net, opt, step


def test_training_goes_on_from_a_file_as_if_never_stopped(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    net, opt, step = trained(seed=0, steps=3)
    io.save(path, net, opt)
    twin, twin_opt, twin_step = trained(seed=1, steps=1)
    assert io.load(path, twin, twin_opt) == []
    assert twin_opt.lr == opt.lr
    for _ in range(3):
        np.testing.assert_array_equal(step(**feeds()), twin_step(**feeds()))
    for (name, p), (other, q) in zip(net.state.items(), twin.state.items(), strict=True):
        assert name == other
        np.testing.assert_array_equal(p.value, q.value)


def test_the_file_is_plain_npz(tmp_path: Path) -> None:
    net, opt, _ = trained(seed=0, steps=1)
    io.save(tmp_path / "state.npz", net, opt)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
        assert set(file) == {*net.state, *opt.state}
        np.testing.assert_array_equal(file["1.running_var"], net.state["1.running_var"].value)
        assert file["iteration"] == 1
    assert os.listdir(tmp_path) == ["state.npz"]


def test_names_are_free(tmp_path: Path) -> None:
    names = ["file", "a/b", "ä ß", "arr_0", "w:bfloat16", "x.npy", "\\back", "."]
    state = {n: dg.Parameter(np.full(k, float(k))) for k, n in enumerate(names)}
    io.save(tmp_path / "s.npz", state)
    fresh = {n: dg.Parameter(np.zeros(k)) for k, n in enumerate(names)}
    io.load(tmp_path / "s.npz", fresh)
    for n in names:
        np.testing.assert_array_equal(fresh[n].value, state[n].value)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_every_dtype_keeps_its_bits(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    p = dg.Parameter(values, dtype=dtype)
    q = dg.Parameter(np.zeros(shape, dtype), dtype=dtype)
    io.save(tmp_path / "s.npz", {"p": p})
    io.load(tmp_path / "s.npz", {"p": q})
    np.testing.assert_array_equal(q.value, values)
    assert io.read(tmp_path / "s.npz")["p"].dtype == np.dtype(dtype)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_bfloat16(tmp_path: Path, shape: tuple[int, ...]) -> None:
    pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")
    p, q = (dg.Parameter(np.full(shape, v), dtype="bfloat16") for v in (1.5, 0.0))
    io.save(tmp_path / "s.npz", {"p": p})
    io.load(tmp_path / "s.npz", {"p": q})
    np.testing.assert_array_equal(q.value, p.value)
    with np.load(tmp_path / "s.npz") as file:
        assert file["p:bfloat16"].dtype == np.uint16


def test_all_faults_are_listed_and_nothing_is_written() -> None:
    a, b, c, d = (
        dg.Parameter(np.zeros(2)), dg.Parameter(np.zeros(2)), dg.Parameter(np.zeros(2)),
        dg.Parameter(np.zeros(2, np.int64)),
    )  # fmt: skip
    state = {"a": np.ones(2), "b": np.ones(3), "d": np.ones(2), "e": np.ones(2)}
    with pytest.raises(StateError) as caught:
        io.load_state_dict(state, {"a": a, "b": b, "c": c, "d": d})
    assert str(caught.value).splitlines() == [
        "load: the state does not fit:",
        "  shape: b is (2,), got (3,)",
        "  dtype: d is int64, got float64",
        "  missing: c",
        "  unknown: e",
    ]
    np.testing.assert_array_equal(a.value, np.zeros(2))


def test_not_strict_loads_what_there_is() -> None:
    a, b = dg.Parameter(np.zeros(2)), dg.Parameter(np.zeros(2))
    assert io.load_state_dict({"a": [1, 2], "z": [0]}, {"a": a, "b": b}, strict=False) == ["b"]
    np.testing.assert_array_equal(a.value, [1, 2])
    np.testing.assert_array_equal(b.value, [0, 0])
    with pytest.raises(StateError, match=r"shape: a is \(2,\), got \(3,\)"):
        io.load_state_dict({"a": [1, 2, 3]}, {"a": a}, strict=False)


def test_floats_may_become_narrower() -> None:
    p = dg.Parameter(np.zeros(2, np.float32))
    io.load_state_dict({"p": np.float64([0.1, 0.2])}, {"p": p})
    np.testing.assert_array_equal(p.value, np.float32([0.1, 0.2]))


def test_objects_of_like_names_are_told_apart_by_keyword(tmp_path: Path) -> None:
    x = dg.placeholder("x", ("n", 3))
    first, second = mlp(2, seed=0), mlp(2, seed=1)
    first(x), second(x)
    with pytest.raises(StateError, match=r"two parameters are called '0.weight': give the objects"):
        io.save(tmp_path / "s.npz", first, second)
    assert not os.listdir(tmp_path)
    io.save(tmp_path / "s.npz", first=first, second=second)
    assert list(io.read(tmp_path / "s.npz"))[::2] == ["first/0.weight", "second/0.weight"]
    io.load(tmp_path / "s.npz", first=second, second=first)
    w = io.state_dict(first)["0.weight"]
    np.testing.assert_array_equal(w, io.read(tmp_path / "s.npz")["second/0.weight"])
    assert len(io.state_dict(first, first)) == 2, "one object twice is no clash"


def test_what_has_state() -> None:
    p, q = dg.Parameter(1.0, name="p"), dg.Parameter(2.0, name="q")

    class Mine:
        parameters = (p, q)

    for source in ({"p": p, "q": q}, [p, q], Mine()):
        assert io.state_dict(source) == {"p": 1, "q": 2}  # type: ignore[arg-type]
    with pytest.raises(StateError, match="two parameters are called 'p'"):
        io.state_dict([p, dg.Parameter(3.0, name="p")])
    for bad in (3, p, "p.npz", np.zeros(2)):
        with pytest.raises(StateError, match="state is of a model, an optimiser or param"):
            io.state_dict(bad)  # type: ignore[arg-type]
    with pytest.raises(StateError, match="state is of parameters: a is 3"):
        io.state_dict({"a": 3})  # type: ignore[dict-item]
    with pytest.raises(GraphError, match="call the model first"):
        io.state_dict(mlp(2))


def test_state_is_a_copy() -> None:
    p = dg.Parameter(np.zeros(2), name="p")
    state = io.state_dict([p])
    state["p"][0] = 9
    np.testing.assert_array_equal(p.value, [0, 0])


def test_a_failing_save_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, p = tmp_path / "s.npz", dg.Parameter(1.0, name="p")
    io.save(path, [p])
    p.value = 2.0

    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError("no space left on device")

    for module, name in ((np.lib.format, "write_array"), (os, "fsync"), (os, "replace")):
        monkeypatch.setattr(module, name, full)
        with pytest.raises(OSError, match="no space left"):
            io.save(path, [p])
        monkeypatch.undo()
        assert os.listdir(tmp_path) == ["s.npz"]
        assert io.read(path)["p"] == 1
    io.save(path, [p])
    assert io.read(path)["p"] == 2


def test_files_that_are_none(tmp_path: Path) -> None:
    p = dg.Parameter(1.0, name="p")
    bad = tmp_path / "bad.npz"
    with pytest.raises(FileNotFoundError):
        io.load(bad, [p])
    np.savez(bad, p=np.array({"an": "object"}, dtype=object), allow_pickle=True)
    contents = [b"", b"text", pickle.dumps(1), bad.read_bytes()]
    io.save(tmp_path / "good.npz", [p])
    contents.append((tmp_path / "good.npz").read_bytes()[:-30])
    np.save(tmp_path / "one.npy", np.zeros(2))
    contents.append((tmp_path / "one.npy").read_bytes())
    for content in contents:
        bad.write_bytes(content)
        with pytest.raises(StateError, match=r"load: not an npz file.*bad\.npz"):
            io.load(bad, [p])
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("readme.txt", "no array")
    with pytest.raises(StateError, match=r"bad\.npz"):
        io.load(bad, [p])
    assert p.value == 1


def test_a_state_is_of_one_moment() -> None:
    """All parameters are locked before the first is read, in the order in which steps lock them."""
    a, b = dg.Parameter(1.0, name="a"), dg.Parameter(1.0, name="b")
    found: list[Any] = []
    reader = threading.Thread(target=lambda: found.append(io.state_dict([b, a])))
    with a.lock:
        reader.start()
        reader.join(0.2)
        assert reader.is_alive()
        assert b.lock.acquire(timeout=1), "the reader holds the later one first"
        b.value = 2.0
        b.lock.release()
        a.value = 2.0
    reader.join()
    assert found == [{"a": 2.0, "b": 2.0}]
