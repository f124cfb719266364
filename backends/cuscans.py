"""What goes along an axis, in CUDA: running results, and where extremes stand.

The threads of one line lie along x, one or more of them; those of other lines along y.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from deepgraph.backends.clike import converted, number, register_type, size
from deepgraph.backends.cscans import worst
from deepgraph.backends.cstrides import order
from deepgraph.backends.cucalls import CallWriter, at, template
from deepgraph.backends.cuelements import THREADS, blocks, ceiling, indices
from deepgraph.backends.launch import Extent
from deepgraph.dims import bind, product
from deepgraph.dtypes import accumulator, is_float
from deepgraph.expr import Strided

_BUSY = 1 << 15  # threads that keep a device busy
_SHARE = 16  # elements of a line that are worth a thread of their own


class _Lines:
    """The lines along some axes of an array.

    If they are `shared`, lines that are few or whose elements lie side by side in memory have
    several threads each.
    """

    def __init__(
        self, out: CallWriter, given: Strided, axes: Sequence[int], shared: bool, beside: bool
    ) -> None:  # fmt: skip
        self.out, self.shape, self.axes, self.shared = out, given.shape, axes, shared
        inner = order(given)
        self.beside = beside and inner[-1:] != () and inner[-1] in axes
        self.rows = [a for a in inner if a not in axes]
        self.length = product(given.shape[a] for a in axes)

    @contextmanager
    def function(self) -> Iterator[list[str]]:
        """What a line's threads do; gives the index along each axis, of `axes` from i0 on too.

        Threads of no line repeat the last one, so that all meet; they are not `live`.
        """
        total = size(product(self.shape[a] for a in self.rows))
        with self.out.function(self._grid):
            self.out.add(
                "const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;",
                f"const bool live = place < {total};",
                f"const dg_index row = dg_least(place, {total} - 1);",
                *indices(self.rows, self.shape, "row"),
            )
            yield [f"i{a}" for a in range(len(self.shape))]

    @contextmanager
    def steps(self, low: str, high: str, step: str = "1") -> Iterator[None]:
        """Elements j of the line, in order."""
        with self.out.loop("j", low, high, step):
            self.out.add(*indices(self.axes, self.shape, "j"))
            yield

    def _grid(self, sizes: Mapping[str, int]) -> tuple[Extent, Extent]:
        lines: int = bind(product(self.shape[a] for a in self.rows), sizes)
        worth = blocks(bind(self.length, sizes), _SHARE)
        wanted = worth if self.beside else min(worth, blocks(_BUSY, max(lines, 1)))
        lanes = ceiling(min(wanted, THREADS)) if self.shared else 1
        return (blocks(lines, THREADS // lanes), 1, 1), (lanes, THREADS // lanes, 1)


@template("cumulative_sum")
def cumulative_sum(out: CallWriter) -> None:
    """The sum so far."""
    _accumulate(out, "|" if out.node.dtype.kind == "b" else "+", 0)


@template("cumulative_prod")
def cumulative_prod(out: CallWriter) -> None:
    """The product so far."""
    _accumulate(out, "&" if out.node.dtype.kind == "b" else "*", 1)


def _accumulate(out: CallWriter, sign: str, start: int) -> None:
    """Each thread adds up its stretch of a line, then what lies before it, then goes over it again.

    Products of floats are no business of several threads: one of them may come to infinity where
    it is multiplied by an earlier 0.
    """
    given, wide = out.loads[0].value.dtype, accumulator(out.node.dtype)
    kind, none = register_type(wide), number(start, wide)
    x, y, axis = out.loads[0].at, out.store.at, out.node.attr("axis")
    shared = sign != "*" or not is_float(wide)
    lines = _Lines(out, y, [axis], shared, beside=False)
    n = size(lines.length)
    with lines.function() as i:
        value = converted(out.value(0, at(x, i)), given, wide)
        more = f"total = ({kind})(total {sign} {value});"
        out.add(f"{kind} total = {none};")
        if shared:
            out.add(
                f"__shared__ {kind} totals[{THREADS}];",
                f"const dg_index share = ({n} + blockDim.x - 1) / blockDim.x;",
                f"const dg_index low = dg_least(threadIdx.x * share, {n});",
                f"const dg_index high = dg_least(low + share, {n});",
            )
            with out.text.out.braces("if (blockDim.x > 1)"):
                with lines.steps("low", "high"):
                    out.add(more)
                out.add(
                    f"{kind} *const mine = totals + threadIdx.y * blockDim.x;",
                    "mine[threadIdx.x] = total;", "__syncthreads();", f"total = {none};",
                    "for (int k = 0; k < threadIdx.x; k++) "
                    f"total = ({kind})(total {sign} mine[k]);",
                )  # fmt: skip
        with lines.steps(*(("low", "high") if shared else ("0", n))):
            out.add(more, "if (live)")
            out.put(at(y, i), "total")


@template("linear_recurrence")
def linear_recurrence(out: CallWriter) -> None:
    """The result before times a, and b added; the first is b alone. A thread a line."""
    wide = accumulator(out.node.dtype)
    kind, y = register_type(wide), out.store.at
    lines = _Lines(out, y, [out.node.attr("axis")], shared=False, beside=False)
    with lines.function() as i:
        a, b = (
            converted(out.value(k, at(load.at, i)), load.value.dtype, wide)
            for k, load in enumerate(out.loads)
        )
        both = f"({kind})(last * {a}) + b"
        if out.node.dtype.kind == "b":
            both = f"(last & {a}) | b"
        out.add(f"{kind} last = 0;")
        with lines.steps("0", size(lines.length)):
            out.add(f"const {kind} b = {b};", f"last = j == 0 ? b : ({kind})({both});", "if (live)")
            out.put(at(y, i), "last")


@template("argmax")
def argmax(out: CallWriter) -> None:
    """The first of the greatest."""
    _extreme(out, greatest=True)


@template("argmin")
def argmin(out: CallWriter) -> None:
    """The first of the least."""
    _extreme(out, greatest=False)


def _extreme(out: CallWriter, greatest: bool) -> None:
    """Each thread finds the best of its elements, then all of them the first place of the best.

    They step on only to what is better, or to a NaN, from which nothing leads away.
    """
    x, dtype, axis = out.loads[0].at, out.loads[0].value.dtype, out.node.attr("axis")
    kind, sign = register_type(dtype), ">" if greatest else "<"
    nans = is_float(dtype)
    axes = range(len(x.shape)) if axis is None else [axis]
    lines = _Lines(out, x, axes, shared=True, beside=True)
    n, y = size(lines.length), out.store.at
    start = number(worst(dtype, greatest), dtype)
    kept = [f"i{a}" if a in lines.rows else "0" for a in range(len(x.shape))]
    counters = kept if out.node.attr("keepdims") else [f"i{a}" for a in sorted(lines.rows)]

    def better(value: str, best: str) -> str:
        found = f"{value} {sign} {best}"
        return f"{best} == {best} && ({found} || {value} != {value})" if nans else found

    with lines.function() as i:
        out.add(
            "__shared__ uint64_t shared[32];", f"{kind} best = {start};", "dg_index where = 0;",
        )  # fmt: skip
        with lines.steps("threadIdx.x", n, "blockDim.x"):
            out.add(f"const {kind} x = {out.value(0, at(x, i))};")
            out.add(f"if ({better('x', 'best')}) best = x, where = j;")
        take = f"if ({better('value', 'into')}) into = value;"
        out.add(
            f"const {kind} top = dg_across_x(best, []({kind} &into, {kind} value) "
            f"{{ {take} }}, shared);",
            f"if (best != top{' && (best == best || top == top)' * nans}) where = {n};",
            "where = dg_across_x(where, [](dg_index &into, dg_index value) "
            "{ into = dg_least(into, value); }, shared);",
            "if (live && threadIdx.x == 0)",
        )
        out.put(at(y, counters), "where")
