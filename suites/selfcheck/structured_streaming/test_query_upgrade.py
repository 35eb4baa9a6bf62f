"""A driver program or query that another takes the place of: when it goes on, how it ends, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.fixtures.pipelines.answer.expectation import UNORDERED, Expectation
from holdfast.fixtures.pipelines.declaration import Declaration
from holdfast.fixtures.pipelines.output.outgoing import Commit, FilesOutput, Outgoing, TableOutput, TopicOutput
from holdfast.fixtures.systems.structured_streaming.endpoints import Endpoints
from holdfast.fixtures.systems.structured_streaming.lives import QUIET_MS, Superseded
from holdfast.fixtures.systems.structured_streaming.messages import Ended, Progressed, Report, Start, Started, Stop
from holdfast.fixtures.systems.structured_streaming.pipeline import bears_late_writes
from holdfast.fixtures.systems.structured_streaming.query import FAILURES_IN_A_ROW, RESTART_DELAY_MS, Query
from holdfast.fixtures.systems.structured_streaming.session import Session
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.capability import AT_LEAST_ONCE, AT_MOST_ONCE, Guarantee
from holdfast.harness.model.events import CheckpointCompleted, Event, JobStatus, JobSwitched, NodeDied
from holdfast.harness.model.job import Contract
from holdfast.suites.selfcheck.adapter.test_member import Clocked

CHECKPOINT = "file:///checkpoint"
FIRST = Start("query", "/team/orders.py", Endpoints("in", "out", CHECKPOINT, 1, 1))
NEXT = Start("query", "/team/orders_v2.py", FIRST.endpoints)


class FakeSession:
    """A driver program that obeys. `started`: the last query; `says`: what is heard next."""

    lives, dead, usable, version, program = 1, False, True, "4.0.0", None
    executors: dict[int, object] = {}

    def __init__(self) -> None:
        self.did: list[str] = []
        self.started = FIRST
        self.says: list[object] = []

    def send(self, command: object) -> None:
        if isinstance(command, Start):
            self.started = command
        if isinstance(command, Stop):
            self.did.append(f"stop idle={command.idle}")
            self.says.append(Ended(self.started.query))

    def hear(self) -> list[object]:
        said, self.says = self.says, []
        return said

    def look(self) -> tuple[list[int], list[int]]:
        return [], []

    def kill_driver(self) -> None:
        self.did.append("kill")

    def serve(self, home: tuple[str, ...]) -> None:
        self.did.append(f"serve {' '.join(home)}")

    def await_driver_death(self) -> None:
        pass


class FakeLog:
    """Of checkpoints, to which commits are added by hand."""

    look_interval_ms, committed, planned = 1_000, 4, 4

    def __init__(self, session: FakeSession) -> None:
        self._session = session
        self.commits: list[Event] = []

    def poll(self) -> Iterator[Event]:
        while self.commits:
            yield self.commits.pop()

    def commit(self) -> None:
        self.commits.append(CheckpointCompleted(checkpoint=6, positions=(9,)))

    def take_back(self) -> None:
        self._session.did.append("take back")

    def restarted(self) -> None:
        pass

    def files(self) -> int:
        return 3


def begin(query: Query, session: FakeSession, recorder: Clocked) -> None:
    """It is started as soon as it is due, and runs."""
    recorder.now_ms += RESTART_DELAY_MS
    query.tend()
    tell(query, session, Started(session.started.query))


def tell(query: Query, session: FakeSession, report: Report) -> None:
    """The driver program reports something."""
    session.says.append(report)
    query.tend()


class Upgraded:
    """A query that runs, and is upgraded."""

    def __init__(self, *, kill: bool = False, replay: bool = False) -> None:
        self.session, self.recorder = FakeSession(), Clocked()
        self.log = FakeLog(self.session)
        session: Any = self.session
        log: Any = self.log
        self.query = Query(session, FIRST, log, "source[0]", self.recorder, NEXT)
        self.begin()
        self.log.commit()
        self.query.upgrade(kill=kill, replay=replay)

    def begin(self) -> None:
        begin(self.query, self.session, self.recorder)

    def failure(self) -> str:
        """Why the job failed; empty if it did not."""
        switched = [event for event in self.recorder.happened() if isinstance(event, JobSwitched)]
        return "".join(event.reason for event in switched if event.status is JobStatus.FAILED)


@pytest.mark.parametrize(
    ("kill", "replay", "did"),
    [
        (False, False, ["stop idle=False", "kill"]),
        (True, False, ["kill"]),
        (False, True, ["stop idle=True", "kill", "take back"]),
    ],
    ids=["stop", "kill", "replay"],
)
def test_it_ends_with_its_driver_program_and_the_next_version_begins(kill: bool, replay: bool, did: list[str]) -> None:
    upgraded = Upgraded(kill=kill, replay=replay)
    assert upgraded.session.did == [*did, "serve /team"]
    assert upgraded.query.upgraded
    upgraded.query.tend()
    assert upgraded.session.started.pipeline == FIRST.pipeline, "it is not due yet"
    upgraded.begin()
    assert upgraded.session.started.pipeline == NEXT.pipeline
    with pytest.raises(OSError, match="runs its next version already"):
        upgraded.query.upgrade(kill=True, replay=False)


@pytest.mark.parametrize(
    ("commits", "reason"),
    [
        (False, "the next version (orders_v2.py) does not start on this checkpoint: no such state"),
        (True, "no such state"),
    ],
)
def test_a_checkpoint_that_is_refused_is_told_from_a_later_failure(commits: bool, reason: str) -> None:
    upgraded = Upgraded()
    upgraded.begin()
    if commits:
        upgraded.log.commit()
        upgraded.recorder.now_ms += upgraded.log.look_interval_ms
        upgraded.query.tend()
    for _ in range(FAILURES_IN_A_ROW):
        assert not upgraded.failure()
        tell(upgraded.query, upgraded.session, Ended(upgraded.session.started.query, "no such state"))
        upgraded.begin()
    assert upgraded.failure() == reason


@pytest.mark.parametrize("commits", [False, True])
def test_one_that_commits_elsewhere_does_not_go_on(commits: bool) -> None:
    upgraded = Upgraded()
    upgraded.begin()
    if commits:
        upgraded.log.commit()
    tell(upgraded.query, upgraded.session, Progressed(upgraded.session.started.query))
    failure = upgraded.failure()
    assert bool(failure) is not commits
    if failure:
        assert failure.startswith("the next version (orders_v2.py) does not go on from this checkpoint: ")
        assert failure.endswith(f"none is in {CHECKPOINT}")


FORMER, EXECUTOR = "coordinator.0", "worker[0].0"


class Stopped:
    """The life of a driver program that stands still."""

    def __init__(self) -> None:
        self.dead = False
        self.goes_on = False
        self.sent: list[object] = []
        self.says: list[object] = []

    def resume(self) -> None:
        self.goes_on = True

    def send(self, command: object) -> None:
        self.sent.append(command)

    def hear(self) -> list[object]:
        said, self.says = self.says, []
        return said

    def end(self) -> None:
        self.dead = True


def superseded(begun: int = 4) -> tuple[Superseded, Any, Clocked]:
    session: Any = Stopped()
    recorder = Clocked()
    recorder.now_ms = 0.0
    return Superseded(session, "query.1", FORMER, [EXECUTOR], begun, recorder), session, recorder


def recorded(recorder: Recorder) -> list[Event]:
    return [event for events in recorder.nodes.values() for event in events]


@pytest.mark.parametrize(
    ("committed", "now_ms", "goes_on"),
    [
        (None, 0, False),
        (3, QUIET_MS, False),  # Its successor has not done yet what it stands in.
        (4, QUIET_MS - 1, False),
        (4, QUIET_MS, True),
        (5, 0, True),
    ],
)
def test_it_goes_on_behind_its_successor(committed: int | None, now_ms: float, goes_on: bool) -> None:
    former, session, recorder = superseded(begun=4)
    former.tend(9)
    assert not session.goes_on, "it was not released"
    former.release()
    former.tend(committed)
    recorder.now_ms = now_ms
    former.tend(committed)
    assert session.goes_on is goes_on
    assert session.sent == [Stop("query.1", idle=True)] * goes_on


def test_a_commit_that_is_taken_back_holds_it_up_again() -> None:
    former, session, recorder = superseded(begun=4)
    former.release()
    former.tend(4)
    former.tend(3)
    recorder.now_ms = QUIET_MS
    former.tend(4)
    assert not session.goes_on


@pytest.mark.parametrize(("error", "status"), [("refused", JobStatus.FAILED), ("", JobStatus.CANCELED)])
def test_what_it_says_last_is_said_of_itself(error: str, status: JobStatus) -> None:
    former, session, recorder = superseded()
    former.release()
    session.says = [Ended("query.2", "of another query"), Ended("query.1", error)]
    contended = not former.over
    former.tend(5)
    assert (contended, former.over) == (True, True)
    switched, *died = recorded(recorder)
    assert isinstance(switched, JobSwitched)
    assert (switched.node, switched.status) == (FORMER, status)
    assert [event.dead_node for event in died if isinstance(event, NodeDied)] == [EXECUTOR, FORMER]
    former.close()
    assert len(recorded(recorder)) == 3


def test_one_that_dies_by_itself_is_over() -> None:
    former, session, recorder = superseded()
    session.dead = True
    former.tend(None)
    assert former.over
    assert {event.cause for event in recorded(recorder) if isinstance(event, NodeDied)} == {"exit"}


def test_a_session_leaves_its_life_to_another() -> None:
    host: Any = SimpleNamespace()
    session = Session(host)
    program: Any = SimpleNamespace(dead=False)
    executor: Any = SimpleNamespace(paused=False)
    session.program, session.version, session.executors, session.lives = program, "4.0.0", {1: executor}, 3
    former = session.leave()
    assert (former.program, former.version, former.executors, former.lives) == (program, "4.0.0", {1: executor}, 3)
    assert (session.dead, session.version, session.executors, session.lives) == (True, "", {}, 3)


@pytest.mark.parametrize(
    ("outgoing", "claimed", "contract", "bears"),
    [
        (FilesOutput(commit=Commit.SINK_LOG), UNORDERED, Contract.WINDOW, True),
        (FilesOutput(commit=Commit.OVERWRITE_PER_BATCH), UNORDERED, Contract.RECORDS, True),
        (FilesOutput(), UNORDERED, Contract.RECORDS, False),
        (FilesOutput(commit=Commit.SUCCESS_FILE), UNORDERED, Contract.RECORDS, False),
        (FilesOutput(commit=Commit.OVERWRITE_PARTITIONS), UNORDERED, Contract.RECORDS, False),
        (TopicOutput(), AT_LEAST_ONCE, Contract.RECORDS, True),
        (TopicOutput(), AT_LEAST_ONCE, Contract.FOLD, False),
        (TopicOutput(), AT_MOST_ONCE, Contract.RECORDS, False),
        (TopicOutput(), frozenset(), Contract.RECORDS, False),
        (TableOutput(url="sqlite:///{output}/x.db", table="x", key=("id",)), AT_LEAST_ONCE, Contract.RECORDS, False),
    ],
)
def test_which_output_bears_late_writes(
    outgoing: Outgoing, claimed: frozenset[Guarantee], contract: Contract, bears: bool
) -> None:
    assert bears_late_writes(Declaration("module", Expectation(contract, claimed), outgoing)) is bears
