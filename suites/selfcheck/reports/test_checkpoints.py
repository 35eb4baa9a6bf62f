"""The page shows of each checkpoint what the system reported, and nothing that it did not."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import msgspec
import pytest

from holdfast.harness.model.checkpoint_history import CheckpointHistory, ReportedStatus, SubtaskPart
from holdfast.harness.model.run_details import RunDetails
from holdfast.reports import checkpoints
from holdfast.reports.html import MOST_CHECKPOINT_HISTORIES, page
from holdfast.suites.selfcheck.reports import journals, sample
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
