"""The C text of elementwise operations, compiled with the headers that ship: NumPy's results."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aid import run
from compiled import CC, FLAGS, compiled, over

import deepgraph as dg
from deepgraph.dtypes import ufunc_dtypes
from deepgraph.expr import OPS, Expr, Kind, Op

pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler here")

WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES = ("bool", *WHOLE, "float32", "float64")
MIXED = (("int32", "float32"), ("int8", "int64"), ("int64", "uint64"), ("uint64", "int8"))
ATTRIBUTES: dict[str, list[dict[str, Any]]] = {
    "leaky_relu": [{"slope": 0.01}, {"slope": -2.0}, {"slope": 0.0}],
    "gelu": [{"approximate": "none"}, {"approximate": "tanh"}],
    "astype": [{"dtype": d} for d in (*DTYPES, "float16")],
}
C_TYPES = {"bool": "dg_bool", "float32": "float", "float64": "double"}
C_TYPES |= {d: f"{d}_t" for d in WHOLE}


def computed(
    op: Op, dtypes: tuple[str, ...], attrs: dict[str, Any]
) -> tuple[Expr, tuple[str, ...]] | None:
    """A node of the operation over these dtypes, and the dtypes in which it computes."""
    xs = [dg.placeholder(f"x{k}", ("n",), d) for k, d in enumerate(dtypes)]
    try:
        y = op(*xs, **attrs)
    except dg.GraphError:
        return None
    if not op.ufunc:
        return y, dtypes
    kinds = ufunc_dtypes(op.ufunc, *[x.dtype for x in xs])[: op.arity]
    return y, tuple(k.name for k in kinds)


def cases() -> Iterator[tuple[Op, tuple[str, ...], Expr, tuple[str, ...]]]:
    for op in dict.fromkeys(OPS.values()):
        if op.kind is not Kind.ELEMENTWISE or not op.c or op.variadic:
            continue
        combinations = [(d,) * op.arity for d in DTYPES] + list(MIXED if op.arity == 2 else ())
        for dtypes in combinations:
            given = ("bool", *dtypes[1:]) if op.name == "where" else dtypes
            for attrs in ATTRIBUTES[op.name] if op.attr_names else [{}]:
                found = computed(op, given, attrs)
                if found and (op.name == "astype" or "float16" not in str(found)):
                    yield op, given, *found


def body(op: Op, dtypes: tuple[str, ...], y: Expr, kinds: tuple[str, ...], name: str) -> str:
    """A loop over arrays of `dtypes` that computes in `kinds`; half precision is stored as such."""
    half = y.dtype == np.float16
    params = ", ".join(f"const {C_TYPES[d]} *a{i}" for i, d in enumerate(dtypes))
    loads = " ".join(f"{C_TYPES[t]} x{i} = a{i}[i];" for i, t in enumerate(kinds))
    value = op.c.format(*[f"x{i}" for i in range(op.arity)], **y.attributes)
    stored = f"dg_to_half({value})" if half else value
    out = "dg_half" if half else C_TYPES[y.dtype.name]
    loop = f"for (int64_t i = 0; i < n; i++) {{ {loads} y[i] = {stored}; }}"
    return f"void {name}(int64_t n, {params}, {out} *y) {{ {loop} }}"


CASES = list(cases())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """One function a case: each reads its operands in the dtypes it computes in."""
    texts = ['#include "maths.h"', *[body(*case, f"f{k}") for k, case in enumerate(CASES)]]
    return compiled("\n".join(texts), tmp_path_factory.mktemp("c"), "-O1")[0]


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
    if op.name == "astype":
        found[0] = found[0][: -3 if "float" in dtypes[0] else None]  # integers have no infinities
    if op.name == "pow":
        found[1] = found[1][:5]  # no negative powers of integers
    return [np.ascontiguousarray(v.ravel()) for v in np.meshgrid(*found)]


@pytest.mark.parametrize("k", range(len(CASES)), ids=lambda k: f"{CASES[k][0].name}-{CASES[k][1]}")
def test_c_text(library: ctypes.CDLL, k: int) -> None:
    op, dtypes, y, _ = CASES[k]
    arrays = operands(op, dtypes)
    expected = run(y, dict(zip(inputs(y), arrays, strict=True)), {"n": len(arrays[0])})
    found = over(library[f"f{k}"], expected.dtype, *arrays)
    if y.dtype.kind == "f":
        rtol = 1e-6 if y.dtype == np.float32 else 2e-15
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol / 10)
    else:
        np.testing.assert_array_equal(found, expected)


def inputs(y: Expr) -> list[Expr]:
    return sorted(y.inputs, key=lambda x: x.name)


def test_most_operations_have_c_text() -> None:
    assert len({op.name for op, *_ in CASES}) > 70


def test_no_undefined_behaviour(tmp_path: Path) -> None:
    """Every operation on integers, and every conversion, at all edges: the sanitizer is silent."""
    edges = "0, 1, 2, 7, -1, -2, INT8_MIN, INT16_MAX, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX"
    reals = "NAN, INFINITY, -INFINITY, -0.0, 0.5, -1, 3e9, -3e9, 0x1p31, -0x1p63, 0x1p63, 1e30"
    pairs = [f"dg_{f}(({d}_t)w[i], ({d}_t)w[j])" for d in WHOLE for f in
             ("floordiv", "mod", "pow", "shl", "shr", "maximum", "less")]  # fmt: skip
    singles = [f"dg_{f}(({d}_t)w[i])" for d in WHOLE for f in ("abs", "sign", "invert")]
    casts = [f"dg_to_{d}({r}r[i])" for d in (*WHOLE, "float16") for r in ("(float)", "")]
    statements = "".join(f"s += (double){text};" for text in [*pairs, *singles, *casts])
    source, program = tmp_path / "edges.c", tmp_path / "edges"
    source.write_text(f"""#include "maths.h"
        int main(void) {{
          volatile int64_t w[12] = {{{edges}}}; volatile double r[12] = {{{reals}}}, s = 0;
          for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) {{ {statements} }}
          return 0; }}""")
    checks = ("-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all")
    command = [str(CC), *FLAGS, *checks, str(source), "-o", str(program), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "cannot find" in built.stderr:
        pytest.skip("the compiler has no sanitizer library")
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
