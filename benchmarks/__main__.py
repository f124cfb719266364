"""Run suites, each for each number of threads in a process of its own, and print their tables."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import machine, show

SUITES = ("steps", "elementwise", "calls", "compile")
THREADED = ("steps", "elementwise")  # the others are measured once
# What slows NumPy down, or would make one run differ from another.
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "GOTO_NUM_THREADS", "DEEPGRAPH_BACKEND",
         "DEEPGRAPH_DUMP")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and run what it asks for."""
    parser = argparse.ArgumentParser("benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="suite", help=", ".join(SUITES))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each function timed")
    parser.add_argument("--quick", action="store_true", help="at sizes that show only that it runs")
    parser.add_argument("--json", type=Path, help="a file for the machine and all rows")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    given.suites = given.suites or list(SUITES)
    if unknown := [name for name in given.suites if name not in SUITES]:
        parser.error(f"no suite is called {unknown[0]!r}: there are {', '.join(SUITES)}")
    results = _here(given) if given.here else _apart(given)
    if results is None:
        return 1
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def _here(given: argparse.Namespace) -> dict[str, Any]:
    about = machine()
    print("\n" + "\n".join(f"{name:<10} {text}" for name, text in about.items()))
    rows = []
    for name in given.suites:
        suite = importlib.import_module(f"benchmarks.{name}")
        print(f"\n{name}: {suite.__doc__.splitlines()[0]}")
        found = list(suite.rows(given.seconds, given.quick))
        show(found)
        sys.stdout.flush()
        rows += [{"suite": name, "threads": about["threads"], **row} for row in found]
    return {"machines": [about], "rows": rows}


def _apart(given: argparse.Namespace) -> dict[str, Any] | None:
    """Run in children, since NumPy reads its variables when it is imported."""
    results: dict[str, Any] = {"machines": [], "rows": []}
    for k, threads in enumerate(given.threads):
        suites = [name for name in given.suites if k == 0 or name in THREADED]
        if not suites:
            continue
        environment = {key: value for key, value in os.environ.items() if key not in UNSET}
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "DEEPGRAPH_THREADS"):
            environment[name] = str(threads)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            command = [sys.executable, "-m", "benchmarks", *suites, "--here", "--json", str(path),
                       "--seconds", str(given.seconds), *["--quick"] * given.quick]  # fmt: skip
            if subprocess.run(command, env=environment, check=False).returncode:
                return None
            for key, found in json.loads(path.read_text(encoding="utf-8")).items():
                results[key] += found
    return results


if __name__ == "__main__":
    sys.exit(main())
