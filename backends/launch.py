"""Launch: CUDA kernels as data, and what runs them: CuPy, or whatever acts like a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from deepgraph.backends.device import Device

Extent = tuple[int, int, int]
Function = Callable[[Extent, Extent, Sequence[Any]], None]  # grid, block, arguments
Grid = Callable[[Mapping[str, int]], tuple[Extent, Extent]]  # named sizes -> blocks, threads of one


@dataclass(frozen=True)
class Launch:
    """One launch of a `__global__` function: what it is given, by name, and its grid.

    Arguments are arrays (`a0` a load's whole buffer, `y0` a store's, `t0` scratch, `fault`) or
    sizes, named ones and `n`, the kernel's elements, which are passed as `dg_index`. It is left out
    where the grid has no blocks.
    """

    function: str
    arguments: tuple[str, ...]
    grid: Grid


@dataclass(frozen=True)
class Raw:
    """A kernel in CUDA: its functions, and the launches that run one after the other.

    `large` says for which sizes a library does better.
    """

    source: str
    launches: tuple[Launch, ...]
    large: Callable[[Mapping[str, int]], bool] | None = None


@dataclass(frozen=True)
class Elementwise:
    """A kernel as `cupy.ElementwiseKernel` takes it; its operands are arrays of one shape."""

    name: str
    inputs: str  # "float32 a0, uint16 a1"
    outputs: str
    operation: str


Spec = Raw | Elementwise


class Launcher(Device, Protocol):
    """A device that compiles and runs kernels, inside `here`.

    Text is whole: nothing is included; a preamble is what comes before others' source too. Calls
    come in order, and return before the work is done.
    """

    here: AbstractContextManager[Any]

    def module(self, preamble: str, source: str) -> Callable[[str], Function]:
        """The `__global__` functions of a source, by name."""
        ...

    def elementwise(self, spec: Elementwise, preamble: str) -> Callable[..., None]:
        """The kernel as a function of its inputs and outputs, arrays that broadcast."""
        ...

    def recorded(self, run: Callable[[], None]) -> Callable[[], None]:
        """What repeats all launches and copies that a run asks for, at the same addresses."""
        ...
