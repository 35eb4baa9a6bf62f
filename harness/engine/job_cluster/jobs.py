"""What a cluster knows of its jobs, of their resource requirements (Flink's JobResourceRequirements) and of the
savepoints that were requested of them.

Each vertex has a lower and an upper bound of its parallelism. Here every vertex of a job has the same parallelism, so
all have the same bounds. The job goes on at the upper bound, or at as many slots as there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointRefused,
    Event,
    JobStatus,
    JobSwitched,
    RescaleAccepted,
    RescaleRefused,
    SavepointCompleted,
    SavepointTriggered,
)

MOST_PARALLELISM = 1 << 15
"""As in Flink."""
SHOWN = 80
"""How many characters of a wrong value an error shows."""
PENDING, DONE = "pending", "done"


@dataclass
class Requirements:
    """The resource requirements of one job.

    Attributes:
        lower, upper: bounds of every vertex.
        state: PENDING until the job has accepted or refused them, then DONE.
        refusal: why the job goes on as it was.
    """

    lower: int
    upper: int
    state: str = DONE
    refusal: str = ""

    def observe(self, event: Event) -> None:
        """Note that the job has accepted or refused requirements."""
        if isinstance(event, RescaleAccepted | RescaleRefused) and self.state == PENDING:
            self.state = DONE
            self.refusal = event.reason if isinstance(event, RescaleRefused) else ""


def required(body: Mapping[str, Any], vertices: Sequence[str]) -> Requirements:
    """What a request requires.

    Args:
        body: by vertex, `{"parallelism": {"lowerBound": 1, "upperBound": 4}}`.
        vertices: of the job.

    Raises:
        ValueError: it is no such thing, or names other vertices; one sentence.
    """
    named = {str(vertex) for vertex in body}
    if strange := sorted(named - set(vertices)):
        raise ValueError(f"the job has no vertex {strange[0][:SHOWN]!r}: name each of {', '.join(vertices)}.")
    if missing := [vertex for vertex in vertices if vertex not in named]:
        raise ValueError(f"vertex {missing[0]!r} is missing: name each of {', '.join(vertices)}.")
    bounds = {vertex: _bounds(vertex, body[vertex]) for vertex in vertices}
    first = bounds[vertices[0]]
    other = next((vertex for vertex in vertices if bounds[vertex] != first), "")
    if other:
        raise ValueError(
            f"vertex {other!r} is to have {_words(bounds[other])}, and {vertices[0]!r} {_words(first)}: every vertex "
            "of a job has the same parallelism here, so give all the same bounds."
        )
    return Requirements(*first, state=PENDING)


def _bounds(vertex: str, given: object) -> tuple[int, int]:
    parallelism = given.get("parallelism") if isinstance(given, Mapping) else None
    bounds = parallelism if isinstance(parallelism, Mapping) else {}
    lower, upper = bounds.get("lowerBound", 1), bounds.get("upperBound")
    if type(lower) is not int or type(upper) is not int or not 1 <= lower <= upper <= MOST_PARALLELISM:
        raise ValueError(
            f"the bounds of vertex {vertex!r} are {repr(given)[:SHOWN]}; write "
            '{"parallelism": {"lowerBound": 1, "upperBound": 4}}, with '
            f"1 <= lowerBound <= upperBound <= {MOST_PARALLELISM}."
        )
    return lower, upper


def _words(bounds: tuple[int, int]) -> str:
    return f"{bounds[0]} to {bounds[1]} subtasks"


IN_PROGRESS, COMPLETED = "IN_PROGRESS", "COMPLETED"
OVER = frozenset({"FINISHED", "CANCELED", "FAILED", "SUSPENDED"})


@dataclass
class SavepointOperation:
    """A requested savepoint.

    Attributes:
        trigger: its id for the client.
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
        """The status in Flink's words."""
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
        """Take a change of the job's status."""
        self.state, self.reason = event.status.value.upper(), event.reason
        if event.status is JobStatus.FAILED or event.status is JobStatus.RESTARTING:
            self._fail(f"the job is {event.status}: {event.reason}")

    def savepoint_triggered(self, event: SavepointTriggered) -> None:
        """A requested savepoint has begun."""
        for operation in self.savepoints.values():
            if operation.name == event.folder.rstrip("/").rpartition("/")[2]:
                operation.checkpoint = event.checkpoint

    def savepoint_completed(self, event: SavepointCompleted) -> None:
        """A requested savepoint is complete."""
        for operation in self.savepoints.values():
            if operation.checkpoint == event.checkpoint and not operation.failure:
                operation.location = event.path.rpartition("/")[0]

    def aborted(self, event: CheckpointAborted) -> None:
        """A checkpoint, perhaps a requested savepoint, will never complete."""
        for operation in self.savepoints.values():
            if operation.checkpoint == event.checkpoint and not operation.location:
                operation.failure = f"savepoint {event.checkpoint} was given up: {event.reason}"

    def refused(self, event: CheckpointRefused) -> None:
        """A request of a user was refused, perhaps one for a savepoint."""
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
