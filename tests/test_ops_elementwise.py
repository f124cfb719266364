"""Elementwise operations of one or two operands: values, dtypes and gradients beside NumPy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aid import check_gradient, gradient, run

import deepgraph as dg
from deepgraph import expr
from deepgraph.expr import OPS, Kind, Op
from deepgraph.ops.rules import unary

DTYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64")

# The functions of the array API standard; NumPy has them under the same names.
UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil cos cosh exp expm1 floor isfinite isinf
isnan log log10 log1p log2 logical_not negative positive reciprocal round sign signbit sin sinh
sqrt square tan tanh trunc cbrt deg2rad exp2 rad2deg
"""
BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide
equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or
logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract fmax fmin
"""
ALIASES = """
absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_not degrees invert left_shift
mod power radians right_shift true_divide
"""


def elementwise(arity: int) -> list[Op]:
    """All registered operations that take so many floats and have a gradient."""
    found = [op for op in dict.fromkeys(OPS.values()) if op.kind is Kind.ELEMENTWISE and op.grad]
    return [op for op in found if op.arity == arity and not op.attr_names]


def samples(dtype: str) -> np.ndarray[Any, Any]:
    """Numbers of a dtype, with all that may go wrong."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype.startswith("float"):
        special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 3.0, 30.0, np.inf, -np.inf, np.nan]
        info = np.finfo(dtype)
        return np.array([*special, info.max, info.tiny, info.smallest_subnormal], dtype)
    limits = np.iinfo(dtype)
    return np.array([0, 1, 2, 3, 5, 7, limits.max, limits.min, limits.max - 1], dtype)


def assert_same(found: Any, expected: Any, ulp: int = 0) -> None:
    """Equal in dtype, shape, value, and sign of zero."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if ulp:
        np.testing.assert_array_max_ulp(found, expected, ulp)
    else:
        np.testing.assert_array_equal(found, expected)
        zero = found == 0
        np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


def against_numpy(name: str, *arrays: Any) -> None:
    """Compare dg.name with np.name, or see that both refuse the dtypes."""
    xs = [dg.placeholder(f"x{k}", a.shape, a.dtype) for k, a in enumerate(arrays)]
    with np.errstate(all="ignore"):
        try:
            expected = getattr(np, name)(*arrays)
        except TypeError:
            with pytest.raises(dg.DTypeError):
                getattr(dg, name)(*xs)
            return
    assert_same(run(getattr(dg, name)(*xs), dict(zip(xs, arrays, strict=True))), expected)


@pytest.mark.parametrize("name", UNARY.split())
def test_one_operand_as_numpy(name: str) -> None:
    for dtype in DTYPES:
        if name == "reciprocal" and not dtype.startswith("float"):
            continue  # refused: tested below
        against_numpy(name, samples(dtype))


@pytest.mark.parametrize("name", BINARY.split())
def test_two_operands_as_numpy(name: str) -> None:
    for first, second in itertools.product(DTYPES, DTYPES):
        x, y = samples(first), samples(second)
        if name == "pow" or name.endswith("shift"):
            y = y[:6]  # integers have no negative powers; NumPy leaves negative shifts open
            y = y[y >= 0]
        against_numpy(name, x[:, None], y)


@pytest.mark.parametrize("name", ALIASES.split())
def test_numpy_names(name: str) -> None:
    ufunc = getattr(np, name)
    x = dg.placeholder("x", (3,), "int32" if "bit" in name or "shift" in name else "float32")
    x = dg.placeholder("x", (3,), "int32") if name == "invert" else x
    built = ufunc(*[x] * ufunc.nin)
    assert built.op is OPS[name]
    assert getattr(dg, name) is built.op


@pytest.mark.parametrize("name", ["exp", "add", "logaddexp", "erf", "tanh", "where", "copy"])
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (2, 3, 4), (20_000,)])
def test_shapes(name: str, shape: tuple[int, ...]) -> None:
    x = dg.placeholder("x", shape, "float64")
    value = np.random.default_rng(0).standard_normal(shape)
    f: dict[str, tuple[Any, Callable[[Any], Any]]] = {
        "exp": (dg.exp(x), np.exp),
        "add": (x + x, lambda v: v + v),
        "logaddexp": (dg.logaddexp(x, -x), lambda v: np.logaddexp(v, -v)),
        "erf": (dg.erf(x), np.vectorize(math.erf, otypes=[float])),
        "tanh": (dg.tanh(x), np.tanh),
        "where": (dg.where(x > 0, x, -x), np.abs),
        "copy": (dg.copy(x), np.copy),
    }  # fmt: skip
    built, reference = f[name]
    np.testing.assert_allclose(run(built, {x: value}), reference(value), rtol=1e-14, atol=1e-16)


def test_operands_broadcast() -> None:
    rng = np.random.default_rng(0)
    for first, second in [((3, 1), (1, 4)), ((), (2, 3)), ((2, 3), (3,)), ((0, 1), (1, 5))]:
        against_numpy("subtract", rng.standard_normal(first), rng.standard_normal(second))


def test_named_sizes_do_not_broadcast() -> None:
    x, y = dg.placeholder("x", ("a", 3)), dg.placeholder("y", ("b", 3))
    with pytest.raises(dg.ShapeError, match=r"do not broadcast: \(a, 3\) and \(b, 3\)"):
        dg.add(x, y)
    assert str((x + dg.placeholder("z", (1, 3))).shape) == "(a, 3)"


NUMBERS = (True, 3, 2.5)


def promotes_as_numpy(f: Callable[..., Any], numpy: Callable[..., Any], *given: Any) -> None:
    """Compare the dtype of f and of NumPy's function, or see that both refuse what is given."""
    xs = [dg.placeholder("x", a.shape, a.dtype) if isinstance(a, np.ndarray) else a for a in given]
    try:
        expected = numpy(*given).dtype
    except TypeError:
        with pytest.raises(dg.DTypeError):
            f(*xs)
        return
    assert f(*xs).dtype == expected, (f, given)


