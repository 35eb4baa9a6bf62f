"""A timeline draws what happened, where it happened, and survives times that are none."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import msgspec
import pytest

from holdfast.harness.model.fault_fate import FaultFate
from holdfast.harness.model.journal import Band, Lane, Span, Timeline
from holdfast.reports import timeline
from holdfast.reports.svg import FALLBACK_COLOUR, colour
from holdfast.suites.selfcheck.reports import journals, sample

PLOT = timeline.WIDTH - timeline.LEFT - timeline.RIGHT
SVG = "{http://www.w3.org/2000/svg}"


def drawn(value: Timeline) -> ElementTree.Element:
    return ElementTree.fromstring(timeline.standalone(value, "Timeline of a run"))


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


def titles(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}title")]


def test_times_become_places() -> None:
    value = Timeline(
        duration_ms=1_000.0,
        lanes=(Lane("coordinator", ((0.0, 1_000.0),)), Lane("worker 0", ((0.0, 250.0), (500.0, 1_000.0)))),
        checkpoints=(Span(1, 100.0, 200.0, "completed"),),
        restarts_ms=(500.0,),
    )
    root = drawn(value)
    lives = of_class(root, "life")
    left, half, quarter = timeline.LEFT, PLOT / 2, PLOT / 4
    assert [float(each.get("x", "")) for each in lives] == pytest.approx([left, left, left + half])
    assert [float(each.get("width", "")) for each in lives] == pytest.approx([PLOT, quarter, half])
    (span,) = of_class(root, "completed")[:1]
    assert float(span.get("x", "")) == pytest.approx(timeline.LEFT + PLOT / 10, abs=0.1)
    (restart,) = [each for each in of_class(root, "restart") if each.tag == f"{SVG}line"]
    assert float(restart.get("x1", "")) == pytest.approx(timeline.LEFT + PLOT / 2, abs=0.1)
    assert len(of_class(root, "death")) == 1


def test_the_picture_can_be_read_aloud() -> None:
    root = drawn(sample.timeline(3, faults=4))
    assert root.get("role") == "img"
    assert titles(root)[0] == "Timeline of a run"
    description = next(root.iter(f"{SVG}desc")).text or ""
    assert "14 checkpoints (12 completed, 1 aborted, 1 pending), 1 restart" in description
    undecided = "leaves open: the outcome of what it had under way"
    assert f"kill worker 1 at 840 ms: confirmed (held at its gate); {undecided}" in description
    assert "pause worker 0 from 2.13 s to 2.42 s: acted, and nothing came of it" in description
    assert "storage-error storage: never acted" in description
    assert description.count(undecided) == 1
    spoken = titles(root)
    assert any(words.startswith("checkpoint 3: aborted") and words.endswith("worker 1 died") for words in spoken)
    assert any(words.startswith("restart 1, ") for words in spoken)
    assert any(words.startswith("all healed, ") for words in spoken)
    assert "visible rows: at most 8,960 rows" in spoken


def test_a_fault_that_never_acted_is_not_drawn() -> None:
    assert of_class(drawn(sample.timeline(3, faults=4)), "fault-label") != []
    quiet = Timeline(10.0, (), faults=(Band(0, "kill", "worker 0", 0.0, 0.0, FaultFate.NEVER_ACTED, "", "red"),))
    assert of_class(drawn(quiet), "fault-label") == []


def test_overlapping_labels_go_to_rows_of_their_own() -> None:
    bands = tuple(
        Band(each, "slow", f"channel {each}", 100.0, 900.0, FaultFate.LANDED, "exact", "#123456") for each in range(4)
    )
    labels = of_class(drawn(Timeline(1_000.0, (), faults=bands)), "fault-label")
    assert len({each.get("y") for each in labels}) == 4


def test_overlapping_checkpoints_go_to_rows_of_their_own() -> None:
    spans = tuple(Span(each, each * 10.0, 500.0 + each, "completed") for each in range(20))
    rows = {each.get("y") for each in of_class(drawn(Timeline(1_000.0, (), spans)), "span")}
    assert len(rows) == timeline.SPAN_ROWS


def test_a_long_run_stays_small() -> None:
    spans = tuple(Span(each, each * 10.0, each * 10.0 + 6, "completed") for each in range(5_000))
    points = tuple((each * 10.0, each) for each in range(5_000))
    value = Timeline(50_000.0, (), spans, visible_rows=points, records=points)
    written = timeline.standalone(value, "a long run")
    assert len(written) < 200_000
    assert "5,000 completed checkpoints" in written


@pytest.mark.parametrize(
    ("duration_ms", "labels"),
    [
        (7.0, ["0 ms", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms", "6 ms", "7 ms"]),
        (640.0, ["0 ms", "100 ms", "200 ms", "300 ms", "400 ms", "500 ms", "600 ms"]),
        (4_200.0, ["0 s", "1 s", "2 s", "3 s", "4 s"]),
        (600_000.0, ["0:00 min", "2:00 min", "4:00 min", "6:00 min", "8:00 min", "10:00 min"]),
        (3 * 3_600_000.0, ["0 h", "0.5 h", "1 h", "1.5 h", "2 h", "2.5 h", "3 h"]),
    ],
)
def test_ticks_are_round_and_few(duration_ms: float, labels: list[str]) -> None:
    root = drawn(Timeline(duration_ms, ()))
    assert [each.text for each in of_class(root, "tick")] == labels


def test_a_year_still_has_few_ticks() -> None:
    assert len(of_class(drawn(Timeline(365 * 24 * 3_600_000.0, ())), "tick")) <= 10


def test_nothing_can_be_drawn_too() -> None:
    drawn(Timeline(0.0, ()))
    drawn(msgspec.structs.replace(sample.timeline(1), duration_ms=-1.0))


def test_times_that_are_none_are_drawn_somewhere() -> None:
    strange = next(run.timeline for run in journals.hostile().runs if run.timeline)
    written = timeline.standalone(strange, journals.HOSTILE)
    root = ElementTree.fromstring(written)
    assert "nan" not in "".join(each.get("x", "") + each.get("d", "") for each in root.iter()).lower()
    assert "evil.example)" not in written
    assert "<script" not in written


@pytest.mark.parametrize("fine", ["#c2410c", "#fff", "rebeccapurple", "rgb(1, 2, 3)", "hsl(120deg 50% 50% / 40%)"])
def test_a_colour_is_kept(fine: str) -> None:
    assert colour(fine) == fine


@pytest.mark.parametrize("bad", ["", "url(#a)", "red;x:y", 'red" onload="x', "rgb(url(x))", "var(--x)", "#12"])
def test_what_is_no_colour_is_replaced(bad: str) -> None:
    assert colour(bad) == FALLBACK_COLOUR
