"""What a call takes: a bad feed gets an error that helps, a good one stays as it is."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import deepgraph as dg
from deepgraph import passes
from deepgraph.graph import rewrite


@pytest.fixture(scope="module")
def step() -> dg.Step:
    x = dg.placeholder("images", ("batch", 3))
    t = dg.placeholder("labels", ("batch",), "int64")
    return dg.compile(dg.sum(x, axis=1) + t, inputs=[x, t], backend="numpy")


@pytest.fixture(scope="module")
def ones() -> np.ndarray[Any, Any]:
    return np.ones((2, 3), np.float32)


def one(shape: tuple[Any, ...] = (), dtype: str = "float32") -> dg.Step:
    x = dg.placeholder("x", shape, dtype)
    return dg.compile(dg.logical_not(x) if dtype == "bool" else x + 1, backend="numpy")


def test_missing(step: dg.Step, ones: Any) -> None:
    with pytest.raises(dg.FeedError, match=r"labels is missing: int64\[batch\] from .*test_feeds"):
        step(images=ones)
    with pytest.raises(dg.FeedError, match="feed images is missing"):
        step()
    with pytest.raises(dg.FeedError, match="feed labels is missing"):
        step(ones)


def test_extra_and_misspelt(step: dg.Step, ones: Any) -> None:
    there = "there are images, labels"
    with pytest.raises(dg.FeedError, match=f"called 'weights': {there}$"):
        step(images=ones, labels=[0, 1], weights=ones)
    with pytest.raises(dg.FeedError, match=f"called 'image': {there}; did you mean images\\?"):
        step(image=ones, labels=[0, 1])
    with pytest.raises(dg.FeedError, match="called 'x': it takes none"):
        dg.compile(dg.asarray([1.0]), backend="numpy")(x=1)


def test_by_position(step: dg.Step, ones: Any) -> None:
    np.testing.assert_array_equal(step(ones, [0, 1]), [3, 4])
    np.testing.assert_array_equal(step(ones, labels=[0, 1]), [3, 4])
    with pytest.raises(dg.FeedError, match="3 feeds for 2 inputs: images, labels"):
        step(ones, [0, 1], 5)
    with pytest.raises(dg.FeedError, match="feed images is given by position and by name"):
        step(ones, images=ones)


def test_an_input_that_nothing_reads_is_fed_all_the_same() -> None:
    x, y = dg.placeholder("x"), dg.placeholder("y")
    step = dg.compile(y + 1, inputs=[x, y], backend="numpy")
    assert step(1.0, 2.0) == 3
    with pytest.raises(dg.FeedError, match="feed x is missing"):
        step(y=2.0)


def test_feeds_keep_their_order_whatever_passes_do() -> None:
    x, y, z = (dg.placeholder(name, ("n",)) for name in "xyz")
    step = dg.compile([y - x, y - x, dg.stop_gradient(z) - x], backend="numpy")
    for found in step(z=[7.0], y=[5.0], x=[1.0])[:2]:
        np.testing.assert_array_equal(found, [4])
    np.testing.assert_array_equal(step(x=[1.0], y=[5.0], z=[7.0])[2], [6])


def test_feeds_keep_their_order_in_a_pass_that_turns_operands_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = passes.pipeline

    def turned(node: dg.Expr) -> dg.Expr:
        return dg.negative(node.inputs[1]) + node.inputs[0]

    def pipeline(*args: Any) -> Any:
        def turn(graph: Any) -> Any:
            return rewrite(graph, {"subtract": [turned]}, via="turn")

        found = {}
        for name, pass_ in real(*args).items():
            found |= {"turn": turn, name: pass_} if name == "fuse" else {name: pass_}
        return found

    monkeypatch.setattr(passes, "pipeline", pipeline)
    x, y = dg.placeholder("x"), dg.placeholder("y")
    assert dg.compile(x - y, backend="numpy")(x=5, y=1) == 4


def test_rank_and_size(step: dg.Step, ones: Any) -> None:
    with pytest.raises(dg.ShapeError, match=r"feed images has 1 dimensions: declared float32\[bat"):
        step(images=ones[0], labels=[0, 1])
    with pytest.raises(dg.ShapeError, match=r"another shape: declared float32\[batch, 3\].*\(2, 2"):
        step(images=ones[:, :2], labels=[0, 1])
    expected = r"size batch is 2 in feed images and 3 in feed labels: \(3,\)"
    with pytest.raises(dg.ShapeError, match=expected):
        step(images=ones, labels=[0, 1, 2])
    with pytest.raises(dg.ShapeError, match="in feed images and 3 in feed labels"):
        step(images=ones, labels=[0, 1, 2])  # an error is not remembered as an answer


def test_a_size_that_is_a_multiple() -> None:
    step = one((2 * dg.dim("n") + 1,))
    assert step(x=[1.0, 2.0, 3.0]).shape == (3,)
    with pytest.raises(dg.ShapeError, match="feed x has another shape"):
        step(x=[1.0, 2.0])


@pytest.mark.parametrize(
    ("dtype", "given", "expected"),
    [
        ("float32", np.ones(2), r'wants float32, got float64; write x.astype\("float32"\)$'),
        ("float32", np.ones(2, np.int64), r'wants float32, got int64; write x.astype\("float32"\)'),
        ("float32", [np.float64(1), 1j], "wants float32, got complex128$"),
        ("int64", np.ones(2, np.float32), r'wants int64, got float32; write x.astype\("int64"\)'),
        ("int64", np.ones(2, np.uint64), "wants int64, got uint64"),
        ("int64", [1.5, 2.0], "wants int64, got float64$"),
        ("int8", [1, 200], "feed x holds 200, out of the range of int8"),
        ("uint8", [-1, 2], "feed x holds -1, out of the range of uint8"),
        ("float32", [1e300, 2.0], r"feed x holds 1e\+300, out of the range of float32"),
        ("float16", [70000, 2], "feed x holds 70000, out of the range of float16"),
        ("bool", [0, 1], "wants bool, got int64"),
        ("bool", np.array([0, 1], np.uint8), "wants bool, got uint8"),
        ("float32", ["a", "b"], "feed x is not an array of numbers: got str"),
        ("float32", [None, 1.0], "feed x is not an array of numbers: got object"),
        ("float32", [[1.0], [2.0, 3.0]], "feed x is not an array of numbers: setting an array"),
        ("float32", np.ma.array([1.0, 2.0], mask=[0, 1]), r"x is a masked array.*x.filled\(0\)"),
    ],
)  # fmt: skip
def test_dtypes_that_do_not_fit(dtype: str, given: Any, expected: str) -> None:
    with pytest.raises(dg.DTypeError, match=expected):
        one((2,), dtype)(x=given)


def test_an_expression_is_no_feed() -> None:
    with pytest.raises(dg.DTypeError, match="feed x is an expression: feed an array, or compile"):
        one((2,))(x=dg.placeholder("y", (2,)))


@pytest.mark.parametrize(
    ("dtype", "given"),
    [
        ("float32", [1, 2]),
        ("float32", [True, 2.5]),
        ("float32", (1.0, np.inf)),
        ("float32", np.array([1, 2], np.uint8)),
        ("float32", np.array([1, 2], np.float16)),
        ("float32", np.array([1, 2], ">f4")),
        ("float64", np.array([1, 2], np.int64)),
        ("int64", [True, 2]),
        ("int64", np.array([1, 2], np.uint32)),
        ("int8", [-128, 127]),
        ("uint64", [2**64 - 1, 2**63]),
        ("float32", array.array("f", [1, 2])),
        ("float32", np.arange(4, dtype=np.float32)[::2]),
        ("float32", np.arange(4, dtype=np.float32)[::-2]),
        ("float32", np.broadcast_to(np.float32(2), (2,))),
        ("float32", memoryview(np.ones(2, np.float32))),
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)  # fmt: skip
def test_what_loses_nothing_is_converted(dtype: str, given: Any) -> None:
    found = one((2,), dtype)(x=given)
    assert found.dtype == np.dtype(dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, np.asarray(given).astype(dtype) + np.ones(1, dtype))


def test_numbers() -> None:
    for given in (2, 2.0, True, np.float32(2), np.array(2, np.float32), np.uint8(2)):
        found = one()(x=given)
        assert (found, found.shape, found.dtype) == (float(given) + 1, (), np.float32)
    with pytest.raises(dg.DTypeError, match=r'got float64; write x.astype\("float32"\)'):
        one()(x=np.float64(2))  # NumPy's numbers have a dtype, as its arrays do
    with pytest.raises(dg.DTypeError, match="holds 10000000000, out of the range of int32"):
        one((), "int32")(x=10**10)


def test_booleans() -> None:
    step = one((2,), "bool")
    for given in ([True, False], np.array([True, False])):
        found = step(x=given)
        assert found.tolist() == [False, True]
        assert found.dtype == bool


@pytest.mark.parametrize("given", [[], (), np.empty(0, np.float32), np.empty((3, 0), "f")[0]])
def test_no_elements(given: Any) -> None:
    found = one(("n",))(x=given)
    assert (found.shape, found.dtype) == ((0,), np.float32)


def test_no_rows(step: dg.Step) -> None:
    assert step(images=np.empty((0, 3), np.float32), labels=[]).shape == (0,)


class Tensor:
    """What another library's array offers."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


