"""Loader: batches prepared ahead of time by worker threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

_END = object()


class Loader:
    """An iterable that reads batches ahead and transforms them in worker threads, in order.

    `transform(*batch)` returns what the loop gets; without one the batch itself. At most `prefetch`
    batches are ready or in work beyond the one the loop holds. An exception of `batches` or of
    `transform` reaches the loop in place of its batch, with the worker's traceback, and ends it.
    Leaving the loop early, by `break`, by an exception or by dropping the iterator, waits for what
    is in work and leaves no thread behind. Each iteration starts `batches` anew.

    Workers finish in any order, so a random transform should draw from a generator seeded by its
    own batch: add the row numbers, `data.batches((x, t, np.arange(len(x))), size)`.
    """

    def __init__(
        self,
        batches: Iterable[tuple[Any, ...]],
        transform: Callable[..., Any] | None = None,
        workers: int = 2,
        prefetch: int = 4,
    ) -> None:
        if workers < 1 or prefetch < 1:
            raise ValueError(
                f"loader: workers and prefetch must be 1 or more: got {workers} and {prefetch}"
            )
        self.batches = batches
        self.transform = transform
        self.workers = workers
        self.prefetch = prefetch

    def __len__(self) -> int:
        if not isinstance(self.batches, Sized):
            raise TypeError(f"loader: {type(self.batches).__name__} has no length")
        return len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        source, transform = iter(self.batches), self.transform
        reading = threading.Lock()
        results: SimpleQueue[Future[Any]] = SimpleQueue()
        ours: set[int] = set()

        def work() -> None:
            result: Future[Any] = Future()
            try:
                # Reading and queueing are one step, so results queue in the order of the source.
                with reading:
                    results.put(result)
                    batch: Any = next(source, _END)
                if batch is _END or transform is None:
                    result.set_result(batch)
                else:
                    result.set_result(transform(*batch))
            except BaseException as error:
                result.set_exception(error)
            finally:
                del result  # else a cycle: the error holds this frame, and the result the error

        # No task waits for the loop (a task is submitted when there is room for its result), so
        # the executor can always be shut down, also at the interpreter's exit.
        pool = ThreadPoolExecutor(
            self.workers, "deepgraph-loader", lambda: ours.add(threading.get_ident())
        )
        try:
            for _ in range(self.prefetch):
                pool.submit(work)
            while (batch := results.get().result()) is not _END:
                pool.submit(work)
                yield batch
        finally:
            # The garbage collector may end us in a worker, and a thread cannot wait for itself.
            pool.shutdown(wait=threading.get_ident() not in ours, cancel_futures=True)
