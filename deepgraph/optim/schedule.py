"""Learning rates that change with the number of steps taken, as expressions of `opt.iteration`.

::

    opt = optim.Adam(lr=lambda t: optim.linear_warmup(t, optim.cosine(t, 1e-3, 10_000), 500))
"""

from __future__ import annotations

import math

from deepgraph import ops
from deepgraph.expr import Expr


def exponential_decay(iteration: Expr, start: float, factor: float, steps: int = 1) -> Expr:
    """start * factor**(iteration / steps)."""
    return start * factor ** (_float(iteration) / steps)


def step_decay(iteration: Expr, start: float, factor: float, steps: int) -> Expr:
    """start * factor**(iteration // steps): the same for `steps` steps, then less at once."""
    return start * factor ** _float(iteration // steps)


def cosine(iteration: Expr, start: float, steps: int, stop: float = 0.0) -> Expr:
    """From `start` to `stop` in half a wave over `steps` steps, and `stop` ever after.

    I. Loshchilov, F. Hutter: SGDR, ICLR 2017.
    """
    turn = math.pi / steps * ops.minimum(_float(iteration), steps)
    return stop + (start - stop) / 2 * (1 + ops.cos(turn))


def linear_warmup(iteration: Expr, rate: float | Expr, steps: int) -> Expr:
    """rate * min(1, (iteration + 1) / steps): up to a rate, or to another schedule."""
    return rate * ops.minimum(_float(iteration + 1) / steps, 1)


def _float(iteration: Expr) -> Expr:
    return iteration.astype("float64")
