"""Systems side by side as one picture: a panel for each thing that is measured, a row for each plan and system."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from holdfast.harness.model.compared_systems import ComparedRun, ComparedSystems
from holdfast.harness.model.verdict import Outcome
from holdfast.reports.files import write_file
from holdfast.reports.strip import Scale
from holdfast.reports.svg import element, finite, group, number

COLOURS = ("#3b6ea8", "#c8641b", "#3d8b57", "#8a5a9e", "#a8323e", "#6b6b2f")
_NAMES, _WIDTH, _GAP, _TOP, _ROW, _FOOT, _NUMBER = 270, 190, 30, 56, 24, 34, 64


class Panel(NamedTuple):
    """One thing that is measured.

    Attributes:
        title: with its unit.
        values: of one run.
    """

    title: str
    values: Callable[[ComparedRun], Iterable[float | None]]


PANELS = (
    Panel("fault to running, ms", lambda run: (each.to_running_ms for each in run.recoveries)),
    Panel("fault to new output, ms", lambda run: (each.to_committed_ms for each in run.recoveries)),
    Panel("read again, records", lambda run: run.read_again),
    Panel("checkpoint, ms", lambda run: run.checkpoints_ms),
)


class Row(NamedTuple):
    """A plan on a system, with its runs."""

    plan: str
    system: str
    runs: Sequence[ComparedRun]


class ComparisonPicture:
    """`comparison.svg`."""

    name = "picture"
    shows = ComparedSystems
    writes = "comparison.svg"

    def render(self, compared: ComparedSystems, folder: Path) -> Path:
        """See spi.reporter."""
        return write_file(folder / self.writes, picture(compared))


def picture(compared: ComparedSystems) -> str:
    """The picture as text: a dot for each value, a bar at the median, and its number. Values of
    systems are powers of ten apart, so each axis is logarithmic."""
    rows = rows_of(compared)
    systems = list(dict.fromkeys(row.system for row in rows))
    height = _TOP + len(rows) * _ROW + _FOOT
    width = _NAMES + len(PANELS) * (_WIDTH + _NUMBER + _GAP)
    drawn = [element("rect", width=width, height=height, fill="#fff")]
    for at, row in enumerate(rows):
        middle = _TOP + at * _ROW + _ROW / 2
        if at == 0 or rows[at - 1].plan != row.plan:
            drawn.append(_text(8, middle + 4, row.plan))
            drawn.append(_line(8, width - _GAP / 2, _TOP + at * _ROW, _TOP + at * _ROW, "#d5d9de"))
        colour = COLOURS[systems.index(row.system) % len(COLOURS)]
        drawn.append(_text(_NAMES - 14, middle + 4, f"{row.system}{_mark(row)}", colour, anchor="end"))
    for index, panel in enumerate(PANELS):
        drawn.append(_panel(panel, rows, systems, _NAMES + index * (_WIDTH + _NUMBER + _GAP)))
    drawn.append(_text(8, 20, "a dot for each value,", "#5a646e", 11))
    drawn.append(_text(8, 35, "bar and number at the median", "#5a646e", 11))
    box = f"0 0 {width} {height}"
    return f"{element('svg', *drawn, xmlns='http://www.w3.org/2000/svg', viewBox=box, width=width, height=height)}\n"


def rows_of(compared: ComparedSystems) -> Sequence[Row]:
    """By plan, and for each plan by system; a plan that does not apply to a system has no row there."""
    runs = [run for run in compared.runs if run.outcome is not None]
    pairs = dict.fromkeys((run.plan, run.system) for run in runs)
    plans = list(dict.fromkeys(plan for plan, _ in pairs))
    return [
        Row(plan, system, [run for run in runs if (run.plan, run.system) == (plan, system)])
        for plan, system in sorted(pairs, key=lambda pair: plans.index(pair[0]))
    ]


def _panel(panel: Panel, rows: Sequence[Row], systems: Sequence[str], left: float) -> Markup:
    values = [_known(panel, row) for row in rows]
    scale = _scale([each for row in values for each in row])
    bottom = _TOP + len(rows) * _ROW
    drawn = [_text(left, 24, panel.title)]
    for tick, _ in scale.ticks():
        x = left + _WIDTH * scale.share(tick)
        drawn.append(_line(x, x, _TOP, bottom, "#e6e9ec"))
        drawn.append(_text(x, bottom + 18, _written(tick), "#5a646e", 10, "middle"))
    for at, (row, known) in enumerate(zip(rows, values, strict=True)):
        colour, middle = COLOURS[systems.index(row.system) % len(COLOURS)], _TOP + at * _ROW + _ROW / 2
        places = dict.fromkeys(round(left + _WIDTH * scale.share(value)) for value in known)
        drawn += [
            element("circle", cx=number(x), cy=number(middle), r=3, fill=colour, fill_opacity=0.45) for x in places
        ]
        if known:
            x = left + _WIDTH * scale.share(statistics.median(known))
            words = (
                f"{row.system}, {row.plan}, {panel.title}: median {_written(statistics.median(known))} of {len(known)}"
            )
            bar = element("rect", element("title", words), x=number(x - 1.5), y=number(middle - 9), width=3, height=18,
                          fill=colour)  # fmt: skip
            median = _text(left + _WIDTH + _NUMBER, middle + 4, _written(statistics.median(known)), colour, 11, "end")
            drawn += [bar, median]
    return group(drawn)


def _scale(values: Sequence[float]) -> Scale:
    """Powers of ten around all values; 0 is drawn at the left end."""
    above = [value for value in values if value > 0] or [1.0]
    low = floor(log10(min(above)))
    return Scale(10.0**low, 10.0 ** max(ceil(log10(max(above))), low + 1))


def _mark(row: Row) -> str:
    """A verdict that is no pass."""
    worse = dict.fromkeys(run.outcome.value for run in row.runs if run.outcome not in (None, Outcome.PASS))
    return f" ({', '.join(worse)})" if worse else ""


def _written(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _known(panel: Panel, row: Row) -> list[float]:
    return [finite(value) for run in row.runs for value in panel.values(run) if value is not None]


def _line(left: float, right: float, top: float, bottom: float, colour: str) -> Markup:
    return element(
        "line", x1=number(left), x2=number(right), y1=number(top), y2=number(bottom), stroke=colour, stroke_width=1
    )


def _text(x: float, y: float, content: str, colour: str = "#20262c", size: int = 12, anchor: str = "start") -> Markup:
    return element("text", content, x=number(x), y=number(y), font_size=size, font_family="sans-serif", fill=colour,
                   text_anchor=anchor)  # fmt: skip
