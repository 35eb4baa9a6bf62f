"""From a certificate to what a night keeps of it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping

from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.model.case import Tier
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import CaseResult, Journal, RunResult
from holdfast.harness.model.night import NightFinding, RecoveryTimes, Reruns, RunCounts, SystemNight, WaivedUntil
from holdfast.harness.model.signature import Signature, signature_of
from holdfast.harness.model.status import Status
from holdfast.harness.model.verdict import Outcome

Tallies = Mapping[tuple[str, str], Tally]
_REFUTED = (Status.FAIL, Status.WAIVED)
_DECIDED = (Status.PASS, Status.FAIL, Status.WAIVED)


def system_night(
    journal: Journal,
    folder: str = "",
    tallies: Tallies | None = None,
    reruns: Mapping[Signature, Reruns] | None = None,
    waived: Mapping[Signature, WaivedUntil] | None = None,
) -> SystemNight:
    """What stays of a certificate.

    Args:
        journal: of it, with its waivers.
        folder: of it, relative to the folder of the night.
        tallies: of all runs by case and tier; None: only what the journal kept is known of windows and faults.
        reruns: of failing plans.
        waived: what is set aside, expired waivers as well.
    """
    known = {} if tallies is None else tallies
    windows_wanted, windows_hit = _windows(journal, known)
    faults_planned, faults_landed = _faults(journal, known)
    rules = [each for each in journal.rules if each.concerns(journal.subject) or each.status in _REFUTED]
    return SystemNight(
        system=journal.system,
        folder=folder,
        title=journal.title,
        duration_s=journal.duration_s,
        runs=_runs(journal.cases, known),
        rules={each.rule.id: each.status for each in rules},
        findings=tuple(
            _finding(each, journal, known, reruns or {}, waived or {})
            for each in journal.findings
            if each.status in _REFUTED
        ),
        errors=tuple(each.what for each in journal.findings if each.status is Status.ERROR),
        inconclusive=dict(sum((Counter(each.inconclusive_causes) for each in journal.cases), Counter()).most_common()),
        windows_wanted=windows_wanted,
        windows_hit=windows_hit,
        faults_planned=faults_planned,
        faults_landed=faults_landed,
        recoveries=tuple(_recoveries(journal.runs)),
        tiers_left_out={each.tier.value: each.reason for each in journal.tiers if not each.ran},
        cases=tuple(f"{each.case} on {each.tier}" for each in journal.cases if each.status in _DECIDED),
        parts={each.name: each.status for each in journal.standings[1:]},
    )


def _finding(
    finding: Finding,
    journal: Journal,
    tallies: Tallies,
    reruns: Mapping[Signature, Reruns],
    waived: Mapping[Signature, WaivedUntil],
) -> NightFinding:
    signature = signature_of(finding, journal.system)
    oracle, _, clause = signature.clause.partition("/")
    violated = {run for tally in tallies.values() for run in tally.refuted.get((oracle, clause), ())}
    shown = {run for run in (finding.run, *finding.runs) if run}
    aside = waived.get(signature)
    if aside is None and finding.status is Status.WAIVED:
        aside = WaivedUntil("see its certificate", "", expired=False)
    return NightFinding(
        signature=signature,
        what=finding.what,
        runs=max(len(violated), len(shown)),
        rules=finding.rules,
        cases=finding.cases,
        next=finding.next.line() if finding.next is not None else "",
        reruns=reruns.get(signature),
        waived=aside,
    )


def _runs(cases: Iterable[CaseResult], tallies: Tallies) -> tuple[RunCounts, ...]:
    """By tier, in the order of tiers."""
    found = []
    for tier in Tier:
        results = [each for each in cases if each.tier is tier]
        passed = sum(each.runs_passed for each in results)
        failed = sum(each.runs_failed for each in results)
        undecided = sum(each.runs_inconclusive for each in results)
        if passed + failed + undecided:
            here = [tally for (_, name), tally in tallies.items() if name == tier]
            drawn, wall_s = sum(each.drawn for each in here), sum(each.wall_ms for each in here) / 1_000
            found.append(RunCounts(tier, passed, failed, undecided, drawn, round(wall_s, 1)))
    return tuple(found)


def _windows(journal: Journal, tallies: Tallies) -> tuple[dict[str, int], dict[str, int]]:
    card = journal.certificate
    wanted: Counter[str] = Counter(dict.fromkeys(card.windows_missed, 0) | dict.fromkeys(card.windows_hit, 0))
    for tally in tallies.values():
        wanted.update(tally.aimed)
    return dict(sorted(wanted.items())), dict(sorted(card.windows_hit.items()))


def _faults(journal: Journal, tallies: Tallies) -> tuple[dict[str, int], dict[str, int]]:
    planned: Counter[str] = Counter()
    landed: Counter[str] = Counter()
    counted: Iterable[Tally | RunResult] = tallies.values() or journal.runs
    for each in counted:
        planned.update(each.planned)
        landed.update(each.landed)
    return dict(sorted(planned.items())), dict(sorted(landed.items()))


def _recoveries(runs: Iterable[RunResult]) -> Iterable[RecoveryTimes]:
    """By tier and attack. A run that was refuted has not recovered, whatever it put out."""
    samples: dict[tuple[Tier, str], list[float]] = {}
    for run in runs:
        for each in run.recoveries if run.outcome is not Outcome.FAIL else ():
            if each.to_committed_ms is not None:
                samples.setdefault((run.tier, each.attack), []).append(each.to_committed_ms)
    for (tier, attack), values in sorted(samples.items()):
        ordered = sorted(values)
        p95 = ordered[math.ceil(len(ordered) * 0.95) - 1]
        yield RecoveryTimes(tier, attack, len(ordered), statistics.median(ordered), p95, ordered[-1])
