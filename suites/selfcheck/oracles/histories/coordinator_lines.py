"""Lines of stories about a coordinator, over the forward job with one subtask of each vertex."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line
from holdfast.suites.selfcheck.oracles.builder import story as any_story

ALL = ("source[0]", "map[0]", "sink[0]")
FILE = events.FileReference("chk-1/source", 10, 7)
SHORT = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.timeout": "200 ms"}
TWO_AT_ONCE = {
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.max-concurrent-checkpoints": "2",
}


def story(*lines: Line, options: Mapping[str, str] | None = None, end: RunEnd | None = None) -> History:
    return any_story(events.AttemptStarted(), *lines, job=FORWARD, parallelism=1, options=options, end=end)


def triggered(checkpoint: int) -> events.CheckpointTriggered:
    return events.CheckpointTriggered(checkpoint=checkpoint, participants=ALL)


def acked(
    checkpoint: int, *subtasks: str, outcome: events.AckOutcome = events.AckOutcome.SUCCESS
) -> list[events.Event]:
    return [events.AckReceived(checkpoint=checkpoint, subtask=subtask, outcome=outcome) for subtask in subtasks]


def published(checkpoint: int, *files: events.FileReference) -> events.MetadataPublished:
    return events.MetadataPublished(checkpoint=checkpoint, path=f"chk-{checkpoint}/_metadata", files=files)


def completed(checkpoint: int) -> events.CheckpointCompleted:
    return events.CheckpointCompleted(checkpoint=checkpoint)


def aborted(checkpoint: int, reason: str = "expired") -> events.CheckpointAborted:
    return events.CheckpointAborted(checkpoint=checkpoint, reason=reason)


def declined(checkpoint: int) -> events.DeclineReceived:
    return events.DeclineReceived(checkpoint=checkpoint, subtask="sink[0]", reason="disk full")


def told(checkpoint: int, *, completed: bool, subtasks: tuple[str, ...] = ALL) -> list[events.Event]:
    return [
        events.NotificationSent(checkpoint=checkpoint, subtask=subtask, completed=completed) for subtask in subtasks
    ]


def whole(checkpoint: int) -> list[events.Event]:
    """A checkpoint as it should be."""
    return [
        triggered(checkpoint),
        *acked(checkpoint, *ALL),
        published(checkpoint),
        completed(checkpoint),
        *told(checkpoint, completed=True),
    ]


def failed_over() -> events.FailureCounted:
    return events.FailureCounted(cause="worker lost")
