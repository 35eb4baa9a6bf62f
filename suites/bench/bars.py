"""Bars in groups, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from holdfast.reports.svg import element, number

_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d")
_WIDTH, _HEIGHT, _LEFT, _TOP = 300, 160, 16, 40


class Panel(NamedTuple):
    """One panel.

    Attributes:
        title: with the unit of the values.
        groups: names of the groups, from left to right.
        values: by name of a series, one value for each group.
    """

    title: str
    groups: Sequence[str]
    values: Mapping[str, Sequence[float]]


def bars(panels: Sequence[Panel]) -> str:
    """All panels beside each other, each with its own scale, which its highest bar says."""
    drawn = [_panel(panel, _LEFT + index * (_WIDTH + 2 * _LEFT)) for index, panel in enumerate(panels)]
    width, height = len(panels) * (_WIDTH + 2 * _LEFT), _TOP + _HEIGHT + 60
    legend = [
        _text(_LEFT + index * 150 + 14, height - 8, name)
        + element("rect", x=_LEFT + index * 150, y=height - 18, width=10, height=10, fill=_COLOURS[index])
        for index, name in enumerate(panels[0].values)
    ]
    background = element("rect", width=width, height=height, fill="#fff")
    return str(
        element("svg", background, *drawn, *legend, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}")
    )


def _panel(panel: Panel, left: float) -> Markup:
    highest = max((value for values in panel.values.values() for value in values), default=1.0) or 1.0
    slot = _WIDTH / len(panel.groups)
    wide = slot * 0.8 / len(panel.values)
    written = f"{highest:,.0f}" if highest >= 100 else f"{highest:.3g}"
    parts = [_text(left, 16, panel.title), _text(left, 32, f"highest: {written}", size=10)]
    for at, group in enumerate(panel.groups):
        parts.append(_text(left + at * slot, _TOP + _HEIGHT + 16, group))
        for index, values in enumerate(panel.values.values()):
            tall = _HEIGHT * values[at] / highest
            bar = element("rect", element("title", f"{values[at]:,.3g}"), x=number(left + at * slot + index * wide),
                          y=number(_TOP + _HEIGHT - tall), width=number(wide * 0.9), height=number(tall),
                          fill=_COLOURS[index])  # fmt: skip
            parts.append(bar)
    return Markup("").join(parts)


def _text(x: float, y: float, content: str, size: int = 12) -> Markup:
    return element("text", content, x=number(x), y=number(y), font_size=size, font_family="sans-serif")
