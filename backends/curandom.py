"""Random draws in CUDA: a thread makes one block of words, and the elements of it."""

from __future__ import annotations

from collections.abc import Callable

from deepgraph.backends.clike import memory_type, size, stored
from deepgraph.backends.crandom import PRECISION, place_of
from deepgraph.backends.cucalls import CallWriter, template
from deepgraph.dims import product
from deepgraph.schedule import contiguous, same_strided


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
    """Two of each two words, or pairs of them."""
    if out.node.dtype.name == "float64":
        made = ["double normals[2];", "dg_long_normals(words, normals);"]
    else:
        made = ["float normals[4];"]
        made += [f"dg_normals(words + {k}, normals + {k});" for k in (0, 2)]
    _draw(out, lambda k: f"normals[{k}]", *made)


def _draw(out: CallWriter, value: Callable[[int], str], *made: str) -> None:
    """The elements of a block, stored at once where they lie side by side."""
    out.include("philox.h")
    key, counter = (f"(uint64_t)a{k}[{size(a.at.offset)}]" for k, a in enumerate(out.loads))
    dtype = out.node.dtype
    per = 2 if dtype.itemsize == 8 else 4
    n = product(out.node.shape)
    with out.each((n + per - 1) // per) as (block,):
        out.add(
            "uint32_t words[4];", f"const dg_index first = {block} * {per};",
            f"dg_philox({key}, {counter}, {out.node.attr('id')}u, (uint32_t){block}, words);",
            *made,
        )  # fmt: skip
        if same_strided(out.store.at, contiguous(out.node.shape)):
            values = ", ".join(stored(value(k), dtype) for k in range(per))
            with out.text.out.braces(f"if (first + {per} <= {size(n)})"):
                out.add(f"const dg_pack<{memory_type(dtype)}, {per}> pack = {{{{{values}}}}};")
                out.add(f"dg_save<{per}>(y0 + first, pack);", "return;")
        for k in range(per):
            out.add(f"if (first + {k} < {size(n)})")
            out.put(place_of(out.store.at, f"first + {k}"), value(k))
