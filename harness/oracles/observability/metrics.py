"""METRICS: what a system reports of its checkpoints is what happened (RULES OBS).

Everything is computed again from the other events. Durations are those of one node's clock, but for the start delay,
which is by its definition the receiver's clock less the coordinator's; it orders nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.events import CheckpointType
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.parts import part_of
from holdfast.harness.oracles.observability.reported_checkpoint import Checkpoint, DueReport, Life
from holdfast.harness.oracles.observability.subtask_times import overtaking_parts, subtask_times
from holdfast.harness.oracles.shared.clocks import ROUNDING_MS, Clocks
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS, alignment_timeout_ms
from holdfast.harness.oracles.shared.shared_files import shared_files

_SNAPSHOT = "synchronous and asynchronous part"


class MetricsOracle:
    """Reports against facts."""

    name = "METRICS"
    title = "checkpoint metrics"
    invariant = "What a system reports of its checkpoints is what happened."
    clauses: Mapping[str, str] = {
        "checkpoint-unreported": "a checkpoint begins or ends, and later reports lack it",
        "checkpoint-misreported": "trigger time, acknowledgements, failure reason or path of a checkpoint are wrong",
        "type-wrong": "a completed checkpoint was aligned, unaligned, or so after a timeout, and is reported otherwise",
        "duration-wrong": "a checkpoint is not reported to have lasted from its trigger to its end",
        "counts-wrong": "in progress, completed, failed, total or restored are not the numbers of checkpoints so far",
        "size-wrong": "a reported size is not that of the state that was acknowledged",
        "restore-misreported": "an attempt begins from a checkpoint, and the report names another or none, or no path",
        "subtask-unreported": "a checkpoint completes, and the part of a subtask whose ack was counted is not reported",
        "start-delay-wrong": "a reported start delay is not the time from the trigger to the first barrier",
        "alignment-wrong": "a reported alignment is not the time from the first barrier to the last one",
        "held-bytes-wrong": "the bytes reported as held are not those that waited when the last barrier came",
        "part-duration-wrong": "synchronous and asynchronous part are not the time from the snapshot to the ack, or "
        "the end-to-end duration is not the time from the trigger to the arrival of the ack",
        "restore-duration-wrong": "the reported duration of a restore is not the time from its attempt's start until "
        "the job runs",
        "idle-gap-wrong": "a reported idle gap is not the time from the last end to the trigger",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.CheckpointTriggered, events.AckReceived, events.CheckpointCompleted, events.CheckpointAborted,
        events.AttemptStarted, events.CheckpointStatistics, events.SubtaskStatistics, events.RestoreStatistics,
        events.RestoreCompleted,
    )  # fmt: skip

    def applies(self, history: History) -> bool:
        return history.supplies(events.CheckpointStatistics)

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        _Reports(history, findings)
        return findings.verdict(history)


class _Reports:
    """Follows the lives of the coordinator and compares each report with the report that was due."""

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings, self.checked = findings, findings.checked
        exempt = exemptions(history)
        self.clocks = Clocks(history, exempt)
        self.times, self.overtook = subtask_times(history), overtaking_parts(history)
        switches = alignment_timeout_ms(history.plan) > 0
        self.unaligned = CheckpointType.SWITCHED_CHECKPOINT if switches else CheckpointType.UNALIGNED_CHECKPOINT
        self.shared = shared_files(history)
        self.lives: defaultdict[str, Life] = defaultdict(Life)
        self.forged = exempt.forged_acknowledgements
        self.triggers_forged = exempt.forged_triggers
        replay(
            history,
            {
                events.CheckpointTriggered: self._triggered,
                events.AckReceived: self._acknowledged,
                events.MetadataPublished: self._published,
                events.CheckpointDropped: self._dropped,
                events.CheckpointCompleted: self._completed,
                events.CheckpointAborted: self._aborted,
                events.SavepointCompleted: self._savepoint_completed,
                events.AttemptStarted: self._attempt_started,
                events.CheckpointStatistics: self._reported,
                events.SubtaskStatistics: self._part_reported,
                events.JobSwitched: self._switched,
                events.RestoreStatistics: self._restore_reported,
                events.RestoreCompleted: self._restore_measured,
            },
        )

    # --- facts ---

    def _triggered(self, event: events.CheckpointTriggered) -> None:
        life = self.lives[event.node]
        beside_others = bool(life.ongoing)
        checkpoint = Checkpoint(event, None if beside_others else life.last_end, beside_others=beside_others)
        life.ongoing[event.checkpoint] = checkpoint
        self._owe(life, event, events.CheckpointStatus.IN_PROGRESS, checkpoint)

    def _acknowledged(self, event: events.AckReceived) -> None:
        life = self.lives[event.node]
        checkpoint = life.ongoing.get(event.checkpoint)
        if (
            event.outcome is not events.AckOutcome.SUCCESS
            or checkpoint is None
            or event.subtask in checkpoint.acknowledged
        ):
            return
        checkpoint.acknowledged[event.subtask] = event
        part = self.times.get(part_of(event))
        if part is None or event.subtask in self.forged:
            checkpoint.delta_bytes = checkpoint.full_bytes = None
        elif checkpoint.delta_bytes is not None and checkpoint.full_bytes is not None:
            delta_bytes, full_bytes = self._sizes(life, part.acknowledged)
            checkpoint.delta_bytes += delta_bytes
            checkpoint.full_bytes = None if full_bytes is None else checkpoint.full_bytes + full_bytes

    def _sizes(self, life: Life, ack: events.AckSent) -> tuple[int, int | None]:
        """Bytes of an ack's state: the new ones, and all, which are unknown for shared files never named before."""
        delta_bytes = full_bytes = ack.inline_bytes
        if not (ack.files or ack.shared):
            return delta_bytes, full_bytes
        for file in ack.files:
            full_bytes += file.length
            for named in life.files.values():
                if file.path in named:
                    break
            else:
                delta_bytes += file.length
        reused = self.shared.reused_bytes(ack)
        return delta_bytes, None if reused is None else full_bytes + reused

    def _savepoint_completed(self, event: events.SavepointCompleted) -> None:
        self._published(event)
        self._completed(event)

    def _published(self, event: events.MetadataPublished | events.SavepointCompleted) -> None:
        life = self.lives[event.node]
        life.paths[event.checkpoint] = event.path
        life.files[event.checkpoint] = frozenset(file.path for file in event.files)

    def _dropped(self, event: events.CheckpointDropped) -> None:
        life = self.lives[event.node]
        life.paths.pop(event.checkpoint, None)
        life.files.pop(event.checkpoint, None)

    def _completed(self, event: events.CheckpointCompleted | events.SavepointCompleted) -> None:
        life = self.lives[event.node]
        checkpoint = life.ongoing.pop(event.checkpoint, None)
        if checkpoint is not None:
            life.completed += 1
            self._ended(life, event, events.CheckpointStatus.COMPLETED, checkpoint)
            self.checked["subtask-unreported"] += len(checkpoint.acknowledged)
            for subtask, ack in checkpoint.acknowledged.items():
                if subtask not in checkpoint.reported:
                    message = f"the part of {subtask} in checkpoint {event.checkpoint} is not reported"
                    self.findings.violated("subtask-unreported", message, ack, event)

    def _aborted(self, event: events.CheckpointAborted) -> None:
        life = self.lives[event.node]
        checkpoint = life.ongoing.pop(event.checkpoint, None)
        if checkpoint is not None:
            life.aborted = {event.checkpoint: checkpoint}
            life.failed += 1
            self._ended(life, event, events.CheckpointStatus.FAILED, checkpoint)

    def _ended(
        self,
        life: Life,
        event: events.CheckpointCompleted | events.CheckpointAborted | events.SavepointCompleted,
        status: events.CheckpointStatus,
        checkpoint: Checkpoint,
    ) -> None:
        life.last_end = event
        self._owe(life, event, status, checkpoint)

    def _owe(
        self,
        life: Life,
        event: events.CheckpointTriggered
        | events.CheckpointCompleted
        | events.CheckpointAborted
        | events.SavepointCompleted,
        status: events.CheckpointStatus,
        checkpoint: Checkpoint,
    ) -> None:
        acknowledged = len(checkpoint.acknowledged)
        sizes = checkpoint.delta_bytes, checkpoint.full_bytes
        life.due.append(DueReport(event, status, checkpoint, life.counts(), acknowledged, *sizes))

    def _attempt_started(self, event: events.AttemptStarted) -> None:
        life = self.lives[event.node]
        life.restoring, life.running = (None if event.restored_checkpoint is None else event), None
        if event.restored_checkpoint is not None:
            life.restored += 1
            life.restores.append((event, life.counts()))

    def _switched(self, event: events.JobSwitched) -> None:
        if event.status is events.JobStatus.RUNNING:
            life = self.lives[event.node]
            life.running = life.running or event

    # --- reports ---

    def _reported(self, event: events.CheckpointStatistics) -> None:
        life, findings = self.lives[event.node], self.findings
        while life.restores:
            attempt, _ = life.restores.popleft()
            message = (
                f"attempt {attempt.attempt} began from checkpoint {attempt.restored_checkpoint}, and no report says so"
            )
            findings.violated("restore-misreported", message, attempt, event)
        if not (life.due and self._is_of(life.due[0], event)) and not any(self._is_of(due, event) for due in life.due):
            findings.violated("checkpoint-misreported", f"checkpoint {event.checkpoint} is not {event.status}", event)
            return
        due = life.due.popleft()
        while not self._is_of(due, event):
            message = f"checkpoint {due.cause.checkpoint} is {due.status}, and no report says so"
            findings.violated("checkpoint-unreported", message, due.cause, event)
            due = life.due.popleft()
        findings.check("checkpoint-unreported")
        self._compare(life, due, event)

    def _is_of(self, due: DueReport, event: events.CheckpointStatistics) -> bool:
        return (due.cause.checkpoint, due.status) == (event.checkpoint, event.status)

    def _compare(self, life: Life, due: DueReport, event: events.CheckpointStatistics) -> None:
        findings, triggered = self.findings, due.checkpoint.triggered
        said = f"checkpoint {event.checkpoint} is reported with"
        findings.check("checkpoint-misreported")
        if not self.clocks.agrees(event.triggered_ms, triggered):
            message = f"{said} trigger time {event.triggered_ms:.3f} ms, it was at {self.clocks.at(triggered)}"
            findings.violated("checkpoint-misreported", message, triggered, event)
        participants = len(triggered.participants)
        if (event.acknowledged, event.participants) != (due.acknowledged, participants):
            message = (
                f"{said} {event.acknowledged} of {event.participants} acks, not {due.acknowledged} of {participants}"
            )
            findings.violated("checkpoint-misreported", message, triggered, event)
        reason = due.cause.reason if isinstance(due.cause, events.CheckpointAborted) else ""
        if event.failure_reason != reason:
            message = f"{said} failure reason {event.failure_reason!r}, not {reason!r}"
            findings.violated("checkpoint-misreported", message, due.cause, event)
        path = life.paths.get(event.checkpoint) if event.status is events.CheckpointStatus.COMPLETED else ""
        if path is not None and event.path != path:
            message = f"{said} path {event.path!r}, not {path!r}"
            findings.violated("checkpoint-misreported", message, due.cause, event)
        self._compare_type(due, event)
        self._compare_duration(due, event)
        self._compare_counts(due.counts, event.counts, due.cause, event)
        self._compare_sizes((due.delta_bytes, due.full_bytes), event, due.cause)
        self._compare_idle(due, event)

    def _compare_type(self, due: DueReport, event: events.CheckpointStatistics) -> None:
        acks = due.checkpoint.acknowledged
        if event.status is events.CheckpointStatus.COMPLETED and self.forged.isdisjoint(acks):
            self.findings.check("type-wrong")
            aligned = self.overtook.isdisjoint(map(part_of, acks.values()))
            was = CheckpointType.CHECKPOINT if aligned else self.unaligned
            if event.checkpoint_type is not was:
                message = f"checkpoint {event.checkpoint} is reported as {event.checkpoint_type}, it was {was}"
                self.findings.violated("type-wrong", message, due.cause, event)

    def _compare_duration(self, due: DueReport, event: events.CheckpointStatistics) -> None:
        if event.status is not events.CheckpointStatus.IN_PROGRESS:
            self.findings.check("duration-wrong")
            if not self.clocks.agree(event.duration_ms, due.checkpoint.triggered, due.cause):
                lasted = self.clocks.between(due.checkpoint.triggered, due.cause)
                message = f"checkpoint {event.checkpoint} lasted {lasted}, reported are {event.duration_ms:.3f} ms"
                self.findings.violated("duration-wrong", message, due.checkpoint.triggered, due.cause, event)

    def _compare_counts(
        self, counts: events.CheckpointCounts, said: events.CheckpointCounts, cause: events.Event, event: events.Event
    ) -> None:
        self.findings.check("counts-wrong")
        if said.in_progress + said.completed + said.failed != said.total or said != counts:
            message = f"reported are {_words(said)}; it was {_words(counts)}"
            self.findings.violated("counts-wrong", message, cause, event)

    def _compare_sizes(
        self,
        sizes: tuple[int | None, int | None],
        event: events.CheckpointStatistics | events.SubtaskStatistics,
        cause: events.Event,
    ) -> None:
        if None in sizes:
            return
        self.checked["size-wrong"] += 1
        if (event.delta_bytes, event.full_bytes) != sizes:
            message = (
                f"checkpoint {event.checkpoint} is reported with {event.delta_bytes} of {event.full_bytes} bytes new, "
                f"it has {sizes[0]} of {sizes[1]}"
            )
            self.findings.violated("size-wrong", message, cause, event)

    def _compare_idle(self, due: DueReport, event: events.CheckpointStatistics) -> None:
        checkpoint, said = due.checkpoint, event.idle_ms
        since, triggered = checkpoint.idle_since, checkpoint.triggered
        self.findings.check("idle-gap-wrong", since is not None or checkpoint.beside_others)
        if since is not None:
            right = said is not None and self.clocks.agree(said, since, triggered)
        else:
            right = said == (0.0 if checkpoint.beside_others else None)
        if not right:
            idle = "no time" if since is None else self.clocks.between(since, triggered)
            words = "none" if said is None else f"{said:.3f} ms"
            message = f"before checkpoint {event.checkpoint} nothing was in progress for {idle}, reported: {words}"
            self.findings.violated("idle-gap-wrong", message, triggered, event)

    def _part_reported(self, event: events.SubtaskStatistics) -> None:
        life = self.lives[event.node]
        checkpoint = life.ongoing.get(event.checkpoint) or life.aborted.get(event.checkpoint)
        ack = checkpoint.acknowledged.get(event.subtask) if checkpoint is not None else None
        if checkpoint is None or ack is None:
            message = f"{event.subtask} is reported in checkpoint {event.checkpoint}, and no ack of it was counted"
            self.findings.violated("subtask-unreported", message, event)
            return
        checkpoint.reported.add(event.subtask)
        part = self.times.get(part_of(ack))
        if part is None or event.subtask in self.forged:
            return
        checked, compare, triggered = self.checked, self._compare_time, checkpoint.triggered
        first, last, held_bytes, snapshot, sent = part
        if not self.triggers_forged:  # Else a barrier may have been on its way before the coordinator triggered it
            checked["start-delay-wrong"] += 1
            compare("start-delay-wrong", "start delay", event.start_delay_ms, triggered, first, event)
        if last is not first or event.alignment_ms:
            checked["alignment-wrong"] += 1
            compare("alignment-wrong", "alignment", event.alignment_ms, first, last, event)
        checked["part-duration-wrong"] += 1
        compare("part-duration-wrong", _SNAPSHOT, event.sync_ms + event.async_ms, snapshot, sent, event)
        checked["part-duration-wrong"] += 1
        compare("part-duration-wrong", "end-to-end duration", event.end_to_end_ms, triggered, ack, event)
        if held_bytes:
            checked["held-bytes-wrong"] += 1
        if event.held_bytes != held_bytes:
            message = f"{_place(event)} held {plural(held_bytes, 'byte')}, reported are {event.held_bytes}"
            self.findings.violated("held-bytes-wrong", message, last, event)
        self._compare_sizes(self._sizes(life, sent), event, ack)

    def _compare_time(
        self,
        clause: str,
        what: str,
        reported_ms: float,
        start: events.Event,
        end: events.Event,
        event: events.SubtaskStatistics,
    ) -> None:
        off_ms = (end.time_ns - start.time_ns) / NS_PER_MS - reported_ms
        if -ROUNDING_MS < off_ms < ROUNDING_MS:  # Nearly all are.
            return
        if not self.clocks.agree(reported_ms, start, end):
            lasted = self.clocks.between(start, end)
            message = f"{what} of {_place(event)}: it was {lasted}, reported are {reported_ms:.3f} ms"
            self.findings.violated(clause, message, start, end, event)

    def _restore_measured(self, event: events.RestoreCompleted) -> None:
        life, findings = self.lives[event.node], self.findings
        start, end = life.restoring, life.running
        findings.check("restore-duration-wrong")
        if start is None or end is None or start.restored_checkpoint != event.checkpoint:
            message = f"a restore of checkpoint {event.checkpoint} is reported to have ended, and none has"
            findings.violated("restore-duration-wrong", message, event)
        elif not self.clocks.agree(event.duration_ms, start, end):
            message = (
                f"the restore of checkpoint {event.checkpoint} took {self.clocks.between(start, end)}, reported are "
                f"{event.duration_ms:.3f} ms"
            )
            findings.violated("restore-duration-wrong", message, start, end, event)

    def _restore_reported(self, event: events.RestoreStatistics) -> None:
        life, findings = self.lives[event.node], self.findings
        findings.check("restore-misreported")
        if not life.restores:
            findings.violated("restore-misreported", "a restore is reported, and no attempt began from one", event)
            return
        attempt, counts = life.restores.popleft()
        path = life.paths.get(event.checkpoint)
        if event.checkpoint != attempt.restored_checkpoint or (path is not None and event.path != path):
            message = (
                f"reported is a restore of checkpoint {event.checkpoint} from {event.path!r}, it was checkpoint "
                f"{attempt.restored_checkpoint} from {life.paths.get(attempt.restored_checkpoint or 0)!r}"
            )
            findings.violated("restore-misreported", message, attempt, event)
        self._compare_counts(counts, event.counts, attempt, event)


def _place(event: events.SubtaskStatistics) -> str:
    return f"{event.subtask} in checkpoint {event.checkpoint}"


def _words(counts: events.CheckpointCounts) -> str:
    return (
        f"{plural(counts.total, 'checkpoint')} ({counts.in_progress} in progress, {counts.completed} completed, "
        f"{counts.failed} failed), {counts.restored} restored"
    )
