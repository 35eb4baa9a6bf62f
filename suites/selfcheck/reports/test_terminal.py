"""The terminal's summary is narrow, readable without colour, and ends with the title."""

from __future__ import annotations

import io
from collections.abc import Callable

import msgspec
import pytest
from rich.console import Console

from holdfast.harness.model.journal import Journal, Recovery, Status, Title
from holdfast.harness.model.title import Scope
from holdfast.reports import verdict, view
from holdfast.reports.terminal import SHOWN_RECOVERIES, render_summary
from holdfast.suites.selfcheck.reports import journals


def said(journal: Journal, *, width: int = 80, verbose: bool = False, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding=encoding), width=width, color_system=None)
    render_summary(journal, console, verbose, "holdfast-out/report.html")
    console.file.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("journal", [journals.with_parts, journals.refused, journals.large, journals.empty])
@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("verbose", [False, True])
def test_lines_keep_to_the_width(journal: Callable[[], Journal], width: int, verbose: bool) -> None:
    for line in said(journal(), width=width, verbose=verbose).splitlines():
        assert len(line.rstrip()) <= width, line


def test_areas_are_counted() -> None:
    value = journals.refused()
    lines = said(value).splitlines()
    assert lines[0].split() == ["Area", "Title", "Rules", "pass", "n/a", "untested", "error", "FAIL"]
    for area in view.areas(value):
        if set(area.counts) <= {Status.UNTESTED, Status.NOT_APPLICABLE}:
            continue
        line = next(line for line in lines if line.startswith(f"{area.code} "))
        numbers = [area.counts[status] for status in Status if status in area.counts]
        assert [int(word) for word in line.split()[-len(numbers) - 1 :]] == [len(area.rules), *numbers]


def test_parts_have_titles_of_their_own() -> None:
    shown = " ".join(said(journals.with_parts()).split())
    assert "CERTIFIED state backend: 24 of 24 MUST rules decided; of 1 part tried by itself, 1 certified" in shown
    assert "REFUSED sink: 16 of 17 MUST rules decided; of 1 part tried by itself, 0 certified - 1 MUST rule is" in shown
    assert shown.index("REFUSED sink") < shown.index("PARTIAL on sim, process reference")


def test_rules_are_counted_by_area_and_listed_on_request() -> None:
    shown = said(journals.refused())
    assert "CFG " not in shown
    assert "CFG-01" not in shown
    assert "CFG-01" in said(journals.refused(), verbose=True)


def test_a_finding_is_shown_whole() -> None:
    shown = said(journals.refused())
    assert "✕ FAIL  BAR-03, BAR-05, E2E-02, REC-03\n" in shown
    at = shown.index("  what  Wrong output: Key 17 ends with count 312, one more than was sent:")
    lines = [line[:8] for line in shown[at:].splitlines() if not line.startswith("        ")]
    assert lines[:6] == ["  what  ", "  when  ", "  why   ", "  next  ", "  then  ", "  seen  "]
    assert "\n  next  holdfast replay 2026-11-20-020004/runs/barriers-alignment-sim-0040\n" in shown
    assert "! ERROR  INC-0" in shown
    assert "? INCONCLUSIVE  " in shown


def test_a_command_is_named_from_where_the_report_is_named() -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    render_summary(journals.refused(), console, report="out/2026-11-20-020004/report.html")
    assert isinstance(console.file, io.StringIO)
    wanted = "  next  holdfast replay out/2026-11-20-020004/runs/barriers-alignment-sim-0040\n"
    assert wanted in console.file.getvalue()


def test_recoveries_are_told_by_fault() -> None:
    shown = " ".join(said(journals.side_by_side()).split())
    assert "recovery from kill executor on tier spark: reference median 1.27 s, p95 1.55 s (n = 9); spark" in shown
    assert "recovery from" not in said(journals.refused())


def test_of_many_recoveries_the_first_are_told_and_the_others_counted() -> None:
    told = tuple(Recovery(number, f"kill {number}", "worker 0", None, 1.0) for number in range(SHOWN_RECOVERIES + 2))
    value = journals.side_by_side()
    value = msgspec.structs.replace(value, runs=(msgspec.structs.replace(value.runs[0], recoveries=told),))
    assert said(value).count("recovery from") == SHOWN_RECOVERIES
    assert "and from 2 more faults\n" in said(value)
    assert said(value, verbose=True).count("recovery from") == SHOWN_RECOVERIES + 2


