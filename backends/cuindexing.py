"""Elements gathered and scattered by indices, in CUDA. All are checked before any is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from deepgraph.backends.cfunction import parenthesised, times
from deepgraph.backends.clike import memory_type, register_type, size
from deepgraph.backends.cstrides import along, axes, order, place, plus, spread
from deepgraph.backends.cucalls import CallWriter, at, template
from deepgraph.backends.cuelements import THREADS, blocks, indices
from deepgraph.backends.indices import Check, broadcast, index_check, position, value_check
from deepgraph.backends.launch import Extent
from deepgraph.dims import bind, product
from deepgraph.dtypes import accumulator
from deepgraph.expr import Strided
from deepgraph.schedule import contiguous


@template("check_index")
def check_index(out: CallWriter) -> None:
    """The values, once all of them are known to be in range."""
    _checked(out, [value_check(out.loads, out.node.attr("n"), out.node.attr("what"))])
    with _over(out, out.store.at, out.loads[0].at) as (to, of):
        out.put(to, out.value(0, of))


@template("take")
def take(out: CallWriter) -> None:
    """A thread for each element of the result looks its index up."""
    k, y = out.node.attr("axis"), out.store.at
    x, index = out.loads[0].at, out.loads[1].at
    last = k + len(index.shape)
    _checked(out, [index_check(out.loads, 1, x.shape[k], k)])
    strides = (*x.strides[:k], *[0] * len(index.shape), *x.strides[k + 1 :])
    lines = Strided(y.shape, strides, x.offset)
    with _over(out, y, lines, spread(index, y.shape, k, last)) as (to, line, of):
        out.add(f"const dg_index j = {position(1, of, x.shape[k])};")
        out.add(f"y0[{to}] = a0[{plus(line, times('j', x.strides[k]))}];")


@template("flat_index")
def flat_index(out: CallWriter) -> None:
    """The place in a row-major array, digit by digit."""
    sizes, y = out.node.attr("shape"), out.store.at
    _checked(out, [index_check(out.loads, k, n, k) for k, n in enumerate(sizes)])
    given = [broadcast(a.at, y) for a in out.loads]
    with _over(out, y, *given) as (to, *places):
        out.add("int64_t flat = 0;")
        for k, (of, n) in enumerate(zip(places, sizes, strict=True)):
            out.add(f"flat = flat * {parenthesised(size(n))} + {position(k, of, n)};")
        out.put(to, "flat")


@template("scatter_add")
def scatter_add(out: CallWriter) -> None:
    """A thread for each element of the result adds up what is meant for it, in order.

    A block reads the indices in tiles, and its threads look only at those that are rows of theirs:
    (elements / THREADS) * (indices / THREADS) tiles in all.
    """
    node, k, n = out.node, out.node.attr("axis"), out.node.attr("size")
    x, index, y = out.loads[0].at, out.loads[1].at, out.store.at
    last = k + len(index.shape)
    _checked(out, [index_check(out.loads, 1, n, k)])
    kind = register_type(accumulator(node.dtype))
    total, many = size(product(y.shape)), size(product(index.shape))
    counters = [f"i{a}" for a in range(len(y.shape))]
    line = place([*x.strides[:k], *x.strides[last:]], counters[:k] + counters[k + 1 :], x.offset)
    found = axes([contiguous(index.shape), index, along(x, range(k, last))], {})
    inner = [f"i{a}" for a in range(len(found))]
    of, head = (place([a.strides[m] for a in found], inner) for m in (1, 2))
    sign = "|" if node.dtype.kind == "b" else "+"

    def grid(sizes: Mapping[str, int]) -> tuple[Extent, Extent]:
        return (blocks(bind(product(y.shape), sizes), THREADS), 1, 1), (THREADS, 1, 1)

    with out.function(grid):
        out.add(
            "if (*fault) return;", "__shared__ uint64_t shared[32];",
            f"__shared__ dg_index rows[{THREADS}], heads[{THREADS}];",
            f"__shared__ uint32_t hits[{THREADS // 32}];",
            "const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;",
            f"const dg_index element = dg_least(p, {total} - 1);",
            *indices(order(y), y.shape, "element"),
            *_extremes("dg_index", f"i{k}", "low", "high"),
            f"const dg_index line = {line};", f"{kind} sum = 0;",
        )  # fmt: skip
        with out.loop("start", "0", many, str(THREADS)):
            out.add("const dg_index q = start + threadIdx.x;", "dg_index row = -1;")
            with out.text.out.braces(f"if (q < {many})"):
                out.add(*indices(range(len(found)), [a.extent for a in found], "q"))
                out.add(f"row = {position(1, plus(of, size(index.offset)), n)};")
                out.add(f"heads[threadIdx.x] = {head};")
            out.add(
                "rows[threadIdx.x] = row;",
                "const uint32_t mine = __ballot_sync(~0u, row >= low && row <= high);",
                "if (threadIdx.x % 32 == 0) hits[threadIdx.x / 32] = mine;",
                "__syncthreads();",
            )
            with (
                out.loop("word", "0", str(THREADS // 32)),
                out.text.out.braces("for (uint32_t left = hits[word]; left; left &= left - 1)"),
            ):
                value = out.value(0, "line + heads[hit]")
                out.add("const int hit = word * 32 + __ffs(left) - 1;")
                out.add(f"if (rows[hit] == i{k}) sum = ({kind})(sum {sign} {value});")
            out.add("__syncthreads();")
        out.add(f"if (p < {total})")
        out.put(at(y, counters), "sum")


@contextmanager
def _over(out: CallWriter, *ats: Strided) -> Iterator[list[str]]:
    """A thread for each element, unless an index is bad."""
    with out.over(*ats) as found:
        out.add("if (*fault) return;")
        yield found


def _checked(out: CallWriter, checks: Sequence[Check]) -> None:
    """Functions that find whether an index is bad, and which one is told of.

    Any thread that meets one marks that in fault[1], unless there is a fault of what ran before.
    Then one block looks at all of them: of the first load that has a bad one it tells the least if
    that is too low, else the greatest.
    """
    out.include("indexing.h")
    for check in checks:
        with _over(out, out.loads[check.load].at) as (of,):
            out.add(f"if (dg_outside({_index(check, of)}, {check.range})) fault[1] = 1;")
    with out.function(lambda sizes: ((1, 1, 1), (THREADS, 1, 1))):
        out.add("if (*fault || !fault[1]) return;", "__shared__ uint64_t shared[32];")
        for check in checks:
            _tell(out, check)


def _tell(out: CallWriter, check: Check) -> None:
    index = out.loads[check.load].at
    many = size(product(index.shape))
    kind = memory_type(out.loads[check.load].value.dtype)
    found = axes([index], {})
    of = place([a.strides[0] for a in found], [f"i{a}" for a in range(len(found))], index.offset)
    with out.text.out.braces(f"if ({many})"):
        out.add(f"{kind} least = a{check.load}[{size(index.offset)}], greatest = least;")
        with out.loop("p", "threadIdx.x", many, "blockDim.x"):
            out.add(*indices(range(len(found)), [a.extent for a in found], "p"))
            out.add(
                f"const {kind} j = a{check.load}[{of}];",
                "least = j < least ? j : least;", "greatest = j > greatest ? j : greatest;",
            )  # fmt: skip
        out.add(*_extremes(kind, "least", "low", "", ), *_extremes(kind, "greatest", "", "high"))
        out.add(f"const int64_t told = dg_told((int64_t)low, (int64_t)high, {check.range});")
        with out.text.out.braces(f"if (dg_outside(told, {check.range}))"):
            number = out.check(check.error)
            out.add(
                f"if (threadIdx.x == 0) fault[0] = {number + 1}, fault[1] = told, "
                f"fault[2] = {size(check.n)};", "return;",
            )  # fmt: skip


def _index(check: Check, of: str) -> str:
    return f"(int64_t)a{check.load}[{of}]"


def _extremes(kind: str, value: str, low: str, high: str) -> list[str]:
    """Lines that give the least and the greatest value of a block's threads, by these names."""
    return [
        f"const {kind} {name} = dg_across_x({value}, []({kind} &into, {kind} value) "
        f"{{ into = value {sign} into ? value : into; }}, shared);"
        for name, sign in ((low, "<"), (high, ">")) if name
    ]
