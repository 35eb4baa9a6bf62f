"""RESTORE, beyond its exhibits."""

from __future__ import annotations

from holdfast.suites.selfcheck.oracles.builder import BY_NAME, story
from holdfast.suites.selfcheck.oracles.histories.cut import COUNTING
from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import WIDER, copied


def test_copies_of_broadcast_state_that_differ_are_named() -> None:
    """All sums and counts are right: only the copies are not."""
    history = story(*copied((7, 8), (7, 8, 9)), faults=(WIDER,), options=COUNTING)
    anomalies = BY_NAME["RESTORE"].judge(history).anomalies
    assert [each.message.partition(" starts with ")[2] for each in anomalies] == [
        "copies of broadcast state that differ from each other, or from those that were recorded"
    ]
