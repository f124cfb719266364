"""Gradients kept from growing too large."""

from __future__ import annotations

from collections.abc import Sequence

from deepgraph import ops
from deepgraph.dtypes import accumulator, promote
from deepgraph.expr import Expr


def global_norm(gradients: Sequence[Expr]) -> Expr:
    """The root of the sum of the squares of all elements of all gradients."""
    wide = promote(*(accumulator(g.dtype) for g in gradients))
    squares = [ops.sum(ops.square(g.astype(wide) if g.dtype != wide else g)) for g in gradients]
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    return ops.sqrt(total)


def clip_norm(gradients: Sequence[Expr], limit: float) -> list[Expr]:
    """All gradients times min(1, limit / (norm + 1e-6)), their common norm being `global_norm`.

    R. Pascanu, T. Mikolov, Y. Bengio: On the difficulty of training recurrent neural networks,
    ICML 2013.
    """
    scale = ops.minimum(limit / (global_norm(gradients) + 1e-6), 1)
    return [g * (scale.astype(g.dtype) if scale.dtype != g.dtype else scale) for g in gradients]


def clip_value(gradients: Sequence[Expr], limit: float) -> list[Expr]:
    """Each element of each gradient brought into [-limit, limit]."""
    return [ops.clip(g, -limit, limit) for g in gradients]
