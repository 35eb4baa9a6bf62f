"""Barriers that split a stream: what lies between two of them belongs to one checkpoint."""

from __future__ import annotations

from markupsafe import Markup

from holdfast.harness.model.picture import Segment, StreamPicture
from holdfast.reports.svg import Value, element, group, number

CHARACTER, CELL, HEIGHT, GAP = 6.3, 22.0, 30.0, 4.0
BAR, BAR_HEIGHT, LINE = 6.0, 62.0, 78.0
ENDS = 78.0
NAME_CHARACTER = 8.0
"""Of the words above a barrier."""
MOST_CELLS = 7
"""Of a segment; what is in the middle of a longer one is counted."""


def sheet(picture: StreamPicture) -> tuple[list[Markup], float, float]:
    """What to draw, and its width and height. The oldest record is on the right, where the receiver takes it."""
    sender, _, receiver = picture.channel.partition("->")
    segments = [_cells(segment) for segment in picture.segments]
    apart = [_length(cells, segment.checkpoint) for segment, cells in zip(picture.segments, segments, strict=True)]
    width = 2 * ENDS + sum(wide + (3 * GAP + BAR) for wide in apart)
    drawn: list[Markup] = [
        element("path", class_="lane", d=f"M{number(ENDS)} {number(LINE)}H{number(width - ENDS)}"),
        *_end(sender, 0),
        *_end(receiver, width - ENDS),
    ]
    x = width - ENDS - GAP * 2
    for index, (segment, cells) in enumerate(zip(picture.segments, segments, strict=True)):
        right = x
        for words, wide in cells:
            x -= wide
            drawn.append(_cell(words, x, wide, odd=index % 2 == 1))
            x -= GAP
        name = f"checkpoint {segment.checkpoint}" if segment.checkpoint else "the next one"
        if cells:
            middle = (x + GAP + right) / 2
            drawn += [_brace(x + GAP, right), _text(middle, LINE + 52, name, "known")]
        x = min(x, right - apart[index])
        if segment.checkpoint:
            x -= GAP
            drawn.append(_barrier(x, segment.checkpoint))
            x -= BAR + GAP
    drawn.append(_text(ENDS + 34, 12, "newer", "small"))
    drawn.append(_text(width - ENDS - 34, 12, "older", "small"))
    return drawn, width, LINE + 62


def _cells(segment: Segment) -> list[tuple[str, float]]:
    """The oldest first, with their widths."""
    words = [*segment.elements]
    if len(words) > MOST_CELLS:
        half = MOST_CELLS // 2
        words = [*words[:half], f"… {len(words) - 2 * half}", *words[-half:]]
    return [(each, max(CELL, len(each) * CHARACTER + 8)) for each in words]


def _length(cells: list[tuple[str, float]], checkpoint: int) -> float:
    """How long a segment is: its cells have room, and so have the words above its barrier."""
    words = len(_name(checkpoint)) * NAME_CHARACTER - 3 * GAP - BAR if checkpoint else 0.0
    return max(sum(wide + GAP for _, wide in cells), words)


def _name(checkpoint: int) -> str:
    return f"barrier {checkpoint}"


def _cell(words: str, x: float, wide: float, *, odd: bool) -> Markup:
    shape: dict[str, Value] = {"x": x, "y": LINE - HEIGHT / 2, "width": wide, "height": HEIGHT, "rx": 3}
    class_ = "left-out" if words.startswith("…") else "batch after" if odd else "batch"
    label = element("text", words, x=x + wide / 2, y=LINE + 4, class_="batch-label", text_anchor="middle")
    return group([element("rect", class_=class_, **shape), label])


def _barrier(x: float, checkpoint: int) -> Markup:
    shape: dict[str, Value] = {"x": x - BAR, "y": LINE - BAR_HEIGHT / 2, "width": BAR, "height": BAR_HEIGHT, "rx": 2}
    label = _text(x - BAR / 2, LINE - BAR_HEIGHT / 2 - 7, _name(checkpoint), "name")
    return group([element("rect", class_="barrier", **shape), label])


def _end(name: str, x: float) -> list[Markup]:
    shape: dict[str, Value] = {"x": x, "y": LINE - 22, "width": ENDS, "height": 44, "rx": 6}
    return [element("rect", class_="box", **shape), _text(x + ENDS / 2, LINE + 4, name, "name")]


def _brace(left: float, right: float) -> Markup:
    y = LINE + HEIGHT / 2 + 8
    path = f"M{number(left)} {number(y)}v6H{number(right)}v-6"
    return element("path", class_="brace", d=path)


def _text(x: float, y: float, words: str, class_: str) -> Markup:
    return element("text", words, x=x, y=y, class_=class_, text_anchor="middle")
