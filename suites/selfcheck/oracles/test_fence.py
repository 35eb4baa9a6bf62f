"""FENCE, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.model.events import CheckpointCompleted
from holdfast.harness.model.succession import of_the_job
from holdfast.suites.selfcheck.oracles.builder import at
from holdfast.suites.selfcheck.oracles.histories.fence import FORMER, superseded, superseded_publishes


def test_other_oracles_do_not_see_what_a_superseded_coordinator_says_but_what_it_stores() -> None:
    told = superseded(at(FORMER, CheckpointCompleted(checkpoint=1)))
    assert told.of(CheckpointCompleted)
    assert not of_the_job(told).of(CheckpointCompleted)
    stored = superseded_publishes()
    assert of_the_job(stored) is stored
