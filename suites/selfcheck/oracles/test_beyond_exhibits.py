"""What oracles leave undecided, and what else no exhibit can say of them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.harness.model import events
from holdfast.harness.model.events import AckSent, AttemptStarted, BatchProcessed, CheckpointCompleted, SnapshotTaken
from holdfast.harness.model.history import History, of_the_job
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, WINDOW_SUM
from holdfast.harness.oracles.coordinator.trend import excess
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, HISTORIES, Line, at, injected, story
from holdfast.suites.selfcheck.oracles.histories.chains import CHAINS
from holdfast.suites.selfcheck.oracles.histories.cut import COUNTING
from holdfast.suites.selfcheck.oracles.histories.message import BOTH_LIVE, FORMER, LEARNS
from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import COPIED, WIDER
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import attempt, failure, of_each

OF_STATE = ("state-extra", "state-missing", "key-wrong", "window-outlives")
UNDECIDED: dict[str, tuple[str, ...]] = {
    "live/undecided/positions-unknown": ("input-not-drained",),
    "pace/undecided/all-is-late-on-a-busy-machine": ("records-stand-still",),
    "pace/undecided/nothing-due-before-the-second-half": ("records-stand-still",),
    "pace/undecided/records-wait-in-the-harness": ("records-stand-still",),
    "pace/undecided/synchronous-write-held-up": ("records-stand-still",),
    "queue/undecided/six-times-the-target-on-a-slow-link": ("queued-too-long",),
    "retain/undecided/store-fails-by-itself": ("failed-deletion-fails",),
    "savepoint/undecided/in-version-1-14-it-is-a-recovery-point": (),
    "savepoint/undecided/may-run-without-an-operator": (),
    "state/undecided/no-watermark": OF_STATE,
    "state/undecided/one-subtask-of-windows-unread": OF_STATE,
    "state/undecided/one-subtask-unread": OF_STATE,
    "state/undecided/outlived-under-at-least-once": OF_STATE,
    "state/undecided/positions-unknown": OF_STATE,
    "state/undecided/repeated-under-at-least-once": OF_STATE,
    "state/undecided/unaligned": OF_STATE,
}
"""By history, the clauses that are not decided; none is broken."""


@pytest.mark.parametrize("name", UNDECIDED)
def test_a_clause_that_cannot_be_decided_is_not(name: str) -> None:
    verdict = BY_NAME[name.partition("/")[0].upper()].judge(HISTORIES[name]())
    assert not verdict.anomalies
    assert not verdict.checked.keys() & {*UNDECIDED[name]}


@pytest.mark.parametrize(
    "name",
    [
        "reread/undecided/a-checkpoint-failed-in-between",
        "reread/undecided/sources-lag-behind",
        "trend/undecided/until-one-fails",
    ],
)
def test_what_cannot_be_told_is_not_decided(name: str) -> None:
    assert not BY_NAME[name.partition("/")[0].upper()].judge(HISTORIES[name]()).checked


FORGED = story(
    attempt(), of_each(events.TaskStarted, *SUBTASKS), at("harness", injected("forge", "worker[1]")),
    events.TriggerReceived(checkpoint=1, subtask="source[1]"),
)  # fmt: skip
LATE = story(
    attempt(), of_each(events.TaskStarted, *SUBTASKS), events.TriggerSent(checkpoint=1, subtask="source[1]"),
    real_time=True,
)  # fmt: skip


@pytest.mark.parametrize(("history", "clause"), [(FORGED, "never-sent"), (LATE, "never-received")])
def test_a_message_may_be_forged_or_late_on_a_busy_machine(history: History, clause: str) -> None:
    assert clause not in BY_NAME["MESSAGE"].judge(history).checked


def test_progress_says_nothing_where_a_process_may_wait_for_the_machine() -> None:
    history = HISTORIES["progress/attempt-not-started/nothing-begins-again"]()
    history.end = replace(history.end, real_time=True)
    assert BY_NAME["PROGRESS"].judge(history).had_nothing_to_decide


def test_of_tasks_alone_nothing_is_known_about_operators() -> None:
    assert not BY_NAME["CHAIN"].applies(HISTORIES["chain/undecided/seen-as-tasks"]())
    assert BY_NAME["CHAIN"].applies(HISTORIES["chain/operator-missing/heads-alone-take-snapshots"]())


def test_few_checkpoints_say_nothing() -> None:
    assert not BY_NAME["TREND"].applies(HISTORIES["trend/undecided/few"]())


def test_the_excess_of_ranks_is_that_of_the_books() -> None:
    """Two groups of three without ties: the sum of the higher ranks is 15, its mean 10.5, its variance 5.25."""
    assert excess([1, 2, 3], [4, 5, 6]) == pytest.approx(4.5 / 5.25**0.5)
    assert excess([4, 5, 6], [1, 2, 3]) == pytest.approx(-4.5 / 5.25**0.5)
    assert excess([1, 1], [1, 1]) == 0
    assert excess([1, 2, 2], [2, 3, 4]) == pytest.approx((14 - 10.5) / (9 / 12 * (7 - 24 / 30)) ** 0.5)


@pytest.mark.parametrize(("job", "applies"), [(KEYED_SUM, True), (FORWARD, False), (WINDOW_SUM, True)])
def test_state_is_judged_of_sums_only(job: Job, applies: bool) -> None:
    assert BY_NAME["STATE"].applies(story(job=job)) is applies
    assert not BY_NAME["STATE"].applies(story(job=job, claimed=frozenset()))


def test_other_oracles_do_not_see_what_a_superseded_coordinator_says_but_what_it_stores() -> None:
    reported = story(*BOTH_LIVE, at(FORMER, CheckpointCompleted(checkpoint=1)), LEARNS, options={})
    assert reported.of(CheckpointCompleted)
    assert not of_the_job(reported).of(CheckpointCompleted)
    stored = HISTORIES["fence/superseded-acted/superseded-publishes"]()
    assert of_the_job(stored) is stored


def test_copies_of_broadcast_state_that_differ_are_named() -> None:
    """All sums and counts are right: only the copies are not."""
    history = story(*COPIED[9], faults=(WIDER,), options=COUNTING)
    anomalies = BY_NAME["RESTORE"].judge(history).anomalies
    assert [each.message.partition(" starts with ")[2] for each in anomalies] == [
        "copies of broadcast state that differ from each other, or from those that were recorded"
    ]


def test_under_full_failover_there_is_one_region() -> None:
    full = {"jobmanager.execution.failover-strategy": "full", "execution.checkpointing.interval": "100 ms"}
    begun = (
        attempt(), of_each(events.TaskStarted, *CHAINS[0], *CHAINS[1]), failure("it fails", CHAINS[0][0], *CHAINS[0]),
    )  # fmt: skip
    verdict = BY_NAME["REGION"].judge(story(*begun, attempt(), job=FORWARD, options=full))
    assert not verdict.anomalies
    assert not verdict.checked
    torn = BY_NAME["REGION"].judge(story(*begun, attempt(None, *CHAINS[0]), job=FORWARD, options=full))
    assert not torn.checked, "one region has no other: what it lacks is decided by COORD and LIVE"


@pytest.mark.parametrize(("times", "named"), [(1, 0), (2, 0), (3, 1)])
def test_uploads_of_several_subtasks_while_their_worker_stands_are_one_accident(times: int, named: int) -> None:
    subtasks = ("sum[0]", "sink[0]")
    lines: list[Line] = [AttemptStarted()]
    for checkpoint in range(1, times + 1):
        for position in range(4):
            lines += [1, *(BatchProcessed(channel=f"in->{each}", position=position, records=1) for each in subtasks)]
        lines += [SnapshotTaken(subtask=each, checkpoint=checkpoint, state=None) for each in subtasks]
        lines += [20, *(AckSent(subtask=each, checkpoint=checkpoint) for each in subtasks)]
    lines += [1, *(BatchProcessed(channel=f"in->{each}", position=4, records=1) for each in subtasks)]
    assert len(BY_NAME["SNAPSHOT"].judge(story(*lines)).anomalies) == named


@pytest.mark.parametrize(("checkpoints", "named"), [((1, 1, 1), 0), ((1, 2, 3), 1)])
def test_uploads_of_one_checkpoint_one_after_the_other_are_one_accident(
    checkpoints: tuple[int, ...], named: int
) -> None:
    """No record comes behind its barrier for a while."""
    lines: list[Line] = [AttemptStarted()]
    for subtask, checkpoint in zip(("sum[0]", "sum[1]", "sink[0]"), checkpoints, strict=True):
        batches = [BatchProcessed(channel=f"in->{subtask}", position=position, records=1) for position in range(5)]
        lines += [line for each in batches[:4] for line in (1, each)]
        lines += [SnapshotTaken(subtask=subtask, checkpoint=checkpoint, state=None), 20]
        lines += [AckSent(subtask=subtask, checkpoint=checkpoint), 1, batches[4]]
    assert len(BY_NAME["SNAPSHOT"].judge(story(*lines)).anomalies) == named
