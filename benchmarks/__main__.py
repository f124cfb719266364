"""Run suites, each group of workloads in a process of its own, and print their tables.

`peers` compares deepgraph with every library that is installed, `gpu` with those that run on a GPU;
`calls` and `compile` look at deepgraph alone. Ratios are a peer's time over deepgraph's: above 1
deepgraph is faster.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.measure import Row, machine

SUITES = {"peers": ("steps", "elementwise", "alone"), "calls": ("calls",), "compile": ("compile",),
          "gpu": ("gpu",)}  # fmt: skip
# What slows libraries down, or would make one run differ from another.
UNSET = ("OPENBLAS_", "GOTO_", "MKL_", "OMP_", "KMP_", "NUMBA_", "NUMEXPR_", "XLA_", "JAX_",
         "TORCH", "PYTENSOR_", "DEEPGRAPH_", "PYTHONDONTWRITEBYTECODE")  # fmt: skip
COUNTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "DEEPGRAPH_THREADS", "NUMEXPR_NUM_THREADS",
          "NUMBA_NUM_THREADS")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and run what it asks for; 1 where a group fails."""
    parser = argparse.ArgumentParser("benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="suite", help=", ".join(SUITES))
    parser.add_argument("--only", type=_words, metavar="GROUP,...", help=", ".join(_groups()))
    parser.add_argument("--threads", type=_numbers, default=[1, 2], metavar="N,...")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each function timed")
    parser.add_argument("--quick", action="store_true", help="at sizes that show only that it runs")
    parser.add_argument("--json", type=Path, help="a file for the machine and all rows")
    parser.add_argument("--markdown", type=Path, help="a file for the machine and all tables")
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)  # a module, one of its groups
    given = parser.parse_args(arguments)
    if given.here:
        given.json.write_text(json.dumps(_here(given)), encoding="utf-8")
        return 0
    suites = given.suites or list(SUITES)
    for kind, names, known in (("suite", suites, SUITES), ("group", given.only or (), _groups())):
        if unknown := [name for name in names if name not in known]:
            parser.error(f"no {kind} is called {unknown[0]!r}: there are {', '.join(known)}")
    return _apart([module for name in suites for module in SUITES[name]], given)


def _words(text: str) -> list[str]:
    return text.split(",")


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def _groups() -> dict[str, str]:
    """The module of each group."""
    modules = (name for names in SUITES.values() for name in names)
    return {group: name for name in modules for group in _module(name).GROUPS}


def _module(name: str) -> Any:
    return importlib.import_module(f"benchmarks.{name}")


def _here(given: argparse.Namespace) -> dict[str, Any]:
    """Rows of one group, on as many processors as there are threads, which all libraries heed."""
    if hasattr(os, "sched_setaffinity"):
        count = int(os.environ["DEEPGRAPH_THREADS"])
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
    about, (name, group) = machine(), given.here
    rows = _module(name).rows(group, given.seconds, given.quick)
    about_each = {"suite": name, "group": group, "threads": about["threads"]}
    return {"machine": about, "rows": [{**about_each, **row} for row in rows]}


def _apart(modules: list[str], given: argparse.Namespace) -> int:
    """Run each group in a child, since libraries read their variables when they are imported."""
    results: dict[str, Any] = {"machine": {}, "rows": []}
    failed, shown = 0, []
    for threads, name, groups in _plan(modules, given):
        rows: list[Row] = []
        for group in groups:
            start = time.monotonic()
            found = _child(threads, name, group, given)
            failed += found is None
            if found and not results["machine"]:
                results["machine"] = found["machine"]
                print("\n".join(f"{key:<16} {said}" for key, said in found["machine"].items()))
            rows += found["rows"] if found else []
            print(f"{group}, threads {threads}: {time.monotonic() - start:.0f} s", file=sys.stderr)
        if rows:
            title = f"## {name}, threads {threads}\n\n{_module(name).__doc__.splitlines()[0]}"
            shown.append(f"{title}\n\n{tables.text(rows)}\n")
            print(f"\n{shown[-1]}", flush=True)
        results["rows"] += rows
        _write(given, results, shown)
    return int(failed > 0)


def _plan(
    modules: list[str], given: argparse.Namespace
) -> Iterator[tuple[int, str, list[str]]]:  # fmt: skip
    for threads in given.threads:
        for name in modules:
            module = _module(name)
            groups = [g for g in module.GROUPS if not given.only or g in given.only]
            if groups and (module.THREADED or threads == given.threads[-1]):
                yield threads, name, groups


def _child(threads: int, name: str, group: str, given: argparse.Namespace) -> Any:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(UNSET)}
    environment |= dict.fromkeys(COUNTS, str(threads))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        command = [sys.executable, "-m", "benchmarks", "--here", name, group, "--json", str(path),
                   "--seconds", str(given.seconds), *["--quick"] * given.quick]  # fmt: skip
        if subprocess.run(command, env=environment, check=False).returncode:
            return None
        return json.loads(path.read_text(encoding="utf-8"))


def _write(given: argparse.Namespace, results: dict[str, Any], shown: list[str]) -> None:
    """Write what there is so far."""
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if given.markdown:
        about = "\n".join(f"- {name}: {said}" for name, said in results["machine"].items())
        head = f"# Results\n\n{__doc__.partition(chr(10) * 2)[2]}\n{about}\n"
        given.markdown.write_text("\n".join([head, *shown]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
