"""What a state backend declares of itself, and what its factory is given."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from holdfast.harness.spi import SPI_VERSION


class Flag(StrEnum):
    """Something that a backend can do. What is not declared is never used; what is declared is tried (SBK-09)."""

    INCREMENTAL = "incremental"
    """A snapshot uploads only what changed since the last confirmed one (INC-01), with what shares a file or block with
    it: of many small values that are spread evenly, one that changed costs less than half a full snapshot."""
    CANONICAL = "canonical"
    """`entries` and `restore_entries` work: state moves between backends."""
    TTL = "ttl"
    """Descriptors may have a time to live."""
    TIMERS = "timers"
    """`timers` works."""
    MERGE = "merge"
    """`StateTable.merge` works, and with it list, reducing and aggregating state."""
    SPILLS = "spills"
    """State beyond the memory budget works (SBK-08)."""
    LOCAL_RECOVERY = "local-recovery"
    """What lies in `StateContext.folder` is kept for the next attempt (LOC). A local copy that cannot be written fails
    no upload, and one that is not whole, or of another checkpoint, is never used: the storage has everything."""
    MIGRATES = "migrates"
    """Values of an older version are converted at registration (SBK-04)."""
    ASYNC_SNAPSHOT = "async-snapshot"
    """The task thread may write while a snapshot is uploaded (ASY-01). Without it, the task thread uploads itself."""


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """What `describe` returns: the same value at every call, and for every backend of one factory.

    Attributes:
        name: of the backend, such as `hashmap`.
        flags: what it can do.
        max_key_bytes: longest key that is accepted; one byte more raises Full.
        max_value_bytes: longest value of one put, and longest result of one merge.
        max_namespace_bytes: longest namespace.
        options: key to (default, meaning in one line); a factory refuses others by ValueError.
        spi_version: that it was written for.
    """

    name: str
    flags: frozenset[Flag]
    max_key_bytes: int
    max_value_bytes: int
    max_namespace_bytes: int
    options: Mapping[str, tuple[str, str]] = {}
    spi_version: int = SPI_VERSION


class StateContext(msgspec.Struct, frozen=True, kw_only=True):
    """The place of one backend: one operator's subtask in one attempt.

    Attributes:
        job, operator: stable names; the same over restarts.
        subtask: index, from 0.
        attempt: which start of the job this is, from 1. Subtasks that start together share it; no two
            lives of a subtask do.
        key_groups: that the backend owns. No call names another.
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
