"""`ctrf.json`: the Common Test Report Format (ctrf.io), for dashboards that merge the results of many tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult, RunResult, Status
from holdfast.harness.model.oracle_title import clause_in_words
from holdfast.harness.model.verdict import Anomaly
from holdfast.reports import finding, notes, text, view
from holdfast.reports.files import write_file

SPEC_VERSION = "0.0.0"
"""Of the schema `ctrf-schema-0.0.json`."""
STATUSES = {
    Status.PASS: "passed",
    Status.FAIL: "failed",
    # The format has no word for "not decided"; its own advice is `other`, with the true status in `rawStatus`.
    Status.ERROR: "other",
    Status.INCONCLUSIVE: "other",
    Status.WAIVED: "skipped",
    Status.UNTESTED: "skipped",
    Status.UNOBSERVED: "skipped",
    Status.NOT_APPLICABLE: "skipped",
}


class CtrfReporter:
    """The rules by area, then the cases by tier, as one list of tests."""

    name = "ctrf"
    writes = "ctrf.json"

    def render(self, journal: Journal, folder: Path) -> Path:
        """Write `ctrf.json`."""
        encoded = msgspec.json.format(msgspec.json.encode(_document(journal)), indent=2)
        return write_file(folder / self.writes, encoded.decode() + "\n")


def _document(journal: Journal) -> dict[str, Any]:
    listed = view.listed_runs(journal)
    found = finding.by_rule(journal)
    tests = [_rule(result, found.get(result.rule.id)) for result in view.rules(journal)]
    tests += [_case(case, listed.get((case.case, case.tier), []), journal.oracle_titles) for case in journal.cases]
    start = text.epoch_milliseconds(journal.started)
    lasted = text.whole(journal.duration_s * 1_000)
    return {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "generatedBy": "holdfast",
        "results": {
            "tool": {"name": "holdfast", "version": text.clean(journal.versions.get("holdfast", ""))},
            "summary": {
                "tests": len(tests),
                **{
                    status: sum(test["status"] == status for test in tests)
                    for status in ("passed", "failed", "skipped", "pending", "other")
                },
                "suites": len({tuple(test["suite"]) for test in tests}),
                "start": start,
                "stop": start + lasted,
                "duration": lasted,
            },
            "tests": tests,
            "environment": {
                "reportName": text.clean(f"Holdfast certificate of {journal.system}"),
                "appName": text.clean(journal.system),
                "extra": {
                    "title": text.clean(journal.heading),
                    "claims": text.clean(journal.claims),
                    "profile": text.clean(journal.profile),
                    "seed": journal.seed,
                    "plansDigest": text.clean(journal.plans_digest),
                    "versions": {text.clean(name): text.clean(each) for name, each in journal.versions.items()},
                },
            },
        },
    }


def _rule(result: RuleResult, found: Finding | None) -> dict[str, Any]:
    rule = result.rule
    test = _test(f"{rule.id} {text.one_line(rule.text)}", ["rules", f"{rule.area} {rule.title}"], 0.0, result.status)
    test["testId"] = rule.id
    test["type"] = "rule"
    test["labels"] = {"level": rule.level.value, "area": rule.area}
    if result.tiers:
        test["labels"]["evidence"] = "on-its-word" if result.on_its_word else "outside"
    if result.reason:
        test["message"] = text.clean(result.reason)
    if found is not None:
        test["trace"] = text.clean("\n".join(finding.in_text(found)))
        if found.next is not None:
            test["extra"] = {"replay": text.clean(found.next.line())}
    if result.failed_cases:
        test["status"] = "other"
    return test


def _case(case: CaseResult, runs: list[RunResult], titles: Mapping[str, str]) -> dict[str, Any]:
    test = _test(
        f"{case.case} on {case.tier}", ["cases", str(case.tier)], sum(run.wall_ms for run in runs), case.status
    )
    test["testId"] = text.clean(f"{case.case}@{case.tier}")
    test["type"] = "case"
    test["labels"] = {"tier": str(case.tier)}
    if case.rules:
        test["labels"]["rules"] = [text.clean(rule) for rule in case.rules]
    if case.reason:
        test["message"] = text.clean(case.reason)
    shown = [
        _witness(run, clause_in_words(titles, verdict.oracle, anomaly.clause), anomaly)
        for run in runs
        for verdict, anomaly in view.anomalies(run)
        if case.status is Status.FAIL
    ]
    if shown:
        test["trace"] = "\n\n".join(shown)
    if noted := notes.of_case(case, runs, titles):
        test["stdout"] = [text.clean(line) for line in noted]
    test["extra"] = {
        "purpose": text.clean(case.purpose),
        "runsDemanded": case.runs_demanded,
        "runsPassed": case.runs_passed,
        "runsFailed": case.runs_failed,
        "runsInconclusive": case.runs_inconclusive,
    }
    return test


def _test(name: str, suite: list[str], wall_ms: float, status: Status) -> dict[str, Any]:
    return {
        "name": text.one_line(name),
        "status": STATUSES[status],
        "rawStatus": status.value,
        "duration": text.whole(wall_ms),
        "suite": [text.one_line(part) for part in suite],
    }


def _witness(run: RunResult, clause: str, anomaly: Anomaly) -> str:
    head = f"{run.id}: {clause}: {anomaly.message}"
    return text.clean("\n".join((head, *anomaly.witness, f"Replay: {run.replay}")))
