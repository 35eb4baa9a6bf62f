"""A pool of worker processes that execute the cases of one certification side by side.

Cases on real tiers mostly wait, so simulator cases run beside them. Nothing is left behind: the pool waits for each
worker to end, and sweeps what a lost worker was running.
"""

from __future__ import annotations

import inspect
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from signal import SIGKILL, Signals
from time import monotonic  # noqa: TID251 - how long a worker is silent; no run depends on it
from typing import Generic, TypeVar, cast

import msgspec

from holdfast.harness.engine.artefacts.sweep import sweep_lost
from holdfast.harness.engine.certification.apart_process import KILLED, MOST_BYTES, begin, blame, describe_exit
from holdfast.harness.engine.certification.kit_runner import CheckEnded, KitAssignment, KitEnded, KitMessage
from holdfast.harness.engine.certification.last_call import ASK, last_call
from holdfast.harness.engine.certification.worker import (
    AT_ONCE,
    AnyAssignment,
    AnyMessage,
    CaseEnded,
    RunEnded,
    WorkerLost,
    WorkerSettings,
)
from holdfast.harness.engine.executor.phases import MOST_TIMES
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.site.services import sweep_services
from holdfast.harness.engine.site.surroundings import part_surroundings
from holdfast.harness.label import NAME
from holdfast.harness.lease import Lease
from holdfast.harness.lease import sweep as sweep_leases
from holdfast.harness.model.plan import Bounds

