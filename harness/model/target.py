"""Who a fault aims at: a role and an index, never a host or a pid."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Role(StrEnum):
    """The parts every checkpointing stream processor has, whatever it calls them."""

    COORDINATOR = "coordinator"
    """Who triggers checkpoints and restarts the job: Flink's JobManager."""
    WORKER = "worker"
    """A process that executes subtasks: Flink's TaskManager."""
    TASK = "task"
    """A subtask."""
    CHANNEL = "channel"
    """What carries records from one subtask to another."""
    STORAGE = "storage"
    """Where checkpoints lie."""
    BROKER = "broker"
    """What source and sink are connected to, such as Kafka."""
    SOURCE_SYSTEM = "source-system"
    """What the source alone reads from."""
    SINK_SYSTEM = "sink-system"
    """What the sink alone writes to."""


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part of the system under test.

    Attributes:
        role: which kind of part.
        index: which one of its kind, from 0. Workers, tasks and channels are numbered by the
            adapter in the order of the job's vertices and edges; coordinator and storage have index 0.
    """

    role: Role
    index: int = 0

    def __str__(self) -> str:
        return f"{self.role.value}[{self.index}]"


COORDINATOR = Target(Role.COORDINATOR)
STORAGE = Target(Role.STORAGE)
SOURCE_SYSTEM = Target(Role.SOURCE_SYSTEM)
