"""Statuses, titles and digests, computed again from the results of all runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.cases.case_status import case_not_run, case_result
from holdfast.harness.engine.cases.results import run_id
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.certification.agenda import Agenda, owed_by, required_runs
from holdfast.harness.engine.certification.certificate import certificate, rule_results, with_new_title
from holdfast.harness.engine.certification.findings import findings
from holdfast.harness.engine.certification.journal import claims_of
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.executor.judge import on_its_word
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.verification.sent import Judged, Key, SentCertificate
from holdfast.harness.engine.verification.statements import Statements, with_words_of
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.certificate import Scope
from holdfast.harness.model.command_line import words_of
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import CaseResult, Certificate, Journal, RuleResult, Status, TierReport
from holdfast.harness.model.sentence import plural
from holdfast.harness.spi.oracle import titles_of

_WORDS_OF_THE_SENDER = ("versions", "not_tried", "scope", "left_out")
"""Fields of the card that follow from no run."""
Cases = Mapping[Key, Case]
"""Those that ran, by case and tier, as they are here."""
_NOWHERE = Path()
_WITHOUT_RUNS = (Status.UNTESTED, Status.NOT_APPLICABLE, Status.ERROR, Status.FAIL)
"""What a case can be of which no run began: its adapter may have broken."""
_WAIVED = "waived: "
"""How the reason of what is set aside begins."""


def recount(sent: SentCertificate, judged: Judged, cases: Cases, statements: Statements) -> None:
    """Compare cases, rules, title and digest of the plans with what the results of all runs add up to.

    Args:
        cases: of each result of a case that ran.
    """
    journal = sent.journal
    if not sent.log:
        statements.leave_open("cases, rules and title were not recomputed: the results of single runs are not there")
        return
    tallies = {key: _tally(sent, key, statements) for key in map(_key, journal.cases)}
    _refuse_strangers(sent, tallies, statements)
    scope = journal.certificate.scope
    results = [_case(each, cases, tallies[_key(each)], judged, scope, statements) for each in journal.cases]
    counted = {
        _key(each): tallies[_key(each)]
        for each in journal.cases
        if _began(each) and not ((case := cases.get(_key(each))) is not None and is_control(case))
    }
    plans = hashlib.sha256("".join(tally.plans.hexdigest() for tally in counted.values()).encode()).hexdigest()
    if statements.compare("the digest of all plans", journal.plans_digest, plans):
        ran = sum(tally.runs for tally in tallies.values())
        statements.confirm(
            f"{plural(len(results), 'case')} and the digest of all plans follow from {plural(ran, 'run')}"
        )
    rules = _compare_rules(journal, judged, results, counted, statements)
    _compare_rest(journal, judged, rules, results, counted, statements)
    _compare_reach(journal, judged, statements)
    _believe(journal, statements)


def _believe(journal: Journal, statements: Statements) -> None:
    """List as the sender's word what nothing in the folder proves."""
    for what, cases in (
        ("what ended {} early", [each for each in journal.cases if _why_cut_short(each)]),
        ("why {} did not run", [each for each in journal.cases if not _began(each)]),
    ):
        if cases:
            statements.believe(what.format(plural(len(cases), "case")))
    statements.believe(
        "command, versions, times and use of the machine; why tiers did not run; what a thorough certificate would run "
        "besides; in which lines a rule is written down; the seed, where no plan was drawn; timelines of smaller runs"
    )


def _key(result: CaseResult) -> Key:
    return result.case, result.tier


def _began(result: CaseResult) -> bool:
    """Whether a case that did not run demands none."""
    return result.runs_demanded > 0


def _tally(sent: SentCertificate, key: Key, statements: Statements) -> Tally:
    tally = Tally()
    logged = sent.runs_of(key)
    for each in logged:
        tally.add(each.result)
    case, tier = key
    ids = {each.result.id for each in logged}
    missing = [name for number in range(len(logged)) if (name := run_id(case, tier, number)) not in ids]
    if missing:
        statements.contradict(f"run {missing[0]} is missing: the runs of a case are numbered without a gap")
    return tally


