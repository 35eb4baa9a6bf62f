"""LIVE, beyond its exhibits."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.harness.model import events
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Damage, Outcome
from holdfast.harness.oracles.liveness.live import LiveOracle
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, MS, Line, at, injected, story

FORMER, SUCCESSOR = "coordinator.0", "coordinator.1"
CANCEL = FaultSpec("cancel", Target(Role.COORDINATOR))


@pytest.mark.parametrize(
    ("acted", "landed", "status", "outcome"),
    [
        (False, None, events.JobStatus.RUNNING, Outcome.INCONCLUSIVE),
        (True, None, events.JobStatus.RUNNING, Outcome.INCONCLUSIVE),
        (False, None, events.JobStatus.RESTARTING, Outcome.FAIL),
        (True, False, events.JobStatus.RUNNING, Outcome.FAIL),
        (True, True, events.JobStatus.RUNNING, Outcome.FAIL),
    ],
    ids=["never acted", "too late", "never ran", "without effect", "landed"],
)
def test_an_end_is_not_owed_whose_fault_never_acted_on_a_job_that_ran(
    acted: bool, landed: bool | None, status: events.JobStatus, outcome: Outcome
) -> None:
    """One kill, from which the job was to fail and did not."""
    end = RunEnd(reached=False, reason="the job did not fail", faults_acted=(acted,), faults_landed=(landed,))
    happened = [events.AttemptStarted(), events.JobSwitched(status=status)]
    history = story(*happened, faults=(FaultSpec("kill"),), expected=ExpectedEnd.FAILED, end=end)
    assert BY_NAME["LIVE"].judge(history).outcome is outcome


R, S = events.JobStatus.RUNNING, events.JobStatus.RESTARTING


@pytest.mark.parametrize(
    ("course", "outcome"),
    [
        ((R, 0, 1, S, R), Outcome.INCONCLUSIVE),
        ((R, 0, S, 1, R), Outcome.INCONCLUSIVE),
        ((R, 0, S, R, 1, S, R), Outcome.FAIL),
        ((R, 0, 1), Outcome.FAIL),
        ((R, 0, 1, S), Outcome.FAIL),
    ],
    ids=["at once", "before it ran again", "each its own failure", "seen by nobody", "never up again"],
)
def test_an_end_is_not_owed_where_two_kills_were_one_failure(
    course: tuple[events.JobStatus | int, ...], outcome: Outcome
) -> None:
    """Two kills, from which the job was to fail and did not."""
    end = RunEnd(reached=False, reason="the job did not fail", faults_landed=(True, True))
    happened = [
        injected("kill", f"worker[{step}]", step) if isinstance(step, int) else events.JobSwitched(status=step)
        for step in course
    ]
    kills = (FaultSpec("kill"), FaultSpec("kill"))
    history = story(events.AttemptStarted(), *happened, faults=kills, expected=ExpectedEnd.FAILED, end=end)
    assert BY_NAME["LIVE"].judge(history).outcome is outcome


@pytest.mark.parametrize(
    ("dead", "outcome"),
    [("coordinator", Outcome.INCONCLUSIVE), ("worker-0", Outcome.FAIL), ("", Outcome.FAIL)],
)
def test_an_end_is_not_due_when_the_coordinator_died_with_the_command(dead: str, outcome: Outcome) -> None:
    """A user cancels a job, which runs on."""
    end = RunEnd(reached=False, reason="the job is not canceled", faults_landed=(False,))
    lines: list[events.Event] = [
        events.AttemptStarted(),
        events.JobSwitched(status=R),
        injected("cancel", "coordinator[0]", 0),
    ]
    lines += [events.NodeDied(dead_node=dead, cause="kill")] if dead else []
    history = story(
        *lines,
        events.JobSwitched(status=R),
        faults=(FaultSpec("cancel", Target(Role.COORDINATOR)),),
        expected=ExpectedEnd.CANCELED,
        end=end,
    )
    assert BY_NAME["LIVE"].judge(history).outcome is outcome


@pytest.mark.parametrize(("completing", "outcome"), [(1, Outcome.INCONCLUSIVE), (2, Outcome.FAIL)])
def test_a_coordinator_that_went_on_for_two_checkpoints_had_the_command(completing: int, outcome: Outcome) -> None:
    """A user cancels a job; its coordinator completes checkpoints, dies, and the job runs on."""
    end = RunEnd(reached=False, reason="the job is not canceled", faults_landed=(False,))
    checkpoints: list[events.Event] = []
    for checkpoint in range(1, completing + 1):
        triggered = events.CheckpointTriggered(checkpoint=checkpoint, participants=("source[0]",))
        checkpoints += [triggered, events.CheckpointCompleted(checkpoint=checkpoint)]
    history = story(
        events.AttemptStarted(),
        events.JobSwitched(status=R),
        injected("cancel", "coordinator[0]", 0),
        checkpoints,
        events.NodeDied(dead_node="coordinator", cause="kill"),
        events.JobSwitched(status=R),
        faults=(FaultSpec("cancel", Target(Role.COORDINATOR)),),
        expected=ExpectedEnd.CANCELED,
        end=end,
    )
    assert BY_NAME["LIVE"].judge(history).outcome is outcome


def message(history: History) -> str:
    return next(each.message for each in BY_NAME["LIVE"].judge(history).anomalies if each.clause == "end-not-reached")


STALLED = RunEnd(reached=False, reason="1 of 2 checkpoints triggered after the heal completed")


def test_a_missing_transaction_is_named_with_its_sink() -> None:
    happened = [
        events.AttemptStarted(),
        events.JobSwitched(status=events.JobStatus.RUNNING),
        events.CheckpointTriggered(checkpoint=1, participants=("sink[0]",)),
        events.TransactionPrecommitted(subtask="sink[0]", transaction="t-1", checkpoint=1, records=4),
        events.TransactionPrecommitted(subtask="sink[1]", transaction="t-2", checkpoint=1, records=4),
        events.CheckpointCompleted(checkpoint=1, positions=(10, 10)),
        events.TransactionCommitted(subtask="sink[1]", transaction="t-2"),
    ]
    end = replace(STALLED, reason="transaction t-1 of a completed checkpoint was not committed")
    promised = "transaction t-1 of sink[0], which completed checkpoint 1 promises"
    assert message(story(*happened, end=end)) == f"the job runs: {end.reason}; {promised}, is not committed"
    happened.append(events.TransactionAborted(subtask="sink[0]", transaction="t-1"))
    assert message(story(*happened, end=end)).endswith(f"{promised}, was aborted")


def test_a_missing_acknowledgement_is_named_with_its_subtask() -> None:
    pending = [
        events.AttemptStarted(),
        events.JobSwitched(status=events.JobStatus.RUNNING),
        events.CheckpointTriggered(checkpoint=4, participants=("source[0]", "sum[0]", "sum[1]")),
        events.AckReceived(checkpoint=4, subtask="source[0]", outcome=events.AckOutcome.SUCCESS),
        events.AckReceived(checkpoint=4, subtask="sum[0]", outcome=events.AckOutcome.SUCCESS),
    ]
    what = "the acknowledgement of sum[1]"
    assert message(story(*pending, end=STALLED)) == f"the job runs: {STALLED.reason}; checkpoint 4 lacks {what}"
    expired = [*pending, events.CheckpointAborted(checkpoint=4, reason="expired")]
    assert message(story(*expired, end=STALLED)).endswith(f"checkpoint 4, aborted (expired), lacked {what}")


def test_a_job_that_does_not_run_is_called_what_it_is() -> None:
    happened = [events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RESTARTING)]
    assert message(story(*happened, end=STALLED)).startswith(f"the job is {events.JobStatus.RESTARTING}: 1 of 2")
    assert message(story(end=STALLED)).startswith("the job is not seen to be running: 1 of 2")


@pytest.mark.parametrize(
    ("expected", "reason", "words", "damage"),
    [
        (
            ExpectedEnd.FAILED,
            "the job did not fail",
            "the job still runs or restarts, where it must end as failed",
            Damage.WRONG_RESTART,
        ),
        (ExpectedEnd.CANCELED, "the job is not canceled", "the job is not canceled", None),
        (ExpectedEnd.CANCELED, "", "the job is not canceled", None),
    ],
)
def test_an_end_that_did_not_come_is_told_once(
    expected: ExpectedEnd, reason: str, words: str, damage: Damage | None
) -> None:
    happened = [events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING)]
    end = RunEnd(reached=False, reason=reason)
    (anomaly,) = BY_NAME["LIVE"].judge(story(*happened, expected=expected, end=end)).anomalies
    assert (anomaly.message, anomaly.damage) == (words, damage)


def completed(node: str, checkpoint: int) -> list[Line]:
    """A coordinator triggers a checkpoint and completes it."""
    return [
        at(node, events.CheckpointTriggered(checkpoint=checkpoint, participants=()), attempt=1),
        at(node, events.CheckpointCompleted(checkpoint=checkpoint), attempt=1),
    ]


def cancelled(*between: list[Line]) -> History:
    """A user gives the former coordinator the command, which has no effect; it dies at the end, and the job runs on."""
    lines: list[Line] = [line for each in between for line in each]
    end = RunEnd(
        False,
        "the job is not canceled",
        ended_ns=10_000 * MS,
        faults_acted=(True,),
        faults_landed=(False,),
    )
    return story(
        at(FORMER, events.AttemptStarted(), attempt=1),
        at(FORMER, events.JobSwitched(status=events.JobStatus.RUNNING), attempt=1),
        injected("cancel", "coordinator[0]"),
        *lines,
        events.NodeDied(dead_node=FORMER, cause="kill"),
        at(SUCCESSOR, events.JobSwitched(status=events.JobStatus.RUNNING), attempt=1),
        faults=(CANCEL,),
        expected=ExpectedEnd.CANCELED,
        end=end,
    )


def clauses(history: History) -> set[str]:
    return {anomaly.clause for anomaly in LiveOracle().judge(history).anomalies}


def test_a_coordinator_that_goes_on_ignores_the_command() -> None:
    assert clauses(cancelled(completed(FORMER, 1), completed(FORMER, 2))) == {"end-not-reached"}


def test_a_command_dies_with_its_coordinator() -> None:
    assert not clauses(cancelled(completed(FORMER, 1)))


def test_it_does_so_while_a_successor_goes_on_with_the_job() -> None:
    assert not clauses(cancelled(completed(SUCCESSOR, 1), completed(SUCCESSOR, 2)))


SUSPEND, SUBMIT, KILL = (FaultSpec(kind, Target(Role.COORDINATOR)) for kind in ("suspend", "submit", "kill"))
SUSPENDED = events.JobSwitched(status=events.JobStatus.SUSPENDED)


def suspended(*lines: Line, then: FaultSpec, landed: tuple[bool | None, bool | None]) -> History:
    """A user suspends a job that is expected to run at the end; another fault of the plan comes after that."""
    end = RunEnd(
        reached=False,
        reason=STALLED.reason,
        ended_ns=10_000 * MS,
        faults_acted=tuple(each is not None for each in landed),
        faults_landed=landed,
    )
    order = injected("suspend", "coordinator[0]")
    return story(
        events.AttemptStarted(),
        events.JobSwitched(status=events.JobStatus.RUNNING),
        order,
        *lines,
        faults=(SUSPEND, then),
        end=end,
    )


def test_a_job_need_not_run_whose_submission_never_acted() -> None:
    assert not clauses(suspended(SUSPENDED, then=SUBMIT, landed=(True, None)))


def test_a_job_that_was_submitted_again_runs() -> None:
    again = injected("submit", "coordinator[0]", fault=1)
    assert "end-not-reached" in clauses(suspended(SUSPENDED, again, then=SUBMIT, landed=(True, True)))


def test_it_does_so_though_another_fault_never_acted() -> None:
    late = replace(STALLED, faults_acted=(True, True, False), faults_landed=(True, True, None))
    again = injected("submit", "coordinator[0]", fault=1)
    order = injected("suspend", "coordinator[0]")
    happened = [events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING), order, SUSPENDED, again]
    assert "end-not-reached" in clauses(story(*happened, faults=(SUSPEND, SUBMIT, KILL), end=late))


def test_a_job_runs_whose_suspension_had_no_effect() -> None:
    assert "end-not-reached" in clauses(suspended(then=SUBMIT, landed=(False, None)))


def test_a_job_that_ends_by_itself_is_not_excused_by_a_fault_that_never_acted() -> None:
    end = replace(STALLED, faults_acted=(False,), faults_landed=(None,))
    happened = [events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING), SUSPENDED]
    assert "end-not-reached" in clauses(story(*happened, faults=(KILL,), end=end))
