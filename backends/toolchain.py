"""The C compiler and the BLAS of this machine: found once, and what is compiled is kept on disk."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from deepgraph.backends import BackendError
from deepgraph.backends import cache as disk

HEADERS = Path(__file__).with_name("c")
FLAGS = (
    "-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic",  # as fast as -O3, in half the time
    "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fwrapv", "-fno-strict-aliasing",
    "-ffp-contract=off", "-fopenmp-simd", "-std=gnu11", "-shared", "-fPIC", "-pthread", "-Wall",
    "-Wextra", "-Wno-int-in-bool-context",
)  # fmt: skip
_ERRORS = 6  # lines of what a compiler says that a message shows
_VARIES = re.compile("processor|core|apicid|initial apicid|cpu MHz|bogomips|microcode", re.I)
_PROBE = "int deepgraph_answer(int x) { return x + 1; }\n"


@dataclass(frozen=True)
class Compiler:
    """A C compiler that was seen to work here."""

    command: tuple[str, ...]  # an absolute path, and arguments that the user gave with it
    version: str  # the first line of what it says of itself
    flags: tuple[str, ...]  # those of FLAGS that it takes
    identity: str  # differs where the compiler differs

    def __str__(self) -> str:
        return f"{shlex.join(self.command)}: {self.version}"


class Blas(NamedTuple):
    """A BLAS that multiplies matrices on the calling thread alone."""

    name: str
    path: str
    sgemm: int  # addresses of C functions, as CBLAS declares them
    dgemm: int
    width: int  # bytes of their integers


def compiler() -> Compiler:
    """The compiler of `DEEPGRAPH_CC`, `CC`, or the first of cc, gcc and clang that works.

    Raises BackendError, which says what to install, where none does.
    """
    found = _compiler(os.environ.get("DEEPGRAPH_CC") or os.environ.get("CC") or "")
    if isinstance(found, str):
        raise BackendError(found)
    return found


def missing() -> str | None:
    """Why nothing can be compiled here, or None."""
    try:
        compiler()
    except BackendError as error:
        return str(error)
    return None


def build(*texts: str) -> Path:
    """A shared library of these texts of C, compiled side by side or from the cache.

    Raises BackendError with what the compiler says and where the text was kept.
    """
    with_ = compiler()
    flags = (*with_.flags, *_given_flags())
    key = disk.key(*texts, *_headers(), *flags, with_.identity, processor())
    return disk.entry(key, ".so", lambda path: _compile(with_.command, flags, texts, path))


@cache
def blas() -> Blas | None:
    """The library of the package `scipy-openblas64`, or None where that is not installed.

    It is a copy of its own: NumPy's keeps its threads.
    """
    spec = importlib.util.find_spec("scipy_openblas64")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for path in sorted(Path(folder, "lib").glob("libscipy_openblas64_.*")):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:  # of another platform, or files that only linkers read
                continue
            library.scipy_openblas_set_num_threads64_(1)
            told = library.scipy_openblas_get_config64_
            told.restype = ctypes.c_char_p
            return Blas(
                told().decode(), str(path), _address(library.scipy_cblas_sgemm64_),
                _address(library.scipy_cblas_dgemm64_), 8,
            )  # fmt: skip
    return None


def _address(function: object) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


@cache
def _compiler(given: str) -> Compiler | str:
    """The compiler that the user gave, or one that is found; else what to do about it."""
    if given:
        found = _working(tuple(shlex.split(given)))
        return found if isinstance(found, Compiler) else f"the C compiler {given!r} {found}"
    reasons = []
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            found = _working((name,))
            if isinstance(found, Compiler):
                return found
            reasons.append(f"{name} {found}")
    install = "xcode-select --install" if sys.platform == "darwin" else "apt install gcc"
    said = "; ".join(reasons) or "no C compiler is on the PATH"
    return f"{said}: install one ({install}, or your system's like), or name one in DEEPGRAPH_CC"


def _working(command: tuple[str, ...]) -> Compiler | str:
    """The compiler, if what it compiles can be loaded; else what is wrong with it.

    What was found is kept on disk, for as long as its files stay the same.
    """
    path = shutil.which(command[0])
    if path is None:
        return "is not found"
    command = (path, *command[1:])
    files = [os.path.realpath(found) for word in command if (found := shutil.which(word))]
    stats = [f"{f} {os.stat(f).st_size} {os.stat(f).st_mtime_ns}" for f in files]
    identity = disk.key(*command, *stats, *FLAGS, _PROBE, processor())

    def probe(record: Path) -> None:
        flags = _accepted(command)
        version = _run([*command, "--version"]).stdout.partition("\n")[0]
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder, "probe.so")
            _compile(command, flags, [_PROBE], library)
            if ctypes.CDLL(str(library)).deepgraph_answer(41) != 42:
                raise BackendError("compiles to something that computes wrong")
        record.write_text(json.dumps({"version": version, "flags": flags}), encoding="utf-8")

    try:
        record = json.loads(disk.entry(identity, ".json", probe).read_text(encoding="utf-8"))
    except (BackendError, OSError) as error:
        return f"does not work: {error}"
    return Compiler(command, record["version"], tuple(record["flags"]), identity)


def _accepted(command: tuple[str, ...]) -> tuple[str, ...]:
    """The flags that a compiler takes; where it refuses some, it is asked for each."""

    def takes(*flags: str) -> bool:
        asked = [*command, *flags, "-Werror", "-c", "-x", "c", "-", "-o", os.devnull]
        return not _run(asked, _PROBE).returncode

    if takes(*(f for f in FLAGS if f != "-shared")):
        return FLAGS
    return tuple(f for f in FLAGS if f == "-shared" or takes(f))


def _compile(
    command: tuple[str, ...], flags: Sequence[str], texts: Sequence[str], path: Path
) -> None:
    """One library of these texts, each of which is compiled by a process of its own."""
    darwin = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
    alone = [*command, *(f for f in flags if f != "-shared"), f"-I{HEADERS}", "-c", "-x", "c", "-"]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [os.path.join(folder, f"{k}.o") for k in range(len(texts))]
        ends = pool.map(lambda made, text: _run([*alone, "-o", made], text), objects, texts)
        for text, end in zip(texts, ends, strict=True):
            _checked(end, text)
        linked = _run([*command, *flags, *objects, "-o", str(path), *darwin, "-lm"])
        _checked(linked, "\n".join(texts))


def _checked(done: subprocess.CompletedProcess[str], text: str) -> None:
    """Raise what a compiler says, if it failed."""
    if done.returncode:
        handle, kept = tempfile.mkstemp(".c", "deepgraph-")
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        said = done.stderr.splitlines()
        shown = [line for line in said if "error:" in line][:_ERRORS] or said[:_ERRORS]
        raise BackendError("\n  ".join([f"the C compiler refuses what is kept in {kept}", *shown]))


def _run(command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a compiler: in English, and without libraries that are meant for Python."""
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    return subprocess.run(
        command, input=text, capture_output=True, check=False, text=True, errors="replace",
        env={**environment, "LC_ALL": "C"},
    )  # fmt: skip


def _given_flags() -> tuple[str, ...]:
    return tuple(shlex.split(os.environ.get("DEEPGRAPH_CFLAGS", "")))


@cache
def _headers() -> tuple[bytes, ...]:
    """What the text may include."""
    paths = sorted(path for path in HEADERS.iterdir() if path.suffix in (".h", ".inc"))
    return tuple(part for path in paths for part in (path.name.encode(), path.read_bytes()))


@cache
def processor() -> str:
    """The machine and its processor's features: what `-march=native` stands for."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = list(itertools.takewhile(str.strip, file))  # the others have the same
    except OSError:
        first = [platform.processor()]
    return platform.machine() + "".join(line for line in first if not _VARIES.match(line))
