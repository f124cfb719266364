"""Values that are checked when a step runs."""

from __future__ import annotations

from deepgraph.dims import Size
from deepgraph.errors import DTypeError
from deepgraph.expr import Example, Expr, Kind, Type, op
from deepgraph.ops.source import as_shape


@op(
    Kind.CALL, numpy="lib.check_index({0}, {n}, {out})",
    examples=(Example(((3, 4),), {"n": 10}),),
)  # fmt: skip
def check_index(x: Expr, n: Size) -> Type:
    """x itself, whole numbers; IndexError, when a step runs, unless all of them are in [0, n)."""
    if x.dtype.kind not in "iu":
        raise DTypeError(f"indices are whole numbers: got {x}; write .astype('int64')")
    return Type(x.shape, x.dtype, {"n": as_shape(n)[0]})
