"""Words for the life of a checkpoint at its coordinator."""

from __future__ import annotations

from enum import StrEnum


class CheckpointOrigin(StrEnum):
    """Who asked for a checkpoint."""

    PERIODIC = "periodic"
    """The interval."""
    USER = "user"
    """Somebody who waits for no pause."""
    FORCED = "forced"
    """Somebody who waits for no pause and no free slot."""


class FailureReason(StrEnum):
    """Why a checkpoint did not complete, or was never begun (Flink's CheckpointFailureReason)."""

    # --- refused before an id was drawn: nothing of it is left ---
    TASKS_NOT_RUNNING = "not all tasks running"
    SCHEDULER_STOPPED = "scheduler stopped"
    SHUT_DOWN = "coordinator shut down"
    TOO_MANY_REQUESTS = "too many requests"
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
    TASK_FAILURE = "task failure"
    SUSPENDED = "coordinator suspended"


PREFLIGHT = frozenset(
    {
        FailureReason.TASKS_NOT_RUNNING,
        FailureReason.SCHEDULER_STOPPED,
        FailureReason.SHUT_DOWN,
        FailureReason.TOO_MANY_REQUESTS,
    }
)
"""Reasons of a refusal."""
