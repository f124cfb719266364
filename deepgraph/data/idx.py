"""IDX, the file format of MNIST: a magic number, sizes, then the values."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deepgraph.data.errors import DataError

_UBYTE = 0x08


def contents(path: Path) -> bytes:
    """The bytes of a file, unpacked where they are a gzip stream, whatever its name."""
    raw = path.read_bytes()
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"idx: {path} is a broken gzip file: {error}") from error


def parse(raw: bytes, ndim: int, path: Path) -> NDArray[np.uint8]:
    """The array in the bytes of an IDX file of unsigned bytes with `ndim` axes.

    The magic number is two zero bytes, a byte for the type (8: unsigned byte) and the number of
    axes; a big-endian 32-bit size an axis follows, then the values, row-major. `path` is for the
    errors: DataError on another magic number or length.
    """
    magic = bytes((0, 0, _UBYTE, ndim))
    start = 4 + 4 * ndim
    if raw[:4] != magic:
        raise DataError(
            f"idx: {path} is no IDX file of {ndim}-D bytes: "
            f"magic number 0x{raw[:4].hex()} instead of 0x{magic.hex()}"
        )
    if len(raw) < start:
        raise DataError(f"idx: {path} ends in its header: {len(raw)} bytes of {start}")
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", ndim, offset=4))
    expected = start + math.prod(shape)
    if len(raw) != expected:
        kind = "is cut short" if len(raw) < expected else "is too long"
        raise DataError(
            f"idx: {path} {kind}: {len(raw):,} bytes, and {expected:,} for its shape {shape}"
        )
    return np.frombuffer(raw, np.uint8, offset=start).reshape(shape)
