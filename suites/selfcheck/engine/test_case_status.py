"""Where a case stands after its runs, and each rule that it decides: the lattice, row by row."""

from __future__ import annotations

import pytest

from holdfast.harness.engine.cases.case_status import case_not_run, case_result, open_plans, worst_of
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.model.case import Decision, Tier
from holdfast.harness.model.events import SnapshotTaken
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.model.journal import CaseResult, Status
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.suites.selfcheck.engine.results import PASSING, case, failing, missed, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle

CUT = ScriptedOracle("CUT", evidence=(SnapshotTaken,))
SUPPLIED = {"snapshot_taken": Evidence.NATIVE}
BROKEN = missed("harness error: KeyError: 'x'")
HALF = Verdict("CUT", Outcome.PASS, checked={"order": 2})
NOTHING = Verdict("CUT", Outcome.PASS, checked={"else": 1})
AIMED = {"kill worker before commit": False}


def stands(runs: Tally, demanded: int = 1, **fields: object) -> CaseResult:
    return case_result(case(**fields), Tier.SIM, demanded, runs, [CUT], SUPPLIED)


@pytest.mark.parametrize(
    ("runs", "demanded", "of_case", "of_rule", "reason"),
    [
        (tally(result()), 1, Status.PASS, Status.PASS, ""),
        (tally(result(), missed()), 1, Status.PASS, Status.PASS, ""),
        (tally(result(), result(failing())), 2, Status.FAIL, Status.FAIL, "CUT/order in 1 of 2 runs, first in area-"),
        (tally(missed(), result(failing())), 2, Status.FAIL, Status.FAIL, "CUT/order in 1 of 2 runs"),
        (tally(result(PASSING, failing("TXN", "lost"))), 1, Status.FAIL, Status.PASS, ""),
        (tally(result(), missed()), 2, Status.INCONCLUSIVE, Status.INCONCLUSIVE, "1 of 2 runs counted; each time (1)"),
        (tally(), 1, Status.INCONCLUSIVE, Status.INCONCLUSIVE, "0 of 1 run counted; the campaign ended early"),
        (tally(result(HALF)), 1, Status.PASS, Status.INCONCLUSIVE, "CUT/loss had nothing to decide in 1 run"),
        (tally(result(windows=AIMED)), 1, Status.INCONCLUSIVE, Status.INCONCLUSIVE, "no run hit kill worker before"),
        (tally(result(windows=AIMED), result(windows=dict.fromkeys(AIMED, True))), 2, Status.PASS, Status.PASS, ""),
        (tally(result(), BROKEN), 1, Status.ERROR, Status.ERROR, "harness error: KeyError"),
    ],
    ids=range(11),
)
def test_a_rule_stands_by_its_own_clauses(
    runs: Tally, demanded: int, of_case: Status, of_rule: Status, reason: str
) -> None:
    found = stands(runs, demanded)
    assert (found.status, found.rules["BAR-01"]) == (of_case, of_rule)
    assert reason in found.rule_reasons.get("BAR-01", "")
    assert bool(reason) is ("BAR-01" in found.rule_reasons)


UNCLAIMED = ("CUT/order", "CUT/loss")


@pytest.mark.parametrize(
    ("runs", "status", "reason"),
    [
        (tally(result(unclaimed=UNCLAIMED)), Status.PASS, ""),
        (tally(result(HALF, unclaimed=UNCLAIMED)), Status.PASS, ""),
        (tally(result(HALF, unclaimed=("CUT/order",))), Status.INCONCLUSIVE, "CUT/loss had nothing to decide in 1 run"),
        (
            tally(result(NOTHING, unclaimed=UNCLAIMED)),
            Status.NOT_APPLICABLE,
            "the system does not claim what CUT/order, CUT/loss is about",
        ),
        (tally(result(NOTHING, unclaimed=UNCLAIMED), result(NOTHING)), Status.INCONCLUSIVE, "had nothing to decide"),
        (tally(result(failing(), unclaimed=UNCLAIMED)), Status.FAIL, "CUT/order in 1 of 1 run"),
    ],
    ids=["decided", "half", "half claimed", "nothing", "claimed once", "refuted"],
)
def test_a_rule_whose_clauses_are_about_nothing_that_is_claimed_does_not_apply(
    runs: Tally, status: Status, reason: str
) -> None:
    found = stands(runs)
    assert found.rules["BAR-01"] is status
    assert reason in found.rule_reasons.get("BAR-01", "")


