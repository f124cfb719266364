"""Compiled parts called from Python: their memory, their threads, and processes that fork."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from deepgraph.backends import runtime, toolchain
from deepgraph.config import threads as asked

pytestmark = pytest.mark.skipif(toolchain.missing() is not None, reason="no C compiler here")

# Each round a share adds to its own number the one its neighbour had; `at` holds feeds, outputs
# and two rows of scratch. A stage that begins before the last one's end gives wrong sums.
PARTS = """
#include "team.h"

static void round_(dg_call *call, int stage, int me, int count)
{
    int64_t *given = (int64_t *)call->at[0], *out = (int64_t *)call->at[1];
    int64_t *before = (int64_t *)call->at[2 + stage % 2], *row = (int64_t *)call->at[3 - stage % 2];
    row[me] = stage ? before[me] + before[(me + 1) % count] : given[me];
    out[me] = row[me];
}

#define ROUNDS(many) const dg_part rounds##many = {many + 1, round_};
ROUNDS(1) ROUNDS(10) ROUNDS(20) ROUNDS(30) ROUNDS(40) ROUNDS(50) ROUNDS(2000)

static void late_(dg_call *call, int stage, int me, int count)  /* others wait until they sleep */
{
    volatile int64_t idle = 0;
    for (int64_t k = 0; stage == 0 && me == 0 && k < call->size[0]; k++)
        idle += k;
    if (stage == 1)
        ((int64_t *)call->at[0])[me] = me + 1;
    (void)count;
}

const dg_part late = {2, late_};

static void check_(dg_call *call, int stage, int me, int count)
{
    int64_t n = call->size[0], *given = (int64_t *)call->at[0];
    for (int64_t k = me; k < n && stage == 0; k += count)
        if (given[k] >= 10)
            dg_fault(call, 7, given[k], 10);
    if (stage == 1)
        given[me] = -1;
}

const dg_part check = {2, check_};

static void nothing_(dg_call *call, int stage, int me, int count)
{
    (void)call, (void)stage, (void)me, (void)count;
}

const dg_part nothing = {1, nothing_};

static void scaled_(dg_call *call, int stage, int me, int count)  /* a parameter counts the calls */
{
    float *x = (float *)call->at[0], *y = (float *)call->at[2];
    int64_t by = *(int64_t *)call->at[1];
    for (int64_t k = me; k < call->size[0]; k += count)
        y[k] = x[k] * by;
    if (by < 0)
        dg_fault(call, 3, by, 0);
    else if (me == 0)
        *(int64_t *)call->at[3] += 1;
    (void)stage;
}

