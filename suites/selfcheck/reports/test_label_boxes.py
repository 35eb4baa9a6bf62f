"""No text of a picture lies over another one or is cut off, in the gallery and around whatever an oracle finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import reports
from holdfast.harness.engine.pictures.failure import pictures_of_failure
from holdfast.reports import timeline
from holdfast.reports.pictures.drawing import inline, standalone
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, EXHIBITS
from holdfast.suites.selfcheck.reports import sample
from holdfast.suites.selfcheck.reports.label_boxes import Style, cut_off, overlaps, styles, width
from holdfast.suites.selfcheck.reports.test_pictures import ALL

PICTURES = styles("pictures.css", "picture-svg") | styles("failure.css", "picture-svg")
TIMELINE = styles("timeline.css", "timeline")
GALLERY = sorted(Path(reports.__path__[0], "gallery").glob("*.svg"))


def text(x: float, words: str, class_: str = "") -> str:
    return f'<text x="{x}" y="20" class="{class_}">{words}</text>'


def test_what_overlaps_is_found_and_what_keeps_apart_is_not() -> None:
    plain = {"": Style(10.0, bold=False), "loud": Style(10.0, bold=True)}
    assert width("aaaa", plain[""]) == pytest.approx(24.8)
    assert overlaps(f"<svg>{text(0, 'aaaa')}{text(24, 'b')}</svg>", plain) == [("aaaa", "b")]
    assert overlaps(f"<svg>{text(0, 'aaaa')}{text(26, 'b')}</svg>", plain) == []
    assert overlaps(f"<svg>{text(0, 'aaaa', 'loud')}{text(26, 'b')}</svg>", plain) == [("aaaa", "b")]
    assert cut_off(f'<svg viewBox="0 0 24 9">{text(0, "aaaa")}{text(-1, "b")}{text(0, "b")}</svg>', plain) == [
        "aaaa",
        "b",
    ]
    moved = f'<svg>{text(0, "aaaa")}<g transform="translate(0 -20)">{text(0, "b")}</g></svg>'
    assert overlaps(moved, plain) == []


def test_sizes_come_from_the_style_sheet() -> None:
    assert PICTURES["name"] == Style(11.5, bold=True)
    assert PICTURES["moment"] == Style(10.5, bold=False)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_no_text_of_the_gallery_lies_over_another(path: Path) -> None:
    drawn = path.read_text(encoding="utf-8")
    assert (overlaps(drawn, PICTURES), cut_off(drawn, PICTURES)) == ([], [])


@pytest.mark.parametrize("picture", ALL, ids=lambda picture: picture.name)
def test_no_text_of_a_picture_lies_over_another(picture: object) -> None:
    drawn = standalone(picture)  # type: ignore[arg-type]
    assert (overlaps(drawn, PICTURES), cut_off(drawn, PICTURES)) == ([], [])


@pytest.mark.parametrize("faults", range(6))
def test_no_text_of_a_timeline_lies_over_another(faults: int) -> None:
    drawn = timeline.standalone(sample.timeline(3, faults=faults), "A run", broken_ms=1_000.0)
    assert (overlaps(drawn, TIMELINE), cut_off(drawn, TIMELINE)) == ([], [])


@pytest.mark.parametrize("oracle", BY_NAME)
def test_no_text_around_a_violation_lies_over_another(oracle: str) -> None:
    for exhibit in EXHIBITS.values():
        if exhibit.oracle == oracle and exhibit.bad:
            history = exhibit.history()
            for picture in pictures_of_failure(history, [BY_NAME[oracle].judge(history)]):
                drawn = standalone(picture)
                assert (overlaps(drawn, PICTURES), cut_off(drawn, PICTURES)) == ([], [])
                assert len(inline(picture)) < 60_000
