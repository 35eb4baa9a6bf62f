"""What a check goes through: time, one other thread, checkpoints under way, shared files, and what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Semaphore, get_ident
from typing import Any

from msgspec.structs import replace

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.state import Manifest, StateHandle
from holdfast.harness.spi.storage import Scope
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


_Key = tuple[int, str]
"""Subtask and name of a file."""


class Registry:
    """Of one operator. Files are registered when their checkpoint completes (Flink 1.14).

    A file that no completed checkpoint needs any more stays while a snapshot is pending that was taken before: its base
    may be one of those that had the file.
    """

    def __init__(self) -> None:
        self._files: dict[_Key, FileReference] = {}
        self._users: dict[_Key, set[int]] = {}
        self._awaited: dict[_Key, set[int]] = {}

    def resolved(self, subtask: int, manifest: Manifest) -> Manifest:
        """With every placeholder replaced.

        Raises:
            Violation: INC-02: a placeholder names no file, or one name stands for two files.
        """
        return replace(manifest, handles=tuple(self._resolved(subtask, each) for each in manifest.handles))

    def register(self, subtask: int, manifest: Manifest) -> None:
        """A checkpoint that completed uses these files; its placeholders were resolved."""
        for handle in manifest.handles:
            if handle.scope is Scope.SHARED and handle.reference is not None:
                key = (subtask, handle.name)
                self._files[key] = handle.reference
                self._users.setdefault(key, set()).add(manifest.checkpoint)

    def unregister(self, checkpoint: int, pending: Iterable[int]) -> None:
        """A checkpoint is gone, while these are pending."""
        for key, users in self._users.items():
            if checkpoint in users:
                users.discard(checkpoint)
                self._awaited[key] = set(pending)

    def collect(self, pending: Iterable[int]) -> list[FileReference]:
        """What nothing needs any more; it is forgotten."""
        still = set(pending)
        unused = [key for key, users in self._users.items() if not users and not self._awaited[key] & still]
        for key in unused:
            del self._users[key], self._awaited[key]
        return [self._files.pop(key) for key in unused]

    def unused(self, manifest: Manifest) -> list[FileReference]:
        """Shared files of a checkpoint that failed which the registry does not know."""
        paths = self.paths
        return [
            handle.reference
            for handle in manifest.handles
            if handle.scope is Scope.SHARED and handle.reference is not None and handle.reference.path not in paths
        ]

    @property
    def paths(self) -> frozenset[str]:
        """The paths of all files that it knows."""
        return frozenset(each.path for each in self._files.values())

    def _resolved(self, subtask: int, handle: StateHandle) -> StateHandle:
        if handle.scope is not Scope.SHARED:
            return handle
        known = self._files.get((subtask, handle.name))
        if handle.reference is None:
            if known is None:
                raise Violation(
                    "INC-02", f"{handle.name} is a placeholder for a file that no completed checkpoint has."
                )
            return replace(handle, reference=known)
        if known is not None and known != handle.reference:
            raise Violation("INC-02", f"{handle.name} stands for {known} and for {handle.reference}.")
        for owner, name in [key for key, file in self._files.items() if file.path == handle.reference.path]:
            if (owner, name) != (subtask, handle.name):
                raise Violation(
                    "INC-02",
                    f"subtask {subtask} has {handle.reference.path} as {handle.name}, and subtask {owner} has it as "
                    f"{name}: it is deleted with the last checkpoint of either.",
                )
        return handle
