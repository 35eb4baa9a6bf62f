"""The page over nights: each night has its place, and what is hostile stays text."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.model.night import Night
from holdfast.harness.model.status import Status
from holdfast.reports.nights import overview, trend
from holdfast.reports.nights.figures import MOST_NIGHTS, trends
from holdfast.suites.selfcheck.reports.nights import finding, night, system, waived

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
    page = trend.page(nights)
    bars = re.search(r'<svg class="nights bars".*?</svg>', page, re.DOTALL)
    assert bars is not None
    assert bars[0].count("<title>") == number


def test_a_finding_says_how_often_it_was_seen_first_and_last_and_how_often_again() -> None:
    nights = [night("2026-11-01", system(finding())), night("2026-11-02"), night("2026-11-03", system(finding()))]
    page = trend.page(nights)
    assert "2 of 3 nights: first 2026-11-01, last 2026-11-03" in page
    assert "again in 2 of 3 reruns" in page
    strip = re.search(r'<svg class="nights cells"[^>]*aria-label="CUT/order.*?</svg>', page, re.DOTALL)
    assert strip is not None
    assert (strip[0].count('class="seen"'), strip[0].count('class="unseen"')) == (2, 1)


def test_a_waived_finding_is_drawn_otherwise_and_names_its_last_day() -> None:
    page = trend.page([night("2026-11-01", system(finding(waived=waived())))])
    assert 'class="aside"' in page
    assert "waived until 2026-06-30" in page


def test_a_window_that_was_wanted_and_never_hit_is_no_covered_one() -> None:
    (found,) = trends([night()])
    missed, hit = found.windows
    assert (missed.name, hit.name) == ("read-again", "restored-state")
    page = trend.page([night()])
    strip = re.search(r'aria-label="read-again".*?</svg>', page, re.DOTALL)
    assert strip is not None
    assert 'class="uncovered"' in strip[0]


def test_a_rule_in_trouble_comes_before_one_that_changed() -> None:
    before = night("2026-11-01", system(rules={"A-1": Status.UNTESTED, "B-1": Status.PASS, "C-1": Status.PASS}))
    after = night("2026-11-02", system(rules={"A-1": Status.PASS, "B-1": Status.PASS, "C-1": Status.FAIL}))
    (found,) = trends([before, after])
    assert [each.name for each in found.rules] == ["C-1", "A-1"]


def test_older_nights_are_left_out_and_counted() -> None:
    page = trend.page(many(MOST_NIGHTS + 2))
    assert "2 older nights left out" in page


def test_nothing_on_the_pages_acts_or_loads() -> None:
    hostile = finding(what=HOSTILE, next=HOSTILE, cases=(HOSTILE,))
    nights = [night("2026-11-01", system(hostile, system=HOSTILE, folder=HOSTILE, inconclusive={HOSTILE: 1}))]
    nights[0] = msgspec.structs.replace(nights[0], expired=(HOSTILE,), interrupted=HOSTILE)
    for page in (trend.page(nights), overview.page(nights[0])):
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
