"""Interval and pause: when the next checkpoint was due, and when it could begin."""

from __future__ import annotations

from markupsafe import Markup

from holdfast.harness.model.picture import PausePicture
from holdfast.harness.model.units import duration
from holdfast.reports.svg import Value, element, finite, group, number, text_at

WIDTH, LEFT, RIGHT = 1000.0, 96.0, 24.0
TOP, BAR_HEIGHT, PAUSE_ROW, BOTTOM = 44.0, 26.0, 34.0, 30.0


def sheet(picture: PausePicture) -> tuple[list[Markup], float, float]:
    """What to draw, and its width and height."""
    last = max((finite(each) for span in picture.spans for each in (span.end_ms, span.earliest_ms)), default=1.0)
    first = max(min((finite(span.start_ms) for span in picture.spans), default=0.0) - picture.interval_ms * 0.4, 0.0)
    scale = (WIDTH - LEFT - RIGHT) / max(last * 1.01 - first, 1e-9)

    def x(time: float) -> float:
        return LEFT + (finite(time) - first) * scale

    bars, pauses = TOP + BAR_HEIGHT, TOP + BAR_HEIGHT + PAUSE_ROW
    floor = pauses + (22 if picture.pause_ms else -22)
    drawn: list[Markup] = [
        text_at(LEFT - 12, TOP + 17, "checkpoints", "lane-label", "end"),
        element("path", class_="floor", d=f"M{number(LEFT)} {number(floor)}H{number(WIDTH - RIGHT)}"),
    ]
    if picture.pause_ms:
        drawn.append(text_at(LEFT - 12, pauses - 2, "pause", "lane-label", "end"))
    drawn.append(text_at(LEFT - 12, 16, "due", "lane-label", "end"))
    for index, span in enumerate(picture.spans):
        left, right = x(span.start_ms), x(span.end_ms)
        words = f"checkpoint {span.checkpoint}: from {duration(span.start_ms)}, {duration(span.end_ms - span.start_ms)}"
        shape: dict[str, Value] = {"x": left, "y": TOP, "width": max(right - left, 2), "height": BAR_HEIGHT, "rx": 3}
        label = text_at((left + right) / 2, TOP - 5, str(span.checkpoint), "name", "middle")
        drawn.append(group([element("title", words), element("rect", class_="snapshot", **shape), label]))
        due = span.start_ms + picture.interval_ms
        if index + 1 < len(picture.spans):
            drawn.append(_due(x(due), late=picture.spans[index + 1].start_ms > due * 1.001, bottom=bars))
        if picture.pause_ms:
            drawn.append(_pause(right, x(span.end_ms + picture.pause_ms), pauses, duration(picture.pause_ms)))
    for time in _ticks(first, last):
        drawn.append(text_at(x(time), floor + 16, duration(time) if time else "0", "tick", "middle"))
    return drawn, WIDTH, floor + BOTTOM


def _due(x: float, *, late: bool, bottom: float) -> Markup:
    """When the interval had passed; what is late had to wait."""
    path = f"M{number(x)} 18V{number(bottom)}"
    mark = f"M{number(x - 5)} 8h10l-5 9z"
    class_ = "due late" if late else "due"
    words = "the interval had passed, and the next one had to wait" if late else "the interval had passed"
    return group(
        [
            element("title", words),
            element("path", class_=class_, d=path),
            element("path", class_=f"{class_} mark", d=mark),
        ]
    )


def _pause(left: float, right: float, y: float, words: str) -> Markup:
    path = f"M{number(left)} {number(y - 6)}v8m0 -4H{number(right)}m0 -4v8"
    parts = [element("path", class_="pause", d=path)]
    if right - left > 40:
        parts.append(text_at((left + right) / 2, y - 8, words, "small", "middle"))
    return group(parts)


def _ticks(first: float, last: float) -> list[float]:
    step = next(
        (
            each * 10.0**power
            for power in range(-1, 9)
            for each in (1, 2, 5)
            if (last - first) / (each * 10.0**power) <= 8
        ),
        last,
    )
    return [index * step for index in range(int(first / step) + 1, int(last / step) + 1)]
