"""Exhibits of FENCE."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import CheckpointCompleted
from holdfast.harness.model.succession import of_the_job
from holdfast.suites.selfcheck.oracles.builder import at
from holdfast.suites.selfcheck.oracles.histories.fence import FORMER, superseded, superseded_publishes
from holdfast.suites.selfcheck.oracles.judging import check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("FENCE"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("FENCE")


def test_other_oracles_do_not_see_what_a_superseded_coordinator_says_but_what_it_stores() -> None:
    told = superseded(at(FORMER, CheckpointCompleted(checkpoint=1)))
    assert told.of(CheckpointCompleted)
    assert not of_the_job(told).of(CheckpointCompleted)
    stored = superseded_publishes()
    assert of_the_job(stored) is stored
