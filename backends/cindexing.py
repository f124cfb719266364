"""Elements gathered and scattered by indices, as C. All are checked before anything is written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext

from deepgraph.backends.ccalls import CallWriter, template
from deepgraph.backends.cfunction import parenthesised, times
from deepgraph.backends.clike import memory_type, size
from deepgraph.backends.cstrides import along, plus, shared, spread, typical
from deepgraph.backends.indices import Check, broadcast, index_check, position, value_check
from deepgraph.dims import product
from deepgraph.dtypes import accumulator
from deepgraph.expr import Expr, Strided, Type
from deepgraph.schedule import contiguous

_WIDE = 64  # elements of a row from which threads share its columns rather than the rows


@template("check_index")
def check_index(out: CallWriter) -> None:
    """The values, once all of them are known to be in range."""
    _checked(out, [value_check(out.loads, out.node.attr("n"), out.node.attr("what"))])
    with out.function(), out.over(out.store.at, out.loads[0].at, share=True) as (to, at):
        out.put(to, out.value(0, at))


@template("take")
def take(out: CallWriter) -> None:
    """In the order of the result, an index for all that lies behind it."""
    k, y = out.node.attr("axis"), out.store.at
    x, at = out.loads[0].at, out.loads[1].at
    last = k + len(at.shape)
    _checked(out, [index_check(out.loads, 1, x.shape[k], k)])
    strides = (*x.strides[:k], *[0] * len(at.shape), *x.strides[k + 1 :])
    lines = Strided(y.shape, strides, x.offset)
    with out.function(), out.over(y, lines, spread(at, y.shape, k, last), share=True) as found:
        to, line, place = found
        out.add(f"const int64_t j = {position(1, place, x.shape[k])};")
        out.add(f"y0[{to}] = a0[{plus(line, times('j', x.strides[k]))}];")


@template("flat_index")
def flat_index(out: CallWriter) -> None:
    """The place in a row-major array, digit by digit."""
    sizes, y = out.node.attr("shape"), out.store.at
    _checked(out, [index_check(out.loads, k, n, k) for k, n in enumerate(sizes)])
    given = [broadcast(a.at, y) for a in out.loads]
    with out.function(), out.over(y, *given, share=True) as (to, *places):
        out.add("int64_t flat = 0;")
        for k, (place, n) in enumerate(zip(places, sizes, strict=True)):
            out.add(f"flat = flat * {parenthesised(size(n))} + {position(k, place, n)};")
        out.put(to, "flat")


def _sums(node: Expr) -> list[Type]:
    """Half precision adds up in single, in memory of each thread's own."""
    wide = accumulator(node.dtype)
    return [Type(node.shape[node.attr("axis") :], wide)] if wide != node.dtype else []


@template("scatter_add", memory=_sums)
def scatter_add(out: CallWriter) -> None:
    """Each thread adds up some columns or some rows: however many there are, in the same order."""
    node, k, n = out.node, out.node.attr("axis"), out.node.attr("size")
    x, at, y = out.loads[0].at, out.loads[1].at, out.store.at
    last = k + len(at.shape)
    _checked(out, [index_check(out.loads, 1, n, k)])
    rows = along(y, range(k, len(y.shape)))  # and their columns
    sums, name = (contiguous(rows.shape), "sums") if _sums(node) else (rows, "y0")
    wide = [a for a in range(1, len(rows.shape)) if typical(rows.shape[a]) >= _WIDE]
    axis = wide[shared([rows.shape[a] for a in wide])] if wide else 0
    with out.function(), ExitStack() as loops:
        step = 16 if axis == len(rows.shape) - 1 else 1
        bounds = {axis: out.stretch(size(rows.shape[axis]), step)}
        columns = {a - 1: b for a, b in bounds.items() if a}
        if name == "sums":
            own = f"t0 + me * dg_padded({size(product(sums.shape) * 4)})"
            out.add(f"float *const restrict sums = (float *)({own});")
        outer = out.over(along(y, range(k)), along(x, range(k), x.offset), simd=False)
        row, line = loops.enter_context(outer)
        start = row if name == "y0" else ""
        with out.over(sums, bounds=bounds, starts=[start]) as (to,):
            out.add(f"{name}[{to}] = 0;")
        with out.over(
            contiguous(at.shape), along(x, range(k, last)), at, starts=["", line], simd=False
        ) as (_, head, place):  # fmt: skip
            out.add(f"const int64_t j = {position(1, place, n)};")
            low, high = bounds.get(0, ("", ""))
            mine = out.out.braces(f"if (j >= {low} && j < {high})") if low else nullcontext()
            to_row = plus(start, times("j", sums.strides[0]))
            into, of = along(sums, range(1, len(sums.shape))), along(x, range(last, len(x.shape)))
            with mine, out.over(into, of, starts=[to_row, head], bounds=columns) as (to, from_):
                sign = "|=" if node.dtype.kind == "b" else "+="
                out.add(f"{name}[{to}] {sign} {out.value(0, from_)};")
        if name == "sums":
            with out.over(rows, sums, starts=[row], bounds=bounds) as (to, from_):
                out.put(to, f"sums[{from_}]")


def _checked(out: CallWriter, checks: Sequence[Check]) -> None:
    """A function that finds whether an index is bad.

    A thread that meets one looks at all of them, so that whoever it is tells of the same one: of
    the first load that has a bad one the least if that is too low, else the greatest.
    """
    out.include("indexing.h")
    with out.function():
        out.add("int bad = 0;")
        for check in checks:
            at = out.loads[check.load].at
            with out.over(at, share=True, clauses=" reduction(|:bad)") as (place,):
                out.add(f"bad |= dg_outside((int64_t)a{check.load}[{place}], {check.range});")
        out.add("if (!__builtin_expect(bad, 0)) return;")
        for check in checks:
            number = out.check(check.error)
            access = out.loads[check.load]
            kind = memory_type(access.value.dtype)
            with out.out.braces(f"if ({size(product(access.at.shape))})"):
                out.add(f"{kind} least = a{check.load}[{size(access.at.offset)}];")
                out.add(f"{kind} greatest = least;")
                with out.over(access.at, simd=False) as (place,):
                    out.add(
                        f"const {kind} j = a{check.load}[{place}];",
                        "least = j < least ? j : least;", "greatest = j > greatest ? j : greatest;",
                    )  # fmt: skip
                told = f"dg_told((int64_t)least, (int64_t)greatest, {check.range})"
                out.add(f"const int64_t told = {told};")
                with out.out.braces(f"if (dg_outside(told, {check.range}))"):
                    out.add(f"dg_fault(call, {number}, told, {size(check.n)});", "return;")

