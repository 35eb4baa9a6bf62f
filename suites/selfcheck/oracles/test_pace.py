"""Exhibits of PACE."""

from __future__ import annotations

import pytest

from holdfast.harness.oracles.pace import PaceOracle
from holdfast.suites.selfcheck.oracles.histories.pace import all_is_late_on_a_busy_machine
from holdfast.suites.selfcheck.oracles.judging import check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("PACE"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_a_busy_machine_decides_nothing_about_the_flow() -> None:
    assert "records-stand-still" not in PaceOracle().judge(all_is_late_on_a_busy_machine()).checked


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("PACE")
