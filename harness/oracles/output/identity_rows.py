"""Committed rows of contract RECORDS, counted: columns with NumPy, rows as integers, stored rows where they lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import cast

import numpy as np
from msgspec.structs import replace

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.records import (
    NO_PARTITION,
    CommittedRows,
    IdentityColumns,
    IdentityRow,
    InputLog,
    Output,
)
from holdfast.harness.oracles.output.delivery import Delivery, DeliveryCounter, Identity
from holdfast.harness.oracles.output.missing import answer_is_due, wrong_values
from holdfast.harness.oracles.output.stored_identities import StoredIdentities
from holdfast.harness.oracles.output.two_bit_counters import NAMED
from holdfast.harness.oracles.output.visibility import reordered, sighting
from holdfast.harness.oracles.shared.lineage import expected_rows, is_plain
from holdfast.harness.oracles.shared.throttled import without_dropped


def counted(history: History, *, ordered: bool = False) -> tuple[Delivery, int]:
    """What counting the output of a run found, and how many rows it must hold; see `count_rows`. Before the answer is
    due, no row is unexpected. One with wrong values counts as that which is expected of its key: it is neither unknown
    nor is the other one lost, and `values` reports it."""
    return _counted(history, ordered=True) if ordered else history.derived(_counted_in_any_order)


def _counted_in_any_order(history: History) -> tuple[Delivery, int]:
    return _counted(history, ordered=False)


def _counted(history: History, *, ordered: bool) -> tuple[Delivery, int]:
    job, inputs, output = history.plan.job, history.inputs, history.output
    if is_plain(job):
        if wrong := wrong_values(history):
            output = _as_expected(output, wrong)
        found = count_rows(inputs, output, ordered=ordered)
        if found.unknown and not answer_is_due(history):
            found = replace(found, unknown=0, first_unknown=())
        return found, inputs.total_records - sum(inputs.first_offsets)
    expected = due_rows(history)
    found = _count_expected(expected, output, ordered)
    return _count_expected(expected, reordered(output), ordered) if found.disordered else found, expected.total()


def _as_expected(output: Output, wrong: Mapping[int, int]) -> Output:
    """Each row with wrong values in the place of the expected row of its key."""

    def placed(row: IdentityRow) -> IdentityRow:
        place = wrong.get(row.offset) if row.partition == NO_PARTITION else None
        return row if place is None else IdentityRow(0, place)

    units = ((unit, cast(Iterator[IdentityRow], iter(unit.rows))) for unit in output.units)
    return Output(tuple(replace(unit, rows=tuple(map(placed, rows))) for unit, rows in units))


def due_rows(history: History) -> Counter[Identity]:
    """How many rows of each record a job must show whose operators make other records of the input."""
    job = history.plan.job
    rows = expected_rows(job, history.inputs)
    if job.of_kind(VertexKind.THROTTLE):
        return without_dropped(history, rows)
    lossy = Guarantee.NO_LOSS not in history.claims.output
    return _with_stand_ins(history, rows) if lossy and job.of_kind(VertexKind.DEDUPLICATE) else rows


def _with_stand_ins(history: History, rows: Counter[Identity]) -> Counter[Identity]:
    """Where records may be lost: instead of one that was, a DEDUPLICATE hands on the next of its key that is left. Of
    the rows that are shown, none is too close behind another."""
    shown = {(row.partition, row.offset) for row in cast(Iterator[IdentityRow], history.output.rows())}
    lost = Counter({identity: times for identity, times in rows.items() if identity not in shown})
    return expected_rows(history.plan.job, history.inputs, shown) + lost


def count_rows(inputs: InputLog, output: Output, *, ordered: bool = False) -> Delivery:
    """Count rows against the input that must have one.

    Args:
        inputs: what the system under test was fed.
        output: rows of contract RECORDS.
        ordered: look for offsets that step back within a partition, too.
    """
    counted = _count(inputs, output, ordered)
    return _count(inputs, reordered(output), ordered) if counted.disordered else counted


def _count(inputs: InputLog, output: Output, ordered: bool) -> Delivery:
    stored = [unit.rows for unit in output.units if isinstance(unit.rows, StoredIdentities)]
    if stored and not ordered and stored[0].table.on_spark:
        return stored[0].table.count(inputs.lengths(), inputs.first_offsets)
    if not output.units or not all(isinstance(unit.rows, _AS_COLUMNS) for unit in output.units):
        return _count_plainly(inputs, cast(Iterator[IdentityRow], output.rows()), ordered)
    counter = DeliveryCounter(inputs.lengths(), first_offsets=inputs.first_offsets, ordered=ordered)
    for unit in output.units:
        for each in _columns(unit):
            for partition in np.unique(each.partition).tolist():
                counter.count(partition, each.offset[each.partition == partition])
    return counter.verdict()


_AS_COLUMNS = (IdentityColumns, StoredIdentities)


def _columns(unit: CommittedRows) -> Iterator[IdentityColumns]:
    """The rows of a unit that holds them as columns."""
    if isinstance(unit.rows, StoredIdentities):
        yield from unit.rows.batches()
    elif isinstance(unit.rows, IdentityColumns):
        yield unit.rows


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
        if counter.find(0, first) >= 0
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


def _count_expected(expected: Mapping[Identity, int], output: Output, ordered: bool) -> Delivery:
    """The same for a job whose operators make other records of the input."""
    rows = [(row.partition, row.offset) for row in cast(Iterator[IdentityRow], output.rows())]
    seen = Counter(rows)
    disordered: list[Identity] = []
    newest: dict[int, int] = {}
    for partition, offset in rows if ordered else ():
        if offset < newest.get(partition, 0):
            disordered.append((partition, offset))
        newest[partition] = offset
    lost = sorted(identity for identity, times in expected.items() if seen.get(identity, 0) < times)
    repeated = sorted(identity for identity, times in seen.items() if 0 < expected.get(identity, 0) < times)
    unknown = sorted(identity for identity in rows if identity not in expected)
    return Delivery(
        len(lost),
        len(repeated),
        len(unknown),
        len(disordered),
        *(tuple(some[:NAMED]) for some in (lost, repeated, unknown, disordered)),
    )


def sightings(history: History, identity: Identity) -> Iterator[str]:
    """A line for each row with this identity."""
    described = history.inputs.named(*identity) if history.inputs.described else ""
    for unit, seen in units_with(history.output, identity):
        yield from repeat(sighting(unit, IdentityRow(*identity), described), seen)


def units_with(output: Output, identity: Identity) -> Iterator[tuple[CommittedRows, int]]:
    """The units of output that hold rows with this identity, each with how many."""
    row = IdentityRow(*identity)
    for unit in output.units:
        if isinstance(unit.rows, _AS_COLUMNS):
            seen = sum(
                int(np.sum((each.partition == identity[0]) & (each.offset == identity[1]))) for each in _columns(unit)
            )
        else:
            seen = sum(each == row for each in unit.rows)
        if seen:
            yield unit, seen


def describe_identities(inputs: InputLog, identities: Sequence[Identity], total: int) -> str:
    """The first few of some identities in words."""
    first = ", ".join(inputs.named(*identity) for identity in identities)
    return first if total <= len(identities) else f"{first} and {total - len(identities)} more"
