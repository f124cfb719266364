"""The driver: one Python function over planned buffers, for arrays that are like NumPy's."""

from __future__ import annotations

import linecache
import weakref
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from types import CodeType
from typing import Any

from deepgraph.backends import Source
from deepgraph.backends.text import UFUNCS, literal, size_name, statement
from deepgraph.blocks import may_block
from deepgraph.dims import product, same, same_shape
from deepgraph.expr import Expr, Strided
from deepgraph.literal import Literal
from deepgraph.plan import Plan
from deepgraph.provenance import on_one_line
from deepgraph.schedule import Access, Kernel, contiguous, same_strided

_serial = count()
_TAKEN = (
    "np", "cp", "lib", "view", "slot", "parameters", "constants", "cut", "tick", "step",
    "bad", "max", "min", "float", "slice",
)  # fmt: skip


class Driver:
    """Writes the lines that take memory and make views once, and `step`, which runs each call.

    They run as a module does, over a scope that holds the named sizes, `slot`, `parameters`,
    `constants` and `cut`. `write_kernel(driver, kernel, name)` gives the text of one kernel's
    definition.
    """

    def __init__(
        self, plan: Plan, write_kernel: Callable[[Driver, Kernel, str], str], xp: str = "np"
    ) -> None:
        self.plan, self.write_kernel, self.xp = plan, write_kernel, xp
        graph = plan.schedule.graph
        self.sizes = [size_name(n) for n in graph.sizes]
        numbers = range(len(plan.schedule.kernels))
        self._used = {*_TAKEN, *self.sizes, *(f"{of}{n}" for of in ("k", "part") for n in numbers)}
        self._next: dict[str, int] = defaultdict(int)  # by stem, the number of the next name
        self.names: dict[Expr, str] = {}
        self.feeds = [self._name(p, p.name) for p in graph.placeholders]
        self.outputs = {k: self._unique(f"out_{k}") for k in graph.outputs}
        self.parameters = graph.parameters
        for p in self.parameters:
            self._name(p, p.name)
        self.constants = leaves(plan)
        for c in self.constants:
            self._name(c, "c0")
        self.numbers: dict[Literal, str] = {}  # constants of one element, and their arrays' names
        self.ufuncs: set[str] = set()  # which to import
        self._views: dict[tuple[Any, ...], str] = {}
        self.setup: list[str] = []  # lines that run once
        self.fresh: list[str] = []  # lines of step that view what each call brings
        self.lines: list[str] = []  # lines of step

    def source(self) -> Source:
        """Everything, in the order it runs."""
        texts, parts = list[str](), list[str]()
        for number, kernel in enumerate(self.plan.schedule.kernels):
            name, first, before = f"k{number}", len(self.lines), len(texts)
            self.lines.append(f"# {kernel.name}: {where(self.plan, kernel)}")
            if kernel.kind == "call":
                self.lines += self._call(kernel).splitlines()
            else:
                texts.append(self.write_kernel(self, kernel, name))
                args = [self.access(a) for a in kernel.loads]
                args += [self.access(s.access) for s in kernel.stores]
                args += self.scratch(kernel)
                self.lines.append(f"{name}({', '.join(args)})")
            parts.append("\n".join([*texts[before:], *self.lines[first:]]))
        if self.plan.commits:
            self.lines.append("# new values")
        for parameter, value in self.plan.commits:
            whole = Access(value, contiguous(value.shape, self._order(value)))
            self.lines.append(f"{self.xp}.copyto({self.names[parameter]}, {self.access(whole)})")
        return Source(self._text(), tuple(texts), tuple(parts))

    def _text(self) -> str:
        arguments = ", ".join([*self.feeds, *self.outputs.values()])
        unpack = [
            f"{', '.join(self.names[e] for e in found)}, = {label}"
            for label, found in (("parameters", self.parameters), ("constants", self.constants))
            if found
        ]
        numbers = [
            f"{name} = {self.xp}.array({literal(n)}, {n.value.dtype.name!r})"
            for n, name in self.numbers.items()
        ]
        lines = [f"    {line}" for line in [*self.fresh, *self.lines] or ["pass"]]
        once = [*self._imports(), *numbers, *unpack, *self._cuts(), *self.setup]
        return "\n".join([*once, "", "", f"def step({arguments}):", *lines, ""])

    def _cuts(self) -> list[str]:
        """The kernels that come in pieces."""
        return [
            f"k{n} = cut({n})"
            for n, k in enumerate(self.plan.schedule.kernels)
            if k.cut is not None and (k.cut.after or may_block(k, self.plan.target))
        ]

    def _imports(self) -> list[str]:
        """The ufuncs by name: to look one up in a module costs a tenth of a short call."""
        module = {"np": "numpy", "cp": "cupy"}[self.xp]
        return [f"from {module} import {', '.join(sorted(self.ufuncs))}"] if self.ufuncs else []

    def _call(self, kernel: Kernel) -> str:
        args = [self.access(a) for a in kernel.loads]
        out = self.access(kernel.stores[0].access)
        temporaries = {f"tmp{k}": name for k, name in enumerate(self.scratch(kernel))}
        return statement(kernel.body[0].node, args, out, self.xp, temporaries)

    def number(self, value: Literal) -> str:
        """A name for a constant: an array of no axes, which ufuncs take faster than a number."""
        if value not in self.numbers:
            self.numbers[value] = self._unique("c0")
        return self.numbers[value]

    def scratch(self, kernel: Kernel) -> list[str]:
        """Names of a kernel's scratch arrays; made once."""
        found = []
        for piece in self.plan.scratch.get(kernel, ()):
            name = self._unique(f"t{piece.slot}")
            shape = literal(piece.shape)
            self.setup.append(f"{name} = slot({piece.slot}, {shape}, {piece.dtype.name!r})")
            found.append(name)
        return found

    def access(self, access: Access) -> str:
        """A name for an array that shows a value as a kernel's axes need it."""
        key = (access.value, access.at.shape, access.at.strides, access.at.offset)
        if key not in self._views:
            base = self._base(access.value)
            text = self._view(access.value, base, access.at)
            if text != base:
                brought = self._brought(access.value)
                name = self._unique(f"{base}_")
                (self.fresh if brought else self.setup).append(f"{name} = {text}")
                text = name
            self._views[key] = text
        return self._views[key]

    def _base(self, value: Expr) -> str:
        if value in self.names:
            return self.names[value]
        home = self.plan.homes[value]
        if home.kind == "output":
            name = self.outputs[home.key]
        elif home.kind == "parameter":
            name = self.names[home.key]
        elif home.kind == "feed":
            name = self.access(Access(home.key, contiguous(value.shape)))
        else:
            name = self._unique("v0")
            shape = literal(value.shape)
            self.setup.append(f"{name} = slot({home.key}, {shape}, {value.dtype.name!r})")
        self.names[value] = name
        return name

    def _brought(self, value: Expr) -> bool:
        """Is its memory another array at each call?"""
        if value.op.name == "placeholder":
            return True
        return value in self.plan.homes and self.plan.homes[value].kind in ("output", "feed")

    def _view(self, value: Expr, base: str, at: Strided) -> str:
        whole = contiguous(value.shape)
        if same_strided(at, whole):
            return base
        if same_shape(at.strides, contiguous(at.shape).strides) and same(at.offset, 0) and same(
            product(at.shape), product(value.shape)
        ):  # fmt: skip
            return f"{base}.reshape({literal(at.shape)})"
        given = [base, literal(at.shape), literal(at.strides)]
        if not same(at.offset, 0):
            given.append(literal(at.offset))
        return f"view({', '.join(given)})"

    def _order(self, value: Expr) -> tuple[int, ...] | None:
        return self.plan.schedule.orders.get(value)

    def _name(self, node: Expr, wish: str) -> str:
        self.names[node] = self._unique(wish)
        return self.names[node]

    def _unique(self, wish: str) -> str:
        clean = "".join(c if c.isalnum() else "_" for c in wish) or "v"
        if clean[0].isdigit():
            clean = f"p{clean}"
        stem, name = clean.rstrip("0123456789"), clean
        while name in self._used or name in UFUNCS:
            name = f"{stem}{self._next[stem]}"
            self._next[stem] += 1
        self._used.add(name)
        return name


def compiled(text: str, owner: object) -> CodeType:
    """A driver as code; tracebacks show it as long as its owner lives."""
    filename = f"<deepgraph step {next(_serial)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    weakref.finalize(owner, linecache.cache.pop, filename, None)
    return compile(text, filename, "exec")


def timed(source: str) -> str:
    """The text of a step with `tick()` before its first kernel and after each."""
    head, start, body = source.partition("\ndef step(")
    lines = []
    for line in body.splitlines():
        lines += ["    tick()"] * line.startswith("    # ") + [line]
    return head + start + "\n".join([*lines, "    tick()", ""])


def leaves(plan: Plan) -> tuple[Expr, ...]:
    """The leaves that kernels read as arrays although nobody feeds them."""
    found: dict[Expr, None] = {}
    for kernel in plan.schedule.kernels:
        for value in kernel.reads:
            if value.op.name in ("constant", "size", "iota"):
                found[value] = None
    return tuple(found)


def where(plan: Plan, kernel: Kernel) -> str:
    """The user's lines that a kernel computes: those of its last node."""
    return on_one_line(plan.schedule.origins(kernel.nodes[-1]), scope=True)
