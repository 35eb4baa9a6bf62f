"""What decides the exit code of a certificate is seen in every output of it: of the system, and of each part."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from itertools import chain
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.commands.certify import exit_code
from holdfast.harness.engine.artefacts.journal_file import write_journal
from holdfast.harness.engine.nights.record import system_night
from holdfast.harness.model.certificate import Certificate, PartReport, SubjectReport
from holdfast.harness.model.journal import Journal, Status, Title
from holdfast.reports.allure import AllureReporter
from holdfast.reports.ctrf import CtrfReporter
from holdfast.reports.html import HtmlReporter
from holdfast.reports.junit import JunitReporter
from holdfast.reports.matrix import BADGE_COLOURS
from holdfast.reports.summary import SummaryReporter
from holdfast.suites.selfcheck.reports import journals

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
