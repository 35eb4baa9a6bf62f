"""Lines of stories about a coordinator, over the forward job with one subtask of each vertex."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AttemptStarted,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointTriggered,
    DeclineReceived,
    Event,
    FailureCounted,
    FileReference,
    MetadataPublished,
    NotificationSent,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line
from holdfast.suites.selfcheck.oracles.builder import story as any_story

ALL = ("source[0]", "map[0]", "sink[0]")
FILE = FileReference("chk-1/source", 10, 7)
SHORT = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.timeout": "200 ms"}
TWO_AT_ONCE = {
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.max-concurrent-checkpoints": "2",
}


def story(*lines: Line, options: Mapping[str, str] | None = None, end: RunEnd | None = None) -> History:
    return any_story(AttemptStarted(), *lines, job=FORWARD, parallelism=1, options=options, end=end)


def triggered(checkpoint: int) -> CheckpointTriggered:
    return CheckpointTriggered(checkpoint=checkpoint, participants=ALL)


def acked(checkpoint: int, *subtasks: str, outcome: AckOutcome = AckOutcome.SUCCESS) -> list[Event]:
    return [AckReceived(checkpoint=checkpoint, subtask=subtask, outcome=outcome) for subtask in subtasks]


def published(checkpoint: int, *files: FileReference) -> MetadataPublished:
    return MetadataPublished(checkpoint=checkpoint, path=f"chk-{checkpoint}/_metadata", files=files)


def completed(checkpoint: int) -> CheckpointCompleted:
    return CheckpointCompleted(checkpoint=checkpoint)


def aborted(checkpoint: int, reason: str = "expired") -> CheckpointAborted:
    return CheckpointAborted(checkpoint=checkpoint, reason=reason)


def declined(checkpoint: int) -> DeclineReceived:
    return DeclineReceived(checkpoint=checkpoint, subtask="sink[0]", reason="disk full")


def told(checkpoint: int, *, completed: bool, subtasks: tuple[str, ...] = ALL) -> list[Event]:
    return [NotificationSent(checkpoint=checkpoint, subtask=subtask, completed=completed) for subtask in subtasks]


def whole(checkpoint: int) -> list[Event]:
    """A checkpoint as it should be."""
    return [
        triggered(checkpoint),
        *acked(checkpoint, *ALL),
        published(checkpoint),
        completed(checkpoint),
        *told(checkpoint, completed=True),
    ]


def failed_over() -> FailureCounted:
    return FailureCounted(cause="worker lost")
