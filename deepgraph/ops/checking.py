"""Values that are checked when a step runs."""

from __future__ import annotations

from deepgraph.dims import Size, pretty, same
from deepgraph.errors import DTypeError, ShapeError
from deepgraph.expr import Example, Expr, Kind, Need, Type, op
from deepgraph.ops.rules import many_axes
from deepgraph.ops.source import as_shape


@op(
    Kind.CALL, internal=True, refuses=True, numpy="lib.check_index({0}, {n}, {out}, {what})",
    examples=(Example(((3, 4),), {"n": 10}),),
)  # fmt: skip
def check_index(x: Expr, n: Size, what: str = "index") -> Type:
    """x itself, whole numbers; IndexError, when a step runs, unless all of them are in [0, n).

    `what` is what the error calls one of them.
    """
    if x.dtype.kind not in "iu":
        raise DTypeError(f"indices are whole numbers: got {x}; write .astype('int64')")
    return Type(x.shape, x.dtype, {"n": as_shape(n)[0], "what": str(what)})


def _elements_needed(node: Expr) -> list[Need]:
    (x,) = node.inputs
    text = f"no elements along axis {{}} of {pretty(x.shape)}"
    return [
        Need(x.shape[a] - 1, text.format(a), ShapeError, node.attr("by")) for a in node.attr("axis")
    ]


@op(
    Kind.VIEW, internal=True, numpy="{0}", view=lambda at, node: at, flops=0,
    needs=_elements_needed,
    grad=lambda g, y, x, axis, by: (g,), examples=(Example(((3, 4),), {"axis": (0, 1)}),),
)  # fmt: skip
def check_elements(x: Expr, axis: tuple[int, ...], by: str = "check_elements") -> Type:
    """x itself; ShapeError, when sizes are bound or before, if it has no elements along an axis.

    `by` is who the error says needs them.
    """
    axes = many_axes(axis, x.ndim)
    for a in axes:
        if same(x.shape[a], 0):
            raise ShapeError(f"no elements along axis {a} of {pretty(x.shape)}")
    return Type(x.shape, x.dtype, {"axis": axes, "by": str(by)})
