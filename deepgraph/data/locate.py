"""Where data sets are looked for, and how one is downloaded."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import logging
import os
import urllib.request
import uuid
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from deepgraph.data.dataset import Pair
from deepgraph.data.errors import MissingDataError
from deepgraph.errors import DeepgraphWarning

Folder = str | os.PathLike[str] | None

_TIMEOUT = 20  # seconds without an answer
_log = logging.getLogger(__name__)


def home() -> Path:
    """The folder of data sets: `DATASET_HOME`, or `deepgraph/datasets` in the user's cache."""
    if chosen := os.environ.get("DATASET_HOME"):
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "deepgraph" / "datasets"


def roots(folder: Folder) -> list[Path]:
    """The folders of data sets to look in, in this order: the given one, then home."""
    return [home()] if folder is None else [Path(folder).expanduser(), home()]


def look(read: Callable[[Path], Pair], root: Path, below: Sequence[str] = ()) -> Pair:
    """What `read` finds in the folders named `below` root, or in root itself.

    The named ones come first: several sets use the same names for their files.
    """
    said: dict[str, list[str]] = {}
    for place in (*(root / name for name in below), root):
        try:
            return read(place)
        except MissingDataError as missing:
            said.setdefault(str(missing), []).append(str(place))
    raise MissingDataError(
        "\n  ".join(f"{', '.join(where)}: {what}" for what, where in said.items())
    )


def first(name: str, folder: Folder, ways: Iterable[Callable[[], Pair]], advice: str) -> Pair:
    """The data set from the first way that has it, or one error that tells what all ways said.

    Warns where a folder was given and the set came from elsewhere.
    """
    said: list[str] = []
    for way in ways:
        try:
            pair = way()
        except MissingDataError as missing:
            said.append(str(missing))
            continue
        if folder is not None and not Path(pair[0].source).is_relative_to(roots(folder)[0]):
            warnings.warn(
                f"{name}: using {pair[0].source}: {said[0]}", DeepgraphWarning, stacklevel=3
            )
        return pair
    raise MissingDataError("\n  ".join([f"{name}: found nowhere", *said, advice]))


def fetch(urls: Sequence[str], target: Path, md5: str) -> None:
    """Write `target` from the first of the mirrors whose file has this MD5 checksum.

    A `.gz` is unpacked on the way where the target's name is not one; the checksum is of what is
    written. The target appears whole or not at all.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingDataError(f"download: cannot make {target.parent}: {error}") from error
    said = []
    for url in urls:
        part = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
        try:
            found = _save(url, part, unpack=url.endswith(".gz") and target.suffix != ".gz")
            if found == md5:
                part.replace(target)
                return
            said.append(f"download: {url}: has MD5 {found} instead of {md5}")
        except (OSError, EOFError, zlib.error, http.client.HTTPException) as error:
            said.append(f"download: {url}: {error}")
        finally:
            part.unlink(missing_ok=True)
    raise MissingDataError("\n  ".join(said))


def _save(url: str, path: Path, unpack: bool) -> str:
    from tqdm import tqdm

    _log.info("downloading %s", url)
    digest = hashlib.md5(usedforsecurity=False)
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as response, path.open("wb") as file:
        size = int(response.headers.get("Content-Length") or 0) or None
        shown = Path(url).name
        # disable=None: no bar where stderr is no terminal
        with tqdm.wrapattr(response, "read", size, desc=shown, leave=False, disable=None) as raw:
            stream = gzip.GzipFile(fileobj=raw) if unpack else raw
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
                file.write(chunk)
    return digest.hexdigest()
