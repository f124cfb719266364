"""Training steps by hand in NumPy, as careful as one writes them: `out=`, no temporaries.

Convolution copies windows into columns and multiplies matrices, in one of three memory orders of
images; gradients of pooling go to the first greatest of a window. Every array has the axes (batch,
channel, height, width) and lies in memory as the layout says, so that only products differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.nets import MOMENTUM, RATE, Array, Work

LAYOUTS = {"nchw": (0, 1, 2, 3), "nhwc": (0, 2, 3, 1), "chwn": (1, 2, 3, 0)}
COLUMNS = {"nchw": (0, 1, 2, 3, 4, 5), "nhwc": (0, 4, 5, 2, 3, 1), "chwn": (1, 2, 3, 4, 5, 0)}


class HandWritten:
    """A training step: called on a batch, it updates its weights and gives the loss before."""

    def __init__(self, work: Work, layout: str) -> None:
        net = work.net
        weights = iter([w.copy() for w in work.weights])
        pairs = list(zip(weights, weights, strict=True))
        self.layout = layout
        self.image = empty(LAYOUTS[layout], work.x.shape) if net.convs else work.x
        self.convs: list[Conv] = []
        seen = self.image
        for k, conv in enumerate(net.convs):
            self.convs.append(Conv(layout, *pairs[k], seen, conv.pooled))
            seen = self.convs[-1].y
        if layout == "nhwc" and net.convs:  # the order in which Dense finds the flattened image
            w, b = pairs[len(net.convs)]
            pixels = w.reshape(*seen.shape[1:], -1).transpose(1, 2, 0, 3)
            pairs[len(net.convs)] = pixels.reshape(w.shape).copy(), b
        self.dense = [Dense(w, b, net.batch) for w, b in pairs[len(net.convs) :]]
        self.dense[-1].relu = False
        if layout == "chwn":
            first = self.dense[0]
            first.dx = np.empty(first.dx.shape[::-1], np.float32).T
        self.rows = np.arange(net.batch)
        self.column = np.empty((net.batch, 1), np.float32)
        self.picked = np.empty(net.batch, np.float32)
        self.scores = self.dense[-1].y
        self.g = np.empty_like(self.scores)
        layers: list[Conv | Dense] = [*self.convs, *self.dense]
        self.state = [
            (p, np.zeros_like(p), g, np.empty_like(p))
            for layer in layers
            for p, g in ((layer.weight, layer.dw), (layer.bias, layer.db))
        ]

    def __call__(self, x: Array, t: Array) -> Any:
        """Forward, backward, update."""
        h = x
        if self.convs and self.layout != "nchw":
            np.copyto(self.image, x)
            h = self.image
        for conv in self.convs:
            h = conv.forward(h)
        h = self._flat(h)
        for dense in self.dense:
            h = dense.forward(h)
        loss, g = self._loss(t)
        for k in reversed(range(len(self.dense))):
            g = self.dense[k].backward(g, k > 0 or bool(self.convs))
        if self.convs:
            g = self._unflat(g, self.convs[-1].y)
        for k in reversed(range(len(self.convs))):
            g = self.convs[k].backward(g, k > 0)
        for p, v, grad, change in self.state:
            np.multiply(v, np.float32(MOMENTUM), out=v)
            np.add(v, grad, out=v)
            np.multiply(v, np.float32(RATE), out=change)
            np.subtract(p, change, out=p)
        return loss

    def _loss(self, t: Array) -> tuple[Any, Array]:
        """Softmax cross-entropy, and its gradient by the scores."""
        z, g, column = self.scores, self.g, self.column
        np.maximum.reduce(z, axis=1, keepdims=True, out=column)
        np.subtract(z, column, out=z)
        np.exp(z, out=g)
        np.add.reduce(g, axis=1, keepdims=True, out=column)
        np.divide(g, column, out=g)
        np.log(column[:, 0], out=self.picked)
        np.subtract(self.picked, z[self.rows, t], out=self.picked)
        g[self.rows, t] -= 1
        np.multiply(g, np.float32(1 / len(t)), out=g)
        return self.picked.mean(), g

    def _flat(self, h: Array) -> Array:
        if h.ndim == 2:
            return h
        memory = h.transpose(LAYOUTS[self.layout])
        n = len(h)
        return memory.reshape(-1, n).T if self.layout == "chwn" else memory.reshape(n, -1)

    def _unflat(self, g: Array, like: Array) -> Array:
        axes = LAYOUTS[self.layout]
        memory = g.T if self.layout == "chwn" else g
        return memory.reshape([like.shape[a] for a in axes]).transpose(np.argsort(axes))


class Dense:
    """A dense layer with relu, which writes into arrays of its own."""

    def __init__(self, weight: Array, bias: Array, batch: int) -> None:
        self.weight, self.bias, self.relu = weight, bias, True
        self.dw, self.db = np.empty_like(weight), np.empty_like(bias)
        self.y = np.empty((batch, weight.shape[1]), np.float32)
        self.dx = np.empty((batch, weight.shape[0]), np.float32)
        self.mask = np.empty(self.y.shape, bool)

    def forward(self, x: Array) -> Array:
        self.x = x
        np.matmul(x, self.weight, out=self.y)
        np.add(self.y, self.bias, out=self.y)
        return np.maximum(self.y, 0, out=self.y) if self.relu else self.y

    def backward(self, g: Array, onwards: bool) -> Array:
        if self.relu:
            masked(g, self.y, self.mask)
        np.matmul(self.x.T, g, out=self.dw)
        np.add.reduce(g, axis=0, out=self.db)
        return np.matmul(g, self.weight.T, out=self.dx) if onwards else g


class Conv:
    """A convolution with relu, as one product of matrices; pooled or not."""

    def __init__(self, layout: str, weight: Array, bias: Array, x: Array, pooled: bool) -> None:
        (n, c, height, width), (filters, _, k, _) = x.shape, weight.shape
        across = height - k + 1, width - k + 1
        self.weight = weight if layout != "nhwc" else weight.transpose(0, 2, 3, 1).copy()
        self.bias, self.across, self.batched = bias, across, layout == "nchw"
        self.dw, self.db = np.empty_like(self.weight), np.empty_like(bias)
        self.columns = empty(COLUMNS[layout], (n, c, k, k, *across))
        self.dcolumns = np.empty_like(self.columns)
        self.z = empty(LAYOUTS[layout], (n, filters, *across))
        self.mask = np.empty_like(self.z, bool)
        self.pool = Pool(layout, self.z) if pooled else None
        self.y = self.pool.y if self.pool else self.z
        self.dx = empty(LAYOUTS[layout], x.shape)
        self.taps = [
            (self.dx[:, :, i : i + across[0], j : j + across[1]], self.dcolumns[:, :, i, j])
            for i, j in np.ndindex(k, k)
        ]
        self.w2, self.dw2 = self.weight.reshape(filters, -1), self.dw.reshape(filters, -1)
        self.c2 = matrix(layout, self.columns, c * k * k)
        self.dc2 = matrix(layout, self.dcolumns, c * k * k)
        self.z2, self.layout = matrix(layout, self.z, filters), layout
        self.parts = np.empty((n, *self.dw2.shape), np.float32) if self.batched else self.dw2

    def forward(self, x: Array) -> Array:
        np.copyto(self.columns, sliding_window_view(x, self.across, (2, 3)))
        np.matmul(self.w2, self.c2, out=self.z2)
        np.add(self.z2, self.bias[:, None], out=self.z2)
        np.maximum(self.z, 0, out=self.z)
        return self.pool.forward() if self.pool else self.z

    def backward(self, g: Array, onwards: bool) -> Array:
        if self.pool:
            g = self.pool.backward(g)
        else:
            masked(g, self.z, self.mask)
        g2 = matrix(self.layout, g, len(self.bias))
        np.matmul(g2, self.c2.mT, out=self.parts)
        if self.batched:
            np.add.reduce(self.parts, axis=0, out=self.dw2)
        np.add.reduce(g2, axis=(0, 2) if self.batched else 1, out=self.db)
        if onwards:
            np.matmul(self.w2.T, g2, out=self.dc2)
            np.copyto(self.dx, 0)
            for part, more in self.taps:
                np.add(part, more, out=part)
        return self.dx


class Pool:
    """The greatest of each 2 by 2 window of what relu gave, by the four places in a window."""

    def __init__(self, layout: str, z: Array) -> None:
        n, c, height, width = z.shape
        self.dz = empty(LAYOUTS[layout], z.shape)
        corners = [(..., slice(i, None, 2), slice(j, None, 2)) for i, j in np.ndindex(2, 2)]
        self.places = [(z[at], self.dz[at]) for at in corners]
        self.y = empty(LAYOUTS[layout], (n, c, height // 2, width // 2))
        self.other, self.hit = np.empty_like(self.y), np.empty_like(self.y, bool)

    def forward(self) -> Array:
        a, b, c, d = (z for z, _ in self.places)
        np.maximum(a, b, out=self.y)
        np.maximum(c, d, out=self.other)
        return np.maximum(self.y, self.other, out=self.y)

    def backward(self, g: Array) -> Array:
        masked(g, self.y, self.hit)
        for z, dz in self.places:
            np.equal(z, self.y, out=self.hit)
            np.multiply(g, self.hit, out=dz)
            if z is not self.places[-1][0]:
                np.logical_not(self.hit, out=self.hit)
                np.multiply(g, self.hit, out=g)
        return self.dz


def empty(axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """An array of this shape whose axes lie in memory in this order."""
    return np.empty([shape[a] for a in axes], np.float32).transpose(np.argsort(axes))


def matrix(layout: str, x: Array, rows: int) -> Array:
    """Images or columns as a matrix (channels or taps, places), or one for each image in nchw."""
    memory = x.transpose((LAYOUTS if x.ndim == 4 else COLUMNS)[layout])
    if layout == "nhwc":
        return memory.reshape(-1, rows).T
    return memory.reshape(rows, -1) if layout == "chwn" else memory.reshape(len(x), rows, -1)


def masked(g: Array, y: Array, mask: Array) -> None:
    """The gradient of relu, in place, by its result."""
    np.greater(y, 0, out=mask)
    np.multiply(g, mask, out=g)
