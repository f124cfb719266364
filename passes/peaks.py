"""What a schedule's memory peaks at, and what its graph needs at least where nothing is fused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, cast

from deepgraph.arena import rounded
from deepgraph.dims import Shape, bind, product, same
from deepgraph.dtypes import DType
from deepgraph.expr import Expr, Kind, Type
from deepgraph.graph import Graph
from deepgraph.passes.layout import layout
from deepgraph.passes.order import TYPICAL, Task, arranged, order
from deepgraph.passes.place import place
from deepgraph.passes.views import chain, follow
from deepgraph.plan import Plan, times
from deepgraph.schedule import Kernel, Schedule, contiguous
from deepgraph.target import Target

_NAMES = 4  # named sizes that are also tried large while the others are small

Hints = Mapping[str, int]
Types = dict[tuple[Shape, DType], int]  # numbered


def samples(graph: Graph, hints: Hints) -> list[dict[str, int]]:
    """The sizes at which plans are compared: all small, typical, large, and each alone large."""
    free = [n for n in graph.sizes if n not in hints]
    if not free:
        return [dict(hints)]
    small, large = 1, 16 * TYPICAL
    found = [{**dict.fromkeys(free, n), **hints} for n in (small, TYPICAL - 1, TYPICAL, large)]
    if len(free) > 1:
        found += [{**found[0], n: large} for n in free[:_NAMES]]
    return found


class Peak(NamedTuple):
    """The bytes of an arena, and the nodes of the kernels that matter when most of it is taken.

    That is those that run then, or if these are of one node those that read last what is alive.
    """

    bytes: int
    nodes: frozenset[Expr]


def plan_of(
    schedule: Schedule, target: Target, hints: Hints, donate: Collection[str] = ()
) -> Plan:
    """The plan that comes of a schedule."""
    return place(order(layout(schedule, target), target, hints), target, donate=donate)


def peaks(plan: Plan, target: Target, hints: Hints) -> list[Peak]:
    """The arena's peak at each of the `samples`."""
    threads = 0 if target.atomic else 1  # the memory of a thread's own is like its registers
    when = times(plan.schedule, target)
    found = []
    for sizes in samples(plan.schedule.graph, hints):
        binding = plan.bind(sizes, threads)
        full = _fullest(binding.spans, binding.bytes)
        running = [k for k, span in when.items() if span.start <= full < span.stop]
        if all(len(k.nodes) == 1 for k in running):
            alive = {k for k, (a, b) in enumerate(binding.spans) if a <= full <= b}
            running = _last_readers(plan, alive)
        nodes = frozenset(n for kernel in running for n in kernel.nodes)
        found.append(Peak(binding.peak_bytes, nodes))
    return found


def _last_readers(plan: Plan, slots: Collection[int]) -> list[Kernel]:
    last: dict[int, Kernel] = {}
    for kernel in plan.schedule.kernels:
        for value in kernel.reads:
            home = plan.homes.get(value)
            if home is not None and home.kind == "slot" and home.key in slots:
                last[home.key] = kernel
    return list(last.values())


def _fullest(spans: Sequence[tuple[int, int]], nbytes: Sequence[int]) -> int:
    """The first time at which the most bytes are taken."""
    change: Counter[int] = Counter()
    for (first, last), n in zip(spans, nbytes, strict=True):
        change[first] += n
        change[last + 1] -= n
    alive = dict(zip(sorted(change), accumulate(change[t] for t in sorted(change)), strict=True))
    return max(alive, key=alive.__getitem__, default=0)


def unfused(graph: Graph, hints: Hints) -> list[Task]:
    """The nodes that some kernel must compute, a task each, in the order that `order` gives them.

    Views that must be copied are passed over: a task reads what they show.
    """
    tasks = []
    for node in graph.nodes:
        if node.op.kind not in (Kind.SOURCE, Kind.VIEW):
            reads = tuple(dict.fromkeys(chain(i)[0] for i in node.inputs))
            tasks.append(Task(reads, (node,), {v for v in reads if v.op.kind is Kind.SOURCE}))
    return [tasks[k] for k in arranged(tasks, graph, hints)]


def made(task: Task) -> Expr:
    """The node of an unfused task."""
    (node,) = task.writes
    assert isinstance(node, Expr)
    return node


def needed(tasks: Sequence[Task], graph: Graph, hints: Hints) -> list[int] | None:
    """Bytes that the arena has at least, at each of the `samples`, for these unfused tasks.

    Between kernels all that is read later is alive; a call or a fold writes beside what it reads,
    while an elementwise kernel may run in place. What leaves the graph has memory of its own, and
    no feed's memory is taken. None where a view must be copied: the graph shows no such kernel.
    """
    for node in graph.nodes:
        base, views = chain(node)
        if views and isinstance(follow(contiguous(base.shape), views), Expr):
            return None
    types: Types = {}
    events = list(_events(tasks, graph, types))
    highest = []
    for sizes in samples(graph, hints):
        nbytes = [rounded(bind(product(shape), sizes) * t.itemsize) for shape, t in types]
        highest.append(_highest(events, nbytes))
    return highest


class _Event(NamedTuple):
    """What a task takes and gives back, as numbers of types."""

    made: list[int]
    beside: list[int] | None  # what it takes while it runs; None if it may run in place
    freed: list[int]


def _events(tasks: Sequence[Task], graph: Graph, types: Types) -> Iterator[_Event]:
    """What happens to the arena as tasks run in this order; numbers the types on the way."""

    def numbers(values: Iterable[Expr | Type]) -> list[int]:
        return [types.setdefault((v.shape, v.dtype), len(types)) for v in values]

    left = Counter(v for task in tasks for v in task.reads)
    for task in tasks:
        node = made(task)
        own = () if node in graph.results else (node,)
        beside: list[int] | None = None
        if node.op.kind is Kind.CALL:
            beside = numbers(node.op.scratch(node) if node.op.scratch else ())
        elif node.op.kind is Kind.REDUCE and not same(node.size, node.inputs[0].size):
            beside = []
        freed = [] if left[node] else [*own]
        for value in cast(tuple[Expr, ...], task.reads):
            left[value] -= 1
            if not left[value] and value not in task.free and value not in graph.results:
                freed.append(value)
        yield _Event(numbers(own), beside, numbers(freed))


def _highest(events: Iterable[_Event], nbytes: Sequence[int]) -> int:
    """The most bytes alive at once, for these bytes of each type."""
    alive = highest = 0
    for made, beside, freed in events:
        for k in made:
            alive += nbytes[k]
        if beside is not None:
            highest = max(highest, alive + sum([nbytes[k] for k in beside]))
        for k in freed:
            alive -= nbytes[k]
        if alive > highest:
            highest = alive
    return highest
