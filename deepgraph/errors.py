"""Error classes, and origins: where in the user's code a node was declared."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from types import CodeType, FrameType
from typing import Any

import numpy as np


class GraphError(Exception):
    """Any fault in how a graph was declared, compiled or fed."""

    details: Sequence[str] = ()  # the lines below the message
    bare: str = ""  # the message without the name of an operation, once that stands before it
    origin: Origin | None = None  # where that operation was called

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *self.details])


class ShapeError(GraphError, ValueError):
    """Shapes that do not fit together."""


class DTypeError(GraphError, TypeError):
    """Dtypes that an operation does not take, or a feed that would lose precision."""


class ArgumentError(GraphError, TypeError):
    """Arguments that a function does not take, or of a type that it does not."""


class DomainError(GraphError, ValueError):
    """A value for which an operation is not defined, known at declaration."""


class OutOfRangeError(GraphError, IndexError):
    """An index that no element has, known at declaration."""


class FeedError(GraphError, TypeError):
    """A call with missing, extra or misnamed feeds."""


class DonationError(FeedError, ValueError):
    """A donated feed whose memory a step must not overwrite: shared, broadcast or read-only."""


class DeepgraphWarning(UserWarning):
    """The base of this package's warnings."""


class PrecisionWarning(DeepgraphWarning):
    """float64 met float32, so everything after it runs in float64."""


_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = tuple(os.path.join(_ROOT, d) + os.sep for d in ("deepgraph", "backends", "passes"))
_NUMPY = os.path.dirname(np.__file__) + os.sep  # np.sum(x) of an expression is the user's line
_USER = os.path.join(_ROOT, "deepgraph", "cli") + os.sep  # declares graphs as any user does
_scope: ContextVar[str] = ContextVar("deepgraph_scope", default="")
_derived: ContextVar[tuple[Origin, str] | None] = ContextVar("deepgraph_derived", default=None)
_again: ContextVar[tuple[FrameType, Origin] | None] = ContextVar("deepgraph_again", default=None)


class Origin:
    """Where a node comes from: the user's position, the layer, and what derived it if not the user.

    Taking one costs about a microsecond (a code object and an instruction offset); it becomes text
    only when someone reads it, or pickles it.
    """

    __slots__ = ("_code", "_lasti", "_text", "scope", "via")

    def __init__(self, code: CodeType | None, lasti: int, scope: str = "", via: str = "") -> None:
        self._code, self._lasti, self.scope, self.via = code, lasti, scope, via
        self._text: tuple[str, str, str] | None = None

    def _resolve(self) -> tuple[str, str, str]:
        if self._text is None:
            self._text = ("", "", "") if self._code is None else _read(self._code, self._lasti)
        return self._text

    @property
    def where(self) -> str:
        """`file:line`, the file relative to the current folder; `In [n], line k` in a notebook."""
        return self._resolve()[0]

    @property
    def line(self) -> str:
        """The user's line of code, stripped; empty where no source is at hand."""
        return self._resolve()[1]

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells two origins apart: the position and the layer, not what derived them."""
        position = self._text if self._code is None else (self._code, self._lasti)
        return position, self.scope

    def show(self, indent: str = "    ") -> str:
        """The position, the line, and carets under the expression (PEP 657)."""
        where, line, carets = self._resolve()
        where = f"{where} ({self.via})" if self.via else where
        return "\n".join([where, *(indent + text for text in (line, carets) if text)])

    def same(self, other: Origin) -> bool:
        """Is it the same expression of the user's?"""
        return self._code is other._code and self._lasti == other._lasti

    def derive(self, via: str) -> Origin:
        """The same position, for a node that `via` made of the user's, or of a gradient."""
        if self.via.startswith("gradient"):
            via = "gradient" if via == "gradient" else f"gradient, {via}"
        return self._with(self.scope, via)

    def _with(self, scope: str, via: str) -> Origin:
        made = Origin(self._code, self._lasti, scope, via)
        made._text = self._text
        return made

    def __str__(self) -> str:
        return " ".join(filter(None, [self.scope, self.via, self.where]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_text, (self._resolve(), self.scope, self.via)


def _from_text(text: tuple[str, str, str], scope: str, via: str) -> Origin:
    origin = Origin(None, 0, scope, via)
    origin._text = text
    return origin


def here() -> Origin:
    """The innermost frame outside deepgraph, or what a running pass derives from."""
    if (derived := _derived.get()) is not None:
        origin, via = derived
        return origin.derive(via)
    frame = _outside(sys._getframe(1))
    if (again := _again.get()) is not None and frame is again[0]:
        return again[1]._with(_scope.get(), "")
    return Origin(frame.f_code, frame.f_lasti, _scope.get())


def _outside(frame: FrameType) -> FrameType:
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@contextmanager
def again(origin: Origin) -> Iterator[None]:
    """Nodes declared inside are of the line of `origin`, not of the one that led here."""
    token = _again.set((_outside(sys._getframe(2)), origin))  # 1: contextlib
    try:
        yield
    finally:
        _again.reset(token)


@cache
def _is_ours(filename: str) -> bool:
    return filename.startswith((*_OURS, _NUMPY)) and not filename.startswith(_USER)


class deriving:  # noqa: N801
    """Nodes declared inside come from `origin` by way of `via` ("gradient", a pass's name)."""

    __slots__ = ("_given", "_token")

    def __init__(self, origin: Origin, via: str) -> None:
        self._given = origin, via

    def __enter__(self) -> None:
        self._token = _derived.set(self._given)

    def __exit__(self, *_: object) -> None:
        _derived.reset(self._token)


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Nodes declared inside belong to the layer `name`; scopes nest as `outer.inner`."""
    outer = _scope.get()
    token = _scope.set(f"{outer}.{name}" if outer else name)
    try:
        yield
    finally:
        _scope.reset(token)


def _read(code: CodeType, lasti: int) -> tuple[str, str, str]:
    line, end, col, stop = _positions(code, code.co_filename, code.co_linetable)[lasti // 2]
    text = linecache.getline(code.co_filename, line or 0).rstrip()
    where = _place(code.co_filename, line or 0)
    if not text or col is None or stop is None:
        return where, text.strip(), ""
    # The columns count UTF-8 bytes; the carets count characters.
    raw = text.encode()
    col = len(raw[:col].decode(errors="ignore"))
    stop = len(raw[:stop].decode(errors="ignore")) if end == line else len(text)
    indent = len(text) - len(text.lstrip())
    return where, text.strip(), " " * (col - indent) + "^" * max(stop - col, 1)


@lru_cache(64)
def _positions(code: CodeType, *rest: object) -> tuple[tuple[int | None, ...], ...]:
    """The positions of all instructions; `rest` is what equal code objects may differ in."""
    return tuple(code.co_positions())


@lru_cache(4096)
def _near(filename: str, folder: str) -> str:
    """The path from a folder; the file's name alone where the path would lead out of it."""
    try:
        near = os.path.relpath(filename, folder)
    except ValueError:  # another drive
        near = os.path.basename(filename)
    return near if not near.startswith("..") else os.path.basename(filename)


def _place(filename: str, line: int) -> str:
    if (ipython := sys.modules.get("IPython")) and (shell := ipython.get_ipython()):
        name = shell.compile.format_code_name(filename)
        if name and name[0] == "Cell":
            return f"{name[1].replace('In[', 'In [')}, line {line}"
    if filename.startswith("<"):
        return f"{filename}:{line}"
    return f"{_near(filename, os.getcwd())}:{line}"
