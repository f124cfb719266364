"""Nets that several tests build."""

from __future__ import annotations

from collections.abc import Sequence

import deepgraph as dg
from deepgraph import nn
from deepgraph.expr import Expr


def mlp(*sizes: int, seed: int = 0) -> nn.Sequential:
    """Dense layers of these sizes with relu between them."""
    layers: list[nn.Layer] = []
    for size in sizes:
        layers += [nn.Dense(size), nn.relu]
    return nn.Sequential(*layers[:-1], seed=seed)


def lenet(classes: int = 10, seed: int = 0) -> nn.Sequential:
    """LeCun et al. 1998, in the form in which it is built today."""
    return nn.Sequential(
        nn.Conv2D(6, 5), nn.relu, nn.MaxPool2D(2),
        nn.Conv2D(16, 5), nn.relu, nn.MaxPool2D(2),
        nn.Flatten(), nn.Dense(120), nn.relu, nn.Dense(84), nn.relu, nn.Dense(classes),
        seed=seed,
    )  # fmt: skip


class BasicBlock(nn.Module):
    """Two convolutions, and a way past them."""

    def __init__(self, filters: int, stride: int, widens: bool) -> None:
        self.conv1 = nn.Conv2D(filters, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm()
        self.conv2 = nn.Conv2D(filters, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm()
        self.downsample = (
            nn.Sequential(nn.Conv2D(filters, 1, stride=stride, bias=False), nn.BatchNorm())
            if widens else None
        )  # fmt: skip

    def forward(self, x: Expr) -> Expr:
        y = nn.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return nn.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """He et al. 2016, with torchvision's layout and names; ResNet-18 by default."""

    def __init__(self, blocks: Sequence[int] = (2, 2, 2, 2), classes: int = 1000) -> None:
        self.conv1 = nn.Conv2D(64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm()
        for stage, count in enumerate(blocks):
            first = [BasicBlock(64 << stage, 1 if stage == 0 else 2, widens=stage > 0)]
            rest = [BasicBlock(64 << stage, 1, widens=False) for _ in range(count - 1)]
            setattr(self, f"layer{stage + 1}", nn.Sequential(*first, *rest))
        self.stages = len(blocks)
        self.fc = nn.Dense(classes)

    def forward(self, x: Expr) -> Expr:
        x = nn.relu(self.bn1(self.conv1(x)))
        x = dg.max_pool2d(x, 3, stride=2, padding=1)
        for stage in range(self.stages):
            x = getattr(self, f"layer{stage + 1}")(x)
        return self.fc(dg.mean(x, axis=(2, 3)))
