"""What other tools read: JUnit, CTRF, Allure and the job summary keep to their formats and hide nothing."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from holdfast.harness.model.journal import Journal, Status
from holdfast.harness.model.status import ON_ITS_WORD
from holdfast.reports import exchange, text, view
from holdfast.reports.allure import AllureReporter
from holdfast.reports.ctrf import CtrfReporter
from holdfast.reports.exchange import Shown
from holdfast.reports.junit import JunitReporter
from holdfast.reports.summary import MOST_BYTES, SummaryReporter, fence, summary
from holdfast.suites.selfcheck.reports import journals

every_journal = pytest.mark.parametrize(
    "journal",
    [journals.partial, journals.refused, journals.hostile, journals.large, journals.empty, journals.with_parts],
)

# What Jenkins' junit-10.xsd allows: element to (children, required attributes, optional attributes).
_OUTCOME: tuple[set[str], set[str], set[str]] = (set(), set(), {"type", "message"})
JUNIT: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name"},
        {"time", "classname", "group"},
    ),
    "failure": _OUTCOME,
    "error": _OUTCOME,
    "skipped": _OUTCOME,
    "system-out": (set(), set(), set()),
}


def junit(journal: Journal, folder: Path) -> ElementTree.Element:
    return ElementTree.parse(JunitReporter().render(journal, folder)).getroot()


def ctrf(journal: Journal, folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(CtrfReporter().render(journal, folder).read_text(encoding="utf-8"))
    return document


def allure(journal: Journal, folder: Path) -> list[dict[str, Any]]:
    path = AllureReporter().render(journal, folder)
    return [json.loads(each.read_text(encoding="utf-8")) for each in sorted(path.glob("*-result.json"))]


def statuses(journal: Journal) -> dict[str, Status]:
    """By id of a test."""
    rules = {exchange.id_of(each): each.status for each in view.rules(journal)}
    titles = {f"title: {each.name}": each.status for each in journal.standings}
    return titles | rules | {exchange.id_of(each): each.status for each in journal.cases}


def occurrences(journal: Journal, *outcomes: Shown) -> int:
    """How many tests have one of these outcomes."""
    return sum(test.outcome in outcomes for test in exchange.tests(journal))


@every_journal
def test_what_is_refuted_or_open_is_shown_or_names_the_test_that_shows_it(journal: Callable[[], Journal]) -> None:
    value = journal()
    tests = {test.id: test for test in exchange.tests(value)}
    shown = {name for name, test in tests.items() if test.outcome in (Shown.FAILED, Shown.UNDECIDED)}
    for name, status in statuses(value).items():
        if status in view.TROUBLE and name not in shown:
            message = tests[name].message
            _, _, other = message.partition(": same cause as ")
            assert other in shown, message
            assert statuses(value)[other] is status
    assert {name for name in shown if statuses(value)[name] not in view.TROUBLE} == set()


def test_one_defect_is_one_failure() -> None:
    value = journals.refused()
    refuted = [each for each in value.findings if each.status is Status.FAIL]
    failed = [test for test in exchange.tests(value) if test.outcome is Shown.FAILED]
    assert sum(len(each.rules) for each in refuted) > len(refuted)
    assert len(failed) == len(refuted)
    assert {test.message for test in failed} == {each.what for each in refuted}


@every_journal
def test_every_format_says_the_same_of_every_test(journal: Callable[[], Journal], tmp_path: Path) -> None:
    value = journal()
    words = {
        Shown.PASSED: ("", "passed", "passed"),
        Shown.FAILED: ("failure", "failed", "failed"),
        Shown.UNDECIDED: ("error", "other", "broken"),
        Shown.SKIPPED: ("skipped", "skipped", "skipped"),
    }
    tests = exchange.tests(value)
    by_tag = [
        next((each.tag for each in element if each.tag in ("failure", "error", "skipped")), "")
        for element in junit(value, tmp_path).iter("testcase")
    ]
    assert sorted(by_tag) == sorted(words[test.outcome][0] for test in tests)
    listed = {each["testId"]: each["status"] for each in ctrf(value, tmp_path)["results"]["tests"]}
    assert listed == {text.clean(test.id): words[test.outcome][1] for test in tests}
    kept = {each["fullName"]: each["status"] for each in allure(value, tmp_path)}
    assert kept == {text.clean(test.id): words[test.outcome][2] for test in tests}


def test_a_test_takes_what_its_runs_took() -> None:
    cases = journals.partial().cases
    timed = tuple(msgspec.structs.replace(case, wall_ms=10.0**number) for number, case in enumerate(cases))
    value = msgspec.structs.replace(journals.partial(), cases=timed)
    took = {exchange.id_of(case): case.wall_ms for case in value.cases}
    tests = {test.id: test for test in exchange.tests(value)}
    assert {name: tests[name].wall_ms for name in took} == took
    rule = next(name for case in value.cases for name in case.rules if name in tests)
    assert tests[rule].wall_ms == sum(case.wall_ms for case in value.cases if rule in case.rules) > 0


@every_journal
def test_junit_keeps_to_the_published_schema(journal: Callable[[], Journal], tmp_path: Path) -> None:
    root = junit(journal(), tmp_path)
    assert root.tag == "testsuites"
    for element in root.iter():
        children, required, optional = JUNIT[element.tag]
        assert {child.tag for child in element} <= children, element.tag
        assert required <= set(element.attrib) <= required | optional, element.tag
        if "time" in element.attrib:
            assert re.fullmatch(r"[0-9]+\.[0-9]{3}", element.attrib["time"])


@every_journal
def test_junit_counts_what_it_lists(journal: Callable[[], Journal], tmp_path: Path) -> None:
    value = journal()
    root = junit(value, tmp_path)
    for suite in root:
        tests = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(tests)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == sum(test.find(tag) is not None for test in tests)
    assert int(root.attrib["tests"]) == len(statuses(value))
    assert int(root.attrib["failures"]) == occurrences(value, Shown.FAILED)
    assert int(root.attrib["errors"]) == occurrences(value, Shown.UNDECIDED)
    assert len(root.findall(".//skipped")) == occurrences(value, Shown.SKIPPED)


def test_junit_names_a_test_once(tmp_path: Path) -> None:
    tests = junit(journals.large(), tmp_path).findall(".//testcase")
    assert len({(test.get("classname"), test.get("name")) for test in tests}) == len(tests)


def test_junit_tells_inconclusive_from_broken(tmp_path: Path) -> None:
    errors = junit(journals.refused(), tmp_path).findall(".//error")
    assert {error.get("type") for error in errors} == {"inconclusive", "harness-error"}
    assert all(error.get("message") for error in errors)


def test_junit_says_why_it_left_something_out(tmp_path: Path) -> None:
    skipped = junit(journals.partial(), tmp_path).findall(".//skipped")
    messages = [each.get("message") or "" for each in skipped]
    assert all(messages)
    assert any("issue 41" in message for message in messages)
    assert any("no Docker daemon" in message for message in messages)


@every_journal
def test_ctrf_keeps_to_the_published_schema(journal: Callable[[], Journal], tmp_path: Path) -> None:
    name = "ctrf-schema-0.0.json"
    schema = json.loads(resources.files("holdfast.suites.selfcheck.reports").joinpath(name).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(ctrf(journal(), tmp_path))


@every_journal
def test_ctrf_counts_what_it_lists(journal: Callable[[], Journal], tmp_path: Path) -> None:
    value = journal()
    results = ctrf(value, tmp_path)["results"]
    summary_of = results["summary"]
    assert summary_of["tests"] == len(results["tests"]) == len(statuses(value))
    assert summary_of["failed"] == occurrences(value, Shown.FAILED)
    assert summary_of["passed"] == occurrences(value, Shown.PASSED)
    assert summary_of["other"] == occurrences(value, Shown.UNDECIDED)
    assert sum(summary_of[each] for each in ("passed", "failed", "skipped", "pending", "other")) == len(
        results["tests"]
    )
    assert {test["rawStatus"] for test in results["tests"]} <= set(Status)


def test_ctrf_times_come_from_the_journal(tmp_path: Path) -> None:
    summary_of = ctrf(journals.partial(), tmp_path)["results"]["summary"]
    assert summary_of["start"] == 1_795_140_004_120
    assert summary_of["stop"] - summary_of["start"] == summary_of["duration"] == 412_600


@every_journal
def test_allure_has_what_the_format_requires(journal: Callable[[], Journal], tmp_path: Path) -> None:
    value = journal()
    results = allure(value, tmp_path)
    files = {each.name for each in (tmp_path / "allure-results").iterdir()}
    assert len(results) == len(statuses(value))
    assert len({result["historyId"] for result in results}) == len(results)
    sources: set[str] = set()
    for result in results:
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", result["uuid"])
        assert result["status"] in {"passed", "failed", "broken", "skipped"}
        assert result["stage"] == "finished"
        assert result["name"]
        assert result["fullName"]
        assert result["start"] <= result["stop"]
        labels = {label["name"] for label in result["labels"]}
        assert {"epic", "feature", "story", "suite", "severity", "framework", "tag"} <= labels
        assert {"system", "profile", "seed"} == {each["name"] for each in result["parameters"]} - {"tier"}
        for step in result["steps"]:
            assert result["start"] <= step["start"] <= step["stop"] <= result["stop"]
            sources |= {each["source"] for each in step["attachments"]}
    assert sources <= files
    others = {"categories.json", "environment.properties", "executor.json"}
    assert files == sources | others | {f"{result['uuid']}-result.json" for result in results}


def test_allure_carries_the_witness(tmp_path: Path) -> None:
    value = journals.refused()
    (result,) = [each for each in allure(value, tmp_path) if each["name"] == f"{journals.ALIGNMENT} on sim"]
    assert result["status"] == "failed"
    assert result["statusDetails"]["message"] == f"FAIL: {value.findings[0].what}"
    assert "CUT/record-after-barrier" in result["statusDetails"]["trace"]
    assert result["steps"][0]["status"] == "failed"
    attached = {each["type"]: each["source"] for step in result["steps"] for each in step["attachments"]}
    witness = (tmp_path / "allure-results" / attached["text/plain"]).read_text(encoding="utf-8")
    assert "3. sum[0] took its snapshot" in witness
    ElementTree.parse(tmp_path / "allure-results" / attached["image/svg+xml"])


def test_allure_recognises_a_case_from_night_to_night(tmp_path: Path) -> None:
    later = msgspec.structs.replace(journals.partial(), started="2026-11-21T02:00:04+00:00", seed=20261121)
    first, second = allure(journals.partial(), tmp_path), allure(later, tmp_path)
    assert {result["historyId"] for result in first} == {result["historyId"] for result in second}
    assert not {result["uuid"] for result in first} & {result["uuid"] for result in second}


def test_allure_properties_cannot_be_forged(tmp_path: Path) -> None:
    AllureReporter().render(msgspec.structs.replace(journals.partial(), claims="a\ntitle = CERTIFIED"), tmp_path)
    lines = (tmp_path / "allure-results" / "environment.properties").read_text(encoding="utf-8").splitlines()
    assert "claims=a title = CERTIFIED" in lines
    assert [line for line in lines if line.startswith("title")] == ["title=PARTIAL on sim, process"]


def test_the_summary_counts_and_replays(tmp_path: Path) -> None:
    written = SummaryReporter().render(journals.refused(), tmp_path).read_text(encoding="utf-8")
    assert written.startswith("# REFUSED, interrupted by SIGTERM: reference+A3\n")
    assert "| ✕ fail | 4 |" in written
    assert "| ✓ pass | 37 |" in written
    assert "**Interrupted by SIGTERM**" in written
    assert "- **refutes** BAR-03, BAR-05, E2E-02, REC-03" in written
    assert "\nPaste commands in the folder of this file.\n" in written
    assert "```text\nholdfast replay runs/barriers-alignment-sim-0040\n```" in written


def test_findings_stand_before_all_else_in_the_summary() -> None:
    headings = re.findall(r"^## (.*)", summary(journals.refused()), re.MULTILINE)
    assert [heading.partition(":")[0] for heading in headings] == [
        "✕ fail", "! error", "? inconclusive", "What was tried"
    ]  # fmt: skip
    long = msgspec.structs.replace(journals.side_by_side().certificate, missing=("it did not run",) * 100)
    assert len(summary(msgspec.structs.replace(journals.side_by_side(), certificate=long)).splitlines()) < 70


def test_the_summary_sends_who_has_code_of_his_own_to_its_place() -> None:
    (first, *_) = journals.refused().findings
    assert first.next is not None
    trusting = msgspec.structs.replace(first.next, options=("--trust",))
    value = msgspec.structs.replace(
        journals.refused(), findings=(msgspec.structs.replace(first, next=trusting),)
    )  # fmt: skip
    written = summary(value)
    assert "holdfast replay runs/barriers-alignment-sim-0040 --trust" in written
    assert "\nPaste commands where the code of the system is, " in written


def test_the_summary_always_fits() -> None:
    (first, *_) = journals.refused().findings
    huge = tuple(msgspec.structs.replace(first, what=f"{number} " + "ü" * 9_000) for number in range(158))
    written = summary(msgspec.structs.replace(journals.refused(), findings=huge))
    assert 900_000 < len(written.encode()) < MOST_BYTES
    assert "more findings did not fit here; see `report.html`." in written
    assert len(summary(journals.large()).encode()) < 20_000


def test_markdown_is_taken_as_text() -> None:
    assert text.markdown("a|b\n<b> *c* `d` [e](f) $g$") == r"a\|b \<b\> \*c\* \`d\` \[e\](f) \$g\$"
    assert fence("``` x") == "````text\n``` x\n````\n"
    table = [line for line in summary(journals.hostile()).splitlines() if line.startswith("|")]
    columns = [len(re.findall(r"(?<!\\)\|", line)) for line in table]
    assert set(columns) == {4, 8}


def test_a_rule_that_rests_on_the_word_of_the_system_says_so(tmp_path: Path) -> None:
    journal = journals.partial()
    rules = [
        msgspec.structs.replace(each, observed_by=("TXN/committed-early",)) if number % 2 else each
        for number, each in enumerate(journal.rules)
    ]
    journal = msgspec.structs.replace(journal, rules=tuple(rules))
    believed = {each.rule.id for each in view.rules(journal) if each.on_its_word}
    seen = {each.rule.id for each in view.rules(journal) if each.tiers and not each.on_its_word}
    assert believed
    assert seen
    noted = {
        case.get("name", "").partition(" ")[0]
        for case in junit(journal, tmp_path).iter("testcase")
        if ON_ITS_WORD in (case.findtext("system-out") or "")
    }
    assert noted == believed
    labelled = {
        test["testId"]: test["labels"].get("evidence")
        for test in ctrf(journal, tmp_path)["results"]["tests"]
        if test["type"] == "rule"
    }
    assert {rule for rule, evidence in labelled.items() if evidence == "on-its-word"} == believed
    assert {rule for rule, evidence in labelled.items() if evidence == "outside"} == seen
    tags = {
        label["value"].removesuffix(" on its word")
        for path in AllureReporter().render(journal, tmp_path).glob("*-result.json")
        for label in json.loads(path.read_text(encoding="utf-8"))["labels"]
        if label["name"] == "tag" and label["value"].endswith(" on its word")
    }
    of_any_subject = {each.rule.id for each in journal.rules if each.on_its_word}
    assert tags == of_any_subject & {rule for case in journal.cases for rule in case.rules}
