"""A rescale: the key groups of an operator above and below, and where they go."""

from __future__ import annotations

from markupsafe import Markup

from holdfast.harness.model.picture import KeyGroupOwner, RescalePicture
from holdfast.reports.svg import element, group, number

WIDTH, LEFT, RIGHT = 1000.0, 96.0, 8.0
BOX, GAP, UPPER, LOWER = 52.0, 3.0, 34.0, 196.0
MOST_KEYS = 6
"""That are named in one subtask."""
SHADES = ("even", "odd")


def sheet(picture: RescalePicture) -> tuple[list[Markup], float, float]:
    """What to draw, and its width and height."""
    scale = (WIDTH - LEFT - RIGHT) / max(picture.max_parallelism, 1)

    def x(key_group: int) -> float:
        return LEFT + key_group * scale

    drawn: list[Markup] = [
        _text(LEFT - 12, UPPER + BOX / 2 + 4, f"checkpoint {picture.checkpoint}", "lane-label", "end"),
        _text(LEFT - 12, LOWER + BOX / 2 + 4, "restored", "lane-label", "end"),
    ]
    for number_before, before in enumerate(picture.before):
        for after in picture.after:
            first, end = max(before.first, after.first), min(before.end, after.end)
            if first < end:
                moved = sorted(set(before.keys) & set(after.keys))
                drawn += _ribbon(x(first), x(end), moved, SHADES[number_before % 2])
    for owners, top in ((picture.before, UPPER), (picture.after, LOWER)):
        drawn += [_owner(each, x(each.first), x(each.end), top) for each in owners]
        edges = sorted({edge for each in owners for edge in (each.first, each.end)})
        y = top - 6 if top == UPPER else top + BOX + 16
        drawn += [_text(x(edge), y, str(edge), "tick", "middle") for edge in edges]
    drawn.append(_text(LEFT, 12, f"key groups 0 to {picture.max_parallelism - 1}", "small", "start"))
    return drawn, WIDTH, LOWER + BOX + 24


def _owner(owner: KeyGroupOwner, left: float, right: float, top: float) -> Markup:
    middle = (left + right) / 2
    keys = f"{len(owner.keys)} key{'' if len(owner.keys) == 1 else 's'}"
    words = f"{owner.name}: key groups {owner.first} to {owner.end - 1}, keys {', '.join(owner.keys) or 'none'}"
    shape = {"x": left + GAP / 2, "y": top, "width": max(right - left - GAP, 1), "height": BOX, "rx": 4}
    return group(
        [
            element("title", words),
            element("rect", class_="task", **shape),
            _text(middle, top + 22, owner.name, "name", "middle"),
            _text(middle, top + 40, keys, "small", "middle"),
        ]
    )


def _ribbon(left: float, right: float, keys: list[str], shade: str) -> list[Markup]:
    """What goes from one subtask to one."""
    top, bottom, inset = UPPER + BOX, LOWER, GAP / 2
    path = f"M{number(left + inset)} {number(top)}H{number(right - inset)}V{number(bottom)}H{number(left + inset)}Z"
    drawn = [element("path", class_=f"ribbon {shade}", d=path)]
    if right - left < 60:
        return drawn
    shown = keys[:MOST_KEYS]
    lines = [*shown, *([f"and {len(keys) - MOST_KEYS} more"] if len(keys) > MOST_KEYS else [])]
    height = 14 * (len(lines) - 1)
    middle = (top + bottom) / 2 - height / 2 + 4
    return drawn + [
        _text((left + right) / 2, middle + 14 * line, words, "small", "middle") for line, words in enumerate(lines)
    ]


def _text(x: float, y: float, words: str, class_: str, anchor: str) -> Markup:
    return element("text", words, class_=class_, x=x, y=y, text_anchor=anchor)
