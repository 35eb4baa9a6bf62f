"""Traces record and models predict: only an oracle, or a file that decides some of its clauses, reports violations."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.harness import oracles
from holdfast.suites.selfcheck.source_files import source_files

HOME = Path(oracles.__file__).parent
THE_COLLECTOR = "findings.py"
SILENT = ("_trace.py", "_model.py")
"""How the files end that record or predict."""


def reporters(sources: Mapping[str, str]) -> set[str]:
    """The files, by the source of each, in which a violation is or can be reported."""
    return {
        name
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Attribute) and node.attr == "violated")
        or (isinstance(node, ast.Name) and node.id == "Findings")
    }


def strays(sources: Mapping[str, str]) -> set[str]:
    """Those of them that must not report violations: traces, models, and what belongs to no area."""
    return {
        name
        for name in reporters(sources)
        if name != THE_COLLECTOR and (name.endswith(SILENT) or name.startswith("shared/") or "/" not in name)
    }


def test_only_oracles_and_their_clauses_report_violations() -> None:
    sources = dict(source_files(below=HOME))
    assert any(name.endswith(SILENT) for name in sources)
    assert "barriers/cut.py" in reporters(sources)
    assert strays(sources) == set()


@pytest.mark.parametrize(
    ("name", "source", "stray"),
    [
        ("barriers/channel_trace.py", "self.findings.violated('clause', 'message')", True),
        ("barriers/channel_trace.py", "def judge(findings: Findings) -> None: ...", True),
        ("barriers/channel_trace.py", "replay(history, handlers)", False),
        ("coordinator/coordinator_model.py", "findings.violated('clause', 'message')", True),
        ("shared/stalls.py", "findings.violated('clause', 'message')", True),
        ("barriers/blocking.py", "findings.violated('clause', 'message')", False),
    ],
)
def test_a_trace_that_reports_a_violation_is_found(name: str, source: str, stray: bool) -> None:
    assert strays({name: source}) == ({name} if stray else set())