@pytest.mark.parametrize("name", BINARY.split())
def test_python_numbers_are_weak(name: str) -> None:
    ours, numpys = getattr(dg, name), getattr(np, name)
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        array = np.ones(2, dtype)
        promotes_as_numpy(ours, numpys, array, number)
        promotes_as_numpy(ours, numpys, number, array)
        promotes_as_numpy(ours, numpys, np.float32(2), array)  # a scalar of NumPy's is not
        promotes_as_numpy(ours, numpys, array, np.ones((), "int16"))


def test_operands_of_different_roles_promote_as_numpy() -> None:
    """A condition or an index has no part in the dtype, nor its number in what stands beside it."""
    arrays = [np.ones(2, dtype) for dtype in DTYPES]
    condition = np.array([True, False])
    for x, y in itertools.product(arrays, [*arrays, *NUMBERS, np.float32(1)]):
        for flag in (condition, True, False, np.True_):
            promotes_as_numpy(dg.where, np.where, flag, x, y)
            promotes_as_numpy(dg.where, np.where, flag, y, x)
        promotes_as_numpy(dg.clip, np.clip, x, y, None)
        promotes_as_numpy(dg.clip, np.clip, x, None, y)
        if isinstance(y, np.ndarray):
            promotes_as_numpy(lambda *a: dg.concat(a), lambda *a: np.concatenate(a), x, y)
    for x in arrays:
        for index in (1, -1, np.int8(1), np.array([0, 1], "uint8")):
            promotes_as_numpy(dg.take, np.take, x, index, 0)
        assert dg.scatter_add(dg.asarray(x[0]), 1, 3).dtype == x.dtype
        promotes_as_numpy(dg.full_like, np.full_like, x, 3)
    with pytest.raises(dg.DTypeError, match="the condition is not boolean"):
        dg.where(1, arrays[0], arrays[0])
    with pytest.raises(dg.OutOfRangeError, match="index 200 is out of range"):
        dg.take(dg.zeros(3, "int8"), 200)
    with pytest.raises(dg.DTypeError, match="300 does not fit int8"):
        dg.full_like(dg.zeros(3, "int8"), 300)


def test_numbers_by_themselves_take_the_default_of_the_widest() -> None:
    flag = dg.placeholder("flag", (2,), "bool")
    assert dg.where(flag, 1.0, 0).dtype == dg.where(flag, 0, 1.0).dtype == np.float32
    assert dg.maximum(1, 2.5).dtype == dg.stack([True, 2.5]).dtype == np.float32
    assert dg.where(flag, 1, True).dtype == dg.where(flag, dg.dim("n"), 1).dtype == np.int64
    assert dg.where(flag, True, False).dtype == np.bool_
    np.testing.assert_array_equal(run(dg.where(flag, 1.0, 0), {flag: [True, False]}), [1, 0])