def test_the_title_comes_last() -> None:
    shown = said(journals.partial())
    tail = shown[shown.index("PARTIAL on sim, process  reference, 2,978 runs, seed 20261120") :]
    assert "- 77 MUST rules are untested." in tail
    assert "- and 1 more\n" in tail
    assert tail.endswith("Report: holdfast-out/report.html\n")
    assert "and 1 more" not in said(journals.partial(), verbose=True)
    assert "certified" not in shown.lower()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("verbose", [False, True])
def test_a_poor_terminal_is_no_reason_to_fail(encoding: str, verbose: bool) -> None:
    shown = said(journals.refused(), encoding=encoding, verbose=verbose)
    assert "x FAIL  BAR-03, BAR-05" in shown


def test_control_characters_do_not_reach_the_terminal() -> None:
    shown = said(journals.hostile(), verbose=True)
    assert "\x1b" not in shown
    assert "\x00" not in shown


def test_windows_are_shown_and_those_never_hit_come_first() -> None:
    value = journals.refused()
    hits = {"kill worker before commit": 9, **{f"window {number}": number for number in range(1, 8)}, "sent-again": 6}
    card = msgspec.structs.replace(value.certificate, windows_hit=hits, windows_missed=("a rare one", "read-again"))
    value = msgspec.structs.replace(value, certificate=card)
    shown = " ".join(said(value).split())
    assert "windows that no run hit: read-again, a rare one; windows hit: sent-again in 6 runs, kill worker" in shown
    assert "before commit in 9, window 7 in 7, window 6 in 6, window 5 in 5, window 4 in 4, and 3 more" in shown
    assert "window 1 in 1" in " ".join(said(value, verbose=True).split())
    assert "windows" not in said(journals.empty())


def test_cases_that_do_not_apply_are_one_line() -> None:
    value = journals.refused()
    first, *others = value.cases
    absent = [
        msgspec.structs.replace(first, case=name, status=Status.NOT_APPLICABLE)
        for name in ("samples/one", "samples/two", f"{first.case.partition('/')[0]}/one")
    ]
    shown = " ".join(said(msgspec.structs.replace(value, cases=(first, *others, *absent))).split())
    total = len(value.cases) + 3
    assert f"3 of {total} cases do not apply to this system, among them all of 1 area" in shown
    assert "apply to this system" not in said(value)


def test_a_finding_that_refutes_no_rule_is_explained() -> None:
    value = journals.refused()
    rules = tuple(msgspec.structs.replace(each, status=Status.UNTESTED) for each in value.rules)
    shown = " ".join(said(msgspec.structs.replace(value, rules=rules)).split())
    assert " outside the rules of the catalogue: of " in shown
    assert "outside the rules" not in " ".join(said(value).split())


@pytest.mark.parametrize(
    ("decided", "words"), [(False, "Nothing was refuted, and too little ran"), (True, "Nothing was refuted: of")]
)
def test_where_too_little_ran_to_decide_a_rule_the_verdict_says_so(decided: bool, words: str) -> None:
    value = journals.partial()
    card = msgspec.structs.replace(value.certificate, title=Title.INCONCLUSIVE)
    left = () if decided else (Status.PASS, Status.INCONCLUSIVE, Status.ERROR)
    rules = tuple(
        msgspec.structs.replace(each, status=Status.UNTESTED) if each.status in left else each for each in value.rules
    )
    shown = " ".join(said(msgspec.structs.replace(value, certificate=card, rules=rules)).split())
    assert words in shown


def test_a_system_that_was_not_run_is_named_so() -> None:
    value = journals.partial()
    card = msgspec.structs.replace(value.certificate, title=Title.INCONCLUSIVE)
    tiers = tuple(msgspec.structs.replace(each, ran=False, reason="the time limit was reached") for each in value.tiers)
    shown = " ".join(said(msgspec.structs.replace(value, certificate=card, tiers=tiers)).split())
    assert "The system under test was not run, so nothing is decided: of " in shown


def test_a_quick_certificate_says_what_a_thorough_one_adds() -> None:
    card = journals.partial().certificate
    said_of_it = (
        "Quick: the cheapest cases that decide every rule. --thorough adds 161 cases (54 on sim, 107 on process)"
    )
    assert verdict.scope_sentence(card) == f"{said_of_it}, 7 min 26 s of runs."
    assert said_of_it.partition(".")[0] in said(journals.partial())
    narrowed = msgspec.structs.replace(card, scope=Scope.NARROWED, left_out=())
    assert verdict.scope_sentence(narrowed) == "Narrowed to the rules and areas that were named."
    assert verdict.scope_sentence(msgspec.structs.replace(narrowed, scope=Scope.THOROUGH)) == ""