def _refuse_strangers(sent: SentCertificate, tallies: Mapping[Key, Tally], statements: Statements) -> None:
    """Check that the two lists of runs are of the same runs, with the same results."""
    kept = {each.kept.id: each.kept for key in tallies for each in sent.runs_of(key) if each.kept is not None}
    listed = {each.id: each for each in sent.journal.runs if not each.shrunk_from}
    for case, tier in sent.log.keys() - tallies.keys():
        statements.contradict(f"{case} on {tier} ran, and the certificate does not list it")
    for name in kept.keys() - listed.keys():
        statements.contradict(f"run {name} took place, and the certificate does not list it")
    for name in listed.keys() - kept.keys():
        statements.contradict(f"the certificate lists run {name}, which the results of single runs do not")
    for name in kept.keys() & listed.keys():
        if kept[name] != listed[name]:
            statements.contradict(f"run {name} has two results: one in the certificate, and one where it ended")


def _case(
    stated: CaseResult, cases: Cases, tally: Tally, judged: Judged, scope: Scope, statements: Statements
) -> CaseResult:
    """The result of a case as its runs give it; where nothing can be recomputed, as it is stated."""
    case, where = cases.get(_key(stated)), f"{stated.case} on {stated.tier}"
    if tally.runs and not _began(stated):
        statements.contradict(f"{where} is said not to have run, and it did")
    if not _began(stated) and _unwaived(stated).status not in _WITHOUT_RUNS:
        statements.contradict(f"{where} is {stated.status}, and demands no run that could show it")
    if case is None:
        return stated
    if not _began(stated):
        statements.compare_all(where, stated, case_not_run(case, stated.tier, stated.status, stated.reason))
        return stated
    oracles, cut_short = registry.toolbox().oracles, _why_cut_short(stated)
    found = case_result(case, stated.tier, stated.runs_demanded, tally, oracles, judged.evidence, cut_short)
    if stated.runs_demanded != (usual := required_runs(case, stated.tier, scope)):
        demands = f"{where} demands {plural(stated.runs_demanded, 'run')}, and the case {usual}"
        if case.plan_for(1).draw_seed:
            statements.believe(f"{demands}: that so many were wanted")
        else:
            statements.contradict(demands)
    if found.status is Status.FAIL and stated.status is Status.WAIVED:
        found = msgspec.structs.replace(found, status=stated.status, reason=f"{_WAIVED}{found.reason}")
    waived = {rule for rule, status in stated.rules.items() if status is Status.WAIVED}
    rules = {
        rule: Status.WAIVED if status is Status.FAIL and rule in waived else status
        for rule, status in found.rules.items()
    }
    found = msgspec.structs.replace(found, rules=rules, wall_ms=stated.wall_ms)
    statements.compare_all(where, stated, found)
    return with_words_of(stated, found)


def _why_cut_short(stated: CaseResult) -> str:
    """What ended a case early, as it is stated; the counts behind it are computed."""
    early = _began(stated) and stated.status is Status.UNTESTED
    return (stated.reason.rpartition("; ")[0] or "it ended early") if early else ""


