"""Operations that are no loop over scalars, as C: a template each, by the operation's name.

A template gets a CallWriter and writes the functions of the kernel. Whatever has no template here
is NumPy's to compute, between two parts of C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deepgraph.backends.cfunction import FunctionWriter
from deepgraph.expr import Expr
from deepgraph.schedule import Access, Kernel
from deepgraph.target import Own


class CallWriter(FunctionWriter):
    """Writes the functions of a call: loads a0.., the one store y0, its node."""

    def __init__(self, kernel: Kernel, name: str, size_at: Mapping[str, int], own: int) -> None:
        super().__init__(kernel, name, size_at, own)
        self.node: Expr = kernel.body[0].node
        self.loads: tuple[Access, ...] = kernel.loads
        self.store: Access = kernel.stores[0].access

    def share(self, extent: str, step: int = 1) -> None:
        """This thread's stretch from `low` to `high` of an extent, in multiples of `step`."""
        self.out.add(
            f"const int64_t low = dg_share({extent}, {step}, me, count);",
            f"const int64_t high = dg_share({extent}, {step}, me + 1, count);",
        )


Template = Callable[[CallWriter], None]
TEMPLATES: dict[str, Template] = {}
OWN: dict[str, Own] = {}


def template(name: str, own: Own = lambda node: ()) -> Callable[[Template], Template]:
    """Register the template of an operation, and what memory each thread needs for it."""

    def register(write: Template) -> Template:
        TEMPLATES[name], OWN[name] = write, own
        return write

    return register
