"""The commands that the files of a report name, as a reader finds them there."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

_NEXT = re.compile(r"^next  (.*)$", re.MULTILINE)


def commands_by_file(report: Path) -> dict[str, list[str]]:
    """By file of a report, the command of each finding in its order; Allure has one file a test, so it is sorted."""
    page = (report / "report.html").read_text()
    shown = re.findall(r'<dt>Next</dt><dd><div class="replay"><code>(.*?)</code>', page)
    fenced = r"^Next:\n\n```text\n(.*?)\n```"
    failures = [
        each.text or ""
        for test in ElementTree.parse(report / "junit.xml").getroot().iter("testcase")
        for each in (*test.iter("failure"), *test.iter("error"))
    ]
    tests = json.loads((report / "ctrf.json").read_text())["results"]["tests"]
    results = [json.loads(each.read_text()) for each in (report / "allure-results").glob("*-result.json")]
    return {
        "report.html": [html.unescape(each) for each in shown],
        "summary.md": re.findall(fenced, (report / "summary.md").read_text(), re.MULTILINE),
        "junit.xml": [command for each in failures for command in _NEXT.findall(each)],
        "ctrf.json": [each["extra"]["replay"] for each in tests if each["status"] == "failed"],
        "allure-results": sorted(
            command for each in results for command in _NEXT.findall(each.get("statusDetails", {}).get("trace", ""))
        ),
    }


def paste(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell, in a folder, where `holdfast` is installed as it is here."""
    surroundings = dict(os.environ)  # noqa: TID251 - those of the user
    surroundings["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), surroundings["PATH"]))
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
