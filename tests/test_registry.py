"""The registry: every operation is documented, compiles to what it means, and has a right gradient.

What is tested follows from the records: a new operation is covered once it has examples.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import isclass, isfunction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from aid import run

import deepgraph as dg
from deepgraph import data, io, nn, optim
from deepgraph.dtypes import is_float
from deepgraph.expr import FUNCTIONS, OPS, Example, Expr, Kind, Op

Array = npt.NDArray[Any]

EVERY = [  # of the package; other tests may declare some
    op for op in dict.fromkeys(OPS.values()) if op.rule.__module__.startswith("deepgraph.")
]
CALLED = [op for op in EVERY if op.kind is not Kind.SOURCE]


class Call(NamedTuple):
    """An operation's inputs and attributes."""

    arrays: tuple[Array, ...]
    attrs: dict[str, Any]


# How many floats an operation takes says its inputs, unless it says so itself, or here.

ELEMENTWISE: dict[int, tuple[tuple[tuple[int, ...], ...], ...]] = {
    1: (((3, 4),), ((),), ((0, 3),)),
    2: (((3, 4), (3, 4)), ((3, 1), (4,)), ((2, 3), ()), ((0, 3), (1,))),
    3: (((3, 4), (3, 4), (3, 4)), ((4,), (3, 1), ()), ((0, 3), (3,), (0, 1))),
}
DTYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys([name for name in OPS if name.startswith("bitwise")], ("int64", "int64")),
    "where": ("bool", "float64", "float64"), "check_index": ("int64",),
}  # fmt: skip


