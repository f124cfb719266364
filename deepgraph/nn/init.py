"""Initial weights: functions of a shape and a random generator, giving an array.

A matrix maps (in, out); weights of a convolution are (out, in, *window). Options go by keyword:
`functools.partial(init.normal, std=0.02)`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.dims import pretty
from deepgraph.errors import ShapeError

Array = npt.NDArray[Any]
Shape = tuple[int, ...]


def fans(shape: Shape) -> tuple[int, int]:
    """How many inputs a sum of weights has, and how many sums an input enters.

    >>> fans((784, 10)), fans((16, 6, 5, 5))
    ((784, 10), (150, 400))
    """
    if len(shape) < 2:
        raise ShapeError(f"only a matrix or a convolution has fans: got shape {pretty(shape)}")
    if len(shape) == 2:
        return shape
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def constant(shape: Shape, rng: np.random.Generator, value: float = 0.0) -> Array:
    """`value` everywhere."""
    return np.full(shape, value)


def uniform(
    shape: Shape, rng: np.random.Generator, low: float = -0.05, high: float = 0.05
) -> Array:
    """Uniform in [low, high)."""
    return rng.uniform(low, high, shape)


def normal(shape: Shape, rng: np.random.Generator, mean: float = 0.0, std: float = 0.05) -> Array:
    """Normal of this mean and standard deviation."""
    return rng.normal(mean, std, shape)


def orthogonal(shape: Shape, rng: np.random.Generator, gain: float = 1.0) -> Array:
    """A random matrix with orthonormal rows or columns, whichever are fewer, times `gain`.

    All such matrices are alike probable. The first axis counts the rows, the others the columns.
    A. Saxe, J. McClelland, S. Ganguli: Exact solutions to the nonlinear dynamics of learning in
    deep linear neural networks, ICLR 2014.
    """
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
    q *= np.sign(np.diag(r))  # or the distribution is not uniform (Mezzadri 2007)
    return gain * (q if rows >= columns else q.T).reshape(shape)


def glorot_uniform(shape: Shape, rng: np.random.Generator, gain: float = 1.0) -> Array:
    """Uniform of variance gain**2 * 2 / (fan_in + fan_out).

    X. Glorot, Y. Bengio: Understanding the difficulty of training deep feedforward neural
    networks, AISTATS 2010; for tanh and linear layers.
    """
    return _uniform(shape, rng, gain * math.sqrt(2 / sum(fans(shape))))


def glorot_normal(shape: Shape, rng: np.random.Generator, gain: float = 1.0) -> Array:
    """Normal of variance gain**2 * 2 / (fan_in + fan_out); see `glorot_uniform`."""
    return rng.normal(0, gain * math.sqrt(2 / sum(fans(shape))), shape)


def he_uniform(shape: Shape, rng: np.random.Generator, gain: float = 1.0) -> Array:
    """Uniform of variance gain**2 * 2 / fan_in.

    K. He, X. Zhang, S. Ren, J. Sun: Delving deep into rectifiers, ICCV 2015; for relu.
    """
    return _uniform(shape, rng, gain * math.sqrt(2 / fans(shape)[0]))


def he_normal(shape: Shape, rng: np.random.Generator, gain: float = 1.0) -> Array:
    """Normal of variance gain**2 * 2 / fan_in; see `he_uniform`."""
    return rng.normal(0, gain * math.sqrt(2 / fans(shape)[0]), shape)


def lecun_uniform(shape: Shape, rng: np.random.Generator, gain: float = 1.0) -> Array:
    """Uniform of variance gain**2 / fan_in.

    Y. LeCun, L. Bottou, G. Orr, K.-R. Müller: Efficient backprop, 1998; for selu too.
    """
    return _uniform(shape, rng, gain / math.sqrt(fans(shape)[0]))


def lecun_normal(shape: Shape, rng: np.random.Generator, gain: float = 1.0) -> Array:
    """Normal of variance gain**2 / fan_in; see `lecun_uniform`."""
    return rng.normal(0, gain / math.sqrt(fans(shape)[0]), shape)


def _uniform(shape: Shape, rng: np.random.Generator, std: float) -> Array:
    bound = math.sqrt(3) * std
    return rng.uniform(-bound, bound, shape)
