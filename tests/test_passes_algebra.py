"""Each rule of algebra, bit for bit, at the values where algebra goes wrong; and what stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import run
from rewriting import all_together, assert_same_bits, check_exact, simplified, telling, text, vector

import deepgraph as dg
from deepgraph.algebra import EXACT
from deepgraph.expr import OPS, Expr
from deepgraph.literal import Literal
from deepgraph.patterns import Call, Pattern, Term


def letters(term: Term) -> set[str]:
    if isinstance(term, Call):
        return set().union(*map(letters, term.args))
    return {term} if isinstance(term, str) else set()


PATTERNS = [rule for rules in EXACT.values() for rule in rules if isinstance(rule, Pattern)]
POWERS = [rule for rule in PATTERNS if "square" in rule.text and "**" in rule.text]
GATHERED = [rule for rule in PATTERNS if rule.made and {"k", "t"} <= letters(rule.left)]
DTYPES = {"f": ["float16", "float32", "float64"], "iu": ["int8", "uint8", "int64"], "b": ["bool"]}
CONSTANTS = {"f": [-0.0, 3.0, -1 / 3, np.inf], "iu": [0, 1, 3, 200 - 256], "b": [True]}
TWOS = [2.0, 0.125, -4.0]


def cases() -> list[Any]:
    found = []
    for rule in PATTERNS:
        for kinds, dtypes in DTYPES.items():
            if kinds[0] in rule.kinds and rule not in GATHERED:
                signed = [d for d in dtypes if d != "uint8" or "* -1" not in rule.text]
                found += [pytest.param(rule, d, id=f"{rule.text} {d}") for d in signed]
    return found


def declared(term: Term, known: dict[str, Expr], dtype: Any) -> Expr:
    if isinstance(term, Call):
        return OPS[term.op](*(declared(arg, known, dtype) for arg in term.args))
    if isinstance(term, str):
        return known[term]
    return OPS["constant"](Literal(np.bool_(term) if isinstance(term, bool) else dtype.type(term)))


def type_of(letter: str, dtype: Any) -> Any:
    return np.dtype({"p": "bool", "q": "bool", "i": "int16", "j": "int16"}.get(letter, dtype))


@pytest.mark.parametrize(("rule", "dtype"), cases())
def test_a_rule_gives_the_same_bits(rule: Pattern, dtype: str) -> None:
    kind = np.dtype(dtype)
    names = sorted(letters(rule.left))
    given = [n for n in names if n not in "kmt"]
    known = {n: vector(n, type_of(n, dtype)) for n in given}
    columns = all_together([type_of(n, dtype) for n in given])
    feeds = dict(zip(known.values(), columns, strict=True))
    group = next(k for k in CONSTANTS if kind.kind in k)
    for number in TWOS if "t" in names else CONSTANTS[group] if set("km") & set(names) else [1]:
        with np.errstate(over="ignore"):
            constant = np.array(number).astype(dtype)
        known |= {n: OPS["constant"](Literal(constant)) for n in names if n in "kmt"}
        node = declared(rule.left, known, kind)
        better = rule(node)
        assert better is not None
        sizes = {"n": len(next(iter(feeds.values())))}
        for new in (better, simplified(node, stable=False)):
            found, expected = run(new, feeds, sizes), run(node, feeds, sizes)
            if rule in POWERS and kind.kind == "f":
                assert_near(found, expected)
            else:
                assert_same_bits(found, expected)


def assert_near(found: Any, expected: Any) -> None:
    """Equal but for rounding, and in signs, infinities and nans."""
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    signs = (np.copysign(1, np.nan_to_num(v)) for v in (found, expected))
    np.testing.assert_array_equal(*signs)
    finite = np.isfinite(expected)
    off = np.abs(found[finite] - expected[finite]) / np.spacing(np.abs(expected[finite]))
    assert (off <= 2).all()
    np.testing.assert_array_equal(found[~finite], expected[~finite])


@pytest.mark.parametrize("power", [2, 3, 4, -1, -2, 0.5, 1.5, -0.5])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_powers_round_as_products_do(power: float, dtype: str) -> None:
    x = vector("x", dtype)
    base = dg.abs(x) if power % 1 else x
    y = simplified(base**power)
    assert "pow" not in text(y)
    rng = np.random.default_rng(0)
    top = float(np.log10(np.finfo(dtype).max)) / 4.1
    signs = rng.choice([-1, 1], 5000)
    feed = (signs * 10 ** rng.uniform(-top, top, 5000)).astype(dtype)
    found, exact = run(y, {x: feed}, {"n": 5000}), np.abs(feed.astype("longdouble")) ** power
    exact = exact * np.sign(feed) if power in (3, -1) else exact
    assert (np.abs(found - exact) <= 3 * np.spacing(np.abs(exact).astype(dtype))).all()


# What floats forbid.

X, Y = vector("x"), vector("y")

KEPT: list[tuple[Callable[[], Expr], str]] = [
    (lambda: X + 0.0, "add(x, 0.0)"),
    (lambda: X - -0.0, "subtract(x, -0.0)"),
    (lambda: 0.0 - X, "subtract(0.0, x)"),
    (lambda: X * 0.0, "multiply(x, 0.0)"),
    (lambda: X - X, "subtract(x, x)"),
    (lambda: X / X, "divide(x, x)"),
    (lambda: X / 3.0, "divide(x, 3.0)"),
    (lambda: 0.0 / X, "divide(0.0, x)"),
    (lambda: (X + Y) - Y, "subtract(add(x, y), y)"),
    (lambda: (X * 3.0) * 5.0, "multiply(multiply(x, 3.0), 5.0)"),
    (lambda: (X + 1.0) + 1.0, "add(add(x, 1.0), 1.0)"),
    (lambda: dg.log(dg.exp(X)), "log(exp(x))"),
    (lambda: dg.exp(dg.log(X)), "exp(log(x))"),
    (lambda: dg.square(dg.sqrt(X)), "square(sqrt(x))"),
    (lambda: X**0.5, "pow(x, 0.5)"),
    (lambda: -(X - Y), "negative(subtract(x, y))"),
    (lambda: ~(X < Y), "bitwise_invert(less(x, y))"),
    (lambda: X == X, "equal(x, x)"),
    (lambda: X // 1.0, "floor_divide(x, 1.0)"),
    (lambda: X * 2.0**126 * 2.0**127, f"multiply(multiply(x, {2.0**126}), {2.0**127})"),
    (lambda: dg.abs(dg.sqrt(X)), "abs(sqrt(x))"),
    (lambda: dg.copy(X), "copy(x)"),
    (lambda: dg.maximum(dg.maximum(X, Y), X), "maximum(maximum(x, y), x)"),
    (lambda: dg.where(X > 0, X, 0.0), "where(greater(x, 0.0), x, 0.0)"),
]


@pytest.mark.parametrize(("declare", "kept"), KEPT, ids=[kept for _, kept in KEPT])
def test_what_ieee_forbids_stays(declare: Callable[[], Expr], kept: str) -> None:
    y = declare()
    assert text(check_exact(y, dict(zip([X, Y], all_together(["f4", "f4"]), strict=True)))) == kept


def test_users_of_roots_and_squares() -> None:
    """A root of a square is the absolute value; the square of a root is nan below 0."""
    x = np.array([-2.0, 3.0, 1e30, 1e-30, -0.0], "float32")
    np.testing.assert_array_equal(run(simplified(dg.sqrt(X**2)), {X: x}, {"n": 5}), np.abs(x))
    squared = run(simplified(dg.sqrt(X) ** 2), {X: x}, {"n": 5})
    assert np.isnan(squared[0])
    np.testing.assert_allclose(squared[1:4], x[1:4], rtol=1e-6)


def test_division_by_zero_keeps_the_sign_of_infinity() -> None:
    for y in (-1.0 / X, 1.0 / -X, -(1.0 / X), (-X) ** -1, X / -4.0, (-X) / -0.5):
        check_exact(y, {X: telling("float32")})


# Rules that are functions.


@pytest.mark.parametrize(
    ("y", "short"),
    [
        ((X * 3.0) * 0.5, "multiply(x, 1.5)"),
        (2.0 * (0.25 * X), "multiply(x, 0.5)"),
        ((X / 8.0) * 3.0, "multiply(x, 0.375)"),
        (-(X * 0.5) * 3.0, "multiply(x, -1.5)"),
        (2.0 * (3.0 / X), "divide(6.0, x)"),
        ((X / 3.0) * 2.0, "divide(x, 1.5)"),
        ((X / 3.0) * 5.0, "multiply(divide(x, 3.0), 5.0)"),
        ((4.0 / X) * 3.0, "multiply(divide(4.0, x), 3.0)"),
        (2.0 * (0.1 / X), "divide(0.20000000298023224, x)"),
    ],
    ids=str,
)
def test_factors_gather_where_one_is_a_power_of_two(y: Expr, short: str) -> None:
    """The bits are the same wherever no value between is below the normal range or above it."""
    assert text(simplified(y)) == short
    rng = np.random.default_rng(1)
    x = (rng.normal(size=2000) * 10.0 ** rng.integers(-35, 35, 2000)).astype("float32")
    x = np.concatenate([x, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], "float32")])
    assert_same_bits(run(simplified(y), {X: x}, {"n": 2005}), run(y, {X: x}, {"n": 2005}))


def test_factors_that_gather_are_at_least_as_accurate_below_the_normal_range() -> None:
    x = telling("float32")
    for y, scale in (((X * 0.25) * 0.5, 0.125), ((X * 0.125) * 8.0, 1.0), ((X * 8.0) * 0.125, 1.0)):
        found, plain = run(simplified(y), {X: x}, {"n": len(x)}), run(y, {X: x}, {"n": len(x)})
        exact = x.astype("float64") * scale
        finite = np.isfinite(exact)
        with np.errstate(invalid="ignore"):
            worse = np.abs(found - exact)[finite] > np.abs(plain - exact)[finite]
        assert not worse.any()


@pytest.mark.parametrize("power", [0.5, -0.5, 1.5])
def test_roots_only_of_what_is_never_negative(power: float) -> None:
    for positive in (dg.square(X) + 1e-3, dg.sum(X * X), dg.exp(X), dg.abs(X) * 2.0, dg.mean(X**2)):
        y = positive**power
        better = simplified(y)
        assert "pow" not in text(better)
        for x in (telling("float32"), np.array([1e-30, 3e5], "float32")):
            found, plain = (run(e, {X: x}, {"n": len(x)}) for e in (better, y))
            np.testing.assert_allclose(found, plain, rtol=3e-7)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(plain))
    either = dg.where(X > 0, X, 1.0)
    for perhaps in (X, X + 1.0, dg.relu(X), dg.maximum(X, 0.0), dg.sqrt(X), either):
        assert "pow" in text(simplified(perhaps**power))


NARROW = ["bool", "int8", "uint8", "int16", "uint16", "int32", "int64"]
NARROW += ["float16", "float32", "float64"]


@pytest.mark.parametrize("between", NARROW)
@pytest.mark.parametrize("source", NARROW)
def test_conversions_in_a_row(source: str, between: str) -> None:
    """Two become one only where the values that NumPy gives are the same."""
    x = vector("x", source)
    values = telling(source)
    for last in NARROW:
        y = dg.astype(dg.astype(x, between), last)
        if values.dtype.kind == "f" and np.dtype(last).kind != "f":
            values = values[np.abs(values) < 100]  # beyond, each machine has its own
        feeds = {x: values}
        with np.errstate(all="ignore"):
            better = simplified(y)
            found, expected = (run(e, feeds, {"n": len(values)}) for e in (better, y))
        assert_same_bits(found, expected)
    assert text(simplified(dg.astype(x, source))) == "x"


@pytest.mark.parametrize(
    ("source", "between", "last", "count"),
    [
        ("float32", "float64", "float16", 1), ("float32", "float64", "float32", 0),
        ("int8", "float16", "float64", 1), ("int64", "float64", "int64", 2),
        ("float64", "float32", "float64", 2), ("int32", "float32", "float64", 2),
        ("int8", "float32", "uint8", 2), ("uint8", "float32", "int32", 1),
        ("uint8", "int16", "int8", 1), ("bool", "float32", "int8", 1),
        ("float16", "float32", "int32", 1 + 1),
    ],
)  # fmt: skip
def test_conversions_that_lose_nothing_go(source: str, between: str, last: str, count: int) -> None:
    y = dg.astype(dg.astype(vector("x", source), between), last)
    assert text(simplified(y)).count("astype") == count


def test_mixed_dtypes_are_converted_not_confused() -> None:
    n, x = vector("n_", "int8"), vector("x")
    positive = x > 0
    for y in (
        n * np.float64(1), n / 1, n**1.0, n**0.0, n**2.0, x * np.float64(1), n - (-x), x + (-n),
        dg.where(positive, n, n), dg.where(dg.asarray(True), n, x),
        dg.where(positive, dg.where(positive, n, x), 2.5),
    ):  # fmt: skip
        feeds = dict(zip([n, x], all_together(["int8", "float32"]), strict=True))
        check_exact(y, feeds)


def test_integers_wrap_as_before() -> None:
    for dtype in ("int8", "uint8", "int32"):
        x, y = vector("x", dtype), vector("y", dtype)
        feeds = dict(zip([x, y], all_together([dtype, dtype]), strict=True))
        chains = (x + 100) + 100, (x * 100) * 3, x * 3 * -(x * 3)
        for z in (*chains, x - (-y), (-x) * (-y), x**3, -(x * 3), 0 - x):
            check_exact(z, feeds)
    assert text(simplified((vector("x", "int8") + 100) + 100)) == "add(x, -56)"


def test_what_is_simplified_keeps_named_and_stretched_shapes() -> None:
    x = dg.placeholder("x", ("n", 1))
    one = dg.ones((3,))
    for y in (x * one, one * x, x / one, x - dg.zeros((2, 1, 3)), x**one, dg.where(one > 0, x, x),
              dg.maximum(x, x) * one, x**dg.zeros((3,))):  # fmt: skip
        feed = telling("float32").reshape(-1, 1)
        better = simplified(y)
        found, expected = (run(e, {x: feed}, {"n": len(feed)}) for e in (better, y))
        assert_same_bits(found, expected)
        assert not {"multiply", "divide", "subtract", "pow", "where"} & set(text(better).split("("))
