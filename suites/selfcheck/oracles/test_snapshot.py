"""Exhibits of SNAPSHOT."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import AckSent, AttemptStarted, BatchProcessed, SnapshotTaken
from holdfast.suites.selfcheck.oracles.builder import Line, story
from holdfast.suites.selfcheck.oracles.judging import BY_NAME, check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("SNAPSHOT"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


@pytest.mark.parametrize(("times", "named"), [(1, 0), (2, 0), (3, 1)])
def test_uploads_of_several_subtasks_while_their_worker_stands_are_one_accident(times: int, named: int) -> None:
    subtasks = ("sum[0]", "sink[0]")
    lines: list[Line] = [AttemptStarted()]
    for checkpoint in range(1, times + 1):
        for position in range(4):
            lines += [1, *(BatchProcessed(channel=f"in->{each}", position=position, records=1) for each in subtasks)]
        lines += [SnapshotTaken(subtask=each, checkpoint=checkpoint, state=None) for each in subtasks]
        lines += [20, *(AckSent(subtask=each, checkpoint=checkpoint) for each in subtasks)]
    lines += [1, *(BatchProcessed(channel=f"in->{each}", position=4, records=1) for each in subtasks)]
    assert len(BY_NAME["SNAPSHOT"].judge(story(*lines)).anomalies) == named


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("SNAPSHOT")
