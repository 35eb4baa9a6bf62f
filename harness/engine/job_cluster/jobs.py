"""What a cluster knows of its jobs, and of the savepoints that were asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.harness.engine.job_cluster.requirements import Requirements
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointRefused,
    JobStatus,
    JobSwitched,
    RescaleAccepted,
    RescaleRefused,
    SavepointCompleted,
    SavepointTriggered,
)

IN_PROGRESS, COMPLETED = "IN_PROGRESS", "COMPLETED"
OVER = frozenset({"FINISHED", "CANCELED", "FAILED", "SUSPENDED"})


@dataclass
class SavepointOperation:
    """A savepoint that was asked for.

    Attributes:
        trigger: its id for whoever asked.
        name: of its folder.
        stops: the job is to end with it.
        checkpoint: its id; 0: it has none yet.
        location: of the folder, when it is complete.
        failure: why there is none.
    """

    trigger: str
    name: str
    stops: bool
    checkpoint: int = 0
    location: str = ""
    failure: str = ""

    @property
    def status(self) -> str:
        """As Flink calls it."""
        return COMPLETED if self.location or self.failure else IN_PROGRESS


@dataclass
class Job:
    """One job of a cluster.

    Attributes:
        job: its id, 32 hexadecimal digits.
        name: of its program.
        started_ms: since the epoch.
        state: one of Flink's words for its status.
        reason: why it is in it.
        savepoints: by trigger id.
        completed: how many checkpoints are.
        parallelism: of every vertex, as it is now.
        requirements: what it is to be.
    """

    job: str
    name: str
    started_ms: int
    parallelism: int
    requirements: Requirements
    state: str = "CREATED"
    reason: str = ""
    savepoints: dict[str, SavepointOperation] = field(default_factory=dict)
    completed: int = 0

    @property
    def over(self) -> bool:
        """Whether it has ended for good."""
        return self.state in OVER

    def switched(self, event: JobSwitched) -> None:
        """It has another status."""
        self.state, self.reason = event.status.value.upper(), event.reason
        if event.status is JobStatus.FAILED or event.status is JobStatus.RESTARTING:
            self._fail(f"the job is {event.status}: {event.reason}")

    def savepoint_triggered(self, event: SavepointTriggered) -> None:
        """One of those that were asked for has begun."""
        for operation in self.savepoints.values():
            if operation.name == event.folder.rstrip("/").rpartition("/")[2]:
                operation.checkpoint = event.checkpoint

    def savepoint_completed(self, event: SavepointCompleted) -> None:
        """One of them is complete."""
        for operation in self.savepoints.values():
            if operation.checkpoint == event.checkpoint and not operation.failure:
                operation.location = event.path.rpartition("/")[0]

    def aborted(self, event: CheckpointAborted) -> None:
        """A checkpoint will never complete, perhaps one of them."""
        for operation in self.savepoints.values():
            if operation.checkpoint == event.checkpoint and not operation.location:
                operation.failure = f"savepoint {event.checkpoint} was given up: {event.reason}"

    def refused(self, event: CheckpointRefused) -> None:
        """Nothing comes of a request, which is one of theirs if it is for a savepoint."""
        if event.origin == "savepoint":
            waiting = [each for each in self.savepoints.values() if not each.checkpoint and not each.failure]
            for operation in waiting[:1]:
                operation.failure = f"no savepoint was taken: {event.reason}"

    def observe(self, event: object) -> None:
        """Take notice of what the cluster reports."""
        if isinstance(event, JobSwitched):
            self.switched(event)
        elif isinstance(event, SavepointTriggered):
            self.savepoint_triggered(event)
        elif isinstance(event, SavepointCompleted):
            self.savepoint_completed(event)
        elif isinstance(event, CheckpointAborted):
            self.aborted(event)
        elif isinstance(event, CheckpointRefused):
            self.refused(event)
        elif isinstance(event, CheckpointCompleted):
            self.completed += 1
        elif isinstance(event, AttemptStarted):
            self.parallelism = event.parallelism or self.parallelism
            self._fail("the job was restarted", also_others=True)
        elif isinstance(event, RescaleAccepted | RescaleRefused):
            self.requirements.observe(event)

    def _fail(self, reason: str, *, also_others: bool = False) -> None:
        for operation in self.savepoints.values():
            if operation.status == IN_PROGRESS and (operation.stops or also_others):
                operation.failure = reason
