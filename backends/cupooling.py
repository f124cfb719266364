"""Pooling in CUDA: a thread for each window, or for each place that asks its windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deepgraph.backends.cfunction import parenthesised, times
from deepgraph.backends.clike import converted, number, register_type, size
from deepgraph.backends.cstrides import order
from deepgraph.backends.cucalls import CallWriter, at, template
from deepgraph.backends.cuwindows import holding
from deepgraph.dims import Shape, same
from deepgraph.dtypes import accumulator, is_float, least


class _Pooling:
    """The windows of images of a height and width; those of pooled images are their number."""

    def __init__(self, out: CallWriter, images: Shape, pooled: Shape) -> None:
        self.out, self.images, self.pooled = out, images[2:], pooled[2:]
        self.kernel, self.stride = out.node.attr("window"), out.node.attr("stride")
        self.pads = out.node.attr("padding")
        self.padded = any(not same(n, 0) for pads in self.pads for n in pads)

    def reach(self, windows: Sequence[str]) -> None:
        """From where to where a window goes in the image: low0 to high0, low1 to high1."""
        for a, (w, n) in enumerate(zip(windows, self.images, strict=True)):
            start = times(w, self.stride[a])
            if not self.padded:
                low, high = start, f"low{a} + {self.kernel[a]}"
            else:
                start = f"{start} - {parenthesised(size(self.pads[a][0]))}"
                low = f"dg_most({start}, 0)"
                high = f"dg_least({start} + {self.kernel[a]}, {size(n)})"
            self.out.add(f"const dg_index low{a} = {low};", f"const dg_index high{a} = {high};")

    @contextmanager
    def places(self) -> Iterator[list[str]]:
        """Loops over the places that a window reaches in the image."""
        with self.out.loop("row", "low0", "high0"), self.out.loop("column", "low1", "high1"):
            yield ["row", "column"]

    @contextmanager
    def holding(self, places: Sequence[str]) -> Iterator[list[str]]:
        """Loops over the windows that hold a place of the image."""
        rows, columns = (
            holding(self.out, str(a), places[a], self.pooled[a], self.kernel[a], self.stride[a],
                    before=self.pads[a][0])
            for a in (0, 1)
        )  # fmt: skip
        once = "#pragma unroll 1"  # what is done for a window holds a division
        self.out.add(once)
        with rows as (_, row):
            self.out.add(once)
            with columns as (_, column):
                yield [row, column]

    def divisor(self) -> str:
        """By how much the sum of what a window reaches is divided."""
        rows, columns = self.kernel
        if self.out.node.attr("count_include_pad") or not self.padded:
            return str(rows * columns)
        return "((high0 - low0) * (high1 - low1))"


@template("max_pool2d")
def max_pool2d(out: CallWriter) -> None:
    """The greatest so far, and whether there was a NaN."""
    dtype, x, y = out.node.dtype, out.loads[0].at, out.store.at
    kind, nans = register_type(dtype), is_float(dtype)
    with out.each(*y.shape, order=order(y)) as i:
        pooling = _Pooling(out, x.shape, y.shape)
        out.add(f"{kind} top = {number(least(dtype), dtype)};", *["bool nan = false;"] * nans)
        pooling.reach(i[2:])
        with pooling.places() as places:
            out.add(f"const {kind} x = {out.value(0, at(x, i[:2] + places))};")
            out.add("top = x > top ? x : top;", *["nan |= x != x;"] * nans)
        out.put(at(y, i), f"nan ? ({kind})NAN : top" if nans else "top")


@template("max_pool2d_grad")
def max_pool2d_grad(out: CallWriter) -> None:
    """Of each window of which a place is the greatest, its share."""
    kind, dx = register_type(out.node.dtype), out.store.at
    g, x, y = (a.at for a in out.loads)
    with out.each(*dx.shape, order=order(dx)) as i:
        pooling = _Pooling(out, x.shape, y.shape)
        out.add(f"const auto x = {out.value(1, at(x, i))};", f"{kind} sum = 0;")
        with pooling.holding(i[2:]) as windows:
            out.add(f"const auto top = {out.value(2, at(y, i[:2] + windows))};")
            out.add("if (x != top) continue;", f"{kind} hits = 0;")
            pooling.reach(windows)
            with pooling.places() as places:
                out.add(f"hits += {out.value(1, at(x, i[:2] + places))} == top;")
            out.add(f"sum += {out.value(0, at(g, i[:2] + windows))} / hits;")
        out.put(at(dx, i), "sum")


@template("max_pool2d_jvp")
def max_pool2d_jvp(out: CallWriter) -> None:
    """The mean over the places that are the greatest."""
    kind, dy = register_type(out.node.dtype), out.store.at
    t, x, y = (a.at for a in out.loads)
    with out.each(*dy.shape, order=order(dy)) as i:
        pooling = _Pooling(out, x.shape, y.shape)
        out.add(f"const auto top = {out.value(2, at(y, i))};", f"{kind} sum = 0, hits = 0;")
        pooling.reach(i[2:])
        with pooling.places() as places:
            place = i[:2] + places
            out.add(f"const bool hit = {out.value(1, at(x, place))} == top;", "hits += hit;")
            out.add(f"if (hit) sum += {out.value(0, at(t, place))};")
        out.put(at(dy, i), "sum / hits")


@template("avg_pool2d")
def avg_pool2d(out: CallWriter) -> None:
    """The sum, in single precision or double, over how many there are."""
    given, wide = out.loads[0].value.dtype, accumulator(out.node.dtype)
    kind, x, y = register_type(wide), out.loads[0].at, out.store.at
    with out.each(*y.shape, order=order(y)) as i:
        pooling = _Pooling(out, x.shape, y.shape)
        out.add(f"{kind} sum = 0;")
        pooling.reach(i[2:])
        with pooling.places() as places:
            value = out.value(0, at(x, i[:2] + places))
            out.add(f"sum += {converted(value, given, wide)};")
        out.put(at(y, i), f"sum / ({kind}){pooling.divisor()}")


@template("avg_pool2d_grad")
def avg_pool2d_grad(out: CallWriter) -> None:
    """Of each window that holds a place, an equal share."""
    kind = register_type(accumulator(out.node.dtype))
    g, dx = out.loads[0].at, out.store.at
    with out.each(*dx.shape, order=order(dx)) as i:
        pooling = _Pooling(out, dx.shape, g.shape)
        out.add(f"{kind} sum = 0;")
        with pooling.holding(i[2:]) as windows:
            by = pooling.divisor()
            if "low" in by:
                pooling.reach(windows)
            out.add(f"sum += {out.value(0, at(g, i[:2] + windows))} / ({kind}){by};")
        out.put(at(dx, i), "sum")
