"""What changed between nights: exit code 1 only for what is newly refuted, and the page over all of them."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.engine.nights.comparison import compare
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.night import Night, Reruns, SystemNight
from holdfast.harness.model.status import Status
from holdfast.reports.nights import night_pages
from holdfast.reports.nights.strips import MOST_NIGHTS, trends
from holdfast.suites.selfcheck.reports import journals
from holdfast.suites.selfcheck.reports.nights import finding, night, system, waived

CLEAN, BROKEN = system(), system(finding())


def stored(folder: Path, name: str, *systems: SystemNight) -> str:
    (folder / name).mkdir()
    (folder / name / "night.json").write_bytes(msgspec.json.encode(night(name, *systems)))
    return str(folder / name)


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (CLEAN, CLEAN, 0),
        (CLEAN, BROKEN, 1),
        (BROKEN, CLEAN, 0),
        (BROKEN, BROKEN, 0),
        (BROKEN, system(finding(), finding("TXN/lost")), 1),
        (CLEAN, system(finding(waived=waived())), 0),
        (system(finding(waived=waived())), system(finding(waived=waived(expired=True))), 1),
        (CLEAN, system(rules={"BAR-01": Status.FAIL, "BAR-02": Status.PASS}), 1),
        (CLEAN, system(windows_hit={}, rules={"BAR-01": Status.UNTESTED, "BAR-02": Status.PASS}), 0),
    ],
    ids=["same", "new", "gone", "still", "one more", "new and waived", "waiver expired", "rule alone", "less coverage"],
)
def test_only_what_is_newly_refuted_is_worse(
    before: SystemNight, after: SystemNight, code: int, tmp_path: Path
) -> None:
    old, new = stored(tmp_path, "2026-11-24", before), stored(tmp_path, "2026-11-25", after)
    assert cli.execute(["diff", old, new]) == code
    assert cli.execute(["diff", f"{old}/night.json", f"{new}/night.json", "--json"]) == code


def test_what_did_not_run_is_not_covered_and_not_gone() -> None:
    """A finding is gone where a case that found it was decided again, or, in an older record, one of its rules."""
    rules = {"BAR-01": Status.UNTESTED, "BAR-02": Status.PASS}
    label = ("CUT/order (wrong state)",)
    for after, covered in (
        (system(), True),
        (system(rules=rules), False),
        (system(cases=("area/case on sim", "area/other on sim")), True),
        (system(cases=("area/other on sim",)), False),
    ):
        (found,) = compare((BROKEN,), (after,)).systems
        assert (found.gone, found.not_covered) == ((label, ()) if covered else ((), label))


@pytest.mark.parametrize(("seeded", "words"), [(False, "2 of 3 reruns"), (True, "2 of 3 reruns with other run seeds")])
def test_reruns_name_what_they_vary(seeded: bool, words: str) -> None:
    assert str(Reruns(2, 3, seeded=seeded)) == words


def test_it_names_what_changed() -> None:
    lost = system(finding("TXN/lost"), windows_hit={}, faults_landed={})
    (found,) = compare((BROKEN,), (lost,)).systems
    assert (found.new, found.gone, found.still) == (("TXN/lost (wrong state)",), ("CUT/order (wrong state)",), ())
    assert found.newly_refuted == ("TXN/lost (wrong state)",)
    assert (found.windows_lost, found.faults_lost) == (("restored-state",), ("kill worker",))
    (found,) = compare((CLEAN,), (system(rules={"BAR-01": Status.UNTESTED, "BAR-02": Status.PASS}),)).systems
    assert found.rules_lost == ("BAR-01",)
    assert [(each.rule, each.before, each.after) for each in found.rules] == [("BAR-01", "PASS", "UNTESTED")]


def test_systems_of_one_night_alone_are_named_and_compared_with_none() -> None:
    other = msgspec.structs.replace(BROKEN, system="other")
    both = compare((CLEAN, msgspec.structs.replace(CLEAN, system="gone")), (CLEAN, other))
    assert (both.only_before, both.only_after, both.worse) == (("gone",), ("other",), False)


def certificate(folder: Path, name: str, journal: Journal) -> str:
    (folder / name).mkdir()
    (folder / name / "results.json").write_bytes(msgspec.json.encode(journal))
    return str(folder / name)


def test_certificates_are_compared_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    partial = certificate(tmp_path, "old", journals.partial())
    refused = certificate(tmp_path, "new", journals.refused())
    assert cli.execute(["diff", partial, refused]) == 1
    assert "newly refuted" in capsys.readouterr().out
    assert cli.execute(["diff", refused, partial]) == 0
    assert cli.execute(["diff", partial, f"{partial}/results.json"]) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "nowhere"], "cannot be read"),
        ([".", "."], "it holds neither night.json nor results.json"),
        (["a", "b"], "have no system in common"),
        (["newer", "a"], "newer than 1, the newest this program reads"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    stored(tmp_path, "a", system(system="one"), system(system="two"))
    stored(tmp_path, "b", system(system="three"))
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "night.json").write_text('{"version": 99}')
    assert cli.execute(["diff", *arguments]) == cli.WRONG_USAGE
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


HOSTILE = '<script>alert(1)</script>"&\x00'


def many(number: int) -> list[Night]:
    """Every third night refutes; the last two waive."""
    nights = []
    for index in range(number):
        found = [finding()] if index % 3 == 0 else []
        if index >= number - 2:
            found = [finding(waived=waived())]
        nights.append(night(f"2026-{1 + index // 28:02d}-{1 + index % 28:02d}", system(*found)))
    return nights


@pytest.mark.parametrize("number", [1, 2, 40])
def test_each_night_has_a_place(number: int) -> None:
    nights = many(number)
    (found,) = trends(nights)
    assert len(found.columns) == found.nights == number
    page = night_pages.trend_page(nights)
    bars = re.search(r'<svg class="nights bars".*?</svg>', page, re.DOTALL)
    assert bars is not None
    assert bars[0].count("<title>") == number


def test_a_finding_says_how_often_it_was_seen_first_and_last_and_how_often_again() -> None:
    nights = [night("2026-11-01", system(finding())), night("2026-11-02"), night("2026-11-03", system(finding()))]
    page = night_pages.trend_page(nights)
    assert "2 of 3 nights: first 2026-11-01, last 2026-11-03" in page
    assert "again in 2 of 3 reruns" in page
    strip = re.search(r'<svg class="nights cells"[^>]*aria-label="CUT/order.*?</svg>', page, re.DOTALL)
    assert strip is not None
    assert (strip[0].count('class="seen"'), strip[0].count('class="unseen"')) == (2, 1)


def test_a_waived_finding_is_drawn_otherwise_and_names_its_last_day() -> None:
    page = night_pages.trend_page([night("2026-11-01", system(finding(waived=waived())))])
    assert 'class="aside"' in page
    assert "waived until 2026-06-30" in page


def test_a_window_that_was_wanted_and_never_hit_is_no_covered_one() -> None:
    (found,) = trends([night()])
    missed, hit = found.windows
    assert (missed.name, hit.name) == ("read-again", "restored-state")
    page = night_pages.trend_page([night()])
    strip = re.search(r'aria-label="read-again".*?</svg>', page, re.DOTALL)
    assert strip is not None
    assert 'class="uncovered"' in strip[0]


def test_a_rule_in_trouble_comes_before_one_that_changed() -> None:
    before = night("2026-11-01", system(rules={"A-1": Status.UNTESTED, "B-1": Status.PASS, "C-1": Status.PASS}))
    after = night("2026-11-02", system(rules={"A-1": Status.PASS, "B-1": Status.PASS, "C-1": Status.FAIL}))
    (found,) = trends([before, after])
    assert [each.name for each in found.rules] == ["C-1", "A-1"]


def test_older_nights_are_left_out_and_counted() -> None:
    page = night_pages.trend_page(many(MOST_NIGHTS + 2))
    assert "2 older nights left out" in page


def test_nothing_on_the_pages_acts_or_loads() -> None:
    hostile = finding(what=HOSTILE, next=HOSTILE, cases=(HOSTILE,))
    nights = [night("2026-11-01", system(hostile, system=HOSTILE, folder=HOSTILE, inconclusive={HOSTILE: 1}))]
    nights[0] = msgspec.structs.replace(nights[0], expired=(HOSTILE,), interrupted=HOSTILE)
    for page in (night_pages.trend_page(nights), night_pages.night_page(nights[0])):
        assert "<script" not in page
        assert "\x00" not in page
        assert "default-src 'none'" in page
        assert not re.search(r"(src|href)=\"(https?:)?//", page)


def test_a_folder_of_nights_becomes_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for each in many(3):
        (tmp_path / each.name).mkdir()
        (tmp_path / each.name / "night.json").write_bytes(msgspec.json.encode(each))
    (tmp_path / "2026-01-02" / "report.html").touch()
    assert cli.execute(["trend", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("3 nights: ")
    page = (tmp_path / "trend.html").read_text()
    assert "3 nights" in page
    assert set(re.findall('href="([^"#]+)"', page)) == {"2026-01-02/report.html"}


def test_a_folder_without_nights_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["trend", str(tmp_path)]) == cli.WRONG_USAGE
    assert "no night is in it" in capsys.readouterr().err
