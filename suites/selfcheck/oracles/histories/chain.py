"""Histories for CHAIN: the keyed sum, whose sum and sink are one chain unless it is told otherwise."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story

bad, near = exhibits("CHAIN")

CHAINED = {"pipeline.operator-chaining.enabled": "true"}
INPUTS = ("source[0]->sum[0]", "source[1]->sum[0]")
INSIDE = "sum[0]->sink[0]"


def chained(*lines: Line) -> History:
    return story(*lines, options=CHAINED)


def barriers(checkpoint: int = 1) -> list[events.Event]:
    """On both inputs of the first sum."""
    return [events.BarrierReceived(channel=channel, checkpoint=checkpoint) for channel in INPUTS]


def snapshots(*subtasks: str, checkpoint: int = 1) -> list[events.Event]:
    return [events.SnapshotTaken(subtask=subtask, checkpoint=checkpoint) for subtask in subtasks]


def batch(position: int = 0) -> events.BatchProcessed:
    return events.BatchProcessed(channel=INPUTS[0], position=position, records=1)


def published(states: int) -> list[events.Event]:
    return [
        events.MetadataPublished(checkpoint=1, path="chk-1", files=(), states=states),
        events.CheckpointCompleted(checkpoint=1),
    ]


@near("crossed")
def barrier_called_down() -> History:
    return chained(batch(), barriers(), snapshots("sink[0]", "sum[0]"))


@bad("crossed")
def barrier_sent_down() -> History:
    return chained(
        barriers(), events.BarrierSent(channel=INSIDE, checkpoint=1), snapshots("sum[0]", "sink[0]")
    )  # fmt: skip


@bad("crossed")
def batch_sent_down() -> History:
    return chained(barriers(), snapshots("sink[0]", "sum[0]"), events.BatchSent(channel=INSIDE, position=0, records=1))


@near("without-barrier")
def each_its_own_barrier() -> History:
    return story(
        barriers(),
        snapshots("sum[0]"),
        events.BarrierSent(channel=INSIDE, checkpoint=1),
        events.BarrierReceived(channel=INSIDE, checkpoint=1),
        snapshots("sink[0]"),
    )


@bad("without-barrier")
def called_although_unchained() -> History:
    return story(barriers(), snapshots("sink[0]", "sum[0]"))


@bad("without-barrier")
def head_without_barrier() -> History:
    return chained(barriers(1), snapshots("sink[0]", "sum[0]", checkpoint=2))


@near("snapshot-apart")
def a_batch_after_all_snapshots() -> History:
    return chained(barriers(), snapshots("sink[0]", "sum[0]"), batch())


@near("snapshot-apart")
def an_operator_that_stopped() -> History:
    return chained(
        events.TaskStopped(subtask="sink[0]", reason="failed"),
        barriers(),
        snapshots("sum[0]"),
        batch(),
        [events.BarrierReceived(channel=f"source[{i}]->sum[1]", checkpoint=1) for i in (0, 1)],
        snapshots("sink[1]", "sum[1]"),
    )


@near("snapshot-apart")
def an_operator_that_has_ended() -> History:
    return chained(
        events.SubtaskFinished(subtask="sum[0]"),
        *(line for n in (1, 2) for line in snapshots("sink[0]", checkpoint=n)),
        [events.BarrierReceived(channel=f"source[{i}]->sum[1]", checkpoint=1) for i in (0, 1)],
        snapshots("sink[1]", "sum[1]"),
    )


@bad("snapshot-apart")
def a_batch_between_two_snapshots() -> History:
    return chained(barriers(), snapshots("sum[0]"), batch(), snapshots("sink[0]"))


@bad("snapshot-apart")
def a_snapshot_left_out() -> History:
    return chained(barriers(), snapshots("sum[0]"), barriers(2), snapshots("sink[0]", "sum[0]", checkpoint=2))


@near("snapshot-twice")
def two_checkpoints() -> History:
    return chained(
        *(line for n in (1, 2) for line in (barriers(n), snapshots("sink[0]", "sum[0]", checkpoint=n)))
    )  # fmt: skip


@bad("snapshot-twice")
def the_same_checkpoint_again() -> History:
    both = snapshots("sink[0]", "sum[0]")
    return chained(barriers(), both, snapshots("sink[0]", "sum[0]"))


def seen_as_tasks() -> History:
    """Whoever sees tasks alone sees one snapshot for each, and counts no states."""
    return chained(*(line for n in (1, 2) for line in (barriers(n), snapshots("sum[0]", checkpoint=n))), published(0))


@bad("operator-missing")
def heads_alone_take_snapshots() -> History:
    return chained(barriers(), snapshots("sum[0]"), published(4))


@bad("operator-missing")
def none_stored_beside_all() -> History:
    second = events.MetadataPublished(checkpoint=2, path="chk-2", files=(), states=0)
    return chained(published(6), second, events.CheckpointCompleted(checkpoint=2))


@near("operator-missing")
def every_operator_stored() -> History:
    return chained(published(6))


@bad("operator-missing")
def only_heads_stored() -> History:
    return chained(published(4))
