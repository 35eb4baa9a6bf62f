"""The job as its users see it."""

from __future__ import annotations

from typing import Protocol


class JobControl(Protocol):
    """Commands of users."""

    def command(self, name: str, parameters: dict[str, int | str]) -> None:
        """Ask the job for what its users may ask for, such as a `checkpoint`. Which commands and parameters exist is
        documented by the adapter.

        Raises:
            OSError: nobody is there to be asked.
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
