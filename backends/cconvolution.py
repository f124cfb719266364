"""Convolutions as C: vectors of pixels and images, for memory whose innermost axis is the batch."""

from __future__ import annotations

from collections.abc import Sequence

from deepgraph.backends.ccalls import CallWriter, template
from deepgraph.backends.clike import memory_type, size
from deepgraph.dims import Shape, Size, at_least, product, same
from deepgraph.expr import Expr, Strided, Type
from deepgraph.schedule import Order

_PLACES, _RUN = 1024, 2048  # DG_PLACES, DG_RUN
_LANES = 16  # at most, of a vector
_INNERMOST = (1, 2, 3, 0)


class _Windows:
    """What the three operations have in common: where the windows of a result lie in its input."""

    def __init__(self, node: Expr) -> None:
        name, first, second = node.op.name, *node.inputs
        self.weights: Shape
        if name == "conv2d":
            self.images, self.weights, self.results = first.shape, second.shape, node.shape
        elif name == "conv2d_input_grad":
            self.images, self.weights, self.results = node.shape, second.shape, first.shape
        else:
            self.images, self.weights, self.results = first.shape, node.shape, second.shape
        self.turned = name == "conv2d_input_grad"
        self.groups: int = node.attr("groups")
        self.out, self.inner = (
            (n if isinstance(n, int) else 0) for n in (self.weights[0], self.weights[1])
        )
        before = (low for low, _ in node.attr("padding"))
        self.axes = [
            _Axis(n, m, k, step, pad, hole, self.turned) for n, m, k, step, pad, hole in zip(
                self.images[2:], self.results[2:], self.weights[2:], node.attr("stride"), before,
                node.attr("dilation"), strict=True,
            )
        ]  # fmt: skip

    def channels(self) -> tuple[int, int]:
        """Of a group: those that are summed over, and those that come out."""
        both = self.inner, self.out // self.groups
        return both[::-1] if self.turned else both

    def declare(self, out: CallWriter) -> None:
        """The windows as C: `how`."""
        inner, outer = self.channels()
        row, column = (axis.text() for axis in self.axes)
        out.add(
            "const dg_windows how = {",
            f"    .images = {size(self.images[0])}, .groups = {self.groups}, .in = {inner}, "
            f".out = {outer},",
            f"    .row = {row},",
            f"    .column = {column},",
            "};",
        )

    def packed(self, channels: int, rows: Size) -> Size:
        """The elements of so many channels and rows that a thread holds, with zeros around."""
        wide = self.axes[1].slots() * self.axes[1].up * self.images[0]
        return channels * rows * wide + _LANES


class _Axis:
    """An axis of images as `dg_axis` has it."""

    def __init__(
        self, n: Size, m: Size, places: Size, stride: int, pad: Size, hole: int, turned: bool
    ) -> None:
        self.places = places if isinstance(places, int) else 0
        if turned:
            self.inputs, self.results, self.up, self.down = m, n, 1, stride
            self.hole, self.shift = -hole, pad
        else:
            self.inputs, self.results, self.up, self.down = n, m, stride, 1
            self.hole, self.shift = hole, -pad
        self.reach = (self.places - 1) * hole

    def text(self) -> str:
        """The axis as C."""
        fields = ("inputs", "results", "places", "up", "down", "hole", "shift")
        return f"{{{', '.join(f'.{name} = {size(getattr(self, name))}' for name in fields)}}}"

    def slots(self) -> Size:
        """At most so many columns of a packed row one place of the window visits."""
        steps = (self.results + self.down - 1) // self.down
        return steps + self.reach // (self.up * self.down) + 1


def _takes(node: Expr) -> bool:
    """Floats of one dtype, and windows that are not so large that a product is better."""
    alike = all(x.dtype == node.dtype for x in node.inputs)
    places = product(_Windows(node).weights[2:])
    return alike and node.dtype.name in ("float32", "float64") and places <= _PLACES


