"""Arrays put together, into borders and back from windows, as C: copies to parts of the result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from deepgraph.backends.ccalls import CallWriter, template
from deepgraph.backends.clike import converted, size
from deepgraph.backends.cstrides import Bounds, along, order, place, shared
from deepgraph.dims import Size, at_least, product, same
from deepgraph.dtypes import accumulator
from deepgraph.expr import Expr, Strided, Type
from deepgraph.ops.slicing import Span, _strided, positions
from deepgraph.schedule import contiguous


@template("concat")
def concat(out: CallWriter) -> None:
    """Each array to its part."""
    axis = out.node.attr("axis")
    start: Size = 0
    with out.function():
        for k, access in enumerate(out.loads):
            _copy(out, k, _part(out.store.at, {axis: (start, access.at.shape[axis])}), access.at)
            start = start + access.at.shape[axis]


@template("pad")
def pad(out: CallWriter) -> None:
    """The border, and x in it: each element is written once."""
    x = out.loads[0].at
    starts = [before for before, _ in out.node.attr("widths")]
    with out.function():
        _border(out, starts, x.shape, out.node.attr("value"))
        places = enumerate(zip(starts, x.shape, strict=True))
        _copy(out, 0, _part(out.store.at, dict(places)), x)


@template("unslice")
def unslice(out: CallWriter) -> None:
    """Zeros around a part that is whole, or everywhere first; and x."""
    y, x = out.store.at, out.loads[0].at
    found = [
        (*positions(entry, n), entry.step == 1) if isinstance(entry, Span)
        else (entry + n if at_least(entry, 0) is False else entry, 1, True)
        for entry, n in zip(out.node.attr("index").entries, y.shape, strict=True)
    ]  # fmt: skip
    part = _strided(y, out.node)
    if all(
        whole and at_least(first, 0) and at_least(n - first - count, 0)
        for (first, count, whole), n in zip(found, y.shape, strict=True)
    ):
        with out.function():
            _border(out, [first for first, *_ in found], [count for _, count, _ in found])
            _copy(out, 0, part, x)
    else:
        with out.function():
            out.fill(y, share=True)
        with out.function():
            _copy(out, 0, part, x)


def _part(at: Strided, places: dict[int, tuple[Size, Size]]) -> Strided:
    """An array from some place on along some axes, so many elements."""
    shape, offset = list(at.shape), at.offset
    for axis, (start, count) in places.items():
        shape[axis] = count
        offset = offset + start * at.strides[axis]
    return Strided(tuple(shape), at.strides, offset)


def _copy(out: CallWriter, load: int, to: Strided, of: Strided) -> None:
    given = out.loads[load].value.dtype
    with out.over(to, of, share=True) as (there, here):
        out.put(there, converted(out.value(load, here), given, out.node.dtype))


def _border(
    out: CallWriter, starts: Sequence[Size], counts: Sequence[Size], value: Any = 0
) -> None:  # fmt: skip
    """One value before and behind a part along each axis, within the part along those before."""
    y, inside = out.store.at, dict[int, tuple[Size, Size]]()
    for axis, (start, count) in enumerate(zip(starts, counts, strict=True)):
        after = start + count
        for first, wide in ((0, start), (after, y.shape[axis] - after)):
            if not same(wide, 0):
                out.fill(_part(y, inside | {axis: (first, wide)}), value, share=True)
        inside[axis] = (start, count)


def _sums(node: Expr) -> list[Type]:
    """Half precision adds up in single, in memory of each thread's own."""
    wide = accumulator(node.dtype)
    return [Type(node.shape, wide)] if wide != node.dtype else []


@template("unwindows", memory=_sums)
def unwindows(out: CallWriter) -> None:
    """Place by place of the windows, each added where it lies; threads share what has no windows.

    Where the outermost axis has none, all places of a step of it follow each other.
    """
    node, x, y = out.node, out.loads[0].at, out.store.at
    axes, kernel, stride, dilation = (
        node.attr(name) for name in ("axes", "kernel", "stride", "dilation")
    )
    rank = len(y.shape)
    sums, name = (contiguous(y.shape, order(y)), "sums") if _sums(node) else (y, "y0")
    free = [a for a in order(y) if a not in axes]
    steps = list(sums.strides)
    for axis, step in zip(axes, stride, strict=True):
        steps[axis] = sums.strides[axis] * step
    into = Strided(x.shape[:rank], tuple(steps), 0)
    with out.function(), ExitStack() as loops:
        bounds: dict[int, Bounds] = {}
        if name == "sums":
            own = f"t0 + me * dg_padded({size(product(y.shape) * 4)})"
            out.add(f"float *const restrict sums = (float *)({own});")
        if not free:
            out.add("if (me) return;")
        else:
            axis = free[shared([y.shape[a] for a in free])]
            bounds = {axis: out.stretch(size(y.shape[axis]), 16 if axis == order(y)[-1] else 1)}
            if axis == order(y)[0] != order(y)[-1]:
                loops.enter_context(out.loop("o", *bounds[axis]))
                bounds = {axis: ("o", "o + 1")}
        with out.over(sums, bounds=bounds) as (to,):
            out.add(f"{name}[{to}] = 0;")
        counters = [f"k{n}" for n in range(len(axes))]
        with ExitStack() as places:
            for counter, extent in zip(counters, kernel, strict=True):
                places.enter_context(out.loop(counter, "0", str(extent)))
            reach = [sums.strides[a] * d for a, d in zip(axes, dilation, strict=True)]
            target = place(reach, counters)
            source = place(x.strides[rank:], counters)
            of = along(x, range(rank), x.offset)
            with out.over(into, of, bounds=bounds, starts=[target, source]) as (to, at):
                sign = "|=" if node.dtype.kind == "b" else "+="
                out.add(f"{name}[{to}] {sign} {out.value(0, at)};")
        if name == "sums":
            with out.over(y, sums, bounds=bounds) as (to, at):
                out.put(to, f"sums[{at}]")
