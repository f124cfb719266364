"""Random draws as C: each thread makes some of the blocks, in the order that `philox` says."""

from __future__ import annotations

from collections.abc import Callable

from deepgraph.backends.ccalls import CallWriter, template
from deepgraph.backends.cfunction import parenthesised, times
from deepgraph.backends.clike import size
from deepgraph.backends.cstrides import plus
from deepgraph.dims import Size, product, same
from deepgraph.expr import Strided
from deepgraph.schedule import contiguous, same_strided

PRECISION = {"float16": 11, "bfloat16": 8, "float32": 24}


@template("philox_bits")
def philox_bits(out: CallWriter) -> None:
    """The words themselves."""
    _draw(out, lambda k: f"words[{k}]")


@template("philox_uniform")
def philox_uniform(out: CallWriter) -> None:
    """The leading bits of each word, or of two."""
    name = out.node.dtype.name
    if name == "float64":
        _draw(out, lambda k: f"dg_long_uniform(dg_long_word(words, {k}))")
    else:
        _draw(out, lambda k: f"dg_uniform(words[{k}], {PRECISION[name]})")


@template("philox_normal")
def philox_normal(out: CallWriter) -> None:
    """All normals of some blocks, which then go to their places."""
    wide = out.node.dtype.name == "float64"
    kind, name = ("double", "dg_draw_long_normals") if wide else ("float", "dg_draw_normals")
    _draw(out, lambda k: f"normals[{k}]", f"{kind} normals[DG_WORDS];", f"{name}(words, normals);")


def _draw(out: CallWriter, value: Callable[[str], str], *made: str) -> None:
    """Blocks by the strip, each element of it by its place among them."""
    out.include("draws.h")
    key, counter = (f"(uint64_t)a{k}[{size(a.at.offset)}]" for k, a in enumerate(out.loads))
    per = 2 if out.node.dtype.itemsize == 8 else 4
    total = size(product(out.node.shape))
    with out.function():
        out.add("uint32_t words[DG_WORDS];", *made[:-1])
        low, high = out.stretch(f"({total} + {per - 1}) / {per}", 64)
        with out.loop("block", low, high, 64):
            out.add(
                f"const int64_t first = block * {per};",
                f"const int64_t end = dg_min({high} * {per}, {total});",
                f"const int64_t many = dg_min({per} * DG_BLOCKS, end - first);",
                f"dg_draw({key}, {counter}, {out.node.attr('id')}u, block, words);", *made[-1:],
            )  # fmt: skip
            out.add("#pragma omp simd")
            with out.loop("k", "0", "many"):
                out.put(place_of(out.store.at, "first + k"), value("k"))


def place_of(at: Strided, element: str) -> str:
    """Where an element lies whose number counts in row-major order."""
    rows = contiguous(at.shape)
    if same_strided(at, rows):
        return element
    terms = []
    for n, stride, step in zip(at.shape, at.strides, rows.strides, strict=True):
        if not same(n, 1):
            terms.append(times(f"(({element}) / {_divisor(step)} % {_divisor(n)})", stride))
    return plus(*terms)


def _divisor(n: Size) -> str:
    return parenthesised(size(n))
