"""The job: what its users ask of it, records of its input that fail or are gone, and gates that hold its effects."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.plan import Gate


class JobControl(Protocol):
    """Commands of users."""

    def command(self, name: str, parameters: dict[str, int | str]) -> None:
        """Send the job a command of its users, such as `checkpoint`. Which commands and parameters exist is
        documented by the adapter.

        Raises:
            OSError: the job cannot be reached.
        """


class ReplayControl(Protocol):
    """A job of micro-batches."""

    def replay(self) -> None:
        """Stop the job in good order, take back the completion of its last checkpoint, and start it again: what it did
        for that checkpoint it does once more."""

    def running(self) -> bool:
        """Whether the job runs."""


UPGRADES = ("stop", "kill", "replay")
"""How a job ends whose next version takes its place: in good order; by the death of its coordinator; in good order, and
the completion of its last checkpoint is taken back, so that the next version does the work of that once more."""


class UpgradeControl(Protocol):
    """A job whose code has a next version."""

    def upgrade(self, way: str) -> None:
        """End the job, and start its next version from its checkpoints. Whatever starts the job again from now on
        starts that one.

        Args:
            way: one of UPGRADES.

        Raises:
            ValueError: there is no such way.
            OSError: the job does not run, or its next version does already.
        """

    def running(self) -> bool:
        """Whether the job runs, in whatever version."""


Detail = int | tuple[int, int, bool]
"""What identifies a fault of the input among others of its kind: partition, offset and `recoverable` of a poison, the
percent of a surge, the partition of a listing, or partition, `beyond` and False of a truncation."""


class RetentionControl(Protocol):
    """What the source system of the job keeps of its records."""

    def truncate(self, partition: int, beyond: int) -> None:
        """Remove the oldest records: no reader finds them any more. An InputTruncated records what is left.

        Args:
            partition: whose; -1: of every partition.
            beyond: how many more than the last completed checkpoint covers; negative: so many fewer.
        """

    def restore(self, kind: str, detail: Detail) -> None:
        """Undo one fault, where that can be: what a broker has removed stays removed. Any other goes on until it is
        undone itself.

        Args:
            kind: `poison`, `surge`, `truncate` or `list-part`.
            detail: which of several.
        """

    def whole(self, kind: str, detail: Detail) -> bool:
        """Whether no such fault acts any more; arguments as for `restore`."""


class PoisonControl(Protocol):
    """Records at which an operator fails."""

    def poison(self, partition: int, offset: int, *, recoverable: bool) -> None:
        """Let a record make its operator fail whenever it is processed. Replaces an earlier one of its partition.

        Args:
            partition, offset: the record; a negative offset counts from the end of the partition.
            recoverable: False: its operator reports that no restart can help.
        """

    def restore(self, kind: str, detail: Detail) -> None:
        """See RetentionControl."""

    def whole(self, kind: str, detail: Detail) -> bool:
        """See RetentionControl."""


class InputControl(PoisonControl, RetentionControl, Protocol):
    """The source system of the job, in full."""

    def surge(self, percent: int) -> None:
        """Let input arrive at so many percent of the rate of the workload. Replaces an earlier rate."""

    def hide_partition(self, partition: int) -> None:
        """Leave a partition out of what the source system lists, besides those that are left out already; who knows it
        reads it as before."""


class GateControl(Protocol):
    """Gates in front of effects."""

    def arm(self, gate: Gate) -> int:
        """Arm a gate; returns its number. When the system under test is about to execute the effect it is held in front
        of it, and `Deployment.advance` returns with `GateReached`."""

    def release(self, gate: int) -> None:
        """Let the held effect happen. A gate whose node died needs no release; releasing it does nothing."""

    def disarm(self, gate: int) -> None:
        """Forget a gate that was not reached."""
