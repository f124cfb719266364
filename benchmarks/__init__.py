"""How fast deepgraph is beside what else does the same work, measured in one run.

`python -m benchmarks [peers|calls|compile]`, from a checkout; `--only mlp,exp` picks groups of
workloads, `--markdown benchmarks/RESULTS.md` keeps the tables. A suite is one or more modules with
`GROUPS` and `rows(group, seconds, quick)`, named in `__main__`; each group runs in a process of its
own. What deepgraph is compared with is a module of `peers`, and need not be installed.
"""
