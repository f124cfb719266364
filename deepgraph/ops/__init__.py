"""Every operation, one record each; and what is composed of them."""

# ruff: noqa: F403
from __future__ import annotations

from typing import TYPE_CHECKING

from deepgraph.expr import FUNCTIONS
from deepgraph.ops.activation import *
from deepgraph.ops.arithmetic import *
from deepgraph.ops.attach import *
from deepgraph.ops.checking import *
from deepgraph.ops.comparison import *
from deepgraph.ops.convolution import *
from deepgraph.ops.creation import *
from deepgraph.ops.custom import *
from deepgraph.ops.einsum import *
from deepgraph.ops.exponential import *
from deepgraph.ops.index import *
from deepgraph.ops.join import *
from deepgraph.ops.linalg import *
from deepgraph.ops.pooling import *
from deepgraph.ops.printing import *
from deepgraph.ops.random import *
from deepgraph.ops.reduce import *
from deepgraph.ops.scan import *
from deepgraph.ops.selection import *
from deepgraph.ops.shape import *
from deepgraph.ops.slicing import *
from deepgraph.ops.sliding import *
from deepgraph.ops.sorting import *
from deepgraph.ops.source import *
from deepgraph.ops.trigonometric import *

if not TYPE_CHECKING:  # a checker reads the names above, and would take a computed list for none
    globals().update(FUNCTIONS)  # aliases too
    __all__ = sorted(k for k, f in FUNCTIONS.items() if not getattr(f, "internal", False))
