"""What every report shows: what decides the exit code, the signal that ended it, and notes of oracles."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ElementTree
from itertools import chain
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from holdfast.harness import cli
from holdfast.harness.commands.certify import exit_code
from holdfast.harness.engine.artefacts.json_files import write_journal
from holdfast.harness.engine.nights.night_folder import system_night
from holdfast.harness.engine.site import registry
from holdfast.harness.model.certificate import Certificate, PartReport, SubjectReport
from holdfast.harness.model.journal import Journal, RunResult, Status, Title
from holdfast.harness.model.verdict import CRASHED, Outcome, Verdict
from holdfast.harness.spi.reporter import AnyReporter, OnTerminal
from holdfast.reports import notes
from holdfast.reports.allure import AllureReporter
from holdfast.reports.ctrf import CtrfReporter
from holdfast.reports.html import HtmlReporter, page
from holdfast.reports.junit import JunitReporter
from holdfast.reports.matrix import BADGE_COLOURS
from holdfast.reports.summary import SummaryReporter, summary
from holdfast.reports.terminal import render_summary
from holdfast.suites.selfcheck.reports import journals
from holdfast.suites.selfcheck.reports.sample import refutation, run

CERTIFIED = Certificate(Title.CERTIFIED, (), (), {}, (), None, 0)


def of(title: Title, errors: int = 0, *, told_by_part: bool = True) -> Journal:
    """Of a system that is certified, with one part that came to this and one that is certified."""
    part = PartReport("sink", "own:Sink", title, ("Why.",), 3, "parts/1-sink/report.html", (), errors)
    if not told_by_part:
        part = msgspec.structs.replace(part, title=Title.CERTIFIED, errors=0)
    other = PartReport("sink", "own:Other", Title.CERTIFIED)
    subject = SubjectReport("SNK", title, ("Why.",), 3, 3, (part, other), errors)
    return msgspec.structs.replace(journals.empty(), interrupted="", certificate=CERTIFIED, subjects=(subject,))


def with_nothing_asked() -> Journal:
    """Narrowed to what binds one part and no check of the other: that one is not open for it."""
    asked = PartReport("sink", "own:Sink", Title.PARTIAL, ("Why.",), 1)
    other = PartReport("sink", "own:Other", Title.INCONCLUSIVE, ("Why.",), 0)
    subject = SubjectReport("SNK", Title.PARTIAL, ("Why.",), 3, 1, (asked, other))
    return msgspec.structs.replace(journals.empty(), interrupted="", certificate=CERTIFIED, subjects=(subject,))


def of_itself(title: Title) -> Journal:
    """No rule and no case says it: nothing ran, or time was over."""
    card = msgspec.structs.replace(CERTIFIED, title=title, missing=("Why.",))
    return msgspec.structs.replace(journals.empty(), interrupted="", certificate=card)


JOURNALS = {
    "certified": (of(Title.CERTIFIED), 0),
    "a part that is partial": (of(Title.PARTIAL), 0),
    "a part that is refused": (of(Title.REFUSED), 1),
    "parts that are refused together": (of(Title.REFUSED, told_by_part=False), 1),
    "a part that is refused beside an error": (of(Title.REFUSED, 2), 1),
    "a part that is open": (of(Title.INCONCLUSIVE), 2),
    "a part on which the harness failed": (of(Title.INCONCLUSIVE, 1), 4),
    "an error that no part names": (of(Title.INCONCLUSIVE, 1, told_by_part=False), 4),
    "a part that was not asked": (with_nothing_asked(), 0),
    "itself refused": (of_itself(Title.REFUSED), 1),
    "itself open": (of_itself(Title.INCONCLUSIVE), 2),
    "itself partial": (of_itself(Title.PARTIAL), 0),
    "a whole one": (journals.with_parts(), 1),
}
every_journal = pytest.mark.parametrize(("journal", "code"), JOURNALS.values(), ids=JOURNALS)
TITLES = {0: (Title.CERTIFIED, Title.PARTIAL), 1: (Title.REFUSED,), 2: (Title.INCONCLUSIVE,), 4: (Title.INCONCLUSIVE,)}


@every_journal
def test_the_exit_code_is_that_of_the_worst(journal: Journal, code: int) -> None:
    assert exit_code(journal) == code
    assert journal.title in TITLES[code]
    wanted = 0 if {each.status for each in journal.standings} == {Status.PASS} else 2
    assert exit_code(journal, require_certified=True) == (code or wanted)


@every_journal
def test_tests_of_other_tools_fail_where_the_exit_code_does(journal: Journal, code: int, tmp_path: Path) -> None:
    root = ElementTree.parse(JunitReporter().render(journal, tmp_path)).getroot()
    ctrf = json.loads(CtrfReporter().render(journal, tmp_path).read_text())["results"]["summary"]
    folder = AllureReporter().render(journal, tmp_path)
    allure = [json.loads(each.read_text())["status"] for each in folder.glob("*-result.json")]
    failed = (int(root.attrib["failures"]), ctrf["failed"], allure.count("failed"))
    undecided = (int(root.attrib["errors"]), ctrf["other"], allure.count("broken"))
    assert {each > 0 for each in failed} == {code == 1}
    if code != 1:  # What is refuted decides, whatever else is open.
        assert {each > 0 for each in undecided} == {code in (2, 4)}
    kinds = {each.get("type") for each in root.iter("error")}
    assert ("harness-error" in kinds) == (code == 4) or code == 1


@every_journal
def test_titles_say_it(journal: Journal, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert system_night(journal).title is journal.title
    assert journal.heading.startswith(TITLES[code])
    assert SummaryReporter().render(journal, tmp_path).read_text().startswith(f"# {journal.heading}")
    page = HtmlReporter().render(journal, tmp_path).read_text()
    assert f"<title>{journal.heading}" in page
    assert f">{journal.headline.capitalize()}</h1>" in page
    (tmp_path / "one").mkdir()
    write_journal(tmp_path / "one" / "results.json", journal)
    assert cli.execute(["matrix", str(tmp_path / "one"), "--out", str(tmp_path / "matrix")]) == 0
    assert journal.heading in (tmp_path / "matrix" / "matrix.md").read_text()
    (badge,) = (tmp_path / "matrix" / "badges").iterdir()
    assert BADGE_COLOURS[journal.title] in badge.read_text()
    capsys.readouterr()


@every_journal
def test_diff_is_worse_where_something_is_newly_refused(
    journal: Journal, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = of(Title.CERTIFIED)
    for name, each in (("old", before), ("new", journal)):
        (tmp_path / name).mkdir()
        write_journal(tmp_path / name / "results.json", each)
    assert cli.execute(["diff", str(tmp_path / "old"), str(tmp_path / "new")]) == (code == 1)
    shown = capsys.readouterr().out
    changed = [each for each in journal.standings[1:] if each.status not in (Status.PASS, Status.UNTESTED)]
    assert all(f"{each.name}: " in shown and f" -> {each.status}" in shown for each in changed)
    assert (f"title changed{'':<21}CERTIFIED -> {journal.title}" in shown) == (journal.title is not before.title)
    assert ("worse" in shown) == (code == 1)


def test_a_part_is_refused_in_place_of_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The title of all together stays what it was."""
    (subject,) = of(Title.REFUSED).subjects
    names = [each.factory for each in subject.parts]
    swapped = [
        msgspec.structs.replace(each, factory=name) for each, name in zip(subject.parts, reversed(names), strict=True)
    ]
    other = msgspec.structs.replace(
        of(Title.REFUSED), subjects=(msgspec.structs.replace(subject, parts=tuple(swapped)),)
    )
    for name, each in (("old", of(Title.REFUSED)), ("new", other)):
        (tmp_path / name).mkdir()
        write_journal(tmp_path / name / "results.json", each)
    assert cli.execute(["diff", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    shown = list(chain.from_iterable(each.split() for each in capsys.readouterr().out.splitlines() if "newly" in each))
    assert shown[-2:] == ["sink", "own:Other"]


ENDED = "PARTIAL on sim, process, interrupted by SIGTERM"


@pytest.mark.parametrize("name", ["html", "junit", "ctrf", "allure", "summary"])
def test_a_report_names_the_signal_with_the_title(tmp_path: Path, name: str) -> None:
    (reporter,) = (each for each in registry.reporters(Journal) if each.name == name)
    written = reporter.render(msgspec.structs.replace(journals.partial(), interrupted="SIGTERM"), tmp_path)
    files = sorted(written.iterdir()) if written.is_dir() else [written]
    assert any(ENDED in file.read_text(encoding="utf-8") for file in files)
    reporter.render(journals.partial(), tmp_path)
    assert not any("SIGTERM" in file.read_text(encoding="utf-8") for file in files)


def test_every_reporter_is_looked_at() -> None:
    assert {each.name for each in registry.reporters(Journal)} == {"html", "junit", "ctrf", "allure", "summary"}


def test_results_and_terminal_name_it(tmp_path: Path) -> None:
    journal = msgspec.structs.replace(journals.partial(), interrupted="SIGTERM")
    write_journal(tmp_path / "results.json", journal)
    assert '"SIGTERM"' in (tmp_path / "results.json").read_text()
    console = Console(record=True, width=80, no_color=True)
    (terminal,) = registry.reporters(OnTerminal)
    terminal.render(OnTerminal(journal, console), tmp_path)
    assert console.export_text().startswith(ENDED)


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
