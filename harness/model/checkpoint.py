"""Words for the life of a checkpoint at its coordinator."""

from __future__ import annotations

from enum import StrEnum


class CheckpointOrigin(StrEnum):
    """Who requested a checkpoint."""

    PERIODIC = "periodic"
    """The interval."""
    USER = "user"
    """Somebody who waits for no pause."""
    FORCED = "forced"
    """Somebody who waits for no pause and no free slot."""
    SAVEPOINT = "savepoint"
    """Somebody who wants a savepoint, before all others; it waits for a slot only where checkpoints are unaligned."""


class SavepointFormat(StrEnum):
    """How a savepoint holds keyed state (Flink's SavepointFormatType)."""

    CANONICAL = "canonical"
    """As entries that any state backend restores."""
    NATIVE = "native"
    """In the format of the state backend that wrote it."""


class StopMode(StrEnum):
    """What a savepoint does to the job that it is taken of."""

    GO_ON = "go-on"
    """The job runs on."""
    SUSPEND = "suspend"
    """The job ends with the savepoint, and emits nothing behind it (`stop`)."""
    DRAIN = "drain"
    """All that is held back is emitted in front of the savepoint, and the job ends with it (`stop --drain`)."""
    CANCEL = "cancel"
    """The job runs on, takes no other checkpoint, and is cancelled as soon as the savepoint is complete (`cancel -s`,
    in 1.14 alone)."""

    @property
    def synchronous(self) -> bool:
        """Whether nothing is emitted behind the savepoint."""
        return self in (StopMode.SUSPEND, StopMode.DRAIN)


class ClaimMode(StrEnum):
    """Who owns the snapshot that a job restores (execution.state-recovery.claim-mode)."""

    CLAIM = "CLAIM"
    """The job, which deletes it as soon as a checkpoint of its own takes its place."""
    NO_CLAIM = "NO_CLAIM"
    """The user; the job depends on it until its first checkpoint, which is a full one."""
    LEGACY = "LEGACY"
    """The user; later checkpoints may refer to its files for ever."""


class FailureReason(StrEnum):
    """Why a checkpoint did not complete, or was never begun (Flink's CheckpointFailureReason)."""

    # --- refused before an id was drawn: nothing of it is left ---
    TASKS_NOT_RUNNING = "not all tasks running"
    SCHEDULER_STOPPED = "scheduler stopped"
    SHUT_DOWN = "coordinator shut down"
    TOO_MANY_REQUESTS = "too many requests"
    NO_TARGET = "no savepoint directory"
    NO_SUCH_STOP = "this version does not cancel with a savepoint"
    # --- by a task ---
    DECLINED = "declined"
    ASYNCHRONOUS_PART = "asynchronous part failed"
    TASK_NOT_READY = "task not ready"
    TASK_CLOSING = "task closing"
    END_OF_STREAM = "end of stream"
    CANCELLATION_BARRIER = "cancellation barrier"
    # --- at the coordinator ---
    EXPIRED = "expired"
    SUBSUMED = "subsumed"
    INPUT_OUTPUT = "input or output error"
    FINALIZATION = "metadata was not stored"
    REJECTED_STATE = "shared state was rejected"
    COORDINATOR_MEMORY = "no room in the coordinator's memory"
    TASK_FAILURE = "task failure"
    SUSPENDED = "coordinator suspended"


PREFLIGHT = frozenset(
    {
        FailureReason.TASKS_NOT_RUNNING,
        FailureReason.SCHEDULER_STOPPED,
        FailureReason.SHUT_DOWN,
        FailureReason.TOO_MANY_REQUESTS,
        FailureReason.NO_TARGET,
        FailureReason.NO_SUCH_STOP,
    }
)
"""Reasons of a refusal."""
