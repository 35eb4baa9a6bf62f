"""What CI servers read or show of a whole night: the files beside each certificate, put together, and `summary.md`.

The history of Allure is computed from the results of the nights before, so that its trends need no earlier report.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.model.night import LatestNight, Night, NightFinding
from holdfast.harness.model.units import duration
from holdfast.reports import text
from holdfast.reports.files import replace_folder, write_file
from holdfast.reports.finding import paste
from holdfast.reports.summary import fence

MOST_HISTORY = 20
"""As many as Allure shows."""
_COUNTED = ("tests", "failures", "errors")
_ALLURE = ("failed", "broken", "skipped", "passed", "unknown")


class NightJunitReporter:
    """The suites of every certificate, each under the name of its system."""

    name = "junit"
    shows = LatestNight
    writes = "junit.xml"

    def render(self, latest: LatestNight, folder: Path) -> Path:
        root = ElementTree.Element("testsuites", name=f"Holdfast: night {text.clean(latest.night.name)}")
        totals: Counter[str] = Counter()
        for system, path in _files(latest.night, folder, self.writes):
            for suite in ElementTree.parse(path).getroot():
                suite.set("name", text.one_line(f"{system}: {suite.get('name', '')}"))
                totals.update({name: int(suite.get(name, "0")) for name in _COUNTED})
                root.append(suite)
        for name in _COUNTED:
            root.set(name, str(totals[name]))
        written = ElementTree.tostring(root, encoding="unicode")
        return write_file(folder / self.writes, f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n')


class NightCtrfReporter:
    """The tests of every certificate, each suite under the name of its system."""

    name = "ctrf"
    shows = LatestNight
    writes = "ctrf.json"

    def render(self, latest: LatestNight, folder: Path) -> Path:
        night = latest.night
        reports = [
            (system, msgspec.json.decode(path.read_bytes())) for system, path in _files(night, folder, self.writes)
        ]
        tests = [
            {**test, "suite": [text.clean(system), *test["suite"]]}
            for system, report in reports
            for test in report["results"]["tests"]
        ]
        start = text.epoch_milliseconds(night.started)
        lasted = text.whole_number(night.duration_s * 1_000)
        head = reports[0][1] if reports else {"reportFormat": "CTRF", "generatedBy": "holdfast"}
        statuses = ("passed", "failed", "skipped", "pending", "other")
        results = {
            "tool": {"name": "holdfast", "version": text.clean(night.versions.get("holdfast", ""))},
            "summary": {
                "tests": len(tests),
                **{status: sum(test["status"] == status for test in tests) for status in statuses},
                "suites": len({tuple(test["suite"]) for test in tests}),
                "start": start,
                "stop": start + lasted,
                "duration": lasted,
            },
            "tests": tests,
            "environment": {"reportName": text.clean(f"Holdfast night {night.name}"), "extra": {"seed": night.seed}},
        }
        return write_file(folder / self.writes, _json({**head, "results": results}))


class NightAllureReporter:
    """The results of every certificate, with the history of the nights before."""

    name = "allure"
    shows = LatestNight
    writes = "allure-results"

    def render(self, latest: LatestNight, folder: Path) -> Path:
        """Replace `allure-results/` as a whole; its folder `history` lies beside it until Allure reads both."""
        contents: dict[str, str] = {}
        for _, path in _files(latest.night, folder, self.writes):
            contents.update({each.name: each.read_text(encoding="utf-8") for each in path.iterdir() if each.is_file()})
        written = replace_folder(folder / self.writes, contents)
        replace_folder(written / "history", _history(latest.nights, folder))
        return written


def _files(night: Night, folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """What the reporters of certificates wrote, by system."""
    for system in night.systems:
        path = folder / system.folder / name
        if path.exists():
            yield system.system, path


def _history(nights: Sequence[Night], folder: Path) -> dict[str, str]:
    """In the format that Allure 2 writes into `history/` of a report and reads from there."""
    trend: list[dict[str, Any]] = []
    cases: dict[str, list[dict[str, Any]]] = {}
    for order, night in list(enumerate(nights[:-1], start=1))[-MOST_HISTORY:]:
        counts: Counter[str] = Counter()
        for result in _allure_results(night, folder.parent / night.name):
            status = str(result["status"])
            counts[status] += 1
            item = {"uid": result["uuid"], "status": status, "time": {"start": result["start"], "stop": result["stop"]}}
            cases.setdefault(str(result["historyId"]), []).append(item)
        if counts:
            data = {status: counts[status] for status in _ALLURE} | {"total": counts.total()}
            trend.append({"buildOrder": order, "reportName": text.clean(f"night {night.name}"), "data": data})
    history = {name: {"statistic": _statistic(items), "items": items[::-1]} for name, items in sorted(cases.items())}
    return {"history-trend.json": _json(trend[::-1]), "history.json": _json(history)}


def _statistic(items: Sequence[dict[str, Any]]) -> dict[str, int]:
    counts = Counter(str(item["status"]) for item in items)
    return {status: counts[status] for status in _ALLURE} | {"total": len(items)}


def _allure_results(night: Night, folder: Path) -> Iterator[dict[str, Any]]:
    for _, path in _files(night, folder, NightAllureReporter.writes):
        for file in sorted(path.glob("*-result.json")):
            yield msgspec.json.decode(file.read_bytes(), type=dict[str, Any])


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


class NightSummaryReporter:
    """Each system in a line of a table, then each finding with its command."""

    name = "summary"
    shows = LatestNight
    writes = "summary.md"

    def render(self, latest: LatestNight, folder: Path) -> Path:
        return write_file(folder / self.writes, "".join(_lines(latest.night)))


def _lines(night: Night) -> Iterator[str]:
    yield f"# Night {text.markdown(night.name)}\n\n"
    took = duration(night.duration_s * 1_000)
    yield f"Seed {night.seed}, started {text.moment(night.started)}, took {took}.\n\n"
    if night.interrupted:
        yield f"**Interrupted by {text.markdown(night.interrupted)}**: this is what was found until then.\n\n"
    yield "| System | Certificate | Runs | Inconclusive | Findings | Waived |\n"
    yield "| --- | --- | ---: | ---: | ---: | ---: |\n"
    for system in night.systems:
        failing = sum(each.counts for each in system.findings)
        numbers = (system.total_runs, system.inconclusive_runs, failing, len(system.findings) - failing)
        cells = (text.markdown(system.system), system.heading, *map(text.count, numbers))
        yield f"| {' | '.join(cells)} |\n"
    yield from (f"\n{text.markdown(sentence)}\n" for sentence in night.expired)
    found = [finding for system in night.systems for finding in system.findings]
    if where := paste(finding.next for finding in found if finding.next):
        yield f"\n{where}\n"
    yield from map(_finding, found)
    yield "\nThe page is `report.html`; every number is in `night.json`.\n"


def _finding(finding: NightFinding) -> str:
    head = f"\n## {text.markdown(str(finding.signature))}\n\n{text.markdown(finding.what)}\n\n"
    again = f", again in {finding.reruns}" if finding.reruns is not None else ""
    lines = [head, f"Seen in {text.plural(finding.runs, 'run')}{again}.\n"]
    if finding.waived is not None:
        words = "The waiver expired on" if finding.waived.expired else "Waived until"
        lines.append(f"\n{words} {finding.waived.expires}: {text.markdown(finding.waived.reason)}\n")
    if finding.next:
        lines.append(f"\n{fence(finding.next)}")
    return "".join(lines)
