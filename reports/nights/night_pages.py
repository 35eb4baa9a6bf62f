"""Pages of nights, without a network: `report.html` of one, with its systems, what was refuted on each, and where their
certificates lie; and `trend.html`, with what changed over the nights."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from holdfast.harness.model.journal import Status
from holdfast.harness.model.night import AllNights, LatestNight, Night, NightFinding, RecoveryTimes, SystemNight
from holdfast.harness.model.status import STATUS_WORDS
from holdfast.harness.model.units import duration
from holdfast.reports import pages, text
from holdfast.reports.files import write_file
from holdfast.reports.nights import strips
from holdfast.reports.nights.strips import MOST_NIGHTS, Share, SystemTrend, Track, trends
from holdfast.reports.view import status_counts

STYLE_SHEETS = ("report.css", "nights.css")


class NightPageReporter:
    """One page; each certificate is a link away."""

    name = "html"
    shows = LatestNight
    writes = "report.html"

    def render(self, latest: LatestNight, folder: Path) -> Path:
        return write_file(folder / self.writes, night_page(latest.night))


def night_page(night: Night) -> str:
    style = Markup("\n" + "".join(map(pages.asset, STYLE_SHEETS)))
    return (
        _night_environment()
        .get_template("night.html.j2")
        .render(
            night=night,
            style=style,
            style_hash=pages.hash_of(style),
            failing=[each for system in night.systems for each in system.findings if each.counts],
            waived=[each for system in night.systems for each in system.findings if not each.counts],
        )
    )


@cache
def _night_environment() -> Environment:
    environment = pages.environment()
    environment.filters.update(link=pages.report_in)
    return environment


MOST_ROWS = 14
"""Of one kind that are shown at once; the others are folded below."""
MOST_WITHOUT_SCROLLING = 24
"""Nights whose signs a phone can show side by side; more scroll in their box."""


class TrendReporter:
    """One page over all nights: the newest is on the right."""

    name = "trend"
    shows = AllNights
    writes = "trend.html"

    def render(self, found: AllNights, folder: Path) -> Path:
        nights = found.nights
        reported = {each.name for each in nights if (folder / each.name / NightPageReporter.writes).is_file()}
        return write_file(folder / self.writes, trend_page(nights, reported))


def trend_page(nights: Sequence[Night], reported: Container[str] = ()) -> str:
    """The page as text.

    Args:
        nights: at least one, the oldest first.
        reported: names of those with a page of their own, beside this one.
    """
    style = Markup("\n" + "".join(map(pages.asset, STYLE_SHEETS)))
    return (
        _environment()
        .get_template("trend.html.j2")
        .render(
            nights=nights[-MOST_NIGHTS:],
            total=len(nights),
            last=nights[-1],
            systems=trends(nights),
            reported=reported,
            style=style,
            style_hash=pages.hash_of(style),
            expired=nights[-1].expired,
        )
    )


@cache
def _environment() -> Environment:
    environment = pages.environment()
    environment.filters.update(
        percent=text.percent,
        slug=text.slug,
        axis=strips.axis,
        statuses=strips.statuses,
        inconclusive=strips.inconclusive,
        finding_strip=strips.finding,
        rule_strip=strips.rule,
        coverage_strip=strips.coverage,
        recovery_strip=strips.recovery,
        seen=seen,
        lasted=lasted,
        latest=latest,
        in_night=in_night,
        by_status=by_status,
        lead=lead,
        link=pages.report_in,
    )
    environment.globals.update(
        words=STATUS_WORDS,
        marks=text.STATUS_MARKS,
        Status=Status,
        most=MOST_ROWS,
        most_without_scrolling=MOST_WITHOUT_SCROLLING,
    )
    return environment


def in_night(trend: SystemTrend, night: Night) -> SystemNight | None:
    """What a night found of a system; None: it did not take part."""
    return next(each.found for each in trend.columns if each.night is night)


def by_status(found: SystemNight) -> str:
    """How many rules have each status."""
    return text.statuses_in_words(status_counts(found.rules.values()))


def lead(last: SystemNight) -> str:
    """How a night of a system came out, in one sentence."""
    refuted = sum(each.counts for each in last.findings)
    aside = len(last.findings) - refuted
    waived = f", {aside} waived" if aside else ""
    found = f"{text.plural(refuted, 'finding') if refuted else 'nothing refuted'}{waived}"
    share = last.inconclusive_runs / last.total_runs if last.total_runs else 0.0
    return f"{found}; {text.plural(last.total_runs, 'run')}, {text.percent(share)} inconclusive"


def seen(track: Track, trend: SystemTrend) -> str:
    """In how many nights a finding was seen, first and last."""
    values = zip(trend.columns, track.values, strict=True)
    nights = [column.name for column, value in values if isinstance(value, NightFinding)]
    often = f"{len(nights)} of {text.plural(trend.nights, 'night')}"
    return f"{often}: first {nights[0]}, last {nights[-1]}" if len(nights) > 1 else f"{often}: {nights[0]}"


def lasted(track: Track) -> str:
    """What became of a finding when it was seen last."""
    last = next(each for each in reversed(track.values) if isinstance(each, NightFinding))
    again = f"again in {last.reruns}" if last.reruns is not None else "not run again"
    if last.waived is None:
        return again
    words = "waiver expired" if last.waived.expired else "waived until"
    return f"{again}; {words} {last.waived.expires}".rstrip()


def latest(track: Track) -> str:
    """The newest value in words."""
    last = next((each for each in reversed(track.values) if each is not None), None)
    if isinstance(last, Share):
        return f"{text.count(last.part)} of {text.count(last.whole)}"
    if isinstance(last, RecoveryTimes):
        return f"{duration(last.median_ms)}, p95 {duration(last.p95_ms)}, n = {last.measured}"
    return STATUS_WORDS[last] if isinstance(last, Status) else ""
