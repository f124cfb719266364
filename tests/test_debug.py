"""Debug modes: a faulty pass or backend is blamed by name, and what makes NaN is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import random_graph

import deepgraph as dg
from deepgraph import passes
from deepgraph.backends import numpylike
from deepgraph.backends.interpreter import run_plan, run_schedule
from deepgraph.backends.reference import evaluate
from deepgraph.compare import compare
from deepgraph.debug import NotFiniteError, PassError
from deepgraph.expr import OPS
from deepgraph.graph import Graph, rewrite
from deepgraph.plan import Plan
from deepgraph.schedule import Schedule

Pass = Callable[[Any], Any]
ONES = np.ones((4, 3), np.float32)


def plug(monkeypatch: pytest.MonkeyPatch, after: str, name: str, faulty: Pass) -> None:
    """Run one more pass right after another."""
    real = passes.pipeline

    def pipeline(*args: Any) -> dict[str, Pass]:
        found: dict[str, Pass] = {}
        for key, pass_ in real(*args).items():
            found[key] = pass_
            if key == after:
                found[name] = faulty
        return found

    monkeypatch.setattr(passes, "pipeline", pipeline)


def net(debug: str | None) -> tuple[dg.Step, dg.Parameter]:
    x = dg.placeholder("x", ("n", 3))
    w = dg.Parameter(np.full((3, 2), 0.5, np.float32), name="w")
    hidden = dg.tanh(x @ w)
    loss = dg.sum(hidden * hidden)  # the loss
    updates = {w: w - 0.1 * dg.grad(loss, w)}
    return dg.compile({"loss": loss}, updates, backend="numpy", debug=debug), w


def replacing(name: str, rule: Callable[[dg.Expr], dg.Expr | None]) -> Pass:
    return lambda graph: rewrite(graph, {name: [rule]}, via="faulty")


def blamed(step: dg.Step, *texts: str, feed: Any = ONES) -> PassError:
    with pytest.raises(PassError) as caught:
        step(x=feed)
    for text in texts:
        assert text in str(caught.value), str(caught.value)
    return caught.value


class TestTrace:
    def test_a_sound_step_runs_as_ever(self) -> None:
        (step, w), (plain, v) = net("trace"), net(None)
        for n in (4, 4, 1, 0, 7):
            given = np.linspace(-1, 1, n * 3, dtype=np.float32).reshape(n, 3)
            assert step(x=given) == plain(x=given)
            np.testing.assert_array_equal(w.value, v.value)

    def test_a_faulty_rewrite(self, monkeypatch: pytest.MonkeyPatch) -> None:
        plug(monkeypatch, "simplify", "quicken", replacing("tanh", lambda x: OPS["sin"](*x.inputs)))
        step, w = net("trace")
        wanted = 8 * np.tanh(1.5) ** 2
        error = blamed(
            step, "pass quicken changed output loss: max difference ",
            f"instead of {np.float32(wanted)}"[:16], "allowed", "loss = dg.sum", "^^^^",
            Path(__file__).name,
        )  # fmt: skip
        assert len(str(error).splitlines()) <= 12
        np.testing.assert_array_equal(w.value, 0.5)

    def test_a_faulty_update(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def lose(graph: Graph) -> Graph:
            return replace(graph, updates={p: p for p in graph.updates})

        plug(monkeypatch, "share", "lose", lose)
        texts = ("pass lose changed the new value of w: max difference ", "updates = ")
        blamed(net("trace")[0], *texts)

    def test_a_lost_output(self, monkeypatch: pytest.MonkeyPatch) -> None:
        plug(monkeypatch, "share", "lose", lambda graph: replace(graph, outputs={}))
        blamed(net("trace")[0], "pass lose lost output loss")

    def test_a_dropped_update_that_changes_nothing_is_sound(self) -> None:
        p = dg.Parameter(np.float32(1), name="p")
        step = dg.compile(p + 1, {p: dg.stop_gradient(p)}, backend="numpy", debug="trace")
        assert step() == 2

    def test_a_faulty_schedule(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def swap(schedule: Schedule) -> Schedule:
            """Arguments of a subtraction the wrong way round."""
            kernels = []
            for kernel in schedule.kernels:
                body = tuple(
                    replace(i, args=i.args[::-1]) if i.node.op.name == "subtract" else i
                    for i in kernel.body
                )
                kernels.append(replace(kernel, body=body))
            return replace(schedule, kernels=tuple(kernels))

        plug(monkeypatch, "fuse", "swap", swap)
        blamed(net("trace")[0], "pass swap changed the new value of w")

    def test_a_faulty_plan(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def crowd(plan: Plan) -> Plan:
            """All values in one slot."""
            homes = {v: replace(h, key=0) if h.kind == "slot" else h for v, h in plan.homes.items()}
            return replace(plan, homes=homes)

        plug(monkeypatch, "place", "crowd", crowd)
        monkeypatch.setattr(Plan, "verify", lambda plan: None)  # or that would find it first
        x = dg.placeholder("x", ("n", 3))
        one, two = (x @ dg.asarray(np.full((3, 3), v, np.float32)) for v in (1, 2))
        step = dg.compile(dg.sum(one * two), backend="numpy", debug="trace")
        blamed(step, "pass crowd changed output output: max difference ")

    def test_a_pass_after_which_nothing_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def bad(x: dg.Expr) -> dg.Expr:
            rows = x.inputs[0]
            last = dg.sum(dg.zeros_like(rows, dtype="int64"), axis=0) + 9
            return dg.exp(dg.take(rows, last, axis=1))

        plug(monkeypatch, "prune", "pick", replacing("tanh", bad))
        error = blamed(net("trace")[0], "pass pick left what cannot run: index 9 is out of range")
        assert isinstance(error.__cause__, IndexError)

    def test_a_faulty_backend(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real = numpylike.Driver._text

        def text(driver: Any) -> str:
            return real(driver).replace("np.matmul(x, w,", "np.matmul(x + 1, w,")

        monkeypatch.setattr(numpylike.Driver, "_text", text)
        step, w = net("trace")
        blamed(step, "backend numpy changed output loss: max difference ")
        np.testing.assert_array_equal(w.value, 0.5)  # though the code ran, and updated it

    def test_the_first_of_two_faulty_passes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        plug(monkeypatch, "share", "one", replacing("tanh", lambda x: OPS["sin"](*x.inputs)))
        plug(monkeypatch, "prune", "two", replacing("sin", lambda x: OPS["cos"](*x.inputs)))
        blamed(net("trace")[0], "pass one changed output loss")

    def test_what_differs_only_for_some_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clip = replacing("tanh", lambda x: dg.clip(x.inputs[0], -9, 9))
        plug(monkeypatch, "share", "sharp", clip)
        x = dg.placeholder("x", ("n",))
        step = dg.compile(dg.tanh(x), backend="numpy", debug="trace")
        step(x=np.zeros(3, np.float32))  # equal there
        blamed(step, "max difference 8 at (1,): 9.0 ", feed=np.array([0, 1e9], np.float32))

    def test_nothing_is_printed_twice(self, capsys: pytest.CaptureFixture[str]) -> None:
        x = dg.placeholder("x", ("n",))
        step = dg.compile(dg.print(x * 2, label="double"), backend="numpy", debug="trace")
        step(x=[1.0])
        assert capsys.readouterr().out.count("double") == 1

    def test_random_draws_are_the_same_everywhere(self) -> None:
        x = dg.placeholder("x", ("n", 3))
        y = dg.sum(dg.dropout(x, 0.5, training=True))
        step = dg.compile(y, backend="numpy", debug="trace")
        assert len({float(step(x=ONES)) for _ in range(5)}) > 1


SEEDS = range(25)


@pytest.mark.parametrize("seed", SEEDS)
def test_schedules_and_plans_mean_what_the_graph_means(seed: int) -> None:
    outputs, updates, feeds = random_graph(seed)
    step = dg.compile(outputs, updates, backend="numpy")
    for n in (1, 5):
        given = feeds(n)
        values: dict[dg.Expr, Any] = {p: given[p.name] for p in step.graph.placeholders}
        values |= {p: p.value for p in step.graph.parameters}  # type: ignore[attr-defined]
        wanted = evaluate(step.graph, values, {"n": n})
        for stage in step.stages.values():
            if stage.level == "graph":
                continue
            run: Any = run_plan if stage.level == "plan" else run_schedule
            found = run(stage.value, values, {"n": n})
            for part, whole in zip(found, wanted, strict=True):
                for key, array in whole.items():
                    assert compare(part[key], array) is None, f"{stage.name} {key}"


class TestNan:
    def guarded(self, f: Callable[[dg.Expr], dg.Expr], **options: Any) -> dg.Step:
        return dg.compile(f(dg.placeholder("x", ("n", 3))), backend="numpy", debug="nan", **options)

    def test_what_is_finite_runs_as_ever(self) -> None:
        (step, w), (plain, v) = net("nan"), net(None)
        for _ in range(3):
            assert step(x=ONES) == plain(x=ONES)
        np.testing.assert_array_equal(w.value, v.value)

    def test_the_node_its_inputs_and_its_line(self) -> None:
        def f(x: dg.Expr) -> dg.Expr:
            shifted = x - 2
            logs = dg.log(shifted)  # here
            return dg.sum(dg.exp(logs) * 2)

        given = ONES.copy()
        given[0] = [3, 4, 2]
        with pytest.raises(NotFiniteError) as caught:
            self.guarded(f)(x=given)
        text = str(caught.value)
        assert text.startswith("log: not finite: 9 nan and 1 inf of 12 values\n  at ")
        assert "logs = dg.log(shifted)  # here" in text
        assert text.splitlines()[3].strip() == "^" * len("dg.log(shifted)")
        assert "input 0 is subtract: float32[n, 3] from " in text
        assert "(4, 3) from -1.0 to 2.0" in text
        assert "in kernel 0 (" in text
        assert len(text.splitlines()) <= 12
        assert isinstance(caught.value, FloatingPointError)
        assert caught.value.node.op.name == "log"

    def test_its_place_in_the_drawing(self, tmp_path: Path) -> None:
        with pytest.raises(NotFiniteError) as caught:
            self.guarded(lambda x: dg.sum(dg.sqrt(x[::-1]) + dg.exp(dg.sqrt(x - 9))))(x=ONES)
        caught.value.save_dot(tmp_path / "step.dot")
        dot = (tmp_path / "step.dot").read_text(encoding="utf-8")
        (marked,) = [line for line in dot.splitlines() if "#dc2626" in line]
        assert 'label="sqrt' in marked
        assert dot.count('label="sqrt') == 2
        number = marked.split('"')[1]
        ((subtraction,),) = [
            [line.split('"')[1] for line in dot.splitlines() if 'label="subtract' in line]
        ]
        assert f'"{subtraction}" -> "{number}"' in dot
        caught.value.save_svg(tmp_path / "step.svg")
        assert "#dc2626" in (tmp_path / "step.svg").read_text(encoding="utf-8")

    def test_parameters_stay_as_they_were(self) -> None:
        x = dg.placeholder("x", ("n",))
        p = dg.Parameter(np.zeros(2, np.float32), name="p")
        q = dg.Parameter(np.zeros(2, np.float32), name="q")
        step = dg.compile((), {p: p + 1, q: q + dg.sum(dg.log(x))}, backend="numpy", debug="nan")
        step(x=[1.0])
        with pytest.raises(NotFiniteError):
            step(x=[-1.0])
        np.testing.assert_array_equal([p.value, q.value], [[1, 1], [0, 0]])
        step(x=[1.0])
        np.testing.assert_array_equal(p.value, 2)

    def test_gradients_are_guarded_too(self) -> None:
        x = dg.placeholder("x", ("n",))
        loss = dg.sum(dg.sqrt(x))
        step = dg.compile([loss, dg.grad(loss, x)], backend="numpy", debug="nan")
        with pytest.raises(NotFiniteError, match="not finite: 1 inf of 2 values") as caught:
            step(x=[4.0, 0.0])
        assert "loss = dg.sum(dg.sqrt(x))" in str(caught.value)

    def test_what_was_not_finite_before_is_passed_on(self) -> None:
        step = self.guarded(lambda x: dg.sum(x * 2))
        assert np.isnan(step(x=ONES * np.float32(np.nan)))
        assert np.isinf(step(x=ONES * np.float32(np.inf)))

    def test_nan_of_infinities(self) -> None:
        given = ONES.copy()
        given[0, :2] = [np.inf, -np.inf]
        with pytest.raises(NotFiniteError, match="sum: not finite: 1 nan of 1 values"):
            self.guarded(dg.sum)(x=given)

    def test_overflow(self) -> None:
        with pytest.raises(NotFiniteError, match=r"exp: not finite: 12 inf of 12"):
            self.guarded(dg.exp)(x=ONES * 100)
        with pytest.raises(NotFiniteError, match=r"all 3e\+38"):
            self.guarded(lambda x: dg.sum(x, axis=0))(x=ONES * np.float32(3e38))

    def test_a_constant_infinity_is_meant(self) -> None:
        step = self.guarded(lambda x: dg.max(dg.where(x > 0, x, -np.inf), axis=1))
        np.testing.assert_array_equal(step(x=ONES), 1)

    def test_calls_are_guarded(self) -> None:
        with pytest.raises(NotFiniteError, match=r"matmul: not finite: 9 inf of 9 values"):
            self.guarded(lambda x: dg.permute_dims(x, (1, 0)) @ x)(x=ONES * np.float32(1e20))

    def test_whole_numbers_are_left_alone(self) -> None:
        assert self.guarded(lambda x: dg.sum(x.astype("int32") * 3))(x=ONES) == 36


class TestCompare:
    def test_within_rounding(self) -> None:
        for dtype, apart in (("float16", 1e-3), ("float32", 1e-6), ("float64", 1e-11)):
            a = np.linspace(1, 2, 5).astype(dtype)
            assert compare((a * (1 + apart)).astype(dtype), a) is None
            found = compare(a + np.dtype(dtype).type(0.1), a)
            assert found is not None
            assert found.largest == pytest.approx(0.1, rel=0.05)

    def test_the_worst_place(self) -> None:
        a = np.zeros((2, 3))
        b = a.copy()
        b[0, 1], b[1, 2] = 0.5, -2
        found = compare(b, a)
        assert found is not None
        assert (found.place, found.found, found.wanted, found.largest) == ((1, 2), -2, 0, 2)
        assert str(found) == "max difference 2 at (1, 2): -2.0 instead of 0.0, allowed 1e-12"

    def test_small_beside_large(self) -> None:
        large = np.array([1e8, 1.0], np.float32)
        assert compare(large + np.array([0, 1], np.float32), large) is None  # a sum's rounding
        assert compare(large, large, rtol=0) is None

    @pytest.mark.parametrize(
        ("found", "wanted", "same"),
        [
            (np.nan, np.nan, True), (np.inf, np.inf, True), (np.inf, -np.inf, False),
            (1.0, np.nan, False), (np.nan, 1.0, False), (np.inf, 1e308, False), (0.0, -0.0, True),
        ],
    )  # fmt: skip
    def test_what_is_not_finite(self, found: float, wanted: float, same: bool) -> None:
        difference = compare(np.array([found, 1.0]), np.array([wanted, 1.0]))
        assert (difference is None) == same
        if difference is not None:
            assert difference.place == (0,)
            assert difference.largest == np.inf

    def test_whole_numbers_and_booleans_exactly(self) -> None:
        large = np.array([2**62], np.int64)
        assert compare(large, large) is None
        assert compare(large + 1, large) is not None
        assert compare(np.array([True]), np.array([False])) is not None
        assert compare(np.array([], np.float32), np.array([], np.float32)) is None


BIG = 1e30  # its square overflows


@pytest.mark.parametrize(
    "f",
    [
        dg.sigmoid, dg.silu, dg.softplus, dg.gelu, lambda x: dg.gelu(x, approximate="tanh"),
        lambda x: dg.logaddexp(x, -x), dg.log_sigmoid, dg.softmax, dg.log_softmax,
        lambda x: 1 / (1 + dg.exp(-x)), lambda x: dg.log(1 + dg.exp(x)),
    ],
)  # fmt: skip
def test_what_overflows_inside_an_operation_is_no_fault(f: Callable[[dg.Expr], dg.Expr]) -> None:
    x = dg.placeholder("x", ("n", 3))
    step = dg.compile(f(x), backend="numpy", debug="nan")
    assert np.isfinite(step(x=[[-BIG, 0.0, BIG], [-200.0, 200.0, 1.0]])).all()


def test_what_an_operation_gives_is_its_own_fault() -> None:
    x = dg.placeholder("x", ("n",))
    y = dg.leaky_relu(x, 3.0)  # the fault
    for outputs in (y, 1 / y, y * 2):
        step = dg.compile(outputs, backend="numpy", debug="nan")
        assert np.isfinite(step(x=[1.0, -2.0])).all()
        with pytest.raises(NotFiniteError, match="not finite: 1 inf") as caught:
            step(x=[1.0, -2e38])
        assert "# the fault" in str(caught.value)
    step = dg.compile(dg.exp(x * 2) - 1, backend="numpy", debug="nan", without="simplify")
    with pytest.raises(NotFiniteError, match="exp: not finite"):
        step(x=[400.0])
