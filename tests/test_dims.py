"""Sizes against Python's own integers: every expression is evaluated both ways."""

from __future__ import annotations

import copy
import pickle
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from deepgraph.dims import (
    Dim,
    Size,
    at_least,
    bind,
    code,
    dim,
    equal,
    maximum,
    minimum,
    names,
    pretty,
    product,
    same,
    same_shape,
    solve,
    substitute,
)
from deepgraph.errors import GraphError

NAMES = ("a", "b", "n")
SYMBOLS = {name: dim(name) for name in NAMES}
SIZES: dict[str, Any] = {**SYMBOLS, "max": maximum, "min": minimum}
INTEGERS: dict[str, Any] = {"max": max, "min": min}
SEEDS = range(4)

a, b, n = SYMBOLS.values()
h, k, p, s = map(dim, "hkps")


def _expression(draw: random.Random, depth: int, extrema: bool = True) -> str:
    if depth == 0 or draw.random() < 0.1:
        return draw.choice([*NAMES, *NAMES, str(draw.randint(-6, 9))])
    x, y = (_expression(draw, depth - 1, extrema) for _ in "xy")
    divisor = y if draw.random() < 0.3 else str(draw.choice([-3, 1, 2, 3, 4, 6]))
    return draw.choice(
        [
            *(f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"(-{x})"),
            *(f"({x} // {divisor})", f"({x} % {divisor})") * 2,
            *(f"max({x}, {y})", f"min({x}, {y})") * extrema,
        ]
    )


def _expressions(seed: int, number: int, extrema: bool = True) -> Iterator[tuple[str, Size]]:
    draw = random.Random(seed)
    while number:
        text = _expression(draw, 3, extrema)
        try:
            size = eval(text, dict(SIZES))
        except ZeroDivisionError:  # as Python's integers do, whatever the names stand for
            continue
        yield text, size
        number -= 1


def _bindings(seed: int, number: int, least: int = 0) -> list[dict[str, int]]:
    draw = random.Random(seed)
    return [
        {name: draw.choice([least, least + 1, draw.randint(least, 40)]) for name in NAMES}
        for _ in range(number)
    ]


def _evaluated(
    seed: int, number: int, least: int = 0
) -> Iterator[tuple[Size, list[tuple[dict[str, int], int]]]]:
    """Sizes, each with bindings and what Python makes of the same text there."""
    for text, size in _expressions(seed, number):
        values = []
        for binding in _bindings(seed, 12, least):
            try:
                values.append((binding, eval(text, {**INTEGERS, **binding})))
            except ZeroDivisionError:
                continue
        yield size, values


class CInteger(int):
    """An integer with C's operators: `/` and `%` round towards zero."""

    def __add__(self, other: int) -> CInteger:
        return CInteger(int(self) + int(other))

    def __sub__(self, other: int) -> CInteger:
        return CInteger(int(self) - int(other))

    def __mul__(self, other: int) -> CInteger:
        return CInteger(int(self) * int(other))

    def __neg__(self) -> CInteger:
        return CInteger(-int(self))

    def __truediv__(self, other: int) -> CInteger:
        quotient = abs(int(self)) // abs(int(other))
        return CInteger(quotient if (self < 0) == (other < 0) else -quotient)

    def __mod__(self, other: int) -> CInteger:
        return self - (self / other) * other


