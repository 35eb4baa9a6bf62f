"""EXACT names the violated clause and the culprit, whichever form the rows come in."""

from __future__ import annotations

import pytest

from holdfast.harness.model.capability import AT_LEAST_ONCE, AT_MOST_ONCE
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.exact import ExactOracle
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.histories.exact import folded
from holdfast.suites.selfcheck.oracles.judging import check_complete, check_output_exhibit, names
from holdfast.suites.selfcheck.oracles.output_builder import (
    INPUTS,
    STOPPED,
    WHOLE_A,
    WHOLE_B,
    fold,
    units,
)

ORACLE = ExactOracle()


def message(history: History) -> str:
    """Of the first anomaly."""
    return ORACLE.judge(history).anomalies[0].message


@pytest.mark.parametrize("name", names("EXACT"))
def test_exhibit(name: str) -> None:
    check_output_exhibit(name)


def test_every_clause_has_an_exhibit_of_either_kind() -> None:
    check_complete("EXACT")


@pytest.mark.parametrize(
    ("row", "culprit"),
    [
        (fold("a", (0, 2, 2), (0,)), "partition 0, offset 2 took effect twice"),
        (fold("a", (2, 4), (0,)), "partition 0, offset 0 took no effect"),
        (fold("a", (4,), (0,)), "partition 0, offsets 0 and 2 took no effect"),
        (fold("a", (0, 0, 2, 4, 4), (0,)), "partition 0, offsets 0 and 4 took effect twice"),
        (fold("a", (0, 2, 4, 0, 2, 4), (0,)), "offsets 0..4 (3 records of the key) took effect twice"),
        (fold("a", (0, 0), (2,)), "partition 0, offset 0 took effect twice; partition 1, offset 0 took no effect"),
        (fold("a", (0, 4, 4), (0, 2)), "partition 0, offset 4 took effect twice; partition 0, offset 2 took no effect"),
        (fold("a", (0,), (1,)), "no record, pair or run of records explains its digest"),
    ],
)
def test_a_wrong_row_names_the_culprit(row: FoldRow, culprit: str) -> None:
    assert culprit in message(folded(row, WHOLE_A))


def test_what_is_missing_is_named_behind_the_prefix_and_inside_it() -> None:
    assert message(folded(fold("a", (0,), (0, 2)))).endswith("partition 0, offsets 2 and 4 took no effect")
    assert message(folded()).startswith("lost: key 'a' has no row: partition 0, offsets 0..4 (3 records of the key)")
    anomalies = ORACLE.judge(folded(fold("a", (0, 4), (0, 2)))).anomalies
    assert [anomaly.clause for anomaly in anomalies] == ["row-wrong", "input-missing"]
    assert anomalies[1].message.endswith("counts (2, 2) of (3, 2) records: partition 0, offset 2 took no effect")


def test_strange_counts_are_wrong_rows() -> None:
    for counts in ((1,), (-1, 0), (1, 1, 1)):
        history = folded(FoldRow("a", 1, counts, 1), WHOLE_A)
        assert "row-wrong" in {anomaly.clause for anomaly in ORACLE.judge(history).anomalies}


def test_before_the_end_missing_is_not_lost() -> None:
    history = story(inputs=INPUTS, units=units([WHOLE_B], [fold("a", (0,), ())], final=True), end=STOPPED)
    verdict = ORACLE.judge(history)
    assert verdict.outcome is Outcome.PASS
    assert not {"input-missing", "late-change"} & verdict.checked.keys()
    assert "in flight or blocked, because the run did not reach its end (1 of 2" in verdict.information[0]


def test_a_job_that_must_fail_owes_only_what_it_shows() -> None:
    history = story(inputs=INPUTS, units=units([fold("a", (0,), ())]), expected=ExpectedEnd.FAILED)
    assert ORACLE.judge(history).outcome is Outcome.PASS
    assert not ORACLE.applies(story(inputs=INPUTS, expected=ExpectedEnd.FAILED))


def test_only_a_claim_is_judged() -> None:
    assert not ORACLE.applies(story(inputs=INPUTS, claimed=AT_LEAST_ONCE))
    assert not ORACLE.applies(story(inputs=INPUTS, claimed=AT_MOST_ONCE))
