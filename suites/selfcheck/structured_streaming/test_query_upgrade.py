"""A query whose next version takes its place: what it does, and what is said where that does not go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.fixtures.systems.structured_streaming.endpoints import Endpoints
from holdfast.fixtures.systems.structured_streaming.failures import FAILURES_IN_A_ROW
from holdfast.fixtures.systems.structured_streaming.messages import Ended, Progressed, Start, Started, Stop
from holdfast.fixtures.systems.structured_streaming.query import Query, Stage
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.events import CheckpointCompleted, Event, JobStatus, JobSwitched

CHECKPOINT = "file:///checkpoint"
FIRST = Start("query", "/team/orders.py", Endpoints("in", "out", CHECKPOINT, 1, 1))
NEXT = Start("query", "/team/orders_v2.py", FIRST.endpoints)


class FakeSession:
    """A driver program that obeys."""

    lives, dead, usable, version = 1, False, True, "4.0.0"
    executors: dict[int, object] = {}

    def __init__(self) -> None:
        self.did: list[str] = []

    def send(self, command: object) -> None:
        if isinstance(command, Stop):
            self.did.append(f"stop idle={command.idle}")

    def hear(self) -> list[object]:
        return [Ended("query.1")]

    def kill_driver(self) -> None:
        self.did.append("kill")

    def serve(self, home: tuple[str, ...]) -> None:
        self.did.append(f"serve {' '.join(home)}")

    def await_driver_death(self) -> None:
        pass


class FakeLog:
    """Of checkpoints, to which commits are added by hand."""

    look_interval_ms, committed, planned = 0, 4, 4

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

    def exists(self) -> bool:
        return True


class Upgraded:
    """A query that runs, and is upgraded."""

    def __init__(self, *, kill: bool = False, replay: bool = False) -> None:
        self.session, self.recorder = FakeSession(), Recorder()
        self.log = FakeLog(self.session)
        session: Any = self.session
        log: Any = self.log
        self.query = Query(session, FIRST, log, "source[0]", self.recorder, NEXT)
        self.begin()
        self.log.commit()
        self.query.upgrade(kill=kill, replay=replay)

    def begin(self) -> None:
        self.query._begin()
        self.query._take(Started(self.query._start.query))

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
    assert upgraded.query._stage is Stage.RESTART
    assert upgraded.query.upgraded
    upgraded.begin()
    assert upgraded.query._start.pipeline == NEXT.pipeline
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
    if commits:
        upgraded.begin()
        upgraded.log.commit()
        upgraded.query._watch.record()
    for _ in range(FAILURES_IN_A_ROW):
        assert not upgraded.failure()
        upgraded.begin()
        upgraded.query._take(Ended(upgraded.query._start.query, "no such state"))
    assert upgraded.failure() == reason


@pytest.mark.parametrize("commits", [False, True])
def test_one_that_commits_elsewhere_does_not_go_on(commits: bool) -> None:
    upgraded = Upgraded()
    upgraded.begin()
    if commits:
        upgraded.log.commit()
    upgraded.query._take(Progressed(upgraded.query._start.query))
    failure = upgraded.failure()
    assert bool(failure) is not commits
    if failure:
        assert failure.startswith("the next version (orders_v2.py) does not go on from this checkpoint: ")
        assert failure.endswith(f"none is in {CHECKPOINT}")
