"""What CI servers read, once for a whole night: the files beside each certificate, put together.

The history of Allure is computed from the results of the nights before, so that its trends need no earlier report.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.model.night import LatestNight, Night
from holdfast.reports import text
from holdfast.reports.files import replace_folder, write_file

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
        lasted = text.whole(night.duration_s * 1_000)
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
