"""A launcher that runs CUDA text on this machine: compiled as C++, a fiber a thread.

It catches what would go wrong on a device: barriers that some threads do not reach, collectives of
lanes that have left, results that depend on the order of threads (`order`), arguments of other
sizes than a kernel's, and memory that is not a kernel's, as arguments lie before guard pages.
"""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.backends.cuelements import WIDEST
from deepgraph.backends.device import Host
from deepgraph.backends.launch import Elementwise, Extent, Function

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("DEEPGRAPH_TEST_CACHE", Path(tempfile.gettempdir()) / "deepgraph-host"))
FLAGS = ("-std=c++17", "-O0", "-fPIC", "-shared", "-w", "-ffp-contract=off", "-fwrapv",
         "-fno-strict-aliasing", f"-I{HERE}")  # fmt: skip
_GLOBAL = re.compile(
    r'extern "C" __global__ void (?:__launch_bounds__\([\d,]+\) )?(\w+)\(([^)]*)\)'
)
_PAGE = mmap.PAGESIZE
_C = {f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_C |= {"bool": "bool", "float32": "float", "float64": "double"}


class HostCudaError(RuntimeError):
    """What a device would have done wrong, or the compiler refused."""


class HostLauncher(Host):
    """Runs kernels over NumPy arrays.

    `order` is that of a block's threads: 0 as they are counted, 1 backward, others by chance.
    """

    here: AbstractContextManager[Any] = nullcontext()

    def __init__(self, order: int = 0) -> None:
        self.order = order
        self.launches = 0

    def module(self, preamble: str, source: str) -> Callable[[str], Function]:
        """The functions of a source."""
        declared = dict(_GLOBAL.findall(source))
        library = _compiled(preamble, source + "\n".join(map(_stub, declared, declared.values())))

        def function(name: str) -> Function:
            entry = getattr(library, f"host_entry_{name}")
            sizes = (ctypes.c_int * _count(declared[name])).in_dll(library, f"host_sizes_{name}")

            def launch(grid: Extent, block: Extent, arguments: Sequence[Any]) -> None:
                self._launch(entry, name, list(sizes), (*grid, *block), arguments)

            return launch

        return function

    def elementwise(self, spec: Elementwise, preamble: str) -> Callable[..., None]:
        """A loop over all elements, whose operands are references, as CuPy makes it."""
        reads, writes = _parameters(spec.inputs), _parameters(spec.outputs)
        run = self.module(preamble, _loop(spec.name, reads, writes, spec.operation))(spec.name)

        def call(*arrays: Any) -> None:
            given = [
                np.asarray(a, None if isinstance(a, np.ndarray) else kind)
                for a, (kind, _) in zip(arrays, [*reads, *writes], strict=True)
            ]
            for array, (kind, name) in zip(given, [*reads, *writes], strict=True):
                if array.dtype != kind:
                    raise HostCudaError(f"{spec.name}: {name} is {kind}: got {array.dtype}")
            shape = np.broadcast_shapes(*(a.shape for a in given))
            if any(a.shape != shape for a in given[len(reads) :]):
                raise HostCudaError(f"{spec.name}: outputs have another shape than {shape}")
            size = int(np.prod(shape))
            if not size:
                return
            views = [np.broadcast_to(a, shape) for a in given]
            steps = np.array([*shape, *(s for v in views for s in v.strides)], np.int64)
            pointers = [np.uint64(v.ctypes.data) for v in views]
            run(((size + 127) // 128, 1, 1), (128, 1, 1),
                [*pointers, steps, np.int64(len(shape)), np.int64(size)])  # fmt: skip

        return call

    def recorded(self, run: Callable[[], None]) -> Callable[[], None]:
        """The run again."""
        return run

    def _launch(
        self, entry: Any, name: str, sizes: Sequence[int], extents: Sequence[int],
        arguments: Sequence[Any],
    ) -> None:  # fmt: skip
        self.launches += 1
        guarded = _Guarded()
        values = [guarded.pointer(a) if isinstance(a, np.ndarray) else a for a in arguments]
        passed = [np.asarray(v).nbytes for v in values]
        if passed != list(sizes):
            raise HostCudaError(f"{name}: arguments of {passed} bytes for parameters of {sizes}")
        buffers = [ctypes.create_string_buffer(np.asarray(v).tobytes()) for v in values]
        given = (ctypes.c_void_p * max(len(buffers), 1))(*map(ctypes.addressof, buffers))
        wanted = (ctypes.c_uint * 6)(*extents)
        error = _runtime().host_launch(entry, given, wanted, self.order)
        if error:
            raise HostCudaError(f"{name}: {error.decode()}")
        guarded.back()


class _Guarded:
    """Copies of arrays that end where inaccessible memory begins; one for each piece of memory."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], tuple[npt.NDArray[Any], npt.NDArray[Any]]] = {}

    def pointer(self, array: npt.NDArray[Any]) -> np.uint64:
        """Where the copy begins."""
        assert array.flags.c_contiguous, "a kernel takes whole buffers"
        if array.nbytes >= WIDEST and array.ctypes.data % WIDEST:
            raise HostCudaError(f"an array of {array.nbytes} bytes is not aligned for wide loads")
        key = array.ctypes.data, array.nbytes
        if key not in self._kept:
            flat = array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
            copy = _before_a_guard(array.nbytes)
            copy[:] = flat
            self._kept[key] = copy, flat
        return np.uint64(self._kept[key][0].ctypes.data)

    def back(self) -> None:
        """What kernels wrote, to where it belongs."""
        for copy, flat in self._kept.values():
            if flat.flags.writeable:
                flat[:] = copy


def _before_a_guard(nbytes: int) -> npt.NDArray[np.uint8]:
    room = -(-max(nbytes, 1) // _PAGE) * _PAGE
    memory = mmap.mmap(-1, room + 2 * _PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for guard in (0, _PAGE + room):
        if _libc().mprotect(ctypes.c_void_p(start + guard), ctypes.c_size_t(_PAGE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    return np.frombuffer(memory, np.uint8, nbytes, _PAGE + room - nbytes)


def _stub(name: str, parameters: str) -> str:
    """The C function that takes an array of pointers to arguments, and the arguments' sizes."""
    kinds = [re.sub(r"\w+$", "", p).strip() for p in parameters.split(", ") if p]
    plain = [kind.replace("__restrict__", "") for kind in kinds]
    given = ", ".join(f"*({kind} *)at[{k}]" for k, kind in enumerate(plain))
    sizes = ", ".join([*(f"sizeof({kind})" for kind in plain), *["0"] * (not plain)])
    return (
        f'extern "C" void host_entry_{name}(void **at) {{ {name}({given}); }}\n'
        f'extern "C" const int host_sizes_{name}[] = {{{sizes}}};\n'
    )


def _count(parameters: str) -> int:
    return len([p for p in parameters.split(", ") if p])


def _parameters(text: str) -> list[tuple[str, str]]:
    found = [tuple(part.split()) for part in text.split(", ") if part]
    return [(kind, name) for kind, name in found]


def _loop(
    name: str, reads: Sequence[tuple[str, str]], writes: Sequence[tuple[str, str]], operation: str
) -> str:
    operands = [*reads, *writes]
    head = ", ".join(f"char *p_{n}" for _, n in operands)
    lines = [
        f'extern "C" __global__ void {name}'
        f"({head}, const int64_t *steps_, int64_t rank_, int64_t n_) {{",
        "const int64_t at_ = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;",
        "if (at_ >= n_) return;",
    ]  # fmt: skip
    for k, (kind, n) in enumerate(operands):
        only = "const " * (k < len(reads))
        lines.append(f"int64_t o_{n} = 0;")
        lines.append(
            f"for (int64_t a_ = rank_ - 1, r_ = at_; a_ >= 0; r_ /= steps_[a_], a_--) "
            f"o_{n} += r_ % steps_[a_] * steps_[rank_ * {k + 1} + a_];"
        )
        lines.append(f"{only}{_C[kind]} &{n} = *({only}{_C[kind]} *)(p_{n} + o_{n});")
    return "\n".join([*lines, operation, "}"])


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _runtime() -> ctypes.CDLL:
    text = (HERE / "runtime.cpp").read_text(encoding="utf-8")
    path = _built(text, ("-std=c++17", "-O2", "-fPIC", "-shared"), ".so")
    library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    library.host_launch.restype = ctypes.c_char_p
    return library


@cache
def _compiled(preamble: str, source: str) -> ctypes.CDLL:
    """A module over the runtime; its preamble is compiled once for all that share it."""
    _runtime()
    head = f'#include "host.h"\n{preamble}'
    header = _built(head + (HERE / "host.h").read_text(), FLAGS[:-1], ".h.gch", head)
    include = str(header).removesuffix(".gch")
    return ctypes.CDLL(str(_built(f'#include "{include}"\n{source}', FLAGS, ".so")))


def _built(text: str, flags: Sequence[str], suffix: str, given: str | None = None) -> Path:
    """What the compiler makes of a text, kept under its hash; safe with many at work."""
    key = hashlib.sha256("\0".join([text, *flags]).encode()).hexdigest()[:32]
    path = CACHE / f"{key}{suffix}"
    if path.exists():
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        kind, file = ("c++-header", "text.h") if suffix == ".h.gch" else ("c++", "text.cpp")
        (Path(folder) / file).write_text(given or text, encoding="utf-8")
        command = ["g++", "-x", kind, *flags, f"-I{HERE}", file, "-o", "made"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise HostCudaError(done.stderr[:6000])
        if suffix == ".h.gch":  # the header itself, for compilers that do not take what was made
            header = CACHE / f"{key}.h"
            (Path(folder) / file).replace(header)
        (Path(folder) / "made").replace(path)
    return path
