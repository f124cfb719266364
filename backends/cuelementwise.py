"""Maps over strided memory as CuPy's ElementwiseKernel takes them: any rank, any strides."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from deepgraph.backends.cfunction import remark, words
from deepgraph.backends.clike import loaded, register_type, size_name, stored
from deepgraph.backends.cuelements import computed
from deepgraph.backends.launch import Elementwise
from deepgraph.dtypes import DType
from deepgraph.expr import Expr
from deepgraph.schedule import Kernel

_ROOM = 4000  # bytes of a launch's arguments, of which there may be 4096


def as_elementwise(
    kernel: Kernel, name: str, sizes: Iterable[str], place: Callable[[Expr], str]
) -> Elementwise | None:
    """The kernel for CuPy; None where a result has fewer elements than it has threads, or its
    operands are too many.

    Operands come by reference, so that all are loaded before anything is stored. Two bytes of
    float16 and bfloat16 come as uint16.
    """
    first, rank = len(kernel.loads), len(kernel.space)
    accesses = [*kernel.loads, *(s.access for s in kernel.stores)]
    lacks = any(len(kernel.body[s.register - first].axes) < rank for s in kernel.stores)
    if lacks or not rank or len(accesses) * 8 * (2 + 2 * rank) > _ROOM:
        return None
    lines = []
    for r, access in enumerate(kernel.loads):
        dtype = access.value.dtype
        lines.append(f"const {register_type(dtype)} r{r} = {loaded(f'a{r}', dtype)};")
    shown = ""
    for r, instr in enumerate(kernel.body, first):
        where = place(instr.node)
        if where and where != shown:
            shown = where
            lines.append(remark(where))
        lines.append(f"const {register_type(instr.node.dtype)} r{r} = {computed(instr)};")
    for k, store in enumerate(kernel.stores):
        lines.append(f"y{k} = {stored(f'r{store.register}', store.access.value.dtype)};")
    mentioned = words(lines)
    inputs = [f"{held_as(a.value.dtype)} a{k}" for k, a in enumerate(kernel.loads)]
    inputs += [f"int64 {n}" for n in map(size_name, sizes) if n in mentioned]
    outputs = [f"{held_as(s.access.value.dtype)} y{k}" for k, s in enumerate(kernel.stores)]
    return Elementwise(name, ", ".join(inputs), ", ".join(outputs), "\n".join(lines))


def held_as(dtype: DType) -> str:
    """The dtype by which kernels take memory of this one."""
    return "uint16" if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype.name
