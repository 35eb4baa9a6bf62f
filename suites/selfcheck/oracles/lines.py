"""The lines of hand-made stories, by the nouns of the field: only what matters in a story is spelled there.

Each function is one kind of event with the usual values, or the few lines that one thing always takes. Kinds that
hardly any story needs have no function: a story names them itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import AckOutcome, ChannelContent, Event, FileReference, JobStatus, StateSummary

CANCELED, CANCELLING, FAILED = JobStatus.CANCELED, JobStatus.CANCELLING, JobStatus.FAILED
FINISHED, RESTARTING, RUNNING = JobStatus.FINISHED, JobStatus.RESTARTING, JobStatus.RUNNING
NEXT_JOB = 1_000
"""The attempts of a second job are above it."""


# --- jobs and attempts -----------------------------------------------------------------------------------------------


def submitted(path: str = "", checkpoint: int | None = None, *, job: int = 0) -> events.JobSubmitted:
    """The first job, or the one of this number, from 0; `path` and `checkpoint` are what it restores."""
    return events.JobSubmitted(path=path, checkpoint=checkpoint, attempt=job * NEXT_JOB)


def switched(*statuses: JobStatus, reason: str = "") -> list[Event]:
    """The job takes these statuses, one after the other."""
    return [events.JobSwitched(status=status, reason=reason) for status in statuses]


def attempt(
    restored: int | None = None, *subtasks: str, number: int = 0, parallelism: int = 0
) -> events.AttemptStarted:
    """An attempt of the job, or of some subtasks, from a checkpoint; without a number it is the next one."""
    return events.AttemptStarted(
        restored_checkpoint=restored, subtasks=subtasks, attempt=number, parallelism=parallelism
    )


def failure(
    cause: str = "worker lost", subtask: str = "", *subtasks: str, recoverable: bool = True, failed_checkpoint: int = 0
) -> events.FailureCounted:
    """A failure of a subtask, or of what has no name, that takes these subtasks down, or all."""
    return events.FailureCounted(
        cause=cause, subtask=subtask, subtasks=subtasks, recoverable=recoverable, failed_checkpoint=failed_checkpoint
    )


def died(process: str = "coordinator", cause: str = "kill", *, by_error: bool = False) -> events.NodeDied:
    """A process ends, killed or by an error of its own."""
    return events.NodeDied(dead_node=process, cause=cause, by_error=by_error)


# --- subtasks --------------------------------------------------------------------------------------------------------


def task(
    subtask: str,
    restored: int | None = None,
    *,
    state: StateSummary | None = None,
    positions: tuple[tuple[int, int], ...] = (),
    pending: tuple[str, ...] = (),
    finished: bool = False,
    given: tuple[events.ListSummary, ...] = (),
) -> events.TaskStarted:
    """A subtask starts, and what it starts with."""
    return events.TaskStarted(
        subtask=subtask,
        restored_checkpoint=restored,
        state=state,
        positions=positions,
        pending_transactions=pending,
        finished=finished,
        given=given,
    )


def of_each(kind: Callable[..., Event], *places: str, **fields: Any) -> list[Event]:
    """The same happens in each of these subtasks or channels."""
    return [kind(**{"channel" if "->" in place else "subtask": place}, **fields) for place in places]


def stopped(*subtasks: str, reason: str = "cancelled") -> list[Event]:
    """These subtasks stop."""
    return [events.TaskStopped(subtask=subtask, reason=reason) for subtask in subtasks]


def emitted(first: int, following: int, *, subtask: str = "source[0]", partition: int = 0) -> events.SourceEmitted:
    """A source emits the records from the first offset up to the following."""
    return events.SourceEmitted(subtask=subtask, partition=partition, first_offset=first, next_offset=following)


def sets(*timers: tuple[str, int], subtask: str = "sum[0]") -> events.TimersSet:
    """A subtask sets timers, each by its key and time."""
    return events.TimersSet(subtask=subtask, timers=timers)


def takes(time_ms: int, *timers: tuple[str, int], subtask: str = "sum[0]", final: bool = False) -> events.TimersFired:
    """Timers are taken at a time; `final`: since the input has ended."""
    return events.TimersFired(subtask=subtask, time_ms=time_ms, timers=timers, final=final)


# --- channels --------------------------------------------------------------------------------------------------------


class Barrier(NamedTuple):
    """A barrier among the batches of a channel; `overtaking`: in front of what waited there."""

    checkpoint: int
    overtaking: bool = False


def sends(channel: str, *elements: int | Barrier, records: int = 1) -> list[Event]:
    """Batches, by their positions, and barriers enter a channel."""
    return [
        events.BarrierSent(channel=channel, checkpoint=element.checkpoint)
        if isinstance(element, Barrier)
        else events.BatchSent(channel=channel, position=element, records=records)
        for element in elements
    ]


def delivers(channel: str, *elements: int | Barrier, records: int = 1, origin: int = 0) -> list[Event]:
    """As `sends`: they leave it. `origin`: the attempt that counted these batches; 0: this one."""
    return [
        events.BarrierReceived(channel=channel, checkpoint=element.checkpoint, overtaking=element.overtaking)
        if isinstance(element, Barrier)
        else events.BatchProcessed(channel=channel, position=element, records=records, origin=origin)
        for element in elements
    ]


def content(channel: str, *positions: int, attempt: int = 1, output: bool = False) -> ChannelContent:
    """Batches of an attempt that were in flight in a channel, at its receiver or, with `output`, at its sender."""
    return ChannelContent(channel, output, tuple((attempt, position) for position in positions))


def in_flight(subtask: str, *channels: ChannelContent, checkpoint: int = 1) -> events.ChannelStateTaken:
    """A subtask takes what is in flight in these channels into its checkpoint."""
    return events.ChannelStateTaken(subtask=subtask, checkpoint=checkpoint, channels=channels)


# --- checkpoints, at the coordinator ---------------------------------------------------------------------------------


def requested(request: int, origin: CheckpointOrigin = CheckpointOrigin.PERIODIC) -> events.CheckpointRequested:
    """A checkpoint is asked for, by the timer or by somebody."""
    return events.CheckpointRequested(request=request, origin=origin)


def drawn(
    checkpoint: int = 1, request: int = 0, origin: CheckpointOrigin = CheckpointOrigin.PERIODIC
) -> events.CheckpointDrawn:
    """An id for a request, which has the same number unless it says another."""
    return events.CheckpointDrawn(checkpoint=checkpoint, request=request or checkpoint, origin=origin)


def triggered(
    checkpoint: int = 1, *participants: str, origin: CheckpointOrigin = CheckpointOrigin.PERIODIC
) -> events.CheckpointTriggered:
    """The coordinator triggers a checkpoint of these subtasks."""
    return events.CheckpointTriggered(checkpoint=checkpoint, participants=participants, origin=origin)


def acked(checkpoint: int, *subtasks: str, outcome: AckOutcome = AckOutcome.SUCCESS) -> list[Event]:
    """The coordinator takes the acknowledgements of these subtasks."""
    return [events.AckReceived(checkpoint=checkpoint, subtask=subtask, outcome=outcome) for subtask in subtasks]


def published(
    checkpoint: int, *files: FileReference, states: int = 0, path: str | None = None
) -> events.MetadataPublished:
    """The coordinator publishes the metadata of a checkpoint, with the files that it names."""
    path = f"chk-{checkpoint}/_metadata" if path is None else path
    return events.MetadataPublished(checkpoint=checkpoint, path=path, files=files, states=states)


def completed(checkpoint: int = 1, *positions: int, watermark_ms: int | None = None) -> events.CheckpointCompleted:
    """A checkpoint completes at these positions of the sources."""
    return events.CheckpointCompleted(checkpoint=checkpoint, positions=positions, watermark_ms=watermark_ms)


def aborted(checkpoint: int = 1, reason: str = "expired") -> events.CheckpointAborted:
    """A checkpoint is aborted."""
    return events.CheckpointAborted(checkpoint=checkpoint, reason=reason)


def dropped(checkpoint: int) -> events.CheckpointDropped:
    """A completed checkpoint is given up for a newer one."""
    return events.CheckpointDropped(checkpoint=checkpoint)


def notified(checkpoint: int, *subtasks: str, completed: bool = True) -> list[Event]:
    """The news of its end leaves for these subtasks."""
    return [
        events.NotificationSent(checkpoint=checkpoint, subtask=subtask, completed=completed) for subtask in subtasks
    ]


def finalized(checkpoint: int, *participants: str, files: tuple[FileReference, ...] = ()) -> list[Event]:
    """A checkpoint is published and completes, and its participants are told."""
    return [published(checkpoint, *files), completed(checkpoint), *notified(checkpoint, *participants)]


# --- checkpoints, at a subtask ---------------------------------------------------------------------------------------


def snapshot(
    subtask: str,
    checkpoint: int = 1,
    *positions: tuple[int, int],
    state: StateSummary | None = None,
    pending: tuple[str, ...] = (),
    unaligned: bool = False,
) -> events.SnapshotTaken:
    """What a subtask holds at its cut: positions of a source, state, transactions of a sink."""
    return events.SnapshotTaken(
        subtask=subtask,
        checkpoint=checkpoint,
        state=state,
        positions=positions,
        pending_transactions=pending,
        unaligned=unaligned,
    )


def ack_sent(
    subtask: str,
    checkpoint: int = 1,
    *files: FileReference,
    inline_bytes: int = 0,
    shared: tuple[events.SharedHandle, ...] = (),
) -> events.AckSent:
    """A subtask acknowledges a checkpoint, with the files that it stored."""
    return events.AckSent(subtask=subtask, checkpoint=checkpoint, files=files, inline_bytes=inline_bytes, shared=shared)


def heard(subtask: str, *checkpoints: int, completed: bool = True) -> list[Event]:
    """The news arrives of how these checkpoints ended; of checkpoint 1 where none is named."""
    return [
        events.NotificationReceived(subtask=subtask, checkpoint=checkpoint, completed=completed)
        for checkpoint in checkpoints or (1,)
    ]


# --- files and transactions -------------------------------------------------------------------------------------------


def metadata(checkpoint: int, length: int = 10, checksum: int = 7) -> FileReference:
    """The metadata file of a checkpoint."""
    return FileReference(f"chk-{checkpoint}/_metadata", length, checksum)


def deleted(*files: FileReference, by: str = "", attempt: int = 0) -> list[Event]:
    """By a process, or by the coordinator."""
    return [events.FileDeleted(node=by, attempt=attempt, path=file.path) for file in files]


def listed(*files: FileReference) -> events.StorageListed:
    """What is in the storage at the end."""
    return events.StorageListed(files=files)


def storage_failed(
    operation: str, path: str, reason: str = "injected error", *, injected: bool = False, subtask: str = ""
) -> events.StorageFailed:
    """Of a subtask it is a part of its snapshot for checkpoint 1."""
    return events.StorageFailed(
        operation=operation,
        path=path,
        reason=reason,
        injected=injected,
        subtask=subtask,
        checkpoint=1 if subtask else 0,
    )


def damaged(file: FileReference, *published: int, left: int | None = None) -> events.ObjectDamaged:
    """The harness damages a file of a checkpoint, whose number is in its path; so many bytes are left, or nothing."""
    checkpoint = int(file.path.partition("/")[0].removeprefix("chk-"))
    return events.ObjectDamaged(
        path=file.path, checkpoint=checkpoint, published=published, length=file.length, left=left
    )


def committed(transaction: str, *, subtask: str = "sink[0]", recovering: bool = False) -> list[Event]:
    """A sink tries to commit a transaction, and succeeds."""
    return [
        events.CommitTried(subtask=subtask, transaction=transaction, recovering=recovering),
        events.TransactionCommitted(subtask=subtask, transaction=transaction),
    ]


def audited(*states: StateSummary, problem: str = "") -> list[Event]:
    """The harness reads checkpoint 1 back, with one state by subtask of the sum."""
    read = [events.SubtaskAudited(checkpoint=1, subtask=f"sum[{i}]", state=state) for i, state in enumerate(states)]
    return [events.CheckpointAudited(checkpoint=1, problem=problem), *read]
