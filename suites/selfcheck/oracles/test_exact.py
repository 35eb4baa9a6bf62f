"""EXACT names the violated clause and the culprit, whichever form the rows come in."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.harness.model.capability import AT_LEAST_ONCE, AT_MOST_ONCE, EXACTLY_ONCE, Claims
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import FORWARD, JOIN, REBALANCE
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import NO_PARTITION, FoldRow, IdentityRow, InputLog
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.output.exact import ExactOracle
from holdfast.suites.selfcheck.oracles.builder import MS, OPTIONS, input_log, story
from holdfast.suites.selfcheck.oracles.histories.operators import A_JOINED, B_JOINED
from holdfast.suites.selfcheck.oracles.legal import fold_row
from holdfast.suites.selfcheck.oracles.output_builder import (
    INPUTS,
    MARKED,
    MARKERS,
    STOPPED,
    WHOLE_A,
    WHOLE_B,
    fold,
    identities,
    units,
)

ORACLE = ExactOracle()


def rows(*shown: FoldRow) -> History:
    """A unit for each row, and one with the whole of key `b`."""
    return story(inputs=INPUTS, units=units(*shown, WHOLE_B))


def message(history: History) -> str:
    """Of the first anomaly."""
    return ORACLE.judge(history).anomalies[0].message


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
    assert culprit in message(rows(row, WHOLE_A))


def test_what_is_missing_is_named_behind_the_prefix_and_inside_it() -> None:
    assert message(rows(fold("a", (0,), (0, 2)))).endswith("partition 0, offsets 2 and 4 took no effect")
    assert message(rows()).startswith("key 'a' has no row: partition 0, offsets 0..4 (3 records of the key)")
    anomalies = ORACLE.judge(rows(fold("a", (0, 4), (0, 2)))).anomalies
    assert [anomaly.clause for anomaly in anomalies] == ["row-wrong", "input-missing"]
    assert anomalies[1].message.endswith("counts (2, 2) of (3, 2) records: partition 0, offset 2 took no effect")


def test_strange_counts_are_wrong_rows() -> None:
    for counts in ((1,), (-1, 0), (1, 1, 1)):
        history = rows(FoldRow("a", 1, counts, 1), WHOLE_A)
        assert "row-wrong" in {anomaly.clause for anomaly in ORACLE.judge(history).anomalies}


def test_a_tail_that_is_missing_with_its_markers_is_no_loss_and_no_pass() -> None:
    history = story(inputs=MARKED, units=units([WHOLE_B], [fold("a", (0,), ())], final=True), end=STOPPED)
    verdict = ORACLE.judge(history)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert not {"input-missing", "late-change"} & verdict.checked.keys()
    assert verdict.reason == (
        "missing records are stalled: the marker behind them is missing, too, and 1 of 2 checkpoints completed"
    )
    assert verdict.information[0].startswith(verdict.reason)


TOTALS = InputLog(("row a", "row b", "row c", "row of nobody"), input_log(3).partitions, described=True)
"""Of the rows that are expected only that of key a is there, and beside it one that nobody expects."""


@pytest.mark.parametrize(
    ("wrong", "clauses", "missing"),
    [
        # It is of another key, and takes the place of none.
        ((), ["row-unknown", "input-missing"], "2 expected rows are missing: row b, row c"),
        # It is that of key b, and that of key c is missing all the same.
        (((0, 1),), ["value-wrong", "input-missing"], "1 expected row is missing: row c"),
    ],
)
def test_a_wrong_value_takes_the_place_of_the_row_of_its_key_alone(
    wrong: tuple[tuple[int, int], ...], clauses: list[str], missing: str
) -> None:
    rows = units([IdentityRow(0, 0), IdentityRow(NO_PARTITION, 0)])
    verdict = ORACLE.judge(story(job=FORWARD, inputs=replace(TOTALS, wrong=wrong), units=rows))
    assert [anomaly.clause for anomaly in verdict.anomalies] == clauses
    assert "row of nobody" in verdict.anomalies[0].message
    assert verdict.anomalies[0].witness == ("unit-0, poll 0: row of nobody",)
    assert verdict.anomalies[1].message == missing


def test_only_the_partition_whose_marker_is_there_has_lost_records() -> None:
    """Partition 0 goes on, partition 1 does not."""
    rows = units([fold("a", (0, 2), ())], [fold("b", (1, 3, 5), ())], [fold("marker", (6,), ())])
    verdict = ORACLE.judge(story(inputs=MARKED, units=rows, end=STOPPED))
    assert [anomaly.clause for anomaly in verdict.anomalies] == ["input-missing"]
    assert "counts (2, 0) of (3, 2) records" in verdict.anomalies[0].message
    assert verdict.anomalies[0].message.endswith("the marker behind it has its effect, and the settle window is over")
    assert "key 'b'" in verdict.information[0]
    numbers = units(identities("0:0", "0:2", "0:3", "1:0"))
    inputs = input_log(3, 3, marked=True)
    verdict = ORACLE.judge(story(job=REBALANCE, inputs=inputs, units=numbers, end=STOPPED))
    assert [anomaly.message for anomaly in verdict.anomalies] == [
        "1 record has no row: offset 1 of partition 0; the marker behind it has its effect, and the settle "
        "window is over"
    ]


@pytest.mark.parametrize(
    ("end", "because"),
    [
        (RunEnd(reached=False, problem="interrupted", ended_ns=1_000 * MS), "cut short (interrupted)"),
        (RunEnd(reached=False, ended_ns=50 * MS, settled=True), "the run was watched for 50 ms after the heal"),
    ],
    ids=["interrupted", "not watched for an interval"],
)
def test_a_hole_is_no_loss_before_the_settle_window_is_over(end: RunEnd, because: str) -> None:
    verdict = ORACLE.judge(story(inputs=MARKED, units=units([WHOLE_B], [MARKERS]), end=end))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert because in verdict.reason


def test_a_missed_bound_of_the_control_excuses_no_loss() -> None:
    end = replace(STOPPED, problem="the fault-free control missed the bound too")
    assert ORACLE.judge(story(inputs=MARKED, units=units([WHOLE_B], [MARKERS]), end=end)).outcome is Outcome.FAIL


def test_a_hole_behind_a_timeout_of_the_plan_is_late() -> None:
    options = {**OPTIONS, "execution.checkpointing.timeout": "5 s"}
    verdict = ORACLE.judge(story(inputs=MARKED, units=units([WHOLE_B], [MARKERS]), end=STOPPED, options=options))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "late: execution.checkpointing.timeout of 5000 ms may hold it up" in verdict.reason
    longer = replace(STOPPED, ended_ns=5_100 * MS)
    late = story(inputs=MARKED, units=units([WHOLE_B], [MARKERS]), end=longer, options=options)
    assert ORACLE.judge(late).outcome is Outcome.FAIL


def test_both_sides_of_a_join_have_a_marker() -> None:
    """Left and right have a partition each; the row of the markers needs both."""
    inputs = input_log(2, 2, marked=True)
    both = fold_row("marker", [(0, 2)], right=[(1, 2)])
    for rows, outcome in (
        ([A_JOINED, B_JOINED, both], Outcome.PASS),
        ([A_JOINED, both], Outcome.FAIL),
        ([A_JOINED, B_JOINED], Outcome.INCONCLUSIVE),
    ):
        history = story(job=JOIN, inputs=inputs, units=units(rows), end=STOPPED)
        assert ORACLE.judge(history).outcome is outcome


def test_what_a_join_lost_is_named_by_the_partition_of_its_source() -> None:
    both = fold_row("marker", [(0, 2)], right=[(1, 2)])
    history = story(job=JOIN, inputs=input_log(2, 2, marked=True), units=units([A_JOINED, both]), end=STOPPED)
    lost = "key 'b' has no row: partition 0, offset 1 took no effect; partition 1, offset 1 took no effect"
    assert message(history).startswith(lost)


def test_a_job_that_must_fail_owes_only_what_it_shows() -> None:
    history = story(inputs=INPUTS, units=units([fold("a", (0,), ())]), expected=ExpectedEnd.FAILED)
    assert ORACLE.judge(history).outcome is Outcome.PASS
    assert not ORACLE.applies(story(inputs=INPUTS, expected=ExpectedEnd.FAILED))


def test_only_a_claim_is_judged() -> None:
    assert not ORACLE.applies(story(inputs=INPUTS, claimed=AT_LEAST_ONCE))
    assert not ORACLE.applies(story(inputs=INPUTS, claimed=AT_MOST_ONCE))


def test_its_clauses_are_about_exactly_once_output() -> None:
    oracle = ExactOracle()
    assert {oracle.claimed(clause, Claims(output=EXACTLY_ONCE)) for clause in oracle.clauses} == {True}
    for claimed in (AT_LEAST_ONCE, AT_MOST_ONCE, frozenset()):
        assert {oracle.claimed(clause, Claims(state=EXACTLY_ONCE, output=claimed)) for clause in oracle.clauses} == {
            False
        }
