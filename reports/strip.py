"""A strip of dots for each row of a table, all on one scale: where values lie, how they scatter, and their middle.

A strip is as wide as its cell: places are shares of the width, so that dots and words keep their size on every screen.
Colours come from `templates/recovery.css` by class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from markupsafe import Markup

from holdfast.harness.model.units import duration
from holdfast.reports.recovery import Row
from holdfast.reports.svg import Value, element, group

HEIGHT, MIDDLE = 40, 20.0
RADIUS, RADIUS_WHEN_MANY, MANY_DOTS = 4.0, 2.4, 40
LANES = (0, 1, -1, 2, -2)
"""Up and down from the middle, where dots give way to each other."""
NOMINAL_WIDTH = 520.0
"""At which dots that would cover each other are set apart."""
MOST_TICKS = 6
FINEST = 0.1
"""Milliseconds; what is faster was as good as at once."""
MOST_DOTS = 200
LOGARITHMIC_FROM = 50.0
"""From this ratio of the slowest value to the fastest median on, a linear scale would show one heap."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Milliseconds to a share of the width; logarithmic where `low` is not 0."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """From 0 to 1."""
        if not self.low:
            return min(max(value / self.high, 0.0), 1.0)
        return min(max(log10(max(value, self.low) / self.low) / log10(self.high / self.low), 0.0), 1.0)

    def ticks(self) -> list[tuple[float, str]]:
        """Round values with their labels."""
        if self.low:
            values = [10.0**power for power in range(ceil(log10(self.low)), floor(log10(self.high)) + 1)]
        else:
            step = _step(self.high)
            values = [index * step for index in range(round(self.high / step) + 1)]
        in_seconds = self.high >= 1_000 and not self.low
        return [(value, _label(value, in_seconds=in_seconds or value >= 1_000)) for value in values]


def scale_of(rows: Sequence[Row]) -> Scale:
    """One that holds every value."""
    values = [value for row in rows for value in row.values]
    highest = max([FINEST, *values])
    if min((row.median for row in rows if row.median), default=highest) * LOGARITHMIC_FROM < highest:
        lowest = max(FINEST, min(values))
        return Scale(max(each for each in _round(lowest) if each <= lowest), rounded_up(highest))
    step = _step(highest)
    return Scale(0.0, ceil(highest / step) * step)


def strip(row: Row, scale: Scale) -> Markup:
    """The dots of a row, a whisker from the fastest to the 95th percentile, and a bar at the median."""
    drawn = [_grid(scale)]
    if row.median is not None and row.p95 is not None:
        drawn.append(_line(scale, row.values[0], row.p95, "whisker"))
        drawn += _dots(row, scale)
        drawn.append(_mark(scale, row.p95, 7, "whisker"))
        drawn += [_mark(scale, row.median, 15, class_) for class_ in ("median-edge", "median")]
    label = f"{row.system}, {row.attack}: {row.in_words}"
    return element("svg", *drawn, class_=f"strip series-{(row.series - 1) % 4 + 1}", role="img", aria_label=label)


def grid(scale: Scale) -> Markup:
    """The lines alone, for a row without values."""
    return element("svg", _grid(scale), class_="strip", aria_hidden="true")


def axis(scale: Scale) -> Markup:
    """The labels of the scale."""
    drawn = [
        element("text", label, x=_percent(scale, value), y=14, class_="tick", text_anchor="middle")
        for value, label in scale.ticks()
    ]
    return element("svg", *drawn, class_="strip axis", aria_hidden="true")


def _step(highest: float) -> float:
    """The round distance of at most MOST_TICKS ticks."""
    return rounded_up(highest / MOST_TICKS)


def rounded_up(value: float) -> float:
    """The least round number that is not below a value."""
    return min(each for each in _round(value) if each >= value)


def _round(value: float) -> list[float]:
    """Round numbers, some below a value and some above it."""
    power = floor(log10(value))
    return [step * 10.0**each for each in range(power - 1, power + 2) for step in (1, 2, 5)]


def _label(value: float, *, in_seconds: bool) -> str:
    return f"{value / 1_000:g} s" if in_seconds else f"{value:g} ms"


def _grid(scale: Scale) -> Markup:
    return group([_rule(_percent(scale, value), 0, "100%", "scale-line") for value, _ in scale.ticks()])


def _dots(row: Row, scale: Scale) -> list[Markup]:
    shown = row.samples[:: -(-len(row.samples) // MOST_DOTS)]
    radius = RADIUS if len(shown) <= MANY_DOTS else RADIUS_WHEN_MANY
    drawn = []
    ends = dict.fromkeys(LANES, -NOMINAL_WIDTH)
    for sample in shown:
        place = scale.share(sample.milliseconds) * NOMINAL_WIDTH
        lane = next((lane for lane in LANES if place - ends[lane] > 2 * radius), min(ends, key=lambda lane: ends[lane]))
        ends[lane] = place
        words = f"{duration(sample.milliseconds)} after {row.attack}, {sample.target}, run {sample.run}"
        at: dict[str, Value] = {
            "cx": _percent(scale, sample.milliseconds),
            "cy": MIDDLE + lane * radius * 1.75,
            "r": radius,
        }
        drawn.append(element("circle", element("title", words), class_="sample", **at))
    return drawn


def _mark(scale: Scale, value: float, arm: float, class_: str) -> Markup:
    return _rule(_percent(scale, value), MIDDLE - arm, MIDDLE + arm, class_)


def _line(scale: Scale, start: float, end: float, class_: str) -> Markup:
    ends: dict[str, Value] = {"x1": _percent(scale, start), "x2": _percent(scale, end), "y1": MIDDLE, "y2": MIDDLE}
    return element("line", class_=class_, **ends)


def _rule(x: str, top: Value, bottom: Value, class_: str) -> Markup:
    return element("line", class_=class_, x1=x, x2=x, y1=top, y2=bottom)


def _percent(scale: Scale, value: float) -> str:
    return f"{scale.share(value) * 100:.5g}%"
