"""The one other thread: it performs one operation of the storage whenever it is let."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Semaphore, get_ident
from typing import Any

PATIENCE_S = 20.0
"""How long an operation of the storage waits for the task thread, which does not need the upload thread for
anything."""


class UploadThread:
    """Runs one call at a time. Which operations interleave how is decided by the task thread alone.

    Attributes:
        strangers: operations of the storage on a thread that is neither this one nor the task thread.
        on_task_thread: operations of the storage on the task thread while `guarded`.
        blocked: the task thread was stuck while an operation was held, so it was let go.
    """

    def __init__(self) -> None:
        self._begun: ThreadPoolExecutor | None = None
        self._reached = Semaphore(0)
        self._go = Semaphore(0)
        self._under_way: Future[Any] | None = None
        self._stepping = False
        self._task_thread = get_ident()
        self._thread = 0
        self.guarded = False
        self.strangers: list[str] = []
        self.on_task_thread: list[str] = []
        self.blocked = False

    def arrive(self, operation: str) -> None:
        """Called by the storage before each operation."""
        here = get_ident()
        if here == self._task_thread:
            if self.guarded:
                self.on_task_thread.append(operation)
        elif here != self._thread:
            self.strangers.append(operation)
        elif self._stepping:
            self._reached.release()
            if not self._go.acquire(timeout=0 if self.blocked else PATIENCE_S):
                self.blocked = True

    @property
    def _pool(self) -> ThreadPoolExecutor:
        """The thread, which most random programs never need."""
        if self._begun is None:
            self._begun = ThreadPoolExecutor(1)
            self._thread = self._begun.submit(get_ident).result()
        return self._begun

    def run(self, call: Callable[[], Any]) -> Any:
        """Perform a call to its end; returns what it returns, raises what it raises."""
        if not self.done:
            raise RuntimeError("another call is under way on the upload thread.")
        return self._pool.submit(call).result()

    def start(self, call: Callable[[], Any]) -> None:
        """Begin a call, up to its first operation of the storage."""
        self._stepping = True
        self._under_way = self._pool.submit(call)
        self._under_way.add_done_callback(lambda _: self._reached.release())
        self._reached.acquire()

    @property
    def done(self) -> bool:
        """Whether the call that was started has ended."""
        return self._under_way is None or self._under_way.done()

    def step(self) -> None:
        """Let it perform one operation."""
        if not self.done:
            self._go.release()
            self._reached.acquire()

    def finish(self) -> Any:
        """Let it perform the rest; returns what the call returns, raises what it raises."""
        while not self.done:
            self.step()
        self._stepping = False
        call, self._under_way = self._under_way, None
        assert call is not None
        return call.result()

    def close(self) -> None:
        """End the thread."""
        while not self.done:
            self.step()
        if self._begun is not None:
            self._begun.shutdown()
