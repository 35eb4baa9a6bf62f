"""A few lines to write SVG with: elements that escape themselves, and scales."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from markupsafe import Markup

from holdfast.reports.text import clean

Value = str | float
# What a colour may be made of. A colour comes from whoever wrote the fault, and must not load or break out of anything.
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,24}|(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\([0-9a-z.%,/ +-]{1,60}\)")
FALLBACK_COLOUR = "#7a8591"


def element(tag: str, *children: object, **attributes: Value | None) -> Markup:
    """One element. In a name of an attribute `_` stands for `-`, and one at the end is dropped (`class_`).

    Children and values are escaped unless they are Markup already; an attribute that is None is left out.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(child if isinstance(child, Markup) else clean(str(child)) for child in children)
    return Markup(f"<{tag}{written}>{inner}</{tag}>" if children else f"<{tag}{written}/>")


def group(children: Iterable[Markup], **attributes: Value | None) -> Markup:
    return element("g", Markup("").join(children), **attributes)


def text_at(x: float, y: float, words: str, class_: str, anchor: str | None = None) -> Markup:
    """A line of text at a place; `anchor` is SVG's `text-anchor`."""
    return element("text", words, x=x, y=y, class_=class_, text_anchor=anchor)


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel: what is finer only makes the file longer."""
    return f"{round(value, 1):g}" if abs(value) < 100_000 else f"{value:.0f}"


def colour(wanted: str) -> str:
    """A CSS colour if it is nothing but one."""
    return wanted if _COLOUR.fullmatch(wanted) else FALLBACK_COLOUR


def finite(value: float) -> float:
    """A number that can be drawn."""
    return value if math.isfinite(value) else 0.0


def _escaped(value: Value) -> Markup:
    return Markup.escape(clean(value) if isinstance(value, str) else number(value))