C = {
    "C": CInteger,
    "dg_floordiv": lambda x, y: CInteger(int(x) // int(y)),
    "dg_mod": lambda x, y: CInteger(int(x) % int(y)),
    "dg_max": lambda x, y: CInteger(max(x, y)),
    "dg_min": lambda x, y: CInteger(min(x, y)),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_binding_after_arithmetic_is_arithmetic_after_binding(seed: int) -> None:
    for size, values in _evaluated(seed, 250):
        for binding, value in values:
            assert bind(size, binding) == value, size


@pytest.mark.parametrize("seed", SEEDS)
def test_constant_sizes_are_integers(seed: int) -> None:
    for size, _ in _evaluated(seed, 100):
        assert type(size) is (Dim if names(size) else int)


@pytest.mark.parametrize("seed", SEEDS)
def test_code_evaluates_to_the_bound_size(seed: int) -> None:
    for size, values in _evaluated(seed, 150):
        python = compile(code(size, "_{}".format), "size", "eval")
        c = compile(re.sub(r"\b\d+\b", r"C(\g<0>)", code(size, target="c")), "size", "eval")
        for binding, value in values:
            assert eval(python, {**INTEGERS, **{f"_{x}": i for x, i in binding.items()}}) == value
            assert eval(c, {**C, **{x: CInteger(i) for x, i in binding.items()}}) == value


@pytest.mark.parametrize("seed", SEEDS)
def test_text_reads_back_as_the_same_size(seed: int) -> None:
    for _, size in _expressions(seed, 300, extrema=False):
        assert same(eval(str(size), dict(SIZES)), size), str(size)


@pytest.mark.parametrize("seed", SEEDS)
def test_substitute_then_bind_is_bind_of_the_bound(seed: int) -> None:
    inner: dict[str, Size] = {"a": b * 2 + 1, "n": a // 2}
    for _, size in _expressions(seed, 100):
        try:
            outer = substitute(size, inner)
        except ZeroDivisionError:
            continue
        for binding in _bindings(seed, 5):
            bound = {
                **binding,
                **{name: bind(each, binding) for name, each in inner.items()},
            }
            try:
                value = bind(size, bound)
            except GraphError:
                continue
            assert bind(outer, binding) == value


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_binding_refutes_what_is_proved(seed: int, positive: bool) -> None:
    claims = 0
    sizes = list(_evaluated(seed, 300, least=positive))
    for (x, xs), (y, ys) in pairwise(sizes):
        others = {tuple(binding.items()): value for binding, value in ys}
        both = [(v, others[key]) for i, v in xs if (key := tuple(i.items())) in others]
        for answer, found in (
            (equal(x, y, positive=positive), {v == w for v, w in both}),
            (at_least(x, y, positive=positive), {v >= w for v, w in both}),
        ):
            if answer is not None:
                assert found <= {answer}, (x, y)
                claims += 1
    assert claims > 50


ALIKE: list[tuple[Size, Size]] = [
    ((a + b) * (a - b), a * a - b * b),
    ((a + b) ** 3, a**3 + 3 * a**2 * b + 3 * a * b**2 + b**3),
    (n * 0, 0),
    (n - n, 0),
    (n**0, 1),
    (n - (n - 3), 3),
    ((n * 6) // 3, n * 2),
    ((n * 784) // 784, n),
    ((n * 784) // n, 784),
    ((n * a + n) // n, a + 1),
    ((a * a - b * b) // (a + b), a - b),
    ((3 * n + 2) // 3, n),
    ((3 * n + 4) // 3, n + 1),
    ((3 * n + a % 3) // 3, n),
    ((3 * n + a % 3) % 3, a % 3),
    ((a * b + b + a % b) // b, a + 1),
    ((n * 2 + 1) // 4, n // 2),
    ((n * 6) // (a * 4), (n * 3) // (a * 2)),
    ((n * a) // (n * b), a // b),
    (n // 2 // 3, n // 6),
    ((n // 2 + 1) // 3, (n + 2) // 6),
    (n // -2, (-n) // 2),
    (-(-n // 4), (n + 3) // 4),
    (n % 5 + 5 * (n // 5), n),
    (n % 5 % 5, n % 5),
    ((7 * n + 9) % 5, (2 * n - 1) % 5),
    (n % 4 % 2, n % 2),
    (n % n, 0),
    ((h + 2 * p - k) // s + 1, (h - k + p + p + s) // s),
    ((h + 2 * p - k + s) // s, 1 + (2 * p - (k - h)) // s),
    ((h - 3) // 2 + 1, (h - 1) // 2),
    (((h + 2 - 3) // 2 + 1 + 2 - 3) // 2 + 1, (h + 3) // 4),
    (maximum(a, b), maximum(b, a)),
    (maximum(a, maximum(b, n)), maximum(maximum(a, b), n, a)),
    (maximum(a, b) + n, maximum(a + n, n + b)),
    (maximum(a, b), b + maximum(a - b, 0)),
    (maximum(a, b) * 2 + 1, maximum(2 * a + 1, 2 * b + 1)),
    (maximum(a, b) * n, maximum(a * n, n * b)),
    (minimum(a, b), -maximum(-a, -b)),
    (minimum(a, b, 3), minimum(3, minimum(b, a))),
    (minimum(n, 5) - 5, minimum(n - 5, 0)),
    (maximum(n, 0), n),
    (maximum(n, n + 1, n // 2), n + 1),
    (minimum(n, n % 3), n % 3),
    (minimum(n, n // 2), n // 2),
    (maximum(3, 4), 4),
    (sum([a, b, 1]), 1 + b + a),
    (product((n, 3, n)), 3 * n * n),
    (product(()), 1),
]


@pytest.mark.parametrize(("x", "y"), ALIKE, ids=str)
def test_equal_sizes_have_one_form(x: Size, y: Size) -> None:
    assert same(x, y)
    assert hash(x) == hash(y)
    assert str(x) == str(y)


@pytest.mark.parametrize("seed", SEEDS)
def test_strided_windows_have_one_form(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(50):
        kernel, pad, stride, step = (draw.randint(1, 9) for _ in range(4))
        span = n * step + 2 * pad - kernel
        out = span // stride + 1
        assert same(out, (span + stride) // stride)
        assert same(out, -(-(span + 1) // stride))
        assert same(out, (n * step + pad - (kernel - pad)) // stride + 1)
        assert same(out, (span - span % stride) // stride + 1)
        assert same(out // 3, (span + stride) // (3 * stride))


TRUE_OF_ALL: list[tuple[Size, Size]] = [
    *((n + 1, n), (2 * n, n), (n, n // 2), (n, (n + 1) // 2), (n, (n - 5) // 2 + 1)),
    *(
        (n, n % 3),
        (2, n % 3),
        (n % 3, 0),
        (n - n % 3, 0),
        (a - 1, n % a),
        (n, n % a),
        (n, n // a),
    ),
    *((n, n // 2 * 2), (n // 2 * 2 + 1, n), ((n + 1) // 2, n // 2), (n // 2, n // 3)),
    *(
        (maximum(a, b), a),
        (a, minimum(a, b)),
        (a + b, maximum(a, b)),
        (maximum(n, 1), 1),
    ),
    *((a * n, a * (n // 2)), (a * (n // 2) + a, 0), (n * n + 1, 1), (n, 0)),
    *((minimum(n, 5) + 1, minimum(n, 4)), (n, ((n + 1) // 2 + 1) // 2)),
    (13 * n + 100, sum((n + i) // i for i in range(2, 14))),
    (sum(a * ((n + i) // i) for i in range(2, 90)), a * ((n + 3) // 3)),
]


@pytest.mark.parametrize(("x", "y"), TRUE_OF_ALL, ids=str)
def test_ordinary_order_is_proved(x: Size, y: Size) -> None:
    assert at_least(x, y) is True
    assert at_least(y - 1, x) is False
    assert equal(x + 1, y) is False
    assert x >= y
    assert y <= x
    assert x + 1 > y
    assert not x + 1 <= y


def test_positive_names_prove_more() -> None:
    assert at_least(n, 1) is None
    assert at_least(n, 1, positive=True) is True
    assert at_least(a * b, a) is None
    assert at_least(a * b, a, positive=True) is True
    assert at_least(0, n, positive=True) is False
    assert equal(n, 0) is None
    assert equal(n, 0, positive=True) is False


def test_equal_has_three_answers() -> None:
    assert equal(a + b, b + a) is True
    assert equal(a, b) is None
    assert equal(n, 32) is None
    assert equal(n, n + 1) is False
    assert equal(2 * a, 2 * b + 1) is False
    assert equal(a * 3, 7) is False
    assert equal(n, -1) is False
    assert equal(3, 3) is True
    assert equal(3, 4) is False


@pytest.mark.parametrize(
    "question",
    [
        *(
            "n == 10",
            "10 == n",
            "n != 10",
            "n > 0",
            "n < 10",
            "10 >= n",
            "a < b",
            "a >= b",
        ),
        *(
            "bool(n)",
            "n in (1, 2)",
            "(n, 784) == (32, 784)",
            "max(a, b)",
            "np.int64(10) == n",
        ),
    ],
)
def test_what_depends_on_the_feed_is_an_error(question: str) -> None:
    with pytest.raises(GraphError, match=r"not known before sizes are bound.*fed instead"):
        eval(question, {**SYMBOLS, "np": np})


def test_what_does_not_depend_on_the_feed_is_answered() -> None:
    assert not n == -1  # noqa: SIM201
    assert n != -1
    assert n + 1 != 0
    assert n + 1
    assert n > -1
    assert not n < 0
    assert n != "n"
    assert n is not None
    assert a != b
    assert a + b - b == a
    assert (n, 784) == (dim("n"), 784)
    assert (n, 784) != (n, 783)


def test_same_never_raises() -> None:
    assert same(n, dim("n"))
    assert same(3, np.int64(3))  # type: ignore[arg-type]
    assert not same(n, 3)
    assert not same(3, n)
    assert not same(a, b)
    assert same_shape((n, 784), (n, 784))
    assert not same_shape((n, 784), (32, 784))
    assert not same_shape((n,), (n, 1))
    assert same_shape((), ())


def test_sizes_are_keys() -> None:
    table: dict[Any, str] = {n: "n", a * b: "ab", (n, 784): "shape", 3: "three"}
    assert table[dim("n")] == "n"
    assert table[b * a] == "ab"
    assert table[dim("n"), 784] == "shape"
    assert (32, 784) not in table
    assert len({n, n + 1, n + 2 - 1, *range(1000)}) == 1002


def test_sizes_cannot_change() -> None:
    with pytest.raises(AttributeError):
        n.terms = ()  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        n.label = "batch"  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [n, n * 784 + 3, maximum(a, b) // 2 % n], ids=str)
def test_sizes_pickle_and_copy(size: Dim) -> None:
    for each in (
        pickle.loads(pickle.dumps(size)),
        copy.copy(size),
        copy.deepcopy(size),
    ):
        assert each == size
        assert hash(each) == hash(size)


@pytest.mark.parametrize("integer", [np.int64(3), np.int32(3), np.uint8(3)])
def test_numpy_integers_are_integers(integer: Any) -> None:
    for size, expected in [
        *(
            (n + integer, n + 3),
            (integer + n, n + 3),
            (integer - n, 3 - n),
            (integer * n, 3 * n),
        ),
        *(
            (n // integer, n // 3),
            (integer // n, 3 // n),
            (n % integer, n % 3),
            (n**integer, n**3),
        ),
        *((integer % n, 3 % n), (maximum(n, integer), maximum(n, 3))),
    ]:
        assert isinstance(size, Dim)
        assert size == expected
    assert type(maximum(2, integer)) is int
    assert type(bind(n, {"n": integer})) is int


@pytest.mark.parametrize("other", [True, np.True_, 1.0, "1", None, np.arange(2)], ids=repr)
def test_nothing_else_is_a_size(other: Any) -> None:
    for operate in (
        *(lambda: n + other, lambda: other + n, lambda: other - n, lambda: n * other),
        *(lambda: n // other, lambda: n**other, lambda: n < other),
        *(
            lambda: maximum(n, other),
            lambda: minimum(other, n),
            lambda: product((n, other)),
        ),
    ):
        with pytest.raises(TypeError):
            operate()


def test_operators_are_left_to_other_classes() -> None:
    class Array:
        def __radd__(self, other: Dim) -> str:
            return f"{other} + array"

        def __eq__(self, other: object) -> bool:
            return other == n

        __hash__ = None

        def __rtruediv__(self, other: Dim) -> str:
            return f"{other} / array"

    assert n + Array() == "n + array"  # type: ignore[operator]
    assert n / Array() == "n / array"
    assert n == Array()


@pytest.mark.parametrize("name", ["", "1n", "a b", "n-1", "for", 3, None])
def test_a_name_is_an_identifier(name: Any) -> None:
    with pytest.raises(ValueError, match="dim: the name of a size must be a Python identifier"):
        dim(name)


@pytest.mark.parametrize("name", ["max", "min", "_", "batch_size", "Größe"])
def test_any_identifier_is_a_name(name: str) -> None:
    size = maximum(dim(name), 3) + dim(name) * 2
    assert names(size) == {name}
    assert bind(size, {name: 5}) == 15


def test_divisions_by_zero() -> None:
    for operate in (lambda: n // 0, lambda: n % 0, lambda: n // (a - a)):
        with pytest.raises(ZeroDivisionError):
            operate()
    with pytest.raises(GraphError, match=r"bind: division by zero: a//b"):
        bind(a // b, {"a": 1, "b": 0})
    with pytest.raises(ValueError, match="no negative power"):
        n**-1


def test_bind_shapes() -> None:
    assert bind((n, 784, a * n), {"n": 2, "a": 3}) == (2, 784, 6)
    assert bind((), {}) == ()
    assert bind(7, {}) == 7


@pytest.mark.parametrize("value", [-1, True, 2.0, "2", None])
def test_bind_takes_integers_that_are_not_negative(value: Any) -> None:
    with pytest.raises(GraphError, match="bind: the size n must be an integer >= 0: got "):
        bind(n * 2, {"n": value})


def test_bind_names_what_is_missing() -> None:
    with pytest.raises(GraphError, match="bind: no value for the size b: got "):
        bind((a, a // b), {"a": 2})


def test_names() -> None:
    assert names(n) == {"n"}
    assert names(3) == frozenset()
    assert names((n, 3, maximum(a, b) // s)) == {"n", "a", "b", "s"}
    assert names(a - b - a) == {"b"}


def test_substitute() -> None:
    assert substitute(n * 784 + a, {"n": 32, "a": b}) == b + 25088
    assert substitute(n, {"n": 32}) == 32
    assert substitute(a * b, {"a": b, "b": a}) == a * b
    assert substitute((h - 1) // 2 + 1, {"h": (h - 1) // 2 + 1}) == (h + 3) // 4
    assert substitute(7, {"n": 1}) == 7


@pytest.mark.parametrize(
    ("size", "value", "binding"),
    [
        *(
            (n, 32, {"n": 32}),
            (n * 2 + 1, 9, {"n": 4}),
            (5 - n, 2, {"n": 3}),
            (n, 0, {"n": 0}),
        ),
        *((n * 2, 9, None), (n, -1, None), (5 - n, 6, None), (3, 3, {}), (3, 4, None)),
        *((a * b, 6, None), (a + b, 6, None), (n * n, 9, None), (n // 2, 3, None)),
    ],
    ids=str,
)
def test_solve(size: Size, value: int, binding: dict[str, int] | None) -> None:
    assert solve(size, value) == binding


@pytest.mark.parametrize(
    ("size", "python", "c"),
    [
        (n * 784 + 3, "n*784 + 3", "n*784 + 3"),
        (784, "784", "784"),
        (-784, "-784", "-784"),
        (3 - n, "3 - n", "3 - n"),
        (-n, "-n", "-n"),
        (n * n - a * 2 - 1, "n*n - a*2 - 1", "n*n - a*2 - 1"),
        (n // 2, "n//2", "n/2"),
        (n // 2 * 3, "(n//2)*3", "(n/2)*3"),
        (n % 3, "n % 3", "n % 3"),
        (a * (n % 3) + 1, "a*(n % 3) + 1", "a*(n % 3) + 1"),
        (n - n // 2 * 2 + a, "a + n % 2", "a + n % 2"),
        ((a + 3) // b, "(a + 3)//b", "(a + 3)/b"),
        ((a - b) // 2, "(a - b)//2", "dg_floordiv(a - b, 2)"),
        ((a - b) % 2, "(a - b) % 2", "dg_mod(a - b, 2)"),
        ((a - b) // 2 * n, "n*((a - b)//2)", "n*dg_floordiv(a - b, 2)"),
        (a % b, "a % b", "a % b"),
        (a * n // (n + 1), "(a*n)//(n + 1)", "(a*n)/(n + 1)"),
        (n % 3 // 2, "(n % 3)//2", "(n % 3)/2"),
        ((-n) % 3, "((n + 2)//3)*3 - n", "((n + 2)/3)*3 - n"),
        (-(-n // 2), "(n + 1)//2", "(n + 1)/2"),
        (maximum(a, b), "max(a, b)", "dg_max(a, b)"),
        (minimum(a, b, 3) * 2, "min(a, b, 3)*2", "dg_min(dg_min(a, b), 3)*2"),
        (n - maximum(a, b), "n - max(a, b)", "n - dg_max(a, b)"),
        (maximum(n - 5, 0), "max(n - 5, 0)", "dg_max(n - 5, 0)"),
        (
            (h + 2 * p - k) // s + 1,
            "(h - k + p*2)//s + 1",
            "dg_floordiv(h - k + p*2, s) + 1",
        ),
    ],
    ids=str,
)
def test_code_is_readable(size: Size, python: str, c: str) -> None:
    assert code(size) == str(size) == repr(size) == python
    assert code(size, target="c") == c


def test_code_renames() -> None:
    assert code(n * 2 + a // 3, "sizes[{!r}]".format) == "sizes['n']*2 + sizes['a']//3"


def test_pretty() -> None:
    assert pretty((dim("batch"), 784)) == "(batch, 784)"
    assert pretty((dim("batch"),)) == "(batch,)"
    assert pretty(()) == "()"
    assert pretty((np.int64(2), n + 1)) == "(2, n + 1)"


def test_long_chains_stay_small() -> None:
    size: Size = h
    for _ in range(60):
        size = (size + 2 - 3) // 2 + 1
    assert len(str(size)) < 60
    assert bind(size, {"h": 2**60}) == 1
    wider: Size = h
    for _ in range(25):
        wider = (3 * wider + 1) // 2
    assert len(str(wider)) < 1000
    for _ in range(2000):
        size = size + n
    assert bind(size, {"h": 2**60, "n": 1}) == 2001
