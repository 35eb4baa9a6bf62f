"""Committed rows of contract RECORDS, counted: columns with NumPy, single rows with plain integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from holdfast.harness.model.records import IdentityColumns, IdentityRow, InputLog, Output
from holdfast.harness.oracles.delivery import Delivery, DeliveryCounter, Identity
from holdfast.harness.oracles.two_bit_counters import NAMED
from holdfast.harness.oracles.visibility import reordered, sighting


def count_rows(inputs: InputLog, output: Output, *, ordered: bool = False) -> Delivery:
    """Count rows against the input that is owed one.

    Args:
        inputs: what the accused was fed.
        output: rows of contract RECORDS.
        ordered: look for offsets that step back within a partition, too.
    """
    counted = _count(inputs, output, ordered)
    return _count(inputs, reordered(output), ordered) if counted.disordered else counted


def _count(inputs: InputLog, output: Output, ordered: bool) -> Delivery:
    columns = [unit.rows for unit in output.units if isinstance(unit.rows, IdentityColumns)]
    if not columns or len(columns) < len(output.units):
        return _count_plainly(inputs, cast(Iterator[IdentityRow], output.rows()), ordered)
    counter = DeliveryCounter(inputs.lengths(), first_offsets=inputs.first_offsets, ordered=ordered)
    for each in columns:
        for partition in np.unique(each.partition).tolist():
            counter.count(partition, each.offset[each.partition == partition])
    return counter.verdict()


def _count_plainly(inputs: InputLog, rows: Iterator[IdentityRow], ordered: bool) -> Delivery:
    firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
    counters = [bytearray(length) for length in inputs.lengths()]
    previous = [0] * len(counters)
    duplicated: set[Identity] = set()
    unknown: list[Identity] = []
    disordered: list[Identity] = []
    for row in rows:
        partition, offset = row.partition, row.offset
        if not 0 <= partition < len(counters) or not firsts[partition] <= offset < len(counters[partition]):
            unknown.append((partition, offset))
            continue
        if counters[partition][offset]:
            duplicated.add((partition, offset))
        counters[partition][offset] = 1
        if ordered and offset < previous[partition]:
            disordered.append((partition, offset))
        previous[partition] = offset
    lost = [
        (partition, offset)
        for partition, (first, counter) in enumerate(zip(firsts, counters, strict=True))
        for offset in range(first, len(counter))
        if not counter[offset]
    ]
    return Delivery(
        len(lost),
        len(duplicated),
        len(unknown),
        len(disordered),
        tuple(lost[:NAMED]),
        tuple(sorted(duplicated)[:NAMED]),
        tuple(sorted(unknown)[:NAMED]),
        tuple(sorted(disordered)[:NAMED]),
    )


def sightings(output: Output, identity: Identity) -> Iterator[str]:
    """A line for each row with this identity."""
    for unit in output.units:
        for row in cast(Iterator[IdentityRow], iter(unit.rows)):
            if (row.partition, row.offset) == identity:
                yield sighting(unit, row)


def listed(identities: Sequence[Identity], total: int) -> str:
    """The first few of some identities in words."""
    first = ", ".join(f"offset {offset} of partition {partition}" for partition, offset in identities)
    return first if total <= len(identities) else f"{first} and {total - len(identities)} more"
