"""One run as a picture: who lived when, which checkpoints came through, what was broken, what became visible.

Everything shares one time axis: faults on top, then restarts and the heal, the lanes, the checkpoints, two small
charts, the ticks. Colours come from `templates/timeline.css` by class, so that a page can lend its own palette; only
the colour of a fault is its author's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources

import msgspec
from markupsafe import Markup

from holdfast.harness.model.consequence import FATES_IN_WORDS, FaultFate
from holdfast.harness.model.journal import Band, Span, Timeline
from holdfast.harness.model.units import duration
from holdfast.reports.svg import Value, colour, element, finite, group, number, text_at
from holdfast.reports.text import count, one_line, plural

WIDTH = 1120.0
LEFT, RIGHT = 112.0, 20.0
LABEL_ROW, MARK_ROW = 19.0, 18.0
LANE, LANE_WHEN_MANY, MANY_LANES = 22.0, 13.0, 12
SPAN_ROW, SPAN_HEIGHT, SPAN_ROWS = 15.0, 11.0, 5
CHART, GAP = 40.0, 16.0
CHARACTER = 6.1
"""Mean width of a character at 11 px: labels are placed without a font at hand."""
PRECISION_WORDS = {
    "exact": "held at its gate",
    "boundary": "seen from outside",
    "polled": "timed by polling",
    "by-time": "by its time alone: the system does not say which fault an effect belongs to",
}
FEW_SPANS = 150
"""Above this, completed checkpoints become one shape without tooltips, or a long run would weigh more than a report."""
MOST_POINTS = 200
_MINUTE, _HOUR = 60_000, 3_600_000
_STEPS = (
    *(step * 10**power for power in range(-1, 4) for step in (1, 2, 5)),
    *(10_000, 15_000, 30_000),
    *(step * _MINUTE for step in (1, 2, 5, 10, 15, 30)),
    *(step * _HOUR for step in (1, 2, 3, 6, 12, 24)),
)


@dataclass(frozen=True, slots=True)
class _Axis:
    duration: float

    def x(self, time: float) -> float:
        share = finite(time) / self.duration
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def ticks(self) -> list[float]:
        """Round times, about seven of them."""
        step = next((step for step in _STEPS if self.duration / step <= 8), None)
        if step is None:
            step = 24 * _HOUR * (int(self.duration / (24 * _HOUR) / 8) + 1)
        return [index * step for index in range(int(self.duration / step + 1e-9) + 1)]

    def tick_label(self, time: float) -> str:
        """All ticks of one axis in one unit."""
        if self.duration < 1_000:
            return f"{time:g} ms"
        if self.duration < 2 * _MINUTE:
            return f"{time / 1_000:g} s"
        if self.duration < 2 * _HOUR:
            return f"{time // _MINUTE:.0f}:{time % _MINUTE / 1_000:02.0f} min"
        return f"{time / _HOUR:g} h"


@dataclass(frozen=True, slots=True)
class _Label:
    """Where the label of a fault stands: `left` and `right` bound the fault, `start` is where its words begin."""

    band: Band
    words: str
    left: float
    right: float
    start: float
    y: float


def draw(timeline: Timeline, title: str, *, broken_ms: float | None = None, style: str = "") -> Markup:
    """The picture as one `svg` element.

    Args:
        timeline: what to draw.
        title: what it is, for those who hear it read.
        broken_ms: when the first clause was broken; a red mark stands there.
        style: a style sheet to carry along, when it does not stand in a page that has one.
    """
    axis = _Axis(_length(timeline))
    rows, labels_bottom = _label_rows(timeline.faults, axis)
    marks_top = lanes_top = labels_bottom
    lanes_top += MARK_ROW if timeline.restarts_ms or timeline.healed_ms > 0 else 4
    if broken_ms is not None:
        marks_top += MARK_ROW
        lanes_top += MARK_ROW
    y = lanes_top
    lanes, lane_of, y = _lanes(timeline, axis, y)
    spans, y = _checkpoints(timeline.checkpoints, axis, y + 8)
    charts: list[Markup] = []
    for name, unit, points, stepped in (
        ("records/s", "records/s", timeline.records, False),
        ("visible rows", "rows", timeline.visible_rows, True),
    ):
        if points:
            charts.append(_chart(name, unit, points, axis, y + GAP, stepped=stepped))
            y += GAP + CHART
    bottom = y + 6
    content = [
        element("title", title),
        element("desc", "; ".join([in_words(timeline), *(words for _, words in faults_in_words(timeline))])),
        _grid(axis, lanes_top, bottom),
        *_bands(timeline.faults, axis, lanes_top, bottom, lane_of),
        *_marks(timeline, axis, marks_top, bottom),
        *lanes,
        *spans,
        *charts,
        *_fault_labels(rows, lanes_top),
        *_broken(broken_ms, axis, labels_bottom, bottom),
    ]
    if style:
        content.insert(0, element("style", Markup(style)))
    return element(
        "svg",
        *content,
        class_="timeline",
        xmlns="http://www.w3.org/2000/svg" if style else None,
        viewBox=f"0 0 {number(WIDTH)} {number(bottom + 22)}",
        role="img",
    )


def standalone(timeline: Timeline, title: str, *, broken_ms: float | None = None) -> str:
    """The picture as a file of its own, in the colours that the style sheet falls back to."""
    style = resources.files("holdfast.reports").joinpath("templates", "timeline.css").read_text(encoding="utf-8")
    return str(draw(timeline, title, broken_ms=broken_ms, style=f"svg {{ background: #fff; }}\n{style}")) + "\n"


def in_words(timeline: Timeline) -> str:
    """How long, how many checkpoints and how they ended, how many restarts."""
    outcomes = [span.outcome for span in timeline.checkpoints]
    kinds = sorted(set(outcomes), key=lambda outcome: (outcome != "completed", outcome))
    counted = [f"{outcomes.count(outcome)} {one_line(outcome)}" for outcome in kinds]
    checkpoints = plural(len(outcomes), "checkpoint") + (f" ({', '.join(counted)})" if counted else "")
    return f"{duration(_length(timeline))} long, {checkpoints}, {plural(len(timeline.restarts_ms), 'restart')}"


def aborts_in_words(timeline: Timeline) -> list[str]:
    """Why checkpoints were aborted, by reason."""
    reasons: dict[str, list[int]] = {}
    for span in timeline.checkpoints:
        if span.outcome == "aborted":
            reasons.setdefault(one_line(span.reason) or "no reason given", []).append(span.checkpoint)
    return [
        f"{'checkpoint' if len(found) == 1 else 'checkpoints'} {', '.join(map(str, found[:6]))}"
        f"{' …' if len(found) > 6 else ''} aborted: {reason}"
        for reason, found in reasons.items()
    ]


def fault_words(band: Band) -> str:
    """A fault in words: what, when, whether it hit, and what it leaves undecided."""
    name = f"{band.kind} {band.target}".strip()
    if band.fate is FaultFate.NEVER_ACTED:
        return f"{name}: {FATES_IN_WORDS[band.fate]}"
    when = f"at {duration(band.start_ms)}"
    if band.end_ms > band.start_ms:
        when = f"from {duration(band.start_ms)} to {duration(band.end_ms)}"
    if band.fate is not FaultFate.LANDED:
        return f"{name} {when}: {FATES_IN_WORDS[band.fate]}"
    how = PRECISION_WORDS.get(band.precision, band.precision or "at an unknown precision")
    leaves = f"; leaves open: {band.leaves.replace(': ', ', ', 1)}" if band.leaves else ""
    return f"{name} {when}: confirmed ({how}){leaves}"


def faults_in_words(timeline: Timeline) -> list[tuple[Band, str]]:
    """Faults in words, in the order of the plan; what faults of a kind leave open is stated of the first alone."""
    stated: set[str] = set()
    found = []
    for band in timeline.faults:
        found.append(
            (band, fault_words(band if band.leaves not in stated else msgspec.structs.replace(band, leaves="")))
        )
        if band.fate is FaultFate.LANDED:
            stated.add(band.leaves)
    return found


def _missed(band: Band, words: str) -> str:
    """The words, if the fault did not land."""
    return "" if band.fate is FaultFate.LANDED else words


def _length(timeline: Timeline) -> float:
    """The declared duration, or what the content needs if none was declared."""
    declared = finite(timeline.duration_ms)
    if declared > 0:
        return declared
    ends = [end for lane in timeline.lanes for _, end in lane.lives] + [span.end_ms for span in timeline.checkpoints]
    return max((finite(end) for end in ends), default=0.0) or 1.0


def _line(x: float, top: float, bottom: float, class_: str, stroke: str | None = None, title: str = "") -> Markup:
    inside = (element("title", title),) if title else ()
    ends: dict[str, Value] = {"x1": x, "x2": x, "y1": top, "y2": bottom}
    return element("line", *inside, class_=class_, stroke=stroke, **ends)


def _grid(axis: _Axis, top: float, bottom: float) -> Markup:
    drawn: list[Markup] = []
    for time in axis.ticks():
        x = axis.x(time)
        drawn.append(_line(x, top, bottom, "grid"))
        # The last label would stick out of the picture.
        anchor = "end" if x > WIDTH - RIGHT - 16 else "middle"
        drawn.append(text_at(x, bottom + 15, axis.tick_label(time), "tick", anchor))
    drawn.append(element("path", class_="axis", d=f"M{number(LEFT)} {number(bottom)}H{number(WIDTH - RIGHT)}"))
    return group(drawn)


def _label_rows(faults: Sequence[Band], axis: _Axis) -> tuple[list[_Label], float]:
    """A label for each fault that acted, in as many rows as keep them apart; and where the rows end."""
    ends: list[float] = []
    labels: list[_Label] = []
    acted = (each for each in faults if each.fate is not FaultFate.NEVER_ACTED)
    for band in sorted(acted, key=lambda each: finite(each.start_ms)):
        words = one_line(f"{band.kind} {band.target}", 44) + _missed(band, f" ({band.fate})")
        width = (len(words) + 2) * CHARACTER
        x = axis.x(band.start_ms)
        start = min(x, WIDTH - 6 - width)
        row = next((index for index, end in enumerate(ends) if end <= start), len(ends))
        ends[row : row + 1] = [max(start + width, axis.x(band.end_ms)) + 10]
        labels.append(_Label(band, words, x, axis.x(band.end_ms), start, row * LABEL_ROW + 12))
    return labels, len(ends) * LABEL_ROW + (2 if ends else 0)


def _fault_labels(labels: Iterable[_Label], bottom: float) -> list[Markup]:
    """The labels: a dot (landed) or a ring (missed) in the fault's colour, a bar as long as it lasted, a line down.

    Each bar has a row of its own, because shades that lie over each other cannot be told apart.
    """
    drawn: list[Markup] = []
    for label in labels:
        hue = colour(label.band.colour)
        missed = _missed(label.band, " missed")
        dot: dict[str, Value] = {"cx": label.start, "cy": label.y - 4, "r": 3.2}
        parts = [element("title", fault_words(label.band))]
        parts.append(_line(label.left, label.y, bottom, f"lead{missed}", hue))
        if label.right - label.left >= 1:
            parts.append(_box(label.left, label.right, label.y + 3, 2, f"fault-edge{missed}", hue))
        parts.append(element("circle", class_=f"dot{missed}", stroke=hue, fill=None if missed else hue, **dot))
        parts.append(text_at(label.start + 8, label.y, label.words, "fault-label"))
        drawn.append(group(parts))
    return drawn


def _bands(
    faults: Sequence[Band], axis: _Axis, top: float, bottom: float, lane_of: dict[str, tuple[float, float]]
) -> list[Markup]:
    """A fault shades the whole height faintly, its target's lane strongly; a kill is a line."""
    drawn = []
    for band in faults:
        if band.fate is FaultFate.NEVER_ACTED:
            continue
        hue = colour(band.colour)
        missed = _missed(band, " missed")
        left, right = axis.x(band.start_ms), axis.x(band.end_ms)
        title = fault_words(band)
        if right - left < 1:
            drawn.append(_line(left, top, bottom, f"fault-line{missed}", hue, title))
            continue
        parts = [element("title", title), _box(left, right, top, bottom - top, f"fault-shade{missed}", hue)]
        if band.target.casefold() in lane_of:
            lane_top, height = lane_of[band.target.casefold()]
            parts.append(_box(left, right, lane_top, height, f"fault-lane{missed}", hue))
        drawn.append(group(parts))
    return drawn


