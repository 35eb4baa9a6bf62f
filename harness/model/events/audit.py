"""What the harness finds in the checkpoint storage, when a checkpoint has completed and after the run."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event
from holdfast.harness.model.events.state import FileReference, HeldState, StateSummary


class CheckpointAudited(Event, tag="checkpoint_audited"):
    """A checkpoint was restored once more into a fresh runtime, when it had completed or, if retained, after the run;
    `problem` is empty if that worked."""

    checkpoint: int
    problem: str = ""


class SubtaskAudited(Event, tag="subtask_audited"):
    """What that restore gave one subtask; no state where it had finished before the checkpoint."""

    checkpoint: int
    subtask: str
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()
    pending_transactions: tuple[str, ...] = ()


class SubtaskMoved(Event, tag="subtask_moved"):
    """The keyed state which that restore gave one subtask was moved to another state backend, in canonical form.

    Attributes:
        checkpoint, subtask: whose state it is.
        source, target: the backends by their names.
        canonical, answered: what the source says of each state in canonical form, and by what its tables and timers
            answer; None: it has none of these.
        moved, moved_answered: the same of the target.
        state: of an operator above the target.
        problem: why it cannot be moved; empty: it can.
    """

    checkpoint: int
    subtask: str
    source: str
    target: str
    canonical: tuple[HeldState, ...] = ()
    answered: tuple[HeldState, ...] | None = None
    moved: tuple[HeldState, ...] = ()
    moved_answered: tuple[HeldState, ...] | None = None
    state: StateSummary | None = None
    problem: str = ""


class StorageListed(Event, tag="storage_listed"):
    """All files of the checkpoint storage after the run, read back by the harness."""

    files: tuple[FileReference, ...]


class StorageObserved(Event, tag="storage_observed"):
    """The harness looked into the checkpoint storage because a checkpoint had completed; `attempt` is that of its
    completion.

    Attributes:
        checkpoint: the one that had completed before the look began.
        coordinator: the node that recorded the completion.
        recorded: how many events this node had recorded when the look was over. What it recorded later, it did later.
        paths: all files that were there.
        files: those of them that were read.
    """

    checkpoint: int
    coordinator: str
    recorded: int
    paths: tuple[str, ...]
    files: tuple[FileReference, ...]
