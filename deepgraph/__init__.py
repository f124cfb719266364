"""deepgraph: declare an expression graph, compile it, run it, and see what it became."""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from deepgraph import namespace, ops
from deepgraph.backends import BackendError as BackendError
from deepgraph.compile import compile as compile
from deepgraph.compile import emit as emit
from deepgraph.config import config as config
from deepgraph.dims import dim as dim
from deepgraph.errors import ArgumentError as ArgumentError
from deepgraph.errors import DeepgraphWarning as DeepgraphWarning
from deepgraph.errors import DomainError as DomainError
from deepgraph.errors import DonationError as DonationError
from deepgraph.errors import DTypeError as DTypeError
from deepgraph.errors import FeedError as FeedError
from deepgraph.errors import GraphError as GraphError
from deepgraph.errors import OutOfRangeError as OutOfRangeError
from deepgraph.errors import PrecisionWarning as PrecisionWarning
from deepgraph.errors import ShapeError as ShapeError
from deepgraph.expr import Expr as Expr
from deepgraph.expr import Type as Type
from deepgraph.expr import op as op
from deepgraph.grad import grad as grad
from deepgraph.namespace import *  # noqa: F403
from deepgraph.ops import *  # noqa: F403
from deepgraph.parameter import Parameter as Parameter
from deepgraph.step import Step as Step

if TYPE_CHECKING:
    from deepgraph import check as check
    from deepgraph import data as data
    from deepgraph import debug as debug
    from deepgraph import io as io
    from deepgraph import nn as nn
    from deepgraph import optim as optim
    from deepgraph import show as show
    from deepgraph import training as training
else:
    _OWN = ("compile", "config", "dim", "emit", "grad", "op")
    _LATER = ("check", "data", "debug", "io", "nn", "optim", "show", "training")

    def __getattr__(name: str) -> Any:
        """`dg.nn` and its like, imported when they are first asked for."""
        if name in _LATER:
            return importlib.import_module(f"deepgraph.{name}")
        raise AttributeError(f"module 'deepgraph' has no attribute {name!r}")

    def _is_ours(value: object) -> bool:
        return isinstance(value, type) and value.__module__.startswith("deepgraph.")

    __all__ = sorted({
        *namespace.__all__, *ops.__all__, *_LATER,
        *(k for k, v in globals().items() if k in _OWN or _is_ours(v)),
    })  # fmt: skip

    def __dir__() -> list[str]:
        return sorted([*__all__, "__version__"])


logging.getLogger("deepgraph").addHandler(logging.NullHandler())  # who uses it says where to

__version__ = "0.1.0"
