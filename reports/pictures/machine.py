"""A state machine drawn from its table: states in layers from top to bottom, an arrow for each pair of states.

Nothing is placed by hand. A state stands a layer below the lowest of those that lead to it; what leads back, or past a
layer, goes round the side. Labels give way to boxes and to each other.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass

from markupsafe import Markup

from holdfast.harness.model.picture import DrawnMachine
from holdfast.harness.model.state_machine import ANY, StateMachine
from holdfast.reports.svg import Value, element, group, number
from holdfast.reports.text import count

BOX, BOX_HEIGHT = 118.0, 34.0
COLUMN, LAYER = 250.0, 104.0
SIDE, TOP = 150.0, 40.0
CHARACTER, LINE, LABEL_CHARACTERS = 5.9, 13.0, 22
LOOP, HEAD = 34.0, 9.0
Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class _Arrow:
    """All rows from one state to another."""

    before: str
    after: str
    words: tuple[str, ...]
    taken: int | None


def sheet(picture: DrawnMachine) -> tuple[list[Markup], float, float]:
    """What to draw, and its width and height."""
    machine = picture.machine
    layers = _layers(machine)
    places = _places(machine, layers)
    arrows = _arrows(picture)
    boxes = [_around(place, BOX, BOX_HEIGHT) for place in places.values()]
    taken_up: list[Rectangle] = list(boxes)
    drawn: list[Markup] = []
    labels: list[Markup] = []
    right = max(place[0] for place in places.values()) + BOX / 2
    curves = [(arrow, _curve(arrow, places, layers)) for arrow in arrows]
    for arrow, curve in sorted(curves, key=lambda each: _length(each[1])):
        class_ = "step" if arrow.taken is None or arrow.taken else "step untaken"
        drawn.append(_path(curve, class_))
        label, around = _label(arrow, curve, taken_up)
        labels.append(label)
        taken_up.append(around)
        right = max(right, around[2])
    left = min(each[0] for each in taken_up)
    drawn += [_state(machine, name, place) for name, place in places.items()]
    shifted = group([*drawn, *labels], transform=f"translate({number(8 - left)} 0)")
    bottom = max(each[3] for each in taken_up)
    return [shifted], right - left + 16, bottom + 12


def _arrows(picture: DrawnMachine) -> list[_Arrow]:
    rows: dict[tuple[str, str], list[int]] = {}
    for row, step in enumerate(picture.machine.steps):
        rows.setdefault((step.before, step.after), []).append(row)
    arrows = []
    for (before, after), found in rows.items():
        words = tuple(picture.machine.steps[row].words for row in found)
        taken = sum(picture.taken[row] for row in found) if picture.taken else None
        arrows.append(_Arrow(before, after, words, taken))
    return arrows


def _layers(machine: StateMachine) -> dict[str, int]:
    """How far each state is below the initial one, by the longest way that does not turn back."""
    below: dict[str, list[str]] = {state: [] for state in machine.states}
    for step in machine.steps:
        if step.before not in (ANY, step.after) and step.after not in below[step.before]:
            below[step.before].append(step.after)
    order: list[str] = []
    forward: dict[str, list[str]] = {state: [] for state in machine.states}
    on_the_way: list[str] = []
    seen: set[str] = set()

    def visit(state: str) -> None:
        seen.add(state)
        on_the_way.append(state)
        for following in below[state]:
            if following in on_the_way:
                continue
            forward[state].append(following)
            if following not in seen:
                visit(following)
        on_the_way.pop()
        order.append(state)

    for state in machine.states:
        if state not in seen:
            visit(state)
    layers = dict.fromkeys(machine.states, 0)
    for state in reversed(order):
        for following in forward[state]:
            layers[following] = max(layers[following], layers[state] + 1)
    return layers


def _places(machine: StateMachine, layers: dict[str, int]) -> dict[str, Point]:
    """Centres: what ends badly stands aside, so that the way that ends well is straight."""
    found: dict[str, Point] = {}
    for layer in range(max(layers.values()) + 1):
        states = [state for state in machine.states if layers[state] == layer]
        states.sort(key=lambda state: state in machine.bad)
        for index, state in enumerate(states):
            aside = 1 if len(states) == 1 and state in machine.bad else 0
            found[state] = SIDE + (index + aside) * COLUMN, TOP + BOX_HEIGHT / 2 + layer * LAYER
    return found


def _around(place: Point, width: float, height: float) -> Rectangle:
    return place[0] - width / 2, place[1] - height / 2, place[0] + width / 2, place[1] + height / 2


Curve = tuple[Point, Point, Point, Point]


def _curve(arrow: _Arrow, places: dict[str, Point], layers: dict[str, int]) -> Curve:
    """A cubic curve from border to border."""
    x1, y1 = places[arrow.after]
    if arrow.before == ANY:
        start = (x1, y1 - BOX_HEIGHT / 2 - 24)
        return start, (start[0], start[1] + 8), (x1, y1 - BOX_HEIGHT / 2 - 10), (x1, y1 - BOX_HEIGHT / 2)
    x0, y0 = places[arrow.before]
    if arrow.before == arrow.after:
        corner, top = x0 + BOX / 2, y0 - BOX_HEIGHT / 2
        return (corner - 22, top), (corner - 12, top - 26), (corner + LOOP, top - 4), (corner - 1, top + 9)
    down = layers[arrow.after] - layers[arrow.before]
    inside = range(layers[arrow.before] + 1, layers[arrow.after])
    standing = {place[0] for state, place in places.items() if layers[state] in inside}
    side = 1.0 if x1 > x0 else -1.0
    if down == 1 or (down > 1 and x0 == x1 and x0 not in standing):
        spread = (x1 - x0) / COLUMN * BOX * 0.22
        start, end = (x0 + spread, y0 + BOX_HEIGHT / 2), (x1 - spread, y1 - BOX_HEIGHT / 2)
        bend = (end[1] - start[1]) * 0.5
        return start, (start[0], start[1] + bend), (end[0], end[1] - bend), end
    if down > 1 and x0 != x1 and x0 not in standing:
        start, end = (x0, y0 + BOX_HEIGHT / 2), (x1 - side * BOX / 2, y1)
        return start, (x0, y1), (x0, y1), end
    if down > 1 and x0 != x1 and x1 not in standing:
        start, end = (x0 + side * BOX / 2, y0 + 5), (x1, y1 - BOX_HEIGHT / 2)
        return start, (x1, y0 + 5), (x1, y0 + 25), end
    side = -1.0 if down > 0 and x0 == x1 else 1.0
    start, end = (x0 + side * BOX / 2, y0 + 5), (x1 + side * BOX / 2, y1 + (5 if down < 0 else 0))
    outer = (max if side > 0 else min)(start[0], end[0]) + side * (50 + 26 * abs(down))
    return start, (outer, start[1]), (outer, end[1]), end


def _at(curve: Curve, t: float) -> Point:
    a, b, c, d = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    p, q, r, s = curve
    return a * p[0] + b * q[0] + c * r[0] + d * s[0], a * p[1] + b * q[1] + c * r[1] + d * s[1]


def _length(curve: Curve) -> float:
    return abs(curve[0][0] - curve[3][0]) + abs(curve[0][1] - curve[3][1])


def _label(arrow: _Arrow, curve: Curve, taken_up: list[Rectangle]) -> tuple[Markup, Rectangle]:
    """The words on an arrow, where they cover nothing."""
    lines = [line for words in arrow.words for line in textwrap.wrap(words, LABEL_CHARACTERS)]
    if arrow.before == ANY:
        lines = [f"{lines[0]}, from any state"]
    if arrow.taken:
        lines[-1] += f" ×{count(arrow.taken)}"
    wide, high = max(map(len, lines)) * CHARACTER + 8, len(lines) * LINE + 3
    around = (0.0, 0.0, 0.0, 0.0)
    for t, aside in (
        (t, aside) for aside in (0.0, 0.5, -0.5, 0.62, -0.62) for t in (0.5, 0.42, 0.58, 0.35, 0.65, 0.28, 0.72)
    ):
        x, y = _at(curve, t)
        if arrow.before == arrow.after:
            x, y = curve[3][0] + 22 + wide / 2, curve[0][1] - 7
        elif arrow.before == ANY:
            # To the left: a state's arrow to itself has its words on the right.
            x, y = curve[0][0] - wide / 2 - 6, curve[0][1] + 6
        around = _around((x + aside * wide, y), wide, high)
        if not any(_overlap(around, each) for each in taken_up):
            break
    left, top, right, bottom = around
    middle = (left + right) / 2
    shape: dict[str, Value] = {"x": left, "y": top, "width": right - left, "height": bottom - top, "rx": 3}
    texts = [
        element("text", line, x=middle, y=top + 11 + index * LINE, class_="step-label", text_anchor="middle")
        for index, line in enumerate(lines)
    ]
    class_ = "label-box" if arrow.taken is None or arrow.taken else "label-box untaken"
    return group(
        [element("rect", class_=class_, **shape), *texts], class_="untaken" if arrow.taken == 0 else None
    ), around


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] + 2 and other[0] < one[2] + 2 and one[1] < other[3] + 1 and other[1] < one[3] + 1


def _path(curve: Curve, class_: str) -> Markup:
    start, first, second, end = (f"{number(x)} {number(y)}" for x, y in curve)
    return group([element("path", class_=class_, d=f"M{start}C{first} {second} {end}"), _head(curve, class_)])


def _head(curve: Curve, class_: str) -> Markup:
    """A head where the curve ends, as it comes in."""
    x, y = curve[3]
    back = _at(curve, 0.94)
    length = math.dist(back, curve[3]) or 1.0
    ahead = (x - back[0]) / length, (y - back[1]) / length
    base = x - ahead[0] * HEAD, y - ahead[1] * HEAD
    wing = -ahead[1] * HEAD * 0.45, ahead[0] * HEAD * 0.45
    corners = ((x, y), (base[0] + wing[0], base[1] + wing[1]), (base[0] - wing[0], base[1] - wing[1]))
    path = "L".join(f"{number(each[0])} {number(each[1])}" for each in corners)
    return element("path", class_=f"head {class_}", d=f"M{path}z")


def _state(machine: StateMachine, name: str, place: Point) -> Markup:
    class_ = "state"
    if name == machine.initial:
        class_ += " initial"
    if name in machine.good:
        class_ += " good"
    if name in machine.bad:
        class_ += " bad"
    left, top, _, _ = _around(place, BOX, BOX_HEIGHT)
    shape: dict[str, Value] = {"x": left, "y": top, "width": BOX, "height": BOX_HEIGHT, "rx": BOX_HEIGHT / 2}
    label = element("text", name, x=place[0], y=place[1] + 4, class_="name", text_anchor="middle")
    return group([element("rect", class_=class_, **shape), label])
