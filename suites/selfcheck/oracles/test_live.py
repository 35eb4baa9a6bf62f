"""Exhibits of LIVE."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import AttemptStarted, Event, FaultInjected, JobStatus, JobSwitched, NodeDied
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.judging import BY_NAME, check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("LIVE"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


@pytest.mark.parametrize(
    ("acted", "landed", "status", "outcome"),
    [
        (False, None, JobStatus.RUNNING, Outcome.INCONCLUSIVE),
        (True, None, JobStatus.RUNNING, Outcome.INCONCLUSIVE),
        (False, None, JobStatus.RESTARTING, Outcome.FAIL),
        (True, False, JobStatus.RUNNING, Outcome.FAIL),
        (True, True, JobStatus.RUNNING, Outcome.FAIL),
    ],
    ids=["never acted", "too late", "never ran", "without effect", "landed"],
)
def test_an_end_is_not_owed_whose_fault_never_acted_on_a_job_that_ran(
    acted: bool, landed: bool | None, status: JobStatus, outcome: Outcome
) -> None:
    """One kill, from which the job was to fail and did not."""
    end = RunEnd(reached=False, reason="the job did not fail", faults_acted=(acted,), faults_landed=(landed,))
    told = [AttemptStarted(), JobSwitched(status=status)]
    history = story(*told, faults=(FaultSpec("kill"),), expected=ExpectedEnd.FAILED, end=end)
    assert BY_NAME["LIVE"].judge(history).outcome is outcome


R, S = JobStatus.RUNNING, JobStatus.RESTARTING


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
    course: tuple[JobStatus | int, ...], outcome: Outcome
) -> None:
    """Two kills, from which the job was to fail and did not."""
    end = RunEnd(reached=False, reason="the job did not fail", faults_landed=(True, True))
    told = [
        FaultInjected(step, "kill", f"worker[{step}]") if isinstance(step, int) else JobSwitched(status=step)
        for step in course
    ]
    kills = (FaultSpec("kill"), FaultSpec("kill"))
    history = story(AttemptStarted(), *told, faults=kills, expected=ExpectedEnd.FAILED, end=end)
    assert BY_NAME["LIVE"].judge(history).outcome is outcome


@pytest.mark.parametrize(
    ("dead", "outcome"),
    [("coordinator", Outcome.INCONCLUSIVE), ("worker-0", Outcome.FAIL), ("", Outcome.FAIL)],
)
def test_an_end_is_not_due_when_the_coordinator_died_with_the_command(dead: str, outcome: Outcome) -> None:
    """A user cancels a job, which runs on."""
    end = RunEnd(reached=False, reason="the job is not canceled", faults_landed=(False,))
    lines: list[Event] = [AttemptStarted(), JobSwitched(status=R), FaultInjected(0, "cancel", "coordinator[0]")]
    lines += [NodeDied(dead_node=dead, cause="kill")] if dead else []
    history = story(
        *lines,
        JobSwitched(status=R),
        faults=(FaultSpec("cancel", Target(Role.COORDINATOR)),),
        expected=ExpectedEnd.CANCELED,
        end=end,
    )
    assert BY_NAME["LIVE"].judge(history).outcome is outcome


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("LIVE")
