"""STABLE holds the committed reader's two reads against each other."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import ReaderPolled
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.stable import StableOracle
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.histories.stable import POLLED, SEEN, unit_new_at_the_second_read
from holdfast.suites.selfcheck.oracles.judging import check_complete, check_exhibit, names
from holdfast.suites.selfcheck.oracles.output_builder import STOPPED

ORACLE = StableOracle()


@pytest.mark.parametrize("name", names("STABLE"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_every_clause_has_an_exhibit_of_either_kind() -> None:
    check_complete("STABLE", {"reader-too-slow"})  # inconclusive, see below


@pytest.mark.parametrize(
    ("reports", "reason"),
    [
        (
            [ReaderPolled(polls=40, interval_ms=11)],
            "reader-too-slow: it looked every 11 ms at checkpoints every 100 ms",
        ),
        ([], "reader-too-slow: the reader did not report how often it looked"),
    ],
)
def test_a_reader_that_looks_too_rarely_is_inconclusive(reports: list[ReaderPolled], reason: str) -> None:
    verdict = ORACLE.judge(story(SEEN, *reports))
    assert (verdict.outcome, verdict.reason) == (Outcome.INCONCLUSIVE, reason)


def test_without_checkpoints_no_reader_is_too_slow() -> None:
    verdict = ORACLE.judge(story(SEEN, options={}))
    assert verdict.outcome is Outcome.PASS
    assert "reader-too-slow" not in verdict.checked


def test_a_run_that_was_cut_off_may_commit_before_its_second_read() -> None:
    late = unit_new_at_the_second_read()
    verdict = ORACLE.judge(story(*late.events, end=STOPPED))
    assert verdict.outcome is Outcome.PASS
    assert "second-read-differs" not in verdict.checked


def test_nothing_is_judged_of_a_system_that_claims_nothing_or_shows_nothing() -> None:
    assert not ORACLE.applies(story(SEEN, POLLED, claimed=frozenset()))
    assert not ORACLE.applies(story(POLLED))
