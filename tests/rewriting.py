"""What tests of rewriting share: simplified expressions, their text, and values that tell."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from aid import run

import deepgraph as dg
from deepgraph.backends.reference import value
from deepgraph.dims import pretty
from deepgraph.expr import Expr
from deepgraph.graph import Graph, toposort
from deepgraph.passes.fold import fold
from deepgraph.passes.simplify import simplify
from deepgraph.target import Target

Array = npt.NDArray[Any]
TARGET = Target("any")


def folded(y: Expr) -> Expr:
    """What the pass `fold` makes of an expression."""
    graph = fold(Graph((), {"y": y}), TARGET, value)
    graph.verify()
    return graph.outputs["y"]


def simplified(y: Expr, stable: bool = True) -> Expr:
    """What the pass `simplify` makes of an expression; run again, it must find nothing."""
    graph = simplify(Graph((), {"y": y}), TARGET, value, stable)
    graph.verify()
    assert graph.outputs["y"].dtype == y.dtype
    again = simplify(graph, TARGET, value, stable)
    assert again.outputs["y"] is graph.outputs["y"]
    return graph.outputs["y"]


def text(y: Expr) -> str:
    """An expression as calls: `multiply(x, 2.0)`; of attributes only those that views need."""
    known: dict[Expr, str] = {}
    for node in toposort([y]):
        parts = [known[i] for i in node.inputs]
        if node.op.name == "constant":
            known[node] = repr(node.attr("value"))
        elif node.name:
            known[node] = node.name
        else:
            keep = ("axis", "axes", "index", "keepdims", "dtype", "value", "n")
            parts += [str(v) for k, v in node.attributes.items() if k in keep]
            parts += [pretty(v) for k, v in node.attributes.items() if k == "shape"]
            known[node] = f"{node.op.name}({', '.join(parts)})"
    return known[y]


def telling(dtype: Any) -> Array:
    """Values of a dtype at which algebra goes wrong."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        some = [limits.min, limits.min + 1, -7, -2, -1, 0, 1, 2, 3, 100, limits.max - 1, limits.max]
        return np.array([n for n in some if n >= limits.min], kind)
    limit = np.finfo(kind)
    some = [0.0, limit.smallest_subnormal, limit.smallest_normal, 1 - limit.epsneg, 1.0,
            1 + limit.eps, 1 / 3, 2.0, 7.7, limit.max, np.inf]  # fmt: skip
    return np.array([*some, *(-np.array(some)), np.nan], kind)


def all_together(dtypes: Sequence[Any]) -> Iterator[Array]:
    """Arrays of one length, of these dtypes, in which all telling values meet."""
    met = itertools.product(*map(telling, dtypes))
    for column, dtype in zip(zip(*met, strict=True), dtypes, strict=True):
        yield np.array(column, dtype)


def assert_same_bits(found: Array, expected: Array) -> None:
    """Equal in dtype, shape and every bit, -0.0 included; only which nan it is may differ."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    bits = f"u{found.dtype.itemsize}"
    differ = (found.view(bits) != expected.view(bits)) & ~np.isnan(found)
    assert not differ.any(), f"{found[differ][:5]} instead of {expected[differ][:5]}"


def check_exact(y: Expr, feeds: Mapping[Expr, Any], stable: bool = False) -> Expr:
    """Simplify; the value must keep every bit."""
    better = simplified(y, stable)
    sizes = {d: len(v) for x, v in feeds.items() for d in map(str, x.shape[:1]) if d.isidentifier()}
    assert_same_bits(run(better, feeds, sizes), run(y, feeds, sizes))
    return better


def vector(name: str, dtype: Any = "float32") -> Expr:
    """A placeholder of n elements."""
    return dg.placeholder(name, ("n",), dtype)
