"""Cases of PyTorch's own sample inputs: read from a folder, and declared as deepgraph expressions.

A folder holds `*.json`, lists of cases, with one `.npz` of arrays beside each. `OPERATIONS` maps
PyTorch's names to functions with PyTorch's arguments; an argument that one does not take is an
error, never ignored.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from conformance_arrays import ARRAYS
from conformance_nn import NETS
from conformance_shapes import SHAPES

import deepgraph as dg
from deepgraph.expr import Expr

Array = npt.NDArray[Any]

OPERATIONS: dict[str, Callable[..., Any]] = {**ARRAYS, **SHAPES, **NETS}

# Arguments by which PyTorch's samples ask for no gradient; of losses the weights of classes too.
FIXED = ("running_mean", "running_var", "pos_weight")
FIXED_IN_LOSSES = ("weight",)


@dataclass(frozen=True)
class Case:
    """One call of an operation, what PyTorch answers, and its gradients for a fixed cotangent."""

    op: str
    variant: str
    number: int  # among those of this operation and variant
    input: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    outputs: list[Array]
    input_grads: list[Array | None] | None

    def __str__(self) -> str:
        return "-".join(filter(None, [self.op, self.variant, str(self.number)]))

    @property
    def arrays(self) -> list[Array]:
        """All arrays of the call, in order."""
        return list(_leaves((self.input, self.args, dict(self.kwargs))))

    def declare(self) -> tuple[list[Expr], list[Expr]]:
        """A placeholder for each of `arrays`, and the outputs."""
        placeholders = [
            dg.placeholder(f"x{k}", a.shape, a.dtype) for k, a in enumerate(self.arrays)
        ]
        spare = iter(placeholders)
        given = _swapped((self.input, self.args, dict(self.kwargs)), spare)
        y = OPERATIONS[self.op](given[0], *given[1], **given[2])
        return placeholders, list(y) if isinstance(y, tuple | list) else [y]

    def learned(self) -> list[int]:
        """Which of `arrays` the gradients belong to: the floats, or those that are no buffers."""
        floats = [k for k, a in enumerate(self.arrays) if a.dtype.kind == "f"]
        count = len(self.input_grads or ())
        if count == len(floats):
            return floats
        fixed = FIXED + FIXED_IN_LOSSES * ("loss" in self.op or "entropy" in self.op)
        spare = iter(range(len(self.arrays)))
        numbers = _swapped((self.input, self.args, dict(self.kwargs)), spare)
        call = inspect.signature(OPERATIONS[self.op]).bind(numbers[0], *numbers[1], **numbers[2])
        buffers = [call.arguments.get(name) for name in fixed]
        return [k for k in floats if k not in buffers][:count]


def read(folder: Path) -> Iterator[Case]:
    """The cases of every `*.json` in a folder."""
    seen: dict[tuple[str, str], int] = {}
    for path in sorted(folder.glob("*.json")):
        with np.load(path.with_suffix(".npz")) as arrays:
            for row in json.loads(path.read_text(encoding="utf-8")):
                key = row["op"], row["variant"]
                number = seen[key] = seen.get(key, -1) + 1
                parts = ("input", "args", "kwargs", "outputs", "input_grads")
                yield Case(*key, number, *(_decoded(row[part], arrays) for part in parts))


def _decoded(value: Any, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, list):
        return [_decoded(v, arrays) for v in value]
    if not isinstance(value, dict):
        return value
    ((tag, inner),) = value.items()
    match tag:
        case "array":
            return arrays[str(inner)]
        case "tuple":
            return tuple(_decoded(v, arrays) for v in inner)
        case "dict":
            return {k: _decoded(v, arrays) for k, v in inner.items()}
        case "slice":
            return slice(*inner)
        case "ellipsis":
            return ...
        case "float":
            return float(inner)
    raise ValueError(f"no such tag in a case: {tag}")


def _leaves(value: Any) -> Iterator[Array]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple):
        for v in value:
            yield from _leaves(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from _leaves(v)


def _swapped(value: Any, spare: Iterator[Any]) -> Any:
    """The same structure with the next of `spare` in place of each array."""
    if isinstance(value, np.ndarray):
        return next(spare)
    if isinstance(value, list | tuple):
        return type(value)(_swapped(v, spare) for v in value)
    if isinstance(value, dict):
        return {k: _swapped(v, spare) for k, v in value.items()}
    return value
