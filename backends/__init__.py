"""What runs a plan: each backend writes its source, then loads it on its device."""

from __future__ import annotations

if __name__ != "deepgraph.backends":
    raise ImportError("this folder is imported as deepgraph.backends")
