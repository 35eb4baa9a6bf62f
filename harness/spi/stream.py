"""Ends of the stream: source with its feeder, sink with its committed reader.

Nothing uses this contract yet: it is for connectors from outside, whose certification is still to come (version 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from holdfast.harness.model.records import CommittedRows, RecordBatch


class Source(Protocol):
    """A replayable source as one subtask uses it; not shared between threads."""

    def partitions(self) -> Sequence[int]:
        """The partitions of this subtask, in ascending order."""

    def end_offset(self, partition: int) -> int:
        """One past the newest record that can be read now."""

    def read(self, partition: int, offset: int, max_records: int) -> RecordBatch:
        """At most `max_records` records from `offset` on, at once and possibly none; the same range reads the same."""


class Feeder(Protocol):
    """Writes the input into the source system while the job runs; belongs to the harness."""

    def feed(self, partition: int, count: int) -> None:
        """Make the next `count` records of a partition available."""


class Sink(Protocol):
    """A two-phase-commit sink as one subtask uses it. Every method raises OSError when the sink system fails."""

    def precommit(self, transaction: str, rows: RecordBatch) -> None:
        """Make the rows durable and invisible."""

    def commit(self, transaction: str) -> None:
        """Make a pre-committed transaction visible; committing twice is no error."""

    def abort(self, transaction: str) -> None:
        """Throw a transaction away; aborting what is unknown is no error."""

    def pending(self) -> Mapping[str, int]:
        """Pre-committed transactions of this subtask, any attempt, with their checkpoint ids."""


class CommittedReader(Protocol):
    """Reads committed output only, from outside the system under test; the harness runs it in a process of its own."""

    def poll(self) -> Sequence[CommittedRows]:
        """Units that are visible now and were not at the last poll."""
