"""Our elementary functions in C: errors in units in the last place, over the whole range of floats.

DEEPGRAPH_SWEEP=1 sweeps over every float32, in hours, instead of each 4099th.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from compiled import CC, Array, compiled, over

pytestmark = [
    pytest.mark.skipif(CC is None, reason="no C compiler here"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, where it overflows
]

STRIDE = int(os.environ.get("DEEPGRAPH_SWEEP", 4099))
X86 = platform.machine().lower() in ("x86_64", "amd64")
WIDE = np.finfo(np.longdouble).nmant >= 63  # np.longdouble serves as reference for double
NEEDS_WIDE = pytest.mark.skipif(not WIDE, reason="np.longdouble is no wider than float64 here")
C_TYPES = {"float32": "float", "float64": "double"}


class Function(NamedTuple):
    """A function with its bounds, as backends/c/maths.h states them."""

    float32: float
    float64: float
    numpy: Callable[..., Array]
    mpmath: Callable[..., Any]


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _erf(x: Array) -> Array:
    return np.array([math.erf(v) for v in x.tolist()])


FUNCTIONS = {
    "exp": Function(1, 1.1, np.exp, mpmath.exp),
    "expm1": Function(1.5, 2, np.expm1, mpmath.expm1),
    "exp2": Function(1, 1.1, np.exp2, lambda x: mpmath.mpf(2) ** x),
    "log": Function(1, 1, np.log, mpmath.log),
    "log2": Function(1.2, 1.2, np.log2, lambda x: mpmath.log(x, 2)),
    "log10": Function(1.1, 1.1, np.log10, mpmath.log10),
    "log1p": Function(1.6, 1.6, np.log1p, mpmath.log1p),
    "sqrt": Function(0.5, 0.5, np.sqrt, mpmath.sqrt),
    "tanh": Function(2.6, 2.6, np.tanh, mpmath.tanh),
    "sigmoid": Function(2.6, 2.6, _sigmoid, lambda x: 1 / (1 + mpmath.exp(-x))),
    "erf": Function(2.2, 2.2, _erf, mpmath.erf),
    "sin": Function(2, 1, np.sin, mpmath.sin),
    "cos": Function(2, 1, np.cos, mpmath.cos),
    "tan": Function(4, 2.5, np.tan, mpmath.tan),
    "sinh": Function(2, 2, np.sinh, mpmath.sinh),
    "cosh": Function(1.6, 1.6, np.cosh, mpmath.cosh),
    "asin": Function(2.5, 2.5, np.asin, mpmath.asin),
    "acos": Function(1.5, 1.5, np.acos, mpmath.acos),
    "atan": Function(2, 2, np.atan, mpmath.atan),
    "asinh": Function(2, 2, np.asinh, mpmath.asinh),
    "acosh": Function(2.5, 2.6, np.acosh, mpmath.acosh),
    "atanh": Function(2.2, 2.2, np.atanh, mpmath.atanh),
    "cbrt": Function(0.6, 1, np.cbrt, mpmath.cbrt),
    "pow": Function(0.6, 1.5, np.pow, mpmath.power),
    "atan2": Function(2.5, 2.5, np.atan2, mpmath.atan2),
    "hypot": Function(0.6, 1.2, np.hypot, mpmath.hypot),
}
DOMAINS = {
    **dict.fromkeys(("log", "log2", "log10", "cbrt", "sqrt"), (0, np.inf)),
    **dict.fromkeys(("sin", "cos", "tan"), (-np.inf, np.inf)),
    **dict.fromkeys(("asin", "acos", "atanh"), (-1, 1)),
    "log1p": (-1, np.inf), "acosh": (1, np.inf),
}  # fmt: skip
BINARY = ("pow", "atan2", "hypot")
UNARY = [name for name in FUNCTIONS if name not in BINARY]
VECTORS = ("exp", "log", "sin", "cos", "tanh", "sqrt", "sigmoid", "silu", "gelu_tanh", "abs",
           "relu")  # fmt: skip
WITHOUT_FMA = {"log2": 2.0, "log10": 2.0, "pow": 2.0, "exp2": 1.3}  # where that is more


def bound(name: str, dtype: str, fma: bool) -> float:
    stated: float = getattr(FUNCTIONS[name], dtype)
    return stated if fma else max(stated, WITHOUT_FMA.get(name, 0))


def loops() -> str:
    """A C function `<name>_<dtype>` over arrays for each of ours; one line each."""
    texts = ['#include "loops.h"', "#ifndef __AVX2__", "#define __AVX2__ 0", "#endif"]
    texts += ["int has_avx2(void) { return __AVX2__; }"]
    for name in FUNCTIONS:
        for dtype, c in C_TYPES.items():
            more = f"const {c} *restrict z, " if name in BINARY else ""
            call = f"dg_{name}(x[i], z[i])" if name in BINARY else f"dg_{name}(x[i])"
            texts.append(
                f"void {name}_{dtype}(int64_t n, const {c} *restrict x, {more}{c} *restrict y) "
                f"{{ for (int64_t i = 0; i < n; i++) y[i] = {call}; }}"
            )
    for name in VECTORS:
        texts += [
            f"void one_{name}(int64_t n, const float *restrict x, float *restrict y) "
            f"{{ for (int64_t i = 0; i < n; i++) y[i] = dg_{name}(x[i]); }}",
            f"void vectors_{name}(int64_t n, const float *x, float *y) "
            f"{{ DG_MAP_VECTORS(i, 0, n, {{ DG_PUT(y[i], dg_{name}(DG_GET(x[i]))); }}) }}",
        ]
    return "\n".join(texts)


class Built(NamedTuple):
    library: ctypes.CDLL
    fma: bool
    missed: list[str]  # lines whose loop is not vectorised


FLAGS = {"native": ["-march=native"], "AVX2": ["-march=native", "-mno-avx512f"], "without FMA": []}


@pytest.fixture(scope="module", params=FLAGS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    fma, text = request.param != "without FMA", loops()
    if request.param != "native" and not X86:
        pytest.skip("every ARM64 has fused multiply-add, and vectors of one size")
    clang = "clang" in subprocess.check_output([str(CC), "--version"], text=True)
    flags = ["-O3", "-fopenmp-simd"]  # and GCC says nothing of a function that it finds twice
    flags += ["-Rpass=loop-vectorize"] if clang else ["-fopt-info-vec", "-fno-ipa-icf"]
    flags += FLAGS[request.param] if X86 else []
    library, said = compiled(text, tmp_path_factory.mktemp("maths"), *flags)
    vectorised = {int(k) for k in re.findall(r"source\.c:(\d+):.*vectorized", said)}
    lines = enumerate(text.splitlines(), 1)
    missed = [line for k, line in lines if "for (" in line and k not in vectorised]
    return Built(library, fma, missed)


def ulps(y: Array, exact: Array, rest: Array | float = 0.0) -> Array:
    """How far y is from `exact + rest`, in the spacing of y's dtype there; inf for a wrong kind."""
    info = np.finfo(y.dtype)
    largest, size = info.max, np.minimum(np.abs(exact), 2.0 ** (info.maxexp - 1))
    unit = np.spacing(size.astype(y.dtype)).astype(float)
    finite = np.where(np.isinf(y), np.copysign(largest, y), y).astype(float)
    off = np.abs((finite - exact) - rest) / unit + np.isinf(y)
    right = (np.isnan(y) & np.isnan(exact)) | (np.isinf(y) & (y == exact.astype(y.dtype)))
    wrong = (np.isnan(y) != np.isnan(exact)) | (np.signbit(y) != np.signbit(exact)) & ~np.isnan(y)
    wrong |= (np.abs(exact) < unit / 4) & (y != 0)  # far below the least number
    return np.where(right, 0, np.where(wrong | np.isnan(off), np.inf, off))


