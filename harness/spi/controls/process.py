"""Processes: they die, stand still, and are succeeded."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.target import Target

PARTS = ("executor", "python-worker", "container")
"""Processes of a worker, where it has several."""


class ProcessControl(Protocol):
    """Workers and the coordinator; a task stands for its worker."""

    def kill(self, target: Target, part: str = "") -> None:
        """End a process from outside, as SIGKILL does. Its environment starts it again by itself.

        Args:
            target: whom.
            part: which process of it, where it has several: one of PARTS; empty: the one that all others die with.

        Raises:
            OSError: it is dead.
            TargetAbsent: no worker ever has such a part.
        """

    def pause(self, target: Target, part: str = "") -> None:
        """Stop a process without ending it, as SIGSTOP does: it keeps its connections and receives nothing."""

    def resume(self, target: Target) -> None:
        """Let a paused process go on. Resuming one that is not paused, or dead, does nothing."""

    def alive(self, target: Target) -> bool:
        """Whether it lives and is not paused."""


class SuccessionControl(Protocol):
    """The coordinator, which has one successor at a time."""

    def supersede(self) -> None:
        """Stop the coordinator as a pause does, and let its environment start a successor as if it were dead.

        Raises:
            OSError: it is dead, or stands still already.
        """

    def resume_superseded(self) -> None:
        """Let those that were superseded go on; the dead, and those that go on already, are left as they are."""

    def coordinates(self) -> bool:
        """Whether the present coordinator lives and is not paused."""


class MembershipControl(ProcessControl, Protocol):
    """Workers that share their work: it moves to the others when one leaves, and back when it joins."""

    def leave(self, target: Target) -> None:
        """Let a worker end in good order. Its environment does not start it again before `come_back`.

        Raises:
            OSError: it is dead, or does not end.
        """

    def come_back(self, target: Target) -> None:
        """Let its environment start it again; does nothing for one that has not left."""
