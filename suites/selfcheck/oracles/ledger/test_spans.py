"""What follows from fields of the ledger: trigger and completion of a checkpoint in one life of a coordinator."""

from __future__ import annotations

from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered
from holdfast.harness.oracles.ledger.checkpoints import spans
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.lines import NEXT_JOB, attempt, completed, died, submitted, triggered


def test_a_span_is_of_one_life_one_job_and_one_checkpoint_in_the_order_of_triggers() -> None:
    never_triggered, never_completed = completed(4), triggered(5)
    history = story(
        submitted(), attempt(), triggered(1), triggered(2), completed(2), completed(1), triggered(3),
        died(), attempt(), triggered(3), completed(3), never_triggered, never_completed,
        submitted(job=1), attempt(number=NEXT_JOB + 1), triggered(3), completed(3),
    )  # fmt: skip
    begun, ended = history.of(CheckpointTriggered), history.of(CheckpointCompleted)
    places = [(begun.index(span.triggered), ended.index(span.completed)) for span in spans(history)]
    assert places == [(0, 1), (1, 0), (3, 2), (5, 4)]


def test_there_is_no_span_without_a_completion() -> None:
    assert spans(story()) == spans(story(attempt(), triggered(1))) == []


def test_a_completion_that_is_recorded_again_ends_no_other_span() -> None:
    assert len(spans(story(attempt(), triggered(1), completed(1), completed(1)))) == 1
