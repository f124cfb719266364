"""Scalars as C text, for every target whose kernels are C or like it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from deepgraph.dims import Dim, Size, code
from deepgraph.dtypes import DType, ufunc_dtypes
from deepgraph.expr import Expr
from deepgraph.literal import Literal

_C = {
    "bool": "dg_bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t",
    "int64": "int64_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t",
    "uint64": "uint64_t", "float32": "float", "float64": "double",
}  # fmt: skip
_HALVES = {"float16": "half", "bfloat16": "bfloat"}  # floats in registers, two bytes in memory


@cache
def register_type(dtype: DType) -> str:
    """The C type in which a value is computed."""
    return "float" if dtype.name in _HALVES else _C[dtype.name]


@cache
def memory_type(dtype: DType) -> str:
    """The C type of an element in memory.

    That of a bool is a number of one byte: gcc runs no loop in vectors that mixes _Bool and floats.
    """
    if dtype.kind == "b":
        return "uint8_t"
    return f"dg_{_HALVES[dtype.name]}" if dtype.name in _HALVES else _C[dtype.name]


@cache
def _half(dtype: DType) -> str | None:
    """The name of a float of two bytes."""
    return _HALVES.get(dtype.name)


def loaded(element: str, dtype: DType) -> str:
    """What brings an element of memory into a register."""
    return f"dg_from_{half}({element})" if (half := _half(dtype)) else element


def stored(register: str, dtype: DType) -> str:
    """What an element of memory is given."""
    return f"dg_to_{half}({register})" if (half := _half(dtype)) else register


def converted(text: str, given: DType, wanted: DType) -> str:
    """A value of one dtype as another; half precision is rounded as it would be in memory."""
    if given == wanted or register_type(wanted) == "float" == register_type(given) == wanted.name:
        return text
    return f"dg_to_{wanted.name}({text})"


def number(value: Any, dtype: DType) -> str:
    """A number as C text that reads back as the same bits."""
    if dtype.name in ("float32", "float64", *_HALVES):
        wide = float(value)
        suffix = "" if dtype.name == "float64" else "f"
        if wide != wide or wide in (float("inf"), float("-inf")):
            cast = "(double)" if dtype.name == "float64" else ""
            name = "NAN" if wide != wide else "INFINITY" if wide > 0 else "-INFINITY"
            return f"({cast}{name})" if cast or wide < 0 else name
        text = repr(wide) if dtype.name == "float64" else str(np.float32(wide))
        text = text if "." in text or "e" in text else f"{text}.0"
        return f"({text}{suffix})" if text.startswith("-") else text + suffix
    whole = int(value)
    if dtype.name == "bool":
        return str(whole)
    if whole == np.iinfo(np.int64).min:
        return "INT64_MIN"
    text = f"UINT64_C({whole})" if dtype.name == "uint64" else f"INT64_C({whole})"
    return text if dtype.itemsize == 8 else f"({_C[dtype.name]}){_parenthesised(whole)}"


def _parenthesised(whole: int) -> str:
    return f"({whole})" if whole < 0 else str(whole)


def size(value: Size) -> str:
    """A size as a C expression over the named sizes."""
    return code(value, size_name, "c")


@cache
def size_name(name: str) -> str:
    """What C calls a named size; other letters than ASCII's go by their numbers."""
    return "n_" + re.sub(r"[^A-Za-z0-9_]", lambda m: f"u{ord(m[0]):x}_", name)


def expression(node: Expr, args: Sequence[str | Literal | Dim]) -> str:
    """The scalar that an elementwise operation computes of these, each of its input's dtype."""
    wanted = _computed_in(node)
    texts = []
    for arg, operand, dtype in zip(args, node.inputs, wanted, strict=True):
        if isinstance(arg, Literal):
            texts.append(number(arg.value.astype(dtype).item(), dtype))
        else:
            text = size(arg) if isinstance(arg, Dim) else arg
            given = np.dtype(np.int64) if isinstance(arg, Dim) else operand.dtype
            whole = converted(text, given, dtype)
            texts.append(f"({text})" if whole == text and not text.isidentifier() else whole)
    return node.op.c.format(*texts, **node.attributes)


def _computed_in(node: Expr) -> Sequence[DType]:
    """The dtypes in which a node takes its inputs: its ufunc's, else its own but for conditions."""
    given = [x.dtype for x in node.inputs]
    if node.op.ufunc:
        return ufunc_dtypes(node.op.ufunc, *given)[: len(given)]
    return given if len(given) == 1 else [d if d.kind == "b" else node.dtype for d in given]
