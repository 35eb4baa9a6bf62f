"""`junit.xml`: for every CI server, in the elements and attributes on which all of them agree."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

from holdfast.harness.model.certificate import Standing
from holdfast.harness.model.journal import Journal, RuleResult, Status
from holdfast.reports import exchange, text
from holdfast.reports.exchange import ListedTest, Shown
from holdfast.reports.files import write_file

ELEMENTS: Mapping[Shown, tuple[str, Mapping[Status, str]]] = {
    Shown.FAILED: ("failure", {Status.FAIL: "refuted"}),
    Shown.UNDECIDED: ("error", {Status.ERROR: "harness-error", Status.INCONCLUSIVE: "inconclusive"}),
    Shown.SKIPPED: ("skipped", {}),
}


class JunitReporter:
    """A suite of titles, one of rules for each area, and one of cases for each tier that took part."""

    name = "junit"
    shows = Journal
    writes = "junit.xml"

    def render(self, journal: Journal, folder: Path) -> Path:
        root = _document(journal)
        ElementTree.indent(root)
        written = ElementTree.tostring(root, encoding="unicode")
        return write_file(folder / self.writes, f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n')


def _document(journal: Journal) -> ElementTree.Element:
    root = ElementTree.Element("testsuites", name=f"Holdfast: {text.clean(journal.system)}")
    suites: dict[str, ElementTree.Element] = {}
    for test in exchange.tests(journal):
        result = test.result
        if isinstance(result, RuleResult):
            name = f"rules: {result.rule.area} {result.rule.title}"
        elif isinstance(result, Standing):
            name = "titles"
        else:
            name = f"cases: {result.tier}"
        if name not in suites:
            suites[name] = _suite(root, journal, name)
        _add(suites[name], test)
    for suite in suites.values():
        _count(suite)
    for attribute in ("tests", "failures", "errors"):
        root.set(attribute, str(sum(int(suite.get(attribute, "0")) for suite in suites.values())))
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


def _add(suite: ElementTree.Element, test: ListedTest) -> None:
    result = test.result
    if isinstance(result, RuleResult):
        classname, name = f"holdfast.rules.{result.rule.area}", test.name
    elif isinstance(result, Standing):
        classname, name = "holdfast.titles", result.name
    else:
        area, _, what = result.case.partition("/")
        classname, name = f"holdfast.cases.{result.tier}.{area}", what or area
    element = ElementTree.SubElement(
        suite, "testcase", classname=text.one_line(classname), name=text.one_line(name), time=_seconds(test.wall_ms)
    )
    if test.outcome in ELEMENTS:
        tag, kinds = ELEMENTS[test.outcome]
        kind = kinds.get(result.status, result.status.lower().replace("_", "-"))
        outcome = ElementTree.SubElement(element, tag, type=kind, message=text.one_line(test.message))
        if tag != "skipped":
            outcome.text = text.clean("\n".join(test.details))
    if test.noted:
        ElementTree.SubElement(element, "system-out").text = text.clean("\n".join(("Noted:", *test.noted)))


def _count(suite: ElementTree.Element) -> None:
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(test.find(element) is not None for test in tests)))
    suite.set("time", f"{sum(float(test.get('time', '0')) for test in tests):.3f}")


def _seconds(milliseconds: float) -> str:
    return f"{text.whole_number(milliseconds) / 1_000:.3f}"
