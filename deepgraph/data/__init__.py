"""Data sets, batches and loading.

::

    from deepgraph import data

    train, test = data.mnist()                       # data.digits() needs no file and no network
    for epoch in range(10):
        for x, t in train.batches(64, shuffle=True, seed=(0, epoch)):
            ...
"""

from __future__ import annotations

from deepgraph.data.batch import Batches, batches
from deepgraph.data.cifar import cifar10
from deepgraph.data.dataset import Dataset
from deepgraph.data.errors import DataError, MissingDataError
from deepgraph.data.idx_sets import fashion_mnist, mnist
from deepgraph.data.loader import Loader
from deepgraph.data.optdigits import digits
from deepgraph.data.scaler import Scaler

__all__ = [
    "Batches",
    "DataError",
    "Dataset",
    "Loader",
    "MissingDataError",
    "Scaler",
    "batches",
    "cifar10",
    "digits",
    "fashion_mnist",
    "mnist",
]
