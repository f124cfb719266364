"""What NumPy itself lacks, or does slowly: functions that generated code calls as `lib.name`."""

from __future__ import annotations

from deepgraph.backends.checking import bad_value, check_index
from deepgraph.backends.convolution import conv2d, conv2d_input_grad, conv2d_weight_grad
from deepgraph.backends.elementwise import erf, where
from deepgraph.backends.indexing import bad_index, flat_index, scatter_add, take
from deepgraph.backends.philox import philox_bits, philox_normal, philox_uniform
from deepgraph.backends.pooling import (
    avg_pool2d,
    avg_pool2d_grad,
    max_pool2d,
    max_pool2d_grad,
    max_pool2d_jvp,
)
from deepgraph.backends.printing import print_values
from deepgraph.backends.shaping import (
    accumulate,
    argsort,
    linear_recurrence,
    pad,
    unwindows,
    windows,
)

__all__ = [
    "accumulate",
    "argsort",
    "avg_pool2d",
    "avg_pool2d_grad",
    "bad_index",
    "bad_value",
    "check_index",
    "conv2d",
    "conv2d_input_grad",
    "conv2d_weight_grad",
    "erf",
    "flat_index",
    "linear_recurrence",
    "max_pool2d",
    "max_pool2d_grad",
    "max_pool2d_jvp",
    "pad",
    "philox_bits",
    "philox_normal",
    "philox_uniform",
    "print_values",
    "scatter_add",
    "take",
    "unwindows",
    "where",
    "windows",
]
