"""What a check goes through: time, one other thread, checkpoints under way, and what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Semaphore, get_ident
from typing import Any

from holdfast.suites.certify.check import Violation

PATIENCE_S, LITTLE_PATIENCE_S = 20.0, 0.3
"""How long an operation of the storage waits for the task thread, which does not need the upload thread for anything:
until that is seen to be otherwise, and in smaller programs behind that."""


class UploadThread:
    """The one other thread: it performs one operation of the storage whenever it is let.

    Runs one call at a time. Which operations interleave how is decided by the task thread alone.

    Attributes:
        strangers: operations of the storage on a thread that is neither this one nor the task thread.
        on_task_thread: operations of the storage on the task thread while `guarded`.
        blocked: the task thread was stuck while an operation was held, so it was let go.
        patience_s: how long it may be stuck.
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
        self.patience_s = PATIENCE_S

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
            if not self._go.acquire(timeout=0 if self.blocked else self.patience_s):
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


class World:
    """One check's own; no other check sees anything of it.

    Attributes:
        rule: that is broken where state differs from the model.
        thread: the one other thread.
        now_ms: what time it is.
        steps: what was done so far: the witness.
        windows: what was met, by name.
        figures: what it costs, sentences.
        pending: snapshots that have neither completed nor been given up.
        limits: how many bytes a key, a value and a namespace may have, by the name that the description gives them.
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self.limits: Mapping[str, int] = {}
        self.thread = UploadThread()
        self.now_ms = 1_700_000_000_000  # As in a job: a time that 32 bits have no room for.
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self.figures: list[str] = []
        self.pending: set[int] = set()
        self._checkpoint = 0

    def step(self, step: str) -> None:
        self.steps.append(step)

    def hit(self, window: str) -> None:
        """A window was met."""
        self.windows[window] += 1

    def figure(self, sentence: str) -> None:
        """Something was measured."""
        self.figures.append(sentence)

    def count_from(self, checkpoint: int) -> None:
        """The next checkpoint has the number behind this one."""
        self._checkpoint = checkpoint

    def next_checkpoint(self) -> int:
        self._checkpoint += 1
        return self._checkpoint

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """No operation of the storage may run on the task thread."""
        self.thread.guarded = True
        yield
        self.thread.guarded = False
        if self.thread.on_task_thread:
            raise Violation("ASY-01", f"snapshot() performed {self.thread.on_task_thread} on the task thread.")
