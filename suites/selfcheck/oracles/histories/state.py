"""Histories for STATE: checkpoint 1 of two sums stands at offset 4 of partition 0 and at offset 2 of partition 1."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.capability import AT_LEAST_ONCE, Claims
from holdfast.harness.model.events import (
    CheckpointAudited,
    CheckpointCompleted,
    SnapshotTaken,
    StateSummary,
    SubtaskAudited,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import at, exhibits, story
from holdfast.suites.selfcheck.oracles.legal import summary

bad, near = exhibits("STATE")

COMPLETED = CheckpointCompleted(checkpoint=1, positions=(4, 2))
A, B = [(0, 0), (0, 2), (1, 0)], [(0, 1), (0, 3), (1, 1)]
"""Even offsets have key `a`, odd ones `b`."""


def read_back(*states: StateSummary, problem: str = "", before: tuple[SnapshotTaken, ...] = ()) -> History:
    """One state by subtask."""
    audited = [SubtaskAudited(checkpoint=1, subtask=f"sum[{index}]", state=state) for index, state in enumerate(states)]
    told = story(*before, COMPLETED, CheckpointAudited(checkpoint=1, problem=problem), *audited)
    # Nothing is claimed of output, because there is none.
    return History(told.plan, Claims(state=told.claims.state), told.inputs, told.output, told.events, told.end)


def with_values(values: dict[str, int], state: StateSummary) -> StateSummary:
    return msgspec.structs.replace(state, entries=values)


@bad("state-missing")
def a_key_forgotten() -> History:
    return read_back(summary(A), StateSummary(entries={}))


@bad("state-missing")
def more_forgotten_than_one_partition_has() -> History:
    audited = [
        SubtaskAudited(checkpoint=1, subtask=f"sum[{index}]", state=StateSummary(entries={})) for index in (0, 1)
    ]
    return story(CheckpointCompleted(checkpoint=1, positions=(10, 10)), *audited)


@bad("state-missing")
def rolled_back_by_one_record() -> History:
    return read_back(summary(A), summary(B[:2]))


@near("state-missing")
def records_behind_the_positions_are_not_there() -> History:
    return read_back(summary(A), summary(B))


@near("state-missing")
def a_subtask_without_keys() -> History:
    return read_back(summary(A + B), StateSummary(entries={}))


@near("state-missing")
def values_decide_where_there_is_no_digest() -> History:
    return read_back(*(msgspec.structs.replace(summary(held), digest=0) for held in (A, B)))


@near("state-missing")
def one_of_two_had_finished() -> History:
    """Nothing is left of its state; the next checkpoint, of both, is whole."""
    first = read_back(summary(A))
    gone = SubtaskAudited(checkpoint=1, subtask="sum[1]")
    second = [SubtaskAudited(checkpoint=2, subtask=f"sum[{i}]", state=summary(held)) for i, held in enumerate((A, B))]
    return story(*first.events, gone, CheckpointCompleted(checkpoint=2, positions=(4, 2)), *second)


@near("state-missing")
def read_twice_from_storage() -> History:
    """When it had completed, and after the run."""
    first = read_back(summary(A), summary(B))
    again = [
        at("audit", SubtaskAudited(checkpoint=1, subtask=f"sum[{i}]", state=summary(x))) for i, x in enumerate((A, B))
    ]
    return story(*first.events, *again)


@bad("state-missing")
def lost_when_it_is_read_again() -> History:
    first = read_back(summary(A), summary(B))
    again = [
        at("audit", SubtaskAudited(checkpoint=1, subtask=f"sum[{i}]", state=summary(x)))
        for i, x in enumerate((A, B[:2]))
    ]
    return story(*first.events, *again)


@bad("state-extra")
def a_record_twice() -> History:
    return read_back(summary([*A, A[0]]), summary(B))


@bad("state-extra")
def a_record_behind_the_positions() -> History:
    return read_back(summary([*A, (0, 4)]), summary(B))


@near("state-extra")
def as_many_as_are_before_the_positions() -> History:
    return read_back(summary(B), summary(A))


@bad("key-wrong")
def sums_of_two_keys_exchanged() -> History:
    a, b = summary(A), summary(B)
    return read_back(with_values({"a": b.value}, a), with_values({"b": a.value}, b))


@near("key-wrong")
def a_key_in_two_subtasks() -> History:
    return read_back(summary(A[:1]), summary(A[1:] + B))


@near("key-wrong")
def too_many_keys_to_show_decide_by_their_sum() -> History:
    shown = read_back(summary(A), summary(B))
    hidden = [msgspec.structs.replace(summary(held), entries=None) for held in (A, B)]
    audited = [SubtaskAudited(checkpoint=2, subtask=f"sum[{index}]", state=state) for index, state in enumerate(hidden)]
    return story(*shown.events, CheckpointCompleted(checkpoint=2, positions=(4, 2)), *audited)


@bad("state-unreadable")
def a_file_of_the_state_is_missing() -> History:
    return read_back(problem="3.delta is missing")


@near("state-unreadable")
def only_a_checkpoint_that_never_completed_is_unreadable() -> History:
    read = read_back(summary(A), summary(B))
    return story(*read.events, CheckpointAudited(checkpoint=2, problem="its metadata is torn"))


def repeated_under_at_least_once() -> History:
    """Nobody denies the repeat, and it may hide a loss."""
    read = read_back(summary([*A, A[0]]), summary(B))
    return story(*read.events, claimed=AT_LEAST_ONCE)


def unaligned() -> History:
    """What was in flight is not among what was read."""
    before = SnapshotTaken(subtask="sum[0]", checkpoint=1, unaligned=True)
    return read_back(summary(A), summary(B[:2]), before=(before,))


def one_subtask_unread() -> History:
    return read_back(summary(A))
