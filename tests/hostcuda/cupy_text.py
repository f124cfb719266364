"""The CUDA text that CuPy makes of an ElementwiseKernel, and its compiler's options, without a GPU.

This takes private names of CuPy: it holds for VERSION.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

VERSION = "14.2.0"
ADDED = ("-ftz=true",)  # to the options of all that it compiles


def elementwise(kernel: Any, operands: Sequence[tuple[str, str]], rank: int) -> str:
    """The whole text for operands of these (dtype, name): arrays a0.., y0.., and other numbers.

    Arrays are strided, of `rank` axes, and counted in 64 bits.
    """
    from cupy import ndarray
    from cupy._core import _carray, _scalar, core
    from cupy._core import _kernel as made

    dtypes = [np.dtype(kind) if name[0] in "ay" else None for kind, name in operands]
    reads, writes, types = kernel._decide_params_type(
        tuple(dtypes[: kernel.nin]), tuple(dtypes[kernel.nin :])
    )
    array, indexer, scalar = 1, 2, 3
    told = []
    for dtype, kind in zip(dtypes, [*reads, *writes], strict=True):
        if dtype is None:
            found = made._ArgInfo(scalar, _scalar.CScalar, np.dtype(kind), 0, True, True)
        else:
            found = made._ArgInfo(array, ndarray, dtype, rank, False, False)
        told.append(found)
    told.append(made._ArgInfo(indexer, _carray.Indexer, None, rank, True, False))
    kwargs = {k: v for k, v in kernel.kwargs.items() if k != "options"}
    text = made._get_elementwise_kernel_code(
        tuple(told), types, kernel.params, kernel.operation, kernel.name, kernel.preamble, **kwargs
    )
    includes = "".join(f"#include <{name}>\n" for name in core._cupy_header_list)
    return f"{includes}{text}"


def options(given: Sequence[str]) -> tuple[str, ...]:
    """What CuPy passes to the compiler beside these."""
    from cupy._core import core

    found: tuple[str, ...] = core.assemble_cupy_compiler_options(tuple(given))
    return (*found, *ADDED, "--device-as-default-execution-space")