const dg_part scaled = {1, scaled_};
"""
THREADS = [1, 2, 3, 8]
MOST = 8
Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def parts() -> ctypes.CDLL:
    """The parts above, compiled."""
    return runtime.load(PARTS)


class Rounds:
    """`rounds` with its memory; what it should give, by NumPy."""

    def __init__(self, parts: ctypes.CDLL, many: int, threads: int, holding: bool = False) -> None:
        self.scratch = np.zeros((2, MOST), np.int64)
        call = runtime.Call(2, [row.ctypes.data for row in self.scratch], [])
        at = runtime.address(parts, f"rounds{many}")
        self.run = call.caller(at, threads=threads, holding=holding)
        self.many, self.threads = many, threads

    def check(self, seed: int) -> None:
        given = np.random.default_rng(seed).integers(0, 100, MOST)
        out = np.zeros(MOST, np.int64)
        assert self.run(given, out) is None
        np.testing.assert_array_equal(out[: self.threads], self.right(given))
        assert not out[self.threads :].any()

    def right(self, given: Array) -> Array:
        row = given[: self.threads].copy()
        for _ in range(self.many):
            row = row + np.roll(row, -1)
        return row


@pytest.mark.parametrize("holding", [False, True])
@pytest.mark.parametrize("threads", THREADS)
def test_threads_meet(threads: int, holding: bool, parts: ctypes.CDLL) -> None:
    rounds = Rounds(parts, 50, threads, holding)
    for seed in range(100):
        rounds.check(seed)


def test_teams_of_any_order_of_sizes(parts: ctypes.CDLL) -> None:
    """A thread that sat out some calls serves the next."""
    made = {threads: Rounds(parts, 20, threads) for threads in range(1, MOST + 1)}
    for seed, threads in enumerate(np.random.default_rng(0).integers(1, MOST + 1, 200)):
        made[int(threads)].check(seed)


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_that_fell_asleep_wake(threads: int, parts: ctypes.CDLL) -> None:
    call = runtime.Call(1, [], [1_000_000])
    late = call.caller(runtime.address(parts, "late"), threads=threads)
    for _ in range(10):
        out = np.zeros(threads, np.int64)
        late(out)
        np.testing.assert_array_equal(out, np.arange(threads) + 1)
        time.sleep(0.001)  # longer than a worker spins for its next call


def test_threads_without_work_sleep(parts: ctypes.CDLL) -> None:
    """Workers between two calls, and those that wait for a late one at a barrier."""
    rounds = Rounds(parts, 1, 4)
    late = runtime.Call(1, [], [50_000_000])
    alone, together = (
        late.caller(runtime.address(parts, "late"), threads=threads) for threads in (1, 4)
    )
    used = []
    for work in (lambda: (rounds.check(0), time.sleep(0.2)), lambda: alone(np.zeros(1, np.int64)),
                 lambda: together(np.zeros(4, np.int64))):  # fmt: skip
        start = time.process_time()
        work()
        used.append(time.process_time() - start)
    idle, one, four = used
    assert idle < 0.02
    assert four < 1.5 * one + 0.02


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_python_threads_at_once(threads: int, parts: ctypes.CDLL) -> None:
    """Those that need the team wait for each other; each has the memory of its own call."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work(k: int) -> None:
        rounds = Rounds(parts, 10 * (k + 1), threads, holding=False)
        for seed in range(200):
            rounds.check(seed)

    try:
        with ThreadPoolExecutor(5) as pool:
            for done in [pool.submit(work, k) for k in range(5)]:
                done.result(60)
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("threads", [1, 2])
def test_other_python_threads_run_meanwhile(threads: int, parts: ctypes.CDLL) -> None:
    call = runtime.Call(1, [], [300_000_000])
    late = call.caller(runtime.address(parts, "late"), threads=threads)
    order: list[str] = []
    started = threading.Event()

    def other() -> None:
        started.wait()
        order.append("other")

    thread = threading.Thread(target=other)
    thread.start()
    started.set()
    late(np.zeros(threads, np.int64))
    order.append("part")
    thread.join()
    assert order == ["other", "part"]


def child_of(work: Callable[[], None]) -> int:
    """Run in a forked child; the status it ends with: 0 if nothing was raised within 20 s."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_child_starts_its_own_threads(threads: int, parts: ctypes.CDLL) -> None:
    rounds = Rounds(parts, 30, threads)

    def work() -> None:
        for seed in range(20):
            rounds.check(seed)
        assert child_of(lambda: rounds.check(1)) == 0  # and its child

    rounds.check(0)
    for _ in range(3):
        assert child_of(work) == 0
        work()


def test_forks_while_threads_run(parts: ctypes.CDLL) -> None:
    """The child has neither the team's threads nor the call that they served."""
    busy, mine = Rounds(parts, 2000, 2), Rounds(parts, 30, 3)
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            busy.check(0)

    other = threading.Thread(target=keep_busy)
    other.start()
    try:
        for seed in range(10):
            assert child_of(lambda seed=seed: mine.check(seed)) == 0  # type: ignore[misc]
            mine.check(seed)
    finally:
        stop.set()
        other.join()


def test_a_child_forked_by_a_thread(parts: ctypes.CDLL) -> None:
    rounds = Rounds(parts, 30, 2)
    rounds.check(0)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(child_of, lambda: rounds.check(1)).result(30) == 0
    rounds.check(2)


HOW: dict[str, dict[str, Any]] = {
    "holding": {"holding": True}, "alone": {}, "together": {"threads": 3, "asked": 2},
}  # fmt: skip


@pytest.fixture(params=HOW)
def how(request: pytest.FixtureRequest, use_threads: Callable[[int], None]) -> str:
    """How a step is called directly, and that many threads asked for."""
    use_threads(2)
    return str(request.param)