def _orders(node: Expr) -> Sequence[Order | None]:
    by_weights = node.op.name == "conv2d_weight_grad"
    return [_INNERMOST, _INNERMOST, None] if by_weights else [_INNERMOST, None, _INNERMOST]


def _memory(node: Expr) -> Sequence[Type]:
    """The rows that the results of one row see; and a row of results that are to be spaced out."""
    windows = _Windows(node)
    row, column = windows.axes
    channels, others = windows.channels()
    held = windows.packed(channels, row.reach // row.down + 1)
    steps = (column.results + column.down - 1) // column.down
    spaced = (others * steps * windows.images[0],)
    return [Type((held,), node.dtype), *[Type(spaced, node.dtype)] * (column.down > 1)]


def _block_memory(node: Expr) -> Sequence[Type]:
    """The rows that a block of rows of results sees; and the block, if its rows are narrow."""
    windows = _Windows(node)
    row, column = windows.axes
    one = windows.packed(windows.inner, row.reach + row.up)
    wider = (column.slots() - 1) // column.results + 1
    held = one + windows.inner * _RUN * row.up * column.up * wider
    narrow = at_least(column.results, _LANES) is not True
    spaced = (windows.channels()[1] * row.results * _LANES,)
    return [Type((held,), node.dtype), *[Type(spaced, node.dtype)] * narrow]


@template("conv2d", memory=_memory, takes=_takes, orders=_orders)
def conv2d(out: CallWriter) -> None:
    """Each thread computes rows of results."""
    _convolve(out, 1, 0)


@template("conv2d_input_grad", memory=_memory, takes=_takes, orders=_orders)
def conv2d_input_grad(out: CallWriter) -> None:
    """A convolution too, whose weights have channels in and out exchanged."""
    _convolve(out, 0, 1)


def _convolve(out: CallWriter, inner: int, outer: int) -> None:
    out.include("convolution.h")
    windows, at = _Windows(out.node), out.loads[1].at
    group = at.strides[0] * (windows.out // windows.groups)
    fields = ("group", "in", "out", "row", "column")
    steps = (group, *(at.strides[k] for k in (inner, outer, 2, 3)))
    by = ", ".join(f".{name} = {size(n)}" for name, n in zip(fields, steps, strict=True))
    held, spaced = _own(_memory(out.node))
    with out.function():
        windows.declare(out)
        out.add(
            f"const dg_steps by = {{{by}}};",
            f"dg_convolve_{out.node.dtype.name}(DG_EVEN({windows.channels()[1]}, DG_OUT), me, "
            f"count, how, a0, a1{_plus(at)}, by, y0, {held}, {spaced});",
        )


@template("conv2d_weight_grad", memory=_block_memory, takes=_takes, orders=_orders)
def conv2d_weight_grad(out: CallWriter) -> None:
    """Each thread sums for weights of its own."""
    out.include("convolution.h")
    windows, (held, spaced) = _Windows(out.node), _own(_block_memory(out.node))
    inner, outer = windows.channels()
    places = inner * windows.axes[1].places
    blocks = f"DG_EVEN({outer}, DG_OUT_OF_PAIRS), DG_EVEN({places}, DG_PLACES_OF_PAIRS)"
    with out.function():
        windows.declare(out)
        out.add(
            f"dg_convolve_weights_{out.node.dtype.name}({blocks}, me, count, how, a0, a1, y0, "
            f"{held}, {spaced});"
        )


def _plus(at: Strided) -> str:
    return "" if same(at.offset, 0) else f" + {size(at.offset)}"


def _own(memory: Sequence[Type]) -> tuple[str, str]:
    """This thread's pieces of memory, of which the second may not be needed."""
    found = []
    for k, (shape, dtype, _) in enumerate(memory):
        step = size(product(shape) * dtype.itemsize)
        found.append(f"({memory_type(dtype)} *)(t{k} + me * dg_padded({step}))")
    held, spaced = [*found, "NULL"][:2]
    return held, spaced