def _images(window: int, **how: Any) -> tuple[Array, Array, Array]:
    """Images, what max-pooling makes of them, and a gradient of that."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 3, 5, 6))
    y = run(dg.max_pool2d(dg.asarray(x), window, **how))
    return rng.normal(size=y.shape), x, y


def _no_gradient(g: Expr, y: Expr, x: Expr) -> None:
    return None


def _special() -> dict[str, list[Call]]:
    rng = np.random.default_rng(2)
    x, small, key = rng.normal(size=(4, 3)), rng.normal(size=(2, 2, 3)), np.uint64(7)
    indices = np.array([[0, -1], [2, 1]])
    g, images, pooled = _images(2, stride=1)
    draw = Call((np.array(key), np.array(key + 1)), {"id": 3, "shape": (3, 5)})
    return {
        "astype": [Call((x,), {"dtype": t}) for t in ("float32", "int8", "bool", "float64")],
        "take": [
            Call((x, indices), {"axis": 0}), Call((x, indices), {"axis": -1}),
            Call((x, indices[:0]), {"axis": 0}), Call((x[0], indices[0, 0]), {"axis": 0}),
        ],
        "scatter_add": [
            Call((small, indices), {"size": 5, "axis": 0}),
            Call((small.T, indices), {"size": 4, "axis": 1}),
            Call((small[:0], indices[:0]), {"size": 3, "axis": 0}),
        ],
        "flat_index": [Call((indices, indices[0] * 0 + 3), {"shape": (3, 4)})],
        "philox_bits": [draw],
        "philox_uniform": [draw, Call(draw.arrays, {**draw.attrs, "dtype": "float64"})],
        "philox_normal": [draw, Call(draw.arrays, {**draw.attrs, "dtype": "float64"})],
        "custom_gradient": [Call((x, x[0]), {"gradient": _no_gradient})],
        "attach": [Call((x, x[0]), {"parameters": (dg.Parameter(x[0]),)})],
        "leaky_relu": [Call((x,), {"slope": slope}) for slope in (0.01, 0.0, -0.5, 2.0)],
        "gelu": [Call((x,), {"approximate": kind}) for kind in ("none", "tanh")],
        "reverse_gradient": [Call((x,), {"scale": 0.5})],
        "max_pool2d_grad": [Call((g, images, pooled), {"window": 2, "stride": 1})],
        "max_pool2d_jvp": [Call((images[::-1], images, pooled), {"window": 2, "stride": 1})],
    }  # fmt: skip


SPECIAL = _special()


def calls(op: Op, seed: int = 0) -> list[Call]:
    """Inputs and attributes with which an operation is tried, of every kind of shape it takes."""
    if op.name in SPECIAL:
        return SPECIAL[op.name]
    rng = np.random.default_rng(seed)
    examples = op.examples
    if not examples and op.kind in (Kind.ELEMENTWISE, Kind.VIEW):
        examples = tuple(Example(shapes) for shapes in ELEMENTWISE[op.arity])
    return [
        Call(tuple(_drawn(op, k, shape, rng) for k, shape in enumerate(shapes)), dict(attrs))
        for shapes, attrs in examples
    ]


def _drawn(op: Op, k: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    dtype = DTYPES[op.name][k] if op.name in DTYPES else "float64"
    if dtype == "float64":
        return np.asarray(rng.uniform(op.low, op.high, shape))
    return np.asarray(rng.integers(0, 2 if dtype == "bool" else 5, shape)).astype(dtype)


def applied(op: Op, inputs: list[Expr], attrs: dict[str, Any]) -> Expr:
    return op(inputs, **attrs) if op.variadic else op(*inputs, **attrs)


# How an input may arrive: what is fed, and what the operation reads, of the same value.


def _strided(a: Array) -> Array:
    """The same values, apart and in the opposite order in memory."""
    wide = np.zeros(tuple(3 * n for n in a.shape), a.dtype)
    view = wide[(..., *(slice(None, None, -3) for _ in a.shape))]
    view[...] = a
    return view


def _through_views(p: Expr) -> Expr:
    return dg.flip(dg.permute_dims(p))


def _computed(p: Expr) -> Expr:
    """A value that dies at once, in a buffer that the operation may take over."""
    twice = dg.bitwise_invert if p.dtype.kind in "bu" else dg.negative
    return twice(twice(p))


WAYS: dict[str, tuple[Callable[[Array], Array], Callable[[Expr], Expr]]] = {
    "plain": (lambda a: a, lambda p: p),
    "strided": (_strided, lambda p: p),
    "viewed": (lambda a: np.array(np.flip(a).T, order="C"), _through_views),
    "computed": (lambda a: a, _computed),
}


def _close(value: Array) -> dict[str, float]:
    """How near a result is: of float32, which draws give, so many of its last digits."""
    short = value.dtype == np.float32
    return {"rtol": 1e-6, "atol": 1e-7} if short else {"rtol": 1e-12, "atol": 1e-14}


@pytest.mark.parametrize("op", EVERY, ids=lambda op: op.name)
def test_an_operation_is_documented(op: Op) -> None:
    first, _, rest = (op.__doc__ or "").partition("\n")
    assert first.endswith("."), "the first line is one sentence"
    assert not rest or rest.startswith("\n"), "the first sentence stands alone"
    for name in (op.name, *op.aliases):
        assert OPS[name] is op
        public = name in dir(dg) and getattr(dg, name) is FUNCTIONS[name]
        assert public != getattr(FUNCTIONS[name], "internal", False)
    assert pickle.loads(pickle.dumps(op)) is op


@pytest.mark.parametrize("op", CALLED, ids=lambda op: op.name)
def test_an_operation_has_examples(op: Op) -> None:
    tried = calls(op)
    assert tried, "no examples: say so in the record"
    for arrays, attrs in tried:
        node = applied(op, [dg.asarray(a) for a in arrays], attrs)
        flops = op.flops(node) if callable(op.flops) else op.flops
        assert isinstance(flops, int)
        assert flops >= 0


@pytest.mark.parametrize("op", CALLED, ids=lambda op: op.name)
def test_floats_of_floats_have_a_gradient(op: Op) -> None:
    if op.grad is not None:
        return
    for arrays, attrs in calls(op):
        node = applied(op, [dg.asarray(a) for a in arrays], attrs)
        assert not (is_float(node.dtype) and any(is_float(x.dtype) for x in node.inputs))


@pytest.mark.parametrize("op", CALLED, ids=lambda op: op.name)
def test_compiled_equals_reference(op: Op, backend: str) -> None:
    outputs: dict[str, Expr] = {}
    feeds: dict[str, Array] = {}
    expected: dict[str, Array] = {}
    for k, (arrays, attrs) in enumerate(calls(op)):
        value = run(applied(op, [dg.asarray(a) for a in arrays], attrs))
        for way, (fed, read) in WAYS.items():
            inputs = []
            for i, a in enumerate(arrays):
                given = fed(a)
                p = dg.placeholder(f"x{i}_{k}_{way}", given.shape, a.dtype)
                feeds[p.name] = given
                inputs.append(read(p))
            name = f"{way} {k}: {[a.shape for a in arrays]} {attrs}"
            outputs[name], expected[name] = applied(op, inputs, attrs), value
    step = dg.compile(outputs, backend=backend)
    for _ in range(2):  # the second call finds dirty buffers
        found = step(**feeds)
        for name, value in expected.items():
            assert (found[name].shape, found[name].dtype) == (value.shape, value.dtype), name
            np.testing.assert_allclose(found[name], value, **_close(value), err_msg=name)


@pytest.mark.parametrize("op", CALLED, ids=lambda op: op.name)
def test_compiled_equals_reference_where_inputs_are_broadcast(op: Op, backend: str) -> None:
    """Axes along which an input does not move at all, in all inputs at once."""
    for arrays, attrs in calls(op):
        narrow = [a[(..., *(slice(0, 1) for _ in a.shape))] for a in arrays]
        inputs = [dg.placeholder(f"x{i}", a.shape, a.dtype) for i, a in enumerate(narrow)]
        wide = [dg.broadcast_to(p, a.shape) for p, a in zip(inputs, arrays, strict=True)]
        y = applied(op, wide, attrs)
        step = dg.compile(y, inputs=inputs, backend=backend)
        expected = run(y, dict(zip(inputs, narrow, strict=True)))
        np.testing.assert_allclose(step(*narrow), expected, **_close(expected))


# Gradients that are not the slope, and inputs whose gradient is none.
NOT_THE_SLOPE = {"stop_gradient": 0.0, "custom_gradient": 0.0, "reverse_gradient": -0.5}
CONSTANT = {"max_pool2d_grad": (1, 2), "max_pool2d_jvp": (1, 2)}  # constant almost everywhere

DIFFERENTIATED = [op for op in CALLED if op.grad is not None]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("op", DIFFERENTIATED, ids=lambda op: op.name)
def test_gradient_is_the_slope(op: Op, seed: int, backend: str) -> None:
    """Along a random direction, by central differences, all through the compiled step."""
    if backend == "cupy" and seed and "CI" in os.environ:
        pytest.skip("CUDA as C++ takes long to compile: CI tries one draw")
    rng = np.random.default_rng(seed + 10)
    h = 1e-6
    outputs: dict[str, Expr] = {}
    feeds: dict[str, Array] = {}
    ways: dict[str, Array] = {}
    for k, (arrays, attrs) in enumerate(calls(op, seed)):
        inputs = [dg.placeholder(f"x{i}_{k}", a.shape, a.dtype) for i, a in enumerate(arrays)]
        y = applied(op, inputs, attrs)
        if y.dtype == np.float32:  # in which differences drown
            continue
        loss = dg.sum(y * rng.uniform(0.5, 1.5, y.shape))
        outputs[f"loss_{k}"] = loss
        feeds |= {p.name: a for p, a in zip(inputs, arrays, strict=True)}
        for i, p in enumerate(inputs):
            if is_float(p.dtype) and i not in CONSTANT.get(op.name, ()):
                outputs[f"gradient {p.name}"] = dg.grad(loss, p)
                ways[p.name] = rng.choice([-1.0, 1.0], p.shape) * rng.uniform(0.5, 1.0, p.shape)
    step = dg.compile(outputs, backend=backend)
    found = step(**feeds)
    moved = [
        step(**feeds | {name: feeds[name] + sign * h * way for name, way in ways.items()})
        for sign in (1, -1)
    ]
    for k in (k for k in range(len(calls(op, seed))) if f"loss_{k}" in found):
        slope = (moved[0][f"loss_{k}"] - moved[1][f"loss_{k}"]) / (2 * h)
        slope = slope * NOT_THE_SLOPE.get(op.name, 1.0)
        along = sum(
            np.sum(found[f"gradient {name}"] * way)
            for name, way in ways.items() if name.endswith(f"_{k}")
        )  # fmt: skip
        np.testing.assert_allclose(along, slope, rtol=1e-6, atol=1e-8, err_msg=str(calls(op)[k]))


# Where whole numbers meet a kink the slope jumps, and its derivative is what it is to both sides.
KINKED = {
    "abs", "copysign", "maximum", "minimum", "fmax", "fmin", "relu", "leaky_relu", "max", "min",
    "max_pool2d",
}  # fmt: skip
SINGULAR = {"hypot", "atan2"}  # at (0, 0)


def _along(slopes: Iterable[Expr], points: Iterable[Expr], ways: Mapping[Expr, Array]) -> Expr:
    terms = (dg.sum(g * ways[p]) for g, p in zip(slopes, points, strict=True))
    return sum(terms, dg.zeros((), "float64"))


@pytest.mark.parametrize("op", DIFFERENTIATED, ids=lambda op: op.name)
def test_second_derivative_is_the_slope_of_the_gradient(op: Op, backend: str) -> None:
    """At drawn points, and at whole numbers: zeros, ones, equal elements."""
    h = 1e-5
    rng = np.random.default_rng(20)
    tried = [(call, False) for call in calls(op, 2)]
    if op.low < 0 and op.name not in SINGULAR | set(CONSTANT):
        tried += [
            (Call(tuple(np.trunc(a) if a.dtype == np.float64 else a for a in arrays), attrs), True)
            for arrays, attrs in calls(op, 3)
        ]
    outputs: dict[str, Expr] = {}
    feeds: dict[Expr, Array] = {}
    ways: dict[Expr, Array] = {}
    for k, ((arrays, attrs), _) in enumerate(tried):
        inputs = [dg.placeholder(f"x{i}_{k}", a.shape, a.dtype) for i, a in enumerate(arrays)]
        y = applied(op, inputs, attrs)
        if y.dtype != np.float64:
            continue
        feeds |= dict(zip(inputs, arrays, strict=True))
        floats = [
            p for i, p in enumerate(inputs)
            if is_float(p.dtype) and i not in CONSTANT.get(op.name, ())
        ]  # fmt: skip
        for p in floats:
            ways[p] = rng.choice([-1.0, 1.0], p.shape) * rng.uniform(0.5, 1.0, p.shape)
        slopes = dg.grad(dg.sum(y * rng.uniform(0.5, 1.5, y.shape)), floats)
        outputs[f"slope_{k}"] = along = _along(slopes, floats, ways)
        outputs[f"second_{k}"] = _along(dg.grad(along, floats), floats, ways)
    step = dg.compile(outputs, inputs=list(feeds), backend=backend)
    found = step(*feeds.values())
    high, low = (
        step(*(a + sign * h * ways[p] if p in ways else a for p, a in feeds.items()))
        for sign in (1, -1)
    )
    for k in (k for k in range(len(tried)) if f"slope_{k}" in found):
        second = found[f"second_{k}"]
        if tried[k][1] and op.name in KINKED:
            assert second == 0
            continue
        slope = (high[f"slope_{k}"] - low[f"slope_{k}"]) / (2 * h)
        np.testing.assert_allclose(second, slope, rtol=1e-6, atol=1e-7, err_msg=str(tried[k]))


@pytest.mark.parametrize("op", CALLED, ids=lambda op: op.name)
def test_a_node_comes_back_from_a_pickle(op: Op) -> None:
    for arrays, attrs in calls(op):
        node = applied(op, [dg.asarray(a) for a in arrays], attrs)
        back = pickle.loads(pickle.dumps(node))
        assert back.op is op
        assert (back.shape, back.dtype, back.origin.where) == (
            node.shape, node.dtype, node.origin.where
        )  # fmt: skip
        np.testing.assert_array_equal(run(back), run(node))


# Public names


def _public() -> Iterator[tuple[str, Any]]:
    for module in (dg, nn, nn.init, optim, data, io):
        for name, value in vars(module).items():
            ours = isinstance(value, Op) or (
                (isclass(value) or isfunction(value)) and value.__module__.startswith("deepgraph")
            )
            if ours and not name.startswith("_"):
                yield f"{module.__name__}.{name}", value


def test_every_public_name_is_documented() -> None:
    found = dict(_public())
    assert len(found) > 250
    bare = [name for name, value in found.items() if not (value.__doc__ or "").strip()]
    assert not bare
    first = {name: value.__doc__.partition("\n\n")[0].rstrip() for name, value in found.items()}
    assert not [name for name, text in first.items() if not text.endswith(".")], "no sentence"


def test_every_public_method_is_documented() -> None:
    bare = [
        f"{name}.{member}"
        for name, value in _public() if isclass(value)
        for member, part in vars(value).items()
        if not member.startswith("_") and (isfunction(part) or isinstance(part, property))
        and not (part.__doc__ or "").strip()
    ]  # fmt: skip
    assert not bare


def test_what_is_composed_is_public() -> None:
    for name, function in FUNCTIONS.items():
        if not isinstance(function, Op):
            assert getattr(dg, name) is function


# The array API standard, 2025.12, without data types, constants and inspection.
STANDARD = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1
floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p
log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh
square sqrt subtract tan tanh trunc
cumulative_prod cumulative_sum max mean min prod std sum var
broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat
reshape roll squeeze stack tile unstack
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like
tril triu zeros zeros_like
matmul matrix_transpose tensordot vecdot
argmax argmin count_nonzero nonzero searchsorted where
argsort sort unique_all unique_counts unique_inverse unique_values
all any diff take take_along_axis
astype can_cast finfo iinfo isdtype result_type
"""
ABSENT = {
    "complex numbers are outside": "conj imag",
    "sizes that data decides are outside": (
        "nonzero unique_all unique_counts unique_inverse unique_values"
    ),
    "a graph holds no value that is left undefined": "empty empty_like",
    "of dtypes, which are NumPy's: so are these functions": (
        "can_cast finfo iinfo isdtype result_type"
    ),
    "of a later release": "searchsorted broadcast_shapes from_dlpack",
}


def test_names_of_the_array_api_standard() -> None:
    absent = set(" ".join(ABSENT.values()).split())
    missing = {name for name in STANDARD.split() if name not in FUNCTIONS}
    assert missing == absent
