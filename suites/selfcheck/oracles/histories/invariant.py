"""Histories for INVARIANT: what the predicates of a user returned at the looks of the committed reader."""

from __future__ import annotations

from holdfast.harness.model.events import InvariantChecked, RowsVisible
from holdfast.suites.selfcheck.oracles.builder import exhibits

SUM = "the sum of all accounts"
SEEN = RowsVisible(name="unit-0", poll=3, records=2, checksum=7)
HOLDS = InvariantChecked(name=SUM, poll=3, unit="unit-0", rows=2)

bad, near = exhibits("INVARIANT", SEEN, HOLDS)

bad(
    "broken", "a sum that is not preserved for a while",
    InvariantChecked(name=SUM, poll=4, unit="unit-1", rows=4, problem="it is 990 instead of 1000"),
    InvariantChecked(name=SUM, poll=5, unit="unit-2", rows=6),
)  # fmt: skip
near("broken", "a sum that is preserved at each look", InvariantChecked(name=SUM, poll=4, unit="unit-1", rows=4))
