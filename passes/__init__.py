"""What rewrites a graph, fuses it into kernels, orders them and places their values."""

from __future__ import annotations

if __name__ != "deepgraph.passes":
    raise ImportError("this folder is imported as deepgraph.passes")