def _box(left: float, right: float, top: float, height: float, class_: str, fill: str | None = None) -> Markup:
    return element("rect", class_=class_, x=left, y=top, width=max(right - left, 1), height=height, fill=fill)


def _lanes(timeline: Timeline, axis: _Axis, top: float) -> tuple[list[Markup], dict[str, tuple[float, float]], float]:
    """The lanes, where each lies (by name), and where they end."""
    height = LANE if len(timeline.lanes) <= MANY_LANES else LANE_WHEN_MANY
    bar = height * 0.36
    drawn: list[Markup] = []
    places: dict[str, tuple[float, float]] = {}
    for lane in timeline.lanes:
        middle = top + height / 2
        drawn.append(text_at(LEFT - 12, middle + 4, one_line(lane.name, 17), "lane-label", "end"))
        for index, (start, end) in enumerate(lane.lives, start=1):
            left, right = axis.x(start), axis.x(end)
            words = f"{lane.name}, life {index}: {duration(start)} to {duration(end)}"
            shape: dict[str, Value] = {"x": left, "width": max(right - left, 1.5), "rx": min(bar / 2, 3)}
            drawn.append(
                element("rect", element("title", words), class_="life", y=middle - bar / 2, height=bar, **shape)
            )
            if finite(end) < axis.duration * 0.999:
                drawn.append(_cross(right, middle, 3.5, "death"))
        places[lane.name.casefold()] = (top + 1, height - 2)
        top += height
    return drawn, places, top


