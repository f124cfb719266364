"""Random words, uniforms and normals by NumPy: Philox4x32-10 (Salmon et al., SC 2011).

A draw is a pure function of key, counter and id, so any copy of it gives the same bits. Element i,
counted in row-major order whatever the memory order, is made from the block of four 32-bit words

    philox4x32(key, (i // per, id, counter's low half, counter's high half))

per = 4 where an element takes one word, 2 where it takes two (dtypes of 64 bits). Draws of another
id or counter share no block.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_M0, _M1 = np.array(0xD2511F53, np.uint64), np.array(0xCD9E8D57, np.uint64)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = 0xFFFFFFFF
_HALF = np.array(32, np.uint64)
_RAMP = np.arange(8192, dtype=np.uint64)  # as wide as temporaries get
_PRECISION = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def philox_bits(key: Array, counter: Array, id: int, out: Array, tmp: Array) -> None:
    """Fill `out` with words in order. `tmp`, here as below, is uint64: 4 rows, a column a block."""
    for rows, part in _blocks(key, counter, id, 4, out, tmp):
        first, second = _pairs(_words(rows), 32)
        _interleave(first, second, part)


def philox_uniform(key: Array, counter: Array, id: int, dtype: str, out: Array, tmp: Array) -> None:
    """Fill `out` with multiples of 2**-p in [0, 1): the leading p bits of a word, or of a pair."""
    bits, precision = 64 if dtype == "float64" else 32, _PRECISION[dtype]
    for rows, part in _blocks(key, counter, id, 128 // bits, out, tmp):
        words = _words(rows)
        first, second = _pairs(words, bits)
        whole = words if bits == 64 else words.view(np.uint32)
        np.right_shift(whole, whole.dtype.type(bits - precision), out=whole)
        signed = np.int64 if bits == 64 else np.int32  # these convert faster, and the top bit is 0
        _interleave(first.view(signed), second.view(signed), part)
        np.multiply(part, part.dtype.type(2.0**-precision), out=part)


def philox_normal(key: Array, counter: Array, id: int, dtype: str, out: Array, tmp: Array) -> None:
    """Fill `out` with standard normals (Box and Muller, 1958), two from each two words or pairs.

    They are sqrt(-2 log u) cos t and sqrt(-2 log u) sin t, where u = first * 2**-p + 2**-p / 2 and
    t = second * (2 pi * 2**-p), step by step in float32 with p = 32, or in float64 with p = 53.
    NumPy's float32 logarithm alone is 3.6 units off in the last place, so that one is float64.
    """
    bits = 64 if dtype == "float64" else 32
    real = np.float64 if bits == 64 else np.float32
    unit = 2.0**-53 if bits == 64 else 2.0**-32
    for rows, part in _blocks(key, counter, id, 128 // bits, out, tmp):
        words = _words(rows)
        first, second = _pairs(words, bits)
        if bits == 64:
            np.right_shift(words, np.uint64(11), out=words)
        radius, angle, wave, _ = rows.view(real)  # the words are spent when `wave` is written
        np.copyto(radius, first, casting="unsafe")
        np.copyto(angle, second, casting="unsafe")
        np.multiply(radius, real(unit), out=radius)
        np.add(radius, real(unit / 2), out=radius)
        np.log(radius, out=radius, dtype=np.float64, casting="same_kind")
        np.multiply(radius, real(-2), out=radius)
        np.sqrt(radius, out=radius)
        np.multiply(angle, real(2 * pi * unit), out=angle)
        np.cos(angle, out=wave)
        np.multiply(radius, wave, out=wave)
        np.sin(angle, out=angle)
        np.multiply(radius, angle, out=angle)
        _interleave(wave, angle, part)


def _words(rows: Array) -> Array:
    """Blocks in order: for each its words 0 and 1 as one, the former in front, then 2 and 3."""
    return rows[2:].reshape(-1)


def _pairs(words: Array, bits: int) -> tuple[Array, Array]:
    """Views of the even and the odd numbered words (bits = 32) or pairs of words (bits = 64)."""
    if bits == 64:
        return words[0::2], words[1::2]
    halves = words.view(np.uint32)
    return halves[1::2], halves[0::2]  # the word that comes first is the more significant


def _interleave(first: Array, second: Array, part: Array) -> None:
    np.copyto(part[0::2], first[: (part.size + 1) // 2], casting="unsafe")
    np.copyto(part[1::2], second[: part.size // 2], casting="unsafe")


def _blocks(
    key: Array, counter: Array, id: int, per: int, out: Array, tmp: Array
) -> Iterator[tuple[Array, Array]]:
    """Rows of `tmp` that hold words, and the part of `out`, one-dimensional, to be made of them."""
    blocks = -(-out.size // per)
    if blocks > 1 << 32:
        raise ValueError(f"a random draw has 2**32 blocks: got {out.size} elements")
    dense = out.flags.c_contiguous
    flat = out.reshape(-1) if dense else out.flat
    step = max(tmp.shape[1], 1)
    for start in range(0, blocks, step):
        count = min(step, blocks - start)
        rows = tmp.reshape(-1)[: 4 * count].reshape(4, count)
        _philox(int(key), int(counter), id, start, rows)
        where = slice(start * per, (start + count) * per)
        part = flat[where]  # a copy, if `flat` is an iterator
        yield rows, part
        if not dense:
            flat[where] = part


def _philox(key: int, counter: int, id: int, start: int, rows: Array) -> None:
    """Put the words of blocks start, start + 1, ..., one a column, into the last two rows.

    Two words travel as one, even << 32 | odd, so that a product's high half lands where it belongs:
    a round is even = high(product) ^ odd ^ key, odd = low(product), crosswise between the pairs.
    Blocks differ in one word only, so half of the state is a number until the third round.
    """
    a, b, q, p = rows
    state, crossed = rows.reshape(2, -1)
    k0 = [(key + r * _W0 & _LOW) << 32 for r in range(10)]
    k1 = [((key >> 32) + r * _W1 & _LOW) << 32 for r in range(10)]
    product = (counter & _LOW) * int(_M1)
    even, odd = product >> 32 ^ id ^ k0[0] >> 32, product & _LOW

    np.add(_RAMP[: p.size], _word(start), out=p)
    np.multiply(p, _M0, out=p)
    np.bitwise_xor(p, _word(counter >> 32 << 32 ^ k1[0]), out=b)
    np.right_shift(b, _HALF, out=q)
    np.multiply(q, _M1, out=q)
    np.bitwise_xor(q, _word(odd << 32 ^ k0[1]), out=a)
    np.left_shift(b, _HALF, out=b)
    np.bitwise_xor(b, _word(even * int(_M0) ^ k1[1]), out=b)
    for r in range(2, 10):
        np.right_shift(a, _HALF, out=p)
        np.right_shift(b, _HALF, out=q)
        np.multiply(p, _M0, out=p)
        np.multiply(q, _M1, out=q)
        np.left_shift(state, _HALF, out=state)
        np.bitwise_xor(state, crossed, out=state)
        last = r == 9  # the products are spent then, and the words take their place
        np.bitwise_xor(a, _word(k0[r]), out=crossed[0::2] if last else a)
        np.bitwise_xor(b, _word(k1[r]), out=crossed[1::2] if last else b)


def _word(value: int) -> Array:
    return np.array(value, np.uint64)  # NumPy takes these faster than its scalars
