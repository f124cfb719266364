"""CIFAR-10: 32x32 colour images in ten classes, 50,000 to train and 10,000 to test."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from deepgraph.data.dataset import Dataset, Pair, from_pixels
from deepgraph.data.errors import DataError, MissingDataError
from deepgraph.data.locate import Folder, fetch, first, look, roots

_CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)
_TRAIN = tuple(f"data_batch_{i}.bin" for i in range(1, 6))
_TEST = ("test_batch.bin",)
_FOLDER = "cifar-10-batches-bin"
_ARCHIVE = "cifar-10-binary.tar.gz"
_MIRRORS = ("https://www.cs.toronto.edu/~kriz/",)
_MD5 = "c32a1d4ab5d03f1284b67883e8d87530"  # of the archive, as its author's page states it
_RECORD = 1 + 3 * 32 * 32  # a label, then the red, green and blue planes


def cifar10(folder: Folder = None, download: bool = True) -> Pair:
    """CIFAR-10 as (train, test): x float32 (n, 3, 32, 32) in [0, 1], t int64.

    Looks for the binary version, as its six .bin files or its .tar.gz, in `folder`, then in
    `DATASET_HOME` (each time also in `cifar-10-batches-bin/` and `cifar10/` below); then downloads
    the archive (162 MB) into `folder` or `DATASET_HOME`. An archive is read in place: nothing is
    unpacked. Raises MissingDataError where all fail, DataError on a broken file.

    A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
    """

    def from_net() -> Pair:
        if not download:
            raise MissingDataError("download: turned off by download=False")
        target = roots(folder)[0] / "cifar10" / _ARCHIVE
        fetch([mirror + _ARCHIVE for mirror in _MIRRORS], target, _MD5)
        return _read(target.parent)

    below = (_FOLDER, "cifar10", f"cifar10/{_FOLDER}")
    ways: list[Callable[[], Pair]] = [partial(look, _read, root, below) for root in roots(folder)]
    return first(
        "cifar10",
        folder,
        [*ways, from_net],
        f"put {_ARCHIVE} or its files into one of these folders "
        "(DATASET_HOME=... or folder=... names another)",
    )


def _read(folder: Path) -> Pair:
    files = {name: folder / name for name in _TRAIN + _TEST if (folder / name).is_file()}
    if files:
        raw: Mapping[str, bytes] = {name: path.read_bytes() for name, path in files.items()}
        where = folder
    elif (where := folder / _ARCHIVE).is_file():
        raw = _members(where)
    else:
        raise MissingDataError(f"no .bin files and no {_ARCHIVE}")
    if lacking := [name for name in _TRAIN + _TEST if name not in raw]:
        raise MissingDataError(f"lacks {', '.join(lacking)}")
    return _images(raw, _TRAIN, where), _images(raw, _TEST, where)


def _members(archive: Path) -> dict[str, bytes]:
    """The batches in the archive; read, never unpacked, so no name in it can lead anywhere."""
    raw = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                known = path.name in _TRAIN + _TEST and str(path.parent) in (".", _FOLDER)
                if known and (file := tar.extractfile(member)) is not None:
                    raw[path.name] = file.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"cifar10: {archive} is a broken archive: {error}") from error
    return raw


def _images(raw: Mapping[str, bytes], names: tuple[str, ...], where: Path) -> Dataset:
    for name in names:
        if not raw[name] or len(raw[name]) % _RECORD:
            raise DataError(
                f"cifar10: {name} in {where} is no whole number of images: "
                f"{len(raw[name]):,} bytes, {_RECORD:,} an image"
            )
    records = np.frombuffer(b"".join(raw[name] for name in names), np.uint8).reshape(-1, _RECORD)
    return from_pixels(
        records[:, 1:].reshape(-1, 3, 32, 32),
        records[:, 0],
        white=255,
        name="cifar10",
        classes=_CLASSES,
        source=str(where),
    )
