"""The Journal of a certification: its entries, one case on one tier each, and what they add up to."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.cases.case_run import CaseRun
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.certification.agenda import Agenda
from holdfast.harness.engine.certification.certificate import certificate, rule_results
from holdfast.harness.engine.certification.findings import findings
from holdfast.harness.engine.certification.result_log import LoggedCase, LoggedRun
from holdfast.harness.engine.certification.worker import RunEnded
from holdfast.harness.engine.executor.judge import on_its_word
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import evidence_of
from holdfast.harness.engine.site.machine import on_tiers, versions
from holdfast.harness.engine.site.places import places_of
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult, RunResult, Status, TierReport
from holdfast.harness.spi.oracle import titles_of


class Entry:
    """One case on one tier, and what came of it.

    Attributes:
        case_run: from the time when it was begun.
        tally: of its runs.
        kept: those that were stored.
        histories: digest over these.
        result: once it is over.
        again: whether it, or a rule of it, is open: it is run again with no other case beside it.
        rounds: how often it was begun.
        stalled: runs in which the machine was too busy before the last round.
        first_number: of drawn plans, the first that did not run before an interruption.
    """

    def __init__(self, case: Case, tier: Tier) -> None:
        self.case = case
        self.tier = tier
        self.case_run: CaseRun | None = None
        self.demanded = 0
        self.tally = Tally()
        self.kept: list[RunResult] = []
        self.histories = ""
        self.result: CaseResult | None = None
        self.again = False
        self.rounds = 0
        self.stalled = 0
        self.first_number = 0

    @property
    def waits(self) -> bool:
        """Whether it has neither begun nor ended."""
        return self.case_run is None and self.result is None

    def take(self, ended: RunEnded) -> None:
        self.tally.add(ended.result)
        if ended.kept is not None:
            self.kept.append(ended.kept)

    def restore(self, logged: Iterable[LoggedRun | LoggedCase]) -> None:
        """Count the runs of an invocation that was interrupted."""
        for each in logged:
            if isinstance(each, LoggedCase):
                self.result, self.histories, self.demanded = each.result, each.histories, each.result.runs_demanded
                continue
            self.take(RunEnded(each.result, each.kept))
            if each.result.draw_seed:
                self.first_number = max(self.first_number, each.result.plan_number + 1)


Tallies = Mapping[tuple[str, str], Tally]
"""By case and tier."""


class Ended(msgspec.Struct, frozen=True):
    """How a certification came to its end.

    Attributes:
        started: ISO 8601 in UTC.
        duration_s: how long it took.
        signal: that ended it early; empty: none did.
        unfinished: it was ended early, or a case never began because time was over.
        why_no_more: why nothing began any more at its end; empty: everything had.
    """

    started: str
    duration_s: float
    signal: str
    unfinished: bool
    why_no_more: str


def journal_of(
    agenda: Agenda, entries: Sequence[Entry], ended: Ended, shrink: Callable[[Sequence[Finding]], None]
) -> Journal:
    """The journal of what was done.

    Args:
        agenda: of what was to run.
        entries: what ran, and what came of it.
        ended: how it came to its end.
        shrink: puts smaller runs beside those of findings.
    """
    system, request, tools = agenda.system, agenda.request, agenda.tools
    results, tallies = results_of(entries), tallies_of(entries)
    rules = _rules(agenda, results, tallies, placed=not ended.signal)
    binding = [each for each in rules if each.counts_for(system.subject)]
    shrink(findings(binding, results, _kept(entries), request.folder.name, tallies))
    tiers = tuple(_tier_report(tier, agenda, results, tallies, ended) for tier in Tier)
    return Journal(
        command=request.command,
        system=system.name,
        subject=system.subject,
        profile=system.profile,
        claims=claims_of(tallies.values()),
        evidence={kind: evidence.value for kind, evidence in sorted(evidence_of(system).items())},
        started=ended.started,
        duration_s=ended.duration_s,
        interrupted=ended.signal,
        versions=versions(),
        seed=request.seed,
        plans_digest=_digest_over(tally.plans.hexdigest() for tally in tallies.values()),
        history_digest=_digest_over(each.histories for each in entries),
        tiers=tiers,
        cases=tuple(results),
        rules=rules,
        runs=_kept(entries),
        certificate=certificate(
            rules,
            results,
            tallies.values(),
            system.subject,
            system.supplied_by_author,
            versions=on_tiers(system, {tier.tier for tier in tiers if tier.ran}),
            interrupted=ended.unfinished,
            not_tried={tier for tier in Tier if agenda.why_no_tier(tier)},
            scope=request.scope,
            left_out=agenda.left_out(),
        ),
        findings=findings(binding, results, _kept(entries), request.folder.name, tallies),
        oracle_titles=titles_of(tools.oracles),
    )


def claims_of(tallies: Iterable[Tally]) -> str:
    """What the system under test claimed in any run, in words."""
    return "; ".join(sorted({claim for each in tallies for claim in (*each.claims, *each.undecided_claims)}))


def results_of(entries: Iterable[Entry]) -> list[CaseResult]:
    """The results of the cases that are over."""
    return [entry.result for entry in entries if entry.result is not None]


def tallies_of(entries: Iterable[Entry]) -> Tallies:
    """The tallies of entries, without negative controls: a wrong system does not count for the system under test."""
    started = (entry for entry in entries if entry.case_run is not None and not is_control(entry.case))
    return {(entry.case.id, entry.tier): entry.tally for entry in started}


def _rules(agenda: Agenda, results: list[CaseResult], tallies: Tallies, *, placed: bool) -> tuple[RuleResult, ...]:
    """Each rule with its status; `placed`: and with its places, for which all sources are read."""
    system = agenda.system
    rules = rule_results(
        registry.rules(),
        registry.cases(),
        results,
        tallies,
        system.subject,
        strict=system.strict,
        left_out=agenda.not_chosen(results),
        on_its_word=on_its_word(agenda.tools.oracles, evidence_of(system)),
    )
    if not placed:
        return rules
    cases = registry.cases()
    return tuple(
        msgspec.structs.replace(rule, places=tuple(each.place for each in places_of(rule.rule.id, cases)))
        for rule in rules
    )


def _kept(entries: Iterable[Entry]) -> tuple[RunResult, ...]:
    return tuple(kept for each in entries for kept in each.kept)


def _tier_report(
    tier: Tier, agenda: Agenda, results: Iterable[CaseResult], tallies: Tallies, ended: Ended
) -> TierReport:
    runs = sum(tally.runs for (_, name), tally in tallies.items() if name == tier)
    if runs:
        return TierReport(tier, ran=True, reason="", runs=runs)
    if tier not in agenda.system.capabilities:
        return TierReport(tier, ran=False, reason=f"{agenda.system.name} does not run there")
    reason = agenda.why_no_tier(tier) or ended.why_no_more or _why_no_case(tier, results)
    return TierReport(tier, ran=False, reason=reason)


def _why_no_case(tier: Tier, results: Iterable[CaseResult]) -> str:
    """What keeps most of them from applying; often the same thing is not installed."""
    kept = (each for each in results if each.tier is tier and each.status is Status.NOT_APPLICABLE)
    reasons = Counter(each.reason for each in kept)
    most = f", most often because of this: {reasons.most_common(1)[0][0]}" if reasons else ""
    return f"no case runs there{most}"


def _digest_over(digests: Iterable[str]) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest()
