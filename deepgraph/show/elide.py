"""Leave out the middle of a drawing that is too large to be looked at."""

from __future__ import annotations

from dataclasses import replace

from deepgraph.show.drawing import Drawing, Edge, Node


def elided(drawing: Drawing, limit: int) -> Drawing:
    """The drawing with about `limit` nodes: the first, the last, and a note that counts the others.

    A kernel is left out whole. Edges into what is left out, and out of it, meet the note.
    """
    count, half = len(drawing.nodes), max(limit // 2, 1)
    if count <= limit:
        return drawing
    middle = range(half, count - half)
    broken = {drawing.nodes[k].cluster for k in middle} - {None}
    kept = [k for k, n in enumerate(drawing.nodes) if k not in middle and n.cluster not in broken]
    before = sum(k < half for k in kept)
    number = {k: i + (i >= before) for i, k in enumerate(kept)}
    clusters = sorted({c for k in kept if (c := drawing.nodes[k].cluster) is not None})
    renumbered = {c: i for i, c in enumerate(clusters)}
    nodes = [
        replace(n, cluster=None if n.cluster is None else renumbered[n.cluster])
        for n in (drawing.nodes[k] for k in kept)
    ]
    nodes.insert(before, Node(f"… {count - len(kept):,} more nodes", "note"))
    edges: dict[Edge, None] = {}
    for edge in drawing.edges:
        tail, head = number.get(edge.tail, before), number.get(edge.head, before)
        if tail < head:
            met = before in (tail, head)
            edges[Edge(tail, head, "data" if met else edge.kind)] = None
    return Drawing(tuple(nodes), tuple(edges), tuple(drawing.clusters[c] for c in clusters))
