"""Say what the cache of compiled code holds, or remove it all."""

from __future__ import annotations

import argparse

from deepgraph.backends import cache


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to do."""
    parser.add_argument("what", choices=("info", "clear"), help="show what there is, or remove it")


def run(given: argparse.Namespace) -> int:
    """Print where the cache is and what it holds, after removing it if that is asked for."""
    if given.what == "clear":
        removed = cache.clear()
        print(f"removed from {removed.folder}: {described(removed)}")
    else:
        found = cache.info()
        print(f"{found.folder}: {described(found)} of {cache.LIMIT >> 20} MiB")
    return 0


def described(info: cache.Info) -> str:
    """How many entries, and their size."""
    entries = "1 entry" if info.entries == 1 else f"{info.entries} entries"
    return f"{entries}, {info.nbytes / (1 << 20):.1f} MiB"
