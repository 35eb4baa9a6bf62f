"""A worker of a certification: a process that executes one case after the other, and reports each run. A run is stored
before it is reported.

It handles the signals that the certification passes on: it heals, ends and stores its run. It does not outlive the
certification.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from signal import SIG_UNBLOCK, pthread_sigmask
from threading import Thread
from time import monotonic  # noqa: TID251 - the budget of the whole; no run depends on it

import msgspec

from holdfast.harness.engine.cases.case import system_under_test
from holdfast.harness.engine.cases.case_run import CaseRun, FinishedRun, run_until
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.certification.kit_runner import KitAssignment, KitMessage, run_checks
from holdfast.harness.engine.certification.last_call import note_last_call
from holdfast.harness.engine.certification.run_store import Keep, RunStore
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.foreign import foreign, in_words, raised_by
from holdfast.harness.engine.site.interruption import Interruption, listening, signals
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import RunResult
from holdfast.harness.spi.outside_files import raise_limits

NICENESS = {Tier.SIM: 10, Tier.SPARK: 5}
"""What computes gives way to what waits: times that somebody configured are measured there, and they are shorter on
processes than on Spark, which takes seconds of every processor to come up."""


AT_ONCE = "at-once"
"""An argument: the process is left at its end, whatever threads there are."""


class WorkerSettings(msgspec.Struct, frozen=True):
    """What holds for every case of a certification.

    Attributes:
        system: by name, with variant.
        folder: of the report.
        first_seed: draw seed of run 0.
        jobs: worker processes for drawn plans on the simulator.
        deadline_s: on the monotonic clock of this machine; None: when everything is done.
        niceness: towards others that want a processor.
        limits: so many times as large as is else allowed may be files of others.
    """

    system: str
    folder: str
    first_seed: int
    jobs: int
    deadline_s: float | None
    niceness: int = 0
    limits: int = 1


class Assignment(msgspec.Struct, frozen=True, tag=True):
    """One case to be run on one tier until `goal` runs count; the other fields as of CaseRun.

    Attributes:
        silence_limit_s: a worker that ends no run for so long hangs.
        keep: which runs are stored.
    """

    case: str
    tier: Tier
    goal: int
    first_serial: int
    numbers: tuple[int, ...] = ()
    first_number: int = 0
    silence_limit_s: float = inf
    keep: Keep = Keep.ALL


class RunEnded(msgspec.Struct, frozen=True, tag=True):
    """A run is over; `kept` as the journal lists it, if it was stored."""

    result: RunResult
    kept: RunResult | None


class CaseEnded(msgspec.Struct, frozen=True, tag=True):
    """No more runs. `histories` is a digest over the manifests of those that were stored."""

    histories: str


class WorkerLost(msgspec.Struct, frozen=True, tag=True):
    """The worker process is gone before the end.

    Attributes:
        reason: one sentence.
        blamed: by what it did itself; else by a limit of the harness, or from outside.
    """

    reason: str
    blamed: bool = True


Message = RunEnded | CaseEnded | WorkerLost
AnyAssignment = Assignment | KitAssignment
AnyMessage = Message | KitMessage


def main() -> None:
    """The process: it receives settings and assignments, and sends messages. It ends when its connection is closed.

    Its arguments are the descriptor of the connection and, where code runs that may end it, the file for its stack, and
    AT_ONCE for a kit.
    """
    connection = Connection(int(sys.argv[1]))
    for path in sys.argv[2:3]:
        note_last_call(Path(path))
    ours = os.getpid()

    def send(message: AnyMessage) -> None:
        if os.getpid() != ours:  # A part has forked, and its child came here.
            os._exit(0)
        connection.send_bytes(msgspec.msgpack.encode(message))

    with listening() as interruption:
        interruption.alarms = False  # The certification has one for all of us.
        pthread_sigmask(SIG_UNBLOCK, signals())
        settings = msgspec.msgpack.decode(connection.recv_bytes(), type=WorkerSettings)
        os.nice(settings.niceness)
        raise_limits(settings.limits)
        assignments: SimpleQueue[AnyAssignment | None] = SimpleQueue()
        reader = _Reader(connection, assignments)
        Thread(target=reader.read, daemon=True).start()
        while (assignment := assignments.get()) is not None:
            try:
                with foreign(f"system {settings.system!r}"):
                    for message in _messages(assignment, settings, interruption):
                        send(message)
            except UsageError as error:
                send(WorkerLost(str(error), blamed=False))
                break
            except Exception as error:
                sentence = raised_by(entry_points.strangers_in(settings.system), error)
                send(WorkerLost(f"system {sentence}" if sentence else in_words(error), blamed=bool(sentence)))
                break
            reader.working -= 1
    if AT_ONCE in sys.argv[3:]:  # An ordinary end would wait for threads of parts.
        os._exit(0)


class _Reader:
    """Reads assignments while others are executed, so it notices at once that the certification is gone."""

    def __init__(self, connection: Connection, assignments: SimpleQueue[AnyAssignment | None]) -> None:
        self.working = 0
        self._connection = connection
        self._orders = assignments

    def read(self) -> None:
        try:
            while True:
                content = self._connection.recv_bytes()
                self.working += 1
                self._orders.put(msgspec.msgpack.decode(content, type=AnyAssignment))
        except (EOFError, OSError):
            if self.working:
                os._exit(1)
            self._orders.put(None)


def _messages(assignment: AnyAssignment, settings: WorkerSettings, interruption: Interruption) -> Iterator[AnyMessage]:
    if isinstance(assignment, KitAssignment):
        return run_checks(assignment, interruption)
    system, tools = registry.system(settings.system), registry.toolbox()
    case = case_for(system, assignment.case, assignment.tier)
    store = RunStore(Path(settings.folder), tools.faults, assignment.keep)
    under_test = system_under_test(case, system, settings.first_seed)
    case_run = CaseRun(
        case,
        under_test,
        assignment.tier,
        tools,
        settings.first_seed,
        store.runs,
        assignment.first_serial,
        interruption.reason,
        assignment.numbers,
        assignment.first_number,
    )

    def late() -> bool:
        return settings.deadline_s is not None and monotonic() >= settings.deadline_s

    return execute(
        case_run, assignment.goal, store, interruption, late, settings.jobs if assignment.tier is Tier.SIM else 1
    )


def execute(
    case_run: CaseRun,
    goal: int,
    store: RunStore,
    interruption: Interruption,
    late: Callable[[], bool],
    jobs: int = 1,
) -> Iterator[Message]:
    """Run until enough runs count, further runs are pointless, the time is over, or the user interrupts.

    The last message is CaseEnded.

    Args:
        goal: how many runs must count.
        store: of this case alone.
        late: whether the time is over, so that no further run begins.
        jobs: worker processes for drawn plans on the simulator.
    """
    with closing(run_until(case_run, goal, jobs)) as runs:
        while (finished := _next(runs, interruption)) is not None:
            yield RunEnded(finished.result, store.keep(finished, case_run))
            if late():
                break
    # Behind that, this process may be ended at any moment.
    yield CaseEnded(store.histories.hexdigest())


def _next(runs: Iterator[FinishedRun], interruption: Interruption) -> FinishedRun | None:
    """The next finished run; None at the end or after an interruption."""
    try:
        with interruption.breakable():
            return next(runs, None)
    except KeyboardInterrupt:
        return None
