"""Feeds: what a call brings, checked and brought in the form and to the device of kernels."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from deepgraph.backends.device import HOST, Device
from deepgraph.constraints import Constraint, constraints
from deepgraph.dims import Dim, bind, names, pretty, solve
from deepgraph.dtypes import is_float
from deepgraph.errors import DonationError, DTypeError, FeedError, ShapeError
from deepgraph.expr import Expr
from deepgraph.graph import Graph

Array = npt.NDArray[Any]
Shapes = tuple[tuple[int, ...], ...]
_PLAIN = 0x101  # of an array's flags: contiguous and aligned


class Feeds:
    """The placeholders of a step: takes arrays for them, and solves the named sizes."""

    def __init__(
        self, graph: Graph, positional: bool, donate: Collection[str] = (), device: Device = HOST
    ) -> None:
        self._bring = None if device.xp is np else device.bring
        self.placeholders = graph.placeholders
        self.positional = positional
        self.donate = donate
        self._graph = graph
        self._constraints: list[Constraint] | None = None
        self._wanted = [(p.name, p.dtype) for p in self.placeholders]

    def take(self, args: Sequence[Any], feeds: Mapping[str, Any]) -> tuple[list[Array], Shapes]:
        """The arrays in the placeholders' order, and their shapes.

        Raises FeedError for missing, extra or misnamed feeds, DTypeError for values that would
        lose precision, DonationError for donated memory that is shared. Shapes are checked where
        sizes are solved, once for each set of shapes.
        """
        if args:
            feeds = self._by_position(args, feeds)
        arrays, shapes = [], []
        try:
            for name, dtype in self._wanted:
                given = feeds[name]
                if self._bring is not None:
                    given = self._bring(name, given, dtype, converted)
                elif (
                    type(given) is not ndarray
                    or (given.dtype is not dtype and given.dtype != dtype)
                    or given.flags.num & _PLAIN != _PLAIN
                ):
                    given = converted(name, given, dtype)
                arrays.append(given)
                shapes.append(given.shape)
        except KeyError:
            if feeds.keys() >= {name for name, _ in self._wanted}:
                raise  # the feed's own
            raise self._wrong_names(feeds) from None
        if len(feeds) != len(arrays):
            raise self._wrong_names(feeds)
        if self.donate:
            self._check_donated(arrays, feeds)
        return arrays, tuple(shapes)

    def sizes(self, shapes: Shapes) -> dict[str, int]:
        """The value of each named size; ShapeError where shapes contradict the declaration."""
        sizes: dict[str, int] = {}
        source: dict[str, str] = {}
        for p, shape in zip(self.placeholders, shapes, strict=True):
            if len(shape) != p.ndim:
                raise ShapeError(
                    f"feed {p.name} has {len(shape)} dimensions: declared {p.type_text} at "
                    f"{p.origin.where}, got {pretty(shape)}"
                )  # fmt: skip
            for size, value in zip(p.shape, shape, strict=True):
                found_here = solve(size, value) if isinstance(size, Dim) else None
                for name, found in (found_here or {}).items():
                    if sizes.setdefault(name, found) != found:
                        raise ShapeError(
                            f"size {name} is {sizes[name]} in feed {source[name]} and {found} in "
                            f"feed {p.name}: {pretty(shape)}"
                        )  # fmt: skip
                    source.setdefault(name, p.name)
        for p, shape in zip(self.placeholders, shapes, strict=True):
            known = names(p.shape) <= sizes.keys()
            if not known or bind(p.shape, sizes) != shape:
                raise ShapeError(
                    f"feed {p.name} has another shape: declared {p.type_text} at "
                    f"{p.origin.where}, got {pretty(shape)}"
                )  # fmt: skip
        if self._constraints is None:
            self._constraints = constraints(self._graph)
        for constraint in self._constraints:
            constraint.check(sizes)
        return sizes

    def _by_position(self, args: Sequence[Any], feeds: Mapping[str, Any]) -> dict[str, Any]:
        order = [p.name for p in self.placeholders]
        if not self.positional:
            raise FeedError(
                f"feeds go by name: step({', '.join(f'{n}=...' for n in order)}); for feeds by "
                "position compile with inputs=[...]"
            )  # fmt: skip
        if len(args) > len(order):
            raise FeedError(f"{len(args)} feeds for {len(order)} inputs: {', '.join(order)}")
        by_position = dict(zip(order, args, strict=False))
        if twice := by_position.keys() & feeds.keys():
            raise FeedError(f"feed {min(twice)} is given by position and by name")
        return {**by_position, **feeds}

    def _wrong_names(self, feeds: Mapping[str, Any]) -> FeedError:
        order = [p.name for p in self.placeholders]
        missing = [n for n in order if n not in feeds]
        extra = [n for n in feeds if n not in order]
        if extra:
            near = difflib.get_close_matches(extra[0], missing or order, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            there = f"there are {', '.join(order)}" if order else "it takes none"
            return FeedError(f"no placeholder is called {extra[0]!r}: {there}{hint}")
        p = next(p for p in self.placeholders if p.name == missing[0])
        return FeedError(f"feed {p.name} is missing: {p.type_text} from {p.origin.where}")

    def fresh(self, arrays: Sequence[Array]) -> list[Array]:
        """The arrays of a call, the donated ones copied, so that they can be fed once more."""
        pairs = zip(self.placeholders, arrays, strict=True)
        return [a.copy() if p.name in self.donate else a for p, a in pairs]

    def _check_donated(self, arrays: Sequence[Array], feeds: Mapping[str, Any]) -> None:
        """DonationError for memory that is not the feed's alone; what was converted is a copy."""
        for k, p in enumerate(self.placeholders):
            if p.name not in self.donate:
                continue
            given = feeds[p.name] if isinstance(feeds[p.name], ndarray) else arrays[k]
            if any(step == 0 and n > 1 for n, step in zip(given.shape, given.strides, strict=True)):
                raise DonationError(f"feed {p.name} is donated but broadcast: feed a copy of it")
            if not getattr(given.flags, "writeable", True):
                raise DonationError(f"feed {p.name} is donated but read-only: feed a copy of it")
            for j, q in enumerate(self.placeholders):
                if j != k and np.may_share_memory(arrays[k], arrays[j]):
                    shared = f"shares memory with feed {q.name}: feed a copy of one of them"
                    raise DonationError(f"feed {p.name} is donated but {shared}")