def _cross(x: float, y: float, arm: float, class_: str) -> Markup:
    stroke = f"M{number(x - arm)} {number(y - arm)}l{number(2 * arm)} {number(2 * arm)}m0 {number(-2 * arm)}"
    return element("path", class_=class_, d=f"{stroke}l{number(-2 * arm)} {number(2 * arm)}")


def _checkpoints(spans: Sequence[Span], axis: _Axis, top: float) -> tuple[list[Markup], float]:
    """Spans in as many rows as overlap asks for, and where they end."""
    if not spans:
        return [], top
    many = len(spans) > FEW_SPANS
    drawn = [text_at(LEFT - 12, top + 10, "checkpoints", "lane-label", "end")]
    ends: list[float] = []
    silhouette: list[str] = []
    for span in sorted(spans, key=lambda each: (each.start_ms, each.checkpoint)):
        left = axis.x(span.start_ms)
        right = axis.x(span.end_ms if span.end_ms >= span.start_ms else axis.duration)
        right = max(right, left + 2.5)
        # More rows than a few are a picture of the overlap, not of the checkpoints: the last row takes the rest.
        row = next((index for index, end in enumerate(ends) if end <= left), min(len(ends), SPAN_ROWS - 1))
        ends[row : row + 1] = [right + 0.5]
        y = top + row * SPAN_ROW
        if many and span.outcome == "completed":
            silhouette.append(f"M{number(left)} {number(y)}h{number(right - left)}v{SPAN_HEIGHT:g}H{number(left)}z")
        else:
            drawn.append(_span(span, left, right, y))
    if silhouette:
        title = element("title", f"{count(len(silhouette))} completed checkpoints")
        drawn.append(element("path", title, class_="span completed", d="".join(silhouette)))
    return drawn, top + len(ends) * SPAN_ROW


