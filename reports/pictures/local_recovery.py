"""Local recovery: a lane for each subtask with its local copies, and where each restore reads."""

from __future__ import annotations

from markupsafe import Markup

from holdfast.harness.model.picture import DrawnCopy, DrawnRestore, LocalRecoveryPicture
from holdfast.harness.model.units import duration
from holdfast.reports.svg import Value, element, finite, group, number

WIDTH, LEFT, RIGHT = 1000.0, 96.0, 24.0
TOP, LANE, BAR, STEP = 30.0, 76.0, 14.0, 16.0
ROWS = 3
"""Copies that lie there at once are drawn one below the other."""


def sheet(picture: LocalRecoveryPicture) -> tuple[list[Markup], float, float]:
    """What to draw, and its width and height."""
    first, last = finite(picture.first_ms), finite(picture.last_ms)
    scale = (WIDTH - LEFT - RIGHT) / max(last - first, 1e-9)

    def x(time: float) -> float:
        return LEFT + (min(max(finite(time), first), last) - first) * scale

    floor = TOP + LANE * len(picture.subtasks)
    drawn: list[Markup] = []
    for lane, subtask in enumerate(picture.subtasks):
        top = TOP + lane * LANE
        drawn.append(_text(LEFT - 12, top + LANE / 2, subtask, "lane-label", "end"))
        drawn.append(
            element("path", class_="floor", d=f"M{number(LEFT)} {number(top + LANE - 10)}H{number(WIDTH - RIGHT)}")
        )
        copies = sorted((each for each in picture.copies if each.subtask == subtask), key=lambda each: each.start_ms)
        for place, copy in enumerate(copies):
            drawn.append(_copy(copy, x(copy.start_ms), x(copy.end_ms), top + (place % ROWS) * STEP))
        drawn += [
            _restore(each, x(each.at_ms), top + LANE - 10) for each in picture.restores if each.subtask == subtask
        ]
    for time, process in picture.deaths:
        drawn += [
            element("path", class_="due late", d=f"M{number(x(time))} {number(TOP - 6)}V{number(floor - 10)}"),
            _text(x(time), TOP - 12, f"{process} dies", "small", "middle"),
        ]
    for tick in range(6):
        time = first + (last - first) * tick / 5
        drawn.append(_text(x(time), floor + 10, duration(time) if time else "0", "tick", "middle"))
    return drawn, WIDTH, floor + 20


def _copy(copy: DrawnCopy, left: float, right: float, top: float) -> Markup:
    end = f"spoilt ({copy.spoilt})" if copy.spoilt else "pruned"
    shape: dict[str, Value] = {"x": left, "y": top, "width": max(right - left, 2), "height": BAR, "rx": 3}
    parts = [
        element("title", f"{copy.subtask}, checkpoint {copy.checkpoint}: {end}"),
        element("rect", class_="copy", **shape),
    ]
    if right - left > 16:
        parts.append(_text((left + right) / 2, top + 11, str(copy.checkpoint), "small", "middle"))
    if copy.spoilt:
        y = top + BAR / 2
        cross = f"M{number(right - 5)} {number(y - 5)}l10 10m0 -10l-10 10"
        parts += [element("path", class_="spoilt", d=cross), _text(right + 9, y + 4, copy.spoilt, "small", "start")]
    return group(parts)


def _restore(restore: DrawnRestore, x: float, floor: float) -> Markup:
    where = "local copy" if restore.local else f"checkpoint storage: {restore.reason}"
    words = f"{restore.subtask} restores checkpoint {restore.checkpoint} from {where}"
    class_ = "read local" if restore.local else "read remote"
    return group(
        [
            element("title", words),
            element("circle", class_=class_, cx=x, cy=floor, r=6),
            _text(x + 10, floor - 6, where, "small", "start"),
        ]
    )


def _text(x: float, y: float, words: str, class_: str, anchor: str) -> Markup:
    return element("text", words, class_=class_, x=x, y=y, text_anchor=anchor)
