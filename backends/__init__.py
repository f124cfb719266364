"""Code generators, one module each: `emit` writes text anywhere, `load` needs the device."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from deepgraph.backends.device import Device
from deepgraph.errors import GraphError
from deepgraph.expr import Expr
from deepgraph.plan import Binding, Plan
from deepgraph.target import Target

if __name__ != "deepgraph.backends":
    raise ImportError(f"this folder installs as deepgraph.backends; import that, not {__name__}")


class BackendError(GraphError, RuntimeError):
    """A backend that was asked for by name is missing something on this machine."""


@dataclass(frozen=True)
class Source:
    """The text of a step: its kernels, and the driver that runs them in order.

    `parts` has, for each kernel of the plan, all text that is its own: the definition and the call.
    """

    driver: str
    kernels: tuple[str, ...]
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*self.kernels, self.driver])


@dataclass(frozen=True, eq=False)
class Bound:
    """A program with its memory for known sizes: `run(*feeds, *outs)` computes one step."""

    binding: Binding
    run: Callable[..., None]
    allocated: int  # bytes really taken for the arena
    direct: Callable[..., Callable[[Mapping[str, Any]], list[Any] | None] | None] | None = None
    # ^ as `direct` of runtime.Call, where a whole call can be left to the backend


class Program(Protocol):
    """A loaded source, and the device on which it runs."""

    device: Device

    def bind(self, sizes: Mapping[str, int], tick: Callable[[], None] | None = None) -> Bound:
        """Take memory for these sizes and make the step ready to run.

        With `tick` the run calls it before the first kernel and after each, and after new values
        are copied into parameters if any are: for those who measure.
        """
        ...


class Backend(Protocol):
    """What every backend module offers; plain functions do."""

    name: str
    target: Target

    def missing(self) -> str | None:
        """Why this backend cannot run here, or None."""
        ...

    def emit(self, plan: Plan) -> Source:
        """The step as text."""
        ...

    def load(self, source: Source, plan: Plan) -> Program:
        """The text as something that runs."""
        ...


NAMES = ("reference", "numpy", "native", "cupy")
AUTO = ("cupy", "native", "numpy")  # the order in which `auto` asks
INSTALL = {  # what brings the package of its name, without which a backend cannot run
    "cupy": 'pip install "deepgraph-compiler[cuda12]", or [cuda13], has it with NVIDIA\'s own',
}


def get(name: str) -> Backend:
    """The backend of this name; GraphError if there is none, BackendError if it cannot run here."""
    backend = named(name)
    if reason := backend.missing():
        raise BackendError(f"backend {name!r} cannot run here: {reason}")
    return backend


def named(name: str) -> Backend:
    """The backend of this name, able to emit whatever this machine has."""
    if name not in NAMES:
        raise GraphError(f"no backend is called {name!r}: there are {', '.join(NAMES)} and auto")
    module = importlib.import_module(f"deepgraph.backends.{name}")
    backend: Backend = module.backend
    return backend


def resolve(name: str) -> tuple[Backend, str]:
    """The backend for a name or "auto", and why it was chosen."""
    if name != "auto":
        return get(name), "asked for by name"
    reasons: list[str] = []
    for candidate in AUTO:
        reason = absent(candidate) or named(candidate).missing()
        if reason is None:
            return named(candidate), "; ".join([*reasons, f"{candidate} answers"])
        reasons.append(f"{candidate}: {reason}")
    raise BackendError("; ".join(reasons))


def absent(name: str) -> str | None:
    """Why a backend cannot run that lacks the package of its name, or None; it is not loaded."""
    if name not in INSTALL or importlib.util.find_spec(name) is not None:
        return None
    return f"the package {name} is not installed: {INSTALL[name]}"


def leaf_value(node: Expr, sizes: Mapping[str, int]) -> Any:
    """The array of a leaf that is known once sizes are: a constant, or a count along an axis."""
    import numpy as np

    from deepgraph.dims import bind

    if node.op.name == "constant":
        return node.attr("value").value
    if node.op.name == "size":
        return np.asarray(bind(node.attr("value"), sizes), node.dtype)
    assert node.op.name == "iota", node
    return np.arange(bind(node.shape[0], sizes), dtype=node.dtype)
