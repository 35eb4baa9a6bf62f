"""What the harness finds after the run: each retained checkpoint restored once more, and all files."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event
from holdfast.harness.model.events.state import FileReference, StateSummary


class CheckpointAudited(Event, tag="checkpoint_audited"):
    """A retained checkpoint was restored once more into a fresh runtime; `problem` is empty if that worked."""

    checkpoint: int
    problem: str = ""


class SubtaskAudited(Event, tag="subtask_audited"):
    """What that restore gave one subtask."""

    checkpoint: int
    subtask: str
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()
    pending_transactions: tuple[str, ...] = ()


class StorageListed(Event, tag="storage_listed"):
    """All files of the checkpoint storage after the run, read back by the harness."""

    files: tuple[FileReference, ...]
