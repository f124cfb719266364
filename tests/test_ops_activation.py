"""Activations and erf: accuracy, extremes, gradients at kinks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from aid import check_gradient, gradient, run

import deepgraph as dg
from deepgraph.backends import library

EXACT: dict[str, Callable[[Any], Any]] = {
    "erf": mpmath.erf,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "log_sigmoid": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
}


def apply(f: Callable[..., Any], value: Any, **attrs: Any) -> np.ndarray[Any, Any]:
    x = dg.placeholder("x", value.shape, value.dtype)
    return run(f(x, **attrs), {x: value})


def ulps(found: Any, value: Any, exact: Callable[[Any], Any], scale: Any = None) -> float:
    """The greatest error in units in the last place of the result, or of `scale`."""
    worst = 0.0
    with mpmath.workdps(40):
        for y, x in zip(found.tolist(), value.tolist(), strict=True):
            e = exact(mpmath.mpf(x))
            unit = np.spacing(value.dtype.type(abs(e) if scale is None else scale(x, e)))
            worst = max(worst, float(abs(mpmath.mpf(y) - e) / mpmath.mpf(float(unit))))
    return worst


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erf_is_within_four_units_in_the_last_place(dtype: str) -> None:
    rng = np.random.default_rng(0)
    value = np.concatenate([
        np.linspace(-6.5, 6.5, 801), rng.uniform(-1, 1, 800), rng.standard_normal(800),
        10.0 ** rng.uniform(-30, 0, 200), np.logspace(-45, -30, 20),
    ]).astype(dtype)  # fmt: skip
    assert ulps(apply(dg.erf, value), value, mpmath.erf) <= 4


def test_erf_beside_the_standard_library() -> None:
    value = np.random.default_rng(1).normal(0, 2, 5_000)
    expected = np.array([math.erf(v) for v in value])
    np.testing.assert_array_max_ulp(apply(dg.erf, value), expected, 4)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_erf_of_special_values(dtype: str) -> None:
    least = np.finfo(dtype).smallest_subnormal
    value = np.array([0.0, -0.0, np.inf, -np.inf, 1e4, -1e4, least, -least], dtype)
    found = apply(dg.erf, value)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [0, 0, 1, -1, 1, -1, least, -least])
    np.testing.assert_array_equal(np.signbit(found), np.signbit(value))
    assert np.isnan(apply(dg.erf, np.array([np.nan], dtype))).all()


def test_erf_in_half_precision_is_rounded_once() -> None:
    value = np.linspace(-4, 4, 2_001).astype("float16")
    expected = np.array([math.erf(v) for v in value.tolist()]).astype("float16")
    np.testing.assert_array_equal(apply(dg.erf, value), expected)


def test_erf_in_place_and_of_any_strides() -> None:
    value = np.random.default_rng(2).standard_normal((300, 200))
    expected, out = np.vectorize(math.erf)(value), np.empty((200, 300)).T
    library.erf(value[::-1], out)
    np.testing.assert_array_max_ulp(out, expected[::-1].copy(), 4)
    library.erf(value, value)
    np.testing.assert_array_max_ulp(value, expected, 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["sigmoid", "silu", "softplus", "log_sigmoid", "relu"])
def test_activations_are_exact_in_both_tails(name: str, dtype: str) -> None:
    value = np.concatenate([np.linspace(-80, 80, 999), [-1e-8, 0.0, 1e-8]]).astype(dtype)
    assert ulps(apply(getattr(dg, name), value), value, EXACT[name]) <= 8


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gelu_against_its_definition(dtype: str) -> None:
    value = np.linspace(-10, 10, 999).astype(dtype)
    found = apply(dg.gelu, value)
    assert ulps(found, value, EXACT["gelu"], lambda x, e: max(abs(x), 1e-3)) <= 4
    near = apply(dg.gelu, value, approximate="tanh")
    u = math.sqrt(2 / math.pi) * (value + 0.044715 * value.astype("float64") ** 3)
    np.testing.assert_allclose(near, 0.5 * value * (1 + np.tanh(u)), rtol=1e-5, atol=1e-6)
    assert 1e-4 < np.abs(near - found).max() < 5e-4


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("name", "limits"),
    [("sigmoid", (0, 1)), ("softplus", (0, np.inf)), ("relu", (0, np.inf)), ("tanh", (-1, 1))],
)
def test_activations_at_infinity(name: str, limits: tuple[float, float], dtype: str) -> None:
    value = np.array([-np.inf, np.inf, np.nan], dtype)
    np.testing.assert_array_equal(apply(getattr(dg, name), value), [*limits, np.nan])
    far = np.array([-6e4, 6e4], dtype)
    slope = gradient(getattr(dg, name), far)[0]
    np.testing.assert_array_equal(slope, [0, 0 if limits[1] == 1 else 1])


@pytest.mark.parametrize("name", ["silu", "gelu"])
def test_gated_activations_far_out(name: str) -> None:
    far = np.array([-1e25, 1e25, -1e38, 1e38], "float32")
    f = getattr(dg, name)
    np.testing.assert_array_equal(apply(f, far), [0, far[1], 0, far[3]])
    assert gradient(f, far)[0].tolist() == [0, 1, 0, 1]
    assert gradient(lambda x: dg.gelu(x, "tanh"), far)[0].tolist() == [0, 1, 0, 1]


def test_relu_of_integers_and_not_of_booleans() -> None:
    assert apply(dg.relu, np.array([-3, 0, 4], "int16")).tolist() == [0, 0, 4]
    assert apply(dg.relu, np.array([3], "uint8")).dtype == np.uint8
    with pytest.raises(dg.DTypeError, match="relu: not defined for booleans"):
        dg.relu(dg.placeholder("x", (2,), "bool"))


def test_gradient_of_relu() -> None:
    edge = np.array([0.0, -0.0, 5e-324, -1.0, np.nan, np.inf])
    assert gradient(dg.relu, edge)[0].tolist() == [0, 0, 1, 0, 0, 1]
    found = gradient(dg.relu, np.array([-1.0, 1.0]), cotangent=np.array([np.inf, np.nan]))[0]
    np.testing.assert_array_equal(found, [0, np.nan])


@pytest.mark.parametrize("slope", [0.01, 0.25, 1.0, 3.0, 0.0, -0.5])
def test_leaky_relu(slope: float) -> None:
    value = np.array([-4.0, -0.0, 0.0, 2.0, np.nan, np.inf])
    found = apply(dg.leaky_relu, value, slope=slope)
    np.testing.assert_array_equal(found, [-4 * slope, 0, 0, 2, np.nan, np.inf])
    far = apply(dg.leaky_relu, np.array([-np.inf]), slope=slope)
    np.testing.assert_array_equal(far, [-np.inf * slope if slope else 0])
    steep = gradient(lambda x: dg.leaky_relu(x, slope), np.array([-4.0, 0.0, 2.0]))[0]
    assert steep.tolist() == [slope, slope, 1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "f",
    [
        lambda x: dg.leaky_relu(x, 0.3), lambda x: dg.leaky_relu(x, -0.3), dg.gelu,
        lambda x: dg.gelu(x, approximate="tanh"), dg.log_sigmoid,
    ],
)  # fmt: skip
def test_gradients(f: Callable[[Any], Any], seed: int) -> None:
    x = np.random.default_rng(seed).normal(0, 2, (3, 4))
    check_gradient(f, x, seed=seed)
    check_gradient(lambda a: dg.grad(dg.sum(f(a) * a), a), x, seed=seed)


def test_gelu_knows_two_forms() -> None:
    with pytest.raises(dg.GraphError, match="gelu: approximate is 'none' or 'tanh': got 'erf'"):
        dg.gelu(dg.placeholder("x", (2,)), "erf")
