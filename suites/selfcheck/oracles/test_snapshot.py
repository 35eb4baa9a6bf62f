"""SNAPSHOT, beyond its exhibits."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import AckSent, AttemptStarted, BatchProcessed, SnapshotTaken
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, Line, story


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


@pytest.mark.parametrize(("checkpoints", "named"), [((1, 1, 1), 0), ((1, 2, 3), 1)])
def test_uploads_of_one_checkpoint_one_after_the_other_are_one_accident(
    checkpoints: tuple[int, ...], named: int
) -> None:
    """No record comes behind its barrier for a while."""
    lines: list[Line] = [AttemptStarted()]
    for subtask, checkpoint in zip(("sum[0]", "sum[1]", "sink[0]"), checkpoints, strict=True):
        batches = [BatchProcessed(channel=f"in->{subtask}", position=position, records=1) for position in range(5)]
        lines += [line for each in batches[:4] for line in (1, each)]
        lines += [SnapshotTaken(subtask=subtask, checkpoint=checkpoint, state=None), 20]
        lines += [AckSent(subtask=subtask, checkpoint=checkpoint), 1, batches[4]]
    assert len(BY_NAME["SNAPSHOT"].judge(story(*lines)).anomalies) == named
