"""Pictures as SVG: whole, readable aloud, and no text over another or cut off, whatever an oracle finds."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from holdfast import reports
from holdfast.fixtures.reference.protocol.state_machines import STATE_MACHINES
from holdfast.harness.commands.pictures import draw_system
from holdfast.harness.engine.pictures.failure import pictures_of_failure
from holdfast.harness.engine.pictures.of_runs import drawn_machine
from holdfast.harness.model.picture import (
    ArrowKind,
    ChannelScene,
    DiagramArrow,
    DiagramStep,
    DrawnMachine,
    Element,
    FailurePicture,
    Film,
    OffsetLine,
    PausedSpan,
    PausePicture,
    Picture,
    RecoveryPicture,
    Scene,
    Segment,
    SharedPicture,
    SharedRow,
    StepShape,
    StreamPicture,
    SubtaskScene,
)
from holdfast.harness.model.run_details import RunDetails
from holdfast.harness.model.state_machine import StateMachine, Step
from holdfast.reports import html, timeline
from holdfast.reports.html import page
from holdfast.reports.pictures.drawing import inline, standalone
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, EXHIBITS
from holdfast.suites.selfcheck.reports import journals, sample
from holdfast.suites.selfcheck.reports.test_html import Page

EVIL = "<script>alert(1)</script>\x00 & more"
SCENE = Scene(
    "1. It begins.",
    12.5,
    "checkpoint 1: 1 of 3 acks",
    (
        SubtaskScene("source[0]", "offset 3", "offset 3", acknowledged=True),
        SubtaskScene("source[1]", "offset 4", down=("trigger 1",)),
        SubtaskScene("sum[0]", "even 8", up=("ack 1",)),
    ),
    (
        ChannelScene("source[0]", "sum[0]", tuple(Element(str(n), after=True) for n in range(9)), blocked=1),
        ChannelScene("source[1]", "sum[0]", (Element("4"), Element("1", barrier=True))),
    ),
    focus="sum[0]",
)
FILM = Film("film", "A film", 1, (("source[0]", "source[1]"), ("sum[0]",)), (SCENE, SCENE, SCENE), "How to read it.")
STREAM = StreamPicture(
    "stream", "A stream", "a[0]->b[0]", (Segment(("1", "2"), 1), Segment((), 2), Segment(("3",) * 40, 0))
)
PAUSE = PausePicture("pause", "A pause", 40, 60, 200, (PausedSpan(1, 10, 20, 80), PausedSpan(2, 80.0, 81, 141)))
SHARED = SharedPicture(
    "shared-files",
    "Shared files",
    "sum[0]",
    ((1, 2), (2, 0)),
    (SharedRow("1", 1, (1, 2), (1, 1)), SharedRow("a-name-that-is-too-long", 1, (1,), (1, 0), deleted=2)),
)
RECOVERY = RecoveryPicture(
    "recovery",
    "A recovery",
    300,
    (OffsetLine(0, 1, ((1.0, 0), (50.0, 9))), OffsetLine(0, 2, ((90.0, 5), (200.0, 20)))),
    ((1.0, 60.0, "running"), (60.0, 90.0, "restarting"), (90.0, 300.0, "running")),
    ((1, 40.0, (5,)),),
    ((60.0, "worker 0: kill"),),
    ((90.0, 1),),
)
MANY_RECOVERIES = RecoveryPicture(
    "many-recoveries",
    "Many recoveries",
    300,
    tuple(OffsetLine(0, each, ((10.0 * each, 5 * each), (10.0 * each + 8, 5 * each + 9))) for each in range(1, 25)),
    ((1.0, 300.0, "running"),),
    tuple((each, 11.0 * each, (each,)) for each in range(1, 25)),
    tuple((10.0 * each + 8, "sink[0]: commit of sink[0]-000001 failed") for each in range(1, 25)),
    ((90.0, 3), (180.0, 7)),
)
STEPS = (
    DiagramStep(0, StepShape.FAULT, "kill worker 1", "faults[0] (kill) hit worker[1]", 40.0),
    DiagramStep(2, StepShape.END, "killed", "worker-1.0 died: kill", 40.1, before=12),
    DiagramStep(1, StepShape.BEGIN, "attempt 2, from CP 1", "attempt 2 started from checkpoint 1", 52.0, before=1),
    DiagramStep(2, StepShape.BEGIN, "from CP 1 at 23", "source[0] started from checkpoint 1", 52.5, witness=2),
    DiagramStep(2, StepShape.STEP, "offsets 23–24", "source[0] emitted 23", 53.0, witness=1),
    *(DiagramStep(1, shape, shape.value, shape.value, 54.0) for shape in StepShape),
)
FAILURE = FailurePicture(
    "failure",
    "Around the wrong step: source[0] started from checkpoint 1",
    40.0,
    54.0,
    1_234,
    14,
    ("faults", "coordinator", "source[0]"),
    STEPS,
    (DiagramArrow(0, 1, ArrowKind.FAULT), DiagramArrow(2, 3), DiagramArrow(4, 5, ArrowKind.BARRIER)),
    wrong=3,
)
MACHINES = tuple(drawn_machine(machine) for machine in STATE_MACHINES)
ALL: tuple[Picture, ...] = (FILM, STREAM, PAUSE, RECOVERY, MANY_RECOVERIES, SHARED, FAILURE, *MACHINES)


@pytest.mark.parametrize("picture", ALL, ids=lambda picture: picture.name)
def test_a_file_is_whole_and_says_what_it_is(picture: Picture) -> None:
    root = ElementTree.fromstring(standalone(picture))
    assert root.get("role") == "img"
    assert picture.title in [each.text for each in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "nan" not in standalone(picture)


HOSTILE = tuple(msgspec.structs.replace(step, label=EVIL, words=EVIL) for step in STEPS)


def boxes(drawn: str, class_: str) -> list[tuple[float, float, float, float]]:
    """Rectangles of a class: left, top, right, bottom."""
    found = []
    for each in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}rect"):
        if class_ in each.get("class", "").split():
            x, y, width, height = (float(each.get(name, "")) for name in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


@pytest.mark.parametrize("picture", MACHINES, ids=lambda picture: picture.name)
def test_states_and_words_of_a_machine_keep_apart(picture: DrawnMachine) -> None:
    drawn = standalone(picture)
    states, labels = boxes(drawn, "state"), boxes(drawn, "label-box")
    assert len(states) == len(picture.machine.states)
    assert len(labels) == len({(step.before, step.after) for step in picture.machine.steps})
    for one, other in itertools.combinations([*states, *labels], 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


def test_a_step_that_was_not_taken_is_pale() -> None:
    machine = StateMachine(
        "m", "M", "a", (), (Step("a", "node_started", "b", "goes"), Step("b", "node_died", "a", "comes back"))
    )
    drawn = standalone(DrawnMachine("m", "M", machine, (3, 0)))
    assert "goes ×3" in drawn
    assert drawn.count('"step untaken"') == 1


def test_what_does_not_fit_a_channel_is_counted() -> None:
    assert "+5" in standalone(FILM)


def with_pictures(*pictures: Picture) -> str:
    run = sample.run("barriers/alignment", 1, drawn=sample.timeline(1))
    return page(msgspec.structs.replace(journals.partial(), runs=(run,)), {run.id: RunDetails(pictures=pictures)})


def test_the_page_shows_the_pictures_of_a_run() -> None:
    shown = Page(with_pictures(*ALL))
    assert "A film How to read it." in shown.text
    assert shown.text.count("1. It begins. 12.5 ms") == 3
    assert len(shown.ids) == len(set(shown.ids))
    assert "A checkpoint at its coordinator" in shown.text


def test_the_run_around_a_violation_stands_once_inside_its_finding() -> None:
    value = journals.refused()
    beside = {run.id: RunDetails(pictures=(FAILURE, STREAM)) for run in value.runs if run.timeline}
    drawn = page(value, beside)
    articles = drawn.split("<article")[1:]
    first = next(each for each in articles if 'class="space-time' in each).partition("</article>")[0]
    assert first.count('class="space-time') == 1
    assert first.index("Around the wrong step") < first.index('class="timeline"')
    assert 0 < drawn.count('class="space-time') <= html.MOST_FAILURES
    assert 'class="space-time' not in page(value)


def test_only_the_first_findings_have_such_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MOST_FAILURES", 1)
    value = journals.refused()
    drawn = page(value, {run.id: RunDetails(pictures=(FAILURE,)) for run in value.runs})
    assert drawn.count('class="space-time') == 1


def test_the_wrong_step_is_marked_by_shape_and_in_words_and_read_aloud() -> None:
    root = ElementTree.fromstring(standalone(FAILURE))
    shapes = [each.get("class") for each in root.iter()]
    assert shapes.count("wrong-step") == 1
    words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"the wrong step, at 52.5 ms", "from CP 1 at 23", "2", "1", "… 12"} <= set(words)
    assert "… 1" not in words
    for aloud in (str(inline(FAILURE)), standalone(FAILURE)):
        assert "14 of 1,234 events from 40 ms to 54 ms on 3 lines" in aloud
        assert "… 12 events left out; source[0], 40.1 ms: worker-1.0 died: kill;" in aloud
        assert "the wrong step: source[0], 52.5 ms: source[0] started from checkpoint 1, line 2 of the witness" in aloud


def test_a_line_is_broken_from_a_death_to_the_next_life() -> None:
    root = ElementTree.fromstring(standalone(msgspec.structs.replace(FAILURE, steps=STEPS[:5], arrows=())))
    lives = [each.get("d", "") for each in root.iter() if each.get("class") == "life"]
    assert [each.count("M") for each in lives] == [1, 1, 2]


def test_hostile_words_stay_words() -> None:
    evil = msgspec.structs.replace(
        FILM,
        title=EVIL,
        explains=EVIL,
        scenes=(
            msgspec.structs.replace(
                SCENE,
                caption=EVIL,
                coordinator=EVIL,
                subtasks=(SubtaskScene("source[0]", EVIL, EVIL, (EVIL,), (EVIL,)),),
                channels=(),
            ),
        ),
        columns=(("source[0]",),),
    )
    for written in (
        standalone(evil),
        with_pictures(evil),
        *(
            draw(msgspec.structs.replace(FAILURE, title=EVIL, lines=(EVIL,) * 3, steps=HOSTILE))
            for draw in (standalone, inline)
        ),
        standalone(msgspec.structs.replace(STREAM, channel=f"{EVIL}->{EVIL}")),
    ):
        assert "<script>alert" not in written


GALLERY = Path(reports.__path__[0], "gallery")
AGAIN = "the gallery is not what the code draws now: holdfast pictures --out reports/gallery, then look at it"


def read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_gallery_is_what_is_drawn_now(tmp_path: Path) -> None:
    assert draw_system("reference", tmp_path) == 0
    drawn, kept = read(tmp_path), read(GALLERY)
    assert sorted(drawn) == sorted(kept), AGAIN
    assert [name for name in drawn if drawn[name] != kept[name]] == [], AGAIN


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


def text_boxes(drawn: str, known: Mapping[str, Style]) -> list[Box]:
    """Of all texts of a drawing."""
    return list(_boxes(ElementTree.fromstring(drawn), known, 0.0, 0.0))


def overlaps(drawn: str, known: Mapping[str, Style]) -> list[tuple[str, str]]:
    """Pairs of texts that lie over each other."""
    return [(one.words, other.words) for one, other in combinations(text_boxes(drawn, known), 2) if one.meets(other)]


def cut_off(drawn: str, known: Mapping[str, Style]) -> list[str]:
    """Texts that stick out of a drawing on the left or right."""
    left, _, wide, _ = map(float, ElementTree.fromstring(drawn).get("viewBox", "").split())
    found = text_boxes(drawn, known)
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


PICTURES = styles("pictures.css", "picture-svg") | styles("failure.css", "picture-svg")
TIMELINE = styles("timeline.css", "timeline")
DRAWN = sorted(Path(reports.__path__[0], "gallery").glob("*.svg"))


def text(x: float, words: str, class_: str = "") -> str:
    return f'<text x="{x}" y="20" class="{class_}">{words}</text>'


def test_what_overlaps_is_found_and_what_keeps_apart_is_not() -> None:
    plain = {"": Style(10.0, bold=False), "loud": Style(10.0, bold=True)}
    assert width("aaaa", plain[""]) == pytest.approx(24.8)
    assert overlaps(f"<svg>{text(0, 'aaaa')}{text(24, 'b')}</svg>", plain) == [("aaaa", "b")]
    assert overlaps(f"<svg>{text(0, 'aaaa')}{text(26, 'b')}</svg>", plain) == []
    assert overlaps(f"<svg>{text(0, 'aaaa', 'loud')}{text(26, 'b')}</svg>", plain) == [("aaaa", "b")]
    assert cut_off(f'<svg viewBox="0 0 24 9">{text(0, "aaaa")}{text(-1, "b")}{text(0, "b")}</svg>', plain) == [
        "aaaa",
        "b",
    ]
    moved = f'<svg>{text(0, "aaaa")}<g transform="translate(0 -20)">{text(0, "b")}</g></svg>'
    assert overlaps(moved, plain) == []


def test_sizes_come_from_the_style_sheet() -> None:
    assert PICTURES["name"] == Style(11.5, bold=True)
    assert PICTURES["moment"] == Style(10.5, bold=False)


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.stem)
def test_no_text_of_the_gallery_lies_over_another(path: Path) -> None:
    drawn = path.read_text(encoding="utf-8")
    assert (overlaps(drawn, PICTURES), cut_off(drawn, PICTURES)) == ([], [])


@pytest.mark.parametrize("picture", ALL, ids=lambda picture: picture.name)
def test_no_text_of_a_picture_lies_over_another(picture: object) -> None:
    drawn = standalone(picture)  # type: ignore[arg-type]
    assert (overlaps(drawn, PICTURES), cut_off(drawn, PICTURES)) == ([], [])


@pytest.mark.parametrize("faults", range(6))
def test_no_text_of_a_timeline_lies_over_another(faults: int) -> None:
    drawn = timeline.standalone(sample.timeline(3, faults=faults), "A run", broken_ms=1_000.0)
    assert (overlaps(drawn, TIMELINE), cut_off(drawn, TIMELINE)) == ([], [])


@pytest.mark.parametrize("oracle", BY_NAME)
def test_no_text_around_a_violation_lies_over_another(oracle: str) -> None:
    for exhibit in EXHIBITS.values():
        if exhibit.oracle == oracle and exhibit.bad:
            history = exhibit.history()
            for picture in pictures_of_failure(history, [BY_NAME[oracle].judge(history)]):
                drawn = standalone(picture)
                assert (overlaps(drawn, PICTURES), cut_off(drawn, PICTURES)) == ([], [])
                assert len(inline(picture)) < 60_000
