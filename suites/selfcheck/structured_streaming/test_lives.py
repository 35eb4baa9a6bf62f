"""The driver program and its executors, through their lives, as a run records them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.fixtures.systems.structured_streaming import lives as module
from holdfast.fixtures.systems.structured_streaming.controls import CONTAINER, StreamingProcesses
from holdfast.fixtures.systems.structured_streaming.lives import Lives
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.events import NodeDied
from holdfast.harness.model.target import Role, Target

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


def deaths(recorder: Recorder) -> list[tuple[str, str]]:
    events = recorder.nodes.get("harness", ())
    return [(event.dead_node, event.cause) for event in events if isinstance(event, NodeDied)]


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
