"""Layers one after another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, overload

from deepgraph.arguments import whole
from deepgraph.errors import ArgumentError
from deepgraph.expr import Expr
from deepgraph.nn.module import Module

Layer = Callable[..., Expr]


class Sequential(Module):
    """Each layer, or function such as `dg.relu`, applied to what the one before it gives.

    Layers are called `0`, `1`, ..., functions counted too, after `name` if there is one. A
    function that takes `training` gets it. Weights are drawn from `seed`, at the first call.
    """

    def __init__(self, *layers: Layer, seed: int | None = 0, name: str = "") -> None:
        for layer in layers:
            if isinstance(layer, type) or not callable(layer):
                made = f"; write {layer.__name__}(...)" if isinstance(layer, type) else ""
                made = "; write Sequential(*layers)" if isinstance(layer, list | tuple) else made
                raise ArgumentError(f"a layer is called on an expression: got {layer!r}{made}")
        if seed is not None:
            whole("seed", seed, 0)
        if not isinstance(name, str):
            raise ArgumentError(f"name is a text: got {name!r}")
        self.layers = layers
        self.seed = seed
        self.name = name

    def forward(self, x: Expr, training: bool) -> Expr:
        """The last layer's value."""
        for layer in self.layers:
            takes = not isinstance(layer, Module) and _takes_training(layer)
            x = layer(x, training=training) if takes else layer(x)
        return x

    def members(self) -> Iterator[tuple[str, Any]]:
        """The layers by number."""
        return ((str(k), layer) for k, layer in enumerate(self.layers))

    def __len__(self) -> int:
        return len(self.layers)

    @overload
    def __getitem__(self, index: int) -> Layer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Layer | Sequential:
        """A layer, or a Sequential that shares the layers of a slice."""
        if isinstance(index, slice):
            return Sequential(*self.layers[index], seed=self.seed, name=self.name)
        return self.layers[index]


def _takes_training(function: Layer) -> bool:
    try:
        return "training" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # built into Python, and without a signature
        return False