def test_missing_evidence_is_unobserved_and_an_anomaly_still_fails() -> None:
    blind = case_result(case(), Tier.SIM, 1, tally(result(HALF)), [CUT], {})
    assert blind.rules == {"BAR-01": Status.UNOBSERVED}
    assert "CUT needs snapshot_taken" in blind.rule_reasons["BAR-01"]
    seen = case_result(case(), Tier.SIM, 1, tally(result(failing())), [CUT], {})
    assert seen.rules == {"BAR-01": Status.FAIL}


@pytest.mark.parametrize(
    ("runs", "status"),
    [
        (tally(), Status.UNTESTED),
        (tally(result(), missed("interrupted by SIGINT")), Status.UNTESTED),
        (tally(result(), result(failing())), Status.FAIL),
        (tally(result(), BROKEN), Status.ERROR),
        (tally(result(), result(), result(windows=AIMED)), Status.INCONCLUSIVE),
        (tally(result(), result(), result()), Status.PASS),
    ],
    ids=range(6),
)
def test_what_an_interruption_left_open_is_untested_and_what_was_decided_stands(runs: Tally, status: Status) -> None:
    found = case_result(case(), Tier.SIM, 3, runs, [CUT], SUPPLIED, "interrupted by SIGINT")
    assert (found.status, found.rules["BAR-01"]) == (status, status)
    said = f"interrupted by SIGINT; {runs.passed} of 3 runs counted until then"
    assert (said in found.reason) is (said in found.rule_reasons.get("BAR-01", "")) is (status is Status.UNTESTED)


def test_a_negative_control_that_passed_is_an_error_whatever_interrupted_it() -> None:
    control = case(expected=Outcome.FAIL)
    found = case_result(control, Tier.SIM, 2, tally(result()), [CUT], SUPPLIED, "interrupted by SIGINT")
    assert found.status is Status.ERROR


def test_several_decisions_of_a_rule_must_all_stand() -> None:
    decides = (Decision("BAR-01", "CUT", ("order",), "A3"), Decision("BAR-01", "TXN", ("lost",), "H7"))
    found = case_result(case(*decides), Tier.SIM, 1, tally(result()), [CUT], SUPPLIED)
    assert found.rules == {"BAR-01": Status.INCONCLUSIVE}
    assert found.rule_reasons == {"BAR-01": "TXN/lost had nothing to decide in 1 run"}


@pytest.mark.parametrize(
    ("runs", "status"),
    [
        (tally(result(failing())), Status.PASS),
        (tally(result()), Status.ERROR),
        (tally(result(failing()), result()), Status.ERROR),
        (tally(missed()), Status.INCONCLUSIVE),
        (tally(result(windows={"sent-again": False})), Status.INCONCLUSIVE),
        (tally(result(windows={"sent-again": False}), result(failing())), Status.PASS),
        (tally(result(windows={"sent-again": True})), Status.ERROR),
        (tally(result(windows={"sent-again": True}), result(failing())), Status.ERROR),
    ],
    ids=range(8),
)
def test_a_negative_control_must_fail_and_if_not_the_harness_did(runs: Tally, status: Status) -> None:
    assert stands(runs, expected=Outcome.FAIL).status is status


@pytest.mark.parametrize(
    ("refutes", "status"),
    [({"CUT/order"}, Status.PASS), ({"CUT/order", "TXN/lost"}, Status.PASS), ({"TXN/lost"}, Status.ERROR)],
    ids=range(3),
)
def test_a_negative_control_must_fail_by_what_it_is_wrong_in(refutes: set[str], status: Status) -> None:
    found = stands(tally(result(failing())), expected=Outcome.FAIL, refutes=frozenset(refutes))
    assert found.status is status
    assert ("failed by CUT/order, not by TXN/lost" in found.reason) is (status is Status.ERROR)


