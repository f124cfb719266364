"""Layers, initial weights and losses, as functions of expressions.

::

    model = nn.Sequential(nn.Dense(100), nn.relu, nn.Dense(10))
    logits = model(x, training=True)       # model(x) evaluates, with the same weights
    loss = nn.softmax_cross_entropy(logits, t)
"""

from __future__ import annotations

from deepgraph.nn import init
from deepgraph.nn.conv import Conv2D
from deepgraph.nn.dense import Dense, dense
from deepgraph.nn.dropout import Dropout, SpatialDropout
from deepgraph.nn.embedding import Embedding
from deepgraph.nn.flatten import Flatten
from deepgraph.nn.loss import (
    accuracy,
    huber,
    l1_loss,
    mean_absolute_error,
    mean_squared_error,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
)
from deepgraph.nn.module import Module
from deepgraph.nn.norm import BatchNorm, LayerNorm, layer_norm
from deepgraph.nn.pool import AvgPool2D, GlobalAvgPool2D, MaxPool2D
from deepgraph.nn.prelu import PReLU
from deepgraph.nn.sequential import Layer, Sequential
from deepgraph.ops import (
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)

__all__ = [
    "AvgPool2D",
    "BatchNorm",
    "Conv2D",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GlobalAvgPool2D",
    "Layer",
    "LayerNorm",
    "MaxPool2D",
    "Module",
    "PReLU",
    "Sequential",
    "SpatialDropout",
    "accuracy",
    "dense",
    "gelu",
    "huber",
    "init",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "mean_absolute_error",
    "mean_squared_error",
    "relu",
    "sigmoid",
    "sigmoid_cross_entropy",
    "silu",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "tanh",
]
