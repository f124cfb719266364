"""What a step is: forms of results, out=, memory, explanations, stages, errors inside a call."""

from __future__ import annotations

import gc
import linecache
import pickle
import re
import time
import traceback
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aid import spoil

import deepgraph as dg
from deepgraph.errors import DomainError

LARGE = 1 << 17  # elements of float32: results of this size come from blocks


@pytest.fixture
def x() -> dg.Expr:
    return dg.placeholder("x", ("n",))


def test_results_have_the_form_of_the_outputs(x: dg.Expr) -> None:
    def call(outputs: Any) -> Any:
        return dg.compile(outputs, backend="numpy")(x=[1.0, 2.0])

    a, b = x + 1, x * 2
    one, pair, listed, named = call(a), call((a, b)), call([a, b]), call({"a": a, "b": b})
    assert isinstance(one, np.ndarray)
    assert [type(pair), type(listed), type(named)] == [tuple, list, dict]
    assert list(named) == ["a", "b"]
    for found in (one, pair[0], listed[0], named["a"]):
        np.testing.assert_array_equal(found, [2, 3])
    for found in (pair[1], listed[1], named["b"]):
        np.testing.assert_array_equal(found, [2, 4])
    assert call([a]) == [pytest.approx([2, 3])]
    nothing = [dg.compile(outputs, backend="numpy")() for outputs in ((), [], {})]
    assert nothing == [(), [], {}]


def test_outputs_that_are_none() -> None:
    with pytest.raises(dg.DTypeError, match="outputs are an expression, a sequence or a dict: got"):
        dg.compile(3)
    with pytest.raises(dg.DTypeError, match="output output1 is not an expression: got 'y'"):
        dg.compile([dg.placeholder("x"), "y"])


@pytest.mark.parametrize("n", [3, LARGE])
def test_results_alias_nothing(x: dg.Expr, n: int) -> None:
    p = dg.Parameter(np.zeros(n, np.float32), name="p")
    step = dg.compile({"x": x, "p": p, "a": x + 1, "b": x + 1, "v": (x * 2)[::-1]}, backend="numpy")
    given = np.arange(n, dtype=np.float32)
    first, second = step(x=given), step(x=given)
    arrays = [given, p.storage(), *first.values(), *second.values()]
    for k, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[:k])
    for found in first.values():
        found[...] = np.nan
    for name, wanted in {"x": given, "a": given + 1, "b": given + 1, "v": given[::-1] * 2}.items():
        np.testing.assert_array_equal(second[name], wanted)
    np.testing.assert_array_equal(p.value, 0)


