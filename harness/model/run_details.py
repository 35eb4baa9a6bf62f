"""What is shown of one run and too large for `results.json`: a file beside the run. Its checkpoints are as the system
itself reported them, ready to be shown as Flink's web page shows them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from holdfast.harness.model.picture import Picture


class ReportedStatus(StrEnum):
    """How a checkpoint stands at the end of a run."""

    COMPLETED = "completed"
    FAILED = "failed"
    IN_PROGRESS = "in progress"
    LOST = "lost"
    """It was in progress when its coordinator died."""


class SubtaskPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One subtask's part in a checkpoint, in milliseconds and bytes.

    Attributes:
        subtask: `vertex[index]`.
        acknowledged: its ack was counted; without one there are no figures.
        end_to_end_ms: from the trigger to the arrival of the ack.
        start_delay_ms, alignment_ms, sync_ms, async_ms: where that time went.
        held_bytes: what waited behind barriers.
        delta_bytes, full_bytes: new state, and all of it.
    """

    subtask: str
    acknowledged: bool
    end_to_end_ms: float = 0.0
    start_delay_ms: float = 0.0
    alignment_ms: float = 0.0
    sync_ms: float = 0.0
    async_ms: float = 0.0
    held_bytes: int = 0
    delta_bytes: int = 0
    full_bytes: int = 0


class ReportedCheckpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One checkpoint.

    Attributes:
        checkpoint: its id.
        kind: such as `checkpoint` or `savepoint`.
        status: at the end of the run.
        triggered_ms: since the start of the run.
        duration_ms: until its end; None: it did not end.
        idle_ms: how long nothing had been in progress before; None: it was the first of its coordinator.
        reason: why it failed.
        path: where its metadata is.
        delta_bytes, full_bytes: new state, and all of it.
        parts: of the subtasks that take part.
    """

    checkpoint: int
    kind: str
    status: ReportedStatus
    triggered_ms: float
    duration_ms: float | None = None
    idle_ms: float | None = None
    reason: str = ""
    path: str = ""
    delta_bytes: int = 0
    full_bytes: int = 0
    parts: tuple[SubtaskPart, ...] = ()


class ReportedRestore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attempt that began from a checkpoint, at a time since the start of the run."""

    checkpoint: int
    path: str
    at_ms: float
    duration_ms: float | None = None
    """Until the job ran; None: it was not reported."""


class CheckpointHistory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All checkpoints of a run.

    Attributes:
        checkpoints: in order of their triggers; of many the first are left out.
        left_out: how many.
        counts: by status, of all.
        restores: in order.
    """

    checkpoints: tuple[ReportedCheckpoint, ...]
    left_out: int
    counts: dict[ReportedStatus, int]
    restores: tuple[ReportedRestore, ...] = ()


DETAILS_VERSION = 1


class RunDetails(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`details.json` of a stored run.

    Attributes:
        version: schema version.
        checkpoint_history: what the system reported of its checkpoints; None: nothing.
        pictures: that the case asks for.
    """

    version: int = DETAILS_VERSION
    checkpoint_history: CheckpointHistory | None = None
    pictures: tuple[Picture, ...] = ()
