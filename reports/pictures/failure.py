"""The run around a violation: a line for each process or subtask, time from left to right, messages between the lines.

Columns are as wide as their words ask for, so that no two texts meet. The names stand in a drawing of their own, which
a page keeps in sight while the rest is scrolled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from holdfast.harness.model.picture import DiagramArrow, DiagramStep, FailurePicture, StepShape
from holdfast.harness.model.units import duration
from holdfast.reports.svg import Value, element, group, number, text_at
from holdfast.reports.text import count, one_line

TOP, ROW, FLOOR = 62.0, 58.0, 34.0
LEFT, RIGHT = 14.0, 22.0
PAPER = (860.0, 1240.0)
"""What is wider is printed smaller, in two steps."""
NAME_CHARACTER, CHARACTER, BOLD_CHARACTER, SMALL_CHARACTER = 7.0, 6.3, 7.0, 5.9
MOST_NAME = 20
NEXT_STEP, NEXT_ON_LINE, ARROW = 10.0, 24.0, 24.0
LABEL_GAP, TICK_GAP = 7.0, 64.0
ABOVE, BELOW = -15.0, 24.0
LEAST_LEFT_OUT = 3
"""Fewer events are left out without a word on their line: the caption counts them too."""
WITNESS, WRONG, SHAPE, DOT = 9.0, 13.0, 7.0, 3.6
Point = tuple[float, float]


class _Layout:
    """Where each step is, on which side of it its label, where the flag is, and how wide the whole is."""

    def __init__(self, picture: FailurePicture) -> None:
        self.x: list[float] = []
        self.sides: list[float] = []
        self.chips: dict[int, float] = {}
        self.left = names_width(picture)
        incoming: dict[int, list[int]] = {}
        for arrow in picture.arrows:
            incoming.setdefault(arrow.end, []).append(arrow.start)
        ends: dict[tuple[int, float], float] = {}
        last_of: dict[int, float] = {}
        for index, step in enumerate(picture.steps):
            x = max(self.x[-1] + NEXT_STEP if self.x else LEFT + WRONG, last_of.get(step.line, LEFT) + NEXT_ON_LINE)
            x = max([x, *(self.x[start] + ARROW for start in incoming.get(index, ()) if start < index)])
            if step.before >= LEAST_LEFT_OUT:
                wide = len(left_out(step)) * SMALL_CHARACTER + 8
                x = max(x, last_of.get(step.line, LEFT - WRONG) + wide + 2 * WRONG + 6)
                self.chips[index] = wide
            half = label_width(step, wrong=index == picture.wrong) / 2
            side = min((ABOVE, BELOW), key=lambda side: max(ends.get((step.line, side), 0.0) + LABEL_GAP + half, x))
            if step.label:
                x = max(x, ends.get((step.line, side), 0.0) + LABEL_GAP + half)
                ends[step.line, side] = x + half
            self.x.append(x)
            self.sides.append(side)
            last_of[step.line] = x
        self.flag = f"the wrong step, at {duration(picture.steps[picture.wrong].at_ms)}"
        flag = len(self.flag) * BOLD_CHARACTER + WRONG
        at = self.x[picture.wrong]
        self.flag_to_the_left = at > flag
        self.width = max([*self.x, *ends.values(), 0.0 if self.flag_to_the_left else at + flag]) + RIGHT
        self._turn_away_from_arrows(picture)
        self.height = TOP + ROW * len(picture.lines) - ROW / 2 + FLOOR

    def _turn_away_from_arrows(self, picture: FailurePicture) -> None:
        """Words that an arrow goes through change sides, if there is room and less in the way."""
        steps, ends = picture.steps, [(each.start, each.end) for each in picture.arrows]
        shafts = [
            ((self.x[one], self.y(steps[one].line)), (self.x[other], self.y(steps[other].line))) for one, other in ends
        ]
        halves = [label_width(step, wrong=index == picture.wrong) / 2 for index, step in enumerate(steps)]

        def room(index: int, side: float) -> bool:
            return not any(
                other != index
                and step.label
                and (step.line, self.sides[other]) == (steps[index].line, side)
                and abs(self.x[other] - self.x[index]) < halves[other] + halves[index] + LABEL_GAP
                for other, step in enumerate(steps)
            )

        def crossings(index: int, side: float) -> int:
            y = self.y(steps[index].line) + side - 4
            return sum(_crosses(shaft, self.x[index], y, halves[index]) for shaft in shafts)

        for index, step in enumerate(steps):
            here = self.sides[index]
            there = BELOW if here == ABOVE else ABOVE
            if step.label and crossings(index, there) < crossings(index, here) and room(index, there):
                self.sides[index] = there

    @staticmethod
    def y(line: int) -> float:
        return TOP + ROW * line


def _crosses(shaft: tuple[Point, Point], x: float, y: float, half: float) -> bool:
    """Whether a shaft goes through words around a place."""
    (left, top), (right, bottom) = shaft
    if not min(top, bottom) < y < max(top, bottom):
        return False
    return abs(left + (y - top) / (bottom - top) * (right - left) - x) < half


def names_width(picture: FailurePicture) -> float:
    return max(len(one_line(name, MOST_NAME)) for name in picture.lines) * NAME_CHARACTER + 14


def label_width(step: DiagramStep, *, wrong: bool) -> float:
    return len(step.label) * (BOLD_CHARACTER if wrong or step.witness else CHARACTER)


def left_out(step: DiagramStep) -> str:
    """How many events before it are not drawn."""
    return f"… {count(step.before)}"


def sheet(picture: FailurePicture) -> tuple[list[Markup], float, float]:
    """What to draw, and its width and height."""
    layout = _Layout(picture)
    moved = group(_body(picture, layout), transform=f"translate({number(layout.left)} 0)")
    return [*_names(picture, layout), moved], layout.left + layout.width, layout.height


def inline(picture: FailurePicture) -> Markup:
    """For a page: the names, which stay, and the rest, which can be scrolled beside them."""
    layout = _Layout(picture)
    names = element(
        "svg",
        *_names(picture, layout),
        class_="picture-svg names",
        width=layout.left,
        height=layout.height,
        aria_hidden="true",
    )
    body = element(
        "svg",
        element("title", picture.title),
        element("desc", in_words(picture)),
        *_body(picture, layout),
        class_="picture-svg body",
        width=layout.width,
        height=layout.height,
        role="img",
    )
    wide = sum(layout.left + layout.width > each for each in PAPER)
    return element("div", names, body, class_=("space-time", "space-time wide", "space-time widest")[wide])


def in_words(picture: FailurePicture) -> str:
    """The picture for those who hear it read: every step in order."""
    sentences = [scope(picture)]
    for index, step in enumerate(picture.steps):
        before = f"{left_out(step)} events left out; " if step.before else ""
        wrong = "the wrong step: " if index == picture.wrong else ""
        sentences.append(f"{before}{wrong}{_spoken(picture, step)}")
    return "; ".join(sentences)


def scope(picture: FailurePicture) -> str:
    """How much of the run it shows."""
    return (
        f"{count(picture.drawn)} of {count(picture.events)} events from {duration(picture.first_ms)} to "
        f"{duration(picture.last_ms)} on {len(picture.lines)} lines"
    )


def _spoken(picture: FailurePicture, step: DiagramStep) -> str:
    number_of = f", line {step.witness} of the witness" if step.witness else ""
    return f"{picture.lines[step.line]}, {duration(step.at_ms)}: {one_line(step.words)}{number_of}"


def _names(picture: FailurePicture, layout: _Layout) -> list[Markup]:
    return [
        element(
            "text",
            element("title", name),
            one_line(name, MOST_NAME),
            x=layout.left - 10,
            y=layout.y(line) + 4,
            class_="name",
            text_anchor="end",
        )
        for line, name in enumerate(picture.lines)
    ]


def _body(picture: FailurePicture, layout: _Layout) -> list[Markup]:
    return [
        *_flag(picture, layout),
        *_ticks(picture, layout),
        *(_line(picture, layout, line) for line in range(len(picture.lines))),
        *(_arrow(arrow, picture, layout) for arrow in picture.arrows),
        *(_chip(step, index, layout) for index, step in enumerate(picture.steps) if index in layout.chips),
        *(_step(picture, index, layout) for index in range(len(picture.steps))),
    ]


def _flag(picture: FailurePicture, layout: _Layout) -> list[Markup]:
    """The moment, marked over the whole height and in words."""
    x, bottom = layout.x[picture.wrong], layout.height - FLOOR + 8
    way = -1 if layout.flag_to_the_left else 1
    flag = f"M{number(x)} 4l{number(9 * way)} 5l{number(-9 * way)} 5z"
    return [
        element("path", class_="moment-line", d=f"M{number(x)} 4V{number(bottom)}"),
        element("path", class_="moment-flag", d=flag),
        text_at(x + WRONG * way, 13, layout.flag, "wrong-label", "end" if layout.flag_to_the_left else "start"),
    ]


def _ticks(picture: FailurePicture, layout: _Layout) -> list[Markup]:
    """When, below some of the steps."""
    drawn: list[Markup] = []
    free_from, last, bottom = 0.0, "", layout.height - FLOOR
    for step, x in zip(picture.steps, layout.x, strict=True):
        words = duration(step.at_ms)
        half = len(words) * CHARACTER / 2
        if words != last and x - half >= free_from and x + half <= layout.width:
            drawn.append(element("path", class_="floor", d=f"M{number(x)} {number(bottom + 6)}v6"))
            drawn.append(text_at(x, bottom + 26, words, "tick", "middle"))
            free_from, last = x + TICK_GAP, words
    return drawn


def _line(picture: FailurePicture, layout: _Layout, line: int) -> Markup:
    """A life, broken between an end and what follows it."""
    y, drawn, start, alive = layout.y(line), "", 0.0, True
    for step, x in zip(picture.steps, layout.x, strict=True):
        if step.line != line:
            continue
        if not alive:
            start, alive = x, True
        if step.shape is StepShape.END:
            drawn += f"M{number(start)} {number(y)}H{number(x)}"
            alive = False
    if alive:
        drawn += f"M{number(start)} {number(y)}H{number(layout.width)}"
    gone = element("path", class_="gone", d=f"M0 {number(y)}H{number(layout.width)}")
    return group([gone, element("path", class_="life", d=drawn)] if drawn else [gone])


def _arrow(arrow: DiagramArrow, picture: FailurePicture, layout: _Layout) -> Markup:
    start, end = picture.steps[arrow.start], picture.steps[arrow.end]
    left, top = layout.x[arrow.start], layout.y(start.line)
    right, bottom = layout.x[arrow.end], layout.y(end.line)
    length = math.dist((left, top), (right, bottom)) or 1.0
    step = (right - left) / length, (bottom - top) / length
    radius = _radius(end, wrong=arrow.end == picture.wrong) + 1
    x, y = right - step[0] * radius, bottom - step[1] * radius
    head = (
        f"M{number(x)} {number(y)}L{number(x - 8 * step[0] - 4 * step[1])} {number(y - 8 * step[1] + 4 * step[0])}"
        f"L{number(x - 8 * step[0] + 4 * step[1])} {number(y - 8 * step[1] - 4 * step[0])}z"
    )
    shaft = f"M{number(left)} {number(top)}L{number(x - 7 * step[0])} {number(y - 7 * step[1])}"
    kind = arrow.kind.value
    return group(
        [element("path", class_=f"shaft {kind}", d=shaft), element("path", class_=f"arrow-head {kind}", d=head)]
    )


def _chip(step: DiagramStep, index: int, layout: _Layout) -> Markup:
    """How many events are left out, on the line before the next one that is drawn."""
    wide, x, y = layout.chips[index], layout.x[index], layout.y(step.line)
    middle = x - WRONG - 3 - wide / 2
    shape: dict[str, Value] = {"x": middle - wide / 2, "y": y - 8, "width": wide, "height": 16, "rx": 8}
    title = element("title", f"{count(step.before)} events of this line are left out here")
    words = text_at(middle, y + 3.5, left_out(step), "omitted", "middle")
    return group([title, element("rect", class_="omission", **shape), words])


def _step(picture: FailurePicture, index: int, layout: _Layout) -> Markup:
    step, x, y = picture.steps[index], layout.x[index], layout.y(picture.steps[index].line)
    wrong = index == picture.wrong
    parts = [element("title", ("the wrong step: " if wrong else "") + _spoken(picture, step))]
    if wrong:
        diamond = f"M{number(x)} {number(y - WRONG)}l{WRONG:g} {WRONG:g}l-{WRONG:g} {WRONG:g}l-{WRONG:g} -{WRONG:g}z"
        parts.append(element("path", class_="wrong-step", d=diamond))
        parts.append(text_at(x, y + 4, str(step.witness or "!"), "wrong-number", "middle"))
    elif step.witness:
        parts.append(element("circle", class_="witness-step", cx=x, cy=y, r=WITNESS))
        parts.append(text_at(x, y + 4, str(step.witness), "witness-number", "middle"))
    else:
        parts += _MARKS[step.shape](x, y)
    if step.label:
        class_ = "wrong-label" if wrong else "witness-label" if step.witness else "step-words"
        parts.append(text_at(x, y + layout.sides[index], step.label, class_, "middle"))
    return group(parts)


def _radius(step: DiagramStep, *, wrong: bool) -> float:
    if wrong:
        return WRONG
    if step.witness:
        return WITNESS
    return DOT if step.shape is StepShape.STEP else SHAPE


def _dot(x: float, y: float) -> list[Markup]:
    return [element("circle", class_="dot", cx=x, cy=y, r=DOT)]


def _triangle(x: float, y: float) -> list[Markup]:
    return [element("path", class_="mark-trigger", d=f"M{number(x - 6)} {number(y - 7)}l13 7l-13 7z")]


def _square(x: float, y: float) -> list[Markup]:
    shape: dict[str, Value] = {"x": x - 6, "y": y - 6, "width": 12, "height": 12, "rx": 2}
    return [element("rect", class_="mark-snapshot", **shape)]


def _ring(class_: str, stroke: str) -> Callable[[float, float], list[Markup]]:
    def draw(x: float, y: float) -> list[Markup]:
        return [
            element("circle", class_=f"mark-{class_}", cx=x, cy=y, r=SHAPE + 1),
            element("path", class_=f"sign-{class_}", d=f"M{number(x)} {number(y)}{stroke}"),
        ]

    return draw


def _begin(x: float, y: float) -> list[Markup]:
    return [element("path", class_="mark-begin", d=f"M{number(x)} {number(y - 9)}v18m0 -9h7")]


def _cross(x: float, y: float) -> list[Markup]:
    return [element("path", class_="mark-end", d=f"M{number(x - 6)} {number(y - 6)}l12 12m0 -12l-12 12")]


def _bolt(x: float, y: float) -> list[Markup]:
    return [element("path", class_="mark-fault", d=f"M{number(x + 3)} {number(y - 11)}l-9 13h5l-3 9l10 -13h-5z")]


def _bar(x: float, y: float) -> list[Markup]:
    return [element("path", class_="mark-block", d=f"M{number(x - 2.5)} {number(y - 8)}v16m5 0v-16")]


_MARKS: Mapping[StepShape, Callable[[float, float], Sequence[Markup]]] = {
    StepShape.STEP: _dot,
    StepShape.TRIGGER: _triangle,
    StepShape.SNAPSHOT: _square,
    StepShape.COMPLETE: _ring("complete", "m-4 0l3 3.5l5 -7"),
    StepShape.ABORT: _ring("abort", "m-3.2 -3.2l6.4 6.4m0 -6.4l-6.4 6.4"),
    StepShape.BEGIN: _begin,
    StepShape.END: _cross,
    StepShape.FAULT: _bolt,
    StepShape.BLOCK: _bar,
}
