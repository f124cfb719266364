"""What was compiled before: files on disk, found again by a hash of all that they were made from.

Many processes may share a folder. An entry appears whole or not at all, its name holds a checksum
of its content, and one that does not match is made again. The entries used longest ago go first
when a folder outgrows its bound; a file that some process has loaded lives on without its name.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

LIMIT = 256 << 20  # bytes of all entries
_ABANDONED = 3600  # seconds after which an unfinished file is taken to have no writer any more
_UNFINISHED = ".tmp"
log = logging.getLogger("deepgraph")


class Info(NamedTuple):
    """What a cache holds."""

    folder: Path
    entries: int
    nbytes: int


def folder() -> Path:
    """Where entries lie: `DEEPGRAPH_CACHE_DIR`, else a folder in the user's cache folder."""
    if given := os.environ.get("DEEPGRAPH_CACHE_DIR"):
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home or os.path.join(os.path.expanduser("~"), ".cache")) / "deepgraph"


def key(*parts: str | bytes) -> str:
    """A name for what is made from these parts, and from nothing else."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.hexdigest()[:40]


def entry(key: str, suffix: str, make: Callable[[Path], None]) -> Path:
    """The file of this key, which `make` writes to the path it is given if there is none.

    Where the folder cannot be written the file lies in one that this process removes at its end.
    """
    found = _found(folder(), key, suffix)
    if found is not None:
        return found
    try:
        return _made(folder(), key, suffix, make)
    except _UnwritableError as error:
        own = _own_folder(os.getpid())
        _warn_once(str(error), str(own))
        return _found(own, key, suffix) or _made(own, key, suffix, make)


def info() -> Info:
    """What the folder holds now."""
    sizes = [status.st_size for _, status in _files(folder())]
    return Info(folder(), len(sizes), sum(sizes))


def clear() -> Info:
    """Remove all entries, and say what they were. OSError where they cannot be removed."""
    before = info()
    for path, _ in _files(before.folder):
        path.unlink(missing_ok=True)
    return before


class _UnwritableError(Exception):
    """A folder in which no file can be made."""


def _found(root: Path, key: str, suffix: str) -> Path | None:
    """An entry whose content is what its name says; any other is removed."""
    try:
        with os.scandir(root / key[:2]) as files:
            names = [f.name for f in files if f.name.startswith(key) and f.name.endswith(suffix)]
    except OSError:
        return None
    for path in (root / key[:2] / name for name in names):
        try:
            if path.name == _name(key, path.read_bytes(), suffix):
                _touch(path)
                return path
            path.unlink()
        except OSError:  # another process was quicker, or the folder is read-only
            continue
    return None


def _made(root: Path, key: str, suffix: str, make: Callable[[Path], None]) -> Path:
    home = root / key[:2]
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(_UNFINISHED, dir=home)
    except OSError as error:
        raise _UnwritableError(str(error)) from None
    os.close(handle)
    unfinished = Path(name)
    try:
        make(unfinished)
        path = home / _name(key, unfinished.read_bytes(), suffix)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    _evict(root, path)
    return path


def _name(key: str, content: bytes, suffix: str) -> str:
    return f"{key}-{hashlib.sha256(content).hexdigest()[:32]}{suffix}"


def _touch(path: Path) -> None:
    """Note that an entry was used."""
    with suppress(OSError):  # a read-only folder evicts nothing either
        os.utime(path)


def _files(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of a cache; what else lies in its folder is not ours."""
    for path in root.glob("[0-9a-f][0-9a-f]/*"):
        try:
            yield path, path.stat()
        except OSError:
            continue


def _evict(root: Path, newest: Path) -> None:
    """Remove entries used longest ago, until the rest fits, and what killed writers left."""
    entries = []
    for path, status in _files(root):
        if path.suffix != _UNFINISHED:
            entries.append((path, status))
        elif status.st_mtime < time.time() - _ABANDONED:
            path.unlink(missing_ok=True)
    total = sum(status.st_size for _, status in entries)
    entries.sort(key=lambda found: found[1].st_mtime_ns)
    for path, status in entries:
        if total <= LIMIT:
            break
        if path != newest:
            path.unlink(missing_ok=True)
            total -= status.st_size


@cache
def _own_folder(pid: int) -> Path:
    """A folder of this process alone."""
    path = Path(tempfile.mkdtemp(prefix="deepgraph-"))

    def remove() -> None:
        if os.getpid() == pid:  # a forked child ends without taking it from its parent
            shutil.rmtree(path, ignore_errors=True)

    atexit.register(remove)
    return path


@cache
def _warn_once(reason: str, instead: str) -> None:
    log.warning(
        "the cache of compiled code cannot be written: %s; this process compiles into %s. "
        "Set DEEPGRAPH_CACHE_DIR to a folder that can be written", reason, instead,
    )  # fmt: skip
