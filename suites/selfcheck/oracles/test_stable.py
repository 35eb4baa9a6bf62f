"""STABLE holds the committed reader's two reads against each other."""

from __future__ import annotations

import pytest

from holdfast.harness.model.capability import AT_LEAST_ONCE, Claims, OutputMode
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import (
    CheckpointAborted,
    CheckpointCompleted,
    MachineStalled,
    ReaderPolled,
    RowsChanged,
)
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.oracles.output.stable import StableOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES, MS, Line, story
from holdfast.suites.selfcheck.oracles.histories.readings import POLLED, SEEN
from holdfast.suites.selfcheck.oracles.output_builder import STOPPED

ORACLE = StableOracle()


@pytest.mark.parametrize(
    ("reports", "reason"),
    [
        (
            [ReaderPolled(polls=40, interval_ms=11)],
            "reader-too-slow: the output was polled every 11 ms, a 100 ms interval needs 10 ms",
        ),
        ([], "reader-too-slow: the reader did not report how often it looked"),
    ],
)
def test_a_reader_that_looks_too_rarely_is_inconclusive(reports: list[ReaderPolled], reason: str) -> None:
    verdict = ORACLE.judge(story(SEEN, *reports))
    assert (verdict.outcome, verdict.reason) == (Outcome.INCONCLUSIVE, reason)


SLOW_MS = 15
"""How often it looked on average, though 10 ms are wanted."""


def on_a_busy_machine(*gaps_ms: tuple[int, int], measured: bool = True, apart_ms: int = 100) -> Verdict:
    """Four intervals between completed checkpoints."""
    gaps = tuple((start_ms * MS, end_ms * MS) for start_ms, end_ms in gaps_ms)
    stalls = [MachineStalled(since_ns=0, stalled_ns=9 * MS)] if measured else []
    completions: list[list[Line]] = [[apart_ms - 1.0, CheckpointCompleted(checkpoint=each)] for each in range(1, 6)]
    polled = ReaderPolled(polls=40, interval_ms=SLOW_MS, gaps=gaps)
    lines = [line for lines in completions for line in lines]
    return ORACLE.judge(story(SEEN, *stalls, *lines, polled, real_time=True))


def test_a_stalled_reader_leaves_open_only_the_intervals_in_which_it_did_not_look() -> None:
    verdict = on_a_busy_machine((120, 180), (310, 390))
    assert verdict.outcome is Outcome.PASS
    assert verdict.information == (
        "This machine was too busy: the output was polled every 15 ms, a 100 ms interval needs 10 ms; "
        "2 of 4 intervals are undecided",
    )


@pytest.mark.parametrize(
    "gaps_ms", [((120, 180), (210, 290), (310, 390)), ((110, 400),), ()], ids=["three", "one long one", "not reported"]
)
def test_a_stalled_reader_that_saw_less_than_half_decides_nothing(gaps_ms: tuple[tuple[int, int], ...]) -> None:
    verdict = on_a_busy_machine(*gaps_ms)
    assert (verdict.outcome, verdict.reason) == (
        Outcome.INCONCLUSIVE,
        "reader-too-slow: This machine was too busy: the output was polled every 15 ms, a 100 ms interval needs 10 ms. "
        "Repeat on an idle machine.",
    )


def test_a_slow_reader_on_a_machine_that_was_free_decides_nothing() -> None:
    verdict = on_a_busy_machine((120, 180), measured=False)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "busy" not in verdict.reason


@pytest.mark.parametrize("measured", [True, False], ids=["busy", "free"])
@pytest.mark.parametrize(
    ("apart_ms", "gaps_ms", "outcome"),
    [
        (151, (), Outcome.PASS),
        (149, (), Outcome.INCONCLUSIVE),
        (500, ((120, 180),), Outcome.PASS),
        (500, ((600, 1_900),), Outcome.INCONCLUSIVE),
    ],
    ids=["ten looks", "nearly ten", "a short gap", "long gaps"],
)
def test_where_checkpoints_take_longer_than_their_interval_fewer_looks_see_everything(
    *, apart_ms: int, gaps_ms: tuple[tuple[int, int], ...], outcome: Outcome, measured: bool
) -> None:
    """As those of micro-batches: the interval says 100 ms, and the last one is still being written then."""
    assert on_a_busy_machine(*gaps_ms, measured=measured, apart_ms=apart_ms).outcome is outcome


def test_an_abort_ends_an_interval_too() -> None:
    """What is shown at a trigger may be withdrawn at the abort."""
    ends: list[Line] = []
    for number in range(1, 9):
        ends += [99.0, CheckpointAborted(checkpoint=2 * number, reason=FailureReason.EXPIRED)]
        ends += [99.0, CheckpointCompleted(checkpoint=2 * number + 1)]
    polled = ReaderPolled(polls=40, interval_ms=SLOW_MS)
    assert ORACLE.judge(story(SEEN, *ends, polled, real_time=True)).outcome is Outcome.INCONCLUSIVE
    without = [line for line in ends if not isinstance(line, CheckpointAborted)]
    assert ORACLE.judge(story(SEEN, *without, polled, real_time=True)).outcome is Outcome.PASS


def test_without_checkpoints_no_reader_is_too_slow() -> None:
    verdict = ORACLE.judge(story(SEEN, options={}))
    assert verdict.outcome is Outcome.PASS
    assert "reader-too-slow" not in verdict.checked


def test_a_run_that_was_cut_off_may_commit_before_its_second_read() -> None:
    late = HISTORIES["stable/second-read-differs/unit-new-at-the-second-read"]()
    verdict = ORACLE.judge(story(*late.events, end=STOPPED))
    assert verdict.outcome is Outcome.PASS
    assert "second-read-differs" not in verdict.checked


def test_nothing_is_judged_of_a_system_that_claims_nothing_or_shows_nothing() -> None:
    assert not ORACLE.applies(story(SEEN, POLLED, claimed=frozenset()))
    assert not ORACLE.applies(story(POLLED))


@pytest.mark.parametrize("mode", [OutputMode.UPSERT, OutputMode.OVERWRITE])
def test_what_replaces_a_unit_behind_the_last_poll_of_a_run_cut_off_is_no_difference(mode: OutputMode) -> None:
    replaced = RowsChanged(name="unit-0", poll=40, vanished=False, final=True, records=2)
    verdict = ORACLE.judge(story(SEEN, replaced, POLLED, mode=mode, end=STOPPED))
    assert verdict.anomalies == ()


@pytest.mark.parametrize(
    ("mode", "unclaimed"),
    [
        (OutputMode.APPEND, set()),
        (OutputMode.UPSERT, {"row-changed"}),
        (OutputMode.OVERWRITE, {"row-changed", "row-vanished"}),
    ],
)
def test_what_may_be_replaced_is_not_claimed_to_stay(mode: OutputMode, unclaimed: set[str]) -> None:
    claims = Claims(output=AT_LEAST_ONCE, mode=mode)
    assert {clause for clause in ORACLE.clauses if not ORACLE.claimed(clause, claims)} == unclaimed


def test_of_output_without_a_claim_nothing_is_claimed_to_stay() -> None:
    assert not any(ORACLE.claimed(clause, Claims()) for clause in ORACLE.clauses)


def test_without_a_version_nothing_tells_which_row_is_newer() -> None:
    replaced = RowsChanged(name="unit-0", poll=9, vanished=False, records=2)
    verdict = ORACLE.judge(story(SEEN, replaced, POLLED, mode=OutputMode.UPSERT))
    assert verdict.outcome is Outcome.PASS
    assert "row-rolled-back" not in verdict.checked