class Scaled:
    """`scaled` called directly, over six elements."""

    def __init__(self, parts: ctypes.CDLL, how: str) -> None:
        self.calls = np.zeros((), np.int64)
        self.copies = {"cpu": self.calls}
        self.first, self.lock, self.own = (threading.RLock() for _ in range(3))
        call = runtime.Call(3, [self.calls.ctypes.data], [6])
        feeds = [("x", np.dtype("f4"), (2, 3)), ("by", np.dtype("i8"), ())]
        maker = partial(np.empty, (2, 3), np.dtype("f4"))
        made = call.direct(runtime.address(parts, "scaled"), feeds, [maker],
                           [({"cpu": 0}, self.first), (self.copies, self.lock)], self.own,
                           **HOW[how])  # fmt: skip
        assert made is not None
        self.run = made
        self.x, self.by = np.arange(6, dtype="f4").reshape(2, 3), np.array(3)

    def check(self) -> None:
        before = int(self.calls)
        (y,) = self.run({"by": self.by, "x": self.x}) or ()
        np.testing.assert_array_equal(y, self.x * 3)
        assert self.calls == before + 1
        assert y.base is None


def test_a_step_called_directly(how: str, parts: ctypes.CDLL) -> None:
    scaled = Scaled(parts, how)
    for _ in range(3):
        scaled.check()
    kept = [scaled.run({"x": scaled.x * k, "by": scaled.by}) for k in range(5)]
    for k, found in enumerate(kept):
        assert found is not None
        np.testing.assert_array_equal(found[0], scaled.x * k * 3)


def misaligned(array: Array) -> Array:
    moved = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert moved.flags.c_contiguous
    return moved


class Mine(np.ndarray[Any, Any]):
    """Another class of arrays."""


