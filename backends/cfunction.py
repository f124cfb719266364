"""A kernel as C functions that every thread runs: what all kinds of kernels have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from deepgraph.backends.clike import memory_type, size, size_name
from deepgraph.dims import Size, same
from deepgraph.expr import Strided
from deepgraph.schedule import Kernel

_WORD = re.compile(r"\w+")


def remark(text: str) -> str:
    """A comment of one line: a backslash at its end would make the next line part of it."""
    return f"// {text}".rstrip("\\ ")


def words(lines: Iterable[str]) -> set[str]:
    """The names that lines of C mention outside their comments."""
    return {word for line in lines for word in _WORD.findall(line.partition("//")[0])}


@dataclass(frozen=True)
class Written:
    """Functions, named after the first kernel that they are for; `heads` tell of all of these."""

    name: str
    text: str
    heads: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([*self.heads, self.text])


def once(written: dict[str, Written], text: str, name: str) -> Written:
    """The functions of a kernel, or those of another if a compiler sees no difference.

    `written` are all so far, by what a compiler sees of them: no remarks, and no kernel's name.
    """
    lines = (line.partition("//")[0].strip() for line in text.splitlines())
    seen = re.sub(rf"\b{name}(?=\b|_)", "", "\n".join(line for line in lines if line))
    return written.setdefault(seen, Written(name, text))


class Lines:
    """C text, indented by its braces."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    def add(self, *lines: str) -> None:
        """More lines at this depth."""
        self.lines += ["    " * self._depth + line for line in lines]

    @contextmanager
    def braces(self, head: str, tail: str = "") -> Iterator[None]:
        """A block after `head`, and what follows it."""
        self.add(f"{head}{{" if not head or head.endswith("(") else f"{head} {{")
        self._depth += 1
        yield
        self._depth -= 1
        self.add(f"}}{tail}")

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Function(NamedTuple):
    """A function that is written: its name, and the names of its parameters."""

    name: str
    parameters: tuple[str, ...]


class FunctionWriter:
    """Writes the functions of one kernel, which run one after the other, each on all threads.

    Pointers are a0.. for loads, y0.. for stores and t0.. for the threads' own memory; a thread is
    number `me` of `count`. A function has the parameters that it mentions, and no others.
    """

    def __init__(self, kernel: Kernel, name: str, size_at: Mapping[str, int], own: int) -> None:
        self.kernel, self.name = kernel, name
        self.out = Lines()
        self.functions: list[Function] = []
        self.parameters = {"call": "dg_call *", "me": "int64_t ", "count": "int64_t "}
        for k, access in enumerate(kernel.loads):
            self.parameters[f"a{k}"] = f"const {memory_type(access.value.dtype)} *"
        for k, store in enumerate(kernel.stores):
            self.parameters[f"y{k}"] = f"{memory_type(store.access.value.dtype)} *"
        self.parameters |= {f"t{k}": "char *" for k in range(own)}
        self._sizes = [
            (size_name(n), f"const int64_t {size_name(n)} = call->size[{place}];")
            for n, place in size_at.items()
        ]
        self._declared: list[tuple[str, str]] = []

    @contextmanager
    def function(self) -> Iterator[None]:
        """One more function; when it runs, all threads are through with the one before."""
        name = self.name + f"_{len(self.functions)}" * bool(self.functions)
        outside, self.out, self._declared = self.out, Lines(), list(self._sizes)
        yield
        body, self.out = self.out.lines, outside
        mentioned = words(body)
        needed: list[str] = []
        for variable, line in reversed(self._declared):
            if variable in mentioned:
                needed.append(line)
                mentioned |= words([line])
        given = tuple(p for p in self.parameters if p in mentioned)
        head = ", ".join(self.parameters[p] + p for p in given) or "void"
        with self.out.braces(f"void {name}({head})"):
            self.out.add(*reversed(needed), *body)
        self.out.add("")
        self.functions.append(Function(name, given))

    def declare(self, name: str, line: str) -> None:
        """A variable that stands at the top of the function, if anything mentions it."""
        self._declared.append((name, line))

    def share(self, extent: str, step: int = 1) -> None:
        """This thread's stretch from `low` to `high` of an extent, in multiples of `step`."""
        self.declare("low", f"const int64_t low = dg_share({extent}, {step}, me, count);")
        self.declare("high", f"const int64_t high = dg_share({extent}, {step}, me + 1, count);")

    @contextmanager
    def loop(self, name: str, low: str, high: str, step: int | str = 1) -> Iterator[None]:
        """A loop of a counter from `low` up to `high`."""
        more = f"{name}++" if step == 1 else f"{name} += {step}"
        with self.out.braces(f"for (int64_t {name} = {low}; {name} < {high}; {more})"):
            yield


def offset(at: Strided) -> str:
    """Where the element at the loops' indices lies."""
    terms = [
        times(f"i{axis}", stride) for axis, stride in enumerate(at.strides) if not same(stride, 0)
    ]
    if not same(at.offset, 0):
        terms.append(size(at.offset))
    return " + ".join(terms) or "0"


def times(index: str, stride: Size) -> str:
    return index if same(stride, 1) else f"{index} * {parenthesised(size(stride))}"


def parenthesised(text: str) -> str:
    return text if text.replace("_", "").isalnum() else f"({text})"

