"""Histories for FEEDBACK: six records of one partition, two to a batch, in a job with a loop; a crash after the first
checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model.capability import AT_MOST_ONCE
from holdfast.harness.model.events import (
    AttemptStarted,
    BatchProcessed,
    BatchSent,
    CheckpointCompleted,
    Event,
    SnapshotTaken,
    SourceEmitted,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.lossy_jobs import ITERATION
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.output_builder import STOPPED, identities, marked, units

bad, near = exhibits("FEEDBACK")

IN, LOOP = "source[0]->loop[0]", "loop[0]->loop[0]"
ROWS = [f"0:{offset}" for offset in range(7)]


def enters(number: int, position: int) -> list[Event]:
    """A batch of two is read, taken by the loop, and sent round."""
    return [
        SourceEmitted(subtask="source[0]", partition=0, first_offset=2 * number, next_offset=2 * number + 2),
        BatchSent(channel=IN, position=position, records=2),
        BatchProcessed(channel=IN, position=position, records=2),
        BatchSent(channel=LOOP, position=position, records=2),
    ]


def comes_back(position: int) -> BatchProcessed:
    return BatchProcessed(channel=LOOP, position=position, records=2)


def crashed(*shown: str, before: Sequence[Event], checkpoint: int = 1, end: RunEnd | None = None) -> History:
    """What happens before the checkpoint; then a crash, and what is left is read again. A marker is the last record."""
    return story(
        AttemptStarted(),
        before,
        SnapshotTaken(subtask="loop[0]", checkpoint=1),
        CheckpointCompleted(checkpoint=1),
        AttemptStarted(restored_checkpoint=checkpoint or None),
        enters(2, 0),
        comes_back(0),
        job=ITERATION,
        parallelism=1,
        inputs=marked(input_log(6)),
        units=units(identities(*shown)),
        claimed=AT_MOST_ONCE,
        end=end,
    )


TWO = [*enters(0, 0), *enters(1, 1)]


@bad("lost-outside-loop")
def one_that_was_read_again() -> History:
    return crashed(*ROWS[:5], *ROWS[6:], before=[*TWO, comes_back(0), comes_back(1)])


@bad("lost-outside-loop")
def one_before_a_visible_marker() -> History:
    """The system under test does not report its end, and never will."""
    return crashed(*ROWS[:5], *ROWS[6:], before=[*TWO, comes_back(0), comes_back(1)], end=STOPPED)


@bad("lost-outside-loop")
def one_that_had_come_back() -> History:
    return crashed(*ROWS[1:2], *ROWS[4:], before=[*TWO, comes_back(0)])


@bad("lost-outside-loop")
def the_checkpoint_is_not_the_one_that_was_restored() -> History:
    return crashed(*ROWS[:2], *ROWS[4:], before=[*TWO, comes_back(0)], checkpoint=7)


@near("lost-outside-loop")
def what_was_in_the_loop() -> History:
    return crashed(*ROWS[:2], *ROWS[4:], before=[*TWO, comes_back(0)])


@near("lost-outside-loop")
def nothing_is_lost() -> History:
    return crashed(*ROWS, before=[*TWO, comes_back(0), comes_back(1)])
