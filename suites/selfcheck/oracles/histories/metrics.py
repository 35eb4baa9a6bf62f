"""Histories for METRICS: three checkpoints of two sources and a sum, a restart, and what is reported of all that.

The script is an honest reporter: it knows the time of each line and says what is so. A bad history changes one report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from holdfast.harness.model.events import (
    BarrierReceived, ChannelStateTaken, CheckpointCounts, CheckpointStatistics, CheckpointStatus, CheckpointType, Event,
    FileReference, RestoreCompleted, RestoreStatistics, SubtaskStatistics, TriggerReceived,
)  # fmt: skip
from holdfast.harness.model.history import RunEnd
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.lines import (
    RUNNING, aborted, ack_sent, acked, attempt, completed, content, in_flight, published, snapshot, switched, triggered,
)  # fmt: skip

Report = CheckpointStatistics | SubtaskStatistics | RestoreStatistics | RestoreCompleted
Change = Callable[[Report], Report | None]
Beside = ChannelStateTaken | TriggerReceived
PARTICIPANTS = ("source[0]", "source[1]", "sum[0]")
INLINE_BYTES, FILE_BYTES, HELD_BYTES = 10, 100, 64
ENDED = (CheckpointStatus.COMPLETED, CheckpointStatus.FAILED)


@dataclass
class Script:
    """Says what happens, and reports it as `change` has it.

    Beside each upload of a subtask comes what `beside` has of it, up to two lines.
    """

    change: Change
    beside: Sequence[Beside]
    lines: list[Line] = field(default_factory=list)
    now_ms: int = 0
    last_end_ms: int | None = None
    counts: CheckpointCounts = field(default_factory=CheckpointCounts)

    def say(self, *lines: Event | int) -> int:
        """Some lines, of which reports are changed; the time behind them."""
        for line in lines:
            said: Event | int | None = line
            if isinstance(line, CheckpointStatistics | SubtaskStatistics | RestoreStatistics | RestoreCompleted):
                said = self.change(line)
            if said is not None:
                self.lines.append(said)
                self.now_ms += said if isinstance(said, int) else 1
        return self.now_ms

    def checkpoint(self, number: int, *, declined: bool = False) -> None:
        """From the trigger to the end. The acks of its parts are sent three milliseconds behind their snapshots."""
        idle_ms = None if self.last_end_ms is None else float(self.now_ms + 1 - self.last_end_ms)
        triggered_ms = self.say(triggered(number, *PARTICIPANTS))
        self.counts = replace(self.counts, total=self.counts.total + 1, in_progress=1)
        report = CheckpointStatistics(
            checkpoint=number, status=CheckpointStatus.IN_PROGRESS, triggered_ms=triggered_ms, participants=3,
            idle_ms=idle_ms, counts=self.counts,
        )  # fmt: skip
        self.say(report)
        file = FileReference(f"chk-{number}/sum-0", FILE_BYTES, 7)
        for name in PARTICIPANTS:
            files = [file] if name == "sum[0]" else []
            if files:
                arrived_ms = self.say(BarrierReceived(channel="source[0]->sum[0]", checkpoint=number))
                self.say(20, BarrierReceived(channel="source[1]->sum[0]", checkpoint=number, held_bytes=HELD_BYTES))
            else:
                arrived_ms = self.say(TriggerReceived(checkpoint=number, subtask=name))
            snapshot_ms = self.say(snapshot(name, number))
            beside = [replace(event, checkpoint=number) for event in self.beside if event.subtask == name]
            ack = ack_sent(name, number, *files, inline_bytes=INLINE_BYTES)
            acked_ms = self.say(*beside, 2 - len(beside), ack)
            heard_ms = self.say(*acked(number, name))
            full_bytes, held_bytes = INLINE_BYTES + FILE_BYTES * len(files), HELD_BYTES * len(files)
            self.say(SubtaskStatistics(checkpoint=number, subtask=name, start_delay_ms=arrived_ms - triggered_ms,
                                       alignment_ms=snapshot_ms - arrived_ms, held_bytes=held_bytes, sync_ms=1,
                                       async_ms=acked_ms - snapshot_ms - 1, end_to_end_ms=heard_ms - triggered_ms,
                                       delta_bytes=full_bytes, full_bytes=full_bytes))  # fmt: skip
        status, reason, path = CheckpointStatus.COMPLETED, "", f"chk-{number}/_metadata"
        if declined:
            status, reason, path = CheckpointStatus.FAILED, "declined", ""
            self.counts = replace(self.counts, in_progress=0, failed=self.counts.failed + 1)
            ended_ms = self.say(aborted(number, reason))
        else:
            self.counts = replace(self.counts, in_progress=0, completed=self.counts.completed + 1)
            ended_ms = self.say(published(number, file), completed(number))
        self.last_end_ms = ended_ms
        full_bytes = 3 * INLINE_BYTES + FILE_BYTES
        self.say(replace(report, status=status, duration_ms=ended_ms - triggered_ms, failure_reason=reason,
                         delta_bytes=full_bytes, full_bytes=full_bytes, acknowledged=3, path=path,
                         counts=self.counts))  # fmt: skip


def reported(change: Change = lambda report: report, beside: Sequence[Beside] = ()) -> list[Line]:
    """Two checkpoints, one that is declined, a restart, and another one."""
    script = Script(change, beside)
    script.say(attempt())
    script.checkpoint(1)
    script.say(30)
    script.checkpoint(2, declined=True)
    script.say(5)
    script.checkpoint(3)
    started_ms = script.say(attempt(3))
    script.counts = replace(script.counts, restored=1)
    script.say(RestoreStatistics(checkpoint=3, path="chk-3/_metadata", counts=script.counts))
    running_ms = script.say(7, *switched(RUNNING))
    script.say(RestoreCompleted(checkpoint=3, duration_ms=float(running_ms - started_ms)))
    script.checkpoint(4)
    return script.lines


def changed(number: int | None, of: CheckpointStatus | str, **wrong: Any) -> Change:
    """Changes the report of a checkpoint, or of each, in this status, or of the part of this subtask."""

    def change(report: Report) -> Report:
        if isinstance(report, CheckpointStatistics | SubtaskStatistics) and number in (None, report.checkpoint):
            told = report.status if isinstance(report, CheckpointStatistics) else report.subtask
            return replace(report, **wrong) if told == of else report
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
     reported(lambda report: replace(report, triggered_ms=report.triggered_ms - 0.9)
              if isinstance(report, CheckpointStatistics)
              else report),
     end=RunEnd(reached=True, real_time=True))  # fmt: skip

near("duration-wrong", "a busy machine recorded late",
     reported(changed(2, CheckpointStatus.FAILED, duration_ms=40.0)),
     end=RunEnd(reached=True, real_time=True))  # fmt: skip

OVERTAKEN = in_flight("sum[0]", content("source[0]->sum[0]", 0))
OVERTOOK = changed(None, CheckpointStatus.COMPLETED, checkpoint_type=CheckpointType.UNALIGNED_CHECKPOINT)

bad("type-wrong", "overtaken is said to be aligned", reported(beside=(OVERTAKEN,)))
near("type-wrong", "barriers overtook records in front of one subtask", reported(OVERTOOK, beside=(OVERTAKEN,)))
near("type-wrong", "tells again what was in flight", reported(OVERTOOK, beside=(OVERTAKEN, in_flight("sum[0]"))))
near("type-wrong", "all of it is new",
     reported(changed(1, CheckpointStatus.COMPLETED, full_bytes=3 * INLINE_BYTES + FILE_BYTES)))  # fmt: skip

near("size-wrong", "all of it is new",
     reported(changed(1, CheckpointStatus.COMPLETED, full_bytes=3 * INLINE_BYTES + FILE_BYTES)))  # fmt: skip

near("start-delay-wrong", "synchronous part is the longer", reported(changed(1, "sum[0]", sync_ms=3.0, async_ms=0.0)))

near("alignment-wrong", "synchronous part is the longer", reported(changed(1, "sum[0]", sync_ms=3.0, async_ms=0.0)))

near("held-bytes-wrong", "synchronous part is the longer", reported(changed(1, "sum[0]", sync_ms=3.0, async_ms=0.0)))

near("part-duration-wrong", "synchronous part is the longer", reported(changed(1, "sum[0]", sync_ms=3.0, async_ms=0.0)))

near("alignment-wrong", "copy of a trigger comes behind the snapshot",
     reported(beside=(TriggerReceived(subtask="source[0]", checkpoint=1),)))  # fmt: skip

near("idle-gap-wrong", "gap is counted from the end", reported())
