"""Views: which value a node shows, along which axes, and where its elements lie in memory."""

from __future__ import annotations

from collections.abc import Container, Iterable

from deepgraph.dims import dim, same
from deepgraph.expr import Expr, Kind, Strided

Axes = tuple[int | None, ...]  # for each axis of a view, the axis of its base; None where size 1


def chain(node: Expr, stop: Container[Expr] = ()) -> tuple[Expr, list[Expr]]:
    """What a node shows, and the views through which, from the inside out.

    It is the first that is no view, or that is in `stop`, a dict or a set.
    """
    views = []
    while node.op.kind is Kind.VIEW and node not in stop:
        views.append(node)
        node = node.inputs[0]
    return node, views[::-1]


def follow(at: Strided, views: Iterable[Expr]) -> Strided | Expr:
    """Where the elements of the last view lie; or the first view that strides cannot express."""
    for view in views:
        assert view.op.view is not None
        step = view.op.view(at, view)
        if step is None:
            return view
        at = step
    return at


class Alignments:
    """How views line up with the values they show, as far as a fused kernel can follow."""

    def __init__(self) -> None:
        self._known: dict[Expr, tuple[Expr, Axes | None]] = {}

    def of(self, node: Expr) -> tuple[Expr, Axes | None]:
        """The value that `node` shows, and for each axis of `node` the axis of that value.

        None instead of axes where elements move in another way than by permuting, adding,
        dropping or stretching axes: a slice, a flip, a reshape that splits or merges.
        """
        node, views = chain(node, self._known)
        base, axes = self._known.get(node) or (node, tuple(range(node.ndim)))
        for view in views:
            axes = _compose(axes, view)
            self._known[view] = base, axes
        return base, axes


def _compose(axes: Axes | None, view: Expr) -> Axes | None:
    """Follow one more view, by watching what its strided rule does to nameable strides."""
    if axes is None:
        return None
    (source,) = view.inputs
    probes = tuple(dim(f"axis{k}_") for k in range(source.ndim))
    assert view.op.view is not None
    seen = view.op.view(Strided(source.shape, probes), view)
    if seen is None or not same(seen.offset, 0):
        return None
    found: list[int | None] = []
    for n, stride in zip(seen.shape, seen.strides, strict=True):
        if same(n, 1) or same(stride, 0):
            found.append(None)
            continue
        hits = [k for k, p in enumerate(probes) if same(p, stride) and same(n, source.shape[k])]
        if not hits:
            return None
        found.append(axes[hits[0]])
    shown = [k for k in found if k is not None]
    wanted = {a for a, n in zip(axes, source.shape, strict=True) if not same(n, 1)} - {None}
    once = len(set(shown)) == len(shown)  # not a diagonal
    return tuple(found) if once and wanted <= set(shown) else None
