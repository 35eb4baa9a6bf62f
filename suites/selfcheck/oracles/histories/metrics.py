"""Histories for METRICS: three checkpoints of two sources and a sum, a restart, and what is reported of all that.

The script is an honest reporter: it knows the time of each line and says what is so. A bad history changes one report.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from holdfast.harness.model.events import (
    AckOutcome, AckReceived, AckSent, AttemptStarted, BarrierReceived, ChannelStateTaken, CheckpointAborted,
    CheckpointCompleted, CheckpointCounts, CheckpointStatistics, CheckpointStatus, CheckpointTriggered, CheckpointType,
    Event, FileReference, JobStatus, JobSwitched, MetadataPublished, RestoreCompleted, RestoreStatistics,
    SnapshotTaken, SubtaskStatistics, TriggerReceived,
)  # fmt: skip
from holdfast.harness.model.history import RunEnd
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.lines import content, in_flight

Report = CheckpointStatistics | SubtaskStatistics | RestoreStatistics | RestoreCompleted
Change = Callable[[Report], Report | None]
Beside = ChannelStateTaken | TriggerReceived
PARTICIPANTS = ("source[0]", "source[1]", "sum[0]")
INLINE_BYTES, FILE_BYTES, HELD_BYTES = 10, 100, 64
ENDED = (CheckpointStatus.COMPLETED, CheckpointStatus.FAILED)


def honest(report: Report) -> Report:
    return report


class Script:
    """Says what happens and, unless `change` says otherwise, reports it.

    Beside each upload of a subtask comes what `beside` has of it, up to two lines.
    """

    def __init__(self, change: Change, *beside: Beside) -> None:
        self.change = change
        self.beside = beside
        self.lines: list[Line] = []
        self.now_ms = 0
        self.last_end_ms: int | None = None
        self.restored = self.in_progress = self.completed = self.failed = 0

    def say(self, event: Event) -> int:
        """One line; its time."""
        self.lines.append(event)
        self.now_ms += 1
        return self.now_ms

    def wait(self, milliseconds: int) -> None:
        self.lines.append(milliseconds)
        self.now_ms += milliseconds

    def report(self, report: Report) -> None:
        changed = self.change(report)
        if changed is not None:
            self.say(changed)

    def counts(self) -> CheckpointCounts:
        total = self.in_progress + self.completed + self.failed
        return CheckpointCounts(self.restored, total, self.in_progress, self.completed, self.failed)

    def attempt(self, restored: int | None) -> None:
        self.say(AttemptStarted(restored_checkpoint=restored))
        if restored is not None:
            self.restored += 1
            started_ms = self.now_ms
            self.report(RestoreStatistics(checkpoint=restored, path=f"chk-{restored}/_metadata", counts=self.counts()))
            self.wait(7)
            running_ms = self.say(JobSwitched(status=JobStatus.RUNNING))
            self.report(RestoreCompleted(checkpoint=restored, duration_ms=float(running_ms - started_ms)))

    def checkpoint(self, number: int, *, declined: bool = False) -> None:
        """From the trigger to the end."""
        idle_ms = None if self.last_end_ms is None else float(self.now_ms + 1 - self.last_end_ms)
        triggered_ms = self.say(CheckpointTriggered(checkpoint=number, participants=PARTICIPANTS))
        self.in_progress += 1
        report = CheckpointStatistics(
            checkpoint=number, status=CheckpointStatus.IN_PROGRESS, triggered_ms=triggered_ms, participants=3,
            idle_ms=idle_ms, counts=self.counts(),
        )  # fmt: skip
        self.report(report)
        for name in PARTICIPANTS[:2]:
            arrived_ms = self.say(TriggerReceived(checkpoint=number, subtask=name))
            self.part(number, name, triggered_ms, arrived_ms)
        arrived_ms = self.say(BarrierReceived(channel="source[0]->sum[0]", checkpoint=number))
        self.wait(20)
        self.say(BarrierReceived(channel="source[1]->sum[0]", checkpoint=number, held_bytes=HELD_BYTES))
        file = FileReference(f"chk-{number}/sum-0", FILE_BYTES, 7)
        self.part(number, "sum[0]", triggered_ms, arrived_ms, file, held_bytes=HELD_BYTES)
        self.in_progress -= 1
        status, reason, path = CheckpointStatus.FAILED, "declined", ""
        if declined:
            self.failed += 1
            ended_ms = self.say(CheckpointAborted(checkpoint=number, reason=reason))
        else:
            status, reason, path = CheckpointStatus.COMPLETED, "", f"chk-{number}/_metadata"
            self.completed += 1
            self.say(MetadataPublished(checkpoint=number, path=path, files=(file,)))
            ended_ms = self.say(CheckpointCompleted(checkpoint=number))
        self.last_end_ms = ended_ms
        full_bytes = 3 * INLINE_BYTES + FILE_BYTES
        self.report(
            replace(
                report,
                status=status,
                duration_ms=ended_ms - triggered_ms,
                failure_reason=reason,
                delta_bytes=full_bytes,
                full_bytes=full_bytes,
                acknowledged=3,
                path=path,
                counts=self.counts(),
            )
        )

    def part(
        self,
        number: int,
        name: str,
        triggered_ms: int,
        arrived_ms: int,
        *files: FileReference,
        held_bytes: int = 0,
    ) -> None:
        """Snapshot and ack of a subtask, three milliseconds apart."""
        self.say(SnapshotTaken(subtask=name, checkpoint=number))
        snapshot_ms = self.now_ms
        beside = [replace(event, checkpoint=number) for event in self.beside if event.subtask == name]
        for event in beside:
            self.say(event)
        self.wait(2 - len(beside))
        acked_ms = self.say(AckSent(subtask=name, checkpoint=number, files=files, inline_bytes=INLINE_BYTES))
        heard_ms = self.say(AckReceived(subtask=name, checkpoint=number, outcome=AckOutcome.SUCCESS))
        full_bytes = INLINE_BYTES + sum(file.length for file in files)
        self.report(SubtaskStatistics(checkpoint=number, subtask=name, start_delay_ms=arrived_ms - triggered_ms,
                                      alignment_ms=snapshot_ms - arrived_ms, held_bytes=held_bytes, sync_ms=1,
                                      async_ms=acked_ms - snapshot_ms - 1, end_to_end_ms=heard_ms - triggered_ms,
                                      delta_bytes=full_bytes, full_bytes=full_bytes))  # fmt: skip


def reported(change: Change = honest, *beside: Beside) -> list[Line]:
    """Two checkpoints, one that is declined, a restart, and another one."""
    script = Script(change, *beside)
    script.attempt(None)
    script.checkpoint(1)
    script.wait(30)
    script.checkpoint(2, declined=True)
    script.wait(5)
    script.checkpoint(3)
    script.attempt(3)
    script.checkpoint(4)
    return script.lines


def changed(number: int, of: CheckpointStatus | str, **wrong: Any) -> Change:
    """Changes the report of a checkpoint in this status, or of the part of this subtask."""

    def change(report: Report) -> Report:
        if isinstance(report, CheckpointStatistics | SubtaskStatistics) and report.checkpoint == number:
            told = report.status if isinstance(report, CheckpointStatistics) else report.subtask
            return replace(report, **wrong) if told == of else report
        return report

    return change


def overtook(report: Report) -> Report:
    """A completed checkpoint is said to have overtaken records."""
    completed = isinstance(report, CheckpointStatistics) and report.status is CheckpointStatus.COMPLETED
    return replace(report, checkpoint_type=CheckpointType.UNALIGNED_CHECKPOINT) if completed else report


def late_by(milliseconds: float) -> Change:
    """Every clock was read so much before what the step then recorded."""

    def change(report: Report) -> Report:
        if isinstance(report, CheckpointStatistics):
            return replace(report, triggered_ms=report.triggered_ms - milliseconds)
        return report

    return change


bad, near = exhibits("METRICS", end=RunEnd(reached=True))

bad("checkpoint-unreported", "failed one is left out",
    reported(lambda report: None
             if getattr(report, "status", None) is CheckpointStatus.FAILED
             else report))  # fmt: skip
bad("checkpoint-unreported", "beginning is left out",
    reported(lambda report: (None
                             if isinstance(report, CheckpointStatistics)
                             and report.checkpoint == 3
                             and (report.status not in ENDED)
                             else report)))  # fmt: skip

bad("checkpoint-misreported", "trigger time is that of the end",
    reported(changed(3, CheckpointStatus.COMPLETED, triggered_ms=200.0)))  # fmt: skip
bad("checkpoint-misreported", "failure has no reason", reported(changed(2, CheckpointStatus.FAILED, failure_reason="")))
bad("checkpoint-misreported", "path is that of another",
    reported(changed(3, CheckpointStatus.COMPLETED, path="chk-1/_metadata")))  # fmt: skip
bad("checkpoint-misreported", "an ack too many", reported(changed(2, CheckpointStatus.FAILED, acknowledged=2)))

bad("type-wrong", "aligned is said to have overtaken",
    reported(changed(1, CheckpointStatus.COMPLETED, checkpoint_type=CheckpointType.UNALIGNED_CHECKPOINT)))  # fmt: skip

bad("duration-wrong", "lasted a millisecond less", reported(changed(2, CheckpointStatus.FAILED, duration_ms=38.0)))

bad("counts-wrong", "failed is no part of the total",
    reported(changed(2, CheckpointStatus.FAILED, counts=CheckpointCounts(0, 1, 0, 1, 1))))  # fmt: skip
bad("counts-wrong", "failed counts as completed",
    reported(changed(2, CheckpointStatus.FAILED, counts=CheckpointCounts(0, 2, 0, 2, 0))))  # fmt: skip

bad("size-wrong", "inline state is left out", reported(changed(1, CheckpointStatus.COMPLETED, full_bytes=FILE_BYTES)))
bad("size-wrong", "nothing is new in a part", reported(changed(3, "sum[0]", delta_bytes=0)))

bad("restore-misreported", "restore is left out",
    reported(lambda report: None if isinstance(report, RestoreStatistics) else report))  # fmt: skip
bad("restore-misreported", "restore has no path",
    reported(lambda report: replace(report, path="") if isinstance(report, RestoreStatistics) else report))  # fmt: skip

bad("restore-duration-wrong", "restore takes no time",
    reported(lambda each: replace(each, duration_ms=0.0) if isinstance(each, RestoreCompleted) else each))  # fmt: skip
bad("restore-duration-wrong", "restore of another checkpoint ends",
    reported(lambda report: replace(report, checkpoint=7)
             if isinstance(report, RestoreCompleted)
             else report))  # fmt: skip

bad("subtask-unreported", "part is left out",
    reported(lambda report: None if getattr(report, "subtask", "") == "source[1]" else report))  # fmt: skip

bad("start-delay-wrong", "clock starts with the barrier", reported(changed(1, "sum[0]", start_delay_ms=0.0)))

bad("alignment-wrong", "alignment takes no time", reported(changed(3, "sum[0]", alignment_ms=0.0)))

bad("held-bytes-wrong", "nothing is held", reported(changed(1, "sum[0]", held_bytes=0)))

bad("part-duration-wrong", "asynchronous part is left out", reported(changed(1, "source[0]", async_ms=0.0)))
bad("part-duration-wrong", "end to end is that of the snapshot", reported(changed(1, "source[0]", end_to_end_ms=3.0)))

bad("idle-gap-wrong", "gap is counted from the trigger",
    reported(changed(3, CheckpointStatus.IN_PROGRESS, idle_ms=45.0)))  # fmt: skip
bad("idle-gap-wrong", "first checkpoint has a gap", reported(changed(1, CheckpointStatus.IN_PROGRESS, idle_ms=0.0)))

near("checkpoint-unreported", "everything is reported", reported())

near("counts-wrong", "everything is reported", reported())

near("restore-misreported", "everything is reported", reported())

near("restore-duration-wrong", "everything is reported", reported())

near("subtask-unreported", "everything is reported", reported())

near("checkpoint-misreported", "a busy machine read its clock earlier",
     reported(late_by(0.9)), end=RunEnd(reached=True, real_time=True))  # fmt: skip

near("duration-wrong", "a busy machine recorded late",
     reported(changed(2, CheckpointStatus.FAILED, duration_ms=40.0)),
     end=RunEnd(reached=True, real_time=True))  # fmt: skip

OVERTAKEN = in_flight("sum[0]", content("source[0]->sum[0]", 0))

bad("type-wrong", "overtaken is said to be aligned", reported(honest, OVERTAKEN))
near("type-wrong", "barriers overtook records in front of one subtask", reported(overtook, OVERTAKEN))
near("type-wrong", "tells again what was in flight", reported(overtook, OVERTAKEN, in_flight("sum[0]")))
near("type-wrong", "all of it is new",
     reported(changed(1, CheckpointStatus.COMPLETED, full_bytes=3 * INLINE_BYTES + FILE_BYTES)))  # fmt: skip

near("size-wrong", "all of it is new",
     reported(changed(1, CheckpointStatus.COMPLETED, full_bytes=3 * INLINE_BYTES + FILE_BYTES)))  # fmt: skip

near("start-delay-wrong", "synchronous part is the longer", reported(changed(1, "sum[0]", sync_ms=3.0, async_ms=0.0)))

near("alignment-wrong", "synchronous part is the longer", reported(changed(1, "sum[0]", sync_ms=3.0, async_ms=0.0)))

near("held-bytes-wrong", "synchronous part is the longer", reported(changed(1, "sum[0]", sync_ms=3.0, async_ms=0.0)))

near("part-duration-wrong", "synchronous part is the longer", reported(changed(1, "sum[0]", sync_ms=3.0, async_ms=0.0)))

near("alignment-wrong", "copy of a trigger comes behind the snapshot",
     reported(honest, TriggerReceived(subtask="source[0]", checkpoint=1)))  # fmt: skip

near("idle-gap-wrong", "gap is counted from the end", reported())
