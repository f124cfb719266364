"""Text for people: a tree of an expression, tables of a graph, a schedule and a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deepgraph.dims import code
from deepgraph.drawn import Drawn
from deepgraph.expr import Expr, Kind
from deepgraph.graph import Graph, toposort
from deepgraph.plan import Home, Plan, times
from deepgraph.schedule import Instr, Kernel, Schedule
from deepgraph.show.labels import kernel_space, label, number, operand_text, size_text, visible
from deepgraph.show.measure import shortened, table

_CALL, _LINE, _BAR = 56, 60, 48  # characters of a call, of the user's line, of a life
_DEEP = 24  # levels of a tree


def to_text(thing: Drawn, limit: int | None = None) -> str:
    """An expression as a tree; a graph, schedule or plan as a table.

    Nodes have the numbers that `render()` gives them; leaves go by their names, and numbers stand
    where they are read. With `limit`, the lines in the middle of a longer text are counted instead.
    """
    shown = thing.drawn_as()
    if isinstance(shown, Plan):
        lines = _plan(shown)
    elif isinstance(shown, Schedule):
        lines = _schedule(shown, {})
    elif isinstance(shown, Graph):
        lines = _graph(shown)
    elif isinstance(shown, Expr):
        lines = _tree(shown)
    else:
        raise TypeError(f"prints expressions, graphs, schedules, plans: got {type(shown).__name__}")
    if limit is not None and len(lines) > limit:
        half = max(limit // 2, 1)
        lines[half : len(lines) - half] = [f"… {len(lines) - 2 * half:,} more lines"]
    return "\n".join(lines)


class _Names:
    """What nodes are called where others read them: `%12`, or a leaf's name, or a number."""

    def __init__(self, nodes: Sequence[Expr]) -> None:
        self._ids = {node: k for k, node in enumerate(nodes)}

    def number(self, node: Expr) -> str:
        return f"%{self._ids.setdefault(node, len(self._ids))}"

    def of(self, node: Expr) -> str:
        return _line(node.name) or number(node) or self.number(node)

    def call(self, node: Expr, operands: Sequence[str]) -> str:
        return shortened(_line(label(node, operands)), _CALL)


def _graph(graph: Graph) -> list[str]:
    names = _Names(graph.nodes)
    rows = [
        (names.number(n), names.call(n, [*map(names.of, n.inputs)]), n.type_text, *_origin(n))
        for n in graph.nodes
        if number(n) is None or n in graph.results
    ]
    return [*table(rows), *_results(graph, names)]


def _results(graph: Graph, names: _Names) -> list[str]:
    return [
        *(f"output {k} = {names.of(v)}" for k, v in graph.outputs.items()),
        *(f"update {_line(p.name)} = {names.of(v)}" for p, v in graph.updates.items()),
    ]


def _tree(root: Expr) -> list[str]:
    """A line a node, what it reads indented below; what was shown above is only named."""
    names = _Names(toposort([root]))
    rows: list[tuple[str, ...]] = []
    shown: set[Expr] = set()
    stack: list[tuple[Expr, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        again = node in shown and bool(node.inputs)
        shown.add(node)
        inner = [i for i in node.inputs if number(i) is None]
        texts = [number(i) or "·" for i in node.inputs]
        call = names.call(node, texts if len(inner) < len(texts) else [])
        mark = " (above)" if again else " …" if inner and depth == _DEEP else ""
        what = "  " * depth + f"{names.number(node)} {call}{mark}"
        rows.append((what, node.type_text, *_origin(node)))
        if not again and depth < _DEEP:
            stack += [(i, depth + 1) for i in reversed(inner)]
    return table(rows)


def _schedule(schedule: Schedule, homes: Mapping[Expr, Home]) -> list[str]:
    names = _Names(schedule.graph.nodes)
    rows: list[tuple[str, ...]] = []
    heads: list[tuple[int, str]] = []
    for k, kernel in enumerate(schedule.kernels):
        what = " ".join(filter(None, [str(k), kernel.kind, kernel_space(kernel)]))
        work = f"moves {size_text(kernel.bytes)}, {code(kernel.flops)} flops"
        heads.append((len(rows), f"{what}, {work}"))
        stored = frozenset(kernel.writes)
        for instr in kernel.body:
            node = instr.node
            kept = "" if node not in stored else str(homes.get(node, "stored"))
            operands = [_operand(names, kernel, instr, p) for p in range(len(instr.args))]
            name, call = f"  {names.number(node)}", names.call(node, operands)
            rows.append((name, call, node.type_text, _line(kept), *_origin(node)))
    lines = table(rows)
    for at, head in reversed(heads):
        lines.insert(at, head)
    return [*lines, *_results(schedule.graph, names)]


def _operand(names: _Names, kernel: Kernel, instr: Instr, p: int) -> str:
    """What an instruction reads: a number, a value, or the outermost view of it."""
    arg, read = instr.args[p], instr.node.inputs[p]
    if not isinstance(arg, int):
        return operand_text(arg)
    inner = arg - len(kernel.loads)
    base = kernel.loads[arg].value if inner < 0 else kernel.body[inner].node
    if read is base or read.op.kind is not Kind.VIEW:
        return names.of(base)
    return label(read, [names.of(base)])


def _plan(plan: Plan) -> list[str]:
    names = _Names(plan.schedule.graph.nodes)
    spans = times(plan.schedule, plan.target).values()
    kernel_at = [k for k, span in enumerate(spans) for _ in span]
    kernel_at.append(len(spans))  # the commits come after the last kernel
    held: dict[int, list[Expr]] = {}
    for value, home in plan.homes.items():
        if home.kind == "slot":
            held.setdefault(home.key, []).append(value)
    rows = [("slot", "bytes", "kernels", "life", "values")]
    for k, slot in enumerate(plan.slots):
        values = " → ".join(f"{names.of(v)} {v.op.name}" for v in held.get(k, ()))
        first, last = kernel_at[slot.first], kernel_at[slot.last]
        life = f"{first}-{last}" if first < last else str(first)
        rows.append((str(k), size_text(slot.bytes), life, _bar(first, last, len(spans)),
                     values or "scratch"))  # fmt: skip
    lines = [f"peak {size_text(plan.peak_bytes)}; {size_text(plan.unplanned_bytes)} without reuse"]
    lines += table(rows) if len(rows) > 1 else []
    for value, home in plan.homes.items():
        if home.kind != "slot":
            lines.append(f"{_line(str(home))}: {names.of(value)} {value!r}")
    return lines + [f"at the end {_line(p.name)} = {names.of(v)}" for p, v in plan.commits]


def _bar(first: int, last: int, count: int) -> str:
    """A life as marks on a line that stands for all kernels."""
    wide = min(count, _BAR)
    start, stop = first * wide // count, last * wide // count
    return "".join("━" if start <= k <= stop else "·" for k in range(wide))


def _line(text: str) -> str:
    """Text that takes one line."""
    return visible(text).replace("\n", "\\n")


def _origin(node: Expr) -> tuple[str, str]:
    return _line(str(node.origin)), _line(shortened(node.origin.line, _LINE))
