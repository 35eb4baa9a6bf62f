"""A pool of worker processes that execute the cases of one certification side by side.

Cases on real tiers mostly wait, so simulator cases run beside them. Nothing is left behind: the pool waits for each
worker to end, and sweeps what a lost worker was running.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from signal import SIG_BLOCK, SIG_SETMASK, Signals, pthread_sigmask
from time import monotonic  # noqa: TID251 - how long a worker is silent; no run depends on it
from typing import Generic, TypeVar

import msgspec

from holdfast.harness.engine.artefacts.sweep import sweep
from holdfast.harness.engine.certification.case_runner import Message, RunEnded, WorkerLost
from holdfast.harness.engine.certification.worker import Assignment, WorkerSettings
from holdfast.harness.engine.executor.patience import MOST_TIMES
from holdfast.harness.engine.site.interruption import Interruption, signals
from holdfast.harness.engine.site.services import sweep_services
from holdfast.harness.model.plan import Bounds

Key = TypeVar("Key")
PROGRAM = "from holdfast.harness.engine.certification.worker import main; main()"
END_LIMIT_S = 30.0
"""How long a worker may take to end what it started, such as a session of Spark."""
SILENCE_LIMIT_S = 1_800.0
"""How long one may take for a single run, beside the phases of that which have bounds."""
_LOOK_S = 1.0


def silence_limit_s(bounds: Bounds) -> float:
    """How long a worker that does not hang may be silent: a run and its control, on the busiest machine.

    Args:
        bounds: of the plan. What was struck is healed within another liveness phase.
    """
    bound_ms = bounds.safety_ms + 2 * bounds.liveness_ms + bounds.settle_ms
    return SILENCE_LIMIT_S + 2 * MOST_TIMES * bound_ms / 1_000


class WorkQueue(msgspec.Struct, Generic[Key]):
    """Cases that wait for a worker.

    Attributes:
        assignments: each with a key of the caller's. A free worker takes the next.
        width: number of workers. A smaller number takes effect when a worker is free.
        settings: of each worker.
        successor: the queue that gets a worker more for each that this queue needs no longer.
    """

    assignments: Iterator[tuple[Key, Assignment]]
    width: int
    settings: WorkerSettings
    successor: WorkQueue[Key] | None = None


class WorkerPool(Generic[Key]):
    """The workers of one certification; a context manager.

    Args:
        interruption: its signals are passed on to each worker.
    """

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption
        self._busy: dict[Connection, _Worker[Key]] = {}
        self._closed: list[_Worker[Key]] = []

    def __enter__(self) -> WorkerPool[Key]:
        self._interruption.followers.append(self._hand_on)
        return self

    def __exit__(self, *_: object) -> None:
        for worker in [*self._busy.values(), *self._closed]:
            worker.end()
        self._interruption.followers.remove(self._hand_on)

    def messages(self, queues: list[WorkQueue[Key]]) -> Iterator[tuple[Key, Message]]:
        """Execute every assignment; each message of a worker as it arrives, with the key of its assignment."""
        for queue in queues:
            for _ in range(queue.width):
                self._begin(queue, None)
        while self._busy:
            heard = wait(list(self._busy), _LOOK_S)
            for silent in (worker for connection, worker in self._busy.items() if connection not in heard):
                silent.end_if_it_hangs()
            for connection in heard:
                assert isinstance(connection, Connection)
                worker = self._busy[connection]
                message = worker.receive()
                yield worker.key, message
                if not isinstance(message, RunEnded):
                    del self._busy[connection]
                    if isinstance(message, WorkerLost):
                        self._closed.append(worker)
                        list(sweep(Path(worker.queue.settings.folder), trust=True))
                        sweep_services()
                    self._begin(worker.queue, None if isinstance(message, WorkerLost) else worker)

    def _begin(self, queue: WorkQueue[Key], worker: _Worker[Key] | None) -> None:
        """Give the next assignment of a queue to a free worker or a new one."""
        others = sum(each.queue is queue for each in self._busy.values())
        following = next(queue.assignments, None) if others < queue.width else None
        if following is None:
            if worker is not None:
                worker.close()
                self._closed.append(worker)
                if queue.successor is not None:
                    queue.successor.width += 1
                    self._begin(queue.successor, None)
            return
        worker = worker or _Worker(queue)
        worker.begin(*following)
        self._busy[worker.connection] = worker
        if self._interruption.signal:  # The signal may have come before the worker existed.
            worker.signal(Signals[self._interruption.signal])

    def _hand_on(self, number: int) -> None:
        for worker in list(self._busy.values()):
            worker.signal(number)


class _Worker(Generic[Key]):
    """One process; `key` is that of the assignment which it executes."""

    key: Key

    def __init__(self, queue: WorkQueue[Key]) -> None:
        self.queue = queue
        self._hangs = False
        self._heard_s = monotonic()
        self.connection, theirs = Pipe()
        held = pthread_sigmask(SIG_BLOCK, signals())  # The worker unblocks its signals when it can handle them.
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},  # noqa: TID251 - the edge
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # signals of the terminal are for the certification, which hands them on
            )
        finally:
            pthread_sigmask(SIG_SETMASK, held)
            theirs.close()
        self._send(queue.settings)

    def begin(self, key: Key, assignment: Assignment) -> None:
        self.key = key
        self._limit_s = assignment.silence_limit_s
        self._heard_s = monotonic()
        self._send(assignment)

    def end_if_it_hangs(self) -> None:
        """Kill it where it has been silent for too long; its end is the next thing that is received."""
        if monotonic() - self._heard_s > self._limit_s:
            self._hangs = True
            self._process.kill()

    def receive(self) -> Message:
        """The next message of the worker, or that it is lost."""
        try:
            content = self.connection.recv_bytes()
        except (EOFError, OSError):
            code = self._process.wait()
            if self._hangs:
                return WorkerLost(f"the worker process of the case hung: no run ended for {self._limit_s:.0f} s")
            return WorkerLost(f"the worker process of the case ended with exit code {code}")
        self._heard_s = monotonic()
        message: Message = msgspec.msgpack.decode(content, type=Message)
        return message

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def close(self) -> None:
        """No more assignments."""
        self.connection.close()

    def end(self) -> None:
        """Wait until it has ended."""
        self.close()
        try:
            self._process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: WorkerSettings | Assignment) -> None:
        with suppress(OSError):  # A lost worker shows where its messages are read.
            self.connection.send_bytes(msgspec.msgpack.encode(message))