def check(name: str, dtype: str, built: Built, *xs: Array, exact: Any, rest: Any = 0.0) -> None:
    y = over(getattr(built.library, f"{name}_{dtype}"), dtype, *xs)
    off = ulps(y, exact, rest)
    k = int(np.argmax(off))
    at = ", ".join(repr(x[k]) for x in xs)
    assert off[k] <= bound(name, dtype, built.fma), f"{name}({at}) = {y[k]!r}, not {exact[k]!r}"


def specials(dtype: str) -> Array:
    info = np.finfo(dtype)
    least, small, big = info.smallest_subnormal, info.tiny, info.max
    some = [0, 0.5, 1, 1.5, 2, 3, 10, 1e5, np.inf, least, small, small - least, big, 1 + info.eps]
    values = np.array([*some, 1 - info.eps / 2, 1 / info.eps, 2 / info.eps, 1e22], dtype)
    return np.concatenate([values, -values, np.array([np.nan], dtype)])


def near_edges(dtype: str, seed: int = 0) -> Array:
    """Where functions change: near 0 and 1, at thresholds of overflow, near multiples of pi/2."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    tiny = rng.uniform(-1, 1, 20_000) * 10.0 ** rng.uniform(math.log10(info.eps) - 2, 0, 20_000)
    turns = np.concatenate([np.arange(1, 5000), 2.0 ** np.arange(13, info.maxexp - 2)])
    limits = [np.log(info.max), np.log(info.tiny), info.maxexp, info.minexp, np.log(info.eps)]
    ends = [limit * rng.uniform(0.9, 1.1, 4000) for limit in limits]
    parts = [rng.uniform(-6, 6, 20_000), tiny, 1 + tiny, turns * (np.pi / 2), *ends]
    return np.concatenate([*(p.astype(dtype) for p in parts), specials(dtype)])


@pytest.mark.parametrize("name", UNARY)
def test_float32(built: Built, name: str) -> None:
    size = STRIDE << 20
    for start in range(0, 1 << 32, size):
        bits = np.arange(start, min(start + size, 1 << 32), STRIDE).astype(np.uint32)
        x = np.concatenate([bits.view(np.float32), near_edges("float32")])
        check(name, "float32", built, x, exact=FUNCTIONS[name].numpy(x.astype(float)))


@NEEDS_WIDE
@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("name", [name for name in UNARY if name != "erf"])
def test_float64(built: Built, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    anywhere = rng.integers(0, 1 << 64, 100_000, np.uint64).view(float)
    x = np.concatenate([anywhere, near_edges("float64")])
    wide = FUNCTIONS[name].numpy(x.astype(np.longdouble))
    exact = wide.astype(float)
    rest = np.where(np.isfinite(exact), wide - exact, 0).astype(float)
    check(name, "float64", built, x, exact=exact, rest=rest)


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("name", UNARY)
def test_float64_in_400_digits(built: Built, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    anywhere = rng.integers(0, 1 << 64, 500, np.uint64).view(float)
    some = rng.choice(near_edges("float64"), 2500 if name == "erf" else 500)
    hard = 6381956970095103 * 2.0**797  # of all doubles nearest to a multiple of pi/2
    x = np.concatenate([anywhere, some, [1e5, 1e22, hard]])
    low, high = DOMAINS.get(name, (-1e5, 1e5))  # where mpmath has a number
    x = x[(x != 0) & (x > low) & (x < high)]
    with mpmath.workdps(400):
        values = [FUNCTIONS[name].mpmath(mpmath.mpf(v)) for v in x.tolist()]
        exact = np.array([float(v) for v in values])
        rest = np.array([float(v - e) for v, e in zip(values, exact, strict=True)])
    check(name, "float64", built, x, exact=exact, rest=np.where(np.isinf(exact), 0, rest))


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=NEEDS_WIDE)])
@pytest.mark.parametrize("name", BINARY)
def test_two_operands(built: Built, name: str, dtype: str, seed: int) -> None:
    """From anywhere, of like size, and for pow where the result is near an end of the range."""
    rng = np.random.default_rng(seed)
    n, kind = 50_000, np.uint32 if dtype == "float32" else np.uint64
    anywhere = rng.integers(0, np.iinfo(kind).max, (2, n), kind).view(dtype)
    near_1 = (1 + rng.uniform(-1, 1, n) * 10.0 ** rng.uniform(-15, 0, n)).astype(dtype)
    x = np.concatenate([anywhere[0], anywhere[0], near_1, rng.uniform(-5, 5, n).astype(dtype)])
    ends = np.log(np.finfo(dtype).max) * rng.uniform(-1.1, 1.1, 4 * n) / np.log(np.abs(x))
    whole = rng.integers(-20, 20, 4 * n)
    if name != "pow":
        ends, whole = x * rng.uniform(-2, 2, 4 * n), x * 10.0 ** rng.uniform(-20, 20, 4 * n)
    y = np.where(rng.random(4 * n) < 0.5, ends, whole).astype(dtype)
    y = np.where(x < 0, np.rint(y), y) if name == "pow" else y
    y[:n] = anywhere[1]
    x, y = (np.concatenate([v, s.ravel()]) for v, s in
            zip((x, y), np.meshgrid(specials(dtype), specials(dtype)), strict=True))  # fmt: skip
    wide = np.float64 if dtype == "float32" else np.longdouble
    value = FUNCTIONS[name].numpy(x.astype(wide), y.astype(wide))
    exact = value.astype(float)
    rest = np.where(np.isfinite(exact), value - exact, 0).astype(float)
    check(name, dtype, built, x, y, exact=exact, rest=rest)


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("name", UNARY)
def test_a_value_depends_on_its_place_nowhere(built: Built, name: str, seed: int) -> None:
    """Neither on how many stand beside it nor on what they are: huge, nan, or subnormal."""
    function = getattr(built.library, f"{name}_float32")
    x = np.random.default_rng(seed).permutation(near_edges("float32"))[:3000]
    alone = np.concatenate([over(function, "float32", x[k : k + 1]) for k in range(len(x))])
    for count in (7, 13, 16, 29, 3000):
        rows = [over(function, "float32", x[k : k + count]) for k in range(0, len(x), count)]
        np.testing.assert_array_equal(np.concatenate(rows).view(np.int32), alone.view(np.int32))


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("name", VECTORS)
def test_vectors_have_the_values_of_their_elements(built: Built, name: str, seed: int) -> None:
    x = np.random.default_rng(seed).permutation(near_edges("float32"))
    for count in (0, 1, 15, 16, 31, 33, 100, len(x)):
        one, many = (
            over(getattr(built.library, f"{form}_{name}"), "float32", x[:count])
            for form in ("one", "vectors")
        )
        np.testing.assert_array_equal(many.view(np.int32), one.view(np.int32))


def test_sqrt_rounds_correctly(built: Built) -> None:
    """All significands of both parities of the exponent, and some with each exponent."""
    all_of_two = np.arange(0x3F800000, 0x40800000, dtype=np.uint32)
    each = np.arange(0, 1 << 32, 1 << 23, dtype=np.uint64)[:, None] + all_of_two[:1000 << 13 : 8219]
    for bits in (all_of_two, (each & 0xFFFFFFFF).astype(np.uint32).ravel()):
        x = bits.view(np.float32)
        found, wanted = over(built.library.vectors_sqrt, "float32", x), np.sqrt(x)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        some = ~np.isnan(wanted)
        np.testing.assert_array_equal(found[some].view(np.int32), wanted[some].view(np.int32))


@pytest.mark.skipif(not X86, reason="NEON cannot gather, as the sines of huge arguments need")
def test_loops_vectorise(built: Built) -> None:
    if not built.library.has_avx2():
        pytest.skip("without AVX2 some have no vector form")
    assert not built.missed, "\n".join(built.missed)


def test_float16(tmp_path: Path) -> None:
    library = compiled("""#include "maths.h"
        void load(int64_t n, const dg_half *x, float *y)
        { for (int64_t i = 0; i < n; i++) y[i] = dg_from_half(x[i]); }
        void store(int64_t n, const float *x, dg_half *y)
        { for (int64_t i = 0; i < n; i++) y[i] = dg_to_half(x[i]); }
        void narrow(int64_t n, const double *x, float *y)
        { for (int64_t i = 0; i < n; i++) y[i] = dg_to_float16(x[i]); }
    """, tmp_path, "-O3")[0]  # fmt: skip
    halves = np.arange(1 << 16, dtype=np.uint16)
    np.testing.assert_array_equal(
        over(library.load, np.float32, halves), halves.view(np.float16).astype(np.float32)
    )
    middle = (halves[:-1].view(np.float16).astype(float) + halves[1:].view(np.float16)) / 2
    around = np.concatenate([np.nextafter(middle, -np.inf), middle, np.nextafter(middle, np.inf)])
    x = np.concatenate([np.arange(0, 1 << 32, 4099).astype(np.uint32).view(np.float32),
                        around.astype(np.float32)])  # fmt: skip
    np.testing.assert_array_equal(
        over(library.store, np.uint16, x).view(np.float16), x.astype(np.float16)
    )
    np.testing.assert_array_equal(
        over(library.narrow, np.float32, around), around.astype(np.float16).astype(np.float32)
    )


def test_bfloat16(tmp_path: Path) -> None:
    """Loaded, and stored as the nearer of the two neighbours, the even one of two that are so."""
    library = compiled("""#include "maths.h"
        void load(int64_t n, const dg_bfloat *x, float *y)
        { for (int64_t i = 0; i < n; i++) y[i] = dg_from_bfloat(x[i]); }
        void store(int64_t n, const float *x, dg_bfloat *y)
        { for (int64_t i = 0; i < n; i++) y[i] = dg_to_bfloat(x[i]); }
    """, tmp_path, "-O3")[0]  # fmt: skip
    values = over(library.load, np.float32, np.arange(1 << 16, dtype=np.uint16))
    np.testing.assert_array_equal(values.view(np.uint32) >> 16, np.arange(1 << 16))
    x = np.arange(0, 1 << 32, 4093).astype(np.uint32)
    x = np.concatenate([x, (np.arange(1 << 16, dtype=np.uint32) << 16) | 0x8000]).view(np.float32)
    found = over(library.store, np.uint16, x)
    np.testing.assert_array_equal(np.isnan(values[found]), np.isnan(x))
    keep = np.isfinite(x)
    x, found = x[keep].astype(float), found[keep]
    wide = values.astype(float)
    wide[np.isinf(wide)] = np.copysign(2.0**128, wide[np.isinf(wide)])
    off, even = np.abs(x - wide[found]), found % 2 == 0
    assert (np.signbit(wide[found]) == np.signbit(x)).all()
    for other in (wide[np.where(found & 0x7FFF, found - 1, found)], wide[found + 1]):
        farther = np.abs(x - other)
        nearest = (off < farther) | ((off == farther) & even)
        assert (nearest | np.isnan(other)).all()