def _compare_rules(
    journal: Journal,
    judged: Judged,
    results: Sequence[CaseResult],
    tallies: Mapping[Key, Tally],
    statements: Statements,
) -> tuple[RuleResult, ...]:
    """The rules as the results give them, before any is waived."""
    unwaived = [_unwaived(each) for each in results]
    system = judged.system
    strict = system.strict if system is not None else _is_strict(journal)
    oracles = registry.toolbox().oracles
    rules = rule_results(
        registry.rules(),
        registry.cases(),
        unwaived,
        {(case, tier.value): tally for (case, tier), tally in tallies.items()},
        journal.subject,
        strict=strict,
        left_out=_left_out(journal, judged, results),
        on_its_word=on_its_word(oracles, judged.evidence),
    )
    stated = {each.rule.id: each for each in journal.rules}
    found = [_waived_as(each, stated.get(each.rule.id)) for each in rules]
    statements.compare("which rules there are", tuple(stated), tuple(each.rule.id for each in found))
    rules = tuple(with_words_of(stated.get(each.rule.id), each) for each in rules)
    agree = [_compare_rule(stated[each.rule.id], each, statements) for each in found if each.rule.id in stated]
    card = certificate(
        rules, unwaived, tallies.values(), journal.subject,
        system.supplied_by_author if system is not None else journal.certificate.supplied_by_author,
        interrupted=bool(journal.interrupted) or journal.certificate.unfinished,
        not_tried=frozenset(journal.certificate.not_tried), scope=journal.certificate.scope,
    )  # fmt: skip
    if any(each.status is Status.WAIVED for each in found):
        card = with_new_title(card, found, results, journal.subject)
        statements.believe("waivers: findings that are set aside until a day do not count")
    if all(agree) and _compare_card(journal.certificate, card, statements):
        statements.confirm(f"{plural(len(found), 'rule')} and the title {card.heading} follow from the cases")
    return rules


def _compare_rest(
    journal: Journal,
    judged: Judged,
    rules: Sequence[RuleResult],
    results: Sequence[CaseResult],
    tallies: Mapping[Key, Tally],
    statements: Statements,
) -> None:
    """Compare what else follows from the system, from the runs and from the oracles."""
    system, found = judged.system, journal
    if system is not None:
        found = msgspec.structs.replace(
            journal,
            system=system.name,
            subject=system.subject,
            profile=system.profile,
            evidence={kind: evidence.value for kind, evidence in sorted(system.evidence().items())},
        )
    binding = [each for each in rules if each.counts_for(journal.subject)]
    named = (words_of(each.replay) for each in journal.runs if each.artefacts)
    folder = next((words[2].removeprefix("./").partition("/")[0] for words in named if len(words) > 2), "")
    found = msgspec.structs.replace(
        found,
        claims=claims_of(tallies.values()),
        tiers=tuple(_tier(each, judged, tallies) for each in journal.tiers),
        findings=_waived_findings(
            journal,
            findings(
                binding,
                [*map(_unwaived, results)],
                journal.runs,
                folder,
                {(case, tier.value): tally for (case, tier), tally in tallies.items()},
            ),
        ),
    )
    statements.compare("which tiers are listed", tuple(each.tier for each in journal.tiers), tuple(Tier))
    for tier in {tier for _, tier in tallies}.intersection(journal.certificate.not_tried):
        statements.contradict(f"tier {tier} is said not to have been tried, and cases ran on it")
    statements.compare_words("oracle titles", journal.oracle_titles, titles_of(registry.toolbox().oracles))
    for field in ("system", "subject", "profile", "evidence", "claims", "tiers", "findings"):
        what = field.replace("_", " ")
        statements.compare_all(f"{what} of the whole", getattr(journal, field), getattr(found, field))


