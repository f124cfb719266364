"""Reductions as C: what each starts from, and how it takes one more element."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from deepgraph.backends.clike import number, register_type
from deepgraph.dtypes import DType, is_float
from deepgraph.expr import Expr
from deepgraph.nest import Loop, Nest, Work, register_dtype


class Variable(NamedTuple):
    """One that a fold runs in, and what it starts from."""

    name: str
    type: str
    start: str


class Fold:
    """How one reduction goes in C: what it starts from, and how it takes one more.

    It runs in an accumulator of its own dtype (`long`), which for sums of floats is double; and
    in the innermost loop, over a bounded number of elements, in one as short as they are.
    """

    def __init__(self, node: Expr) -> None:
        self.ufunc = node.op.ufunc
        self.initial = node.attributes.get("initial")
        half = is_float(node.dtype) and node.dtype.itemsize == 2
        self.short = np.dtype(np.float32) if half else node.dtype
        self.long = register_dtype(node)
        truth = node.inputs[0].dtype.kind == "b" and self.ufunc in ("maximum", "minimum")
        self.some = self.ufunc == "logical_or" or (truth and self.ufunc == "maximum")
        self.every = self.ufunc == "logical_and" or (truth and self.ufunc == "minimum")
        self.extreme = self.ufunc in ("maximum", "minimum") and not truth
        self.nans = self.extreme and is_float(node.dtype)

    def start(self, dtype: DType) -> str:
        """What nothing folds to."""
        if self.initial is not None:
            return number(self.initial, dtype)
        if not self.extreme:
            return number(self.every or self.ufunc == "multiply", dtype)
        highest = self.ufunc == "minimum"
        if self.nans:
            return number(np.inf if highest else -np.inf, dtype)
        limits = np.iinfo(dtype)
        return number(limits.max if highest else limits.min, dtype)

    def take(self, into: str, value: str) -> str:
        """The statement that folds one more value, or another fold's, into a variable."""
        if self.some or self.every:
            return f"{into} {self._sign()}= {value} != 0;"
        if self.extreme:
            return f"{into} = dg_{self.ufunc}({into}, {value});"
        return f"{into} {self._sign()}= {value};"

    def _sign(self) -> str:
        return "|" if self.some else "&" if self.every else "+" if self.ufunc == "add" else "*"

    # In the innermost loop, fold r runs in s<r>; a NaN among its elements marks n<r>.

    def short_variables(self, r: int) -> list[Variable]:
        """The variables of the innermost loop."""
        folded = Variable(f"s{r}", register_type(self.short), self.start(self.short))
        return [folded] + [Variable(f"n{r}", "int", "0")] * self.nans

    def short_start(self, r: int) -> list[str]:
        """These variables, declared."""
        return [f"{v.type} {v.name} = {v.start};" for v in self.short_variables(r)]

    def clauses(self, r: int) -> str:
        """How OpenMP may run the innermost loop in any order."""
        sign = {"maximum": "max", "minimum": "min"}[self.ufunc] if self.extreme else self._sign()
        return f" reduction({sign}:s{r})" + f" reduction(|:n{r})" * self.nans

    def short_take(self, r: int, value: str) -> list[str]:
        """One more element."""
        if not self.extreme:
            return [self.take(f"s{r}", value)]
        sign = ">" if self.ufunc == "maximum" else "<"
        marked = [f"n{r} |= {value} != {value};"] if self.nans else []
        return [f"s{r} = {value} {sign} s{r} ? {value} : s{r};", *marked]

    def short_join(self, r: int) -> list[str]:
        """What one lane came to, taken into another."""
        both = [self.take(f"s{r}_of[l]", f"s{r}_of[half + l]")]
        return both + [f"n{r}_of[l] |= n{r}_of[half + l];"] * self.nans

    def short_end(self, r: int) -> str:
        """What the innermost loop came to."""
        return f"(n{r} ? ({register_type(self.short)})NAN : s{r})" if self.nans else f"s{r}"


def products(nest: Nest, loop: Loop, along: Collection[int]) -> dict[int, tuple[int, int]]:
    """The factors of each product that a sum along the loop takes and that nothing else reads.

    Fused with the addition it rounds once for both.
    """
    body, first, found = nest.kernel.body, len(nest.kernel.loads), dict[int, tuple[int, int]]()
    items = [w for w in loop.body if isinstance(w, Work) and w.register >= first]
    instrs = {w: body[w.register - first] for w in items}
    read = [a for instr in instrs.values() for a in instr.registers]
    sums = [w for w in items if w.adds and w.register in along]
    for added in sums:
        node, (r,) = instrs[added].node, instrs[added].registers
        instr = instrs.get(Work(r))
        if (
            instr is not None and instr.node.op.name in ("multiply", "square")
            and node.op.ufunc == "add" and read.count(r) == 1 and r not in nest.kept
            and node.dtype.name in ("float32", "float64")
            and all(x.dtype == node.dtype for x in (instr.node, *instr.node.inputs))
            and len(instr.registers) == len(instr.args)
        ):  # fmt: skip
            found[r] = instr.registers[0], instr.registers[-1]
    return found