@pytest.mark.parametrize("build", [lambda x: x + 300, lambda x: -1 - x, lambda x: x < 256])
def test_numbers_that_do_not_fit_are_refused(build: Callable[[Any], Any]) -> None:
    with pytest.raises(dg.DTypeError, match="does not fit uint8"):
        build(dg.placeholder("x", (2,), "uint8"))


def test_integers_have_no_negative_powers() -> None:
    x = dg.placeholder("x", (2,), "int32")
    with pytest.raises(ValueError, match=r"pow: integers have no negative powers: int32 \*\* -2"):
        x**-2
    with pytest.raises(dg.GraphError, match="no negative powers"):
        x ** np.array([1, -1])
    assert_same(run(x**-2.0, {x: np.array([2, 4], "int32")}), np.array([0.25, 0.0625]))


def test_what_is_not_defined_says_so() -> None:
    flag = dg.placeholder("flag", (2,), "bool")
    count = dg.placeholder("count", (2,), "int64")
    with pytest.raises(dg.DTypeError, match="negative: not defined for bool"):
        dg.negative(flag)
    with pytest.raises(dg.DTypeError, match=r"reciprocal: only floats .* write 1 / x"):
        dg.reciprocal(count)
    with pytest.raises(dg.DTypeError, match=r"erf: needs floats: got placeholder count: int64"):
        dg.erf(count)
    with pytest.raises(dg.DTypeError, match="bitwise_and: not defined for float32 and int64"):
        dg.placeholder("x", (2,)) & count


def test_operators() -> None:
    x, y = np.array([7, -7, 5], "int32"), np.array([3, 3, -2], "int32")
    a, b = dg.placeholder("a", (3,), "int32"), dg.placeholder("b", (3,), "int32")
    pairs = [
        (a + b, x + y), (a - b, x - y), (a * b, x * y), (a / b, x / y), (a // b, x // y),
        (a % b, x % y), (a & b, x & y), (a | b, x | y), (a ^ b, x ^ y), (a << 2, x << 2),
        (a >> 1, x >> 1), (~a, ~x), (-a, -x), (+a, +x), (abs(a), abs(x)), (a**2, x**2),
        (2**abs(b), 2 ** abs(y)), (9 // b, 9 // y), (9 - b, 9 - y), (a == b, x == y),
        (a != b, x != y), (a < b, x < y), (a <= b, x <= y), (a > b, x > y), (a >= b, x >= y),
        (divmod(a, b)[1], x % y), (round(a / b), np.round(x / y)),
    ]  # fmt: skip
    for built, expected in pairs:
        assert_same(run(built, {a: x, b: y}), expected)


@pytest.mark.parametrize("op", elementwise(1), ids=lambda op: op.name)
def test_gradient_of_one_operand(op: Op) -> None:
    rng = np.random.default_rng(1)
    check_gradient(op, rng.uniform(op.low, op.high, (3, 4)))


@pytest.mark.parametrize("op", elementwise(2), ids=lambda op: op.name)
def test_gradient_of_two_operands(op: Op) -> None:
    rng = np.random.default_rng(1)
    for first, second in [((3, 4), (3, 4)), ((3, 1), (4,)), ((), (2,))]:
        check_gradient(
            op, rng.uniform(op.low, op.high, first), rng.uniform(op.low, op.high, second)
        )


@pytest.mark.parametrize("op", elementwise(1), ids=lambda op: op.name)
def test_second_derivative(op: Op) -> None:
    x = np.random.default_rng(2).uniform(op.low, op.high, (4,))
    check_gradient(lambda a: dg.grad(dg.sum(op(a) * a), a), x, rtol=1e-5)


def test_gradients_keep_the_dtype() -> None:
    for op in elementwise(1):
        (g,) = gradient(op, np.full(3, (op.low + op.high) / 2, "float32"))
        assert g.dtype == np.float32, op


def test_gradient_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for registry in ("OPS", "FUNCTIONS"):  # the operation is gone after the test
        monkeypatch.setattr(expr, registry, dict(getattr(expr, registry)))
    rigid = unary("rigid", "Without a gradient.", ufunc="exp")
    x = dg.placeholder("x", (3,))
    with pytest.raises(dg.GraphError, match=r"rigid has no gradient: .*test_ops_elementwise"):
        dg.grad(dg.sum(rigid(x)), x)
    assert run(dg.grad(dg.sum(dg.floor(x)), x), {x: np.ones(3)}).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (abs, [0.0, -0.0], [0, 0]),
        (dg.sign, [0.0, 2.0], [0, 0]),
        (lambda x: dg.maximum(x, 0), [0.0, 1.0, -1.0], [0.5, 1, 0]),
        (lambda x: dg.minimum(x, 0), [0.0, 1.0, -1.0], [0.5, 0, 1]),
        (lambda x: dg.fmax(x, math.nan), [1.0], [1]),
        (lambda x: dg.clip(x, -1, 1), [-1.0, 0.0, 1.0, 2.0], [0.5, 1, 0.5, 0]),
        (lambda x: x**0, [0.0, 2.0], [0, 0]),
        (lambda x: x**1, [0.0], [1]),
        (lambda x: x**2, [0.0, -3.0], [0, -6]),
        (lambda x: 0.0**x, [2.0], [0]),
        (lambda x: dg.hypot(x, 0), [0.0, 3.0], [0, 1]),
        (lambda x: dg.copysign(x, -1), [2.0, -2.0], [-1, 1]),
        (lambda x: dg.logaddexp(x, x), [math.inf, -math.inf, 0.0], [1, 1, 1]),
        (lambda x: dg.logaddexp(x, 0), [-math.inf, math.inf, 0.0], [0, 1, 0.5]),
        (dg.sqrt, [0.0, 4.0], [math.inf, 0.25]),
        (lambda x: dg.sqrt(x) * 0, [0.0], [0]),
    ],
)  # fmt: skip
def test_gradient_at_kinks(f: Callable[[Any], Any], x: list[float], expected: list[float]) -> None:
    assert gradient(f, np.array(x))[0].tolist() == expected


