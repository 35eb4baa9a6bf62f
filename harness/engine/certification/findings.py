"""From results to findings: what is refuted and what stays open, identical things once.

Runs that failed belong together if they have one signature, or if what broke first in some of them is in others what
follows, and is in none without its cause. What stays open belongs together if it does so for one reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec

from holdfast.harness.engine.cases.results import cause_of
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.certification.run_store import command_of
from holdfast.harness.model.finding import Finding, Signature, Violation, signature_of
from holdfast.harness.model.journal import CaseResult, RuleResult, RunResult
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.status import Status
from holdfast.harness.model.verdict import DAMAGE_RANK, SYMPTOMS, Outcome, current_clause

OPEN = (Status.ERROR, Status.INCONCLUSIVE)
"""RunEnded, and decided nothing."""
Together = list[tuple[RunResult, Finding]]
"""Runs that belong together, each with its own finding."""


def findings(
    rules: Sequence[RuleResult],
    cases: Sequence[CaseResult],
    runs: Sequence[RunResult],
    folder: str,
    tallies: Mapping[tuple[str, str], Tally],
) -> tuple[Finding, ...]:
    """Everything that failed or stays open, worst first.

    Args:
        rules: those that bind the subject, and others that something refuted, with their statuses.
        cases: with theirs.
        runs: that were kept.
        folder: name of the folder of the report.
        tallies: of all runs, by case and tier.
    """
    return (*_refuted(rules, cases, runs, tallies), *_open(rules, cases, runs, folder))


def _refuted(
    rules: Sequence[RuleResult],
    cases: Sequence[CaseResult],
    runs: Sequence[RunResult],
    tallies: Mapping[tuple[str, str], Tally],
) -> Iterable[Finding]:
    failed = {(case.case, case.tier) for case in cases if case.status is Status.FAIL}
    grouped: dict[Signature, Together] = {}
    showing: dict[str, set[str]] = {}
    for key in failed & tallies.keys():
        for (oracle, clause), names in tallies[key].refuted.items():
            showing.setdefault(f"{oracle}/{current_clause(oracle, clause)}", set()).update(names)
    for run in runs:
        # A wrong system that a negative control names fails as it must.
        if run.finding is not None and run.finding.cause is not None and (run.case, run.tier) in failed:
            grouped.setdefault(signature_of(run.finding, run.system), []).append((run, run.finding))
            for each in _violations(run.finding):
                showing.setdefault(each.name, set()).add(run.id)
    pairs = list(_by_cause(grouped, showing))
    kept = [finding for together in grouped.values() for _, finding in together]
    found = [
        _merged(together, behind, rules, [other for each, _ in pairs if each is not together for other in each], kept)
        for together, behind in pairs
    ]
    covered = {rule for finding in found for rule in finding.rules}
    # The journal may have thinned out every run that refutes a rule.
    found += [
        Finding(
            status=Status.FAIL,
            what=f"Violated rule {rule.rule.id}: {rule.rule.text}",
            when=f"in {plural(len(rule.failed_runs), 'run')} that were not kept"
            if rule.failed_runs
            else "not recorded",
            why=rule.reason,
            rules=(rule.rule.id,),
            runs=rule.failed_runs,
        )
        for rule in rules
        if rule.status is Status.FAIL and rule.rule.id not in covered
    ]
    return sorted(found, key=_rank)


def _violations(finding: Finding) -> tuple[Violation, ...]:
    return (*([finding.cause] if finding.cause is not None else []), *finding.consequences)


def _by_cause(
    grouped: Mapping[Signature, Together], showing: Mapping[str, Set[str]]
) -> Iterable[tuple[Together, Together]]:
    """The runs of each cause, and beside them the runs in which something broke first that follows from it elsewhere.

    Args:
        grouped: runs that failed, by the clause that broke first.
        showing: by clause, the runs in which it is violated.
    """
    found: dict[Signature, Together] = {}
    for each in sorted(grouped, key=lambda each: (-len(showing[each.clause]), _worst(grouped[each]), each)):
        cause = next((cause for cause in found if _follows(each, cause, grouped, showing)), None)
        if cause is None:
            found[each] = []
        else:
            found[cause] += grouped[each]
    return ((grouped[cause], found[cause]) for cause in grouped if cause in found)


def _follows(
    each: Signature, cause: Signature, grouped: Mapping[Signature, Together], showing: Mapping[str, Set[str]]
) -> bool:
    """Whether a clause is violated in no run without the cause, does nothing worse, and follows it in some run."""
    if not showing[each.clause] <= showing[cause.clause] or _worst(grouped[each]) < _worst(grouped[cause]):
        return False
    orders = ([violation.name for violation in _violations(finding)] for _, finding in grouped[cause])
    return each.clause != cause.clause and any(each.clause in order for order in orders)


def _worst(together: Together) -> int:
    """The worst damage of some runs, as a rank."""
    return min(_rank(finding) for _, finding in together)


def _rank(finding: Finding) -> int:
    return len(DAMAGE_RANK) if finding.damage is None else DAMAGE_RANK[finding.damage]


def _elsewhere(cause: str, others: Iterable[tuple[RunResult, Finding]], kept: Sequence[Finding]) -> str:
    """What a finding shows beside its cause, if a run shows that behind the cause of another one; empty: none does.

    Which of the two leads to the other is only stated where each run that shows both has the same order.
    """
    together = ""
    for run, finding in others:
        if finding.cause is None or all(each.name != cause for each in finding.consequences):
            continue
        orders = [order for order in map(_by_name, kept) if {finding.cause.name, cause} <= order.keys()]
        if all(_leads_to(order, finding.cause.name, cause) for order in orders):
            return f". In run {run.id} this follows from {finding.cause.label}: it may be the same defect"
        together = together or f". Seen together with {finding.cause.label} in run {run.id}"
    return together


def _by_name(finding: Finding) -> dict[str, Violation]:
    """In causal order."""
    return {each.name: each for each in _violations(finding)}


def _leads_to(order: Mapping[str, Violation], first: str, second: str) -> bool:
    """Whether something broke before something else in a run, and can have led to it. Output leads to nothing else, and
    what no event shows may have broken at any time, unless it is output or a symptom."""
    names = list(order)
    early, late = order[first], order[second]
    known = early.at_ms is not None and (late.at_ms is not None or late.damage in SYMPTOMS)
    return names.index(first) < names.index(second) and known and early.damage not in SYMPTOMS


def _merged(
    together: Together,
    behind: Together,
    rules: Iterable[RuleResult],
    others: Iterable[tuple[RunResult, Finding]],
    kept: Sequence[Finding],
) -> Finding:
    """The smallest run with the worst damage speaks for all; that of a plan that was shrunk is smaller than others.

    Args:
        together: runs in which its cause broke first.
        behind: runs in which something broke first that follows from it.
        rules: those that count.
        others: runs in which another cause broke first.
        kept: the findings of all runs.
    """

    def order(each: tuple[RunResult, Finding]) -> tuple[int, bool, bool, int]:
        run, finding = each
        return _rank(finding), not run.shrunk_from, not (finding.cause and finding.cause.witness), run.events

    shown, finding = min(together, key=order)
    ids = [run.id for run, _ in (*together, *behind)]
    known = {each.name for each in _violations(finding)}
    more = {each.cause.name: each.cause for _, each in behind if each.cause and each.cause.name not in known}
    return msgspec.structs.replace(
        finding,
        why=finding.why + (_elsewhere(finding.cause.name, others, kept) if finding.cause is not None else ""),
        # The order in another run means nothing for this one.
        consequences=(
            *finding.consequences,
            *(msgspec.structs.replace(each, at_ms=None) for each in more.values()),
        ),
        runs=tuple(each for each in ids if each != shown.id),
        rules=tuple(rule.rule.id for rule in rules if not set(ids).isdisjoint(rule.failed_runs)),
        cases=tuple(dict.fromkeys(f"{run.case} on {run.tier}" for run, _ in (*together, *behind))),
    )


def _open(
    rules: Sequence[RuleResult], cases: Sequence[CaseResult], runs: Sequence[RunResult], folder: str
) -> Iterable[Finding]:
    undecided = {rule.rule.id for rule in rules if rule.status in OPEN}
    grouped: dict[tuple[Status, str], list[tuple[CaseResult, str]]] = {}
    touched: dict[tuple[Status, str], list[str]] = {}
    for case in cases:
        for status, reason, names in _reasons(case):
            key = status, cause_of(reason)
            open_rules = [name for name in names if name in undecided]
            if case.status in OPEN or open_rules:
                grouped.setdefault(key, []).append((case, reason))
                touched.setdefault(key, []).extend(open_rules)
    found = [
        _still_open(key[0], together, tuple(dict.fromkeys(touched[key])), runs, folder)
        for key, together in grouped.items()
    ]
    return sorted(found, key=lambda each: OPEN.index(each.status))


def _reasons(case: CaseResult) -> Iterable[tuple[Status, str, tuple[str, ...]]]:
    """Why a case or rules of it stay open, each reason with its rules."""
    rules = [name for name, status in case.rules.items() if status in OPEN]
    if case.status in OPEN:
        yield case.status, case.reason, tuple(rules)
        return
    for reason in dict.fromkeys(case.rule_reasons.get(name, "") for name in rules):
        alike = tuple(name for name in rules if case.rule_reasons.get(name, "") == reason)
        yield case.rules[alike[0]], reason, alike


def _still_open(
    status: Status,
    together: Sequence[tuple[CaseResult, str]],
    rules: tuple[str, ...],
    runs: Sequence[RunResult],
    folder: str,
) -> Finding:
    case, reason = together[0]
    held = [run for run in runs if (run.case, run.tier) == (case.case, case.tier)]
    missed = [run for run in held if run.outcome is Outcome.INCONCLUSIVE]
    shown = next(iter(missed or held), None)
    more = f" and {plural(len(together) - 1, 'more case')}" if len(together) > 1 else ""
    decided = "Harness error" if status is Status.ERROR else "Not decided"
    total = case.runs_passed + case.runs_failed + case.runs_inconclusive
    what = f"{decided}: {missed[0].reason if missed else reason}"
    open_runs = f"{case.runs_inconclusive} of {plural(total, 'run')} did not count, {case.runs_demanded} must"
    when = f"in {case.case} on {case.tier}{more}" + (f": {open_runs}" if missed else "")
    return Finding(
        status=status,
        what=what,
        when=when,
        why=reason,
        next=command_of(folder, shown) if shown is not None and shown.artefacts else None,
        run=shown.id if shown is not None else "",
        rules=rules,
        cases=tuple(f"{each.case} on {each.tier}" for each, _ in together),
    )
