"""A right source that cannot be read again, and that other processes see."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.fixtures.sources.position import Position
from holdfast.fixtures.sources.sqlite_queue import QueueTable
from holdfast.harness.spi.source import SourceFlag, SourceRecord


class TakingQueue(QueueTable):
    """What is read is taken off the queue at once, whether a checkpoint holds it or not."""

    description = replace(QueueTable.description, flags=QueueTable.description.flags - {SourceFlag.REPLAYABLE})

    def read(self, position: Position, most: int) -> tuple[Sequence[SourceRecord], int]:
        records, behind = super().read(position, most)
        self.publish([Position(position.name, behind)])
        return records, behind
