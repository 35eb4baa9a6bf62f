"""`holdfast matrix`: what it shows is what the certificates say."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.engine.artefacts.journal_file import write_journal
from holdfast.harness.engine.views.matrix import Certified, matrix
from holdfast.harness.model.journal import Journal, Status
from holdfast.harness.model.matrix import Matrix, MatrixCell
from holdfast.reports import html, view
from holdfast.reports import matrix as reports
from holdfast.suites.selfcheck.reports import journals


def stored(folder: Path, *certificates: tuple[str, Journal]) -> Path:
    for name, journal in certificates:
        (folder / name).mkdir(parents=True)
        write_journal(folder / name / "results.json", journal)
        (folder / name / "report.html").touch()
    return folder


def table(*found: Journal) -> Matrix:
    return matrix([Certified(each, f"folder-{number}", "") for number, each in enumerate(found)])


def test_each_cell_counts_the_rules_of_its_certificate() -> None:
    partial, refused = journals.partial(), journals.refused()
    made = table(partial, refused)
    assert [each.title for each in made.columns] == [partial.certificate.title, refused.certificate.title]
    for row in made.rows:
        for journal, cell in zip((partial, refused), row.cells, strict=True):
            rules = [each for each in view.rules(journal) if each.rule.area == row.area]
            assert sum(cell.counts.values()) == len(rules)
            assert cell.refuted == tuple(each.rule.id for each in rules if each.status is Status.FAIL)
    wanted = {area.code for journal in (partial, refused) for area in view.areas(journal)}
    assert wanted <= {row.area for row in made.rows}


@pytest.mark.parametrize(
    ("counts", "worst"),
    [
        ({}, None),
        ({Status.NOT_APPLICABLE: 2}, Status.NOT_APPLICABLE),
        ({Status.NOT_APPLICABLE: 2, Status.PASS: 1}, Status.PASS),
        ({Status.FAIL: 1, Status.NOT_APPLICABLE: 2}, Status.FAIL),
    ],
)
def test_what_does_not_apply_is_not_the_worst_of_an_area(counts: dict[Status, int], worst: Status | None) -> None:
    assert MatrixCell(counts).worst is worst


def test_a_cell_leads_to_its_rules_and_a_refuted_rule_to_its_finding() -> None:
    journal = journals.refused()
    unknown = msgspec.structs.replace(journal, findings=())
    for each in (journal, unknown):
        page = reports.page(matrix([Certified(each, "a", "a/report.html")]))
        led = re.findall(r'href="a/report\.html#([^"]+)"', page)
        report = html.page(each)
        assert {f"area-{area.code}" for area in view.areas(each)} <= set(led)
        assert [place for place in led if f'id="{place}"' not in report] == []
    table_of = table(journal)
    refuted = {rule: cell.findings[rule] for row in table_of.rows for cell in row.cells for rule in cell.refuted}
    assert refuted
    assert all(rule in journal.findings[number - 1].rules for rule, number in refuted.items())
    assert "href" not in reports.page(table_of)


def test_a_cell_says_how_many_rules_are_open() -> None:
    cell = MatrixCell({Status.FAIL: 1, Status.INCONCLUSIVE: 2, Status.UNTESTED: 3, Status.PASS: 4}, ("BAR-01",))
    assert reports.others(cell) == "2 inconclusive, 3 untested"
    assert reports.others(MatrixCell({Status.PASS: 4})) == reports.others(MatrixCell({Status.UNTESTED: 4})) == ""


def test_the_command_takes_certificates_and_folders_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nights = stored(tmp_path / "nights", ("2-b", journals.partial()), ("10-c", journals.partial()))
    alone = stored(tmp_path, ("alone", journals.refused())) / "alone"
    (nights / "latest").symlink_to("10-c")
    out = tmp_path / "out"
    assert cli.execute(["matrix", str(alone), str(nights), "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith("3 certificates: ")
    found = msgspec.json.decode((out / "matrix.json").read_bytes(), type=Matrix)
    names = [each.name for each in found.columns]
    assert names == [journals.refused().system, *(f"{journals.partial().system}, {each}" for each in ("2-b", "10-c"))]
    for column in found.columns:
        assert (out / column.report).is_file()
        assert f'href="{column.report}"' in (out / "matrix.html").read_text()
    assert len(list((out / "badges").iterdir())) == 3


def test_a_folder_without_a_certificate_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["matrix", str(tmp_path), "--out", str(tmp_path / "out")]) == cli.WRONG_USAGE
    assert "holds no certificate: name folders with results.json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_a_hostile_journal_acts() -> None:
    made = table(journals.hostile(), journals.empty())
    page = reports.page(made)
    assert "<script" not in page
    assert "default-src 'none'" in page
    lines = [line for line in reports.markdown(made).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(made.columns) + 2}
    for badge in reports.badges(made).values():
        assert ElementTree.fromstring(badge).tag.endswith("svg")


def test_a_badge_says_the_title_to_those_who_cannot_see_it() -> None:
    made = table(journals.refused())
    [badge] = reports.badges(made).values()
    assert f"<title>{journals.refused().system}: {journals.refused().heading}</title>" in badge
    assert json.loads(msgspec.json.encode(made))["columns"][0]["title"] == "REFUSED"