def _waived_findings(journal: Journal, found: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, of which those are set aside that are stated to be."""
    aside = {each.run: each for each in journal.findings if each.status is Status.WAIVED}
    return tuple(
        msgspec.structs.replace(each, status=Status.WAIVED, why=f"{_reason_of(aside[each.run], each)}{each.why}")
        if each.status is Status.FAIL and each.run in aside
        else each
        for each in found
    )


def _reason_of(waived: Finding, found: Finding) -> str:
    """Why a finding is set aside, which stands before what it shows."""
    return waived.why.removesuffix(found.why)


def _tier(stated: TierReport, judged: Judged, tallies: Mapping[Key, Tally]) -> TierReport:
    """Whether a tier ran; why it did not is the sender's word, unless the system does not run there."""
    runs = sum(tally.runs for (_, tier), tally in tallies.items() if tier is stated.tier)
    system = judged.system
    reason = stated.reason or "it did not"
    if system is not None and stated.tier not in system.capabilities:
        reason = f"{system.name} does not run there"
    return TierReport(stated.tier, ran=bool(runs), reason="" if runs else reason, runs=runs)


def _compare_rule(stated: RuleResult, found: RuleResult, statements: Statements) -> bool:
    found = msgspec.structs.replace(found, places=stated.places)
    return statements.compare_all(f"rule {found.rule.id}", stated, found)


def _compare_card(stated: Certificate, found: Certificate, statements: Statements) -> bool:
    kept = {name: getattr(stated, name) for name in _WORDS_OF_THE_SENDER}
    if stated.heading != found.heading:
        return statements.compare("the title", stated.heading, found.heading)
    return statements.compare_all("the card", stated, msgspec.structs.replace(found, **kept))


def _compare_reach(journal: Journal, judged: Judged, statements: Statements) -> None:
    """Whether all cases that must run are listed, and those listed as not applicable are not."""
    if (agenda := _agenda(journal, judged)) is None:
        statements.leave_open(f"which cases must run, and which do not apply: {judged.why_not}")
        return
    here = {_key(each): each for each in journal.cases}
    for result in journal.cases:
        case = next((each for each in registry.cases() if each.id == result.case), None)
        stated = result.status is Status.NOT_APPLICABLE and not _began(result)
        if stated and case is not None and agenda.applies(case, result.tier) and not agenda.why_no_tier(result.tier):
            statements.leave_open(f"{result.case} on {result.tier} is said not to apply, and it applies here")
    if journal.certificate.scope is Scope.NARROWED:
        return
    for case, tier in agenda.first():
        if tier in journal.certificate.tiers and (case.id, tier) not in here:
            statements.leave_open(f"{case.id} on {tier} is chosen by a {journal.certificate.scope} certificate here")


def _agenda(journal: Journal, judged: Judged, cases: Iterable[Case] | None = None) -> Agenda | None:
    if judged.system is None:
        return None
    request = Request(
        command=journal.command,
        system=journal.system,
        folder=_NOWHERE,
        seed=journal.seed,
        tiers=frozenset(journal.certificate.tiers),
        thorough=journal.certificate.scope is Scope.THOROUGH,
    )
    return Agenda(request, owed_by(judged.system.subject, registry.cases()) if cases is None else cases)


def _left_out(journal: Journal, judged: Judged, results: Sequence[CaseResult]) -> frozenset[str]:
    """Cases that decide a rule and were not chosen: of a quick certificate none, for those that it runs decide all."""
    if journal.certificate.scope is Scope.QUICK:
        return frozenset()
    here = {each.case for each in results}
    agenda = _agenda(journal, judged, (case for case in registry.cases() if case.id in here))
    return frozenset() if agenda is None else agenda.not_chosen(results)


def _is_strict(journal: Journal) -> bool:
    """Whether the levels are those of a strict system."""
    catalogue = {rule.id: rule.level for rule in registry.rules()}
    return any(each.rule.level is not catalogue.get(each.rule.id, each.rule.level) for each in journal.rules)


def _unwaived(result: CaseResult) -> CaseResult:
    rules = {rule: Status.FAIL if status is Status.WAIVED else status for rule, status in result.rules.items()}
    status = Status.FAIL if result.status is Status.WAIVED else result.status
    return msgspec.structs.replace(result, rules=rules, status=status, reason=result.reason.removeprefix(_WAIVED))


def _waived_as(found: RuleResult, stated: RuleResult | None) -> RuleResult:
    if stated is None or stated.status is not Status.WAIVED or found.status is not Status.FAIL:
        return found
    return msgspec.structs.replace(found, status=Status.WAIVED, reason=f"{_WAIVED}{found.reason}")