Key = TypeVar("Key")
PROGRAM = (
    "import gc; gc.disable(); from holdfast.harness.engine.certification.worker import main; "
    "gc.freeze(); gc.enable(); main()"
)
"""What it has imported is no garbage: each collection, and kits ask for many, would walk over it."""
END_LIMIT_S = 30.0
"""How long a worker may take to end what it started, such as a session of Spark."""
SILENCE_LIMIT_S = 1_800.0
"""How long one may take for a single run, beside the phases of that which have bounds."""
DROP_LIMIT_S = 1.0
"""How long one may take to end what a second signal breaks off."""
_LOOK_S = 1.0
_ANSWER_S = 0.5
_LAST_CALL = "last-call"
_FIXTURES = Path(__file__).parents[3] / "fixtures"
"""What ships with Holdfast, and calls parts of a system."""
_STANDARD_ERROR = 2


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
        assignments: each with a key of the caller's. A free worker takes the next. As long as any worker is busy, the
            next one is requested even after the end: more may come.
        width: number of workers. Another number takes effect when a worker is free.
        settings: of each worker.
    """

    assignments: Iterator[tuple[Key, AnyAssignment]]
    width: int
    settings: WorkerSettings


class WorkerPool(Generic[Key]):
    """The workers of one certification; a context manager.

    Args:
        interruption: its signals are passed on to each worker.
        meanwhile: work of this process in short steps, which it takes while every worker is busy.
    """

    def __init__(self, interruption: Interruption, meanwhile: Iterator[object] | None = None) -> None:
        self._interruption = interruption
        self._meanwhile = meanwhile or iter(())
        self._busy: dict[Connection, _Worker[Key]] = {}
        self._closed: list[_Worker[Key]] = []
        self._drop_began_s = 0.0

    def __enter__(self) -> WorkerPool[Key]:
        list(sweep_leases())
        self._interruption.followers.append(self._hand_on)
        return self

    def __exit__(self, *_: object) -> None:
        workers = [*self._busy.values(), *self._closed]
        try:
            for worker in workers:
                worker.close()
            cut = [
                worker
                for worker in workers
                if not worker.end(lambda: 0.0 if self._interruption.dropped else END_LIMIT_S) and not worker.swept
            ]
            cut.sort(key=lambda worker: not isinstance(worker.assignment, KitAssignment))
            for worker in {worker.queue.settings.system: worker for worker in cut}.values():
                worker.sweep()  # Once for all of a system.
        finally:
            self._interruption.followers.remove(self._hand_on)

    def messages(self, queues: list[WorkQueue[Key]]) -> Iterator[tuple[Key, AnyMessage]]:
        """Execute every assignment; each message of a worker as it arrives, with the key of its assignment.

        A worker that is lost because a second signal broke off what it did reports the end of its assignment.
        """
        while self._fill(queues):
            heard = self._wait()
            dropped_s = self._dropped_s()
            for worker in [worker for connection, worker in self._busy.items() if connection not in heard]:
                if worker.is_gone():
                    heard.append(worker.connection)
                elif dropped_s > DROP_LIMIT_S:
                    worker.kill()
                else:
                    worker.end_if_it_hangs()
            for connection in heard:
                worker = self._busy[connection]
                message = worker.receive()
                lost = isinstance(message, WorkerLost)
                yield worker.key, worker.ended() if lost and self._interruption.dropped else message
                if not isinstance(message, (RunEnded, CheckEnded)):
                    del self._busy[connection]
                    alone = isinstance(worker.assignment, KitAssignment)  # A part may have left anything in it.
                    if lost or alone:
                        worker.close()
                        self._closed.append(worker)
                    if lost:
                        worker.sweep()
                    self._begin(worker.queue, None if lost or alone else worker)

    def _wait(self) -> list[Connection]:
        """The connections that something arrived on, or none after a short time."""
        connections, nothing = list(self._busy), object()
        heard = wait(connections, 0)
        while not heard and not self._interruption.reason() and next(self._meanwhile, nothing) is not nothing:
            heard = wait(connections, 0)
        look_s = _LOOK_S / 10 if self._interruption.reason() else _LOOK_S
        return cast("list[Connection]", heard or wait(connections, look_s))

    def _dropped_s(self) -> float:
        """How long ago what is under way was broken off; 0: it is not."""
        if not self._interruption.dropped:
            return 0.0
        self._drop_began_s = self._drop_began_s or monotonic()
        return monotonic() - self._drop_began_s

    def _fill(self, queues: Iterable[WorkQueue[Key]]) -> bool:
        """Start as many workers as the queues have assignments for and may have; returns whether there is any."""
        for queue in queues:
            busy = -1
            while busy < self._busy_of(queue) < queue.width:
                busy = self._busy_of(queue)
                self._begin(queue, None)
        return bool(self._busy)

    def _busy_of(self, queue: WorkQueue[Key]) -> int:
        return sum(each.queue is queue for each in self._busy.values())

    def _begin(self, queue: WorkQueue[Key], worker: _Worker[Key] | None) -> None:
        """Give the next assignment of a queue to a free worker or a new one."""
        following = next(queue.assignments, None) if self._busy_of(queue) < queue.width else None
        if worker is not None and following is not None and isinstance(following[1], KitAssignment):
            worker.close()
            self._closed.append(worker)
            worker = None
        if following is None:
            if worker is not None:
                worker.close()
                self._closed.append(worker)
            return
        key, assignment = following
        worker = worker or _Worker(queue, assignment)
        worker.begin(key, assignment)
        self._busy[worker.connection] = worker
        if self._interruption.signal:  # The signal may have come before the worker existed.
            worker.signal(Signals[self._interruption.signal])

    def _hand_on(self, number: int) -> None:
        for worker in list(self._busy.values()):
            worker.signal(number)


class _Worker(Generic[Key]):
    """One process; `key` is that of the assignment which it executes.

    Args:
        queue: whose assignments it executes.
        first: assignment. A kit gets a process with few variables of the environment. A kit, and a system that does not
            ship with Holdfast, have a temporary folder of their own, in which it notes where it ended.
    """

    key: Key
    assignment: AnyAssignment

    def __init__(self, queue: WorkQueue[Key], first: AnyAssignment) -> None:
        self.queue = queue
        inherited: Mapping[str, str] = os.environ  # noqa: TID251 - the edge
        self._temporary = None
        self.swept = False
        if isinstance(first, KitAssignment):
            inherited = part_surroundings(first.factory)
        if isinstance(first, KitAssignment) or entry_points.strangers_in(queue.settings.system):
            self._temporary = Lease("kit")
        self._folder = self._temporary.room if self._temporary is not None else None
        noted = [] if self._folder is None else [str(self._folder / _LAST_CALL)]
        place = {}
        if self._temporary is not None:
            place[NAME] = str(self._temporary.folder)
        if isinstance(first, KitAssignment):
            place["TMPDIR"] = str(self._folder)
            noted.append(AT_ONCE)
        self._hangs = self._disturbed = False
        self._heard_s = monotonic()
        # What a part prints is no result.
        self._process, self.connection = begin(PROGRAM, noted, {**inherited, **place}, stdout=_STANDARD_ERROR)
        self._send(queue.settings)

    def begin(self, key: Key, assignment: AnyAssignment) -> None:
        self.key = key
        self.assignment = assignment
        self._limit_s = assignment.silence_limit_s
        self._heard_s = monotonic()
        self._send(assignment)

    def end_if_it_hangs(self) -> None:
        """Kill it where it has been silent for too long; its end is the next thing that is received."""
        if monotonic() - self._heard_s > self._limit_s:
            self._hangs = True
            if self._folder is not None:
                self._process.send_signal(ASK)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_ANSWER_S)
            self._process.kill()

    def is_gone(self) -> bool:
        """Whether its end is the next thing that is received. A child that a part has forked may keep the connection
        open."""
        return self._process.poll() is not None and not self.connection.poll()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def ended(self) -> AnyMessage:
        """The message that it would send at the end of its assignment."""
        return KitEnded() if isinstance(self.assignment, KitAssignment) else CaseEnded("")

    def receive(self) -> AnyMessage:
        """The next message of the worker, or that it is lost."""
        if self.is_gone():
            return self._lost()
        try:
            message: AnyMessage = msgspec.msgpack.decode(self.connection.recv_bytes(MOST_BYTES), type=AnyMessage)
            self._require_due(message)
        except (EOFError, OSError, msgspec.MsgspecError, UnicodeDecodeError):
            self._end_if_it_lives()
            return self._lost()
        self._heard_s = monotonic()
        return message

    def _require_due(self, message: AnyMessage) -> None:
        """Refuse a message that does not fit the assignment of its worker: code that the worker runs has forged it.

        Raises:
            msgspec.ValidationError: it is such a message.
        """
        kit = self.assignment if isinstance(self.assignment, KitAssignment) else None
        due = isinstance(message, WorkerLost) or isinstance(message, KitMessage) is (kit is not None)
        if kit is not None and isinstance(message, CheckEnded):
            due = message.check.id in {each.id for each in kit.checks}
        if not due:
            raise msgspec.ValidationError(f"a {type(message).__name__} is not due")

    def _end_if_it_lives(self) -> None:
        """End a worker whose connection is of no use any more; one that hangs writes its stack first."""
        try:
            self._process.wait(_ANSWER_S)
        except subprocess.TimeoutExpired:
            self._disturbed = True
            self._process.send_signal(ASK)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ANSWER_S)
            self._process.kill()

    def _lost(self) -> WorkerLost:
        code, assignment = self._process.wait(), self.assignment
        if isinstance(assignment, KitAssignment):
            kit = Path(inspect.getfile(type(registry.kit(assignment.contract)))).parents[1]
            return self._lost_to(f"{assignment.contract} {assignment.factory}", kit, code)
        if entry_points.strangers_in(self.queue.settings.system):
            return self._lost_to(f"system {self.queue.settings.system}", _FIXTURES, code)
        if self._disturbed:
            return WorkerLost("the worker process of the case sent an unknown message")
        if self._hangs:
            return WorkerLost(f"the worker process of the case hung: no run ended for {self._limit_s:.0f} s")
        if code == -SIGKILL:
            return WorkerLost(f"the worker process of the case was {KILLED}")
        return WorkerLost(f"the worker process of the case ended {describe_exit(code)}")

    def _lost_to(self, name: str, caller: Path, code: int) -> WorkerLost:
        """Somebody else's code is blamed by its name, and by its call where that is known: `caller` made it."""
        assert self._folder is not None
        call = last_call(self._folder / _LAST_CALL, caller)
        silent_s = self._limit_s if self._hangs else None
        sentence, certain = blame(name, code, call, silent_s, disturbed=self._disturbed)
        return WorkerLost(sentence, blamed=certain)

    def sweep(self) -> None:
        """Undo, end and remove what it left when it was lost. A kit stores no run."""
        self.swept = True
        if self._temporary is not None:
            self._temporary.end_processes()
        if not isinstance(self.assignment, KitAssignment):
            sweep_lost(Path(self.queue.settings.folder), self.queue.settings.system)
        list(sweep_leases())
        sweep_services()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def close(self) -> None:
        """Close the connection: no more assignments follow."""
        self.connection.close()

    def end(self, limit_s: Callable[[], float]) -> bool:
        """Wait until it has ended, and end whatever else is in its session.

        Args:
            limit_s: how long it may take, which may change meanwhile.

        Returns:
            Whether it came to its own end, and has removed what it made.
        """
        began_s = monotonic()
        while self._process.poll() is None and monotonic() - began_s < limit_s():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_S / 10)
        self._process.kill()
        self._process.wait()
        if self._temporary is not None:
            with suppress(ProcessLookupError, PermissionError):  # What a part has forked.
                os.killpg(self._process.pid, SIGKILL)
            self._temporary.end_processes()
            self._temporary.close()
        return self._process.returncode == 0

    def _send(self, message: WorkerSettings | AnyAssignment) -> None:
        with suppress(OSError):  # A lost worker shows where its messages are read.
            self.connection.send_bytes(msgspec.msgpack.encode(message))
