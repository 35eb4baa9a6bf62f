"""What is drawn of a batch: the records in it where they are known, how many there are where not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.harness.model.events import SourceEmitted
from holdfast.harness.model.history import History

MOST_NUMBERS = 3
"""On one batch; more are counted."""


class Record(NamedTuple):
    """One input record: its number in its partition, counted from 1, its key and its value."""

    number: int
    key: str
    value: int


class Batch(NamedTuple):
    """A batch in a channel; `records` is None where they are unknown."""

    words: str
    records: tuple[Record, ...] | None


def batch_of(records: tuple[Record, ...]) -> Batch:
    """A batch of known records, by their numbers."""
    if len(records) > MOST_NUMBERS:
        return Batch(f"{len(records)}×", records)
    return Batch(", ".join(str(record.number) for record in records), records)


def counted(records: int) -> Batch:
    """A batch of so many records of which no more is known."""
    return Batch(f"{records}×", None)


def records_of(history: History, event: SourceEmitted) -> Iterable[Record]:
    """What a source emitted, read off the input."""
    inputs = history.inputs
    if event.partition >= len(inputs.partitions):
        return
    partition = inputs.partitions[event.partition]
    for offset in range(event.first_offset, event.next_offset):
        if offset < len(partition.key):
            yield Record(offset + 1, inputs.keys[partition.key[offset]], int(partition.value[offset]))
