"""Calls that C and CUDA have a template for, against the reference: dtypes, layouts, sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import deepgraph as dg
from deepgraph.expr import OPS, Expr

ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")

Array = npt.NDArray[Any]
Outputs = dict[str, Expr]

DTYPES = ["bool", "int8", "uint32", "int64", "float16", "bfloat16", "float32"]
INDICES = ["int8", "uint8", "int64", "uint64"]


class Written(NamedTuple):
    """A backend that writes calls as text, and how a step of it is run: each way in turn."""

    backend: str
    ways: Callable[[], Iterator[str]]

    def check(self, outputs: Outputs, *feeds: Mapping[str, Array], ulps: int = 0) -> None:
        """The same as the reference, each way, and no call of it a library's."""
        step = self.compile(outputs)
        oracle = dg.compile(outputs, backend="reference")
        for given in feeds:
            wanted = oracle(**given)
            for way in self.ways():
                found = step(**given)
                for name, value in wanted.items():
                    close(found[name], value, ulps, f"{name} by {way}")

    def compile(self, *given: Any, **how: Any) -> dg.Step:
        """A step of it; no call is a library's."""
        step = dg.compile(*given, backend=self.backend, **how)
        assert not re.findall(r"(?m)^ +((?:lib|np|cp)\.(?!copyto).*)", step.source.driver)
        return step


