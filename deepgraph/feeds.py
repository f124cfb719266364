"""Feeds: what a call brings, checked and brought in the form that kernels read."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph.dims import Dim, bind, names, pretty, solve
from deepgraph.errors import DTypeError, FeedError, ShapeError
from deepgraph.expr import Expr
from deepgraph.graph import Graph

Array = npt.NDArray[Any]
Key = tuple[tuple[int, ...], ...]


class Feeds:
    """The placeholders of a step: takes arrays for them, and solves the named sizes."""

    def __init__(self, graph: Graph, positional: bool, donate: Collection[str] = ()) -> None:
        self.placeholders = graph.placeholders
        self.positional = positional
        self.donate = donate
        self._wanted = [(p.name, p.dtype) for p in self.placeholders]

    def take(self, args: Sequence[Any], feeds: Mapping[str, Any]) -> tuple[list[Array], Key]:
        """The arrays in the placeholders' order, and their shapes.

        Raises FeedError for missing, extra or misnamed feeds, DTypeError for values that would
        lose precision. Shapes are checked where sizes are solved, once for each set of shapes.
        """
        if args:
            feeds = self._by_position(args, feeds)
        arrays = []
        try:
            for name, dtype in self._wanted:
                given = feeds[name]
                if type(given) is not np.ndarray or given.dtype != dtype or not (
                    given.flags.c_contiguous
                ):  # fmt: skip
                    given = self._convert(name, given, dtype)
                arrays.append(given)
        except KeyError:
            raise self._wrong_names(feeds) from None
        if len(feeds) != len(arrays):
            raise self._wrong_names(feeds)
        if self.donate:
            self._check_donated(arrays)
        return arrays, tuple([a.shape for a in arrays])

    def sizes(self, key: Key) -> dict[str, int]:
        """The value of each named size; ShapeError where shapes contradict the declaration."""
        sizes: dict[str, int] = {}
        source: dict[str, str] = {}
        for p, shape in zip(self.placeholders, key, strict=True):
            if len(shape) != p.ndim:
                raise ShapeError(
                    f"feed {p.name} has {len(shape)} dimensions: declared {p.type_text} at "
                    f"{p.origin.where}, got {pretty(shape)}"
                )  # fmt: skip
            for size, value in zip(p.shape, shape, strict=True):
                for name, found in ((solve(size, value) or {}) if isinstance(size, Dim) else {}).items():
                    if sizes.setdefault(name, found) != found:
                        raise ShapeError(
                            f"size {name} is {sizes[name]} in feed {source[name]} and {found} in "
                            f"feed {p.name}: {pretty(shape)}"
                        )  # fmt: skip
                    source.setdefault(name, p.name)
        for p, shape in zip(self.placeholders, key, strict=True):
            known = names(p.shape) <= sizes.keys()
            if not known or bind(p.shape, sizes) != shape:
                raise ShapeError(
                    f"feed {p.name} has another shape: declared {p.type_text} at "
                    f"{p.origin.where}, got {pretty(shape)}"
                )  # fmt: skip
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

    def _convert(self, name: str, given: Any, dtype: np.dtype[Any]) -> Array:
        if isinstance(given, Expr):
            raise DTypeError(f"feed {name} is an expression: feed an array, or compile it in")
        plain = isinstance(given, bool | int | float | list | tuple)
        if not plain and not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
            given = np.from_dlpack(given)
        try:
            array = np.asarray(given)
        except (ValueError, TypeError) as error:
            raise DTypeError(f"feed {name} is not an array of numbers: {error}") from None
        if array.dtype != dtype:
            fits = np.can_cast(array.dtype, dtype, "safe")
            if plain and array.dtype.kind in "biuf":
                fits = dtype.kind == "f" or (array.dtype.kind in "biu" and _holds(array, dtype))
            if not fits and not (plain and array.size == 0):
                kept = f'; write {name}.astype("{dtype.name}")' if not plain else ""
                raise DTypeError(f"feed {name} has another dtype: wants {dtype}, got {array.dtype}{kept}")
            array = array.astype(dtype)
        return np.require(array, requirements="C")

    def _check_donated(self, arrays: Sequence[Array]) -> None:
        for k, p in enumerate(self.placeholders):
            if p.name not in self.donate:
                continue
            if not arrays[k].flags.writeable:
                raise FeedError(f"feed {p.name} is donated but read-only")
            for j, q in enumerate(self.placeholders):
                if j != k and np.may_share_memory(arrays[k], arrays[j]):
                    raise FeedError(f"feed {p.name} is donated but shares memory with feed {q.name}")


def _holds(array: Array, dtype: np.dtype[Any]) -> bool:
    """Do whole numbers fit this dtype, value by value?"""
    if dtype.kind == "b" or not array.size:
        return array.dtype.kind == "b" or not array.size
    info = np.iinfo(dtype)
    return bool(array.min() >= info.min and array.max() <= info.max)