def _span(span: Span, left: float, right: float, y: float) -> Markup:
    lasted = duration(span.end_ms - span.start_ms) if span.end_ms >= span.start_ms else "not ended"
    words = f"checkpoint {span.checkpoint}: {span.outcome} after {lasted}, from {duration(span.start_ms)}"
    parts = [element("title", words + (f"; {span.reason}" if span.reason else ""))]
    outcome = span.outcome if span.outcome in ("completed", "aborted") else "pending"
    shape: dict[str, Value] = {"x": left, "y": y, "width": right - left, "height": SPAN_HEIGHT, "rx": 2}
    parts.append(element("rect", class_=f"span {outcome}", **shape))
    name = str(span.checkpoint)
    if right - left > len(name) * CHARACTER + 4:
        parts.append(text_at((left + right) / 2, y + 8.8, name, f"span-label {outcome}", "middle"))
    return group(parts)


def _marks(timeline: Timeline, axis: _Axis, top: float, bottom: float) -> list[Markup]:
    """Restarts and the heal; a label only where there is room for it, the line and its tooltip always."""
    marks = [(time, f"restart {index}", "restart") for index, time in enumerate(timeline.restarts_ms, start=1)]
    if timeline.healed_ms > 0:
        marks.append((timeline.healed_ms, "all healed", "heal"))
    drawn: list[Markup] = []
    free_from = LEFT
    for time, words, class_ in sorted(marks):
        x = axis.x(time)
        drawn.append(_line(x, top + 13, bottom, class_, title=f"{words}, {duration(time)}"))
        half = len(words) * CHARACTER / 2
        middle = min(max(x, LEFT + half), WIDTH - RIGHT - half)
        if middle - half >= free_from:
            drawn.append(text_at(middle, top + 10, words, f"mark-label {class_}", "middle"))
            free_from = middle + half + 8
    return drawn


