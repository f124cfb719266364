"""Compiled parts of steps as Python functions: they run over arrays' memory, on our own threads."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.backends import BackendError, toolchain
from deepgraph.config import default, setting

Caller = Callable[..., tuple[int, int, int] | None]
Feeds = Sequence[tuple[str, np.dtype[Any], tuple[int, ...]]]
Maker = Callable[[], npt.NDArray[Any]]
Parameter = tuple[dict[str, Any], threading.RLock]  # its copies by device, and its lock
Direct = Callable[[Mapping[str, Any]], list[Any] | None]
_MOST_FEEDS = 32  # of a step that is called directly
_HEADER = object.__basicsize__  # bytes of an object before its own fields


PRODUCTS = ("float32", "float64")  # whose matrices are multiplied by the runtime


class _Products(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in PRODUCTS)


class _Feed(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.py_object), ("dtype", ctypes.py_object), ("ndim", ctypes.c_ssize_t),
        ("shape", ctypes.c_void_p),
    )  # fmt: skip


class _Lock(ctypes.Structure):
    _fields_ = tuple((name, ctypes.py_object) for name in ("acquire", "release", "copies"))


class _Array(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_void_p), ("data", ctypes.c_void_p), ("ndim", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("base", ctypes.c_void_p), ("dtype", ctypes.c_void_p), ("flags", ctypes.c_int),
    )  # fmt: skip


class _Call(ctypes.Structure):
    _fields_ = (
        ("at", ctypes.c_void_p), ("size", ctypes.c_void_p), ("multiply", ctypes.c_void_p),
        ("fault", ctypes.c_int64 * 3),
    )  # fmt: skip


class Call:
    """What the parts of one step work on: addresses of memory by number, and named sizes.

    `arrays` of the addresses, the first ones, are set by each call. What holds the memory of the
    others, `keeps`, lives as long as this and its callers. Matrices of the dtypes `products` are
    multiplied.
    """

    def __init__(
        self, arrays: int, addresses: Sequence[int], sizes: Sequence[int], keeps: object = None,
        products: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.arrays, self._keeps = arrays, keeps
        self.at = (ctypes.c_void_p * (arrays + len(addresses)))(*[None] * arrays, *addresses)
        self._sizes = (ctypes.c_int64 * len(sizes))(*sizes)
        multiply = {dtype: address(product(dtype), "dg_multiply") for dtype in products}
        self._products = _Products(**multiply)
        self._struct = _Call(
            ctypes.addressof(self.at), ctypes.addressof(self._sizes),
            ctypes.addressof(self._products),
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
            part, ctypes.addressof(self._struct), self, taken, threads, holding
        )
        return made

    def direct(
        self, part: int, feeds: Feeds, makers: Sequence[Maker], parameters: Sequence[Parameter],
        own: threading.RLock, *, threads: int = 1, asked: int | None = None, holding: bool = False,
    ) -> Direct | None:
        """A function of a dict of feeds that is all of a step whose only part this is.

        It gives the results, or None where feeds are not just as said here (by name, of this dtype
        and shape, contiguous, aligned), another number of threads is `asked` for (None: that does
        not matter), or a parameter's lock or the step's `own` is taken: then nothing was done, and
        the call goes the long way. `threads` and `holding` are as for a caller; `own` is not taken
        where the interpreter's lock is held, as then it must be by the part's other callers.
        A part that notes a bad index must have changed no parameter: the long way meets it again.
        None where there are too many feeds.
        """
        if len(feeds) > _MOST_FEEDS:
            return None
        shapes = [(ctypes.c_ssize_t * len(shape))(*shape) for _, _, shape in feeds]
        given = (_Feed * len(feeds))(*(
            _Feed(name, dtype, len(shape), ctypes.addressof(held))
            for (name, dtype, shape), held in zip(feeds, shapes, strict=True)
        ))  # fmt: skip
        made = (ctypes.py_object * len(makers))(*makers)  # type: ignore[misc]
        locks = [_Lock(*_tries(lock), copies) for copies, lock in parameters]
        if not holding:
            locks.append(_Lock(*_tries(own)))
        held = (_Lock * len(locks))(*locks)
        function: Direct = library().dg_step(
            part, ctypes.addressof(self._struct), (self, shapes, given, made, held), given, made,
            held, len(feeds), len(makers), len(locks), threads, asked or 0, holding,
        )  # fmt: skip
        return function


def _tries(lock: threading.RLock) -> tuple[Callable[[], bool], Callable[[], None]]:
    """How a lock is taken if it is free, and given back."""
    return partial(lock.acquire, False), lock.release


def load(*texts: str, products: Collection[str] = ()) -> ctypes.CDLL:
    """These texts of C, compiled or from the cache, as one library of this process.

    What they need of the runtime is compiled beside them, if it is not there yet.
    """
    with ThreadPoolExecutor() as beside:
        parts: list[Future[ctypes.CDLL]] = [beside.submit(product, dtype) for dtype in products]
        parts.append(beside.submit(library))
        path = toolchain.build(*texts)
        for part in parts:
            part.result()
    return ctypes.CDLL(str(path))


def address(library: ctypes.CDLL, name: str) -> int:
    """Where a function or a part in a library lies."""
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


def text(*names: str) -> str:
    """These files of C, one after the other."""
    return "\n".join((toolchain.HEADERS / n).read_text(encoding="utf-8") for n in names)


@cache
def product(dtype: str) -> ctypes.CDLL:
    """The library that multiplies matrices of float32 or float64, compiled for this machine."""
    found = ctypes.CDLL(str(toolchain.build(f"#define DG_OF_{dtype}\n{text('product.c')}")))
    blas = toolchain.blas()
    if gemm := {"float32": blas.sgemm, "float64": blas.dgemm}[dtype] if blas else None:
        found.dg_use_blas(ctypes.c_void_p(gemm))
    return found


@cache
def library() -> ctypes.PyDLL:
    """The runtime, compiled for this machine. BackendError where Python or NumPy does not suit."""
    if not _as_expected(np.zeros((3, 2), np.float32)):
        raise BackendError(f"arrays of NumPy {np.__version__} are not laid out as expected")
    found = ctypes.PyDLL(str(toolchain.build(text("team.c", "calls.c"))))
    word, pointer, thing = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.py_object
    few = ctypes.c_int
    found.dg_caller.restype = found.dg_step.restype = thing
    found.dg_caller.argtypes = (pointer, pointer, thing, word, few, few)
    found.dg_step.argtypes = (pointer, pointer, thing, *[pointer] * 3, *[few] * 6)
    found.dg_begin.argtypes, found.dg_begin.restype = (thing, word, thing, few), None
    found.dg_begin(np.ndarray, _HEADER, setting, default())
    return found


def _as_expected(array: npt.NDArray[Any]) -> bool:
    """Does an array hold what the C code reads from it, and where it does?"""
    found = _Array.from_address(id(array) + _HEADER - ctypes.sizeof(ctypes.c_void_p))
    return (
        (found.type, found.data, found.ndim) == (id(np.ndarray), array.ctypes.data, array.ndim)
        and tuple(found.shape[: array.ndim]) == array.shape
        and tuple(found.strides[: array.ndim]) == array.strides
        and (found.dtype, found.flags) == (id(array.dtype), array.flags.num)
    )
