"""Registers of a kernel whose instructions are statements: which memory each result goes to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from deepgraph.dims import Shape
from deepgraph.dtypes import DType
from deepgraph.schedule import Kernel


@dataclass(eq=False)
class _Place:
    """Memory of one dtype that varies along certain axes; `name` as in `Plan.registers`."""

    name: str
    dtype: DType
    axes: frozenset[int]
    free_from: int  # the first statement that may write here
    until: int  # the last statement whose result may still stand here


@dataclass(frozen=True)
class Assignment:
    """A name for each instruction's result, each piece of scratch, and when a name is in use."""

    names: tuple[str, ...]
    uses: Mapping[str, tuple[int, int]]  # from the first statement to the last
    scratch: tuple[tuple[Shape, DType], ...]


def in_place(kernel: Kernel, load: int, store: int) -> bool:
    """May a store's memory be a load's: is nothing of the load read once the store is written?"""
    written = kernel.stores[store].register - len(kernel.loads)
    reads = [k for k, instr in enumerate(kernel.body) if load in instr.registers]
    where = kernel.cut
    if where is not None and written in where.across | where.repeated and reads:
        return False  # a part is not the whole; what each piece computes anew must find it
    return all(k < written or (k == written and kernel.body[k].node.op.alias and not
               kernel.body[k].fold) for k in reads)  # fmt: skip


def assign(
    kernel: Kernel, dying: Collection[int] = (), shared: Mapping[int, int] | None = None
) -> Assignment:
    """Linear scan over the statements: in place where an argument dies, else in free memory.

    `dying` are loads whose memory may be overwritten, `shared` says which store takes which
    load's memory. Stores lend their memory to what comes before them.
    """
    shared = shared or {}
    first, count = len(kernel.loads), len(kernel.body)
    last = [kernel.last_reads.get(r, -1) for r in range(first + count)]
    stored = {s.register - first: k for k, s in enumerate(kernel.stores)}
    apart = frozenset[int]() if kernel.cut is None else kernel.cut.apart
    places: list[_Place] = []
    full = {r: kernel.body[r].axes for r in range(count)}
    for r, k in stored.items():
        if r not in apart:
            load = shared.get(k)
            since = -1 if load is None else last[load]
            places.append(_Place(f"y{k}", kernel.body[r].node.dtype, full[r], since, r))
    for j in dying:
        axes = frozenset(a for a, n in enumerate(kernel.loads[j].at.strides) if not _zero(n))
        places.append(_Place(f"a{j}", kernel.loads[j].value.dtype, axes, last[j], count))

    names: list[str] = []
    scratch: list[tuple[Shape, DType]] = []
    for k, instr in enumerate(kernel.body):
        if k in stored:
            names.append(f"y{stored[k]}")
            continue
        dtype, axes, end = instr.node.dtype, full[k], max(k, last[first + k])
        place = next((p for p in places if _takes(kernel, p, k, dtype, axes, end)), None)
        if place is None or k in apart:
            shape = tuple(n if a in axes else 1 for a, n in enumerate(kernel.space))
            place = _Place(f"t{len(scratch)}", dtype, axes, k, count)
            scratch.append((shape, dtype))
            if k not in apart:
                places.append(place)
        place.free_from = end
        names.append(place.name)
    uses: dict[str, tuple[int, int]] = {}
    for k, name in enumerate(names):
        since, until = uses.get(name, (k, k))
        uses[name] = since, max(until, last[first + k])
    return Assignment(tuple(names), uses, tuple(scratch))


def _takes(
    kernel: Kernel, place: _Place, k: int, dtype: DType, axes: frozenset[int], end: int
) -> bool:
    """May statement `k` leave its result here until statement `end` has read it?"""
    if place.dtype != dtype or place.axes != axes:
        return False
    alias = kernel.body[k].node.op.alias and not kernel.body[k].fold
    if place.free_from > k or (place.free_from == k and not alias):
        return False
    last = kernel.body[end] if end < len(kernel.body) else None
    over = last is None or (last.node.op.alias and not last.fold)
    return end < place.until or (end == place.until and over)


def _zero(stride: object) -> bool:
    return isinstance(stride, int) and stride == 0