def test_gradient_of_ties_is_shared() -> None:
    for f in (dg.maximum, dg.minimum, dg.fmax, dg.fmin):
        first, second = gradient(f, np.array([1.0, 2.0]), np.array([1.0, 2.0]))
        assert first.tolist() == second.tolist() == [0.5, 0.5]


def test_mixed_derivative_of_a_root_that_nothing_flows_into() -> None:
    def slope(x: Any, a: Any) -> Any:
        return dg.grad(dg.sum(dg.sqrt(x) * a), x)

    assert gradient(slope, np.array(4.0), np.array(0.0))[1].tolist() == 0.25


def test_second_derivatives_at_special_points() -> None:
    """Where a rule that is right only once would show: equal operands, zeros, far out."""
    inf = math.inf
    both: list[tuple[Callable[[Any, Any], Any], list[float], list[list[float]]]] = [
        (dg.logaddexp, [1, 1], [[0.25, -0.25], [-0.25, 0.25]]),
        (dg.logaddexp, [1000, -1000], [[0, 0], [0, 0]]),
        (dg.logaddexp, [-inf, -inf], [[0, 0], [0, 0]]),
        (dg.hypot, [0, 2], [[0.5, 0], [0, 0]]),
        (dg.atan2, [0, -2], [[0, -0.25], [-0.25, 0]]),
        (dg.multiply, [0, 0], [[0, 1], [1, 0]]),
        (dg.divide, [0, 2], [[0, -0.25], [-0.25, 0]]),
        (dg.pow, [0, 2], [[2, 0], [0, 0]]),
        (dg.pow, [0, 3], [[0, 0], [0, 0]]),
    ]
    for f, point, expected in both:
        x = dg.placeholder("x", (2,), "float64")
        slopes = dg.grad(f(x[0], x[1]), x)
        found = [run(dg.grad(slopes[k], x), {x: np.array(point, float)}) for k in range(2)]
        np.testing.assert_allclose(found, expected, atol=1e-15, err_msg=f"{f} {point}")


def test_an_angle_s_gradient_squares_nothing() -> None:
    for far in (1e200, 1e-200):
        found = gradient(dg.atan2, np.array(far), np.array(far))
        np.testing.assert_allclose(found, [0.5 / far, -0.5 / far])


def test_the_slope_of_expm1_keeps_its_digits_far_below_zero() -> None:
    assert gradient(dg.expm1, np.array(-40.0))[0] == np.exp(-40.0)


def test_logaddexp_in_smaller_operations() -> None:
    assert OPS["logaddexp"].expand is not None
    for dtype in ("float32", "float64"):
        values = samples(dtype)
        x, y = dg.placeholder("x", (15, 1), dtype), dg.placeholder("y", (15,), dtype)
        with np.errstate(all="ignore"):
            expected = np.logaddexp(values[:, None], values)
        found = run(OPS["logaddexp"].expand(x, y), {x: values[:, None], y: values})
        assert_same(found, expected, ulp=2)
