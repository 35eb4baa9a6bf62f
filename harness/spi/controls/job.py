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
