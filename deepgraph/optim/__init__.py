"""Optimisers: from a loss and parameters to updates that a compiled step makes.

::

    opt = optim.SGD(lr=0.05, momentum=0.9)
    step = dg.compile({"loss": loss}, updates=opt.updates(loss, model.parameters))
    opt.lr = 0.01                                                    # no recompilation
"""

from __future__ import annotations

from deepgraph.optim.clip import clip_norm, clip_value, global_norm
from deepgraph.optim.optimizer import Optimizer
from deepgraph.optim.rules import SGD, Adagrad, Adam, AdamW, RMSProp
from deepgraph.optim.schedule import cosine, exponential_decay, linear_warmup, step_decay

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Optimizer",
    "RMSProp",
    "clip_norm",
    "clip_value",
    "cosine",
    "exponential_decay",
    "global_norm",
    "linear_warmup",
    "step_decay",
]
