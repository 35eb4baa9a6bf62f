"""Pages for a keyboard, a screen reader, a phone and paper: nothing is told by colour, place or hovering alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import msgspec
import pytest

from holdfast.harness.commands.matrix import Certified, matrix
from holdfast.harness.model.run_details import RunDetails
from holdfast.harness.model.status import STATUS_WORDS, Status
from holdfast.reports import html, pages, text
from holdfast.reports import matrix as matrices
from holdfast.reports.nights import night_pages
from holdfast.reports.nights.strips import BAR, LEAST_PART
from holdfast.suites.selfcheck.contrast import LEAST, LEAST_OF_SHAPES, channels, contrast, mixed
from holdfast.suites.selfcheck.reports import journals, sample
from holdfast.suites.selfcheck.reports.nights import finding, night, system, waived

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
VOID = ("meta", "input", "br", "hr")
SHEETS = {*html.STYLE_SHEETS, *night_pages.STYLE_SHEETS, *matrices.STYLE_SHEETS}
PHONE = 320
"""How wide a narrow one is, in pixels."""
STACKED = ("recovery", "summary")
"""Tables, or boxes of them, that need no more width than that."""


def certificate() -> str:
    journal = journals.refused()
    details = {run.id: RunDetails(checkpoint_history=sample.checkpoint_history()) for run in journal.runs}
    return html.page(journal, details)


def trend_page() -> str:
    """In the second night every rule has the status that its neighbour had."""
    first, second = (
        {f"BAR-{number:02}": status for number, status in enumerate([*list(Status)[shift:], *list(Status)[:shift]])}
        for shift in (0, 1)
    )
    nights = [
        night("2026-11-24", system(finding(), rules=first)),
        night("2026-11-25", system(finding(waived=waived()), rules=second)),
    ]
    return night_pages.trend_page(nights, {"2026-11-24"})


def matrix_page() -> str:
    found = (journals.partial(), journals.refused())
    return matrices.page(matrix([Certified(each, str(number), "") for number, each in enumerate(found)]))


PAGES = {
    "certificate": certificate,
    "parts": lambda: html.page(journals.with_parts()),
    "systems": lambda: html.page(journals.side_by_side()),
    "night": lambda: night_pages.night_page(night("2026-11-25", system(finding(), finding("A/b", waived=waived())))),
    "trend": trend_page,
    "matrix": matrix_page,
}
every_page = pytest.mark.parametrize("name", PAGES)


class Element:
    """One of a page, with what it holds."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element | str] = []

    def all(self, *tags: str) -> Iterator[Element]:
        """Those within, in the order of the page."""
        for each in self.children:
            if isinstance(each, Element):
                if not tags or each.tag in tags:
                    yield each
                yield from each.all(*tags)

    @property
    def name(self) -> str:
        """What a screen reader says of it."""
        if self.attributes.get("aria-hidden") == "true" or self.tag in ("style", "script"):
            return ""
        if label := self.attributes.get("aria-label"):
            return label
        for each in self.children:
            if isinstance(each, Element) and each.tag == "title":
                return each.name
        return " ".join(" ".join(each if isinstance(each, str) else each.name for each in self.children).split())


