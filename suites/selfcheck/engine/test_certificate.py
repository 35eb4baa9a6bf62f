"""The card: title, what is missing, the bound, and the exit code that follows."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from holdfast.harness.commands.certify import exit_code
from holdfast.harness.engine.cases.case_status import case_not_run, case_result
from holdfast.harness.engine.certification.certificate import certificate, rule_results
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.case import Decision, Tier
from holdfast.harness.model.certificate import Scope, heading
from holdfast.harness.model.journal import (
    CaseResult,
    Certificate,
    Journal,
    RuleResult,
    RunResult,
    Status,
    TierReport,
    Title,
)
from holdfast.harness.model.rule import Decidability, Level, Rule, Source, SourceKind, Subject
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.suites.selfcheck.engine.results import case, failing, missed, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle, Silent

CASE = case()
ORACLES = [ScriptedOracle("CUT")]


def rule(name: str = "BAR-01", level: Level = Level.MUST, subject: Subject = Subject.RUNTIME) -> Rule:
    return Rule(
        id=name, area=name[:3], title="t", level=level, subjects=(subject,), decidability=Decidability.TRACE,
        text="t", why="w", oracle="o", sources=(Source(kind=SourceKind.DOCUMENT, title="s"),),
    )  # fmt: skip


def certified(
    *runs: object,
    rules: tuple[Rule, ...] = (rule(),),
    skipped: tuple[CaseResult, ...] = (),
    not_tried: frozenset[Tier] = frozenset(),
    scope: Scope = Scope.THOROUGH,
) -> tuple[Certificate, tuple[RuleResult, ...], tuple[CaseResult, ...]]:
    counted = tally(*runs)  # type: ignore[arg-type]
    results = (case_result(CASE, Tier.SIM, 1, counted, ORACLES, {}), *skipped)
    of_rules = rule_results(rules, [CASE], results, {(CASE.id, "sim"): counted}, "RT")
    card = certificate(of_rules, results, [counted], "RT", (), not_tried=not_tried, scope=scope)
    return card, of_rules, results


@pytest.mark.parametrize(
    ("card", "title", "missing"),
    [
        (certified(result()), Title.CERTIFIED, ""),
        (certified(result(), rules=(rule(), rule("BAR-02", Level.SHOULD))), Title.CERTIFIED, ""),
        (certified(result(), rules=(rule(), rule("STO-01", subject=Subject.SINK))), Title.CERTIFIED, ""),
        (certified(result(), rules=(rule(), rule("BAR-02"))), Title.PARTIAL, "1 MUST rule is UNTESTED: BAR-02."),
        (certified(result(failing())), Title.REFUSED, "1 MUST rule is FAIL: BAR-01."),
        (certified(missed()), Title.INCONCLUSIVE, "1 MUST rule is INCONCLUSIVE: BAR-01."),
        (
            certified(result(failing("TXN", "lost"), result().verdicts[0])),
            Title.REFUSED,
            "Case area/case on sim is FAIL",
        ),
        (
            certified(result(), skipped=(case_not_run(CASE, Tier.PROCESS, Status.UNTESTED, "the time was over"),)),
            Title.INCONCLUSIVE,
            "Case area/case on process is UNTESTED: the time was over.",
        ),
        (certified(result(), scope=Scope.NARROWED), Title.PARTIAL, ""),
        (certified(result(), scope=Scope.QUICK), Title.CERTIFIED, ""),
        (certified(result(failing()), scope=Scope.NARROWED), Title.REFUSED, ""),
        (certified(result(), rules=(rule(subject=Subject.SINK),)), Title.PARTIAL, ""),
        (certified(missed("harness error: boom")), Title.INCONCLUSIVE, "1 MUST rule is ERROR: BAR-01."),
    ],
    ids=range(13),
)
def test_the_title_follows_from_what_was_executed(
    card: tuple[Certificate, object, object], title: Title, missing: str
) -> None:
    assert card[0].title is title
    assert missing in " ".join(card[0].missing)


@pytest.mark.parametrize(("reached", "title"), [(True, Title.CERTIFIED), (False, Title.INCONCLUSIVE)])
def test_where_only_the_rehearsal_had_its_turn_nothing_is_decided(reached: bool, title: Title) -> None:
    """A budget that was too small must not look like a success."""
    rehearsal = msgspec.structs.replace(CASE, id="area/rehearsal", decides=())
    counted = tally(result())
    later = (
        case_result(CASE, Tier.SIM, 1, counted, ORACLES, {})
        if reached
        else case_not_run(CASE, Tier.SIM, Status.UNTESTED, "the budget was used up")
    )
    results = (case_result(rehearsal, Tier.SIM, 1, counted, ORACLES, {}), later)
    tallies = {(CASE.id, "sim"): counted} if reached else {}
    rules = rule_results((rule(),), [rehearsal, CASE], results, tallies, "RT")
    assert certificate(rules, results, [counted], "RT", ()).title is title


@pytest.mark.parametrize(
    ("marked", "strict", "title", "level"),
    [
        (True, True, Title.PARTIAL, Level.MUST),
        (True, False, Title.CERTIFIED, Level.SHOULD),
        (False, True, Title.CERTIFIED, Level.SHOULD),
    ],
)
def test_a_marked_rule_binds_a_strict_system_as_a_must(marked: bool, strict: bool, title: Title, level: Level) -> None:
    should = msgspec.structs.replace(rule("BAR-02", Level.SHOULD), must_for_reference=marked)
    counted = tally(result())
    results = (case_result(CASE, Tier.SIM, 1, counted, ORACLES, {}),)
    rules = rule_results((rule(), should), [CASE], results, {(CASE.id, "sim"): counted}, "RT", strict=strict)
    card = certificate(rules, results, [counted], "RT", ())
    assert (card.title, rules[1].rule.level) == (title, level)
    assert card.missing == (("1 MUST rule is UNTESTED: BAR-02.",) if title is Title.PARTIAL else ())
    journal(card, rules, results)


def test_an_interruption_refutes_nothing() -> None:
    counted = tally(result(), missed("interrupted by SIGINT"))
    results = (case_result(CASE, Tier.SIM, 2, counted, ORACLES, {}, "interrupted by SIGINT"),)
    rules = rule_results((rule(),), [CASE], results, {(CASE.id, "sim"): counted}, "RT")
    card = certificate(rules, results, [counted], "RT", (), interrupted=True)
    assert card.title is Title.INCONCLUSIVE
    assert "Case area/case on sim is UNTESTED: interrupted by SIGINT; 1 of 2 runs counted until then." in card.missing


def test_a_skipped_tier_leaves_the_rule_with_the_status_of_the_tiers_that_ran() -> None:
    skipped = case_not_run(CASE, Tier.PROCESS, Status.UNTESTED, "needs Linux")
    _, rules, _ = certified(result(), skipped=(skipped,))
    assert (rules[0].status, rules[0].tiers) == (Status.PASS, (Tier.SIM,))
    _, rules, _ = certified(result(failing()), skipped=(skipped,))
    assert (rules[0].status, rules[0].failed_runs) == (Status.FAIL, ("area-case-sim-0000",))
    assert rules[0].reason.startswith("area/case on sim: CUT/order in 1 of 1 run")


def test_a_rule_whose_case_failed_otherwise_is_no_bare_pass() -> None:
    """Any verdict but that of the deciding clause used to leave a plain PASS."""
    run = result(failing("TXN", "lost"), *result().verdicts)
    card, (found,), _ = certified(run)
    assert (found.status, found.failed_cases, card.title) == (Status.PASS, (CASE.id,), Title.REFUSED)
    assert "1 case of it failed otherwise (area/case on sim: 1 of 1 run failed: TXN/lost)" in found.reason
    _, (sound,), _ = certified(result())
    assert (sound.failed_cases, sound.reason) == ((), "")


def test_a_clause_refutes_a_rule_only_in_a_case_that_it_decides() -> None:
    """The finding of such a run says how many rules it refutes: no other number than the certificate."""
    other = Decision("BAR-01", "TXN", ("lost",), "A3")
    cases = [CASE, case(other, id="area/other")]
    passing = Verdict("TXN", Outcome.PASS, checked={"lost": 1})
    runs = result(failing("TXN", "lost"), *result().verdicts), result(passing)
    tallies = {(each.id, "sim"): tally(run) for each, run in zip(cases, runs, strict=True)}
    results = [
        case_result(each, Tier.SIM, 1, tallies[each.id, "sim"], [*ORACLES, ScriptedOracle("TXN")], {}) for each in cases
    ]
    (found,) = rule_results((rule(),), cases, results, tallies, "RT")
    assert (found.status, found.failed_runs) == (Status.PASS, ())


def narrowed(
    *others: CaseResult, left_out: frozenset[str] = frozenset(), run: RunResult | None = None
) -> tuple[Status, str]:
    """What a rule of two cases is where one of them was executed."""
    counted = tally(run or result())
    results = (case_result(CASE, Tier.SIM, 1, counted, ORACLES, {}), *others)
    tallies = {(CASE.id, "sim"): counted}
    (found,) = rule_results((rule(),), [CASE, OTHER], results, tallies, "RT", left_out=left_out)
    return found.status, found.reason


OTHER = case(id="area/other")
ALSO_ON_PROCESS = case_not_run(CASE, Tier.PROCESS, Status.UNTESTED, "the budget of 1 s was used up")


@pytest.mark.parametrize(
    ("others", "left_out"),
    [
        ((), frozenset({OTHER.id})),
        ((case_not_run(OTHER, Tier.SIM, Status.UNTESTED, "the budget of 1 s was used up"),), frozenset()),
        ((case_not_run(OTHER, Tier.SIM, Status.UNTESTED, "interrupted by SIGINT"), ALSO_ON_PROCESS), frozenset()),
    ],
    ids=["not-chosen", "budget", "interrupted"],
)
def test_a_rule_is_not_passed_by_some_of_its_cases(others: tuple[CaseResult, ...], left_out: frozenset[str]) -> None:
    assert narrowed(*others, left_out=left_out) == (Status.UNTESTED, "1 of its 2 cases did not run: area/other")


@pytest.mark.parametrize(
    "others",
    [
        (),  # It does not apply, so a choice of cases left nothing out.
        (case_not_run(OTHER, Tier.SIM, Status.NOT_APPLICABLE, "it lacks splits"),),
        (case_not_run(OTHER, Tier.PROCESS, Status.UNTESTED, "needs Linux"),),
        (case_result(OTHER, Tier.SIM, 1, tally(result()), ORACLES, {}), ALSO_ON_PROCESS),
    ],
    ids=["not-left-out", "not-applicable", "no-tier-of-its-ran", "on-another-tier"],
)
def test_a_rule_is_passed_by_all_cases_that_could_run(others: tuple[CaseResult, ...]) -> None:
    assert narrowed(*others) == (Status.PASS, "")


def test_what_some_of_its_cases_refuted_is_refuted() -> None:
    status, reason = narrowed(left_out=frozenset({OTHER.id}), run=result(failing()))
    assert (status, reason) == (Status.FAIL, "area/case on sim: CUT/order in 1 of 1 run, first in area-case-sim-0000")


def test_cases_that_did_not_run_for_one_reason_are_told_together() -> None:
    skipped = tuple(case_not_run(each, Tier.PROCESS, Status.UNTESTED, "needs Linux") for each in (CASE, OTHER))
    card, _, _ = certified(result(), skipped=skipped)
    assert card.missing == ("2 cases on process are UNTESTED: needs Linux.",)


@pytest.mark.parametrize("tier", [Tier.PROCESS, Tier.SPARK, Tier.CONTAINERS])
def test_a_tier_that_is_not_there_is_not_tried_and_keeps_nothing_from_being_certified(tier: Tier) -> None:
    skipped = (case_not_run(CASE, tier, Status.UNTESTED, "tier needs Linux"),)
    card, _, _ = certified(result(), skipped=skipped, not_tried=frozenset({tier}))
    assert (card.title, card.missing, card.not_tried) == (Title.CERTIFIED, (), (tier,))
    assert card.heading == "CERTIFIED on sim"


def test_a_rule_that_only_a_tier_decides_that_is_not_there_keeps_it_partial() -> None:
    only = case(Decision("BAR-02", "CUT", ("order",), "A3"), id="area/only")
    counted = tally(result())
    results = (
        case_result(CASE, Tier.SIM, 1, counted, ORACLES, {}),
        case_not_run(only, Tier.PROCESS, Status.UNTESTED, "needs Linux"),
    )
    rules = rule_results((rule(), rule("BAR-02")), [CASE, only], results, {(CASE.id, "sim"): counted}, "RT")
    card = certificate(rules, results, [counted], "RT", (), not_tried={Tier.PROCESS})
    assert (card.heading, card.missing) == ("PARTIAL on sim", ("1 MUST rule is UNTESTED: BAR-02.",))


def test_a_drawn_case_that_used_up_its_time_began_and_one_that_never_began_leaves_it_open() -> None:
    drawn = msgspec.structs.replace(CASE, id="area/drawn", decides=())
    begun = case_result(drawn, Tier.SIM, 9, tally(result()), ORACLES, {}, "the time limit of 3 s was reached")
    card, _, _ = certified(result(), skipped=(begun,))
    assert (begun.status, card.title) == (Status.UNTESTED, Title.PARTIAL)
    never = case_not_run(drawn, Tier.SIM, Status.UNTESTED, "the time limit of 3 s was reached")
    assert certified(result(), skipped=(never,))[0].title is Title.INCONCLUSIVE


@pytest.mark.parametrize(
    ("tiers", "words"),
    [((), "PARTIAL"), ((Tier.SIM,), "PARTIAL on sim"), ((Tier.SIM, Tier.SPARK), "PARTIAL on sim, spark")],
)
def test_a_title_names_its_tiers(tiers: tuple[Tier, ...], words: str) -> None:
    assert heading(Title.PARTIAL, tiers) == words


def test_a_narrowed_certificate_passes_the_rule_it_was_narrowed_to_alone(tmp_path: Path) -> None:
    alone, shared = "TPC-03", "TPC-02"
    deciding = {
        rule: [each for each in registry.cases() if rule in {decision.rule for decision in each.decides}]
        for rule in (alone, shared)
    }
    assert len(deciding[alone]) == 1 < len(deciding[shared])
    assert deciding[alone][0] in deciding[shared]
    request = Request(
        command="test", system="reference", folder=tmp_path, tiers=frozenset({Tier.SIM}), rules=frozenset({alone})
    )
    journal = Certification(request, Silent(), Interruption()).run()
    found = {each.rule.id: each for each in journal.rules}
    assert found[alone].status is Status.PASS
    assert found[shared].status is Status.UNTESTED
    assert "cases did not run: " in found[shared].reason
    assert journal.certificate.heading == "PARTIAL on sim"


def test_a_rule_names_its_clauses_and_mutants() -> None:
    _, rules, _ = certified(result())
    assert (rules[0].cases, rules[0].oracles, rules[0].mutants) == (("area/case",), ("CUT/order", "CUT/loss"), ("A3",))


@pytest.mark.parametrize(
    ("runs", "bound", "drawn"),
    [
        ([result(draw_seed=n) for n in range(1, 301)], 0.01, 300),
        ([result(draw_seed=1)], 1.0, 1),
        ([result(draw_seed=1), result(failing(), draw_seed=2)], None, 2),
        ([result(draw_seed=1), missed(draw_seed=2)], 1.0, 1),
        ([result()], None, 0),
    ],
    ids=range(5),
)
def test_the_bound_is_over_drawn_plans_that_counted(runs: list[object], bound: float | None, drawn: int) -> None:
    card, _, _ = certified(*runs)
    assert (card.failure_bound, card.drawn_plans) == (bound, drawn)


def test_guarantees_and_windows() -> None:
    claims = "state exactly-once, output exactly-once"
    card, _, _ = certified(
        result(claims=claims, windows={"kill worker before commit": True, "cut channel before commit": False}),
        result(failing("EXACT", "row"), claims=claims, id="r-2"),
    )
    assert card.guarantees == (
        "output exactly-once: refuted in run r-2 (EXACT/row)",
        "state exactly-once: not decided in 2 runs",
    )
    assert card.windows_hit == {"kill worker before commit": 1}
    assert card.windows_missed == ("cut channel before commit",)


@pytest.mark.parametrize(
    ("run", "required", "code"),
    [
        (result(), False, 0),
        (result(), True, 0),
        (result(failing()), False, 1),
        (missed(), False, 2),
        (missed("harness error: boom"), False, 4),
    ],
    ids=range(5),
)
def test_exit_codes(run: object, required: bool, code: int) -> None:
    card, rules, results = certified(run)
    assert exit_code(journal(card, rules, results), require_certified=required) == code


def test_partial_is_enough_unless_certified_is_required() -> None:
    found = journal(*certified(result(), rules=(rule(), rule("BAR-02"))))
    assert found.certificate.title is Title.PARTIAL
    assert exit_code(found) == 0
    assert exit_code(found, require_certified=True) == 2


def test_where_nothing_ran_nothing_was_shown() -> None:
    skipped = case_not_run(CASE, Tier.SIM, Status.NOT_APPLICABLE, "it lacks everything")
    rules = rule_results((rule(),), [CASE], [skipped], {}, "RT")
    assert exit_code(journal(certificate(rules, [skipped], [], "RT", ()), rules, (skipped,), ran=0)) == 2


def journal(card: Certificate, rules: tuple[RuleResult, ...], results: tuple[CaseResult, ...], ran: int = 1) -> Journal:
    made = Journal(
        command="", system="scripted", subject="RT", profile="", claims="", evidence={"x": Evidence.NATIVE}, started="",
        duration_s=0.0, interrupted="", versions={}, seed=0, plans_digest="", history_digest="",
        tiers=(TierReport(Tier.SIM, ran=bool(ran), reason="", runs=ran),),
        cases=results, rules=rules, runs=(), certificate=card,
    )  # fmt: skip
    assert msgspec.json.decode(msgspec.json.encode(made), type=Journal) == made
    return made


def test_what_a_negative_control_did_is_not_counted_for_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = next(each for each in registry.cases() if each.id == "recovery/crash-anywhere")
    wrong = msgspec.structs.replace(
        asked,
        id="recovery/control",
        decides=(),
        plan=msgspec.structs.replace(asked.plan_for(1), system="reference+source-repeats-one"),
        runs=1,
        expected=Outcome.FAIL,
        refutes=frozenset({"EXACT/row-wrong", "EXACT/counts-stepped-back"}),
    )
    monkeypatch.setattr("holdfast.harness.engine.certification.certify.cases_for", lambda *_: (asked, wrong))
    request = Request(command="test", system="reference", folder=tmp_path, tiers=frozenset({Tier.SIM}))
    journal = Certification(request, Silent(), Interruption()).run()
    statuses = {each.case: each.status for each in journal.cases if each.tier is Tier.SIM}
    assert statuses == {asked.id: Status.PASS, wrong.id: Status.PASS}
    assert sum(tier.runs for tier in journal.tiers) == asked.runs
    assert journal.certificate.title is Title.PARTIAL


def test_a_system_that_was_not_run_is_inconclusive() -> None:
    """Under a short time limit only a negative control ran: its pass made the certificate PARTIAL."""
    control = case_result(CASE, Tier.SIM, 1, tally(result()), ORACLES, {})
    assert certificate([], [control], [], "RT", ()).title is Title.INCONCLUSIVE
    assert certificate([], [control], [tally(result())], "RT", ()).title is Title.PARTIAL
