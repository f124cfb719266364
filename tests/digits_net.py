"""A small net over a few digits with all that remembers: dropout, statistics, an optimiser."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import deepgraph as dg
from deepgraph import data, nn, optim
from deepgraph.ops import random


class Net:
    """The same each time it is made, as in a process of its own."""

    def __init__(self, backend: str = "numpy") -> None:
        random._ids = itertools.count()  # a process numbers its draws from 0
        train, test = data.digits()
        self.train, self.test = train.flat()[:100], test.flat()[:70]
        x = dg.placeholder("x", shape=("batch", 64))
        t = dg.placeholder("t", shape=("batch",), dtype="int64")
        self.model = nn.Sequential(
            nn.Dense(12), nn.BatchNorm(), dg.relu, nn.Dropout(0.2), nn.Dense(10), seed=0
        )
        logits = self.model(x, training=True)
        loss = nn.softmax_cross_entropy(logits, t)
        self.opt = optim.Adam(lr=0.02)
        self.step = dg.compile(
            {"loss": loss, "accuracy": nn.accuracy(logits, t)},
            updates=self.opt.updates(loss, self.model.parameters), backend=backend,
        )  # fmt: skip
        tested = self.model(x)
        self.evaluate = dg.compile(
            {"loss": nn.softmax_cross_entropy(tested, t), "accuracy": nn.accuracy(tested, t)},
            backend=backend,
        )

    @property
    def values(self) -> dict[str, Any]:
        """All that it remembers."""
        named = {**self.model.state, **self.opt.state, **self.step.state}
        return {name: p.value for name, p in named.items()}

    def equals(self, other: Net) -> bool:
        """Are both the same, bit for bit?"""
        mine, others = self.values, other.values
        assert mine.keys() == others.keys()
        return all(np.array_equal(mine[name], others[name]) for name in mine)
