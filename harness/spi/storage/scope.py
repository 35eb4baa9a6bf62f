"""To whom a stored file belongs."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """Flink's CheckpointedStateScope, and the files of tasks (STO-03)."""

    EXCLUSIVE = "exclusive"
    """One checkpoint: `CheckpointStorage.drop` removes it with its checkpoint."""
    SHARED = "shared"
    """Any number of checkpoints: the shared state registry says when it goes, and `delete` removes it."""
    TASK_OWNED = "task-owned"
    """The task that wrote it, which deletes it itself, such as a write-ahead log of a sink."""
