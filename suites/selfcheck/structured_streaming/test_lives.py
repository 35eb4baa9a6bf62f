"""The driver program and its executors, through their lives, as a run records them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.fixtures.systems.structured_streaming import lives as module
from holdfast.fixtures.systems.structured_streaming.lives import Lives
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.events import NodeDied

OURS, NEW = "worker-0.0", "worker-0.1"


def process() -> Any:
    made = SimpleNamespace(dead=False, paused=False)
    made.end = lambda: setattr(made, "dead", True)
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