WRONG: dict[str, Callable[[Array, Array], dict[str, Any]]] = {
    "nothing": lambda x, by: {},
    "missing": lambda x, by: {"x": x},
    "misnamed": lambda x, by: {"x": x, "b": by},
    "extra": lambda x, by: {"x": x, "by": by, "z": x},
    "dtype": lambda x, by: {"x": x.astype("f8"), "by": by},
    "integers": lambda x, by: {"x": x, "by": by.astype("u8")},
    "byte order": lambda x, by: {"x": x.astype(">f4"), "by": by},
    "more": lambda x, by: {"x": x.repeat(2, 0), "by": by},
    "fewer": lambda x, by: {"x": x[:1], "by": by},
    "flat": lambda x, by: {"x": x.reshape(6), "by": by},
    "turned": lambda x, by: {"x": x.reshape(3, 2), "by": by},
    "one dimension": lambda x, by: {"x": x, "by": by.reshape(1)},
    "strided": lambda x, by: {"x": x.repeat(2, 1)[:, ::2], "by": by},
    "columns first": lambda x, by: {"x": np.asfortranarray(x), "by": by},
    "misaligned": lambda x, by: {"x": misaligned(x), "by": by},
    "subclass": lambda x, by: {"x": x.view(Mine), "by": by},
    "list": lambda x, by: {"x": x.tolist(), "by": by},
    "number": lambda x, by: {"x": x, "by": 3},
    "scalar": lambda x, by: {"x": x, "by": by[()]},
    "none": lambda x, by: {"x": None, "by": by},
    "bad index": lambda x, by: {"x": x, "by": np.array(-3)},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_goes_the_long_way(wrong: str, how: str, parts: ctypes.CDLL) -> None:
    scaled = Scaled(parts, how)
    assert scaled.run(WRONG[wrong](scaled.x, scaled.by)) is None
    assert scaled.calls == 0
    scaled.check()


def test_a_parameter_in_use_or_elsewhere(how: str, parts: ctypes.CDLL) -> None:
    scaled = Scaled(parts, how)
    feeds = {"x": scaled.x, "by": scaled.by}
    with ThreadPoolExecutor(1) as other:
        with scaled.lock:
            assert other.submit(scaled.run, feeds).result() is None
        for lock in (scaled.first, scaled.lock, *([scaled.own] * (how != "holding"))):
            assert other.submit(lock.acquire, False).result(), "the lock was not given back"
            assert scaled.run(feeds) is None
            other.submit(lock.release).result()
    scaled.check()
    scaled.copies["another device"] = scaled.calls
    assert scaled.run(feeds) is None
    assert scaled.calls == 1


def test_another_number_of_threads(parts: ctypes.CDLL, use_threads: Callable[[int], None]) -> None:
    use_threads(2)
    made = {how: Scaled(parts, how) for how in HOW}
    for scaled in made.values():
        scaled.check()
    use_threads(3)
    for how, scaled in made.items():
        if how == "together":
            assert scaled.run({"x": scaled.x, "by": scaled.by}) is None
        else:
            scaled.check()
    together = made["together"]
    with ThreadPoolExecutor(1) as other:  # where nobody said how many
        found = other.submit(together.run, {"x": together.x, "by": together.by}).result()
        assert (found is None) == (other.submit(asked).result() != 2)


def test_results_that_cannot_be_made(parts: ctypes.CDLL) -> None:
    lock = threading.RLock()

    def maker() -> Array:
        raise MemoryError

    call = runtime.Call(0, [], [])
    made = [partial(np.empty, 3), maker]
    nothing = runtime.address(parts, "nothing")
    run = call.direct(nothing, [], made, [({"cpu": 0}, lock)], threading.RLock())
    assert run is not None
    assert run({}) is None
    with ThreadPoolExecutor(1) as other:
        assert other.submit(lock.acquire, False).result()


def test_direct_calls_leave_nothing_behind(how: str, parts: ctypes.CDLL) -> None:
    scaled = Scaled(parts, how)
    calls = [{"x": scaled.x, "by": scaled.by}, {"x": scaled.x}, {"x": None, "by": None},
             {"x": scaled.x, "by": np.array(-1)}]  # fmt: skip
    things = [None, True, False, scaled.x, scaled.by, scaled.run, scaled.lock, *calls]
    for feeds in calls:
        scaled.run(feeds)
    gc.collect()
    counts, blocks = [sys.getrefcount(t) for t in things], sys.getallocatedblocks()
    for _ in range(5_000):
        for feeds in calls:
            scaled.run(feeds)
    assert abs(sys.getallocatedblocks() - blocks) < 50
    assert all(abs(sys.getrefcount(t) - n) < 20 for t, n in zip(things, counts, strict=True))
    held = weakref.ref(scaled.lock)
    del scaled, things, calls, feeds
    gc.collect()
    assert held() is None


def test_more_feeds_than_it_takes(parts: ctypes.CDLL) -> None:
    for many, taken in ((32, True), (33, False)):
        feeds = [(f"x{k}", np.dtype("f4"), ()) for k in range(many)]
        call, own = runtime.Call(many, [], []), threading.RLock()
        run = call.direct(runtime.address(parts, "nothing"), feeds, [], [], own)
        assert (run is not None) == taken
        if run is not None:
            given = {name: np.zeros((), dtype) for name, dtype, _ in feeds}
            assert run(given) == []
            assert run(dict(list(given.items())[1:])) is None


@pytest.mark.parametrize("threads", THREADS)
def test_a_bad_index_is_told(threads: int, parts: ctypes.CDLL) -> None:
    given = np.arange(20) % 10
    check = runtime.Call(1, [], [20]).caller(runtime.address(parts, "check"), threads=threads)
    assert check(given) is None
    given[13] = 55
    assert check(given) == (7, 55, 10)
    given[17] = 66
    assert check(given) in {(7, 55, 10), (7, 66, 10)}
    given %= 10
    assert check(given) is None  # a fault is of its call


def test_wrong_numbers_of_arrays(parts: ctypes.CDLL) -> None:
    call = runtime.Call(2, [], [])
    nothing = runtime.address(parts, "nothing")
    for taken in (0, 1, 2):
        run = call.caller(nothing, taken)
        arrays = [np.zeros(1)] * taken
        assert run(*arrays) is None
        with pytest.raises(TypeError, match=f"takes {taken} arrays: got {taken + 1}"):
            run(*arrays, np.zeros(1))
        with pytest.raises(TypeError):
            run(*arrays, y=np.zeros(1))
    for wrong in ({"arrays": 3}, {"threads": 0}):
        with pytest.raises(ValueError, match="caller"):
            call.caller(nothing, **wrong)


def test_what_is_no_array(parts: ctypes.CDLL) -> None:
    run = runtime.Call(2, [], []).caller(runtime.address(parts, "nothing"))
    for wrong in (None, 1.0, [1.0], memoryview(b"x"), np.float32(1)):
        with pytest.raises(TypeError, match="not an array"):
            run(np.zeros(1), wrong)
    assert run(np.zeros(1), np.zeros(1).view(Mine)) is None


def test_calls_leave_nothing_behind(parts: ctypes.CDLL) -> None:
    rounds, given, out = Rounds(parts, 1, 2), np.zeros(MOST, np.int64), np.zeros(MOST, np.int64)
    check = runtime.Call(1, [], [8]).caller(runtime.address(parts, "check"))
    bad = np.full(8, 55)
    rounds.run(given, out)
    tasks = len(os.listdir("/proc/self/task"))
    gc.collect()
    counts = [sys.getrefcount(thing) for thing in (None, given, out, bad, rounds.run)]
    blocks = sys.getallocatedblocks()
    for _ in range(10_000):
        rounds.run(given, out)
        check(bad)
    assert abs(sys.getallocatedblocks() - blocks) < 50
    after = [sys.getrefcount(thing) for thing in (None, given, out, bad, rounds.run)]
    assert all(abs(a - b) < 20 for a, b in zip(after, counts, strict=True))
    assert len(os.listdir("/proc/self/task")) == tasks


def test_a_function_keeps_its_call_alive(parts: ctypes.CDLL) -> None:
    call = runtime.Call(0, [], [1])
    held = weakref.ref(call)
    run = call.caller(runtime.address(parts, "nothing"))
    del call
    gc.collect()
    assert held() is not None
    assert run() is None
    del run
    gc.collect()
    assert held() is None


ON_ONE = '''
import os, resource, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np
from deepgraph.backends import runtime
parts = runtime.load("""#include "team.h"
static void meet(dg_call *call, int stage, int me, int count)
{
    (void)call, (void)stage, (void)me, (void)count;
}
const dg_part meets = {1000, meet};
""")
run = runtime.Call(0, [], []).caller(runtime.address(parts, "meets"), threads=2)
run()

def switches():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_nvcsw + used.ru_nivcsw

start, before = time.process_time(), switches()
run()
print(time.process_time() - start, switches() - before)
'''


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be kept in place")
def test_who_is_there_does_the_work(python: Callable[..., CompletedProcess[str]]) -> None:
    """Threads that share a processor do not wait for each other's turn on it, nor spin."""
    done = python("-c", ON_ONE)
    assert done.returncode == 0, done.stderr
    seconds, switches = done.stdout.split()
    assert float(seconds) < 0.015  # of a thousand stages
    assert int(switches) < 500


APART = '''
import os
import numpy as np
from deepgraph.backends import runtime
parts = runtime.load("""#include "team.h"
static void none(dg_call *call, int stage, int me, int count)
{
    (void)call, (void)stage, (void)me, (void)count;
}
const dg_part nothing = {1, none};
""")
run = runtime.Call(0, [], []).caller(runtime.address(parts, "nothing"), threads=2)
usable, tasks = os.sched_getaffinity(0), set(os.listdir("/proc/self/task"))
run()
(worker,) = set(os.listdir("/proc/self/task")) - tasks
for mine in sorted(usable) * 2:
    os.sched_setaffinity(0, {mine})
    run()
    assert os.sched_getaffinity(int(worker)) == usable - {mine}
few = {max(usable)}
os.sched_setaffinity(int(worker), few)
for mine in sorted(usable) * 2:
    os.sched_setaffinity(0, {mine})
    run()
    assert os.sched_getaffinity(int(worker)) == few  # never more than it was given
'''


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="there is one processor, or threads cannot be kept in place",
)
def test_workers_are_elsewhere(python: Callable[..., CompletedProcess[str]]) -> None:
    """On another processor than the thread that calls, wherever that moves."""
    done = python("-c", APART)
    assert done.returncode == 0, done.stderr


ENDS = '''
import numpy as np
from deepgraph.backends import runtime
parts = runtime.load("""#include "team.h"
static void none(dg_call *call, int stage, int me, int count)
{
    (void)call, (void)stage, (void)me, (void)count;
}
const dg_part nothing = {1, none};
""")
run = runtime.Call(0, [], []).caller(runtime.address(parts, "nothing"), threads=4)
for _ in range(100):
    run()
print("ran")
'''


def test_a_process_ends_whatever_its_threads_do(
    python: Callable[..., CompletedProcess[str]],
) -> None:
    done = python("-W", "error", "-c", ENDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
