"""Where the answer to a user stands among what the JobManager has logged."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from holdfast.fixtures.systems.flink import hearing
from holdfast.fixtures.systems.flink.cluster import MASTER, Cluster
from holdfast.fixtures.systems.flink.hearing import Hearing, Lives
from holdfast.fixtures.systems.flink.log import Line
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointTriggered,
    Event,
    RescaleAccepted,
    RescaleRefused,
    RescaleRequested,
)
from holdfast.harness.model.evidence import Evidence
from holdfast.suites.selfcheck.flink.scripted import ScriptedLog, ScriptedProcess
from holdfast.suites.selfcheck.flink.test_logs import COORDINATOR, GRAPH, JOB, TASKS, TRIGGERED, a_master

SCHEDULER = "org.apache.flink.runtime.scheduler.adaptive.AdaptiveScheduler"
DECIDED = "Transition from state Restarting to CreatingExecutionGraph."
FORMER, REQUIRED = 3, 1
BEFORE_MS, BEHIND_MS = -1_000.0, 1_000.0
"""From the answer: long before it came, and long behind it."""
NODE = "coordinator.0"
NOW_NS, SINCE_1970_NS = 10**17, (1_795_660_711_696 + 500) * 10**6
"""Half a second behind the time that the barriers of TRIGGERED carry."""


@pytest.fixture(autouse=True)
def clocks_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = SimpleNamespace(time_ns=lambda: SINCE_1970_NS, monotonic_ns=lambda: NOW_NS)
    monkeypatch.setattr(hearing, "time", clocks)


class Heard:
    """What is heard of one JobManager."""

    def __init__(self) -> None:
        self.log, self.recorder = ScriptedLog(), Recorder()
        self.recorder.start_clock()
        processes = {MASTER: ScriptedProcess(MASTER, self.log)}
        cluster = cast("Cluster", SimpleNamespace(processes=processes, recovers=False))
        self.logs = Hearing(cluster, self.recorder, lambda event: None)
        self.lives = Lives(cluster, self.recorder, self.logs.hear, lambda: None)
        self.master = a_master()
        self.logs.follow(self.master, self.lives)

    def write(self, after_ms: float, logger: str, text: str) -> None:
        self.log.written.append(Line(t=SINCE_1970_NS / 1e6 + after_ms, c=logger, m=text))

    def attempt(self, width: int, decided_ms: float, scheduled_ms: float) -> None:
        self.write(decided_ms, SCHEDULER, DECIDED)
        self.write(
            scheduled_ms, COORDINATOR, f"Restoring job {JOB} from Checkpoint 6 @ 1 for {JOB} located at file:/6."
        )
        for switch in ("CREATED to SCHEDULED", "SCHEDULED to DEPLOYING"):
            for task, execution in TASKS:
                self.write(scheduled_ms, GRAPH, f"{task} (1/{width}) ({execution}_0_1) switched from {switch}.")

    def order(self, *kinds: type[Event]) -> list[type[Event]]:
        self.logs.hear()
        return [type(event) for event in self.recorder.nodes[NODE] if isinstance(event, kinds)]


@pytest.mark.parametrize(
    ("width", "decided_ms", "scheduled_ms", "behind"),
    [
        (FORMER, BEFORE_MS, BEFORE_MS, False),
        (FORMER, BEFORE_MS, BEHIND_MS, False),  # Its tasks were made meanwhile.
        (FORMER, BEHIND_MS, BEHIND_MS, True),
        (REQUIRED, BEFORE_MS, BEFORE_MS, True),  # The answer was late.
        (REQUIRED, BEHIND_MS, BEHIND_MS, True),
    ],
)
def test_an_attempt_is_behind_an_answer_if_it_follows_it_or_must(
    width: int, decided_ms: float, scheduled_ms: float, *, behind: bool
) -> None:
    heard = Heard()
    heard.logs.hold(RescaleAccepted(parallelism=REQUIRED, attempt=1))
    heard.attempt(width, decided_ms, scheduled_ms)
    heard.write(BEHIND_MS, COORDINATOR, TRIGGERED)
    order = heard.order(AttemptStarted, RescaleAccepted, CheckpointTriggered)
    first = [RescaleAccepted, AttemptStarted] if behind else [AttemptStarted, RescaleAccepted]
    assert order == [*first, CheckpointTriggered]


def test_of_two_attempts_that_are_behind_an_answer_neither_is_taken_for_an_earlier_one() -> None:
    heard = Heard()
    heard.logs.hold(RescaleAccepted(parallelism=REQUIRED, attempt=1))
    heard.attempt(FORMER, BEFORE_MS, BEHIND_MS)
    heard.attempt(FORMER, BEHIND_MS, BEHIND_MS)
    heard.write(BEHIND_MS, COORDINATOR, TRIGGERED)
    order = heard.order(AttemptStarted, RescaleAccepted)
    assert order == [AttemptStarted, RescaleAccepted, AttemptStarted]


def test_an_answer_waits_for_what_was_logged_before_it_and_for_nothing_else() -> None:
    heard = Heard()
    heard.attempt(FORMER, BEFORE_MS, BEFORE_MS)
    heard.logs.hear()
    heard.logs.hold(RescaleRefused(parallelism=REQUIRED, reason="no room", attempt=1))
    heard.write(BEFORE_MS, COORDINATOR, TRIGGERED)
    assert heard.order(RescaleRefused, CheckpointTriggered) == [CheckpointTriggered]
    heard.logs.settle()
    heard.logs.settle()
    assert heard.order(RescaleRefused, CheckpointTriggered) == [CheckpointTriggered, RescaleRefused]


def test_an_answer_is_of_who_gave_it_at_the_time_when_it_did() -> None:
    heard = Heard()
    heard.logs.hold(RescaleAccepted(parallelism=REQUIRED, attempt=1))
    heard.lives.bury(MASTER, "exit code 1")
    heard.logs.settle()
    [accepted] = [event for event in heard.recorder.nodes[NODE] if isinstance(event, RescaleAccepted)]
    assert accepted.time_ns == heard.recorder.since_start_ns(NOW_NS)
    assert accepted.evidence is Evidence.BOUNDARY


def request(heard: Heard, parallelism: int) -> None:
    heard.logs.hold(RescaleRequested(parallelism=parallelism, attempt=1))
    heard.logs.hold(RescaleAccepted(parallelism=parallelism, attempt=1))


def test_a_request_is_behind_the_answer_to_the_one_before() -> None:
    heard = Heard()
    request(heard, FORMER)
    heard.write(BEFORE_MS, COORDINATOR, TRIGGERED)
    heard.logs.hear()
    request(heard, REQUIRED)
    heard.attempt(REQUIRED, BEHIND_MS, BEHIND_MS)
    heard.write(BEHIND_MS, COORDINATOR, TRIGGERED)
    answers = [RescaleRequested, RescaleAccepted]
    assert heard.order(*answers, AttemptStarted) == [*answers, *answers, AttemptStarted]


def test_an_attempt_follows_one_answer_and_waits_for_no_other() -> None:
    """The first of three requests was taken up, and then its attempt was decided."""
    heard = Heard()
    for parallelism in (FORMER, REQUIRED, 2):
        request(heard, parallelism)
    heard.attempt(FORMER, BEFORE_MS, BEHIND_MS)
    heard.write(BEHIND_MS, COORDINATOR, TRIGGERED)
    answers = [RescaleRequested, RescaleAccepted]
    assert heard.order(*answers, AttemptStarted) == [*answers, AttemptStarted, *answers, *answers]
