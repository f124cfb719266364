"""The nets that `train` knows by name, for images of shape (channels, height, width)."""

from __future__ import annotations

from collections.abc import Callable

from deepgraph import nn


def small(classes: int) -> list[nn.Layer]:
    """Two 3x3 convolutions of 16 and 32 filters: for 8x8 images."""
    return [
        nn.Conv2D(16, 3, padding="same"), nn.relu, nn.MaxPool2D(2),
        nn.Conv2D(32, 3, padding="same"), nn.relu, nn.MaxPool2D(2),
        nn.Flatten(), nn.Dense(classes),
    ]  # fmt: skip


def lenet(classes: int) -> list[nn.Layer]:
    """LeNet-5 with relu and max-pooling: for 28x28 images.

    Y. LeCun et al.: Gradient-based learning applied to document recognition, 1998.
    """
    return [
        nn.Conv2D(6, 5), nn.relu, nn.MaxPool2D(2),
        nn.Conv2D(16, 5), nn.relu, nn.MaxPool2D(2),
        nn.Flatten(), nn.Dense(120), nn.relu, nn.Dense(84), nn.relu, nn.Dense(classes),
    ]  # fmt: skip


def wide(classes: int) -> list[nn.Layer]:
    """Two 3x3 convolutions of 64 and 128 filters and a layer of 1024: for 32x32 images."""
    return [
        nn.Conv2D(64, 3), nn.relu, nn.MaxPool2D(2),
        nn.Conv2D(128, 3), nn.relu, nn.MaxPool2D(2),
        nn.Flatten(), nn.Dense(1024), nn.relu, nn.Dense(classes),
    ]  # fmt: skip


def mlp(classes: int) -> list[nn.Layer]:
    """Dense layers of 512 and 256: for images of any size."""
    return [
        nn.Flatten(), nn.Dense(512), nn.relu, nn.Dense(256), nn.relu, nn.Dense(classes)
    ]  # fmt: skip


NETS: dict[str, Callable[[int], list[nn.Layer]]] = {
    "small": small, "lenet": lenet, "wide": wide, "mlp": mlp
}  # fmt: skip
