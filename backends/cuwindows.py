"""Windows summed back to where they came from, in CUDA: each place asks which windows have it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from deepgraph.backends.cfunction import times
from deepgraph.backends.clike import register_type, size
from deepgraph.backends.cstrides import order
from deepgraph.backends.cucalls import CallWriter, at, template
from deepgraph.dims import Size, same
from deepgraph.dtypes import accumulator


@contextmanager
def holding(
    out: CallWriter, name: str, place: str, count: Size, kernel: int, stride: int,
    dilation: int = 1, before: Size = 0,
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """A loop over the windows along an axis that hold a place of it.

    Gives the number of the place in the window, which rises, and that of the window.
    """
    k, window, reach = f"k{name}", f"w{name}", f"u{name}"
    padded = place if same(before, 0) else f"({place} + {size(before)})"
    even = dilation == 1  # then the places of windows that hold this one are a stride apart
    first = f"{padded} % {stride}" if even and stride > 1 else "0"
    with out.loop(k, first, str(kernel), str(stride if even else 1)):
        out.add(f"const dg_index {reach} = {padded} - {times(k, dilation)};")
        apart = f" || {reach} % {stride}" * (not even and stride > 1)
        out.add(f"if ({reach} < 0{apart}) continue;")
        out.add(f"const dg_index {window} = {reach} / {stride};")
        out.add(f"if ({window} >= {size(count)}) continue;")
        yield k, window


@template("unwindows")
def unwindows(out: CallWriter) -> None:
    """In the order of the places of a window."""
    node, x, y = out.node, out.loads[0].at, out.store.at
    axes = node.attr("axes")
    kind = register_type(accumulator(node.dtype))
    sign = "|" if node.dtype.kind == "b" else "+"
    with out.each(*y.shape, order=order(y)) as i:
        out.add(f"{kind} sum = 0;")
        windows, places = [*i], list[str]()
        with ExitStack() as loops:
            for n, (axis, kernel, stride, dilation) in enumerate(zip(
                axes, *(node.attr(name) for name in ("kernel", "stride", "dilation")), strict=True
            )):  # fmt: skip
                loop = holding(out, str(n), i[axis], x.shape[axis], kernel, stride, dilation)
                place, windows[axis] = loops.enter_context(loop)
                places.append(place)
            value = out.value(0, at(x, [*windows, *places]))
            out.add(f"sum = ({kind})(sum {sign} {value});")
        out.put(at(y, i), "sum")
