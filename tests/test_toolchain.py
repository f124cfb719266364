"""The compiler: found, asked what it takes; what it makes is known by all that it depends on."""

from __future__ import annotations

import ctypes
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from deepgraph.backends import BackendError, cache, runtime, toolchain
from deepgraph.cli import blas

TEXT = "int answer(void) { return 42; }\n"
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler here")
needs_blas = pytest.mark.skipif(toolchain.blas() is None, reason="no scipy-openblas64 here")


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of its own, and a search that starts anew."""
    monkeypatch.setenv("DEEPGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("DEEPGRAPH_CC", "CC", "DEEPGRAPH_CFLAGS"):
        monkeypatch.delenv(name, raising=False)
    toolchain._compiler.cache_clear()
    yield
    toolchain._compiler.cache_clear()


def script(path: Path, text: str) -> Path:
    """A compiler of our own making."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@needs_compiler
@pytest.mark.parametrize("name", COMPILERS)
@pytest.mark.parametrize("variable", ["DEEPGRAPH_CC", "CC"])
def test_each_compiler_builds(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, name)
    found = toolchain.compiler()
    assert found.command == (shutil.which(name),)
    assert re.search(r"\d+\.\d+", found.version)
    assert set(toolchain.FLAGS) - set(found.flags) <= {"-fvect-cost-model=dynamic"}  # gcc alone
    path = toolchain.build(TEXT)
    assert ctypes.CDLL(str(path)).answer() == 42
    assert toolchain.build(TEXT) == path


@needs_compiler
def test_ours_goes_before_cc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "nosuch")
    monkeypatch.setenv("DEEPGRAPH_CC", f"{COMPILERS[0]} -DONE=1")
    assert toolchain.compiler().command == (shutil.which(COMPILERS[0]), "-DONE=1")
    assert ctypes.CDLL(str(toolchain.build("int one(void) { return ONE; }"))).one() == 1


@needs_compiler
def test_a_warm_process_runs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    before = toolchain.compiler(), toolchain.build(TEXT)
    toolchain._compiler.cache_clear()
    monkeypatch.setattr(toolchain, "_run", None)
    assert (toolchain.compiler(), toolchain.build(TEXT)) == before


@needs_compiler
def test_what_a_library_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [toolchain.build(TEXT), toolchain.build(TEXT + "\n")]
    with monkeypatch.context() as patch:
        patch.setenv("DEEPGRAPH_CFLAGS", "-DX=1 -O1")
        paths.append(toolchain.build(TEXT))
    with monkeypatch.context() as patch:
        patch.setattr(toolchain, "processor", lambda: "another")
        paths.append(toolchain.build(TEXT))
    with monkeypatch.context() as patch:
        patch.setattr(toolchain, "_headers", lambda: (b"team.h", b"other text"))
        paths.append(toolchain.build(TEXT))
    again = script(tmp_path / "again", f'exec {COMPILERS[0]} "$@"')
    for text in ("# once", "# and edited"):
        with monkeypatch.context() as patch:
            patch.setenv("DEEPGRAPH_CC", str(again))
            toolchain._compiler.cache_clear()
            paths.append(toolchain.build(TEXT))
        script(again, f'exec {COMPILERS[0]} "$@" {text}')
    assert len({path.name[:40] for path in paths}) == len(paths)
    toolchain._compiler.cache_clear()
    assert toolchain.build(TEXT) == paths[0]


@needs_compiler
def test_flags_that_it_refuses_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = script(tmp_path / "old", f"""
case "$*" in *-march=native*|*-fwrapv*) echo "error: unknown" >&2; exit 1;; esac
exec {COMPILERS[0]} "$@" """)  # fmt: skip
    monkeypatch.setenv("DEEPGRAPH_CC", str(old))
    flags = toolchain.compiler().flags
    assert flags == tuple(f for f in toolchain.FLAGS if f not in ("-march=native", "-fwrapv"))
    assert ctypes.CDLL(str(toolchain.build(TEXT))).answer() == 42


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exit 1", "does not work"),
        ("echo 'it: fatal error: no licence' >&2; exit 1", "no licence"),
        ("exit 0", "does not work"),  # and writes nothing
    ],
)
def test_a_compiler_that_does_not_work(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = script(tmp_path / "broken", text)
    monkeypatch.setenv("DEEPGRAPH_CC", str(broken))
    with pytest.raises(BackendError, match=said) as caught:
        toolchain.build(TEXT)
    assert str(broken) in str(caught.value)
    assert toolchain.missing() == str(caught.value)


def test_a_compiler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPGRAPH_CC", "nosuch")
    assert toolchain.missing() == "the C compiler 'nosuch' is not found"
    monkeypatch.delenv("DEEPGRAPH_CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    told = toolchain.missing()
    assert told is not None
    assert told.startswith("no C compiler is on the PATH: install one")
    if sys.platform == "linux":
        assert "apt install gcc" in told


@needs_compiler
def test_the_first_that_works_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which(COMPILERS[0])
    script(tmp_path / "cc", "exit 1")
    script(tmp_path / "gcc", f'exec {real} "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert toolchain.compiler().command == (str(tmp_path / "gcc"),)


@needs_compiler
def test_text_that_it_refuses() -> None:
    text = 'int f(void) { return x; }\n#include "nosuch.h"\n'
    with pytest.raises(BackendError) as caught:
        toolchain.build(text)
    first, *lines = str(caught.value).splitlines()
    (kept,) = re.findall(r"kept in (\S+)$", first)
    assert Path(kept).read_text() == text
    assert lines
    assert all("error:" in line for line in lines)
    assert cache.info().entries == 1  # what is known of the compiler


@needs_compiler
def test_warnings_become_errors_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "int f(int unused) { return 0; }\n"
    toolchain.build(text)
    monkeypatch.setenv("DEEPGRAPH_CFLAGS", "-Werror")
    with pytest.raises(BackendError, match="unused"):
        toolchain.build(text)


@needs_compiler
@pytest.mark.parametrize("name", COMPILERS)
def test_what_we_ship_compiles_without_a_warning(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPGRAPH_CC", name)
    monkeypatch.setenv("DEEPGRAPH_CFLAGS", "-Werror -Wshadow -Wstrict-prototypes")
    toolchain.build(runtime.text("team.c", "calls.c"))
    for dtype in runtime.PRODUCTS:
        toolchain.build(f"#define DG_OF_{dtype}\n{runtime.text('product.c')}")
    for path in toolchain.HEADERS.glob("*.h"):
        toolchain.build(f'#include "{path.name}"\n#include "{path.name}"\nint one = 1;\n')


@needs_blas
def test_numpy_keeps_its_threads() -> None:
    before = blas.threads()
    found = toolchain.blas()
    assert found is not None
    assert "OpenBLAS" in found.name
    blas._library.cache_clear()
    assert blas.threads() == before
    ours = ctypes.CDLL(found.path)
    assert ours.scipy_openblas_get_num_threads64_() == 1


LOADED = """
import sys, numpy, deepgraph
from deepgraph.backends import runtime
runtime.library()
assert "scipy_openblas64" not in sys.modules
"""


@needs_compiler
def test_loading_is_light(python: Callable[..., CompletedProcess[str]]) -> None:
    done = python("-W", "error", "-c", LOADED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
