"""Pictures as SVG: whole, readable aloud, and nothing on top of each other that must be read."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree

import msgspec
import pytest

from holdfast.fixtures.reference.protocol.state_machines import STATE_MACHINES
from holdfast.harness.engine.pictures.of_runs import drawn_machine
from holdfast.harness.model.picture import (
    ChannelScene,
    DrawnMachine,
    Element,
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
    StreamPicture,
    SubtaskScene,
)
from holdfast.harness.model.run_details import RunDetails
from holdfast.harness.model.state_machine import StateMachine, Step
from holdfast.reports.html import page
from holdfast.reports.pictures.drawing import standalone
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
MACHINES = tuple(drawn_machine(machine) for machine in STATE_MACHINES)
ALL: tuple[Picture, ...] = (FILM, STREAM, PAUSE, RECOVERY, SHARED, *MACHINES)


@pytest.mark.parametrize("picture", ALL, ids=lambda picture: picture.name)
def test_a_file_is_whole_and_says_what_it_is(picture: Picture) -> None:
    root = ElementTree.fromstring(standalone(picture))
    assert root.get("role") == "img"
    assert picture.title in [each.text for each in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "nan" not in standalone(picture)


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
        standalone(msgspec.structs.replace(STREAM, channel=f"{EVIL}->{EVIL}")),
    ):
        assert "<script>alert" not in written
