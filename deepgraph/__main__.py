"""The command line: `python -m deepgraph`, or `deepgraph` where it is installed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import deepgraph
from deepgraph.cli import cache, doctor, ops, show, train
from deepgraph.data import DataError
from deepgraph.errors import GraphError

COMMANDS = (train, doctor, ops, show, cache)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command: 0 if it did what was asked, 1 if something failed, 2 for wrong input."""
    parser = argparse.ArgumentParser("deepgraph", description=deepgraph.__doc__)
    parser.add_argument("--version", action="version", version=f"deepgraph {deepgraph.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in COMMANDS:
        about = command.__doc__ or ""
        inner = commands.add_parser(
            command.__name__.rpartition(".")[2], help=about.splitlines()[0], description=about
        )
        command.arguments(inner)
        inner.set_defaults(run=command.run)
    given = parser.parse_args(arguments)
    try:
        status: int = given.run(given)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (GraphError, DataError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
