"""Histories for INVARIANT: what the predicates of a user returned at the looks of the committed reader."""

from __future__ import annotations

from holdfast.harness.model.events import InvariantChecked, RowsVisible
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import exhibits, story

bad, near = exhibits("INVARIANT")

SUM = "the sum of all accounts"
SEEN = RowsVisible(name="unit-0", poll=3, records=2, checksum=7)
HOLDS = InvariantChecked(name=SUM, poll=3, unit="unit-0", rows=2)


@bad("broken")
def a_sum_that_is_not_preserved_for_a_while() -> History:
    broken = InvariantChecked(name=SUM, poll=4, unit="unit-1", rows=4, problem="it is 990 instead of 1000")
    return story(SEEN, HOLDS, broken, InvariantChecked(name=SUM, poll=5, unit="unit-2", rows=6))


@near("broken")
def a_sum_that_is_preserved_at_each_look() -> History:
    return story(SEEN, HOLDS, InvariantChecked(name=SUM, poll=4, unit="unit-1", rows=4))