def _broken(at_ms: float | None, axis: _Axis, top: float, bottom: float) -> list[Markup]:
    """Where the first clause was broken, in front of everything else and above the other marks."""
    if at_ms is None:
        return []
    x, words = axis.x(at_ms), f"first violation, {duration(at_ms)}"
    left_half = x < (LEFT + WIDTH - RIGHT) / 2
    flag = f"M{number(x)} {number(top + 2)}l{number(9 if left_half else -9)} 5l{number(-9 if left_half else 9)} 5z"
    label = text_at(x + (13 if left_half else -13), top + 11, words, "mark-label broken", None if left_half else "end")
    return [_line(x, top + 2, bottom, "broken", title=words), element("path", class_="broken-flag", d=flag), label]


def _chart(
    name: str, unit: str, points: Sequence[tuple[float, float]], axis: _Axis, top: float, *, stepped: bool
) -> Markup:
    """A small area: its shape matters, and its highest value is written beside it."""
    kept = points if len(points) <= MOST_POINTS else points[:: len(points) // MOST_POINTS + 1]
    highest = max((finite(value) for _, value in points), default=0.0)
    bottom = top + CHART
    line = _path(((axis.x(time), bottom - _share(value, highest) * CHART) for time, value in kept), stepped=stepped)
    last = number(axis.x(axis.duration if stepped else kept[-1][0]))
    line += f"H{last}" if stepped else ""
    area = f"{line}V{number(bottom)}H{number(axis.x(kept[0][0]))}z"
    return group(
        [
            element("title", f"{name}: at most {count(highest)} {unit}"),
            element("path", class_="floor", d=f"M{number(LEFT)} {number(bottom)}H{number(WIDTH - RIGHT)}"),
            element("path", class_="area", d=area),
            element("path", class_="curve", d=line),
            text_at(LEFT - 12, top + 16, name, "lane-label", "end"),
            text_at(LEFT - 12, top + 30, f"max {count(highest)}", "scale-label", "end"),
        ]
    )


def _share(value: float, highest: float) -> float:
    return min(max(finite(value) / highest, 0.0), 1.0) if highest > 0 else 0.0


def _path(points: Iterable[tuple[float, float]], *, stepped: bool) -> str:
    """Through all points; stepped keeps a value until the next is known, as a reader that polls sees it."""
    written: list[str] = []
    for x, y in points:
        if not written:
            written.append(f"M{number(x)} {number(y)}")
        elif stepped:
            written.append(f"H{number(x)}V{number(y)}")
        else:
            written.append(f"L{number(x)} {number(y)}")
    return "".join(written)
