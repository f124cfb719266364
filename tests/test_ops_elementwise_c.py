"""The scalar C expressions of elementwise operations, compiled and compared with NumPy text."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aid import run

import deepgraph as dg
from deepgraph.dtypes import ufunc_dtypes
from deepgraph.expr import OPS, Expr, Kind, Op

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler here")

DTYPES = ("bool", "int8", "uint8", "int32", "int64", "float32", "float64")
C_TYPES = {
    "bool": "_Bool", "int8": "int8_t", "uint8": "uint8_t", "int32": "int32_t", "int64": "int64_t",
    "float32": "float", "float64": "double", "float16": "_Float16",
}  # fmt: skip

# What expressions may call beside math.h: functions whose C form depends on the type.
HELPERS = """
#include <stdint.h>
#include <tgmath.h>
#define REAL(T, f) \\
  static T floordiv_##T(T x, T y) { \\
    T r = fmod(x, y), q; \\
    if (y == 0) return x / y; \\
    q = (x - r) / y; \\
    if (r != 0 && (r < 0) != (y < 0)) q -= 1; \\
    if (q == 0) return copysign((T)0, x / y); \\
    return q - floor(q) > (T)0.5 ? floor(q) + 1 : floor(q); } \\
  static T mod_##T(T x, T y) { \\
    T r = fmod(x, y); \\
    if (y == 0) return r; \\
    if (r == 0) return copysign((T)0, y); \\
    return (r < 0) != (y < 0) ? r + y : r; }
#define WHOLE(T) \\
  static T floordiv_##T(T x, T y) { \\
    if (y == 0) return 0; \\
    if (y < 0 && y + 1 == 0) return (T)(0 - x); \\
    return (T)(x / y - (x % y != 0 && (x < 0) != (y < 0))); } \\
  static T mod_##T(T x, T y) { \\
    if (y == 0 || (y < 0 && y + 1 == 0)) return 0; \\
    T r = (T)(x % y); \\
    return (T)(r != 0 && (r < 0) != (y < 0) ? r + y : r); } \\
  static T pow_##T(T x, T y) { \\
    T r = 1; for (; y > 0; y--) r = (T)(r * x); return r; } \\
  static T shl_##T(T x, T y) { \\
    return y < 0 || y >= (T)(8 * sizeof(T)) ? 0 : (T)((uint64_t)x << y); } \\
  static T shr_##T(T x, T y) { \\
    return y < 0 || y >= (T)(8 * sizeof(T)) ? (T)(x < 0 ? -1 : 0) : (T)(x >> y); }
REAL(float, f) REAL(double, d)
WHOLE(int8_t) WHOLE(uint8_t) WHOLE(int32_t) WHOLE(int64_t)
#define WHOLES(f, x) int8_t: f##_int8_t, uint8_t: f##_uint8_t, int32_t: f##_int32_t, \\
  int64_t: f##_int64_t
#define dg_floordiv(x, y) _Generic((x), WHOLES(floordiv, x), float: floordiv_float, \\
  double: floordiv_double)(x, y)
