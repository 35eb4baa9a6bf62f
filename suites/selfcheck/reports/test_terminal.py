"""The terminal's summary is narrow, short, readable without colour, and begins with the title."""

from __future__ import annotations

import io
from collections.abc import Callable

import msgspec
import pytest
from rich.console import Console

from holdfast.harness.model.certificate import Scope
from holdfast.harness.model.journal import Journal, Status, Title, Usage
from holdfast.reports import verdict, view
from holdfast.reports.terminal import LISTED_FINDINGS, SHOWN_FINDINGS, render_summary
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
    assert "Area " not in said(value)
    lines = said(value, verbose=True).splitlines()
    lines = lines[next(at for at, line in enumerate(lines) if line.startswith("Area ")) :]
    assert lines[0].split() == ["Area", "Title", "Rules", "pass", "n/a", "untested", "error", "FAIL"]
    for area in view.areas(value):
        if set(area.counts) <= {Status.UNTESTED, Status.NOT_APPLICABLE}:
            continue
        line = next(line for line in lines if line.startswith(f"{area.code} "))
        numbers = [area.counts[status] for status in Status if status in area.counts]
        assert [int(word) for word in line.split()[-len(numbers) - 1 :]] == [len(area.rules), *numbers]


def test_parts_have_titles_of_their_own() -> None:
    shown = " ".join(said(journals.with_parts()).split())
    assert "CERTIFIED state backend: 24 of 24 MUST rules decided, 1 of 1 part certified" in shown
    assert "REFUSED sink: 16 of 17 MUST rules decided, 0 of 1 part certified - 1 MUST rule is" in shown
    assert shown.index("REFUSED sink") > shown.index("PARTIAL on sim, process reference")


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


def test_recoveries_are_told_by_fault_on_request() -> None:
    shown = " ".join(said(journals.side_by_side(), verbose=True).split())
    assert "recovery from kill executor on tier spark: reference median 1.27 s, p95 1.55 s (n = 9); spark" in shown
    assert "recovery from" not in said(journals.side_by_side())
    assert " recovery time" in said(journals.side_by_side())


@pytest.mark.parametrize(
    "journal", [journals.with_parts, journals.partial, journals.side_by_side, journals.large, journals.empty]
)
@pytest.mark.parametrize("width", [80, 120])
def test_without_findings_it_has_thirty_lines_at_most(journal: Callable[[], Journal], width: int) -> None:
    value = msgspec.structs.replace(journal(), findings=())
    lines = said(value, width=width).splitlines()
    assert len(lines) <= 30, "\n".join(lines)


def test_everything_that_there_is_to_say_has_thirty_lines_at_most() -> None:
    value = journals.with_parts()
    long = "and so on, for as long as a sentence may be that a machine makes of what many cases have in common, " * 3
    card = msgspec.structs.replace(
        value.certificate,
        missing=tuple(f"{number}: {long}" for number in range(9)),
        windows_missed=tuple(f"window {number}" for number in range(50)),
    )
    value = msgspec.structs.replace(value, certificate=card, findings=(), interrupted="SIGTERM")
    lines = said(value).splitlines()
    assert len(lines) <= 30, "\n".join(lines)
    assert "- and 6 more" in " ".join(lines)
    assert "window 0, window 1, window 10 and 47 more" in " ".join(" ".join(lines).split())


def test_verdict_then_findings_then_what_was_not_tried_then_the_report() -> None:
    shown = said(journals.refused())
    order = [
        "REFUSED, interrupted by SIGTERM  reference",
        "✕ FAIL  BAR-03",
        "? INCONCLUSIVE  ",
        "\nNot tried\n",
        "or with --verbose",
        "\nReport: ",
    ]
    at = [shown.index(each) for each in order]
    assert at == sorted(at)
    assert shown.startswith("REFUSED")
    assert shown.endswith("Report: holdfast-out/report.html\n")


def test_of_many_findings_the_worst_are_whole_and_the_others_a_line_each() -> None:
    value = journals.refused()
    worst = value.findings[0]
    value = msgspec.structs.replace(value, findings=(worst,) * (SHOWN_FINDINGS + LISTED_FINDINGS + 2))
    lines = said(value).splitlines()
    assert sum(line.startswith("  what  ") for line in lines) == SHOWN_FINDINGS
    listed = [line for line in lines if line.startswith("✕ FAIL  BAR-03: Wrong output: ")]
    assert len(listed) == LISTED_FINDINGS
    assert "and 2 more findings" in lines
    assert said(value, verbose=True).count("  what  ") == len(value.findings)


def test_what_keeps_it_from_being_certified_is_listed() -> None:
    shown = said(journals.partial())
    assert shown.startswith("PARTIAL on sim, process  reference, 2,978 runs, seed 20261120\n")
    assert "- 51 MUST rules are untested." in shown
    assert "- and 2 more\n" in shown or "- and 1 more\n" in shown
    assert "- and " not in said(journals.partial(), verbose=True)
    assert "certified" not in shown.lower()


def test_tiers_that_were_not_chosen_are_one_line() -> None:
    value = journals.partial()
    tiers = tuple(
        msgspec.structs.replace(each, ran=False, reason=f"tier {each.tier} was not chosen") for each in value.tiers
    )
    shown = said(msgspec.structs.replace(value, tiers=tiers))
    assert f"- {', '.join(each.tier for each in tiers)}: tiers that were not chosen\n" in shown


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
    shown = " ".join(said(value, verbose=True).split())
    assert "- windows that no run hit: read-again, a rare one" in shown
    assert "windows hit: sent-again in 6 runs, kill worker before commit in 9, window 7 in 7, window 6 in 6" in shown
    assert "windows that no run hit" in said(value)
    assert "windows hit" not in said(value)
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


def test_what_it_needed_of_the_machine_is_said_at_the_end() -> None:
    used = msgspec.structs.replace(journals.partial(), duration_s=112.0, usage=Usage(190.0, 1_945.6))
    words = "It took 1 min 52 s and 3 min 10 s of processor time, at most 1.9 GiB of memory."
    assert verdict.usage_sentence(used) == words
    assert words.partition(",")[0] in said(used)
    assert verdict.usage_sentence(msgspec.structs.replace(used, usage=Usage(190.0, 0.0))).endswith("processor time.")
    assert verdict.usage_sentence(journals.partial()) == ""


def test_a_quick_certificate_says_what_a_thorough_one_adds() -> None:
    journal = journals.partial()
    card = journal.certificate
    said_of_it = (
        "Quick: the cheapest cases that decide every rule. --thorough adds 161 cases (54 on sim, 107 on process)"
    )
    assert verdict.scope_sentence(journal) == f"{said_of_it}, 7 min 26 s of runs."
    subjects = msgspec.structs.replace(journal, subjects=journals.with_parts().subjects)
    assert "every rule, and fewer random programs of kits. --thorough" in verdict.scope_sentence(subjects)
    assert said_of_it.partition(".")[0] in said(journals.partial())
    narrowed = msgspec.structs.replace(card, scope=Scope.NARROWED, left_out=())
    named = msgspec.structs.replace(journal, certificate=narrowed)
    assert verdict.scope_sentence(named) == "Narrowed to the rules and areas that were named."
    whole = msgspec.structs.replace(narrowed, scope=Scope.THOROUGH)
    assert verdict.scope_sentence(msgspec.structs.replace(journal, certificate=whole)) == ""
