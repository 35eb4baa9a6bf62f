"""Exhibits of RESTORE."""

from __future__ import annotations

import pytest

from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import copied
from holdfast.suites.selfcheck.oracles.judging import BY_NAME, check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("RESTORE"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_copies_of_broadcast_state_that_differ_are_named() -> None:
    """All sums and counts are right: only the copies are not."""
    anomalies = BY_NAME["RESTORE"].judge(copied((7, 8), (7, 8, 9), counting=True)).anomalies
    assert [each.message.partition(" starts with ")[2] for each in anomalies] == [
        "copies of broadcast state that differ from each other, or from those that were recorded"
    ]


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("RESTORE")
