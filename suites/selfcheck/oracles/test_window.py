"""WINDOW tells what is wrong with a window, and leaves windows alone that are not over."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.capability import AT_LEAST_ONCE, AT_MOST_ONCE, Claims
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import WINDOW_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import WindowRow
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles import ORACLES
from holdfast.harness.oracles.output.window import WindowOracle
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.histories.window import FIRST, INPUTS, SECOND
from holdfast.suites.selfcheck.oracles.output_builder import STOPPED, units

ORACLE = WindowOracle()


def history_of(*rows: WindowRow, end: RunEnd | None = None) -> History:
    """A unit for each row."""
    return story(job=WINDOW_SUM, inputs=INPUTS, units=units(*rows), end=end)


def test_before_the_end_only_what_a_later_window_has_overtaken_is_missing() -> None:
    verdict = ORACLE.judge(history_of(*FIRST, end=STOPPED))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reason.startswith("window 1 of key 'a' has no row: stalled")
    verdict = ORACLE.judge(history_of(FIRST[0], *SECOND, end=STOPPED))
    assert [anomaly.message for anomaly in verdict.anomalies] == [
        "window 0 of key 'b' has no row, and the watermark has passed it"
    ]
    assert ORACLE.judge(history_of(*FIRST, *SECOND, end=STOPPED)).outcome is Outcome.PASS


def test_nothing_is_due_of_a_job_that_was_to_fail() -> None:
    history = history_of(*FIRST)
    history.plan = replace(history.plan, expected_end=ExpectedEnd.FAILED)
    assert ORACLE.judge(history).outcome is Outcome.PASS
    history = history_of(FIRST[0], FIRST[0])
    history.plan = replace(history.plan, expected_end=ExpectedEnd.FAILED)
    assert {each.clause for each in ORACLE.judge(history).anomalies} == {"window-repeated"}


def test_a_repeat_is_no_failure_of_who_claims_at_least_once() -> None:
    history = history_of(*FIRST, *SECOND, FIRST[0])
    history.claims = Claims(output=AT_LEAST_ONCE)
    verdict = ORACLE.judge(history)
    assert verdict.outcome is Outcome.PASS
    assert verdict.information == ("window 0 of key 'a' has a second row, and exactly-once was not claimed",)


def test_it_judges_windows_alone_and_windows_are_judged_by_it_alone() -> None:
    history = history_of(*FIRST, *SECOND)
    assert [oracle.name for oracle in ORACLES if oracle.applies(history) and oracle.name in JUDGES] == ["WINDOW"]
    assert not ORACLE.applies(story())
    history.claims = Claims(output=AT_MOST_ONCE)
    assert not ORACLE.applies(history)


JUDGES = {"EXACT", "NOLOSS", "WINDOW"}
