"""Options and fixtures that every test file may use."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hostcuda.host import HostLauncher

if "PYTEST_XDIST_WORKER" in os.environ:  # workers share the cores: threads of BLAS would spin
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

os.environ.setdefault("DEEPGRAPH_BACKEND", "numpy")  # for tests that do not say which
os.environ.setdefault("DEEPGRAPH_CFLAGS", "-O1 -Werror")  # of C that many tests compile

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("deepgraph")
    group.addoption(
        "--update-golden", action="store_true", help="write tests/golden, not compare with it"
    )
    group.addoption("--screenshots", metavar="FOLDER", help="keep what a browser showed there")
    group.addoption(
        "--wheel", action="store_true", help="refuse to test anything but an installed wheel"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    site = Path(sysconfig.get_path("purelib"))
    if session.config.getoption("--wheel") and (found := _import_folder()) != site:
        raise pytest.UsageError(f"--wheel: deepgraph is imported from {found}, not from {site}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    needs_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if needs_gpu and (reason := _no_gpu()):
        for item in needs_gpu:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many cases of each operation passed, failed and were skipped, and why."""
    counts: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    case = re.compile(r"test_conformance.py::test_case\[([\w.]+)-")
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.getreports(outcome):
            if not (found := case.search(report.nodeid)):
                continue
            counts.setdefault(found[1], Counter())[outcome] += 1
            if outcome == "skipped" and isinstance(report.longrepr, tuple):
                reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1
    counts.pop("NOTSET", None)  # pytest's name for no cases
    total = sum(counts.values(), Counter())
    if not total:
        return
    terminalreporter.section("conformance")
    for op, count in sorted(counts.items()):
        if set(count) != {"passed"}:
            told = ", ".join(f"{n} {outcome}" for outcome, n in count.items())
            terminalreporter.write_line(f"{op}: {told}")
    for reason, n in reasons.most_common():
        terminalreporter.write_line(f"skipped {n}: {reason}")
    told = ", ".join(f"{total[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))
    terminalreporter.write_line(f"{sum(total.values())} cases of {len(counts)} operations: {told}")


def _import_folder() -> Path:
    import deepgraph

    return Path(deepgraph.__file__).parents[1]


def _no_gpu() -> str | None:
    """Why nothing runs on a GPU here, or None."""
    from deepgraph.backends import cudevice

    return cudevice.missing()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file under tests/golden, or write that file with --update-golden."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no {path}: write it with pytest --update-golden"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(params=["numpy", "native", "cupy", pytest.param("gpu", marks=pytest.mark.gpu)])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend that compiles and can run here; `cupy` is CUDA run on this machine as C++."""
    from deepgraph import backends

    if request.param == "gpu":
        request.getfixturevalue("results_on_host")
        return "cupy"
    if request.param == "cupy":
        request.getfixturevalue("host_cuda")
    elif reason := backends.named(request.param).missing():
        pytest.skip(reason)
    return str(request.param)


@pytest.fixture
def host_cuda(monkeypatch: pytest.MonkeyPatch) -> HostLauncher:
    """Run the cupy backend's kernels on this machine, as C++; see hostcuda/host.py."""
    from hostcuda.host import HostLauncher

    from deepgraph.backends import cupy

    if shutil.which("g++") is None:
        assert "CI" not in os.environ, "no g++ here"
        pytest.skip("no g++ here, which compiles CUDA text for this machine")
    launcher = HostLauncher()
    monkeypatch.setattr(cupy, "launcher", lambda: launcher)
    monkeypatch.setattr(cupy.CupyBackend, "missing", lambda self: None)
    return launcher


@pytest.fixture
def results_on_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let steps return NumPy's arrays wherever they run, for tests that know no device."""
    from deepgraph.step import Step

    call = Step.__call__

    def moved(self: Step, /, *args: Any, **feeds: Any) -> Any:
        found, host = call(self, *args, **feeds), self.device.host
        if isinstance(found, dict):
            return {name: host(array) for name, array in found.items()}
        return type(found)(map(host, found)) if isinstance(found, list | tuple) else host(found)

    monkeypatch.setattr(Step, "__call__", moved)


@pytest.fixture
def native() -> str:
    """The backend that compiles C, where there is a compiler."""
    from deepgraph import backends

    if reason := backends.named("native").missing():
        pytest.skip(reason)
    return "native"


@pytest.fixture
def use_threads() -> Iterator[Callable[[int], None]]:
    """Set how many threads steps run on, until the test ends."""
    from deepgraph.config import config

    with ExitStack() as held:
        yield lambda count: held.push(config(threads=count)) and None


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a Python of its own, in an empty folder, over the very deepgraph that is under test."""

    def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(_import_folder()), **env},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
