"""Where the texts of a drawing lie, measured without a browser: with glyphs as wide as those of DejaVu Sans, which is
wider than what other systems show."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from importlib import resources
from itertools import combinations
from typing import NamedTuple

_GLYPHS = (("ijl'|.,:;!", 0.33), ("ftrI()[]-/ ", 0.4), ("mwMW%@…—", 1.0), ("ABCDEFGHJKLNOPQRSTUVXYZ→↓↑", 0.7))
_OTHERS, _BOLD = 0.62, 1.12
_UP, _DOWN = 0.76, 0.2
"""Of the font size above and below the base line."""
_TOUCH = 0.5


class Box(NamedTuple):
    """Of one text."""

    words: str
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they lie over each other."""
        across = min(self.right, other.right) - max(self.left, other.left)
        return across > _TOUCH and min(self.bottom, other.bottom) - max(self.top, other.top) > _TOUCH


class Style(NamedTuple):
    """How texts of a class are written."""

    size: float
    bold: bool


def styles(sheet: str, root: str) -> dict[str, Style]:
    """By class, from a style sheet; the class "" is that of every text.

    Args:
        sheet: name of the style sheet.
        root: class of the drawings that it is for.
    """
    written = resources.files("holdfast.reports").joinpath("templates", sheet).read_text(encoding="utf-8")
    found = {"": Style(11.0, bold=False)}
    for selectors, rules in re.findall(r"^([^{}@]+)\{([^{}]*)\}", written, re.MULTILINE):
        size, weight = re.search(r"font-size: ([\d.]+)px", rules), re.search(r"font-weight: (\d+)", rules)
        for selector in selectors.split(","):
            name = selector.strip().removeprefix(f".{root} ")
            if name.startswith(".") and " " not in name and (size or weight):
                known = found.get(name[1:], found[""])
                large = float(size[1]) if size else known.size
                found[name[1:]] = Style(large, bold=int(weight[1]) >= 550 if weight else known.bold)
    return found


def width(words: str, style: Style) -> float:
    """Of a text in pixels."""
    ems = sum(next((wide for glyphs, wide in _GLYPHS if each in glyphs), _OTHERS) for each in words)
    return ems * style.size * (_BOLD if style.bold else 1.0)


def boxes(drawn: str, known: Mapping[str, Style]) -> list[Box]:
    """Of all texts of a drawing."""
    return list(_boxes(ElementTree.fromstring(drawn), known, 0.0, 0.0))


def overlaps(drawn: str, known: Mapping[str, Style]) -> list[tuple[str, str]]:
    """Pairs of texts that lie over each other."""
    return [(one.words, other.words) for one, other in combinations(boxes(drawn, known), 2) if one.meets(other)]


def cut_off(drawn: str, known: Mapping[str, Style]) -> list[str]:
    """Texts that stick out of a drawing on the left or right."""
    left, _, wide, _ = map(float, ElementTree.fromstring(drawn).get("viewBox", "").split())
    found = boxes(drawn, known)
    return [each.words for each in found if each.left < left - _TOUCH or each.right > left + wide + _TOUCH]


def _boxes(node: ElementTree.Element, known: Mapping[str, Style], x: float, y: float) -> Iterator[Box]:
    moved = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", node.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    if node.tag.endswith("}text") or node.tag == "text":
        yield from _text(node, known, x, y)
    for child in node:
        yield from _boxes(child, known, x, y)


def _text(node: ElementTree.Element, known: Mapping[str, Style], x: float, y: float) -> Iterator[Box]:
    classes = node.get("class", "").split()
    style = next((known[name] for name in classes if name in known), known[""])
    lines = [each for each in node if each.tag.endswith("tspan")] or [node]
    for line in lines:
        words = "".join((line.text or "", *((child.tail or "") for child in line)))
        wide = width(words, style)
        left = x + float(line.get("x") or node.get("x") or 0)
        left -= {"middle": wide / 2, "end": wide}.get(node.get("text-anchor", ""), 0.0)
        y += float(line.get("dy") or 0)
        base = y + float(line.get("y") or node.get("y") or 0)
        if words.strip():
            yield Box(words, left, base - _UP * style.size, left + wide, base + _DOWN * style.size)
