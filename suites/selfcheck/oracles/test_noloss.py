"""NOLOSS tells lost records from repeated ones, and names the repeats where only at-least-once is claimed."""

from __future__ import annotations

from holdfast.harness.model.capability import AT_LEAST_ONCE, AT_MOST_ONCE, EXACTLY_ONCE
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import REBALANCE
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.output.noloss import NoLossOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES, story
from holdfast.suites.selfcheck.oracles.output_builder import (
    INPUTS,
    MARKED,
    STOPPED,
    WHOLE_A,
    WHOLE_B,
    fold,
    identities,
    units,
)

ORACLE = NoLossOracle()


def repeated(*rows: FoldRow) -> History:
    """Of a sink that claims at-least-once: these rows of key `a`, and the whole of key `b`."""
    return story(inputs=INPUTS, units=units(*rows, WHOLE_B), claimed=AT_LEAST_ONCE)


def test_an_excess_that_nothing_explains_is_inconclusive() -> None:
    verdict = ORACLE.judge(repeated(fold("a", (0, 2, 4, 1), (0, 2))))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reason == "excess-unexplained: no runs of records explain what 1 key ('a') hold twice"
    assert verdict.checked["excess-unexplained"] == 1


def test_one_lost_record_among_repeats_is_named() -> None:
    verdict = ORACLE.judge(repeated(fold("a", (0, 2, 2), (0, 2))))
    assert verdict.anomalies[0].message == (
        "the last row of key 'a' counts all 5 records: partition 0, offset 2 took effect twice; "
        "partition 0, offset 4 took no effect"
    )


def test_repeats_of_several_restarts_are_followed_from_row_to_row() -> None:
    first = fold("a", (0, 2, 0), (0,))
    second = fold("a", (0, 2, 0, 4), (0, 0))
    third = fold("a", (0, 2, 0, 4, 2, 4), (0, 0, 2))
    verdict = ORACLE.judge(repeated(first, second, third))
    assert verdict.outcome is Outcome.PASS
    assert verdict.information == (
        "1 key holds repeats, and exactly-once was not claimed: key 'a': partition 0, offset 0 took effect twice; "
        "partition 1, offset 0 took effect twice; partition 0, offsets 2 and 4 took effect twice",
    )


def test_a_loss_behind_repeats_is_named() -> None:
    verdict = ORACLE.judge(HISTORIES["noloss/input-lost/repeats-hide-a-loss"]())
    assert verdict.anomalies[0].message == (
        "the last row of key 'a' counts (4, 3) of (3, 2): partition 0, offsets 0 and 2 took effect twice; "
        "partition 1, offset 0 took effect twice; partition 0, offset 4 took no effect"
    )


def test_rows_of_a_record_seen_twice_are_information_unless_exactly_once_is_claimed() -> None:
    note = "1 record has more than one row, and exactly-once was not claimed: offset 1 of partition 0"
    history = HISTORIES["noloss/input-lost/identity-seen-twice"]()
    assert ORACLE.judge(history).information == (note,)
    claimed = story(job=REBALANCE, inputs=history.inputs, units=history.output.units, claimed=EXACTLY_ONCE)
    assert ORACLE.judge(claimed).information == ()


def test_what_is_missing_with_its_marker_is_stalled() -> None:
    for history in (
        story(inputs=MARKED, units=units([WHOLE_A]), end=STOPPED),
        story(job=REBALANCE, inputs=MARKED, units=units(identities("0:1")), end=STOPPED),
    ):
        verdict = ORACLE.judge(history)
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert "stalled" in verdict.reason
        assert not verdict.checked.get("input-lost")
        assert verdict.information[0].startswith(
            "missing records are stalled: the marker behind them is missing, too, and 1 of 2 checkpoints"
        )


def test_before_the_end_what_was_overtaken_is_lost() -> None:
    verdict = ORACLE.judge(story(inputs=INPUTS, units=units([fold("a", (0, 4), ())]), end=STOPPED))
    assert [anomaly.clause for anomaly in verdict.anomalies] == ["input-lost"]
    assert verdict.anomalies[0].message == (
        "the last row of key 'a' counts (2, 0) of (3, 2) records: "
        "partition 0, offset 2 took no effect; partition 1, offsets 0 and 2 took no effect; "
        "later records of its key have an effect"
    )
    assert verdict.information[0].endswith(
        "key 'b' has no row: partition 0, offsets 1..5 (3 records of the key) took no "
        "effect; partition 1, offsets 1 and 3 took no effect"
    )


def test_only_a_claim_about_a_run_that_must_drain_is_judged() -> None:
    assert not ORACLE.applies(story(inputs=INPUTS, claimed=AT_MOST_ONCE))
    assert not ORACLE.applies(story(inputs=INPUTS, expected=ExpectedEnd.FAILED))
