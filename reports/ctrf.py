"""`ctrf.json`: the Common Test Report Format (ctrf.io), for dashboards that merge the results of many tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.model.certificate import Standing
from holdfast.harness.model.journal import Journal, RuleResult
from holdfast.reports import exchange, text
from holdfast.reports.exchange import ListedTest, Shown
from holdfast.reports.files import write_file

SPEC_VERSION = "0.0.0"
"""Of the schema `ctrf-schema-0.0.json`."""
STATUSES = {
    Shown.PASSED: "passed",
    Shown.FAILED: "failed",
    # The format has no word for "not decided"; its own advice is `other`, with the true status in `rawStatus`.
    Shown.UNDECIDED: "other",
    Shown.SKIPPED: "skipped",
}


class CtrfReporter:
    """The titles, the rules by area, then the cases by tier, as one list of tests."""

    name = "ctrf"
    shows = Journal
    writes = "ctrf.json"

    def render(self, journal: Journal, folder: Path) -> Path:
        encoded = msgspec.json.format(msgspec.json.encode(_document(journal)), indent=2)
        return write_file(folder / self.writes, encoded.decode() + "\n")


def _document(journal: Journal) -> dict[str, Any]:
    tests = [_test(each) for each in exchange.tests(journal)]
    start = text.epoch_milliseconds(journal.started)
    lasted = text.whole_number(journal.duration_s * 1_000)
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


def _test(test: ListedTest) -> dict[str, Any]:
    result = test.result
    listed: dict[str, Any] = {
        "name": text.one_line(test.name),
        "status": STATUSES[test.outcome],
        "rawStatus": result.status.value,
        "duration": text.whole_number(test.wall_ms),
        "testId": text.clean(test.id),
    }
    if isinstance(result, RuleResult):
        rule = result.rule
        listed |= {"suite": ["rules", text.one_line(f"{rule.area} {rule.title}")], "type": "rule"}
        listed["labels"] = {"level": rule.level.value, "area": rule.area}
        if result.tiers:
            listed["labels"]["evidence"] = "on-its-word" if result.on_its_word else "outside"
    elif isinstance(result, Standing):
        listed |= {"suite": ["titles"], "type": "title", "labels": {"subject": text.clean(result.subject)}}
    else:
        listed |= {"suite": ["cases", str(result.tier)], "type": "case", "labels": {"tier": str(result.tier)}}
        if result.rules:
            listed["labels"]["rules"] = [text.clean(rule) for rule in result.rules]
        listed["extra"] = {
            "purpose": text.clean(result.purpose),
            "runsDemanded": result.runs_demanded,
            "runsPassed": result.runs_passed,
            "runsFailed": result.runs_failed,
            "runsInconclusive": result.runs_inconclusive,
        }
    if test.message:
        listed["message"] = text.clean(test.message)
    if test.outcome in (Shown.FAILED, Shown.UNDECIDED):
        listed["trace"] = text.clean("\n".join(test.details))
    if test.noted:
        listed["stdout"] = [text.clean(line) for line in test.noted]
    if test.next:
        listed["extra"] = {**listed.get("extra", {}), "replay": text.clean(test.next)}
    return listed
