"""The driver program, its executors and its query: lives, process tables, progress, restarts and ends."""

from __future__ import annotations

import math
from collections import defaultdict
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.fixtures.systems.structured_streaming import lives as module
from holdfast.fixtures.systems.structured_streaming.controls import CONTAINER, StreamingProcesses
from holdfast.fixtures.systems.structured_streaming.driver import progressed
from holdfast.fixtures.systems.structured_streaming.endpoints import Endpoints
from holdfast.fixtures.systems.structured_streaming.lives import Lives
from holdfast.fixtures.systems.structured_streaming.messages import Ended, Start
from holdfast.fixtures.systems.structured_streaming.query import FAILURES_IN_A_ROW, Query
from holdfast.fixtures.systems.structured_streaming.session import ProcessTable
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.events import Event, JobStatus, JobSwitched, RecoveryFailed
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.adapter.test_member import Clocked, deaths
from holdfast.suites.selfcheck.structured_streaming.test_query_upgrade import FakeLog, FakeSession, begin, tell

OURS, NEW = "worker-0.0", "worker-0.1"
FIRST = Target(Role.WORKER, 0)
KILLS = [(OURS, "kill")]


def process() -> Any:
    made = SimpleNamespace(dead=False, paused=False)
    made.end = lambda: vars(made).update(dead=True, paused=False)
    made.pause = lambda: setattr(made, "paused", True)
    made.resume = lambda: setattr(made, "paused", False)
    return made


class Session:
    """One whose executors die, and are found in the process table."""

    def __init__(self) -> None:
        self.usable, self.dead = True, False
        self.executors = {0: process(), 1: process()}
        self.found: dict[int, Any] = {}

    def look(self) -> tuple[list[int], list[int]]:
        died = [worker for worker, executor in self.executors.items() if executor.dead]
        started, self.found = self.found, {}
        self.executors = {key: each for key, each in self.executors.items() if not each.dead} | started
        return died, list(started)

    def leave(self) -> Session:
        former = Session()
        former.executors, self.executors = self.executors, {}
        return former

    def start(self) -> None:
        self.executors = {}


