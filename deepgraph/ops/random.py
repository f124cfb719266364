"""Random draws: pure functions of a step's key, of a counter that each call advances, and of an id.

The id is the draw's own from its declaration on, so two draws never merge, while any copy or
recomputation of one gives the same bits. Every backend generates with Philox4x32-10 (Salmon,
Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from deepgraph.dims import Shape, minimum, pretty, same_shape
from deepgraph.dtypes import DType, as_dtype, is_float
from deepgraph.errors import DTypeError, GraphError, ShapeError
from deepgraph.expr import FUNCTIONS, Expr, Kind, Type, composition, lift, op
from deepgraph.ops.source import as_shape

_UINT64 = np.dtype(np.uint64)
_BLOCKS = 8192  # of 128 bits, made at a time
_ids = itertools.count()


@op(Kind.SOURCE, internal=True)
def random_key() -> Type:
    """The key of a step's draws, uint64: `compile(..., seed=)` puts the seed in its place."""
    return Type((), _UINT64)


@op(Kind.SOURCE, internal=True)
def random_counter() -> Type:
    """How often a step was called, uint64: `compile` puts a parameter in its place."""
    return Type((), _UINT64)


def _checked(key: Expr, counter: Expr, id: int, shape: Any) -> Shape:
    for x in (key, counter):
        if x.shape != () or x.dtype != _UINT64:
            raise DTypeError(f"key and counter are uint64 numbers: got {x}")
    if not 0 <= id < 1 << 32:
        raise GraphError(f"an id has 32 bits: got {id}")
    return as_shape(shape)


def _float_dtype(dtype: Any) -> DType:
    found = as_dtype(dtype)
    if not is_float(found):
        raise DTypeError(f"draws floats: got {found.name}")
    return found


def _scratch(node: Expr) -> list[Type]:
    """Room for as many blocks as are made at a time, or fewer if all of them are fewer."""
    per = 128 // _bits(node.dtype)
    return [Type((4, minimum((node.size + per - 1) // per, _BLOCKS)), _UINT64)]


def _bits(dtype: DType) -> int:
    return 64 if dtype.itemsize == 8 else 32


@op(
    Kind.CALL, internal=True, scratch=_scratch, flops=25,
    numpy="lib.philox_bits({0}, {1}, {id}, {out}, {tmp0})",
)  # fmt: skip
def philox_bits(key: Expr, counter: Expr, id: int, shape: Shape) -> Type:
    """32 random bits an element, uint32: the words of Philox4x32-10, in row-major order.

    Element i is word i mod 4 of the block whose counter words are (i // 4, id, counter mod 2**32,
    counter // 2**32), under the key words (key mod 2**32, key // 2**32).
    """
    sizes = _checked(key, counter, id, shape)
    return Type(sizes, np.dtype(np.uint32), {"shape": sizes})


@op(
    Kind.CALL, internal=True, scratch=_scratch, flops=25,
    numpy="lib.philox_uniform({0}, {1}, {id}, {dtype}, {out}, {tmp0})",
)  # fmt: skip
def philox_uniform(
    key: Expr, counter: Expr, id: int, shape: Shape, dtype: Any = "float32"
) -> Type:  # fmt: skip
    """Multiples of 2**-p in [0, 1), p being the precision of the dtype; exact on every backend.

    Element i is word w of `philox_bits` cut to its leading p bits: 24 for float32, 11 for float16,
    8 for bfloat16. For float64 it is the leading 53 bits of words 2*i (in front) and 2*i + 1.
    """
    sizes, found = _checked(key, counter, id, shape), _float_dtype(dtype)
    return Type(sizes, found, {"shape": sizes, "dtype": found})


@op(
    Kind.CALL, internal=True, scratch=_scratch, flops=45,
    numpy="lib.philox_normal({0}, {1}, {id}, {dtype}, {out}, {tmp0})",
)  # fmt: skip
def philox_normal(
    key: Expr, counter: Expr, id: int, shape: Shape, dtype: Any = "float32"
) -> Type:  # fmt: skip
    """Standard normals in pairs by the method of Box and Muller (1958).

    Elements 2*i and 2*i + 1 are sqrt(-2 log u) times cos t and sin t, u = a * 2**-32 + 2**-33 and
    t = b * (2 pi * 2**-32) for words a = 2*i and b = 2*i + 1 of `philox_bits`, rounded to float32
    at each step. For float64, a and b are the leading 53 bits of two words each, and 53 and 54
    stand for 32 and 33. So backends agree on u and t, and then each is within 4 units in the last
    place of the exact result.
    """
    sizes, found = _checked(key, counter, id, shape), _float_dtype(dtype)
    return Type(sizes, found, {"shape": sizes, "dtype": found})


@composition
def uniform(shape: Any, low: Any = 0.0, high: Any = 1.0, dtype: Any = "float32") -> Expr:
    """Uniform draws from [low, high), new ones at each call of a step.

    `low` and `high` are numbers, or expressions that broadcast to `shape`. What is drawn in [0, 1)
    has the dtype's full precision; scaling may round it up to `high` itself.
    """
    draw = philox_uniform(random_key(), random_counter(), next(_ids), shape, dtype)
    return _scaled(draw, high if _is(low, 0) else high - low, low)


@composition
def normal(shape: Any, loc: Any = 0.0, scale: Any = 1.0, dtype: Any = "float32") -> Expr:
    """Normal draws of mean `loc` and standard deviation `scale`, new ones at each call of a step.

    `loc` and `scale` are numbers, or expressions that broadcast to `shape`.
    """
    draw = philox_normal(random_key(), random_counter(), next(_ids), shape, dtype)
    return _scaled(draw, scale, loc)


@composition
def bernoulli(p: Any, shape: Any = None, dtype: Any = "bool") -> Expr:
    """True with probability `p`, new draws at each call of a step.

    `p` is a number or an expression that broadcasts to `shape`, which is p's own if not given.
    """
    (chance,) = lift([p])
    draw = uniform(chance.shape if shape is None else shape)
    hit = draw < chance
    return _fitting(hit, draw).astype(dtype)


@composition
def dropout(x: Expr, rate: float, *, training: bool) -> Expr:
    """Each element 0 with probability `rate`, else divided by 1 - rate; x itself if not training.

    The mask is drawn anew at each call of a step, and gradients pass through the same mask
    (Srivastava et al., JMLR 2014, scaled in training so that evaluation needs nothing).
    """
    if not 0 <= rate < 1:
        raise GraphError(f"rate is a number in [0, 1): got {rate}")
    if not is_float(x.dtype):
        raise DTypeError(f"drops floats: got {x}; use .astype")
    if not training or rate == 0:
        return x
    return FUNCTIONS["where"](uniform(x.shape) >= rate, x * (1 / (1 - rate)), 0.0)


def _is(value: Any, number: int) -> bool:
    return isinstance(value, int | float) and value == number


def _scaled(draw: Expr, scale: Any, shift: Any) -> Expr:
    out = draw if _is(scale, 1) else draw * scale
    return _fitting(out if _is(shift, 0) else out + shift, draw)


def _fitting(out: Expr, draw: Expr) -> Expr:
    """Refuse operands wider than the draw: their elements would share its randomness."""
    if not same_shape(out.shape, draw.shape):
        shapes = f"{pretty(out.shape)} and {pretty(draw.shape)}"
        raise ShapeError(f"operands are wider than the draws: {shapes}; give shape=")
    return out
