"""What a factory of state backends is given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec


class StateContext(msgspec.Struct, frozen=True, kw_only=True):
    """The place of one backend: one operator's subtask in one attempt.

    Attributes:
        job, operator: stable names; the same over restarts.
        subtask: index, from 0.
        attempt: which start of the job this is, from 1. Subtasks that start together share it; no two
            lives of a subtask do.
        key_groups: that the backend owns. It is never asked for another.
        max_parallelism: number of key groups of the operator.
        folder: of the backend's own, below which it may write what it likes; None where there is no disk, such as on
            the simulator. It is empty. With LOCAL_RECOVERY it holds what the last attempt of the subtask left there,
            which may have died at any moment (REC-09).
        memory_bytes: the budget. Without SPILLS, a write that would exceed it raises Full (SBK-08). What is removed,
            cleared, written over or polled gives its room back.
        options: those of `Description.options` that the user has set.
    """

    job: str
    operator: str
    subtask: int
    attempt: int
    key_groups: range
    max_parallelism: int
    memory_bytes: int
    folder: Path | None = None
    options: Mapping[str, str] = {}
