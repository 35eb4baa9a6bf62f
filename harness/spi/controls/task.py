"""Subtasks: they take long."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.target import Target


class TaskControl(Protocol):
    """Single subtasks of the job."""

    def slow(self, task: Target, delay_ms: int) -> None:
        """Let every batch keep a subtask busy for so long. Replaces an earlier delay."""

    def restore(self, task: Target, delay_ms: int) -> None:
        """Undo one `slow`. Any other that acts on the subtask goes on until it is undone itself."""

    def whole(self, task: Target, delay_ms: int) -> bool:
        """Whether no such delay acts on the subtask any more."""
