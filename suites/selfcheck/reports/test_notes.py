"""What an oracle tells beside its anomalies reaches the reader, once, and not as a failure."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from holdfast.harness.model.journal import Journal, RunResult, Status
from holdfast.harness.model.verdict import CRASHED, Outcome, Verdict
from holdfast.harness.spi.reporter import AnyReporter
from holdfast.reports import notes
from holdfast.reports.allure import AllureReporter
from holdfast.reports.ctrf import CtrfReporter
from holdfast.reports.html import page
from holdfast.reports.junit import JunitReporter
from holdfast.reports.summary import summary
from holdfast.reports.terminal import render_summary
from holdfast.suites.selfcheck.reports import journals
from holdfast.suites.selfcheck.reports.sample import refutation, run

MACHINES: dict[str, AnyReporter] = {"junit": JunitReporter(), "ctrf": CtrfReporter(), "allure": AllureReporter()}
ENDLESS = "restarts do not end: record 59 of partition 0 makes source[0] fail on every attempt"
LATE = "the run ended before key 7 was told again"


def passing(number: int, *information: str, case: str = journals.ALIGNMENT) -> RunResult:
    verdict = Verdict("COUNT", Outcome.PASS, checked={"attempt-not-counted": 1}, information=information)
    return run(case, number, verdicts=(verdict,))


def undecided(reason: str, checked: dict[str, int], run_reason: str = "") -> RunResult:
    verdict = Verdict("NOLOSS", Outcome.INCONCLUSIVE, checked=checked, reason=reason)
    return run(journals.DELIVERY, 5, outcome=Outcome.INCONCLUSIVE, reason=run_reason, verdicts=(verdict,))


def with_runs(*runs: RunResult) -> Journal:
    return msgspec.structs.replace(journals.partial(), runs=runs, findings=())


def shown(journal: Journal) -> dict[str, str]:
    """What each reporter says, without line breaks and markup of Markdown."""
    console = Console(file=io.StringIO(), width=80, color_system=None)
    render_summary(journal, console, verbose=True)
    assert isinstance(console.file, io.StringIO)
    says = {"html": page(journal), "markdown": summary(journal), "terminal": console.file.getvalue()}
    return {name: " ".join(words.split()).replace("\\", "") for name, words in says.items()}


@pytest.mark.parametrize("reporter", ["html", "markdown", "terminal"])
def test_who_reached_into_a_run_is_told(reporter: str) -> None:
    reached = msgspec.structs.replace(passing(1), refused_connections=3)
    assert "3 connections from outside of the run: refused" in shown(with_runs(reached))[reporter]
    assert "from outside of the run" not in shown(with_runs(passing(1)))[reporter]


@pytest.mark.parametrize("reporter", ["html", "markdown", "terminal"])
def test_a_note_is_told_by_every_reporter_for_people(reporter: str) -> None:
    assert ENDLESS in shown(with_runs(passing(1, ENDLESS)))[reporter]
    assert "Noted" not in shown(with_runs(passing(1)))[reporter]
    assert "NOTED" not in shown(with_runs(passing(1)))[reporter]


@pytest.mark.parametrize("reporter", ["html", "markdown", "terminal"])
def test_an_oracle_is_called_by_its_title_beside_its_name(reporter: str) -> None:
    journal = with_runs(passing(1, ENDLESS))
    assert "restarts allowed (COUNT)" in shown(journal)[reporter]
    untitled = msgspec.structs.replace(journal, oracle_titles={})
    assert "COUNT" in shown(untitled)[reporter]
    assert "restarts allowed" not in shown(untitled)[reporter]


@pytest.mark.parametrize("reporter", ["html", "markdown", "terminal"])
def test_what_an_oracle_could_not_decide_is_told(reporter: str) -> None:
    assert LATE in shown(with_runs(undecided(LATE, {"lost": 1})))[reporter]


@pytest.mark.parametrize(("reporter", "file"), [("junit", "junit.xml"), ("ctrf", "ctrf.json"), ("allure", "")])
def test_a_note_stands_with_its_case_in_every_report_for_machines(reporter: str, file: str, tmp_path: Path) -> None:
    def written(*runs: RunResult) -> str:
        path = MACHINES[reporter].render(with_runs(*runs), tmp_path)
        files = [tmp_path / file] if file else sorted(path.glob("*-result.json"))
        return "".join(each.read_text(encoding="utf-8") for each in files).replace("\\", "")

    assert ENDLESS not in written(passing(1))
    assert written(passing(1, ENDLESS), passing(2, ENDLESS)).count(ENDLESS) == 1
    assert LATE in written(undecided(LATE, {"lost": 1}))
    assert "restarts allowed (COUNT): restarts do not end" in written(passing(1, ENDLESS))


def test_notes_of_a_negative_control_do_not_stand_with_it() -> None:
    case = next(case for case in journals.partial().cases if case.status is Status.PASS)
    noted = run(case.case, 1, outcome=Outcome.FAIL, verdicts=passing(1, ENDLESS).verdicts)
    assert notes.of_case(case, [noted], {}) == ()
    assert len(notes.of_case(case, [msgspec.structs.replace(noted, outcome=Outcome.PASS)], {})) == 1


def test_notes_that_differ_in_numbers_and_lists_alone_are_told_once() -> None:
    lost = "7 records are lost: offset 1, offset 2"
    journal = with_runs(passing(1, ENDLESS), passing(2, ENDLESS.replace("source", "sum")), passing(3, lost))
    listed = notes.notes(journal)
    assert [(note.words, len(note.runs)) for note in listed] == [(ENDLESS, 2), (lost, 1)]
    assert listed[0].shown_in == "run barriers-alignment-sim-0001 and 1 more"


def test_an_oracle_with_many_notes_hides_no_other() -> None:
    many = [passing(number, *("a: x", "b: x", "c: x")) for number in range(3)]
    other = run(journals.DELIVERY, 9, verdicts=(Verdict("LIVE", Outcome.PASS, information=("d",)),))
    listed = notes.notes(with_runs(*many, other))
    assert [(note.oracle, note.words) for note in listed[:2]] == [("COUNT", "a: x"), ("LIVE", "d")]
    assert len(listed) == 4


def test_what_was_found_is_not_said_again_where_an_oracle_could_not_decide_for_that_reason() -> None:
    said = ("stalled: 2 records", "late rows")
    exact = Verdict("EXACT", Outcome.INCONCLUSIVE, checked={"lost": 1}, reason="stalled", information=said)
    found = run(journals.DELIVERY, 9, verdicts=(exact, Verdict("NOLOSS", Outcome.PASS, information=said[:1])))
    assert [(note.oracle, note.words) for note in notes.of_run(found, {})] == [
        ("EXACT", "stalled"), ("EXACT", "late rows"), ("NOLOSS", "stalled: 2 records")
    ]  # fmt: skip


def test_an_oracle_that_had_nothing_to_decide_is_no_note_and_one_that_crashed_is() -> None:
    idle = undecided("the history holds nothing that this oracle could decide", {})
    crashed = undecided(f"{CRASHED} KeyError: 7", {})
    assert (notes.notes(with_runs(idle)), notes.idle(idle, {})) == ((), ("NOLOSS",))
    assert [note.label for note in notes.notes(with_runs(crashed))] == [
        "at-least-once output (NOLOSS) could not decide"
    ]
    assert notes.idle(crashed, {}) == ()


def test_what_the_run_itself_says_is_not_said_again_beside_it() -> None:
    assert notes.of_run(undecided(LATE, {"lost": 1}, run_reason=f"NOLOSS: {LATE}"), {}) == ()
    assert len(notes.of_run(undecided(LATE, {"lost": 1}, run_reason="faults[0] (kill) never acted"), {})) == 1


def test_notes_of_a_run_that_was_to_be_refuted_are_left_out() -> None:
    verdicts = (*refutation(), *passing(1, ENDLESS).verdicts)
    control = run("barriers/no-alignment", 1, outcome=Outcome.FAIL, verdicts=verdicts)
    assert notes.notes(with_runs(control)) == ()
    assert len(notes.notes(with_runs(msgspec.structs.replace(control, outcome=Outcome.PASS)))) == 1


@pytest.mark.parametrize("reporter", ["html", "markdown", "terminal"])
def test_notes_of_a_run_in_trouble_stand_with_the_trouble(reporter: str) -> None:
    refused = journals.refused()
    index = next(index for index, each in enumerate(refused.runs) if each.id == "barriers-alignment-sim-0040")
    listed = msgspec.structs.replace(
        refused.runs[index], verdicts=(*refused.runs[index].verdicts, *passing(1, ENDLESS).verdicts)
    )
    journal = msgspec.structs.replace(refused, runs=(*refused.runs[:index], listed, *refused.runs[index + 1 :]))
    says = shown(journal)[reporter]
    assert ENDLESS in says
    assert "and no failure" not in says
    assert 'id="noted"' not in says