class Container:
    """One of the first worker; its executor dies with it. `calls`: what was done to it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.calls: list[str] = []

    def kill(self) -> None:
        self.calls.append("kill")
        self._session.executors[0].end()

    def start_again(self) -> None:
        self.calls.append("start again")
        self._session.found = {0: process()}


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def lives(session: Any, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> Lives:
    monkeypatch.setattr(module, "LOOK_INTERVAL_MS", 0)
    return Lives(session, recorder)


@pytest.fixture
def container(session: Session) -> Container:
    return Container(session)


@pytest.fixture
def processes(lives: Lives, container: Container) -> StreamingProcesses:
    query: Any = SimpleNamespace(lives=lives)
    services: Any = SimpleNamespace(stack=SimpleNamespace(spark=SimpleNamespace(workers=[container])))
    return StreamingProcesses(query, services, None)


def test_who_was_killed_is_not_found_dead_once_more_and_has_a_successor(
    session: Session, recorder: Recorder, lives: Lives
) -> None:
    lives.executors[0].kill()
    lives.look("exit")
    assert (deaths(recorder), lives.executors[0].alive) == ([(OURS, "kill")], False)
    session.found = {0: process()}
    lives.look("exit")
    assert (lives.executors[0].node, lives.executors[0].alive) == (NEW, True)


def test_who_died_by_itself_is_found(session: Session, recorder: Recorder, lives: Lives) -> None:
    session.executors[0].dead = True
    lives.look("lost its driver")
    lives.look("lost its driver")
    assert deaths(recorder) == [(OURS, "lost its driver")]


def test_who_died_before_the_run_is_no_node_of_it(session: Any, recorder: Recorder) -> None:
    session.executors[0].dead = True
    lives = Lives(session, recorder)
    lives.look("exit")
    assert OURS not in recorder.nodes
    assert deaths(recorder) == []


def test_executors_do_not_outlive_their_driver_unless_it_was_superseded(recorder: Recorder, lives: Lives) -> None:
    _, left = lives.leave()
    assert {lives.coordinator.next_ms, *(each.next_ms for each in lives.executors)} == {math.inf}
    lives.next_driver()
    assert (left, deaths(recorder), lives.driver) == (["worker-0.0", "worker-1.0"], [], "coordinator.1")
    lives.executors[1].begin(process())
    lives.next_driver()
    assert deaths(recorder) == [("worker-1.1", "outlived its driver")]


@pytest.mark.parametrize("part", ["", CONTAINER])
def test_who_is_killed_while_paused_is_dead_and_is_not_resumed(
    part: str, lives: Lives, processes: StreamingProcesses, recorder: Recorder
) -> None:
    processes.pause(FIRST)
    former = lives.executors[0].living()
    processes.kill(FIRST, part)
    processes.resume(FIRST)
    assert (former.dead, former.paused, processes.alive(FIRST), deaths(recorder)) == (True, False, False, KILLS)


def test_with_its_container_an_executor_dies_and_both_begin_anew(
    lives: Lives, container: Container, processes: StreamingProcesses, recorder: Recorder
) -> None:
    processes.kill(FIRST, CONTAINER)
    assert (container.calls, deaths(recorder)) == (["kill", "start again"], KILLS)
    lives.look("exit")
    assert (lives.executors[0].node, processes.alive(FIRST), deaths(recorder)) == (NEW, True, KILLS)


@pytest.mark.parametrize("seen", [True, False])
def test_the_container_of_a_dead_executor_is_left_alone(
    seen: bool,
    session: Session,
    lives: Lives,
    container: Container,
    processes: StreamingProcesses,
    recorder: Recorder,
) -> None:
    """It was killed first, and then not started again."""
    session.executors[0].end()
    if seen:
        lives.look("exit")
    with pytest.raises(OSError, match="worker-0 is dead already"):
        processes.kill(FIRST, CONTAINER)
    assert (container.calls, deaths(recorder)) == ([], [(OURS, "exit")] * seen)


WORKER = 10
BACKEND = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


def command(driver: str) -> list[str]:
    return ["java", BACKEND, "--driver-url", f"spark://CoarseGrainedScheduler@{driver}:4040", "--worker-url", "w"]


TABLE = ProcessTable.__module__
COMMANDS = {11: command("ours-1"), 12: command("ours-11"), 13: ["java", "org.apache.spark.deploy.master.Master"]}


@pytest.mark.parametrize(("driver", "expected"), [("", [11, 12]), ("ours-1", [11]), ("ours-11", [12]), ("ours-2", [])])
def test_executors_are_those_of_a_driver_program(
    driver: str, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    children = defaultdict(list, {WORKER: list(COMMANDS)})
    monkeypatch.setattr(f"{TABLE}.children_by_parent", lambda: children)
    monkeypatch.setattr(f"{TABLE}._command", COMMANDS.__getitem__)
    assert [each.pid for each in ProcessTable().executors_of(WORKER, driver)] == expected


RAN = {"batchId": 0, "durationMs": {"addBatch": 120, "triggerExecution": 150}}
IDLE = {"batchId": 1, "durationMs": {"latestOffset": 2, "triggerExecution": 2}}


@pytest.mark.parametrize(
    ("reports", "expected"),
    [([], False), ([IDLE], False), ([RAN], True), ([RAN, IDLE, IDLE], True)],
    ids=["nothing", "idle from the start", "the only one", "idle behind the only one"],
)
def test_a_query_has_progressed_once_it_has_run_a_micro_batch(reports: list[dict[str, Any]], *, expected: bool) -> None:
    query = cast("Any", SimpleNamespace(recentProgress=reports))
    assert progressed(query) is expected


def start(trigger_ms: int = 1) -> Start:
    return Start("query", "module", Endpoints("in", "out", "state", 1, trigger_ms))


def query_of(session: Any, recorder: Recorder) -> Query:
    log: Any = FakeLog(session)
    return Query(session, start(), log, "source[0]", recorder)


def events_of_failures(*, excused: bool = False, damaged: bool = False) -> list[Event]:
    """What becomes of a query that fails once more than it may."""
    recorder, session = Clocked(), FakeSession()
    query = query_of(session, recorder)
    query.excused = lambda: excused
    damages: Any = SimpleNamespace(acts=damaged, notice=lambda: None, tend=lambda: None)
    query.damages = damages
    for _ in range(FAILURES_IN_A_ROW + 1):
        begin(query, session, recorder)
        tell(query, session, Ended(session.started.query, "connection refused"))
    return list(recorder.happened())


@pytest.mark.parametrize("excused", [False, True])
def test_what_fails_while_a_service_is_down_does_not_count(excused: bool) -> None:
    switched = [event for event in events_of_failures(excused=excused) if isinstance(event, JobSwitched)]
    assert any(event.status is JobStatus.FAILED for event in switched) is not excused


def test_a_checkpoint_that_cannot_be_read_is_told_and_waited_for() -> None:
    events = events_of_failures(damaged=True)
    failed = [event for event in events if isinstance(event, RecoveryFailed)]
    assert {(event.checkpoint, event.reason) for event in failed} == {(5, "connection refused")}
    assert len(failed) == FAILURES_IN_A_ROW + 1
    assert not any(event.status is JobStatus.FAILED for event in events if isinstance(event, JobSwitched))
    assert not any(isinstance(event, RecoveryFailed) for event in events_of_failures())


def test_it_rests_when_no_micro_batch_has_begun_for_an_interval() -> None:
    looks = iter([(4, 4), (5, 4), (5, 5), (5, 5), (5, 5)])
    recorder = Clocked()
    session: Any = FakeSession()
    log: Any = FakeLog(session)
    query = Query(session, start(trigger_ms=20), log, "source[0]", recorder)
    begin(query, session, recorder)
    recorder.now_ms, log.committed = 0.0, 3

    def wait(_seconds: float) -> None:
        recorder.now_ms += 10
        log.planned, log.committed = next(looks)

    session.wait = wait
    query.tend = lambda: None  # type: ignore[method-assign]
    query.rest()
    assert (list(looks), recorder.now_ms) == ([], 50)


def test_a_query_that_ends_by_itself_without_an_error_is_started_again_and_has_not_failed() -> None:
    """As one does that takes what there is: its scheduler starts it again."""
    recorder, session = Clocked(), FakeSession()
    query = query_of(session, recorder)
    for number in range(1, 2 * FAILURES_IN_A_ROW + 1):
        begin(query, session, recorder)
        tell(query, session, Ended(session.started.query))
        assert (session.started.query, query.running) == (f"query.{number}", False)
    assert not any(event.status is JobStatus.FAILED for event in recorder.happened() if isinstance(event, JobSwitched))


def test_the_checkpoint_is_contended_until_each_former_driver_program_is_over() -> None:
    query = query_of(FakeSession(), Recorder())
    contended = [query.contended]
    former: Any = SimpleNamespace(over=False)
    query.formers += [SimpleNamespace(over=True), former]  # type: ignore[list-item]
    contended.append(query.contended)
    former.over = True
    contended.append(query.contended)
    assert contended == [False, True, False]
