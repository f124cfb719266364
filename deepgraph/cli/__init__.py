"""The commands of `python -m deepgraph`: one module each, with `arguments` and `run`."""
