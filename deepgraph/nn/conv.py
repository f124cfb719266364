"""Convolution of images."""

from __future__ import annotations

from typing import Any

from deepgraph import ops
from deepgraph.arguments import whole
from deepgraph.dims import pretty
from deepgraph.errors import ShapeError
from deepgraph.expr import Expr
from deepgraph.nn.init import constant, glorot_uniform
from deepgraph.nn.module import Init, Module, initialiser
from deepgraph.ops.window import pair
from deepgraph.parameter import Parameter


class Conv2D(Module):
    """`dg.conv2d` with learned weights (filters, channels / groups, rows, columns) and a bias.

    `kernel`, `stride` and `dilation` are one number or one for rows and one for columns; `padding`
    is "valid", "same", "full" or numbers; all as for `dg.conv2d`. `init` draws the weights, and
    `bias` may be False, or say how the bias (filters,) starts.
    """

    weight: Parameter
    bias: Parameter

    def __init__(
        self, filters: int, kernel: int | tuple[int, int], *,
        stride: int | tuple[int, int] = 1, padding: Any = "valid",
        dilation: int | tuple[int, int] = 1, groups: int = 1,
        bias: bool | Init = True, init: Init = glorot_uniform,
    ) -> None:  # fmt: skip
        self.filters = whole("filters", filters)
        self.kernel = pair(kernel, "kernel")
        for name, given in (("stride", stride), ("dilation", dilation)):
            pair(given, name)
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.groups = whole("groups", groups)
        self.weight_init = initialiser("init", init)
        self.bias_init = initialiser("bias", constant if bias is True else bias)

    def forward(self, x: Expr) -> Expr:
        """(batch, channels, height, width) to (batch, filters, ...)."""
        if x.ndim != 4:
            raise ShapeError(
                f"needs images (batch, channel, height, width): got {pretty(x.shape)}"
            )  # fmt: skip
        shape = (self.filters, x.shape[1] // self.groups, *self.kernel)
        weight = self.parameter("weight", shape, self.weight_init, x.dtype)
        y = ops.conv2d(
            x, weight, stride=self.stride, padding=self.padding, dilation=self.dilation,
            groups=self.groups,
        )  # fmt: skip
        if self.bias_init is False:
            return y
        bias = self.parameter("bias", (self.filters,), self.bias_init, x.dtype)
        return y + ops.expand_dims(bias, (1, 2))
