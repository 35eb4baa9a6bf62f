"""One row of a trend: a strip with a place for each night. All strips of a page have the same places, so they align.

A strip is as wide as its cell: places are shares of the width. Colours come from the style sheets by class, and no
colour stands alone: a status has its sign, and each place is named by its night and by what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from holdfast.harness.model.journal import STATUS_RANK, Status
from holdfast.harness.model.night import Night, NightFinding, RecoveryTimes, SystemNight
from holdfast.harness.model.status import STATUS_WORDS
from holdfast.harness.model.units import duration
from holdfast.reports.pages import report_in
from holdfast.reports.svg import element, group, number
from holdfast.reports.text import STATUS_MARKS, count, percent, plural, statuses_in_words
from holdfast.reports.view import status_counts

MOST_NIGHTS = 60
"""On one page; older ones stay in their files."""


@dataclass(frozen=True, slots=True)
class Column:
    """A night of one system; `found` is None where the system did not take part."""

    night: Night
    found: SystemNight | None

    @property
    def name(self) -> str:
        return self.night.name


@dataclass(frozen=True, slots=True)
class Track:
    """One thing over the nights; a value is None where a night knows nothing of it."""

    name: str
    values: tuple[object | None, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    part: int
    whole: int

    @property
    def value(self) -> float:
        return min(1.0, self.part / self.whole) if self.whole else 0.0


@dataclass(frozen=True, slots=True)
class SystemTrend:
    """One system over the nights.

    Attributes:
        system: with variant.
        columns: one for each night.
        findings: by label, the finding of each night; those of the last night first, then by how often.
        rules: those whose status was not the same every night, or is in trouble; these first.
        recoveries: by attack and tier, its times.
        windows, faults: shares, the least covered of the last night first.
    """

    system: str
    columns: tuple[Column, ...]
    findings: tuple[Track, ...]
    rules: tuple[Track, ...]
    recoveries: tuple[Track, ...]
    windows: tuple[Track, ...]
    faults: tuple[Track, ...]

    @property
    def nights(self) -> int:
        """In how many the system took part."""
        return sum(each.found is not None for each in self.columns)

    @property
    def last(self) -> SystemNight:
        """The newest in which it took part."""
        return next(each.found for each in reversed(self.columns) if each.found is not None)


def trends(nights: Sequence[Night]) -> tuple[SystemTrend, ...]:
    """One for each system of the newest nights, in the order in which the last one names them."""
    shown = nights[-MOST_NIGHTS:]
    names = dict.fromkeys(each.system for night in reversed(shown) for each in night.systems)
    return tuple(_trend(name, shown) for name in names)


def _trend(system: str, nights: Sequence[Night]) -> SystemTrend:
    columns = tuple(
        Column(night, next((each for each in night.systems if each.system == system), None)) for night in nights
    )
    findings = _tracks(columns, lambda found: {each.signature.label: each for each in found.findings})
    rules = _tracks(columns, lambda found: found.rules)
    return SystemTrend(
        system=system,
        columns=columns,
        findings=tuple(sorted(findings, key=lambda each: (each.values[-1] is None, -_times(each), each.name))),
        rules=tuple(sorted(filter(_is_of_interest, rules), key=_trouble)),
        recoveries=_tracks(columns, lambda found: {_recovery(each): each for each in found.recoveries}),
        windows=_by_need(_tracks(columns, lambda found: _shares(found.windows_hit, found.windows_wanted))),
        faults=_by_need(_tracks(columns, lambda found: _shares(found.faults_landed, found.faults_planned))),
    )


def _tracks(columns: Iterable[Column], values: Callable[[SystemNight], Mapping[str, object]]) -> tuple[Track, ...]:
    by_night: list[Mapping[str, object]] = [values(each.found) if each.found is not None else {} for each in columns]
    names = sorted({name for each in by_night for name in each})
    return tuple(Track(name, tuple(each.get(name) for each in by_night)) for name in names)


def _times(track: Track) -> int:
    return sum(each is not None for each in track.values)


def _is_of_interest(track: Track) -> bool:
    statuses = {each for each in track.values if each is not None}
    return len(statuses) > 1 or bool(statuses & {Status.FAIL, Status.ERROR, Status.INCONCLUSIVE, Status.WAIVED})


def _trouble(track: Track) -> tuple[bool, int, int, str]:
    """What is in trouble in the last night first, then what ever was."""
    ranks = [STATUS_RANK[each] for each in track.values if isinstance(each, Status)]
    bad = STATUS_RANK[Status.INCONCLUSIVE]
    return ranks[-1] < bad, -max(ranks), -sum(each >= bad for each in ranks), track.name


def _recovery(times: RecoveryTimes) -> str:
    return f"{times.attack} on {times.tier}"


def _shares(part: dict[str, int], whole: dict[str, int]) -> dict[str, object]:
    """What nobody aimed at, but was hit, is covered."""
    names = {**whole, **part}
    return {
        name: Share(part.get(name, 0), max(whole.get(name, 0), part.get(name, 0), 1))
        for name in names
        if whole.get(name) or part.get(name)
    }


def _by_need(tracks: tuple[Track, ...]) -> tuple[Track, ...]:
    def covered(track: Track) -> tuple[float, str]:
        last = next((each for each in reversed(track.values) if isinstance(each, Share)), None)
        return (last.value if last is not None else 2.0), track.name

    return tuple(sorted(tracks, key=covered))


LEAST_PLACES = 14
"""So that the only night is no wall."""
FILLED = 0.8
"""Of its place, that a cell fills."""
CELL, BAR, LINE = 16.0, 72.0, 34.0
LEAST_PART = 3.0
"""Of a bar: what is there is seen, however much there is of the rest."""
SIGN = 9.0
"""Of what is lower there is no sign."""
AXIS = 18.0
MOST_LABELS = 11
LEAST_OPACITY = 0.22


def axis(columns: Sequence[Column]) -> Markup:
    """Month and day below as many places as have room, the newest always."""
    places = _places(columns)
    step = max(1, -(-places // MOST_LABELS))
    last = len(columns) - 1
    drawn = [
        element("text", _short(column.name), x=_middle(index, places), y="13", text_anchor="middle")
        for index, column in enumerate(columns)
        if (last - index) % step == 0
    ]
    return element("svg", *drawn, class_="nights axis", height=number(AXIS), width="100%", aria_hidden="true")


def statuses(columns: Sequence[Column], reported: Container[str] = ()) -> Markup:
    """Rules by status, best below, each night as one bar, which leads to the page of a night that is reported.

    The links are for the pointer: sixty of them would be in the keyboard's way, and the list of nights has them, too.
    """
    drawn = []
    for index, column in enumerate(columns):
        if column.found is None or not column.found.rules:
            continue
        counts = status_counts(column.found.rules.values())
        bottom, parts = BAR, []
        for status, high in reversed(_heights(counts).items()):
            bottom -= high
            parts += _of_status(status, index, _places(columns), bottom, high)
        place = _place(f"{column.name}: {statuses_in_words(counts)}", *parts)
        if column.name in reported:
            place = element("a", place, href=report_in(column.name), tabindex="-1")
        drawn.append(place)
    return _strip(drawn, BAR, "bars", "Rules by status")


def _heights(counts: Mapping[Status, int]) -> dict[Status, float]:
    """Of the parts of a bar: the largest gives what the smallest need to be seen."""
    whole = sum(counts.values())
    heights = {status: max(LEAST_PART, BAR * each / whole) for status, each in counts.items()}
    largest = max(heights, key=heights.__getitem__)
    return {**heights, largest: heights[largest] + BAR - sum(heights.values())}


def inconclusive(columns: Sequence[Column]) -> Markup:
    """The share of inconclusive runs as bars, on a scale up to the worst night, or a tenth."""
    shares = [_share(each.found) for each in columns]
    top = max(0.1, *(each.value for each in shares if each is not None))
    drawn = []
    for index, (column, share) in enumerate(zip(columns, shares, strict=True)):
        if share is None:
            continue
        high = max(1.0, LINE * share.value / top) if share.part else 0.0
        words = f"{column.name}: {percent(share.value)}, {count(share.part)} of {plural(share.whole, 'run')}"
        bar = _rect(index, _places(columns), LINE - high, high, "fill-inconclusive")
        drawn.append(_place(words, bar))
    return _strip([_base(LINE), *drawn], LINE, "line", "Share of inconclusive runs")


def finding(track: Track, columns: Sequence[Column]) -> Markup:
    """Where it was seen, filled; waived, as an outline; where the system ran without it, a dot."""
    places, drawn = _places(columns), []
    for index, (column, value) in enumerate(zip(columns, track.values, strict=True)):
        if isinstance(value, NightFinding):
            again = f", again in {value.reruns}" if value.reruns is not None else ""
            words = f"{column.name}: {plural(value.runs, 'run')}{again}{'' if value.counts else ', waived'}"
            cell = _rect(index, places, 0, CELL, "seen" if value.counts else "aside")
            sign = _sign(Status.FAIL, index, places, 0, CELL) if value.counts else None
            drawn.append(_place(words, cell, sign))
        elif column.found is not None:
            dot = element("circle", cx=_middle(index, places), cy=number(CELL / 2), r="1.6", class_="unseen")
            drawn.append(_place(f"{column.name}: not seen", dot))
    return _strip(drawn, CELL, "cells", track.name)


def rule(track: Track, columns: Sequence[Column]) -> Markup:
    """Its status each night."""
    places = _places(columns)
    drawn = [
        _place(f"{column.name}: {STATUS_WORDS[value]}", *_of_status(value, index, places, 0, CELL))
        for index, (column, value) in enumerate(zip(columns, track.values, strict=True))
        if isinstance(value, Status)
    ]
    return _strip(drawn, CELL, "cells", track.name)


def coverage(track: Track, columns: Sequence[Column]) -> Markup:
    """The darker, the larger the share; an outline where nothing of it was covered."""
    places, drawn = _places(columns), []
    for index, (column, value) in enumerate(zip(columns, track.values, strict=True)):
        if isinstance(value, Share):
            opacity = LEAST_OPACITY + (1 - LEAST_OPACITY) * value.value
            cell = (
                _rect(index, places, 0, CELL, "covered", opacity=f"{opacity:.2f}")
                if value.part
                else _rect(index, places, 0, CELL, "uncovered")
            )
            words = f"{column.name}: {count(value.part)} of {count(value.whole)}"
            drawn.append(_place(words, cell))
    return _strip(drawn, CELL, "cells", track.name)


def recovery(track: Track, columns: Sequence[Column]) -> Markup:
    """Median as a dot, and from it up to the 95th percentile a line, on a scale of its own from 0."""
    times = [each if isinstance(each, RecoveryTimes) else None for each in track.values]
    top = max((each.p95_ms for each in times if each is not None), default=0.0) or 1.0
    room = LINE - 8

    def height(value: float) -> str:
        return number(LINE - 4 - room * value / top)

    places, drawn = _places(columns), []
    for index, (column, each) in enumerate(zip(columns, times, strict=True)):
        if each is None:
            continue
        middle = _middle(index, places)
        words = f"{column.name}: median {duration(each.median_ms)}, p95 {duration(each.p95_ms)} (n = {each.measured})"
        line = element("line", x1=middle, x2=middle, y1=height(each.median_ms), y2=height(each.p95_ms), class_="spread")
        dot = element("circle", cx=middle, cy=height(each.median_ms), r="3.4", class_="median-dot")
        drawn.append(_place(words, line, dot))
    return _strip([_base(LINE), *drawn], LINE, "line", track.name)


def _share(found: SystemNight | None) -> Share | None:
    return Share(found.inconclusive_runs, found.total_runs) if found is not None and found.total_runs else None


def _places(columns: Sequence[Column]) -> int:
    return max(LEAST_PLACES, len(columns))


def _place(words: str, *drawn: Markup | None) -> Markup:
    """What a night has in a strip, with a name."""
    return group([element("title", words), *(each for each in drawn if each is not None)], role="img")


def _of_status(status: Status, index: int, places: int, y: float, height: float) -> list[Markup | None]:
    cell = _rect(index, places, y, height, f"fill-{status.value.lower()}")
    return [cell, _sign(status, index, places, y, height)]


def _sign(status: Status, index: int, places: int, y: float, height: float) -> Markup | None:
    """In the middle of a cell, if it has room."""
    if height < SIGN:
        return None
    class_ = f"sign on-{status.value.lower()}"
    bottom = number(y + height / 2 + 3)
    return element(
        "text", STATUS_MARKS[status], x=_middle(index, places), y=bottom, class_=class_, text_anchor="middle"
    )


def _rect(index: int, places: int, y: float, height: float, class_: str, **more: str) -> Markup:
    left = 100 * (index + (1 - FILLED) / 2) / places
    width = 100 * FILLED / places
    return element(
        "rect", x=f"{left:.3f}%", width=f"{width:.3f}%", y=number(y), height=number(height), class_=class_, **more
    )


def _middle(index: int, places: int) -> str:
    return f"{100 * (index + 0.5) / places:.3f}%"


def _base(height: float) -> Markup:
    return element("line", x1="0", x2="100%", y1=number(height - 0.5), y2=number(height - 0.5), class_="base")


def _strip(drawn: Sequence[Markup], height: float, kind: str, label: str) -> Markup:
    return element(
        "svg", *drawn, class_=f"nights {kind}", height=number(height), width="100%", role="group", aria_label=label
    )


def _short(name: str) -> str:
    """`2026-11-25-2` as `11-25·2`."""
    parts = name.split("-")
    if len(parts) < 3:
        return name[:8]
    return "-".join(parts[1:3]) + (f"·{parts[3]}" if len(parts) > 3 else "")
