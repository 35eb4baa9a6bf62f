"""Moments of a checkpoint drawn over its graph: what waits in each channel, what each subtask holds, who has answered.

Time runs from scene to scene, records from left to right: the element nearest to a receiver is the next that it takes.
Colours come from `templates/pictures.css` by class.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from markupsafe import Markup

from holdfast.harness.model.picture import ChannelScene, Element, Film, Scene, SubtaskScene
from holdfast.harness.model.units import duration
from holdfast.reports.svg import Value, element, group, number
from holdfast.reports.text import one_line

SCENE_WIDTH, SCENES_ACROSS, SCENE_GAP = 540.0, 2, 40.0
BOX, BOX_HEIGHT, ROW, TOP = 112.0, 50.0, 108.0, 56.0
MARGIN, CHAIN_GAP = 8.0, 26.0
BAR = 12.0
CHARACTER, LEGEND_CHARACTER = 6.3, 5.7
CAPTION_CHARACTERS, CAPTION_LINE = 74, 17.0
MOST_ELEMENTS = 4
"""In a channel; of more the last ones are counted."""


class _Places:
    """Where every subtask of a film stands."""

    def __init__(self, film: Film) -> None:
        chained = {pair for scene in film.scenes for pair in scene.chains}
        gaps = [
            any((left, right) in chained for left in film.columns[index] for right in film.columns[index + 1])
            for index in range(len(film.columns) - 1)
        ]
        free = SCENE_WIDTH - 2 * MARGIN - len(film.columns) * BOX - sum(gaps) * CHAIN_GAP
        wide = free / max(len(gaps) - sum(gaps), 1)
        self.centres: dict[str, tuple[float, float]] = {}
        rows = max(len(column) for column in film.columns)
        x = MARGIN + BOX / 2 if not all(gaps) or not gaps else (SCENE_WIDTH - BOX * len(film.columns)) / 2
        for index, column in enumerate(film.columns):
            top = TOP + BOX_HEIGHT / 2 + (rows - len(column)) * ROW / 2
            for row, name in enumerate(column):
                self.centres[name] = (x, top + row * ROW)
            if index < len(gaps):
                x += BOX + (CHAIN_GAP if gaps[index] else wide)
        self.height = TOP + rows * ROW - (ROW - BOX_HEIGHT) + 28


def scene(film: Film, index: int) -> Markup:
    """One moment as an `svg` element, without its caption."""
    places = _Places(film)
    shown = film.scenes[index]
    return element(
        "svg",
        element("title", shown.caption),
        element("desc", in_words(shown)),
        *_drawn(shown, film, places),
        class_="picture-svg scene",
        viewBox=f"0 0 {number(SCENE_WIDTH)} {number(places.height)}",
        role="img",
    )


def sheet(film: Film) -> tuple[list[Markup], float, float]:
    """All moments with their captions on one sheet: what to draw, and its width and height."""
    places = _Places(film)
    captions = [textwrap.wrap(one_line(each.caption), CAPTION_CHARACTERS) or [""] for each in film.scenes]
    lines = max(len(caption) for caption in captions)
    height = places.height + lines * CAPTION_LINE + 14
    drawn = []
    for index, shown in enumerate(film.scenes):
        x = index % SCENES_ACROSS * (SCENE_WIDTH + SCENE_GAP)
        y = index // SCENES_ACROSS * (height + 22)
        words = [
            element("text", line, x=MARGIN, y=13 + row * CAPTION_LINE, class_="caption")
            for row, line in enumerate(captions[index])
        ]
        moment = element(
            "text",
            f"at {duration(shown.at_ms)}",
            x=SCENE_WIDTH - MARGIN,
            y=height - 2,
            class_="moment",
            text_anchor="end",
        )
        inside = group(_drawn(shown, film, places), transform=f"translate(0 {number(lines * CAPTION_LINE + 4)})")
        drawn.append(group([*words, inside, moment], transform=f"translate({number(x)} {number(y)})"))
    across = min(len(film.scenes), SCENES_ACROSS)
    bottom = math.ceil(len(film.scenes) / SCENES_ACROSS) * (height + 22)
    drawn.append(group([legend()], transform=f"translate(0 {number(bottom - 4)})"))
    return drawn, across * SCENE_WIDTH + (across - 1) * SCENE_GAP, bottom + 22


def legend() -> Markup:
    """What the shapes mean, on one line."""
    drawn: list[Markup] = []
    x = MARGIN
    for shape, words in (
        (_element(Element("7"), x + 9, 10, 18), "record of this checkpoint"),
        (_element(Element("8", after=True), 0, 10, 18), "of the next one"),
        (group(_bar(0, 10, "1", "barrier")), "barrier"),
        (group(_bar(0, 10, "1", "barrier gate")), "it came: the channel waits for the others"),
        (element("rect", class_="snapshot", x=-9, y=3, width=18, height=14, rx=3), "snapshot"),
        (element("rect", class_="box acknowledged", x=-9, y=3, width=18, height=14, rx=3), "has acknowledged"),
    ):
        if drawn:
            shape = group([shape], transform=f"translate({number(x + 9)} 0)")
        drawn += [shape, element("text", words, x=x + 24, y=14, class_="small")]
        x += 24 + len(words) * LEGEND_CHARACTER + 18
    return element(
        "svg",
        *drawn,
        class_="picture-svg legend",
        viewBox=f"0 0 {number(x)} 22",
        height=22,
        width=x,
        aria_hidden="true",
    )


def in_words(shown: Scene) -> str:
    """A scene for those who hear it read."""
    sentences = [shown.coordinator] if shown.coordinator else []
    sentences += [f"{each.name} {each.words}" for each in shown.subtasks if each.words]
    for channel in shown.channels:
        if channel.elements:
            held = ", ".join(f"barrier {each.words}" if each.barrier else each.words for each in channel.elements)
            blocked = ", blocked" if channel.blocked else ""
            sentences.append(f"{channel.sender} to {channel.receiver}: {held}{blocked}")
    return "; ".join(sentences)


def _drawn(shown: Scene, film: Film, places: _Places) -> list[Markup]:
    drawn = [_coordinator(shown.coordinator)] if shown.coordinator else []
    drawn += [_chain(pair, places) for pair in shown.chains]
    drawn += [_line(channel, places) for channel in shown.channels]
    drawn += [_contents(channel, places) for channel in shown.channels]
    drawn += [_box(subtask, shown.focus, places) for subtask in shown.subtasks]
    return drawn


def _coordinator(words: str) -> Markup:
    width = SCENE_WIDTH - 2 * MARGIN
    return group(
        [
            element("rect", class_="coordinator", x=MARGIN, y=1, width=width, height=24, rx=5),
            element("text", "coordinator", x=MARGIN + 10, y=17, class_="small"),
            element("text", words, x=MARGIN + width - 10, y=17, class_="known", text_anchor="end"),
        ]
    )


def _chain(pair: tuple[str, str], places: _Places) -> Markup:
    (left, y), (right, end) = places.centres[pair[0]], places.centres[pair[1]]
    words = element("title", f"{pair[0]} calls {pair[1]}: they are chained")
    path = f"M{number(left + BOX / 2)} {number(y)}L{number(right - BOX / 2)} {number(end)}"
    return group([words, element("path", class_="chain", d=path)])


def _line(channel: ChannelScene, places: _Places) -> Markup:
    start, end = _ends(channel, places)
    class_ = "lane blocked" if channel.blocked else "lane"
    return element("path", class_=class_, d=f"M{number(start[0])} {number(start[1])}L{number(end[0])} {number(end[1])}")


def _ends(channel: ChannelScene, places: _Places) -> tuple[tuple[float, float], tuple[float, float]]:
    """A channel leaves its sender and meets its receiver a little towards the other end, so that lines stay apart."""
    sender, receiver = places.centres[channel.sender], places.centres[channel.receiver]
    tilt = max(-1.0, min(1.0, (receiver[1] - sender[1]) / ROW)) * BOX_HEIGHT * 0.34
    return (sender[0] + BOX / 2, sender[1] + tilt), (receiver[0] - BOX / 2, receiver[1] - tilt)


def _contents(channel: ChannelScene, places: _Places) -> Markup:
    """What is in a channel, the next to be taken at its receiver."""
    start, end = _ends(channel, places)
    length = math.dist(start, end) or 1.0
    step = (start[0] - end[0]) / length, (start[1] - end[1]) / length
    drawn: list[Markup] = []
    way = 7.0
    if channel.blocked:
        drawn.append(_gate(end, step, channel.blocked))
        way = 18.0
    left = [*channel.elements]
    for index, each in enumerate(left):
        width = _width(each)
        if index >= MOST_ELEMENTS or way + width > length - 6:
            x, y = end[0] + step[0] * (way + 8), end[1] + step[1] * (way + 8)
            drawn.append(element("text", f"+{len(left) - index}", x=x, y=y + 4, class_="small", text_anchor="middle"))
            break
        way += width / 2
        drawn.append(_element(each, end[0] + step[0] * way, end[1] + step[1] * way, width))
        way += width / 2 + 3
    return group(drawn)


def _width(each: Element) -> float:
    return BAR if each.barrier else max(18.0, len(each.words) * CHARACTER + 7)


def _element(each: Element, x: float, y: float, width: float) -> Markup:
    if each.barrier:
        title = element("title", f"barrier {each.words}")
        return group([title, *_bar(x, y, each.words, "barrier")])
    place: dict[str, Value] = {"x": x - width / 2, "y": y - 9, "width": width, "height": 18, "rx": 3}
    class_ = "batch after" if each.after else "batch"
    return group(
        [
            element("rect", class_=class_, **place),
            element("text", each.words, x=x, y=y + 4, class_="batch-label", text_anchor="middle"),
        ]
    )


def _gate(end: tuple[float, float], step: tuple[float, float], checkpoint: int) -> Markup:
    """A channel that is not read: the barrier stands at its end."""
    title = element("title", f"blocked: barrier {checkpoint} came, and others are awaited")
    return group([title, *_bar(end[0] + step[0] * 8, end[1] + step[1] * 8, str(checkpoint), "barrier gate")])


def _bar(x: float, y: float, words: str, class_: str) -> list[Markup]:
    wide = max(BAR, len(words) * CHARACTER + 4)
    shape: dict[str, Value] = {"x": x - wide / 2, "y": y - 11, "width": wide, "height": 22, "rx": 2}
    label = element("text", words, x=x, y=y + 4, class_="barrier-label", text_anchor="middle")
    return [element("rect", class_=class_, **shape), label]


def _box(subtask: SubtaskScene, focus: str, places: _Places) -> Markup:
    x, y = places.centres[subtask.name]
    classes = ["box"]
    if subtask.name == focus:
        classes.append("focus")
    if subtask.acknowledged:
        classes.append("acknowledged")
    shape: dict[str, Value] = {"x": x - BOX / 2, "y": y - BOX_HEIGHT / 2, "width": BOX, "height": BOX_HEIGHT, "rx": 6}
    drawn = [
        element("rect", class_=" ".join(classes), **shape),
        element("text", subtask.name, x=x, y=y - (3 if subtask.words else -4), class_="name", text_anchor="middle"),
        element("text", one_line(subtask.words, 19), x=x, y=y + 14, class_="holds", text_anchor="middle"),
    ]
    if subtask.snapshot:
        words = one_line(subtask.snapshot, 20)
        wide = len(words) * CHARACTER + 10
        place: dict[str, Value] = {"x": x - wide / 2, "y": y + BOX_HEIGHT / 2 + 3, "width": wide, "height": 16, "rx": 3}
        drawn.append(element("rect", class_="snapshot", **place))
        drawn.append(
            element("text", words, x=x, y=y + BOX_HEIGHT / 2 + 15, class_="snapshot-label", text_anchor="middle")
        )
    drawn += _messages(
        [f"↓ {each}" for each in subtask.down], [f"↑ {each}" for each in subtask.up], x, y - BOX_HEIGHT / 2
    )
    return group(drawn)


def _messages(down: Sequence[str], up: Sequence[str], x: float, top: float) -> list[Markup]:
    """Messages on their way, above the box."""
    words = [("message", each) for each in down[:1]] + [("message answer", each) for each in up[:1]]
    widths = [len(each) * CHARACTER + 8 for _, each in words]
    left = x - (sum(widths) + 4 * (len(widths) - 1)) / 2
    drawn = []
    for (class_, each), wide in zip(words, widths, strict=True):
        shape: dict[str, Value] = {"x": left, "y": top - 19, "width": wide, "height": 15, "rx": 7}
        drawn.append(element("rect", class_=class_, **shape))
        drawn.append(element("text", each, x=left + wide / 2, y=top - 8, class_="message-label", text_anchor="middle"))
        left += wide + 4
    return drawn
