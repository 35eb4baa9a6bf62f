"""Histories for COUNT: what a coordinator reports of its job."""

from __future__ import annotations

from holdfast.harness.model.events import AttemptStarted, JobStatus, JobSubmitted, JobSwitched, NodeDied
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits
from holdfast.suites.selfcheck.oracles.histories.count import FIXED, restarts, story

bad, near = exhibits("COUNT")

RUNNING, RESTARTING, FINISHED = JobStatus.RUNNING, JobStatus.RESTARTING, JobStatus.FINISHED


def reported(*statuses: JobStatus) -> list[Line]:
    return [JobSwitched(status=status) for status in statuses]


@bad("ended-again")
def finished_twice() -> History:
    return story(FIXED, *reported(RUNNING, FINISHED, FINISHED))


@bad("ended-again")
def runs_on_after_its_end() -> History:
    return story(FIXED, *reported(RUNNING, JobStatus.CANCELED, RUNNING))


@bad("ended-again")
def runs_on_though_suspended() -> History:
    return story(FIXED, *reported(RUNNING, JobStatus.SUSPENDED, RUNNING))


@bad("ended-again")
def starts_again_behind_its_end() -> History:
    return story(FIXED, *reported(RUNNING, JobStatus.CANCELED), AttemptStarted(), *reported(RUNNING))


@near("ended-again")
def leads_again_and_begins_another_attempt() -> History:
    return story(FIXED, *reported(RUNNING, JobStatus.SUSPENDED), AttemptStarted(), *reported(RUNNING, FINISHED))


@near("ended-again")
def ends_once() -> History:
    return story(FIXED, *reported(RUNNING, JobStatus.CANCELLING, JobStatus.CANCELED))


@near("ended-again")
def the_next_coordinator_reports_the_end_as_well() -> History:
    died = NodeDied(dead_node="coordinator", cause="kill")
    return story(FIXED, *reported(RUNNING, FINISHED), died, *reported(FINISHED))


@near("ended-again")
def the_next_job_ends_too() -> History:
    first, second = (at("coordinator.0", JobSubmitted(), attempt) for attempt in (0, 10))
    again = [at("coordinator.0", JobSwitched(status=status), 11) for status in (RUNNING, FINISHED)]
    return story(FIXED, first, *reported(RUNNING, FINISHED), second, at("coordinator.0", AttemptStarted(), 11), *again)


@bad("restart-unannounced")
def runs_again_and_never_restarted() -> History:
    return story(FIXED, *reported(RUNNING), *restarts(), *reported(RUNNING))


@bad("restart-unannounced")
def only_the_first_restart_is_reported() -> History:
    return story(FIXED, *reported(RUNNING, RESTARTING), *restarts(), *reported(RUNNING), *restarts())


@near("restart-unannounced")
def each_restart_is_reported() -> History:
    return story(FIXED, *reported(RUNNING, RESTARTING), *restarts(), *reported(RUNNING, RESTARTING), *restarts())
