"""What a rule rests on: what was seen from outside, or the word of the system under test."""

from __future__ import annotations

import pytest

from holdfast.harness.engine.cases.standing import case_not_run, case_result
from holdfast.harness.engine.certification.certificate import certificate, rule_results
from holdfast.harness.engine.executor.judge import on_its_word
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.model.journal import Status
from holdfast.reports import verdict
from holdfast.suites.selfcheck.engine.results import case, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.engine.test_certificate import rule

CASE = case()
CLAUSES = frozenset(f"{each.oracle}/{clause}" for each in CASE.decides for clause in each.clauses)
ORACLES = registry.toolbox().oracles
OF_REFERENCE = on_its_word(ORACLES, registry.system("reference").evidence())


@pytest.mark.parametrize(
    "clause",
    [
        "EXACT/row-wrong", "NOLOSS/input-lost", "STABLE/row-changed", "TXN/committed-not-visible",
        "COORD/published-not-stored", "REACH/named-not-stored", "RETAIN/deleted-still-stored", "RESTORE/audit-differs",
        "STATE/state-missing",
    ],
)  # fmt: skip
def test_what_is_compared_with_an_observation_needs_no_word(clause: str) -> None:
    assert clause not in OF_REFERENCE


@pytest.mark.parametrize(
    "clause", ["CUT/processed-while-blocked", "COORD/two-ends", "COUNT/delay-wrong", "LIVE/end-not-reached"]
)
def test_what_only_events_of_the_system_tell_rests_on_its_word(clause: str) -> None:
    assert clause in OF_REFERENCE


def test_an_adapter_that_reads_the_evidence_elsewhere_leaves_nothing_to_the_word() -> None:
    read = dict.fromkeys(registry.system("reference").evidence(), Evidence.DERIVED)
    assert {clause.partition("/")[0] for clause in on_its_word(ORACLES, read)} == {"LIVE"}


@pytest.mark.parametrize(("clauses", "word"), [(CLAUSES, 1), (frozenset(), 0)])
def test_the_certificate_counts_rules_that_rest_on_the_word_alone(clauses: frozenset[str], word: int) -> None:
    counted = tally(result())
    results = (case_result(CASE, Tier.SIM, 1, counted, [ScriptedOracle("CUT")], {}),)
    rules = rule_results(
        (rule(), rule("BAR-02")), [CASE], results, {(CASE.id, "sim"): counted}, "RT", on_its_word=clauses
    )
    card = certificate(rules, results, [counted], "RT", ())
    assert [each.on_its_word for each in rules] == [bool(word), False]
    assert (card.decided, card.on_its_word) == (1, word)
    assert verdict.on_its_word(card) in (
        "1 of 1 decided rule rests on the word of the system under test alone",
        "0 of 1 decided rule rest on the word of the system under test alone",
    )


def test_a_case_that_did_not_run_observes_nothing() -> None:
    skipped = case_not_run(CASE, Tier.PROCESS, Status.UNTESTED, "needs Linux")
    (found,) = rule_results((rule(),), [CASE], [skipped], {}, "RT")
    assert not found.observed_by
    assert not found.on_its_word