class Tree(HTMLParser):
    """A page as a tree."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.root = Element("", {})
        self._open = [self.root]
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            made = self._open[-1].children[-1]
            assert isinstance(made, Element)
            self._open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


@cache
def tree(name: str) -> Element:
    """Of a page, once for all tests."""
    return Tree(PAGES[name]()).root


@every_page
def test_headings_go_one_step_deeper_at_a_time_below_a_single_title(name: str) -> None:
    levels = [HEADINGS.index(each.tag) for each in tree(name).all(*HEADINGS)]
    assert levels[0] == levels.count(0) - 1 == 0
    assert all(after <= before + 1 for before, after in pairwise(levels))


@every_page
def test_a_page_has_its_landmarks(name: str) -> None:
    page = tree(name)
    assert [len(list(page.all(tag))) for tag in ("main", "header")] == [1, 1]
    assert all(each.name for each in page.all("nav"))
    (root,) = page.all("html")
    assert root.attributes["lang"] == "en"


@every_page
def test_whatever_is_operated_or_drawn_has_a_name(name: str) -> None:
    operated = ("a", "button", "summary", "th")
    for each in tree(name).all():
        if each.attributes.get("aria-hidden") == "true" or each.attributes.get("role") == "presentation":
            continue
        if each.tag in operated or "role" in each.attributes or "tabindex" in each.attributes:
            assert each.name, (each.tag, each.attributes)
        if "aria-label" in each.attributes and each.tag in ("div", "span", "p", "g"):
            assert "role" in each.attributes, each.attributes


def with_class(name: str, page: Element) -> list[Element]:
    return [each for each in page.all() if name in each.attributes.get("class", "").split()]


@every_page
def test_what_is_wider_than_a_phone_scrolls_in_a_box_that_the_keyboard_reaches(name: str) -> None:
    """That is every table but those whose rows are stacked on a narrow screen, and what has a width in pixels."""
    boxes = with_class("scroll", tree(name))
    for box in boxes:
        assert {"tabindex", "role", "aria-label"} <= set(box.attributes), box.attributes
    held = {id(each) for box in boxes for each in box.all()}
    held |= {id(each) for kind in STACKED for box in with_class(kind, tree(name)) for each in [box, *box.all()]}
    wide = [*tree(name).all("table"), *(each for kind in fixed_widths() for each in with_class(kind, tree(name)))]
    assert [each.attributes for each in wide if id(each) not in held] == []


def fixed_widths() -> set[str]:
    """The classes to which a style sheet gives a width that a phone does not have."""
    return {
        kind
        for sheet in SHEETS
        for names, rules in re.findall(r"([^{}]+)\{([^{}]*)\}", pages.asset(sheet))
        for width in re.findall(r"(?<!-)(?:min-)?width: ([\d.]+)px", rules)
        if float(width) > PHONE
        for kind in re.findall(r"\.([\w-]+)[^\s.]*(?:,|$)", names.strip())
    }


def test_a_fixed_width_is_noticed() -> None:
    assert "timeline" in fixed_widths()


def test_every_status_in_a_trend_has_a_word_and_a_sign() -> None:
    page = tree("trend")
    strips = [each for each in with_class("nights", page) if "axis" not in each.attributes["class"]]
    drawn = [(strip, cell) for strip in strips for cell in strip.all("g", "a")]
    assert {"2026-11-25: " + word for word in STATUS_WORDS.values()} <= {cell.name.strip() for _, cell in drawn}
    for strip, cell in drawn:
        assert re.match(r"2026-11-2[45]: \S", cell.name), strip.name
        signs = {each.name for each in cell.all("text")}
        for shape in cell.all("rect"):
            status = shape.attributes["class"].removeprefix("fill-").upper()
            if "cells" in strip.attributes["class"] and status in Status.__members__:
                assert text.STATUS_MARKS[Status[status]] in signs


def test_a_cell_of_the_matrix_is_told_in_words() -> None:
    page = tree("matrix")
    (table,) = page.all("table")
    assert next(table.all("caption")).name
    cells = with_class("cell", table)
    assert any("fail" in cell.name for cell in cells)
    for cell in cells:
        assert re.match(r"no rule$|not applicable\b|[a-z ]+ \d+ of \d+ rules passed\b", cell.name), cell.name
        for chip in with_class("chip", cell):
            assert any(mark in text_of(chip) for mark in text.STATUS_MARKS.values())


def text_of(element: Element) -> str:
    """All that is written in it, also what only eyes see."""
    return "".join(each if isinstance(each, str) else text_of(each) for each in element.children)


def test_one_rule_of_many_is_seen_in_a_bar() -> None:
    rules = {f"BAR-{number:03}": Status.FAIL if number == 7 else Status.PASS for number in range(118)}
    page = Tree(night_pages.trend_page([night("2026-11-24", system(rules=rules))], set())).root
    (bars,) = with_class("bars", page)
    heights = {each.attributes["class"]: float(each.attributes["height"]) for each in bars.all("rect")}
    assert heights["fill-fail"] == LEAST_PART
    assert sum(heights.values()) == BAR


def test_findings_that_share_something_are_told_apart_by_number() -> None:
    value = journals.refused()
    first = next(each for each in value.findings if each.status is Status.FAIL)
    page = Tree(html.page(msgspec.structs.replace(value, findings=(first,) * 5))).root
    numbers = ["1", "2", "3", "4", "5"]
    assert [next(each.all("h3")).name.partition(" ")[0] for each in page.all("article")] == numbers
    brief, folded = with_class("in-brief", page)
    shown = [each.attributes["value"] for each in brief.all("li")]
    assert len(shown) == html.MOST_IN_BRIEF
    assert [*shown, *(each.attributes["value"] for each in folded.all("li"))] == numbers
    assert re.search(r"\.in-brief \{[^}]*list-style: decimal", pages.asset("report.css"))


def test_a_trend_leads_to_each_night_that_has_a_page() -> None:
    links = [each.attributes["href"] for each in tree("trend").all("a")]
    assert "2026-11-24/report.html" in links
    assert "2026-11-25/report.html" not in links


def test_a_bar_of_statuses_says_its_numbers() -> None:
    bars = [each for each in tree("certificate").all("svg") if each.attributes.get("class") == "bar"]
    assert bars
    assert all(re.search(r": \d+ \w", each.attributes["aria-label"]) for each in bars)


def test_numbers_without_a_visible_heading_have_their_words() -> None:
    page = tree("certificate")
    summaries = [each for each in page.all("details") if each.attributes.get("class") == "case-runs"]
    names = [next(each.all("summary")).name for each in summaries]
    assert all(re.search(r"\d passed", name) for name in names)
    assert any(re.search(r"\d failed", name) for name in names)


def test_a_finding_can_be_found_by_its_heading() -> None:
    found = list(tree("certificate").all("article"))
    assert found
    assert all(next(each.all("h3")).name for each in found)


def colours(sheet: str) -> dict[str, dict[str, str]]:
    """By scheme, the variables of a style sheet; the dark one and paper inherit from the light one."""
    light, dark, paper = (
        dict(re.findall(r"--([\w-]+): ([^;]+);", block)) for block in re.findall(r":root \{([^}]*)\}", sheet)
    )
    return {"light": light, "dark": {**light, **dark}, "paper": {**light, **paper}}


@pytest.mark.parametrize("scheme", ["light", "dark", "paper"])
def test_words_can_be_read_on_every_ground(scheme: str) -> None:
    of = colours(pages.asset("report.css"))[scheme]
    hues = [status.value.lower().replace("_", "-") for status in Status]
    tint = float(of["tint"].removesuffix("%")) / 100
    for name in ("ink", "soft", "accent", *hues):
        grounds = [channels(of[each]) for each in ("page", "sheet", "well")]
        if name in hues:
            grounds += [mixed(channels(of[name]), share, channels(of["sheet"])) for share in (tint, 0.05)]
        assert min(contrast(channels(of[name]), ground) for ground in grounds) >= LEAST, name
    for hue in hues:
        assert contrast(channels(of[f"on-{hue}"]), channels(of[f"bar-{hue}"])) >= LEAST, hue
    for number in range(1, 5):
        assert contrast(channels(of[f"series-{number}"]), channels(of["sheet"])) >= LEAST_OF_SHAPES