@pytest.fixture(params=["native", "cupy"])
def written(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Written:
    """C by one thread and by two; CUDA by threads in order, and in none."""
    if request.param == "native":
        request.getfixturevalue("native")
        monkeypatch.setenv("DEEPGRAPH_CFLAGS", "-Werror")
        monkeypatch.setattr("deepgraph.backends.native._SMALL", 1)  # threads share all kernels
        return Written("native", _threads)
    launcher = request.getfixturevalue("host_cuda")

    def orders() -> Iterator[str]:
        for launcher.order in (0, 2):
            yield f"order {launcher.order}"

    return Written("cupy", orders)


def _threads() -> Iterator[str]:
    for count in (1, 2):
        with dg.config(threads=count):
            yield f"{count} threads"


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Small whole numbers, of which any dtype holds the sums that are made here."""
    low = 0 if dtype.startswith(("u", "b")) and dtype != "bfloat16" else -3
    high = 2 if dtype == "bool" else 4
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    return rng.integers(low, high, shape).astype(kind)


def close(found: Array, wanted: Array, ulps: int, name: str) -> None:
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind not in "biu":
        eps = float(ml_dtypes.finfo(wanted.dtype).eps)
        wide = [v.astype(np.float64) for v in (found, wanted)]
        np.testing.assert_allclose(*wide, rtol=ulps * eps, atol=ulps * eps, err_msg=name)
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def moved(y: Expr, *order: int) -> Expr:
    """The elements of y in another order: where it can, y is laid out so."""
    return dg.reshape(dg.permute_dims(y, order), (-1,))


# Indices.


@pytest.mark.parametrize("dtype", DTYPES)
def test_take_and_scatter_add(written: Written, dtype: str) -> None:
    x = dg.placeholder("x", ("n", 3, "m"), dtype)
    t = dg.permute_dims(x, (2, 0, 1))
    i = dg.placeholder("i", ("k", 2), "int32")
    flat = dg.reshape(i, (-1,))
    outputs = {
        "rows": dg.take(x, i, 0),
        "middle": dg.take(x, flat % 3, 1),
        "last": dg.take(t, i, 1),
        "ordered": moved(dg.take(t, i, 1), 3, 0, 1, 2),
        "one": dg.take(dg.reshape(x, (-1,)), flat, 0),
        "number": dg.take(x, np.int8(-1), 0),
    }
    back = {
        "rows back": dg.scatter_add(outputs["rows"], i, x.shape[0], 0),
        "last back": moved(dg.scatter_add(outputs["last"], i, x.shape[0], 1), 2, 0, 1),
        "one back": dg.scatter_add(outputs["one"], flat, x.shape[0] + 2),
        "number back": dg.scatter_add(outputs["number"], np.int8(-1), 4, 0),
        "middle back": dg.scatter_add(outputs["middle"], flat % 3, 3, 1),
    }
    rng = np.random.default_rng(1)
    written.check(outputs | back, *(
        {"x": drawn(rng, (n, 3, m), dtype), "i": rng.integers(-n, n, (k, 2)).astype(np.int32)}
        for n, m, k in ((5, 4, 3), (1, 130, 9), (70, 1, 50), (3, 7, 0))
    ))  # fmt: skip


@pytest.mark.parametrize("dtype", INDICES)
def test_indices_of_any_dtype(written: Written, dtype: str) -> None:
    i = dg.placeholder("i", ("k", 1), dtype)
    j = dg.placeholder("j", (6,), dtype)
    x = dg.placeholder("x", ("n", 4), "float32")
    outputs = {
        "place": OPS["flat_index"]([i, j], x.shape),
        "checked": OPS["check_index"](dg.permute_dims(i, (1, 0)), x.shape[0]),
        "picked": x[i, j],
        "row": dg.take(x, j, 1),
    }
    rng = np.random.default_rng(2)
    low = 0 if dtype.startswith("u") else -4
    written.check(outputs, *(
        {"x": drawn(rng, (n, 4), "float32"), "i": rng.integers(0, n, (k, 1)).astype(dtype),
         "j": rng.integers(low, 4, 6).astype(dtype)}
        for n, k in ((7, 5), (100, 65), (4, 0))
    ))  # fmt: skip


def faults() -> Outputs:
    i = dg.placeholder("i", ("k",), "int64")
    x = dg.placeholder("x", ("n", 3), "float32")
    return {
        "take": dg.take(x, i, 0),
        "flat_index": OPS["flat_index"]([np.zeros(1, int), i], (4, x.shape[0])),
        "scatter_add": dg.scatter_add(dg.take(x, i * 0, 0), i, x.shape[0], 0),
        "check_index": OPS["check_index"](i, x.shape[0], "label"),
        "fed": dg.sum(x),
    }


@pytest.mark.parametrize("name", ["take", "flat_index", "scatter_add", "check_index"])
def test_a_bad_index_is_told_as_numpy_tells_it(written: Written, name: str) -> None:
    """The least if it is too low, else the greatest, whichever thread meets it; and whose it is."""
    outputs = {k: v for k, v in faults().items() if k in (name, "fed")}
    rng = np.random.default_rng(3)
    steps = [dg.compile(outputs, backend="numpy"), written.compile(outputs)]
    for bad in ([100], [500, 100], [-1], [-101, 300], [-(2**63)], [2**63 - 1, -200]):
        i = rng.integers(0, 100, 3000)
        i[rng.choice(3000, len(bad), replace=False)] = bad
        x = rng.normal(size=(100, 3)).astype(np.float32)
        if bad == [-1] and name != "check_index":
            continue
        for _ in written.ways():
            said = []
            for step in steps:
                with pytest.raises(IndexError) as caught:
                    step(x=x, i=i)
                assert type(caught.value) is IndexError
                said.append((str(caught.value), caught.value.__notes__[0].partition("\n")[2]))
            assert said[0] == said[1]
            assert name in caught.value.__notes__[0]
        i[:] = 1
        np.testing.assert_array_equal(*(step(x=x, i=i)[name] for step in steps))


def test_of_no_elements_any_index_is_bad(written: Written) -> None:
    x, i = dg.placeholder("x", ("n", 2)), dg.placeholder("i", ("k",), "uint64")
    step = written.compile(dg.take(x, i, 0))
    empty = np.zeros((0, 2), np.float32)
    for _ in written.ways():
        assert step(x=empty, i=np.zeros(0, np.uint64)).shape == (0, 2)
        with pytest.raises(IndexError, match="index 3 is out of range: axis 0 has size 0"):
            step(x=empty, i=np.array([3, 3], np.uint64))
        with pytest.raises(IndexError, match=f"index {2**64 - 1} is out of range"):
            step(x=np.ones((4, 2), np.float32), i=np.array([3, 2**64 - 1], np.uint64))


@pytest.mark.parametrize("seed", range(3))
def test_a_bad_index_updates_nothing(written: Written, seed: int) -> None:
    """Neither what follows the check nor a parameter that the very kernel writes."""
    rng = np.random.default_rng(seed)
    p = dg.Parameter(np.zeros((40, 3), np.float32), name="p")
    q = dg.Parameter(np.zeros(3, np.float32), name="q")
    x, i = dg.placeholder("x", (50, 3)), dg.placeholder("i", (40,), "int64")
    rows = dg.take(x, i, 0)
    step = written.compile(dg.sum(rows), {p: rows, q: q + dg.sum(rows, 0)})
    given = rng.normal(size=(50, 3)).astype(np.float32)
    good = rng.integers(0, 50, 40)
    bad = good.copy()
    bad[rng.integers(40)] = 50
    for _ in written.ways():
        for _ in range(20):
            with pytest.raises(IndexError):
                step(x=given, i=bad)
        assert not np.any(p.value)
        assert not np.any(q.value)
        step(x=given, i=good)
        np.testing.assert_array_equal(p.value, given[good])
        p.value, q.value = np.zeros_like(p.value), np.zeros_like(q.value)


# Copies to parts.


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_to_parts(written: Written, dtype: str) -> None:
    x = dg.placeholder("x", ("n", 3, "m"), dtype)
    y = dg.placeholder("y", ("n", 3, "m"), dtype)
    b = dg.placeholder("b", ("n", 3, "m"), "bool")
    t = dg.permute_dims(x, (2, 0, 1))
    n, _, m = x.shape
    one = 1 if dtype == "bool" else 2
    outputs = {
        "beside": dg.concat([x, dg.flip(y, 0), b], 1),
        "behind": dg.concat([t, dg.permute_dims(y, (2, 0, 1)), t], 0),
        "ordered": moved(dg.concat([t, t], 1), 1, 2, 0),
        "in border": dg.pad(x, ((1, 0), (0, 2), (3, 1)), one),
        "ordered border": moved(dg.pad(t, ((0, 0), (2, 1), (0, 1)), one), 2, 1, 0),
        "one border": dg.pad(x, ((0, 0), (0, 0), (0, m)), one),
    }
    parts = {
        "inside": x[1:, :2], "steps": x[::2, ::-1, 1:], "position": x[:, -1], "none": x[n:],
        "named": x[:, :, m - 1 :], "beyond": x[5:, 1],
    }
    for name, part in parts.items():
        index, base = part.attr("index"), x
        outputs[f"back {name}"] = OPS["unslice"](part, base.shape, index)
    whole = x[:, 1:]
    outputs["back ordered"] = moved(OPS["unslice"](whole, x.shape, whole.attr("index")), 2, 0, 1)
    rng = np.random.default_rng(4)
    written.check(outputs, *(
        {"x": drawn(rng, (n, 3, m), dtype), "y": drawn(rng, (n, 3, m), dtype),
         "b": drawn(rng, (n, 3, m), "bool")}
        for n, m in ((4, 5), (1, 1), (40, 33), (3, 70), (0, 2))
    ))  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_unwindows(written: Written, dtype: str) -> None:
    images = dg.placeholder("images", ("n", 3, 9, 8), dtype)
    line = dg.placeholder("line", (41,), dtype)

    def back(x: Expr, *order: int, **how: Any) -> Expr:
        windows = dg.windows(x, **how)
        wide = dg.permute_dims(windows, order) if order else windows
        inverse = tuple(np.argsort(order)) if order else tuple(range(windows.ndim))
        made = dg.permute_dims(dg.concat([wide, wide], 0)[: wide.shape[0]], inverse)
        return OPS["unwindows"](made, x.shape, **how)

    square = {"axes": (2, 3), "kernel": (3, 2)}
    outputs = {
        "images": back(images, **square, stride=2),
        "wide": back(images, **square, stride=(4, 1), dilation=(2, 3)),
        "last": moved(back(images, 1, 2, 3, 4, 5, 0, **square), 1, 2, 3, 0),
        "line": back(line, axes=0, kernel=5, stride=3),
        "batch": back(images, axes=(3, 1), kernel=2),
    }
    rng = np.random.default_rng(5)
    written.check(outputs, *(
        {"images": drawn(rng, (n, 3, 9, 8), dtype), "line": drawn(rng, (41,), dtype)}
        for n in (2, 1, 70, 0)
    ))  # fmt: skip


# Pooling.

POOLS: dict[str, dict[str, Any]] = {
    "even": {"window": 2},
    "apart": {"window": 2, "stride": (3, 4)},
    "overlapping": {"window": 3, "stride": (2, 1)},
    "in border": {"window": (3, 2), "stride": (2, 1), "padding": ((1, 2), (1, 0))},
    "apart in border": {"window": 2, "padding": 1},
    "large": {"window": (5, 4), "stride": (4, 3), "padding": (2, 1)},
}
LAYOUTS = {"rows": (0, 1, 2, 3), "batch": (1, 2, 3, 0), "channels": (0, 2, 3, 1)}
LAID = [("float32", layout) for layout in LAYOUTS]
SIZES = [(2, 3), (1, 1), (33, 2), (300, 1), (0, 2)]


def pooled(dtype: str, layout: str, wanted: Callable[[Expr, dict[str, Any]], Outputs]) -> Outputs:
    """For each way to pool what is made of images that lie so in memory, in that order too."""
    order = LAYOUTS[layout]
    shape = ("n", "c", 12, 8)
    fed = dg.placeholder("x", tuple(shape[a] for a in order), dtype)
    x = dg.permute_dims(fed, tuple(np.argsort(order)))
    outputs: Outputs = {}
    for way in POOLS if dtype == "float32" else ("even", "in border"):
        how = POOLS[way]
        outputs |= {f"{name} {way}": moved(y, *order) for name, y in wanted(x, how).items()}
    return outputs


def images(dtype: str, layout: str, nans: bool = False) -> list[dict[str, Array]]:
    rng = np.random.default_rng(6)
    found = []
    for n, c in SIZES:
        x = drawn(rng, (n, c, 12, 8), dtype)
        if nans:
            x[rng.random(x.shape) < 0.02] = np.nan
            x[rng.random(x.shape) < 0.1] = -np.inf
        found.append({"x": np.ascontiguousarray(x.transpose(LAYOUTS[layout]))})
    return found


@pytest.mark.parametrize(
    ("dtype", "layout"),
    [*LAID, ("bool", "batch"), ("int8", "rows"), ("uint64", "batch"), ("float16", "channels")],
)
def test_max_pool2d(written: Written, dtype: str, layout: str) -> None:
    outputs = pooled(dtype, layout, lambda x, how: {"max": dg.max_pool2d(x, **how)})
    written.check(outputs, *images(dtype, layout, nans="float" in dtype))


@pytest.mark.parametrize(
    ("dtype", "layout"), [*LAID, ("float16", "batch"), ("bfloat16", "rows"), ("float64", "rows")]
)
def test_max_pool2d_derivatives(written: Written, dtype: str, layout: str) -> None:
    def wanted(x: Expr, how: dict[str, Any]) -> Outputs:
        y = OPS["copy"](dg.max_pool2d(x, **how))
        g = y * 3 + 1
        t = x * x
        return {
            "grad": OPS["max_pool2d_grad"](g, x, y, **how),
            "jvp": OPS["max_pool2d_jvp"](t, x, y, **how),
        }

    written.check(pooled(dtype, layout, wanted), *images(dtype, layout), ulps=8)


def test_nan_of_a_window_receives_nothing(written: Written) -> None:
    x = dg.placeholder("x", (1, 1, 4, 4))
    y = dg.max_pool2d(x, 2)
    step = written.compile(OPS["max_pool2d_grad"](dg.exp(y * 0), x, y, 2))
    given = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    given[0, 0, 0, 0] = np.nan
    wanted = np.zeros((4, 4))
    wanted[1, 3] = wanted[3, 1] = wanted[3, 3] = 1
    np.testing.assert_array_equal(step(x=given)[0, 0], wanted)


@pytest.mark.parametrize(
    ("dtype", "layout"), [*LAID, ("int8", "batch"), ("float16", "rows"), ("bfloat16", "batch")]
)
def test_avg_pool2d(written: Written, dtype: str, layout: str) -> None:
    def wanted(x: Expr, how: dict[str, Any]) -> Outputs:
        found = {}
        for padded in (False, True):
            y = dg.avg_pool2d(x, **how, count_include_pad=padded)
            g = OPS["copy"](y * 2)
            found |= {
                f"mean {padded}": y,
                f"grad {padded}": OPS["avg_pool2d_grad"](
                    g, x.shape[2:], **how, count_include_pad=padded
                ),
            }
        return found

    written.check(pooled(dtype, layout, wanted), *images(dtype, layout), ulps=8)


# Along an axis.


@pytest.mark.parametrize("dtype", DTYPES)
def test_running_results_and_extremes(written: Written, dtype: str) -> None:
    x = dg.placeholder("x", ("n", 5, "m"), dtype)
    t = dg.permute_dims(x, (2, 0, 1))
    a = dg.placeholder("a", ("n", 5, "m"), dtype)
    outputs: Outputs = {"where last": dg.argmax(x), "where first": dg.argmin(t)}
    for axis in range(3):
        outputs |= {
            f"sum {axis}": dg.cumulative_sum(x, axis),
            f"own sum {axis}": moved(dg.cumulative_sum(t, axis, x.dtype), 1, 2, 0),
            f"product {axis}": dg.cumulative_prod(t, axis, x.dtype),
            f"recurrence {axis}": OPS["linear_recurrence"](a, x, axis),
            f"argmax {axis}": dg.argmax(x, axis),
            f"argmin {axis}": dg.argmin(t, axis, keepdims=True),
        }
    rng = np.random.default_rng(7)
    feeds = []
    for n, m in ((4, 5), (1, 1), (3, 300), (300, 2)):
        given = {"x": drawn(rng, (n, 5, m), dtype), "a": drawn(rng, (n, 5, m), "bool")}
        feeds.append(given | {"a": given["a"].astype(given["x"].dtype)})
    written.check(outputs, *feeds)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_first_nan_is_the_extreme(written: Written, dtype: str) -> None:
    x = dg.placeholder("x", ("n", "m"), dtype)
    both = (dg.argmax, dg.argmin)
    outputs = {f"{f.name} {axis}": f(x, axis) for f in both for axis in (0, 1, None)}
    rng = np.random.default_rng(8)
    feeds = []
    for shape in ((3, 7), (70, 40), (2, 300)):
        given = drawn(rng, shape, dtype)
        given[rng.random(shape) < 0.05] = np.nan
        given[rng.random(shape) < 0.1] = np.inf
        given[rng.random(shape) < 0.1] = -np.inf
        feeds.append({"x": given})
    feeds.append({"x": np.full((3, 4), -np.inf, dtype)})
    feeds.append({"x": np.full((3, 4), np.inf, dtype)})
    written.check(outputs, *feeds)


# Random draws.


@pytest.mark.parametrize("seed", [0, 2**64 - 3])
def test_random_draws(written: Written, seed: int) -> None:
    """Words and uniforms bit for bit, normals to 4 units in the last place of each of the two."""
    x = dg.placeholder("x", ("n", 3), "float32")
    n = x.shape[0]
    outputs: Outputs = {"used": dg.sum(x)}
    key, counter = OPS["random_key"](), OPS["random_counter"]()
    for id, shape in enumerate([(n, 3), (n,), (3, 2, n)]):
        outputs[f"bits {id}"] = OPS["philox_bits"](key, counter, id, shape)
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            outputs[f"uniform {id} {dtype}"] = dg.uniform(shape, dtype=dtype)
            outputs[f"normal {id} {dtype}"] = dg.normal(shape, dtype=dtype)
    wide = dg.uniform((n, 3, 2))
    outputs["ordered"] = moved(wide, 2, 0, 1)
    for _ in written.ways():
        steps = [
            written.compile(outputs, {}, seed=seed),
            dg.compile(outputs, {}, backend="numpy", seed=seed),
        ]
        for n_ in (1, 5, 1000, 0):
            found, wanted = (step(x=np.ones((n_, 3), np.float32)) for step in steps)
            for name, value in wanted.items():
                close(found[name], value, 8 if name.startswith("normal") else 0, name)
