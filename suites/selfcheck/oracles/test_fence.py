"""FENCE, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.model.events import CheckpointCompleted
from holdfast.harness.model.succession import of_the_job
from holdfast.suites.selfcheck.oracles.builder import HISTORIES, at, story
from holdfast.suites.selfcheck.oracles.histories.message import FORMER, superseded


def test_other_oracles_do_not_see_what_a_superseded_coordinator_says_but_what_it_stores() -> None:
    told = story(*superseded(at(FORMER, CheckpointCompleted(checkpoint=1))), options={})
    assert told.of(CheckpointCompleted)
    assert not of_the_job(told).of(CheckpointCompleted)
    stored = HISTORIES["fence/superseded-acted/superseded-publishes"]()
    assert of_the_job(stored) is stored