def converted(name: str, given: Any, dtype: np.dtype[Any]) -> Array:
    """A feed as a contiguous, aligned array of `dtype`, if that loses nothing.

    Arrays convert where NumPy calls it safe. Python's numbers and lists of them have no dtype of
    their own: whole ones go where they fit, others into any float. Raises DTypeError for the rest.
    """
    if isinstance(given, Expr):
        raise DTypeError(f"feed {name} is an expression: feed an array, or compile it in")
    if isinstance(given, np.ma.MaskedArray):
        raise DTypeError(f"feed {name} is a masked array: fill what is masked, {name}.filled(0)")
    if given is None:
        raise DTypeError(f"feed {name} is None: feed an array, a list or a number")
    if not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
        given = np.from_dlpack(given)
    try:
        array = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise DTypeError(f"feed {name} is not an array of numbers: {error}") from None
    if array.dtype != dtype:
        plain = isinstance(given, bool | int | float | list | tuple)
        if plain and not isinstance(given, np.generic):
            array = _weakly(name, array, dtype)
        elif np.can_cast(array.dtype, dtype, "safe"):
            array = array.astype(dtype)
        else:
            hint = f'; write {name}.astype("{dtype.name}")' if array.dtype.kind in "biuf" else ""
            raise _wrong_dtype(name, given, array, dtype, hint)
    return np.require(array, requirements=["C", "A"])


def _weakly(name: str, array: Array, dtype: np.dtype[Any]) -> Array:
    """Python's numbers in `dtype`, each checked to fit."""
    whole = array.dtype.kind in "biu"
    if not array.size:
        return array.astype(dtype)
    if is_float(dtype) and (whole or array.dtype.kind == "f"):
        with np.errstate(over="ignore"):
            cast = array.astype(dtype)
        fits = np.isfinite(cast) | ~np.isfinite(array)
    elif dtype.kind in "iu" and whole:
        info = np.iinfo(dtype)
        cast, fits = array.astype(dtype), (array >= info.min) & (array <= info.max)
    else:
        raise _wrong_dtype(name, array, array, dtype)
    if not fits.all():
        first = array[~fits].flat[0]
        raise DTypeError(f"feed {name} holds {first}, out of the range of {dtype.name}")
    return cast


def _wrong_dtype(
    name: str, given: Any, array: Array, dtype: np.dtype[Any], hint: str = ""
) -> DTypeError:  # fmt: skip
    if array.dtype.kind not in "biufcV":
        got = array.dtype.name if isinstance(given, np.ndarray) else type(given).__name__
        return DTypeError(f"feed {name} is not an array of numbers: got {got}")
    return DTypeError(
        f"feed {name} has another dtype: wants {dtype.name}, got {array.dtype.name}{hint}"
    )
