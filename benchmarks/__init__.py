"""How fast deepgraph is beside what else does the same work, measured in one run.

`python -m benchmarks [suite ...]`, from a checkout. Ratios are a peer's time over deepgraph's:
above 1 deepgraph is faster. A suite is a module with `rows(seconds, quick)`, named in `__main__`;
a peer for whole training steps is a function in `steps.PEERS`.
"""