def test_any_array_with_dlpack() -> None:
    np.testing.assert_array_equal(one((2,))(x=Tensor(np.ones(2, np.float32))), [2, 2])


def test_errors_of_a_feed_itself_come_through() -> None:
    class Broken:
        def __array__(self, *args: Any, **kwargs: Any) -> Any:
            raise KeyError("column")

    with pytest.raises(KeyError, match="column"):
        one((2,))(x=Broken())


@pytest.mark.parametrize("order", ["C", "F", "reversed", "read-only", "broadcast"])
def test_user_arrays_never_change(order: str) -> None:
    x, y = dg.placeholder("x", (5, 3)), dg.placeholder("y", (5, 3))
    p = dg.Parameter(np.ones((4, 3), np.float32), name="p")
    step = dg.compile(
        {"a": x, "b": dg.permute_dims(x, (1, 0)), "c": (x + y) * 2, "d": dg.flip(y)},
        {p: x[:4] * 0.5}, backend="numpy",
    )  # fmt: skip
    rng = np.random.default_rng(0)

    def draw() -> Any:
        a = rng.normal(size=(5, 3)).astype(np.float32)
        if order == "F":
            return np.asfortranarray(a)
        if order == "reversed":
            return a[::-1, ::-1]
        if order == "broadcast":
            return np.broadcast_to(a[0], (5, 3))
        a.flags.writeable = order != "read-only"
        return a

    given = {"x": draw(), "y": draw()}
    kept = {k: v.copy() for k, v in given.items()}
    for _ in range(2):
        found = step(**given)
        for array_ in found.values():
            assert not any(np.shares_memory(array_, v) for v in (*given.values(), p.storage()))
            array_ += 1  # results are the caller's
    for name, v in kept.items():
        np.testing.assert_array_equal(given[name], v)
    np.testing.assert_array_equal(p.value, kept["x"][:4] * 0.5)


