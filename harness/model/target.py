"""Who a fault aims at: a role and an index, never a host or a pid."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Role(StrEnum):
    """The parts every checkpointing stream processor has, whatever it calls them."""

    COORDINATOR = "coordinator"
    WORKER = "worker"
    TASK = "task"
    CHANNEL = "channel"
    STORAGE = "storage"
    BROKER = "broker"
    SOURCE_SYSTEM = "source-system"
    SINK_SYSTEM = "sink-system"


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
