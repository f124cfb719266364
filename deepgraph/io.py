"""Saving and loading of state by name: NumPy's npz, without pickle.

State is what parameters hold: of a model, an optimiser, anything else with a `state` that maps
names to parameters, or such a mapping itself; or of a list of parameters, by their own names.
"""

from __future__ import annotations

import os
import secrets
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from itertools import starmap
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from deepgraph.dims import pretty
from deepgraph.dtypes import as_dtype
from deepgraph.errors import GraphError
from deepgraph.expr import Expr
from deepgraph.parameter import Parameter

Array = npt.NDArray[Any]


class Stateful(Protocol):
    """What names its parameters."""

    @property
    def state(self) -> Mapping[str, Parameter]:
        """The parameters by name."""


Source: TypeAlias = Stateful | Mapping[str, Parameter] | Iterable[Parameter]


class StateError(GraphError, ValueError):
    """State that does not fit what it is loaded into, or that cannot be told apart by name."""


def state_dict(*objects: Source, **named: Source) -> dict[str, Array]:
    """A copy of all that parameters of these objects hold, by name; `named` ones as `key/name`."""
    found = parameters(*objects, **named)
    with _locked(found):
        return {name: p.value for name, p in found.items()}


def load_state_dict(
    state: Mapping[str, npt.ArrayLike], *objects: Source, strict: bool = True, **named: Source
) -> list[str]:  # fmt: skip
    """Write arrays into the parameters of the same names; return the names that were left alone.

    Unless `strict` is False, each name must stand on both sides. Raises StateError that lists
    every name that is missing, unknown, or of another shape or kind of dtype; then nothing was
    written.
    """
    found = parameters(*objects, **named)
    arrays = {name: np.asarray(value) for name, value in state.items()}
    faults = [_fault(p, name, arrays[name]) for name, p in found.items() if name in arrays]
    missing = [name for name in found if name not in arrays]
    if strict:
        faults += [f"missing: {name}" for name in missing]
        unknown = [f"unknown: {name}" for name in arrays if name not in found]
        if unknown and not any(faults):  # such as an optimiser's beside a model's
            unknown.append("to load what is known alone: strict=False")
        faults += unknown
    if listed := "".join(f"\n  {fault}" for fault in faults if fault):
        raise StateError(f"load: the state does not fit:{listed}")
    with _locked(found):
        for name, p in found.items():
            if name in arrays:
                p.assign(arrays[name])
    return missing


def save(path: str | os.PathLike[str], *objects: Source, **named: Source) -> None:
    """Write what `state_dict` gives to an npz file; a file there is replaced once all is written.

    >>> io.save("digits.npz", model, opt)                              # doctest: +SKIP
    >>> io.save("gan.npz", generator=g, discriminator=d)               # doctest: +SKIP
    """
    arrays = dict(starmap(_packed, state_dict(*objects, **named).items()))
    target = Path(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def load(
    path: str | os.PathLike[str], *objects: Source, strict: bool = True, **named: Source
) -> list[str]:  # fmt: skip
    """Read what `save` wrote into the parameters of these objects; see `load_state_dict`."""
    return load_state_dict(read(path), *objects, strict=strict, **named)


def read(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The arrays of an npz file by name. Raises StateError where it is none."""
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
                label, values = _unpacked(name.removesuffix(".npy"), array)
                arrays[label] = values
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise StateError(f"load: not an npz file of numbers: {os.fspath(path)}: {error}") from None
    return arrays


def parameters(*objects: Any, **named: Any) -> dict[str, Parameter]:
    """All parameters by name; two of one name are told apart by nobody, so an error."""
    found: dict[str, Parameter] = {}
    for prefix, source in [*(("", o) for o in objects), *((f"{k}/", o) for k, o in named.items())]:
        for name, p in _state(source):
            if not isinstance(p, Parameter):
                raise StateError(f"state is of parameters: {name} is {p!r}")
            if found.setdefault(prefix + name, p) is not p:
                raise StateError(
                    f"two parameters are called {prefix + name!r}: give the objects by keyword, "
                    "as in io.save(path, first=..., second=...)"
                )
    return found


def _state(source: Any) -> Iterable[tuple[str, Any]]:
    state = source if isinstance(source, Mapping) else getattr(source, "state", None)
    if isinstance(state, Mapping):
        return state.items()
    parameters = getattr(source, "parameters", source)
    if not isinstance(parameters, Iterable) or isinstance(parameters, Expr | np.ndarray | str):
        raise StateError(f"state is of a model, an optimiser or parameters: got {source!r}")
    return [(getattr(p, "name", ""), p) for p in parameters]


def _locked(parameters: Mapping[str, Parameter]) -> ExitStack:
    """No step writes any of them meanwhile; locked in the order in which steps do."""
    stack = ExitStack()
    for p in sorted(parameters.values(), key=lambda p: p.serial):
        stack.enter_context(p.lock)
    return stack


def _fault(p: Parameter, name: str, array: Array) -> str:
    if array.shape != p.shape:
        return f"shape: {name} is {pretty(p.shape)}, got {pretty(array.shape)}"
    if not np.can_cast(array.dtype, p.dtype, "same_kind"):
        return f"dtype: {name} is {p.dtype.name}, got {array.dtype.name}"
    return ""


# The npy format has no bfloat16: its bits are stored as uint16 under a name that says so.

_BITS = ":bfloat16"


def _packed(name: str, array: Array) -> tuple[str, Array]:
    if array.dtype.name == "bfloat16":
        return name + _BITS, array.view(np.uint16)
    return name, array


def _unpacked(name: str, array: Array) -> tuple[str, Array]:
    if name.endswith(_BITS) and array.dtype == np.uint16:
        return name.removesuffix(_BITS), array.view(as_dtype("bfloat16"))
    return name, array
