"""The cache of compiled code: found again, shared, healed, bounded, and done without."""

from __future__ import annotations

import logging
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from deepgraph.__main__ import main
from deepgraph.backends import cache

Make = Callable[[Path], None]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for this test alone."""
    monkeypatch.setenv("DEEPGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def writes(content: bytes, made: list[bytes] | None = None) -> Make:
    def make(path: Path) -> None:
        if made is not None:
            made.append(content)
        path.write_bytes(content)

    return make


def refuses(path: Path) -> None:
    raise AssertionError(f"made again: {path}")


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_an_entry_is_made_once(root: Path) -> None:
    made: list[bytes] = []
    key = cache.key("text")
    paths = {cache.entry(key, ".so", writes(b"code", made)) for _ in range(3)}
    (path,) = paths
    assert made == [b"code"]
    assert path.read_bytes() == b"code"
    assert path.is_relative_to(root)
    assert files(root) == [path]


def test_keys_differ_where_parts_do() -> None:
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("ab", "c", ""), ("ab", "C"), ("c", "ab")]
    assert len({cache.key(*p) for p in parts}) == len(parts)
    assert cache.key("a", b"b") == cache.key(b"a", "b")


def test_suffixes_stay_apart() -> None:
    key = cache.key("text")
    cache.entry(key, ".json", writes(b"record"))
    assert cache.entry(key, ".so", writes(b"code")).read_bytes() == b"code"
    assert cache.entry(key, ".json", refuses).read_bytes() == b"record"


@pytest.mark.parametrize("content", [b"", b"cod", b"code and more", b"CODE"])
def test_what_is_corrupt_is_made_again(content: bytes, root: Path) -> None:
    key = cache.key("text")
    path = cache.entry(key, ".so", writes(b"code"))
    path.write_bytes(content)
    assert cache.entry(key, ".so", writes(b"code")).read_bytes() == b"code"
    assert cache.entry(key, ".so", refuses).read_bytes() == b"code"
    assert len(files(root)) == 1


def test_what_fails_leaves_nothing(root: Path) -> None:
    def fails(path: Path) -> None:
        path.write_bytes(b"half of it")
        raise RuntimeError("no more")

    key = cache.key("text")
    with pytest.raises(RuntimeError, match="no more"):
        cache.entry(key, ".so", fails)
    assert not files(root)
    assert cache.entry(key, ".so", writes(b"code")).read_bytes() == b"code"


def test_what_was_used_longest_ago_goes_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 1000)
    keys = [cache.key(str(k)) for k in range(5)]
    for age, key in zip((50, 40, 30), keys, strict=False):
        path = cache.entry(key, ".so", writes(b"x" * 300))
        os.utime(path, (time.time() - age, time.time() - age))
    cache.entry(keys[0], ".so", refuses)  # used now
    cache.entry(keys[3], ".so", writes(b"x" * 300))
    assert cache.info().nbytes == 900
    for key in (keys[0], keys[2], keys[3]):
        cache.entry(key, ".so", refuses)
    with pytest.raises(AssertionError):
        cache.entry(keys[1], ".so", refuses)
    large = cache.entry(keys[4], ".so", writes(b"x" * 5000))  # alone above the bound
    assert files(root) == [large]


def test_what_a_killed_process_left_goes_too(root: Path) -> None:
    path = cache.entry(cache.key("a"), ".so", writes(b"code"))
    old, new = path.with_name("old.tmp"), path.with_name("new.tmp")
    for left in (old, new):
        left.write_bytes(b"half of it")
    os.utime(old, (0, 0))
    cache.entry(cache.key("b"), ".so", writes(b"code"))
    assert not old.exists()
    assert new.exists()


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("DEEPGRAPH_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with caplog.at_level(logging.WARNING, "deepgraph"):
        path = cache.entry(cache.key("text"), ".so", writes(b"code"))
        assert cache.entry(cache.key("text"), ".so", refuses) == path
        assert cache.entry(cache.key("other"), ".so", writes(b"code")) != path
    assert path.read_bytes() == b"code"
    (record,) = caplog.records
    assert "DEEPGRAPH_CACHE_DIR" in record.getMessage()
    assert str(tmp_path / "file") in record.getMessage()
    assert cache.info().entries == 0


FALLS_BACK = """
import os, pathlib
from deepgraph.backends import cache
path = cache.entry(cache.key("text"), ".so", lambda p: p.write_bytes(b"code"))
child = os.fork()
if child == 0:
    raise SystemExit(0)  # runs what is to run at the end of a process
assert os.waitpid(child, 0)[1] == 0
assert path.exists(), "a child took its parent's folder away"
print(path)
"""


def test_the_folder_of_a_process_goes_with_it(
    python: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = python("-c", FALLS_BACK, DEEPGRAPH_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert done.returncode == 0, done.stderr
    assert not Path(done.stdout.strip()).parents[1].exists()


def _race(folder: str, together: object, results: object) -> None:
    os.environ["DEEPGRAPH_CACHE_DIR"] = folder
    together.wait()  # type: ignore[attr-defined]
    for k in range(100):
        content = b"%d" % k * 1000

        def slow(path: Path, content: bytes = content) -> None:
            half = len(content) // 2
            path.write_bytes(content[:half])
            time.sleep(0.0005)
            path.write_bytes(content)

        path = cache.entry(cache.key(str(k)), ".so", slow)
        if path.read_bytes() != content:
            results.put(f"{k} holds something else")  # type: ignore[attr-defined]
    results.put(None)  # type: ignore[attr-defined]


def test_processes_that_race(root: Path) -> None:
    context = multiprocessing.get_context("spawn")
    together, results = context.Barrier(3), context.Queue()
    racers = [
        context.Process(target=_race, args=(str(root), together, results)) for _ in range(3)
    ]
    for racer in racers:
        racer.start()
    told = [results.get(timeout=60) for _ in racers]
    for racer in racers:
        racer.join(60)
    assert told == [None] * 3
    assert [racer.exitcode for racer in racers] == [0] * 3
    assert len(files(root)) == 100  # each of them whole, and one name a content


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPGRAPH_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "deepgraph"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.folder() == tmp_path / "home" / ".cache" / "deepgraph"


def test_command(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out == f"{root}: 0 entries, 0.0 MiB of 256 MiB\n"
    for k in range(2):
        cache.entry(cache.key(str(k)), ".so", writes(b"x" * 100_000))
    beside = root / "somebody's own"
    beside.write_text("stays")
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out == f"{root}: 2 entries, 0.2 MiB of 256 MiB\n"
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"removed from {root}: 2 entries, 0.2 MiB\n"
    assert files(root) == [beside]