@pytest.mark.parametrize("name", ["out", "repeat"])
def test_names_that_a_step_takes_for_itself(name: str) -> None:
    with pytest.raises(dg.GraphError, match=f"a placeholder cannot be called '{name}'"):
        dg.compile(dg.placeholder(name) + 1, backend="numpy")


def test_two_placeholders_of_one_name() -> None:
    with pytest.raises(dg.GraphError, match=r"two placeholders are called 'x': from .*\d and .*\d"):
        dg.compile(dg.placeholder("x") + dg.placeholder("x"), backend="numpy")


def test_a_size_that_nothing_tells() -> None:
    y = dg.broadcast_to(dg.placeholder("x", (3,)), ("rows", 3))
    with pytest.raises(dg.ShapeError, match="nothing that is fed tells the size rows"):
        dg.compile(y, backend="numpy")
    rows = dg.placeholder("like", ("rows",))
    step = dg.compile(y, inputs=[rows, y.inputs[0]], backend="numpy")
    assert step([0, 0], [1, 2, 3]).shape == (2, 3)


NAMES = ["np", "lib", "view", "step", "tick", "max", "min", "add", "add_", "a0", "t0", "k0", "x0"]


@pytest.mark.parametrize("name", NAMES)
def test_sizes_and_placeholders_of_any_name(name: str) -> None:
    x = dg.placeholder(name, (name, 3), "float64")
    y = dg.reshape(dg.tanh(x) @ dg.asarray(np.ones((3, 2))) / x.shape[0], (-1,))
    step = dg.compile({name: y, "first": dg.sum(x[:6] * 2, axis=0)}, backend="numpy")
    given = np.random.default_rng(0).normal(size=(4, 3))
    wanted = (np.tanh(given) @ np.ones((3, 2)) / 4).ravel()
    found = step(**{name: given})
    np.testing.assert_allclose(found[name], wanted)
    np.testing.assert_allclose(found["first"], 2 * given.sum(0))


def test_arrays_between_the_addresses_of_their_dtype() -> None:
    """Compiled code may count on alignment."""
    x = dg.placeholder("x", ("n",))
    step = dg.compile(x * 2, backend="numpy")
    given = np.arange(9, dtype=np.uint8)[1:].view("f4")
    assert not given.flags.aligned
    (taken,), _ = step._feeds.take((), {"x": given})
    assert taken.flags.aligned
    np.testing.assert_array_equal(taken, given)
    np.testing.assert_array_equal(step(x=given), given * 2)
