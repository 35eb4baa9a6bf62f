"""LOUD: what cannot be restored or run is reported, never silently replaced by less (RULES REC-08, STO-01, CFG-01)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.topology import process_of
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.layout import Layouts
from holdfast.harness.oracles.shared.recorded import Recorded

REACH_DIRECTORY = "reach-directory"
"""The storage operation by which a worker finds out whether it can store checkpoints."""
REFUSED = "refused"
"""How the reason of a run begins whose plan was refused at submit."""


class LoudOracle:
    """Looks for starts that hide a loss, and for options that were taken or refused wrongly."""

    name = "LOUD"
    title = "failure reporting"
    invariant = "Missing or damaged metadata and bad options stop the job; it never starts empty or older in silence."
    clauses: Mapping[str, str] = {
        "started-empty": "a job or subtask starts empty although a completed checkpoint holds state for it",
        "started-older": "an attempt starts from an older checkpoint than the latest completed one",
        "partial-metadata": "an attempt restores a checkpoint whose metadata was never published whole",
        "accepted-bad-option": "a job runs although its options must be refused",
        "directory-not-named": "a worker cannot reach the checkpoint directory, and no end of the job names both",
        "refused-good-option": "a job is refused although its options are good",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.AttemptStarted,
        events.TaskStarted,
        events.CheckpointCompleted,
    )
    clause_evidence: Mapping[str, tuple[type[events.Event], ...]] = {
        "partial-metadata": (events.MetadataPublished,),
        "directory-not-named": (events.StorageFailed,),
    }

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        _judge_options(history, findings)
        starts = _Starts(findings)
        replay(
            history,
            {
                events.JobSubmitted: starts.submitted,
                events.CheckpointTriggered: starts.triggered,
                events.CheckpointCompleted: starts.completed,
                events.MetadataPublished: starts.published,
                events.SavepointCompleted: starts.savepoint_completed,
                events.RecoveryFailed: starts.recovery_failed,
                events.JobSwitched: starts.switched,
                events.AttemptStarted: starts.attempt_started,
            },
        )
        _judge_subtasks(history, findings)
        _judge_directories(history, findings)
        return findings.verdict(history)


def _judge_directories(history: History, findings: Findings) -> None:
    """A worker that reports that it does not reach the checkpoint directory ends the job."""
    dead = exemptions(history).dead
    for failed in history.of(events.StorageFailed):
        if failed.operation != REACH_DIRECTORY or failed.node in dead or history.end.problem:
            continue
        findings.check("directory-not-named")
        reasons = [event.reason for event in history.of(events.JobSwitched) if event.status is events.JobStatus.FAILED]
        if not any(failed.path in reason and process_of(failed.node) in reason for reason in reasons):
            message = f"{failed.node} cannot reach {failed.path}, and no end of the job names both"
            findings.violated("directory-not-named", message, failed)


def _judge_options(history: History, findings: Findings) -> None:
    end = history.end
    if history.plan.expected_end is not ExpectedEnd.REFUSED:
        findings.check("refused-good-option")
        if end.reason.startswith(REFUSED):
            findings.violated("refused-good-option", f"the job is {end.reason}")
        return
    findings.check("accepted-bad-option")
    running = [event for event in history.of(events.JobSwitched) if event.status is events.JobStatus.RUNNING]
    started: list[events.Event] = [*history.of(events.AttemptStarted)[:1], *running[:1]]
    if started or not (end.reached or end.problem):
        message = "the job starts although its options must be refused" if started else end.reason
        findings.violated("accepted-bad-option", message, *started)


_Snapshot = events.MetadataPublished | events.SavepointCompleted


class _Starts:
    """What could have been restored when an attempt started: the coordinator's events alone, in its order."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.participants: dict[int, int] = {}
        self.latest: events.CheckpointCompleted | None = None
        self.whole: set[int] = set()
        self.partial: dict[int, _Snapshot] = {}
        self.published_at: dict[str, _Snapshot | None] = {}
        """By path, of all jobs; None where it is whole."""
        self.said: events.RecoveryFailed | None = None
        self.given_up = False

    def submitted(self, event: events.JobSubmitted) -> None:
        """A new job that was given no checkpoint starts empty, as its submission states. Any other restores the one
        that it was given, which need not be of the last job."""
        self.latest = self.said = None
        self.given_up = False
        if event.checkpoint is None:
            self.whole.clear()
            self.partial.clear()
        elif event.path in self.published_at:
            partial = self.published_at[event.path]
            self.whole = {event.checkpoint} if partial is None else set()
            self.partial = {} if partial is None else {event.checkpoint: partial}

    def triggered(self, event: events.CheckpointTriggered) -> None:
        self.participants[event.checkpoint] = len(event.participants)

    def completed(self, event: events.CheckpointCompleted) -> None:
        self.whole.add(event.checkpoint)
        if self.latest is None or event.checkpoint > self.latest.checkpoint:
            self.latest = event

    def published(self, event: events.MetadataPublished) -> None:
        if self.publish(event):
            self.whole.add(event.checkpoint)
        else:
            self.partial[event.checkpoint] = event

    def savepoint_completed(self, event: events.SavepointCompleted) -> None:
        self.publish(event)

    def publish(self, event: _Snapshot) -> bool:
        """Whether it is whole: metadata that count their states must hold one of every participant. A savepoint may be
        restored by its path alone."""
        partial = 0 < event.states < self.participants.get(event.checkpoint, 0)
        if event.path:
            self.published_at.setdefault(event.path, event if partial else None)
        return not partial

    def recovery_failed(self, event: events.RecoveryFailed) -> None:
        self.said = event

    def switched(self, event: events.JobSwitched) -> None:
        """A job that failed because its checkpoint is unusable has reported that: whoever starts it again knows."""
        self.given_up = self.given_up or (self.said is not None and event.status is events.JobStatus.FAILED)

    def attempt_started(self, event: events.AttemptStarted) -> None:
        checkpoint, latest = event.restored_checkpoint, self.latest
        if checkpoint is not None:
            self.findings.check("partial-metadata")
            if checkpoint not in self.whole or checkpoint in self.partial:
                message = f"attempt {event.attempt} restores checkpoint {checkpoint}, never published whole"
                partial = self.partial.get(checkpoint)
                self.findings.violated("partial-metadata", message, *([partial] if partial else []), event)
        if latest is None or self.given_up:
            return
        clause = "started-empty" if checkpoint is None else "started-older"
        self.findings.check("started-empty")
        self.findings.check("started-older")
        if checkpoint is None or checkpoint < latest.checkpoint:
            start = "empty" if checkpoint is None else f"from checkpoint {checkpoint}"
            message = f"attempt {event.attempt} starts {start}, checkpoint {latest.checkpoint} had completed"
            self.findings.violated(clause, message, latest, event)


def _judge_subtasks(history: History, findings: Findings) -> None:
    """Subtasks whose restored checkpoint held state. Where parallelism changed it may be another's now: RESTORE decides
    that of all of them together."""
    layouts = history.derived(Layouts)
    recorded: Recorded[events.SnapshotTaken] | None = None
    for started in history.of(events.TaskStarted):
        if started.restored_checkpoint is None or started.state is None:
            continue
        if recorded is None:
            recorded = Recorded(history, events.SnapshotTaken)
        snapshot = recorded.of(started, started.restored_checkpoint, started.subtask)
        if snapshot is None or snapshot.state is None or not snapshot.state.records:
            continue
        if layouts.of(snapshot) is not layouts.of(started):
            continue
        findings.check("started-empty")
        if not started.state.records:
            message = (
                f"{started.subtask} starts attempt {started.attempt} empty, checkpoint {snapshot.checkpoint} "
                f"holds {plural(snapshot.state.records, 'record')} of it"
            )
            findings.violated("started-empty", message, snapshot, started)
