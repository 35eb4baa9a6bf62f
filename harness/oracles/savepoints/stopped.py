"""What SAVEPOINT decides of a job that is stopped, and of savepoints that no job is stopped with (RULES SAV-03, SAV-04,
SAV-07)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import StopMode
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.stated_options import texts

CLAUSES: Mapping[str, str] = {
    "emitted-behind-stop": "a job stops with a savepoint, and a subtask emits a batch after its part of it",
    "begun-behind-stop": "a checkpoint begins while the savepoint that its job ends with is under way, or complete",
    "not-stopped": "the savepoint that a job is to end with is complete, nothing failed, and the job has not ended",
    "stopped-silently": "a job has ended though the savepoint that it was to end with is not complete",
    "not-drained": "a subtask takes its part of a draining savepoint without having called finish()",
    "drained-unasked": "finish() is called for a savepoint that drains nothing",
    "savepoint-commits": "a savepoint that is no recovery point is announced to a task, or commits its transactions",
    "savepoint-restored": "an attempt goes back to a savepoint that is no recovery point",
}


def judge(history: History, findings: Findings) -> None:
    """Decide on each savepoint by what happened around it."""
    job_of = history.derived(Submissions).of
    for triggered in history.of(events.SavepointTriggered):
        if triggered.stop.synchronous:
            _judge_parts(history, triggered, findings)
        if triggered.stop is not StopMode.GO_ON:
            _judge_begun(history, triggered, findings)
            _judge_end(history, triggered, job_of(triggered), findings)
    _judge_recovery_points(history, findings)


def _judge_parts(history: History, triggered: events.SavepointTriggered, findings: Findings) -> None:
    """Judge the part of each subtask: nothing follows it, and finish() precedes it if a drain is requested."""
    attempt, drains = triggered.attempt, triggered.stop is StopMode.DRAIN
    taken: dict[str, events.SnapshotTaken] = {}
    finished: dict[str, events.OperatorFinished] = {}
    begun = history.position(triggered)
    kinds = (events.SnapshotTaken, events.OperatorFinished, events.BatchSent)
    for event in history.of_kinds(kinds):
        if event.attempt != attempt:
            continue
        if isinstance(event, events.OperatorFinished):
            if not drains and history.position(event) > begun:
                message = f"finish() of {event.subtask} is called, and savepoint {triggered.checkpoint} drains nothing"
                findings.check("drained-unasked")
                findings.violated("drained-unasked", message, triggered, event)
            finished[event.subtask] = event
        elif isinstance(event, events.SnapshotTaken):
            if event.checkpoint != triggered.checkpoint:
                continue
            taken[event.subtask] = event
            findings.check("not-drained" if drains else "drained-unasked")
            if drains and event.subtask not in finished:
                message = f"{event.subtask} takes its part of savepoint {event.checkpoint} before finish()"
                findings.violated("not-drained", message, triggered, event)
        elif isinstance(event, events.BatchSent):
            part = taken.get(event.channel.partition("->")[0])
            if part is not None:
                findings.check("emitted-behind-stop")
                message = f"batch {event.position} enters {event.channel} after savepoint {triggered.checkpoint}"
                findings.violated("emitted-behind-stop", message, part, event)
    findings.check("emitted-behind-stop", len(taken))


def _judge_begun(history: History, triggered: events.SavepointTriggered, findings: Findings) -> None:
    """Nothing else begins until the job is over, or goes on because it cannot stop. What comes behind the savepoint is
    newer than what the next job restores."""
    findings.check("begun-behind-stop")
    position = history.position(triggered)
    for event in history.of_kinds((*_GOES_ON, events.CheckpointTriggered)):
        if event.node != triggered.node or history.position(event) < position:
            continue
        if not isinstance(event, events.CheckpointTriggered):
            if not isinstance(event, events.CheckpointAborted) or event.checkpoint == triggered.checkpoint:
                return
        elif event.checkpoint != triggered.checkpoint:
            message = f"checkpoint {event.checkpoint} begins after savepoint {triggered.checkpoint}"
            findings.violated("begun-behind-stop", f"{message}, with which the job stops", triggered, event)
            return


_GOES_ON: tuple[type[events.Event], ...] = (
    events.CheckpointAborted, events.FailureCounted, events.JobSwitched, events.AttemptStarted, events.JobSubmitted,
)  # fmt: skip
"""What shows that a job does not stop, or has stopped; of checkpoints only the end of that savepoint does."""


def _judge_end(history: History, triggered: events.SavepointTriggered, job: int, findings: Findings) -> None:
    """The job finishes with the savepoint, or is cancelled with it, and not without it."""
    number = history.derived(Submissions).of
    ends = [event for event in history.of(events.JobSwitched) if number(event) == job]
    cancels = triggered.stop is StopMode.CANCEL
    over = (events.JobStatus.CANCELLING, events.JobStatus.CANCELED) if cancels else (events.JobStatus.FINISHED,)
    finished = next((event for event in ends if event.status in over), None)
    exempt = exemptions(history)
    with_savepoint = exempt.planned(Consequence.REQUESTS_SAVEPOINT)
    requested = any(fault not in with_savepoint for fault in exempt.planned(Consequence.ENDS_JOB))
    completed = by_checkpoint(history, events.SavepointCompleted).first.get((job, triggered.checkpoint))
    bounded = any(True for _ in history.of(events.SubtaskFinished))
    if completed is None:
        findings.check("stopped-silently")
        restarted = any(event.attempt > triggered.attempt for event in history.of(events.AttemptStarted))
        if finished is not None and not restarted and not bounded and not (cancels and requested):
            message = f"the job has ended, and savepoint {triggered.checkpoint} is not complete"
            findings.violated("stopped-silently", message, triggered, finished)
        return
    failed = any(history.position(event) > history.position(triggered) for event in history.of(events.FailureCounted))
    if failed or completed.node in exempt.dead or history.end.problem:
        return
    findings.check("not-stopped")
    since_ns, ended_ns = completed.time_ns, history.end.ended_ns
    if finished is None and ended_ns - since_ns - exempt.stalls.within_ns(since_ns, ended_ns) > PATIENCE_NS:
        message = f"savepoint {triggered.checkpoint} is complete, and the job has not ended"
        findings.violated("not-stopped", message, completed)


PATIENCE_NS = 1_000_000_000
"""Within this a job that has its savepoint ends: what it still commits takes no longer where nothing fails."""


def _judge_recovery_points(history: History, findings: Findings) -> None:
    """In later versions than 1.14 a savepoint that no job stops with is none."""
    if texts(history.plan).get(profile.PROFILE, profile.FLINK_2) == profile.FLINK_1_14:
        return
    job_of, requested = history.derived(Submissions).of, by_checkpoint(history, events.SavepointTriggered).first
    between = {
        savepoint: completed
        for savepoint, completed in by_checkpoint(history, events.SavepointCompleted).first.items()
        if savepoint not in requested or not requested[savepoint].stop.synchronous
    }
    findings.check("savepoint-commits", len(between))
    findings.check("savepoint-restored", len(between))
    for notice in history.of(events.NotificationSent):
        savepoint = between.get((job_of(notice), notice.checkpoint))
        if savepoint is not None and notice.completed:
            message = f"{notice.subtask} is notified to commit what savepoint {notice.checkpoint} promises"
            findings.violated("savepoint-commits", message, savepoint, notice)
    for started in history.of(events.AttemptStarted):
        savepoint = between.get((job_of(started), started.restored_checkpoint or 0))
        if savepoint is not None and history.position(savepoint) < history.position(started):
            message = f"attempt {started.attempt} goes back to savepoint {started.restored_checkpoint}"
            findings.violated("savepoint-restored", message, savepoint, started)
