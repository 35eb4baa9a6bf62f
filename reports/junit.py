"""`junit.xml`: for every CI server, in the elements and attributes on which all of them agree."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult, RunResult, Status
from holdfast.harness.model.oracle_title import clause_in_words
from holdfast.reports import finding, notes, text, view
from holdfast.reports.files import write_file

ELEMENTS = {
    Status.FAIL: ("failure", "refuted"),
    Status.ERROR: ("error", "harness-error"),
    Status.INCONCLUSIVE: ("error", "inconclusive"),
    Status.WAIVED: ("skipped", "waived"),
    Status.UNTESTED: ("skipped", "untested"),
    Status.UNOBSERVED: ("skipped", "unobserved"),
    Status.NOT_APPLICABLE: ("skipped", "not-applicable"),
}
"""What was not decided is an error, never a pass: a build that looks at failures and errors must stop."""


class JunitReporter:
    """One suite of rules for each area, then one suite of cases for each tier that took part."""

    name = "junit"
    writes = "junit.xml"

    def render(self, journal: Journal, folder: Path) -> Path:
        """Write `junit.xml`."""
        root = _document(journal)
        ElementTree.indent(root)
        written = ElementTree.tostring(root, encoding="unicode")
        return write_file(folder / self.writes, f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n')


def _document(journal: Journal) -> ElementTree.Element:
    found = finding.by_rule(journal)
    root = ElementTree.Element("testsuites", name=f"Holdfast: {text.clean(journal.system)}")
    suites = []
    for area in view.areas(journal):
        suite = _suite(root, journal, f"rules: {area.code} {area.title}")
        for result in area.rules:
            _rule(suite, result, found.get(result.rule.id))
        suites.append(suite)
    listed = view.listed_runs(journal)
    for tier in dict.fromkeys(case.tier for case in journal.cases):
        suite = _suite(root, journal, f"cases: {tier}")
        for case in journal.cases:
            if case.tier is tier:
                _case(suite, case, listed.get((case.case, case.tier), []), journal.oracle_titles)
        suites.append(suite)
    for suite in suites:
        _count(suite)
    for attribute in ("tests", "failures", "errors"):
        root.set(attribute, str(sum(int(suite.get(attribute, "0")) for suite in suites)))
    root.set("time", _seconds(journal.duration_s * 1_000))
    return root


def _suite(root: ElementTree.Element, journal: Journal, name: str) -> ElementTree.Element:
    suite = ElementTree.SubElement(root, "testsuite", name=text.one_line(name))
    # The host is no part of a result: the same journal gives the same file everywhere.
    suite.set("hostname", "localhost")
    if stamp := text.second(journal.started):
        suite.set("timestamp", stamp)
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (
        ("system", journal.system),
        ("title", journal.heading),
        ("claims", journal.claims),
        ("profile", journal.profile),
        ("seed", str(journal.seed)),
        ("plans_digest", journal.plans_digest),
    ):
        ElementTree.SubElement(properties, "property", name=key, value=text.clean(value))
    return suite


def _rule(suite: ElementTree.Element, result: RuleResult, found: Finding | None) -> None:
    classname = f"holdfast.rules.{result.rule.area}"
    details = [result.rule.text, *(finding.in_text(found) if found is not None else ())]
    name = f"{result.rule.id} {text.one_line(result.rule.text, 120)}"
    test = _test(suite, classname, name, 0.0, result.status, result.reason, details)
    noted = [result.reason] if result.failed_cases else []
    noted += [f"Decided {text.ON_ITS_WORD}."] if result.on_its_word else []
    if noted:
        ElementTree.SubElement(test, "system-out").text = text.clean("\n".join(noted))


def _case(suite: ElementTree.Element, case: CaseResult, runs: list[RunResult], titles: Mapping[str, str]) -> None:
    details = [f"Purpose: {case.purpose}", f"Method: {case.method}", f"Passes if: {case.passes}"]
    if case.status in view.TROUBLE:
        for run in runs:
            for verdict, anomaly in view.anomalies(run):
                clause = clause_in_words(titles, verdict.oracle, anomaly.clause)
                details += ["", f"{run.id}: {clause}: {anomaly.message}", *anomaly.witness]
            if run.reason:
                details += ["", f"{run.id}: {run.reason}"]
            if run.reason or any(view.anomalies(run)):
                details.append(f"Replay: {run.replay}")
    area, _, what = case.case.partition("/")
    classname = f"holdfast.cases.{case.tier}.{area}"
    wall_ms = sum(run.wall_ms for run in runs)
    test = _test(suite, classname, what or area, wall_ms, case.status, case.reason, details)
    if noted := notes.of_case(case, runs, titles):
        ElementTree.SubElement(test, "system-out").text = text.clean("\n".join(("Noted:", *noted)))


def _test(
    suite: ElementTree.Element,
    classname: str,
    name: str,
    wall_ms: float,
    status: Status,
    reason: str,
    details: list[str],
) -> ElementTree.Element:
    test = ElementTree.SubElement(
        suite, "testcase", classname=text.one_line(classname), name=text.one_line(name), time=_seconds(wall_ms)
    )
    if status in ELEMENTS:
        element, kind = ELEMENTS[status]
        message = text.one_line(reason) or text.STATUS_MEANINGS[status]
        outcome = ElementTree.SubElement(test, element, type=kind, message=message)
        if element != "skipped":
            outcome.text = text.clean("\n".join(details))
    return test


def _count(suite: ElementTree.Element) -> None:
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(test.find(element) is not None for test in tests)))
    suite.set("time", f"{sum(float(test.get('time', '0')) for test in tests):.3f}")


def _seconds(milliseconds: float) -> str:
    return f"{text.whole(milliseconds) / 1_000:.3f}"
