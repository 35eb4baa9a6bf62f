"""Which records a THROTTLE has passed on: it decides by processing time, so only its own report shows which.

A record that an attempt reads again is looked up again. The report of the last attempt counts: rows of earlier ones
were in transactions that the restore has aborted, unless output may be repeated. Whether the report is right is for TTL
to decide.
"""

from __future__ import annotations

from collections import Counter

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.events import KeysLookedUp
from holdfast.harness.model.history import History

Identity = tuple[int, int]
"""Partition and offset."""


def dropped_records(history: History) -> frozenset[Identity]:
    """Records that must have no row, or, where something may be there twice, need none."""
    last: dict[Identity, tuple[int, bool]] = {}
    for event in history.of(KeysLookedUp):
        for _, partition, offset, found in event.found:
            attempt, _ = last.get((partition, offset), (event.attempt, False))
            if event.attempt >= attempt:
                last[partition, offset] = event.attempt, found
    return frozenset(record for record, (_, found) in last.items() if found)


def without_dropped(history: History, rows: Counter[Identity]) -> Counter[Identity]:
    """Rows that are expected, less those of records that were dropped. A count of zero: a row may be there."""
    exactly_once = Guarantee.NO_DUPLICATE in history.claims.state & history.claims.output
    left = Counter(rows)
    for record in dropped_records(history):
        if exactly_once:
            left.pop(record, None)
        elif record in left:
            left[record] = 0
    return left
