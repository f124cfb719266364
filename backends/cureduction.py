"""Folds of one array as CuPy's ReductionKernel takes them, which leaves many of them to CUB."""

from __future__ import annotations

from deepgraph.backends.cfold import Fold
from deepgraph.backends.cfunction import parenthesised
from deepgraph.backends.clike import expression, loaded, register_type, stored
from deepgraph.backends.cuelementwise import held_as
from deepgraph.backends.launch import Reduction
from deepgraph.dims import Dim, same_shape
from deepgraph.expr import Strided
from deepgraph.schedule import Access, Kernel

_LONGEST = 200  # characters of what is computed of an element: it is one expression


def as_reduction(kernel: Kernel, name: str) -> Reduction | None:
    """The kernel for CuPy, if it folds what is computed of one whole array, and stores that."""
    first, texts = len(kernel.loads), list[str]()
    folded = [(first + k, i) for k, i in enumerate(kernel.body) if i.fold]
    whole = first == 1 and same_shape(kernel.loads[0].at.shape, kernel.space)
    if not whole or len(folded) != 1 or len(kernel.stores) != 1:
        return None
    (at, instr), (store,) = folded[0], kernel.stores
    last = first + len(kernel.body) - 1
    if store.register != last or any(isinstance(a, Dim) for i in kernel.body for a in i.args):
        return None
    fold = Fold(instr.node)
    texts.append(loaded("a0", kernel.loads[0].value.dtype))
    for r, one in enumerate(kernel.body, first):
        if r > at and one.registers != (r - 1,):
            return None
        if r == at:
            texts.append(f"({register_type(instr.node.dtype)})a")
        else:
            args = [parenthesised(texts[a]) if isinstance(a, int) else a for a in one.args]
            texts.append(expression(one.node, args))
        if len(texts[-1]) > _LONGEST:
            return None
    wide, (arg,) = register_type(fold.long), instr.registers
    return Reduction(
        name, inputs=f"{held_as(kernel.loads[0].value.dtype)} a0",
        outputs=f"{held_as(store.access.value.dtype)} y0",
        mapped=f"({wide}){parenthesised(texts[arg])}", reduced=fold.both("a", "b"),
        after=f"y0 = {stored(texts[last], store.access.value.dtype)}",
        identity=fold.start(fold.long), kept_in=wide,
    )  # fmt: skip


def without_folded(kernel: Kernel) -> Access:
    """Where the result goes, without the axes that are folded."""
    access = kernel.stores[0].access
    kept = [a for a in range(len(kernel.space)) if a not in kernel.folded]
    shape, strides = (tuple(of[a] for a in kept) for of in (access.at.shape, access.at.strides))
    return Access(access.value, Strided(shape, strides, access.at.offset))
