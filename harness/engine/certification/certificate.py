"""From cases to rules, and from rules to the card: computed, never stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec

from holdfast.harness.engine.cases.case_status import StatusReason, worst_of
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.certificate import LeftOut, Scope
from holdfast.harness.model.journal import (
    STATUS_RANK,
    CaseResult,
    Certificate,
    RuleResult,
    Status,
    Title,
)
from holdfast.harness.model.rule import Level, Rule
from holdfast.harness.model.sentence import plural

RULE_OF_THREE = 3
"""After n runs without a failure the failure probability is below 3/n with 95 % confidence."""
_OPEN = frozenset({Status.ERROR, Status.INCONCLUSIVE})
_TROUBLE = _OPEN | {Status.FAIL}
_FULFILLED = frozenset({Status.PASS, Status.NOT_APPLICABLE})


def rule_results(
    rules: Iterable[Rule],
    cases: Iterable[Case],
    results: Sequence[CaseResult],
    tallies: Mapping[tuple[str, str], Tally],
    subject: str,
    *,
    strict: bool = False,
    left_out: Set[str] = frozenset(),
    on_its_word: Set[str] = frozenset(),
) -> tuple[RuleResult, ...]:
    """Every rule of the catalogue with the status that follows from the cases.

    Args:
        rules: the catalogue.
        cases: all that exist, run or not.
        results: of the cases that were run or skipped.
        tallies: of the runs, by case and tier.
        subject: of the system under test.
        strict: of the system under test; the rules of the results have the level that binds it.
        left_out: ids of cases that were not chosen, though they apply on a tier that ran.
        on_its_word: clauses, as `ORACLE/clause`, that rest on what the system under test records of itself.
    """
    left_out = left_out | _not_reached(results)
    deciding: dict[str, list[Case]] = {}
    for case in cases:
        for rule in {decision.rule for decision in case.decides}:
            deciding.setdefault(rule, []).append(case)
    binding = (_raised(rule) if strict else rule for rule in rules)
    found = (_rule_result(rule, deciding.get(rule.id, []), results, tallies, subject, left_out) for rule in binding)
    decided = {
        (case, *clause)
        for (case, _), tally in tallies.items()
        for clause in tally.checked.keys() | tally.refuted.keys()
    }
    return tuple(_with_observations(each, deciding.get(each.rule.id, []), decided, on_its_word) for each in found)


def _with_observations(
    rule: RuleResult, deciding: Sequence[Case], decided: Set[tuple[str, str, str]], on_its_word: Set[str]
) -> RuleResult:
    """The rule with the clauses that compare with what was seen from outside, and decided something in a run; `decided`
    has case, oracle and clause."""
    clauses = (
        f"{each.oracle}/{clause}"
        for case in deciding
        for each in case.decides
        for clause in each.clauses
        if each.rule == rule.rule.id and (case.id, each.oracle, clause) in decided
    )
    observed = tuple(dict.fromkeys(clause for clause in clauses if clause not in on_its_word))
    return msgspec.structs.replace(rule, observed_by=observed)


def certificate(
    rules: Sequence[RuleResult],
    results: Sequence[CaseResult],
    tallies: Iterable[Tally],
    subject: str,
    supplied_by_author: tuple[str, ...],
    *,
    versions: tuple[str, ...] = (),
    interrupted: bool = False,
    not_tried: Set[Tier] = frozenset(),
    scope: Scope = Scope.THOROUGH,
    left_out: tuple[LeftOut, ...] = (),
) -> Certificate:
    """The card.

    Args:
        rules, results: what was found.
        tallies: of the runs of the system under test.
        subject: of the system under test.
        supplied_by_author: parts of the judgement that its author supplied.
        versions: of what it is made, sentences.
        interrupted: a signal, the harness itself or a time limit ended the certification early.
        not_tried: tiers that are not there or were not chosen.
        scope: which of the cases that apply ran.
        left_out: what a thorough certificate would run besides.
    """
    tallies = tuple(tallies)
    aimed: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    for tally in tallies:
        aimed += tally.aimed
        hit += tally.hit
    drawn = sum(tally.drawn for tally in tallies)
    drawn_failed = any(tally.drawn_failed for tally in tallies)
    missing = _missing(rules, results, subject, not_tried)
    title = _title(rules, results, missing, subject, not_tried, scope)
    if title is not Title.REFUSED and not any(tally.runs for tally in tallies):
        title = Title.INCONCLUSIVE  # Only negative controls ran, if anything did.
    decided = [
        each for each in rules if each.status is Status.FAIL or (each.status is Status.PASS and each.concerns(subject))
    ]
    return Certificate(
        title=Title.INCONCLUSIVE if interrupted and title is not Title.REFUSED else title,
        missing=missing,
        guarantees=_guarantees(tallies),
        windows_hit=dict(sorted(hit.items())),
        windows_missed=tuple(sorted(window for window in aimed if not hit[window])),
        failure_bound=None if drawn_failed or not drawn else min(1.0, RULE_OF_THREE / drawn),
        drawn_plans=drawn,
        supplied_by_author=supplied_by_author,
        unfinished=interrupted,
        versions=versions,
        decided=len(decided),
        on_its_word=sum(each.on_its_word for each in decided),
        tiers=_ordered(tiers_that_ran(results)),
        not_tried=_ordered(not_tried),
        scope=scope,
        left_out=left_out,
    )


def with_new_title(
    card: Certificate,
    rules: Sequence[RuleResult],
    results: Sequence[CaseResult],
    subject: str,
    *,
    interrupted: bool = False,
) -> Certificate:
    """The card with another title, for rules and results of which some are set aside."""
    not_tried = frozenset(card.not_tried)
    missing = _missing(rules, results, subject, not_tried)
    title = _title(rules, results, missing, subject, not_tried, card.scope)
    unfinished = card.unfinished or interrupted
    if unfinished and title is not Title.REFUSED:
        title = Title.INCONCLUSIVE
    return msgspec.structs.replace(
        card, title=title, missing=missing, unfinished=unfinished, tiers=_ordered(tiers_that_ran(results))
    )


def tiers_that_ran(results: Iterable[CaseResult]) -> frozenset[Tier]:
    """The tiers on which a case was executed."""
    return frozenset(each.tier for each in results if each.status not in (Status.UNTESTED, Status.NOT_APPLICABLE))


def _ordered(tiers: Set[Tier]) -> tuple[Tier, ...]:
    return tuple(tier for tier in Tier if tier in tiers)


def is_binding(rule: RuleResult, subject: str) -> bool:
    """Whether a certificate of this subject rests on the rule."""
    return rule.rule.level is Level.MUST and subject in rule.rule.subjects


def _raised(rule: Rule) -> Rule:
    """The rule as it binds a strict system; a raised rule needs no mark any more."""
    return msgspec.structs.replace(rule, level=rule.level_for_reference, must_for_reference=False)


def _rule_result(
    rule: Rule,
    deciding: Sequence[Case],
    results: Sequence[CaseResult],
    tallies: Mapping[tuple[str, str], Tally],
    subject: str,
    left_out: Set[str],
) -> RuleResult:
    ran = [result for result in results if rule.id in result.rules]
    found = [(result.rules[rule.id], _reason(rule.id, result)) for result in ran]
    # A case that a tier was not there for is no child: it is listed, and keeps the title at PARTIAL.
    executed = [status for status in found if status[0] is not Status.UNTESTED]
    status, reason = worst_of(executed) if executed else _untested(rule, deciding, found, subject)
    # What some of its cases showed is not what the rule requires; what they refuted stays refuted.
    open_cases = [case.id for case in deciding if case.id in left_out]
    if status in _FULFILLED and open_cases:
        status = Status.UNTESTED
        reason = f"{len(open_cases)} of its {len(deciding)} cases did not run: {', '.join(open_cases)}"
    decisions = {case.id: [each for each in case.decides if each.rule == rule.id] for case in deciding}
    # A clause that decides the rule in one case decides nothing of it in another; drawn plans are of no case.
    decided_by = {
        case: [(each.oracle, clause) for each in decided for clause in each.clauses]
        for case, decided in decisions.items()
    }
    clauses = dict.fromkeys(clause for decided in decided_by.values() for clause in decided)
    refuting = dict.fromkeys(
        run
        for result in ran
        if (tally := tallies.get((result.case, result.tier)))
        for clause in decided_by.get(result.case, clauses)
        for run in tally.refuted.get(clause, ())
    )
    failed = [each for each in ran if each.status is Status.FAIL] if status is Status.PASS else []
    if failed:
        which = "; ".join(f"{each.case} on {each.tier}: {each.reason}" for each in failed)
        reason = f"what decides it passed, but {plural(len(failed), 'case')} of it failed otherwise ({which})"
    return RuleResult(
        rule=rule,
        status=status,
        reason=reason,
        cases=tuple(case.id for case in deciding),
        tiers=tuple(dict.fromkeys(each.tier for each in ran if each.rules[rule.id] is not Status.UNTESTED)),
        oracles=tuple(f"{oracle}/{clause}" for oracle, clause in clauses),
        mutants=tuple(dict.fromkeys(each.mutant for decided in decisions.values() for each in decided)),
        failed_runs=tuple(refuting),
        failed_cases=tuple(dict.fromkeys(each.case for each in failed)),
    )


def _not_reached(results: Sequence[CaseResult]) -> frozenset[str]:
    """Cases whose turn did not come, though a tier of theirs ran."""
    ran = tiers_that_ran(results)
    executed = {each.case for each in results if each.status is not Status.UNTESTED}
    return frozenset(each.case for each in results if each.tier in ran) - executed


def _reason(rule: str, result: CaseResult) -> str:
    reason = result.rule_reasons.get(rule, "")
    return f"{result.case} on {result.tier}: {reason}" if reason else ""


def _untested(rule: Rule, deciding: Sequence[Case], found: Sequence[StatusReason], subject: str) -> StatusReason:
    if found:
        return Status.UNTESTED, found[0][1]
    if deciding:
        return Status.UNTESTED, "none of its cases was chosen"
    if subject not in rule.subjects:
        return Status.UNTESTED, f"applies to {', '.join(rule.subjects)}; this certificate is for {subject}"
    return Status.UNTESTED, "no case decides it yet"


def _title(
    rules: Sequence[RuleResult],
    results: Sequence[CaseResult],
    missing: tuple[str, ...],
    subject: str,
    not_tried: Set[Tier],
    scope: Scope,
) -> Title:
    own = [each for each in rules if each.concerns(subject)]
    statuses = {each.status for each in results} | {each.status for each in own}
    if Status.FAIL in statuses or any(each.status is Status.FAIL for each in rules):
        return Title.REFUSED
    if statuses & _OPEN or not tiers_that_ran(results) or any(_is_cut_short(each, not_tried) for each in results):
        return Title.INCONCLUSIVE
    if missing or scope is Scope.NARROWED or not any(is_binding(each, subject) for each in rules):
        return Title.PARTIAL
    return Title.CERTIFIED


def _is_cut_short(result: CaseResult, not_tried: Set[Tier]) -> bool:
    """Whether its turn did not come, or it decides rules and ended too early. Drawn plans may use up the time."""
    began = result.runs_passed + result.runs_failed + result.runs_inconclusive
    open_here = result.status is Status.UNTESTED and result.tier not in not_tried
    return open_here and (bool(result.rules) or not began)


def _missing(
    rules: Sequence[RuleResult], results: Sequence[CaseResult], subject: str, not_tried: Set[Tier]
) -> tuple[str, ...]:
    """What keeps it from being certified, worst first."""
    sentences: list[tuple[int, str]] = []
    for status in Status:
        if status in _FULFILLED:
            continue
        binding = [each for each in rules if each.status is status and is_binding(each, subject)]
        # What is refuted counts, whoever owes it.
        shown = [each for each in rules if each.status is status] if status is Status.FAIL else binding
        if shown:
            noun = "MUST rule" if shown == binding else "rule"
            which = f"{plural(len(shown), f'{noun} is', f'{noun}s are')} {status}"
            sentences.append((STATUS_RANK[status], f"{which}: {', '.join(each.rule.id for each in shown)}."))
    alike: dict[tuple[Status, Tier, str], list[str]] = {}
    for result in results:
        undecided = result.status in _TROUBLE and not any(status in _TROUBLE for status in result.rules.values())
        if undecided or (result.status is Status.UNTESTED and result.tier not in not_tried):
            alike.setdefault((result.status, result.tier, result.reason), []).append(result.case)
    for (status, tier, reason), cases in alike.items():
        which = f"Case {cases[0]}" if len(cases) == 1 else f"{len(cases)} cases"
        verb = "is" if len(cases) == 1 else "are"
        sentences.append((STATUS_RANK[status], f"{which} on {tier} {verb} {status}: {reason}."))
    return tuple(sentence for _, sentence in sorted(sentences, key=lambda each: each[0], reverse=True))


def _guarantees(tallies: Sequence[Tally]) -> tuple[str, ...]:
    """By claim: in how many runs it stood, or the first run that refuted it, or that no run decided it."""
    decided: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    refuted: dict[str, str] = {}
    for tally in tallies:
        decided += tally.claims
        undecided += tally.undecided_claims
        refuted = {**tally.refuted_claims, **refuted}
    return tuple(
        f"{claim}: refuted in {refuted[claim]}"
        if claim in refuted
        else _stands(claim, decided[claim], undecided[claim])
        for claim in sorted(decided + undecided)
    )


def _stands(claim: str, decided: int, undecided: int) -> str:
    if not decided:
        return f"{claim}: not decided in {plural(undecided, 'run')}"
    open_in = f", not decided in {undecided} more" if undecided else ""
    return f"{claim}: not refuted in {plural(decided, 'run')}{open_in}"
