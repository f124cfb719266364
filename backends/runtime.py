"""Compiled parts of steps as Python functions: they run over arrays' memory, on our own threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from deepgraph.backends import BackendError, toolchain

Caller = Callable[..., tuple[int, int, int] | None]
_DATA = object.__basicsize__  # where an array object names its memory: right after its header


class _Functions(ctypes.Structure):
    _fields_ = (("sgemm", ctypes.c_void_p), ("dgemm", ctypes.c_void_p))


class _Call(ctypes.Structure):
    _fields_ = (
        ("at", ctypes.c_void_p), ("size", ctypes.c_void_p), ("barrier", ctypes.c_void_p),
        ("blas", ctypes.c_void_p), ("fault", ctypes.c_int64 * 3),
    )  # fmt: skip


class Call:
    """What the parts of one step work on: addresses of memory by number, and named sizes.

    `arrays` of the addresses, the first ones, are set by each call. What holds the memory of the
    others, `keeps`, lives as long as this and its callers.
    """

    def __init__(
        self, arrays: int, addresses: Sequence[int], sizes: Sequence[int], keeps: object = None
    ) -> None:
        self.arrays, self._keeps = arrays, keeps
        self.at = (ctypes.c_void_p * (arrays + len(addresses)))(*[None] * arrays, *addresses)
        self._sizes = (ctypes.c_int64 * len(sizes))(*sizes)
        found = toolchain.blas()
        self._functions = _Functions(found.sgemm, found.dgemm) if found else None
        self._struct = _Call(
            ctypes.addressof(self.at), ctypes.addressof(self._sizes), None,
            ctypes.addressof(self._functions) if self._functions else None,
        )  # fmt: skip

    def caller(self, part: int, arrays: int | None = None, *, threads: int = 1,
               holding: bool = False) -> Caller:  # fmt: skip
        """A function of arrays, feeds and then outputs, that runs the part at this address.

        It takes `arrays` of them, all unless said; they are NumPy's, contiguous, of the part's
        dtypes and shapes: nothing is checked here. It returns None, or where the part met a bad
        index the number of the check, the index and the extent. It gives the interpreter's lock
        away unless told to keep `holding` it, which is right for parts of a few microseconds.
        OSError where threads cannot be started.
        """
        taken = self.arrays if arrays is None else arrays
        if taken > self.arrays or threads < 1:
            raise ValueError(f"caller: {taken} arrays of {self.arrays}, {threads} threads")
        made: Caller = library().dg_caller(
            part, ctypes.addressof(self._struct), self, taken, np.ndarray, _DATA, threads, holding
        )
        return made


def load(text: str) -> ctypes.CDLL:
    """This C text, compiled or from the cache, as a library of this process."""
    return ctypes.CDLL(str(toolchain.build(text)))


def address(library: ctypes.CDLL, name: str) -> int:
    """Where a function of a library lies."""
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


@cache
def library() -> ctypes.PyDLL:
    """The runtime, compiled for this machine. BackendError where Python or NumPy does not suit."""
    array = np.zeros(3)
    named = (ctypes.c_void_p * 2).from_address(id(array) + _DATA - ctypes.sizeof(ctypes.c_void_p))
    if tuple(named) != (id(np.ndarray), array.ctypes.data):
        raise BackendError(f"arrays of NumPy {np.__version__} are not laid out as expected")
    text = (toolchain.HEADERS / "runtime.c").read_text(encoding="utf-8")
    found = ctypes.PyDLL(str(toolchain.build(text)))
    found.dg_caller.restype = ctypes.py_object
    found.dg_caller.argtypes = (
        ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object, ctypes.c_ssize_t, ctypes.py_object,
        ctypes.c_ssize_t, ctypes.c_int, ctypes.c_int,
    )  # fmt: skip
    return found