def test_a_case_that_was_not_asked_gives_its_status_to_its_rules() -> None:
    skipped = case_not_run(case(), Tier.SPARK, Status.UNTESTED, "needs Java")
    assert (skipped.status, skipped.rules, skipped.runs_demanded) == (Status.UNTESTED, {"BAR-01": Status.UNTESTED}, 0)


def test_the_worst_standing_wins_and_a_pass_beats_not_applicable() -> None:
    ladder = [(status, status.value) for status in Status]
    assert worst_of(ladder) == (Status.FAIL, "FAIL")
    assert worst_of([(Status.NOT_APPLICABLE, "n"), (Status.PASS, "")]) == (Status.PASS, "")
    assert worst_of([(Status.UNTESTED, "u"), (Status.WAIVED, "w"), (Status.PASS, "")]) == (Status.UNTESTED, "u")


def test_a_tally_counts_what_the_certificate_needs() -> None:
    runs = tally(
        result(draw_seed=4, claims="state exactly-once, output exactly-once", landed={"kill worker": 2}),
        result(failing("EXACT", "row"), draw_seed=5, claims="state exactly-once, output exactly-once", id="r-2"),
        missed("faults[13] (cut) never acted", draw_seed=6),
        missed("faults[2] (cut) never acted", draw_seed=7),
    )
    assert (runs.runs, runs.passed, runs.failed, runs.inconclusive) == (4, 1, 1, 2)
    assert (runs.drawn, runs.drawn_failed, runs.two_landed) == (2, 1, 1)
    assert runs.causes == {"faults[n] (cut) never acted": 2}
    assert runs.claims == {"output exactly-once": 1}
    assert runs.undecided_claims == {"state exactly-once": 2, "output exactly-once": 1}
    assert runs.refuted_claims == {"output exactly-once": "run r-2 (EXACT/row)"}


def test_a_claim_is_not_upheld_by_a_run_that_leaves_loss_open() -> None:
    stalled = Verdict("EXACT", Outcome.INCONCLUSIVE, (), {"row-wrong": 3}, "missing records are stalled")
    held = Verdict("STATE", Outcome.PASS, checked={"state-extra": 1, "state-missing": 1})
    runs = tally(result(stalled, held, failing("LIVE", "end"), claims="state exactly-once, output exactly-once"))
    assert (runs.claims["state exactly-once"], runs.claims["output exactly-once"]) == (1, 0)
    assert not runs.refuted_claims


def test_a_plan_that_counted_twice_does_not_stand_for_one_that_never_did() -> None:
    """A case that is run again has runs of some plans more than once."""
    twice = (result(plan_number=0), result(plan_number=0), missed(plan_number=1))
    assert open_plans(2, tally(*twice)) == (1,)
    found = stands(tally(*twice), demanded=2)
    assert (found.status, found.reason.partition(";")[0]) == (Status.INCONCLUSIVE, "1 of 2 runs counted")
    assert stands(tally(*twice, result(plan_number=1)), demanded=2).status is Status.PASS


NO_PYTHON = "no executor has a python-worker."


def test_a_plan_that_strikes_what_a_system_has_not_is_not_demanded() -> None:
    absent = missed(plan_number=1, absent=NO_PYTHON, planned={"kill worker": 1})
    assert not tally(absent).planned
    assert stands(tally(result(plan_number=0), absent), demanded=2).status is Status.PASS
    assert open_plans(2, tally(absent)) == (0,)
    found = stands(tally(absent, missed(plan_number=0)), demanded=2)
    assert (found.status, found.reason.partition(";")[0]) == (Status.INCONCLUSIVE, "0 of 2 runs counted")
    found = stands(tally(absent, missed(plan_number=0, absent=NO_PYTHON)), demanded=2)
    assert (found.status, found.reason) == (Status.NOT_APPLICABLE, "no executor has a python-worker")
    assert found.rules == {"BAR-01": Status.NOT_APPLICABLE}
    drawn = missed(plan_number=1, absent=NO_PYTHON, draw_seed=7)
    assert stands(tally(result(plan_number=0), drawn), demanded=2).status is Status.INCONCLUSIVE
