"""Views of a report: checkpoints as they were reported, timelines as they happened, and recoveries on one scale."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import msgspec
import pytest

from holdfast.harness.model.case import Tier
from holdfast.harness.model.consequence import FaultFate
from holdfast.harness.model.journal import Band, Journal, Lane, Recovery, Span, Timeline
from holdfast.harness.model.run_details import CheckpointHistory, ReportedStatus, RunDetails, SubtaskPart
from holdfast.harness.model.verdict import Outcome
from holdfast.reports import checkpoints, recovery, strip, timeline
from holdfast.reports.html import MOST_CHECKPOINT_HISTORIES, page
from holdfast.reports.recovery import Row, Sample
from holdfast.reports.strip import Scale
from holdfast.reports.summary import summary
from holdfast.reports.svg import FALLBACK_COLOUR, colour
from holdfast.suites.selfcheck.reports import journals, sample
from holdfast.suites.selfcheck.reports.sample import run
from holdfast.suites.selfcheck.reports.test_html import Page


def page_of(*histories: CheckpointHistory) -> str:
    """A page with a run for each."""
    runs = tuple(
        msgspec.structs.replace(
            sample.run("barriers/alignment", number, drawn=sample.timeline(number)), details="runs/x/details.json"
        )
        for number in range(len(histories))
    )
    details = {run.id: RunDetails(checkpoint_history=history) for run, history in zip(runs, histories, strict=True)}
    return page(msgspec.structs.replace(journals.partial(), runs=runs), details)


def test_counts_and_figures_are_those_of_the_history() -> None:
    shown = Page(page_of(sample.checkpoint_history())).text
    assert "6 checkpoints: 4 completed, 1 failed, 1 in progress, 1 restore" in shown
    assert "Total 6" in shown
    assert "Latest completed 5 after 50 ms, 20 KiB checkpoints/chk-5/_metadata" in shown
    assert "Latest failed 2 after 20 ms expired" in shown
    assert "Latest restore 1 at 230 ms checkpoints/chk-1/_metadata" in shown
    assert "end-to-end duration 10 ms 35 ms 50 ms 50 ms" in shown


def test_each_subtask_has_its_figures_or_none() -> None:
    shown = Page(page_of(sample.checkpoint_history())).text
    assert "sum[1] 40 ms 1.5 ms 20 ms 2 KiB 0.25 ms 10 ms 1 KiB of 4 KiB" in shown
    assert "sum[1] no acknowledgement" in shown


def test_a_strip_is_never_longer_than_its_checkpoint() -> None:
    (checkpoint,) = sample.checkpoint_history(1).checkpoints
    for part in (*checkpoint.parts, SubtaskPart("late[0]", True, 1e12, float("inf"), 5.0), SubtaskPart("x", True, 0.0)):
        drawn = ElementTree.fromstring(str(checkpoints.strip(part, checkpoint)))
        ends = [
            float(each.get("x", "").rstrip("%")) + float(each.get("width", "").rstrip("%"))
            for each in drawn.iter("rect")
        ]
        assert all(end <= 100.5 for end in ends)


def test_what_held_a_checkpoint_up_is_the_first_that_was_late() -> None:
    (checkpoint,) = sample.checkpoint_history(1).checkpoints
    aligned = SubtaskPart("sum[0]", True, 30.0, 1.0, 25.0)
    below = SubtaskPart("sink[0]", True, 31.0, 29.0)
    held_up = msgspec.structs.replace(checkpoint, parts=(below, aligned))
    assert checkpoints.slowest(held_up) is aligned


def test_the_plot_has_a_bar_for_each_and_can_be_read_aloud() -> None:
    drawn = ElementTree.fromstring(str(checkpoints.plot(sample.checkpoint_history(), "one")))
    titles = [each.text or "" for each in drawn.iter("title")]
    assert sum(title.startswith("checkpoint ") and ": completed" in title for title in titles) == 4
    assert any(title.startswith("checkpoint 2: failed after 20 ms; expired") for title in titles)
    assert [each.text for each in drawn.iter("text") if each.get("class") == "tick"] == [*"123456"]


@pytest.mark.parametrize("most", [1, 100, 400])
def test_a_plot_of_many_keeps_its_labels_apart(most: int) -> None:
    drawn = ElementTree.fromstring(str(checkpoints.plot(sample.checkpoint_history(most), "one")))
    places = [float(each.get("x", "")) for each in drawn.iter("text") if each.get("class") == "tick"]
    assert all(later - earlier >= 14 for earlier, later in pairwise(places))


def test_failed_slow_and_new_checkpoints_are_detailed() -> None:
    history = sample.checkpoint_history(40)
    slow = msgspec.structs.replace(history.checkpoints[4], duration_ms=9_000.0)
    history = msgspec.structs.replace(history, checkpoints=(*history.checkpoints[:4], slow, *history.checkpoints[5:]))
    detailed = {each.checkpoint for each, shown in checkpoints.rows(history) if shown}
    assert {2, 5, 40, 39} <= detailed
    assert len(detailed) == checkpoints.MOST_DETAILED


def test_a_page_keeps_to_so_many_histories() -> None:
    source = page_of(*(sample.checkpoint_history() for _ in range(MOST_CHECKPOINT_HISTORIES + 5)))
    assert source.count('class="checkpoints"') == MOST_CHECKPOINT_HISTORIES
    assert source.count("with their subtasks in <code>runs/x/details.json</code>") == 5


def test_hostile_words_stay_words() -> None:
    (checkpoint,) = sample.checkpoint_history(1).checkpoints
    evil = "<script>alert(1)</script>\x00"
    hostile = msgspec.structs.replace(
        checkpoint, reason=evil, path=evil, kind=evil, status=ReportedStatus.FAILED, full_bytes=1 << 70
    )
    history = msgspec.structs.replace(sample.checkpoint_history(1), checkpoints=(hostile,))
    assert "<script>alert" not in page_of(history)


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


def row(*milliseconds: float, faults: int = 0) -> Row:
    samples = tuple(Sample("a-run", "worker 0", each) for each in milliseconds)
    return Row("kill worker", Tier.PROCESS, "reference", 1, faults or len(samples), samples, ())


def journal_of(*values: float | None, outcome: Outcome = Outcome.PASS, tier: Tier = Tier.PROCESS) -> Journal:
    recoveries = tuple(Recovery(number, "kill worker", "worker 0", None, each) for number, each in enumerate(values))
    journal_of = run("a/case", 0, tier=tier, outcome=outcome, recoveries=recoveries)
    return msgspec.structs.replace(journals.empty(), runs=(journal_of,))


def places(found: Row, scale: Scale, class_: str) -> list[float]:
    drawn = ElementTree.fromstring(str(strip.strip(found, scale)))
    shapes = [each for each in drawn.iter() if each.get("class") == class_]
    return [float((each.get("cx") or each.get("x1") or "").rstrip("%")) for each in shapes]


def test_systems_stand_side_by_side_under_each_fault() -> None:
    groups = recovery.groups(journals.side_by_side())
    assert [[(each.attack, each.system, each.series) for each in group] for group in groups] == [
        [("kill executor", "reference", 1), ("kill executor", "spark", 2)],
        [("outage broker", "reference", 1), ("outage broker", "spark", 2)],
    ]


def test_tiers_are_told_apart() -> None:
    runs = (*journal_of(1.0).runs, *journal_of(2.0, tier=Tier.CONTAINERS).runs)
    groups = recovery.groups(msgspec.structs.replace(journals.empty(), runs=runs))
    assert [group[0].tier for group in groups] == [Tier.PROCESS, Tier.CONTAINERS]


def test_the_fault_that_was_measured_most_comes_first() -> None:
    rare = Recovery(0, "pause worker", "worker 0", None, 10.0)
    [often] = journal_of(1.0, 2.0).runs
    runs = (msgspec.structs.replace(often, recoveries=(rare, *often.recoveries)),)
    groups = recovery.groups(msgspec.structs.replace(journals.empty(), runs=runs))
    assert [group[0].attack for group in groups] == ["kill worker", "pause worker"]


def test_the_figures_of_a_row() -> None:
    found = row(*map(float, range(1, 101)), faults=103)
    assert (found.median, found.p95, found.worst, found.untold) == (50.5, 95.0, 100.0, 3)
    assert (row(4.0).median, row(4.0).p95, row(4.0).untold) == (4.0, 4.0, 0)


def test_a_fault_without_output_is_counted_and_has_no_dot() -> None:
    [[found]] = recovery.groups(journal_of(200.0, None, 300.0))
    assert (found.faults, found.values, found.untold) == (3, [200.0, 300.0], 1)
    [[nothing]] = recovery.groups(journal_of(None, None))
    words = "not measured after 2 faults: no new output before the next one or the end"
    assert (nothing.median, nothing.in_words) == (None, words)
    assert "Not measured after 2 more faults: no new output came" in page(journal_of(None, None))
    assert "Not measured" not in page(journal_of(200.0))


def test_what_a_refuted_run_put_out_is_no_recovery() -> None:
    wrong = journal_of(200.0, outcome=Outcome.FAIL)
    assert recovery.groups(wrong) == []
    assert recovery.refuted(wrong) == 1
    assert 'id="recovery"' not in page(wrong)
    assert "3 faults of refuted runs left out" in page(journals.side_by_side())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 1e300])
def test_a_time_that_is_none_is_no_sample(value: float) -> None:
    [[found]] = recovery.groups(journal_of(value, 5.0))
    assert found.values == [5.0]
    assert "nan" not in page(journal_of(value)).lower()


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((900.0, 1_100.0), ["0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1 s", "1.2 s"]),
        ((90.0,), ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]),
        ((100.0,), ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]),
        ((12_000.0,), ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s", "12 s"]),
        ((), ["0 ms", "0.02 ms", "0.04 ms", "0.06 ms", "0.08 ms", "0.1 ms"]),
    ],
    ids=range(5),
)
def test_ticks_are_round_few_and_of_one_unit(values: tuple[float, ...], labels: list[str]) -> None:
    assert [label for _, label in strip.scale_of([row(*values)]).ticks()] == labels


def test_what_differs_by_magnitudes_gets_a_logarithmic_scale() -> None:
    scale = strip.scale_of([row(70.0, 110.0), row(60_000.0)])
    assert (scale.low, scale.high) == (50.0, 100_000.0)
    assert [label for _, label in scale.ticks()] == ["100 ms", "1 s", "10 s", "100 s"]
    assert scale.share(50.0) == 0
    assert scale.share(100_000.0) == 1
    assert scale.share(500.0) - scale.share(50.0) == pytest.approx(scale.share(5_000.0) - scale.share(500.0))


def test_dots_lie_where_their_values_are() -> None:
    scale = Scale(0.0, 200.0)
    found = row(50.0, 100.0, 190.0)
    assert places(found, scale, "sample") == [25.0, 50.0, 95.0]
    assert places(found, scale, "median") == [50.0]
    assert places(found, scale, "whisker") == [25.0, 95.0]


def test_dots_that_would_cover_each_other_give_way() -> None:
    drawn = ElementTree.fromstring(str(strip.strip(row(*[100.0] * 3, 190.0), Scale(0.0, 200.0))))
    heights = [each.get("cy") for each in drawn.iter() if each.get("class") == "sample"]
    assert len(set(heights[:3])) == 3
    assert heights[3] == heights[0]


def test_many_dots_stay_few() -> None:
    assert len(places(row(*map(float, range(5_000))), Scale(0.0, 5_000.0), "sample")) <= strip.MOST_DOTS


def test_the_page_names_figures_and_systems() -> None:
    source = page(journals.side_by_side())
    section = source[source.index('<section id="recovery"') : source.index('<section id="rules"')]
    words = " ".join(re.sub("<title>.*?</title>|<[^>]*>", " ", section).split())
    assert "kill executor on tier spark reference" in words
    assert "9 1.27 s 1.55 s 1.55 s 123 ms spark 9 3.94 s 4.81 s 4.81 s –" in words
    assert "reference, kill executor: median 1.27 s, p95 1.55 s (n = 9)" in section
    assert section.count('class="sample"') == 9 + 9 + 8 + 8 + 1 + 4  # with the key and the systems' own dots


def test_the_summary_has_a_table() -> None:
    shown = summary(journals.side_by_side())
    assert "| kill executor | spark | reference | 9 | 1.27 s | 1.55 s | 1.55 s |\n" in shown
    assert "Recovery" not in summary(journals.refused())
