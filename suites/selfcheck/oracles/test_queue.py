"""Exhibits of QUEUE."""

from __future__ import annotations

import pytest

from holdfast.suites.selfcheck.oracles.judging import check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("QUEUE"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("QUEUE")
