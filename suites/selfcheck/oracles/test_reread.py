"""Exhibits of REREAD."""

from __future__ import annotations

import pytest

from holdfast.harness.oracles.reread import RereadOracle
from holdfast.suites.selfcheck.oracles.histories.reread import a_checkpoint_failed_in_between, sources_lag_behind
from holdfast.suites.selfcheck.oracles.judging import check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("REREAD"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("REREAD")


def test_what_cannot_be_told_is_not_decided() -> None:
    assert not RereadOracle().judge(a_checkpoint_failed_in_between()).checked
    assert not RereadOracle().judge(sources_lag_behind()).checked