@pytest.mark.parametrize("n", [3, LARGE])
def test_results_that_are_kept_stay_as_they_are(x: dg.Expr, n: int) -> None:
    step = dg.compile(x + 1, backend="numpy")
    kept = []
    for k in range(1000 if n < 1000 else 60):
        found = step(x=np.full(n, k, np.float32))
        kept.append((k, found[: n // 2 + 1]))  # a view keeps its block too
    for k, view in kept:
        assert view[0] == view[-1] == k + 1


def test_memory_of_results_is_used_again(x: dg.Expr) -> None:
    step = dg.compile([x + 1, x + 2], backend="numpy")
    given = np.zeros(LARGE, np.float32)
    for _ in range(20):
        found = step(x=given)
        del found
    assert step.memory["results"] == 2 * given.nbytes
    held = [step(x=given) for _ in range(5)]
    assert step.memory["results"] >= 10 * given.nbytes
    del held
    for n in (LARGE, 2 * LARGE, LARGE):  # blocks of other sizes do not pile up
        for _ in range(3):
            step(x=np.zeros(n, np.float32))
    assert step.memory["results"] <= 8 * given.nbytes


def test_sizes_change_from_call_to_call(x: dg.Expr) -> None:
    step = dg.compile(dg.tanh(x) * dg.sum(x) + 1, backend="numpy")
    for _ in range(3):
        for n in range(1, 40):  # more than a step keeps memory for
            given = np.linspace(0, 1, n, dtype=np.float32)
            found = step(x=given)
            assert found.shape == (n,)
            np.testing.assert_allclose(found, np.tanh(given) * given.sum() + 1, rtol=1e-5)
    assert len([k for k in step.memory if k.startswith("arena")]) <= 16


def test_calls_leak_nothing(x: dg.Expr) -> None:
    p = dg.Parameter(np.float32(0), name="p")
    step = dg.compile({"y": dg.tanh(x) + p}, {p: p + 1}, backend="numpy")
    given = [np.ones(n, np.float32) for n in range(1, 30)]

    def calls() -> None:
        for k in range(35 * len(given)):
            step(x=given[k % len(given)])

    held: list[int] = []
    tracemalloc.start()
    try:
        for _ in range(5):
            calls()
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    grown = [b - a for a, b in pairwise(held)]
    assert min(grown) < 5_000, grown  # caches of the process may still fill in some of the rounds


def test_a_step_leaves_nothing_behind(x: dg.Expr) -> None:
    gc.collect()
    before = set(linecache.cache)
    step: Any = dg.compile(dg.tanh(x), backend="numpy")
    step(x=[1.0])
    assert any("tanh(" in line for line in linecache.getlines(*(set(linecache.cache) - before)))
    del step
    gc.collect()
    assert not {name for name in linecache.cache if name.startswith("<deepgraph")} - before


class TestOut:
    def test_results_go_into_given_arrays(self, x: dg.Expr) -> None:
        given = np.array([1, 2], np.float32)
        for outputs, out in (
            (x + 1, np.empty(2, np.float32)),
            ([x + 1], [np.empty(2, np.float32)]),
            ({"a": x + 1}, {"a": np.empty(2, np.float32)}),
        ):
            found = dg.compile(outputs, backend="numpy")(x=given, out=out)
            array = out if isinstance(out, np.ndarray) else out[0 if isinstance(out, list) else "a"]
            result = found if found is array else found[0 if isinstance(out, list) else "a"]
            assert result is array
            np.testing.assert_array_equal(array, [2, 3])

    def test_arrays_that_do_not_fit(self, x: dg.Expr) -> None:
        step = dg.compile({"a": x + 1, "b": x + 2}, backend="numpy")
        given, good = np.ones(2, np.float32), np.empty(2, np.float32)
        frozen = np.empty(2, np.float32)
        frozen.flags.writeable = False
        for bad, error, text in (
            (np.empty(2), dg.DTypeError, "a has another dtype: wants float32, got float64"),
            ([0, 0], dg.DTypeError, "a has another dtype: wants float32, got list"),
            (np.empty(3, np.float32), dg.ShapeError, r"wants \(2,\), got \(3,\)"),
            (np.empty(4, np.float32)[::2], dg.FeedError, "must be contiguous, aligned and writ"),
            (np.empty(9, np.int8)[1:].view("f4"), dg.FeedError, "must be contiguous, aligned and"),
            (frozen, dg.FeedError, "must be contiguous, aligned and writable"),
            (good, dg.FeedError, "out= for b shares memory with a feed or another output"),
            (given, dg.FeedError, "out= for a shares memory with a feed"),
        ):
            with pytest.raises(error, match=text):
                step(x=given, out={"a": bad, "b": good})
        for few in ({"a": good}, {"a": good, "c": good}, [good], good, 3):
            with pytest.raises(dg.FeedError, match="out= needs an array for each output: a, b"):
                step(x=given, out=few)
        np.testing.assert_array_equal(given, 1)

    def test_an_overlap_of_parts(self) -> None:
        x = dg.placeholder("x", (4,))
        memory = np.arange(6, dtype=np.float32)
        with pytest.raises(dg.FeedError, match="out= for output shares memory"):
            dg.compile(x * 2, backend="numpy")(x=memory[:4], out=memory[2:])
        np.testing.assert_array_equal(memory, np.arange(6))


class TestUpdates:
    def test_all_at_once(self) -> None:
        p, q = (dg.Parameter(v, name=n) for v, n in ((1.0, "p"), (2.0, "q")))
        step = dg.compile(p + q * 10, {p: q, q: p}, backend="numpy")
        assert [float(step()) for _ in range(3)] == [21, 12, 21]
        assert (p.value, q.value) == (2, 1)

    def test_only_parameters(self, x: dg.Expr) -> None:
        with pytest.raises(dg.GraphError, match="updates are of parameters: got placeholder x"):
            dg.compile(x, {x: x}, backend="numpy")

    def test_another_type(self) -> None:
        p = dg.Parameter(np.zeros(2, np.float32), name="p")
        with pytest.raises(dg.ShapeError, match="an update has its parameter's type: parameter p"):
            dg.compile((), {p: dg.sum(p)}, backend="numpy")


class TestFailure:
    """An error inside a call says which kernel, which operation and which line; nothing is lost."""

    def check(self, error: BaseException, op: str, line: str) -> None:
        (note,) = error.__notes__
        assert re.match(rf"({op}), in kernel \d+ \(", note)
        assert f"{Path(__file__).name}:" in note
        assert line in note
        shown = "".join(traceback.format_exception(error))
        assert "^^^" in shown[shown.index(note[:20]) :]

    def test_a_bad_index(self) -> None:
        x = dg.placeholder("x", ("n", 2))
        i = dg.placeholder("i", ("m",), "int64")
        w = dg.Parameter(np.ones((3, 2), np.float32), name="w")
        rows = dg.take(x @ dg.tanh(w).T, i, axis=0)  # the line at fault
        loss = dg.sum(rows)
        step = dg.compile(loss, {w: w - dg.grad(loss, w)}, backend="numpy")
        with pytest.raises(IndexError, match="index 7 is out of range: axis 0 has") as caught:
            step(x=np.ones((4, 2), np.float32), i=[1, 7])
        self.check(caught.value, "take|scatter_add", "the line at fault")
        np.testing.assert_array_equal(w.value, 1)
        assert step(x=np.ones((4, 2), np.float32), i=[1, 3]) > 0  # and it runs on

    def test_inside_a_fused_kernel(self, x: dg.Expr, monkeypatch: pytest.MonkeyPatch) -> None:
        doubled = x * 2
        total = dg.sum(doubled)  # the fold
        step = dg.compile(dg.tanh(total), backend="numpy")
        step(x=[1.0])
        spoil(step, "add", monkeypatch)
        with pytest.raises(AttributeError, match="reduce") as caught:
            step(x=[1.0])
        self.check(caught.value, "sum", "# the fold")

    def test_inside_a_block_on_a_thread(
        self, monkeypatch: pytest.MonkeyPatch, use_threads: Callable[[int], None]
    ) -> None:
        use_threads(2)
        x = dg.placeholder("x", ("n", 1024))
        step = dg.compile(dg.tanh(x) * dg.exp(x), backend="numpy")  # both of them
        given = np.ones((1500, 1024), np.float32)
        step(x=given)
        def broken(*args: Any, **kwargs: Any) -> Any:
            raise FloatingPointError("no exp today")

        (run,) = (ready.run for ready in step._ready.values())
        scope = run.__globals__  # type: ignore[attr-defined]
        monkeypatch.setitem(scope, "exp", broken)
        with pytest.raises(FloatingPointError, match="no exp today") as caught:
            step(x=given)
        self.check(caught.value, "exp", "# both of them")

    def test_what_no_kernel_raises_stays_as_it_is(self, x: dg.Expr) -> None:
        with pytest.raises(dg.FeedError) as caught:
            dg.compile(x + 1, backend="numpy")(y=1)
        assert not hasattr(caught.value, "__notes__")


class TestExplain:
    def test_where_things_are(self) -> None:
        x = dg.placeholder("x", ("n", 3))
        w = dg.Parameter(np.ones((3, 3), np.float32), name="w")
        hidden = dg.tanh(x @ w)
        kept = hidden * 2
        view = dg.permute_dims(kept, (1, 0))
        loss = dg.sum(view @ x)
        step = dg.compile({"loss": loss}, {w: w - dg.grad(loss, w)}, backend="numpy")
        def says(node: dg.Expr, *texts: str) -> None:
            found = step.explain(node)
            for text in texts:
                assert text in found, found
            assert Path(__file__).name in found

        number = {n: k for k, kernel in enumerate(step.kernels) for n in kernel.nodes}
        says(x, "placeholder x", "it is fed; kernels 0, ", "read it")
        says(w, "its own storage holds it", f"; kernel {len(step.kernels) - 1} computes its new")
        says(kept, f"kernel {number[kept]} (", "into slot ")
        says(view, "a view of multiply", "moves no bytes", "reads it")
        says(loss, "into output loss")

    def test_inside_a_kernel(self, x: dg.Expr) -> None:
        inner = dg.tanh(x)
        step = dg.compile(dg.exp(inner), backend="numpy")
        assert "kernel 0 (tanh_exp) computes it and keeps it to itself" in step.explain(inner)

    def test_merged_and_passed_over(self, x: dg.Expr) -> None:
        first, second = dg.tanh(x), dg.tanh(x)
        marked = dg.stop_gradient(first)
        step = dg.compile(marked * second, backend="numpy")
        texts = [step.explain(n) for n in (first, second)]
        assert any("share made it one with the one from" in t for t in texts), texts
        assert re.search("(simplify|prune) made it tanh", step.explain(marked))

    def test_computed_while_compiling(self, x: dg.Expr) -> None:
        three = dg.sqrt(dg.asarray(9.0))
        step = dg.compile(x * three, backend="numpy")
        assert "fold computed it: it is the constant 3.0" in step.explain(three)

    def test_removed(self) -> None:
        p, q = (dg.Parameter(np.float32(1), name=n) for n in "pq")
        positive = dg.exp(q)
        step = dg.compile(p + 1, {p: p + 2, q: dg.stop_gradient(q)}, backend="numpy")
        assert step.explain(p).endswith("computes its new value")
        text = step.explain(q)
        assert "its own storage holds it" in text or "removed it" in text
        with pytest.raises(dg.GraphError, match="explain: not a node of this step: exp"):
            step.explain(positive)
        with pytest.raises(dg.GraphError, match="explain: not a node of this step: 3"):
            step.explain(3)  # type: ignore[arg-type]

    def test_gone_with_what_read_it(self, x: dg.Expr) -> None:
        three = dg.tanh(x) * 3
        step = dg.compile(three + three, backend="numpy")  # six times the tangent
        assert step.explain(three).endswith("simplify removed it: nothing needs it")

    def test_written_in_smaller_operations(self) -> None:
        x = dg.placeholder("x", ("n", 3))
        y = dg.softmax(x, axis=1)
        step = dg.compile(y, backend="numpy")
        assert "kernel 0" in step.explain(y)

    def test_every_declared_node_has_an_answer(self) -> None:
        from graphs import random_graph

        for seed in range(20):
            outputs, updates, _ = random_graph(seed)
            step = dg.compile(outputs, updates, backend="numpy")
            for node in step.graph.nodes:
                assert step.explain(node).startswith(repr(node))


class TestMemory:
    def test_what_is_allocated(self) -> None:
        x = dg.placeholder("x", ("n", 64))
        step = dg.compile(dg.sum(dg.softmax(x @ dg.permute_dims(x, (1, 0))) @ x), backend="numpy")
        assert step.memory == {"results": 0}
        step(x=np.ones((10, 64), np.float32))
        step(x=np.ones((20, 64), np.float32))
        assert step.memory == {
            "arena n=10": step.plan.bind({"n": 10}).peak_bytes,
            "arena n=20": step.plan.bind({"n": 20}).peak_bytes,
            "results": 0,
        }

    def test_predicted_is_allocated(self) -> None:
        n = 512
        x = dg.placeholder("x", (n, n))
        step = dg.compile(dg.sum(dg.tanh(x @ x) @ x), backend="numpy")
        given = np.ones((n, n), np.float32)
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            step(x=given)
            taken = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
        predicted = step.plan.bind({}).peak_bytes
        assert predicted <= taken <= predicted + 50_000
        assert step.plan.peak_bytes <= step.plan.unplanned_bytes


class TestStages:
    def test_names_levels_and_times(self, x: dg.Expr) -> None:
        start = time.perf_counter()
        step = dg.compile(dg.softmax(x), backend="numpy")
        seconds = time.perf_counter() - start
        levels = {name.split(".")[0]: stage.level for name, stage in step.stages.items()}
        assert levels["declared"] == levels["share"] == levels["lower"] == "graph"
        assert levels["fuse"] == levels["order"] == "schedule"
        assert levels["place"] == "plan"
        assert step.stages["declared"].value is step.graph
        assert step.stages["place"].value is step.plan
        assert 0 < sum(s.seconds for s in step.stages.values()) < seconds
        for stage in step.stages.values():
            stage.value.verify()
            assert stage.value.render()

    def test_left_out(self, x: dg.Expr) -> None:
        step = dg.compile(dg.exp(dg.tanh(x)), backend="numpy", without=["fuse"])
        assert len(step.kernels) == 2
        np.testing.assert_allclose(step(x=[1.0]), np.exp(np.tanh(1)), rtol=1e-6)
        with pytest.raises(dg.GraphError, match="no pass 'fusion' to leave out: there are share"):
            dg.compile(x, without=["fusion"])

    def test_dump(self, x: dg.Expr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = tmp_path / "deep" / "dump"
        monkeypatch.setenv("DEEPGRAPH_DUMP", str(folder))
        step = dg.compile(dg.tanh(x), backend="numpy")
        files = sorted(folder.iterdir())
        assert [f.name for f in files] == [
            f"{k:02}-{name}.txt" for k, name in enumerate(step.stages)
        ]
        for file, stage in zip(files, step.stages.values(), strict=True):
            head, text = file.read_text().split("\n", 1)
            assert head.startswith(f"# {stage.name}: {stage.level}, ")
            assert text == stage.value.render() + "\n"


def test_source_shows_the_user_s_lines(x: dg.Expr) -> None:
    step = dg.compile(dg.tanh(x) * 3, backend="numpy")  # a line to be shown
    assert "# a line to be shown" in str(step.source)
    compile(str(step.source), "source", "exec")


def test_repr(x: dg.Expr) -> None:
    step = dg.compile({"y": dg.sum(x)}, backend="numpy")
    assert repr(step) == "<step (x: float32[n]) -> (y: float32[]), 1 kernels, numpy>"


@pytest.mark.parametrize("debug", [None, "trace", "nan"])
def test_pickle(x: dg.Expr, debug: str | None) -> None:
    p = dg.Parameter(np.float32(2), name="p")
    step = dg.compile(
        {"y": dg.print(x * p, label="y")}, {p: p + 1}, inputs=[x], backend="numpy", debug=debug
    )
    step([1.0])
    again = pickle.loads(pickle.dumps(step))
    np.testing.assert_array_equal(again([2.0])["y"], [6])
    np.testing.assert_array_equal(again([2.0])["y"], [8])
    assert p.value == 3  # the copy has parameters of its own
    np.testing.assert_array_equal(step([2.0])["y"], [6])


def test_debug_modes_that_do_not_exist(x: dg.Expr) -> None:
    with pytest.raises(dg.GraphError, match="no debug mode is called 'all': there are trace, nan"):
        dg.compile(x, backend="numpy", debug="all")
    with pytest.raises(DomainError, match="prints every so many times, 1 or more: got 0"):
        dg.print(x, every=0)


def test_a_small_result_does_not_hold_a_large_block() -> None:
    x = dg.placeholder("x", ("n",))
    step = dg.compile({"small": x[:100_000] * 2, "big": x * 3}, backend="numpy")
    array = np.ones(2_000_000, "float32")
    kept = [step(x=array)["small"] for _ in range(12)]
    assert step.memory["results"] <= sum(k.nbytes for k in kept) + 3 * array.nbytes


def test_a_placeholder_may_be_called_self() -> None:
    x = dg.placeholder("self", ())
    assert float(dg.compile(x * 2, backend="numpy")(self=1.5)) == 3.0
