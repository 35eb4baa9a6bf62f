"""A recovery: how far each source had got, and where it went on; what is read twice is shaded."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from holdfast.harness.model.picture import OffsetLine, RecoveryPicture
from holdfast.harness.model.units import duration
from holdfast.reports.svg import Value, element, finite, group, number, text_at
from holdfast.reports.text import count, one_line

WIDTH, LEFT, RIGHT = 1000.0, 84.0, 24.0
PHASE_ROW, TOP, HEIGHT = 20.0, 74.0, 240.0
LABEL, LABEL_ROW = 110.0, 14.0
"""What the words beside a rewind take up."""
CAUSE, CHECKPOINT = 290.0, 22.0
"""What the cause of a failure and the number of a checkpoint take up."""
Place = Callable[[float], float]
Height = Callable[[int], float]


def sheet(picture: RecoveryPicture) -> tuple[list[Markup], float, float]:
    """What to draw, and its width and height."""
    scale = (WIDTH - LEFT - RIGHT) / max(finite(picture.duration_ms), 1e-9)
    highest = max((offset for line in picture.lines for _, offset in line.points), default=1) or 1
    bottom = TOP + HEIGHT

    def x(time: float) -> float:
        return LEFT + min(max(finite(time) * scale, 0.0), WIDTH - LEFT - RIGHT)

    def y(offset: int) -> float:
        return bottom - offset / highest * HEIGHT

    drawn: list[Markup] = [text_at(LEFT - 12, 14, "job", "lane-label", "end")]
    for start, end, words in picture.phases:
        shape: dict[str, Value] = {"x": x(start), "y": 2, "width": max(x(end) - x(start), 1), "height": PHASE_ROW - 4}
        drawn.append(element("rect", element("title", words), class_=f"phase {words}", **shape))
        if x(end) - x(start) > len(words) * 6.5 + 6:
            drawn.append(text_at((x(start) + x(end)) / 2, 14, words, "phase-label", "middle"))
    for offset in _ticks(highest):
        drawn.append(element("path", class_="grid", d=f"M{number(LEFT)} {number(y(offset))}H{number(WIDTH - RIGHT)}"))
        drawn.append(text_at(LEFT - 12, y(offset) + 4, count(offset), "tick", "end"))
    drawn.append(text_at(LEFT - 12, TOP - 12, "next offset", "lane-label", "end"))
    drawn += _checkpoints(picture, x, y, bottom)
    drawn += _failures(picture, x, bottom)
    partitions = sorted({line.partition for line in picture.lines})
    for line in picture.lines:
        drawn.append(_line(line, x, y, partitions.index(line.partition) % 4 + 1))
    drawn += _rewinds(picture, x, y)
    drawn.append(element("path", class_="floor", d=f"M{number(LEFT)} {number(bottom)}H{number(WIDTH - RIGHT)}"))
    step = _step(max(int(picture.duration_ms), 1))
    for index in range(int(picture.duration_ms) // step + 1):
        drawn.append(text_at(x(index * step), bottom + 16, duration(index * step), "tick", "middle"))
    return drawn, WIDTH, bottom + 24


def _failures(picture: RecoveryPicture, x: Place, bottom: float) -> list[Markup]:
    """A line for each; of those that stand close together only the first one's cause is written, with their number."""

    def place(time: float) -> float:
        return min(x(time) + 5, WIDTH - CAUSE)

    drawn: list[Markup] = []
    close: list[list[tuple[float, str]]] = []
    for time, cause in picture.failures:
        path = f"M{number(x(time))} {number(PHASE_ROW)}V{number(bottom)}"
        words = f"failure at {duration(time)}: {one_line(cause)}"
        drawn.append(element("path", element("title", words), class_="failure", d=path))
        if close and place(time) - place(close[-1][0][0]) < CAUSE:
            close[-1].append((time, cause))
        else:
            close.append([(time, cause)])
    for (time, cause), *others in close:
        words = one_line(cause, 30) + (f" and {len(others)} more" if others else "")
        drawn.append(text_at(place(time), PHASE_ROW + 14, words, "failure-label", "start"))
    return drawn


def _checkpoints(picture: RecoveryPicture, x: Place, y: Height, bottom: float) -> list[Markup]:
    """Where the offsets of each completed checkpoint are; those that were restored stand out."""
    restored = {checkpoint for _, checkpoint in picture.restores}
    drawn = []
    labels = [x(time) for checkpoint, time, _ in picture.checkpoints if checkpoint in restored]
    for checkpoint, time, positions in picture.checkpoints:
        class_ = "cut restored" if checkpoint in restored else "cut"
        title = element("title", f"checkpoint {checkpoint} complete at {duration(time)}, offsets {positions}")
        parts = [title, element("path", class_="cut-line", d=f"M{number(x(time))} {number(TOP)}V{number(bottom)}")]
        parts += [element("circle", class_=class_, cx=x(time), cy=y(offset), r=4.5) for offset in positions]
        if checkpoint in restored:
            parts.append(text_at(x(time), TOP - 4, str(checkpoint), "name", "middle"))
        elif all(abs(x(time) - each) > CHECKPOINT for each in labels):
            parts.append(text_at(x(time), TOP - 4, str(checkpoint), "tick", "middle"))
            labels.append(x(time))
        drawn.append(group(parts))
    return drawn


def _line(line: OffsetLine, x: Place, y: Height, series: int) -> Markup:
    """A source in one attempt: it stays where it is until it goes on."""
    path = ""
    for time, offset in line.points:
        path += f"H{number(x(time))}V{number(y(offset))}" if path else f"M{number(x(time))} {number(y(offset))}"
    title = element("title", f"partition {line.partition}, attempt {line.attempt}")
    return element("path", title, class_=f"offsets line-{series}", d=path)


def _rewinds(picture: RecoveryPicture, x: Place, y: Height) -> list[Markup]:
    """From where an attempt ended back to where the next one began."""
    drawn = []
    labels: list[tuple[float, float]] = []
    lines = {(line.attempt, line.partition): line.points for line in picture.lines if line.points}
    for (attempt, partition), points in sorted(lines.items()):
        following = lines.get((attempt + 1, partition))
        if following is None:
            continue
        (left, reached), (right, back) = points[-1], following[0]
        if reached <= back:
            continue
        path = f"M{number(x(left))} {number(y(reached))}L{number(x(right))} {number(y(back))}"
        words = f"partition {partition} goes back from {count(reached)} to {count(back)}"
        drawn.append(element("path", element("title", words), class_="rewind", d=path))
        again = f"{count(reached - back)} read again"
        place = (x(left) + x(right)) / 2, max((y(reached) + y(back)) / 2 - 9, TOP + LABEL_ROW)
        while any(abs(place[0] - other[0]) < LABEL and abs(place[1] - other[1]) < LABEL_ROW for other in labels):
            place = place[0], place[1] + LABEL_ROW
        if place[1] > TOP + HEIGHT - LABEL_ROW:
            continue
        labels.append(place)
        drawn.append(text_at(*place, again, "rewind-label", "start"))
    return drawn


def _ticks(highest: int) -> list[int]:
    return [index * _step(highest) for index in range(highest // _step(highest) + 1)]


def _step(highest: int) -> int:
    """The round distance of at most six ticks."""
    steps = (each * int(10**power) for power in range(18) for each in (1, 2, 5))
    return next(step for step in steps if highest / step <= 6)
