"""Processes: they die, stand still, and are succeeded; their tasks fail; and the clocks of their machines are set, or
run fast or slow."""

from __future__ import annotations

from typing import Protocol

import msgspec

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


class TargetAbsent(OSError):
    """The system under test has no such part, now or at any time, so the plan does not apply to it (DESIGN section 3).

    For what only a run can show: a worker that runs no Python has no Python worker to kill. What is there but cannot be
    acted on at the moment is another OSError.
    """


class ClockError(msgspec.Struct, frozen=True):
    """How wrong a wall clock is.

    Attributes:
        ahead_ms: what it is ahead by, at once; negative: behind.
        percent: how fast it runs from now on; 100 is right, 0 stands still.
    """

    ahead_ms: int = 0
    percent: int = 100


class ClockControl(Protocol):
    """The wall clocks of workers and of the coordinator, each of its own machine: they stay wrong for later lives."""

    def mislead(self, target: Target, error: ClockError) -> None:
        """Let a clock be wrong from now on. Replaces an earlier error."""

    def correct(self, target: Target, error: ClockError) -> None:
        """Undo one `mislead`. Any other that acts on the clock goes on, from now on, until it is undone itself."""

    def right(self, target: Target, error: ClockError) -> bool:
        """Whether this error does not act on the clock any more."""


class TaskControl(Protocol):
    """Single subtasks of the job."""

    def slow(self, task: Target, delay_ms: int) -> None:
        """Let every batch keep a subtask busy for so long. Replaces an earlier delay."""

    def restore(self, task: Target, delay_ms: int) -> None:
        """Undo one `slow`. Any other that acts on the subtask goes on until it is undone itself."""

    def whole(self, task: Target, delay_ms: int) -> bool:
        """Whether no such delay acts on the subtask any more."""
