"""FEEDBACK knows what was in the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from holdfast.harness.model.capability import AT_MOST_ONCE
from holdfast.harness.model.events import AttemptStarted
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.job import Edge, Partitioning
from holdfast.harness.model.jobs import ITERATION, REBALANCE, over_sockets
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.iteration.feedback import FeedbackOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES, Line, input_log, story
from holdfast.suites.selfcheck.oracles.histories.operators import LOOP, ROWS, THIRD_BATCH, TWO_BATCHES
from holdfast.suites.selfcheck.oracles.lines import attempt, completed, delivers, snapshot
from holdfast.suites.selfcheck.oracles.output_builder import STOPPED, identities, units

ORACLE = FeedbackOracle()


def crashed(*shown: str, before: Sequence[Line], checkpoint: int = 1, end: RunEnd | None = None) -> History:
    """What happens before the checkpoint; then a crash, and what is left is read again. A marker is the last record."""
    return story(attempt(), before, snapshot("loop[0]"), completed(), attempt(checkpoint or None), THIRD_BATCH,
                 delivers(LOOP, 0, records=2), job=ITERATION, parallelism=1, inputs=input_log(6, marked=True),
                 units=units(identities(*shown)), claimed=AT_MOST_ONCE, end=end)  # fmt: skip


def test_what_was_to_be_expected_is_told() -> None:
    assert ORACLE.judge(HISTORIES["feedback/lost-outside-loop/what-was-in-the-loop"]()).information == (
        "2 records are lost in the loop, as was to be expected",
    )


def test_without_a_restart_from_a_checkpoint_nothing_is_decided() -> None:
    verdict = ORACLE.judge(crashed(*ROWS[:5], before=TWO_BATCHES, checkpoint=0))
    assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("fields", [{"end": STOPPED}, {"expected": ExpectedEnd.FAILED}], ids=["stopped", "failed"])
def test_a_run_that_did_not_drain_its_input_decides_nothing(fields: dict[str, Any]) -> None:
    history = story(AttemptStarted(), AttemptStarted(restored_checkpoint=1), job=ITERATION, **fields)
    assert ORACLE.judge(history).outcome is Outcome.INCONCLUSIVE


def test_without_its_marker_nothing_is_lost_for_certain() -> None:
    history = crashed(*ROWS[:5], before=[*TWO_BATCHES, delivers(LOOP, 0, 1, records=2)], end=STOPPED)
    assert ORACLE.judge(history).outcome is Outcome.INCONCLUSIVE


def test_other_jobs_are_judged_elsewhere() -> None:
    keyed = Edge("source", "loop", Partitioning.HASH)
    by_key = type(ITERATION)("by-key", ITERATION.vertices, (keyed, *ITERATION.edges[1:]), ITERATION.contract)
    for job in (REBALANCE, over_sockets(ITERATION), by_key):
        assert not ORACLE.applies(story(job=job))
