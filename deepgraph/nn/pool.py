"""Pooling of images."""

from __future__ import annotations

from typing import Any

from deepgraph import ops
from deepgraph.expr import Expr
from deepgraph.nn.module import Module
from deepgraph.ops.window import pair

Pair = int | tuple[int, int]


class MaxPool2D(Module):
    """`dg.max_pool2d`: the greatest of each window; `stride` is that of a window if not given."""

    def __init__(self, window: Pair, *, stride: Pair | None = None, padding: Any = "valid") -> None:
        self.window = pair(window, "window")
        self.stride = stride if stride is None else pair(stride, "stride")
        self.padding = padding

    def forward(self, x: Expr) -> Expr:
        """(batch, channels, height, width) to (batch, channels, fewer, fewer)."""
        return ops.max_pool2d(x, self.window, self.stride, self.padding)


class AvgPool2D(Module):
    """`dg.avg_pool2d`: the mean of each window; padding counts only with `count_include_pad`."""

    def __init__(
        self, window: Pair, *, stride: Pair | None = None, padding: Any = "valid",
        count_include_pad: bool = False,
    ) -> None:  # fmt: skip
        self.window = pair(window, "window")
        self.stride = stride if stride is None else pair(stride, "stride")
        self.padding, self.count_include_pad = padding, count_include_pad

    def forward(self, x: Expr) -> Expr:
        """(batch, channels, height, width) to (batch, channels, fewer, fewer)."""
        return ops.avg_pool2d(x, self.window, self.stride, self.padding, self.count_include_pad)


class GlobalAvgPool2D(Module):
    """The mean of each channel."""

    def forward(self, x: Expr) -> Expr:
        """(batch, channels, height, width) to (batch, channels)."""
        return ops.mean(x, axis=(2, 3))
