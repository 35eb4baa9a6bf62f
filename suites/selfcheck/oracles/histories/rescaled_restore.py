"""Histories for RESTORE: a job of three subtasks for each vertex goes on from checkpoint 1 of one of two."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story
from holdfast.suites.selfcheck.oracles.histories.channel_lines import COUNTING

bad, near = exhibits("RESTORE")

WIDER = FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 3})
LEFT, RIGHT = {"a": 3, "b": 4}, {"c": 5}
SPLITS = (((0, 4),), ((1, 6),), ())
PENDING = (("t",), ("u",), ())
BATCHES = (events.ChannelContent("source[0]->sum[0]", False, ((1, 5), (1, 6))),)


def state(entries: dict[str, int]) -> events.StateSummary:
    """Each key with one record of its value."""
    return events.StateSummary(
        len(entries), len(entries), sum(entries.values()), sum(entries.values()), entries=entries
    )


def rescaled(
    *held: dict[str, int],
    splits: Sequence[tuple[tuple[int, int], ...]] = SPLITS,
    pending: Sequence[tuple[str, ...]] = PENDING,
    in_flight: Sequence[Line] = (),
    behind: Sequence[Line] = (),
    submit: FaultSpec = WIDER,
) -> History:
    """What the three sums, sources and sinks start with."""
    taken = [
        line
        for index, entries in enumerate((LEFT, RIGHT))
        for line in (
            events.SnapshotTaken(subtask=f"source[{index}]", checkpoint=1, positions=SPLITS[index]),
            events.SnapshotTaken(subtask=f"sum[{index}]", checkpoint=1, state=state(entries)),
            events.SnapshotTaken(subtask=f"sink[{index}]", checkpoint=1, pending_transactions=PENDING[index]),
        )
    ]
    starts = [
        line
        for index, entries in enumerate(held)
        for line in (
            events.TaskStarted(subtask=f"source[{index}]", restored_checkpoint=1, positions=splits[index]),
            events.TaskStarted(subtask=f"sum[{index}]", restored_checkpoint=1, state=state(entries)),
            events.TaskStarted(subtask=f"sink[{index}]", restored_checkpoint=1, pending_transactions=pending[index]),
        )
    ]
    return story(
        events.JobSubmitted(),
        events.AttemptStarted(),
        *taken,
        *in_flight,
        events.CheckpointCompleted(checkpoint=1),
        events.JobSubmitted(attempt=1_000, path="chk-1", checkpoint=1),
        events.AttemptStarted(attempt=1_001, restored_checkpoint=1) if held else (),
        *starts,
        *behind,
        faults=(submit,),
    )


@bad("rescaled-state-differs")
def a_key_is_with_nobody() -> History:
    return rescaled({"a": 3}, {"b": 4}, {})


@bad("rescaled-state-differs")
def a_key_has_another_value() -> History:
    return rescaled({"a": 3}, {"b": 7}, {"c": 5})


@near("rescaled-state-differs")
def each_key_is_somewhere() -> History:
    return rescaled({"a": 3}, {"b": 4}, {"c": 5})


def copied(recorded: Sequence[int], held: Sequence[int], *, counting: bool) -> History:
    """What the copies of broadcast state hold, by subtask, before and after."""
    taken = [
        events.SnapshotTaken(
            subtask=f"sum[{index}]",
            checkpoint=1,
            state=events.StateSummary(broadcast=events.BroadcastSummary(each, 0, 0)),
        )
        for index, each in enumerate(recorded)
    ]
    others = [
        events.SnapshotTaken(subtask=f"{vertex}[{index}]", checkpoint=1)
        for vertex in ("source", "sink")
        for index in (0, 1)
    ]
    starts = [
        events.TaskStarted(
            subtask=f"{vertex}[{index}]",
            restored_checkpoint=1,
            state=events.StateSummary(broadcast=events.BroadcastSummary(each, 0, 0)) if vertex == "sum" else None,
        )
        for index, each in enumerate(held)
        for vertex in ("source", "sum", "sink")
    ]
    return story(
        events.JobSubmitted(),
        events.AttemptStarted(),
        *taken,
        *others,
        events.CheckpointCompleted(checkpoint=1),
        events.JobSubmitted(attempt=1_000, path="chk-1", checkpoint=1),
        events.AttemptStarted(attempt=1_001, restored_checkpoint=1),
        *starts,
        faults=(WIDER,),
        options=COUNTING if counting else None,
    )


@bad("rescaled-state-differs")
def copies_of_one_cut_differ() -> History:
    return copied((7, 8), (7, 8, 8), counting=False)


@bad("rescaled-state-differs")
def a_copy_was_recorded_by_nobody() -> History:
    return copied((7, 8), (7, 8, 9), counting=True)


@near("rescaled-state-differs")
def copies_differ_where_barriers_are_counted() -> History:
    return copied((7, 8), (7, 8, 7), counting=True)


@bad("key-in-two")
def a_key_is_in_two_and_another_in_none() -> History:
    """As many keys and records, of the same sum, as were recorded."""
    return rescaled({"a": 4}, {"a": 3}, {"c": 5})


@near("key-in-two")
def all_keys_are_in_one() -> History:
    return rescaled({}, {"a": 3, "b": 4, "c": 5}, {})


REGROUPED = FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 3, "max_parallelism": 64})


@bad("key-groups-changed")
def an_attempt_starts_with_other_key_groups() -> History:
    return rescaled(LEFT, RIGHT, {}, submit=REGROUPED)


@near("key-groups-changed")
def no_attempt_starts_with_other_key_groups() -> History:
    return rescaled(submit=REGROUPED)


@bad("rescaled-positions-differ")
def a_split_is_read_twice() -> History:
    return rescaled(LEFT, RIGHT, {}, splits=(((0, 4),), ((1, 6),), ((1, 6),)))


@bad("rescaled-positions-differ")
def a_split_is_read_by_nobody() -> History:
    return rescaled(LEFT, RIGHT, {}, splits=(((0, 4),), (), ()))


@near("rescaled-positions-differ")
def a_split_moves() -> History:
    return rescaled(LEFT, RIGHT, {}, splits=(((0, 4),), (), ((1, 6),)))


@bad("rescaled-transactions-differ")
def a_transaction_is_dropped() -> History:
    return rescaled(LEFT, RIGHT, {}, pending=(("t",), (), ()))


@near("rescaled-transactions-differ")
def a_transaction_moves() -> History:
    return rescaled(LEFT, RIGHT, {}, pending=(("t",), (), ("u",)))


TAKEN = events.ChannelStateTaken(subtask="sum[0]", checkpoint=1, channels=BATCHES)


@bad("rescaled-in-flight")
def what_was_in_flight_is_dropped() -> History:
    return rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN,))


@near("rescaled-in-flight")
def no_attempt_starts() -> History:
    return rescaled(in_flight=(TAKEN,))


@near("rescaled-in-flight")
def what_was_in_flight_moves() -> History:
    moved = (events.ChannelContent("source[0]->sum[2]", False, ((1, 5), (1, 6))),)
    put_back = events.ChannelStateRestored(subtask="sum[2]", checkpoint=1, channels=moved)
    return rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN,), behind=(put_back,))


SUMMED = (events.ChannelContent("source[0]->sum[0]", False, ((1, 5),), events.StateSummary(0, 3, 12, 7)),)
TAKEN_BY_KEY = events.ChannelStateTaken(subtask="sum[0]", checkpoint=1, channels=SUMMED)


def part(index: int, records: int, value: int, digest: int) -> events.ChannelStateRestored:
    """What one of three sums puts back of three records."""
    state = events.StateSummary(0, records, value, digest)
    channels = (events.ChannelContent(f"source[0]->sum[{index}]", False, ((1, 0),), state),)
    return events.ChannelStateRestored(subtask=f"sum[{index}]", checkpoint=1, channels=channels)


@bad("rescaled-in-flight")
def two_sums_take_up_the_same_batch() -> History:
    return rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN_BY_KEY,), behind=(part(0, 3, 12, 7), part(1, 3, 12, 7)))


@near("rescaled-in-flight")
def a_batch_is_cut_by_key() -> History:
    return rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN_BY_KEY,), behind=(part(0, 2, 8, 4), part(1, 1, 4, 3)))


def held_back(*starts: Line) -> History:
    """A job with a mini-batch is submitted again, wider."""
    taken = [
        events.SnapshotTaken(subtask=f"{vertex}[{index}]", checkpoint=1)
        for index in (0, 1)
        for vertex in ("source", "buffer", "sum", "sink")
    ]
    return story(
        events.JobSubmitted(),
        events.AttemptStarted(),
        *taken,
        events.CheckpointCompleted(checkpoint=1),
        events.JobSubmitted(attempt=1_000, path="chk-1", checkpoint=1),
        *starts,
        job=MINI_BATCH,
        faults=(WIDER,),
    )


@bad("held-back-moved")
def a_wider_job_takes_up_what_was_held_back() -> History:
    return held_back(events.AttemptStarted(attempt=1_001, restored_checkpoint=1))


@near("held-back-moved")
def a_wider_job_refuses_what_was_held_back() -> History:
    return held_back()


def weighed(*sizes: int) -> History:
    """One sum of 100 keys stored 9,000 bytes; what the sums behind it store in their first checkpoint."""
    holding = events.StateSummary(100, 100, 100, 100)
    part_of = events.StateSummary(50, 50, 50, 50)
    width = len(sizes)

    def acknowledged(index: int, checkpoint: int, length: int) -> events.AckSent:
        file = events.FileReference(f"chk-{checkpoint}/{index}", length, 0)
        return events.AckSent(subtask=f"sum[{index}]", checkpoint=checkpoint, files=(file,))

    return story(
        events.JobSubmitted(),
        events.AttemptStarted(),
        events.SnapshotTaken(subtask="source[0]", checkpoint=1),
        events.SnapshotTaken(subtask="sum[0]", checkpoint=1, state=holding),
        events.SnapshotTaken(subtask="sink[0]", checkpoint=1),
        acknowledged(0, 1, 9_000),
        events.CheckpointCompleted(checkpoint=1),
        events.JobSubmitted(attempt=1_000, path="chk-1", checkpoint=1),
        events.AttemptStarted(attempt=1_001, restored_checkpoint=1),
        *(
            events.TaskStarted(
                subtask=f"{vertex}[{index}]", restored_checkpoint=1, state=part_of if vertex == "sum" else None
            )
            for index in range(width)
            for vertex in ("source", "sum", "sink")
        ),
        *(acknowledged(index, 2, size) for index, size in enumerate(sizes)),
        events.CheckpointCompleted(checkpoint=2),
        parallelism=1,
        faults=(FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": width}),),
    )


@bad("no-less-per-subtask")
def one_of_two_has_nearly_all() -> History:
    return weighed(8_800, 400)


@near("no-less-per-subtask")
def each_of_two_has_about_half() -> History:
    return weighed(5_000, 4_400)
