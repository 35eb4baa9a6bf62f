"""The job, its attempts and recovery, recorded by the coordinator."""

from __future__ import annotations

from enum import StrEnum

from holdfast.harness.model.configuration import EffectiveConfiguration
from holdfast.harness.model.events.event import Event


class JobStatus(StrEnum):
    """Where a job can be."""

    CREATED = "created"
    RUNNING = "running"
    RESTARTING = "restarting"
    CANCELLING = "cancelling"
    """A user has ended it, and what is left of it goes."""
    FINISHED = "finished"
    CANCELED = "canceled"
    """A user wanted no more of it."""
    FAILED = "failed"
    SUSPENDED = "suspended"
    """A user wants it to go on later."""


OVER = frozenset({JobStatus.CANCELLING, JobStatus.FINISHED, JobStatus.CANCELED, JobStatus.FAILED, JobStatus.SUSPENDED})
"""From these no job comes back."""


class CoordinatorClaimed(Event, tag="coordinator_claimed"):
    """A coordinator has taken over a job: from now on nothing counts that one with a lower epoch does. No attempt of
    the job is below `first_attempt`."""

    epoch: int
    first_attempt: int = 0


class CoordinatorSuperseded(Event, tag="coordinator_superseded"):
    """A coordinator was refused, because a successor has claimed a higher epoch than its own, and ends."""

    epoch: int


class JobConfigured(Event, tag="job_configured"):
    """What is in force for the job, reported whenever a coordinator begins to live, and at submit."""

    configuration: EffectiveConfiguration


class JobSubmitted(Event, tag="job_submitted"):
    """A job begins that no coordinator has worked for yet, on a fresh cluster. It restores a checkpoint that an earlier
    one left, by its `path`, or starts empty, without a path. Its attempts are above the `attempt` of this event."""

    path: str = ""
    checkpoint: int | None = None


class JobSwitched(Event, tag="job_switched"):
    """The job changed its status."""

    status: JobStatus
    reason: str = ""


class AttemptStarted(Event, tag="attempt_started"):
    """An execution attempt is deployed, from a checkpoint or, with None, from the initial state; `subtasks` are those
    that it is one of, where it is not one of all. `parallelism` is that of every vertex; 0: as the job was submitted.
    """

    restored_checkpoint: int | None = None
    subtasks: tuple[str, ...] = ()
    parallelism: int = 0


class QueryStarted(Event, tag="query_started"):
    """A query of the job was started, and names the folder that it keeps its progress in.

    Attributes:
        query: its id, which its checkpoint holds.
        run: of this start of it.
        start: how often the environment had started the job by then: queries of one start run side by side.
        folder: that it names: a URI, or a path in the folder of the run.
        given: the one that the environment gives the job, in the same form. Folders below it are its own, too.
        judged: its output is judged; others run beside it.
    """

    query: str
    run: str
    start: int
    folder: str
    given: str
    judged: bool = True


class CheckpointFolderSeen(Event, tag="checkpoint_folder_seen"):
    """An outside reader looked into the folder that the environment gives the job, when a query of it reported that it
    had finished a micro-batch.

    Attributes:
        folder: URI of it.
        files: how many were in it.
    """

    folder: str
    files: int


class RescaleRequested(Event, tag="rescale_requested"):
    """A user requires another parallelism of a running job: it is accepted or refused."""

    parallelism: int


class RescaleAccepted(Event, tag="rescale_accepted"):
    """The requirement is durable: every attempt of the job that begins from now on is at this parallelism."""

    parallelism: int


class RescaleRefused(Event, tag="rescale_refused"):
    """The job stays as it is. Where the requirement could not be stored, a later coordinator may still find it."""

    parallelism: int
    reason: str


class FailureCounted(Event, tag="failure_counted"):
    """A failure was handed to the restart strategy, or, as one that no restart can help, was not.

    `subtask` failed; empty: a worker, or the coordinator's own work. `subtasks` go down with it; empty: all.
    `failed_checkpoint` is the one whose failure was one more than tolerable; 0 where something else failed.
    """

    cause: str
    subtask: str = ""
    subtasks: tuple[str, ...] = ()
    recoverable: bool = True
    failed_checkpoint: int = 0


class RestartScheduled(Event, tag="restart_scheduled"):
    """The strategy allows a restart after a delay."""

    delay_ms: int


class RestartRefused(Event, tag="restart_refused"):
    """The strategy refuses: the job fails."""

    reason: str


class RecoveryFailed(Event, tag="recovery_failed"):
    """The checkpoint to restore cannot be used, and the job reports it."""

    checkpoint: int
    reason: str
