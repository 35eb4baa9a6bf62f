"""Each rule of a runtime is decided by a case of Flink, or the guide names it with the evidence that is missing."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.harness.engine.site.registry import rules
from holdfast.suites.conformance.flink import CASES

GUIDE = Path(__file__).parents[3] / "docs" / "real-flink.md"
_RULES = re.compile(r"(?P<area>[A-Z]{3})-(?P<first>\d\d)(?: to (?P=area)-(?P<last>\d\d))?")


def named() -> set[str]:
    """The rules in the table of the guide; `A-01 to A-03` are three."""
    table = GUIDE.read_text().partition("### What is not decided")[2].partition("## 3")[0]
    rows = (row.split("|")[1] for row in table.splitlines() if row.startswith("|"))
    return {
        f"{found['area']}-{number:02}"
        for row in rows
        for found in _RULES.finditer(row)
        for number in range(int(found["first"]), int(found["last"] or found["first"]) + 1)
    }


def test_the_guide_names_what_no_case_decides() -> None:
    decided = {decision.rule for case in CASES for decision in case.decides}
    of_runtimes = {rule.id for rule in rules() if "RT" in rule.subjects}
    assert len(of_runtimes) == 118
    assert named() == of_runtimes - decided