#define dg_mod(x, y) _Generic((x), WHOLES(mod, x), float: mod_float, double: mod_double)(x, y)
#define dg_pow(x, y) _Generic((x), WHOLES(pow, x), float: powf, double: (pow))(x, y)
#define dg_shl(x, y) _Generic((x), WHOLES(shl, x))(x, y)
#define dg_shr(x, y) _Generic((x), WHOLES(shr, x))(x, y)
#define dg_invert(x) _Generic((x), _Bool: !(x), default: ~(x))
#define ROUNDED(g, x) _Generic((x), float: g##f, double: (g), default: same)(x)
static inline int64_t same(int64_t x) { return x; }
static inline int64_t size(int64_t x) { return x < 0 ? -x : x; }
#define dg_abs(x) _Generic((x), float: fabsf, double: (fabs), default: size)(x)
#define dg_floor(x) ROUNDED(floor, x)
#define dg_ceil(x) ROUNDED(ceil, x)
#define dg_trunc(x) ROUNDED(trunc, x)
#define dg_round(x) ROUNDED(rint, x)
"""


def computed(op: Op, dtypes: tuple[str, ...]) -> tuple[Expr, tuple[str, ...]] | None:
    """A node of the operation over these dtypes, and the dtypes in which it computes."""
    xs = [dg.placeholder(f"x{k}", ("n",), d) for k, d in enumerate(dtypes)]
    try:
        y = op(*xs)
    except dg.GraphError:
        return None
    if not op.ufunc:
        return y, dtypes
    kinds = ufunc_dtypes(op.ufunc, *[x.dtype for x in xs])[: op.arity]
    return y, tuple(k.name for k in kinds)


def cases() -> Iterator[tuple[Op, tuple[str, ...], Expr, tuple[str, ...]]]:
    for op in dict.fromkeys(OPS.values()):
        if op.kind is not Kind.ELEMENTWISE or not op.c or op.attr_names or op.variadic:
            continue
        alike = [(d,) * op.arity for d in DTYPES]
        mixed = [("int32", "float32"), ("int8", "int64")] if op.arity == 2 else []
        for dtypes in [("bool", *d[1:]) for d in alike] if op.name == "where" else alike + mixed:
            found = computed(op, dtypes)
            if found and "float16" not in (*found[1], found[0].dtype.name):
                yield op, dtypes, *found


CASES = list(cases())


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """One function a case: each reads its operands in the dtypes it computes in."""
    folder: Path = tmp_path_factory.mktemp("c")
    texts = [HELPERS]
    for k, (op, dtypes, y, kinds) in enumerate(CASES):
        params = ", ".join(f"const {C_TYPES[d]} *a{i}" for i, d in enumerate(dtypes))
        loads = " ".join(f"{C_TYPES[t]} x{i} = a{i}[i];" for i, t in enumerate(kinds))
        value = op.c.format(*[f"x{i}" for i in range(op.arity)])
        texts.append(
            f"void f{k}(int64_t n, {params}, {C_TYPES[y.dtype.name]} *y) "
            f"{{ for (int64_t i = 0; i < n; i++) {{ {loads} y[i] = {value}; }} }}"
        )
    source, library = folder / "ops.c", folder / "ops.so"
    source.write_text("\n".join(texts))
    flags = "-std=c11 -O1 -fwrapv -fno-math-errno -ffp-contract=off -shared -fPIC"
    subprocess.run([str(CC), *flags.split(" "), str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def operands(op: Op, dtypes: tuple[str, ...]) -> list[np.ndarray[Any, Any]]:
    found = []
    for dtype in dtypes:
        if dtype == "bool":
            values = np.array([0, 1], "bool")
        elif dtype.startswith("float"):
            more = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 7.5, 20.0, np.inf, -np.inf, np.nan]
            values = np.array(more, dtype)
        else:
            limits = np.iinfo(dtype)
            values = np.array([0, 1, 2, 3, 7, limits.max, limits.min, limits.min + 1], dtype)
        found.append(values)
    if op.name == "pow" or "shift" in op.name:
        found[1] = found[1][:5]  # no negative powers or shifts of integers
    return [np.ascontiguousarray(v.ravel()) for v in np.meshgrid(*found)]


@pytest.mark.parametrize("k", range(len(CASES)), ids=lambda k: f"{CASES[k][0].name}-{CASES[k][1]}")
def test_c_text(compiled: ctypes.CDLL, k: int) -> None:
    op, dtypes, y, _ = CASES[k]
    arrays = operands(op, dtypes)
    expected = run(y, dict(zip(inputs(y), arrays, strict=True)), {"n": len(arrays[0])})
    found = np.empty_like(expected)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in [*arrays, found]]
    compiled[f"f{k}"](ctypes.c_int64(len(found)), *pointers)
    if y.dtype.kind == "f":
        rtol = 1e-6 if y.dtype == np.float32 else 2e-15
        np.testing.assert_allclose(found, expected, rtol=rtol)
    else:
        np.testing.assert_array_equal(found, expected)


def inputs(y: Expr) -> list[Expr]:
    return sorted(y.inputs, key=lambda x: x.name)


def test_most_operations_have_c_text() -> None:
    assert len({op.name for op, *_ in CASES}) > 70
