"""Histories for COORD: the life of a checkpoint, how many there may be, and for how long."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.history import History, RunEnd
from holdfast.suites.selfcheck.oracles.builder import MS, at, exhibits, in_real_time
from holdfast.suites.selfcheck.oracles.histories.coordinator_lines import (
    ALL,
    SHORT,
    TWO_AT_ONCE,
    aborted,
    acked,
    completed,
    declined,
    failed_over,
    published,
    story,
    told,
    triggered,
    whole,
)

bad, near = exhibits("COORD")


@bad("ids-not-increasing")
def id_drawn_again() -> History:
    return story(whole(2), triggered(1))


@bad("ids-not-increasing")
def id_drawn_again_by_new_coordinator() -> History:
    died = events.NodeDied(dead_node="coordinator", cause="killed")
    return story(whole(1), triggered(2), died, events.AttemptStarted(restored_checkpoint=1), triggered(2))


@near("ids-not-increasing")
def id_left_out() -> History:
    return story(whole(1), triggered(3))


def _submitted(first_id: int) -> History:
    again = at("", events.JobSubmitted(path="chk-3/_metadata", checkpoint=3), attempt=1_000)
    drawn = at(
        "", events.CheckpointDrawn(checkpoint=first_id, request=1, origin=CheckpointOrigin.PERIODIC), attempt=1_001
    )
    start = events.AttemptStarted(attempt=1_001, restored_checkpoint=3)
    return story(whole(1), whole(2), whole(3), again, start, drawn)


@bad("wrong-first-id")
def new_job_counts_from_one() -> History:
    return _submitted(1)


@near("wrong-first-id")
def new_job_goes_on_counting() -> History:
    return _submitted(4)


@bad("triggered-not-a-source")
def map_is_told() -> History:
    return story(triggered(1), events.TriggerSent(checkpoint=1, subtask="map[0]"))


@near("triggered-not-a-source")
def source_is_told() -> History:
    return story(triggered(1), events.TriggerSent(checkpoint=1, subtask="source[0]"))


BARRIER = "source[0]->map[0]"


@bad("begun-without-barrier")
def snapshot_before_barrier() -> History:
    snapshot = events.SnapshotTaken(subtask="map[0]", checkpoint=1)
    return story(triggered(1), snapshot, events.BarrierReceived(channel=BARRIER, checkpoint=1))


@near("begun-without-barrier")
def snapshot_behind_barrier() -> History:
    snapshot = events.SnapshotTaken(subtask="map[0]", checkpoint=1)
    return story(triggered(1), events.BarrierReceived(channel=BARRIER, checkpoint=1), snapshot)


@near("too-many-pending")
def forced_needs_no_slot() -> History:
    forced = events.CheckpointTriggered(checkpoint=2, participants=ALL, origin=CheckpointOrigin.FORCED)
    return story(triggered(1), forced)


@bad("wrong-reason")
def declined_by_nobody() -> History:
    return story(triggered(1), aborted(1, "declined"), told(1, completed=False), whole(2))


@bad("wrong-reason")
def declined_for_another_reason() -> History:
    return story(triggered(1), declined(1), aborted(1, "task closing"), told(1, completed=False), whole(2))


@bad("wrong-reason")
def subsumed_by_nothing() -> History:
    return story(triggered(1), aborted(1, "subsumed"), told(1, completed=False), whole(2))


@near("wrong-reason")
def declined_as_it_was_said() -> History:
    return story(triggered(1), declined(1), aborted(1, "declined"), told(1, completed=False), whole(2))


@bad("not-subsumed")
def older_stays_pending() -> History:
    return story(triggered(1), whole(2), triggered(3), options=TWO_AT_ONCE)


@near("not-subsumed")
def older_is_subsumed() -> History:
    return story(
        triggered(1), triggered(2), acked(2, *ALL), published(2), completed(2), aborted(1, "subsumed"),
        told(1, completed=False), told(2, completed=True), triggered(3), options=TWO_AT_ONCE,
    )  # fmt: skip


@near("not-subsumed")
def older_is_being_published() -> History:
    """Its files must stay until that is settled; another that waits for acks is subsumed."""
    return story(
        triggered(1), acked(1, *ALL), triggered(2), triggered(3), acked(3, *ALL), published(3), completed(3),
        aborted(2, "subsumed"), told(2, completed=False), told(3, completed=True), triggered(4),
        options={**TWO_AT_ONCE, "execution.checkpointing.max-concurrent-checkpoints": "3"},
    )  # fmt: skip


@bad("notices-not-increasing")
def older_completion_told_later() -> History:
    return story(whole(1), told(1, completed=True))


@near("notices-not-increasing")
def completions_told_in_order() -> History:
    return story(whole(1), whole(2))


def heard(*checkpoints: int) -> History:
    """Two checkpoints, and what a task is notified of, where nobody sees what the coordinator sends."""
    completions = (
        part for each in (1, 2) for part in (triggered(each), acked(each, *ALL), published(each), completed(each))
    )
    notices = [events.NotificationReceived(subtask="sum[0]", checkpoint=each, completed=True) for each in checkpoints]
    return story(*completions, notices)


@bad("notices-not-increasing")
def older_completion_heard_later() -> History:
    return heard(2, 1)


@near("notices-not-increasing")
def completions_heard_in_order() -> History:
    return heard(1, 2)


@bad("pending-at-restart")
def pending_survives_failover() -> History:
    return story(whole(1), triggered(2), failed_over(), events.AttemptStarted(restored_checkpoint=1))


@near("pending-at-restart")
def pending_ends_with_failover() -> History:
    return story(
        whole(1), triggered(2), aborted(2, "task failure"), failed_over(), events.AttemptStarted(restored_checkpoint=1)
    )


@near("pending-at-restart")
def publication_outlives_failover() -> History:
    return story(
        whole(1), triggered(2), triggered(3), acked(3, *ALL), aborted(2, "task failure"), failed_over(),
        events.AttemptStarted(restored_checkpoint=1), options=TWO_AT_ONCE,
    )  # fmt: skip


@bad("two-ends")
def aborted_after_completion() -> History:
    return story(whole(1), aborted(1))


@bad("two-ends")
def aborted_twice() -> History:
    return story(triggered(1), aborted(1), told(1, completed=False), aborted(1), whole(2))


@near("two-ends")
def completed_once() -> History:
    return story(whole(1))


def _refused_untriggered(job: int) -> History:
    """A job completes checkpoint 1; then a job draws that id, and gives it up before it is triggered."""
    again = at("", events.JobSubmitted(path=""), attempt=1_000)
    start = events.AttemptStarted(attempt=1_001)
    given_up = at(
        "", events.CheckpointAborted(checkpoint=1, reason=FailureReason.INPUT_OUTPUT), attempt=job * 1_000 + 1
    )
    return story(at("", events.JobSubmitted(path=""), attempt=0), whole(1), again, start, given_up, whole(2))


@bad("two-ends")
def the_same_job_gives_up_what_it_completed() -> History:
    return _refused_untriggered(0)


@near("two-ends")
def the_next_job_gives_up_an_id_of_the_former() -> History:
    return _refused_untriggered(1)


def _given_up_untriggered_again(node: str) -> History:
    """An id is given up before it is triggered, because it could not be stored; then a coordinator draws it again."""
    first = at("", events.CheckpointAborted(checkpoint=2, reason=FailureReason.INPUT_OUTPUT), attempt=1)
    again = at(node, events.CheckpointAborted(checkpoint=2, reason=FailureReason.INPUT_OUTPUT), attempt=1)
    return story(whole(1), first, again, whole(3))


@bad("two-ends")
def the_same_coordinator_gives_up_an_id_twice() -> History:
    return _given_up_untriggered_again("")


@near("two-ends")
def a_successor_gives_up_an_id_that_was_never_stored() -> History:
    return _given_up_untriggered_again("coordinator.1")


@bad("completed-without-ack")
def completed_without_sink() -> History:
    return story(triggered(1), acked(1, *ALL[:2]), published(1), completed(1))


@bad("completed-without-ack")
def completed_with_ack_of_older_attempt() -> History:
    old = at("", events.AckReceived(checkpoint=1, subtask=ALL[0], outcome=events.AckOutcome.UNKNOWN), attempt=7)
    return story(triggered(1), old, acked(1, *ALL[1:]), published(1), completed(1))


@bad("completed-without-ack")
def completed_without_trigger() -> History:
    return story(whole(1), published(2), completed(2))


@near("completed-without-ack")
def completed_with_all_acks() -> History:
    return story(triggered(1), acked(1, *reversed(ALL)), published(1), completed(1))


@bad("notified-before-durable")
def completed_before_publication() -> History:
    return story(triggered(1), acked(1, *ALL), completed(1), published(1), told(1, completed=True))


@bad("notified-before-durable")
def told_before_publication() -> History:
    return story(triggered(1), acked(1, *ALL), told(1, completed=True), published(1), completed(1))


@near("notified-before-durable")
def told_after_publication() -> History:
    return story(whole(1))


@bad("not-expired")
def expires_late() -> History:
    return story(triggered(1), 400, aborted(1), told(1, completed=False), whole(2), options=SHORT)


@bad("not-expired")
def never_expires() -> History:
    return story(triggered(1), options=SHORT)


@bad("not-expired")
def expires_late_though_it_had_two_turns() -> History:
    expired = (aborted(1), told(1, completed=False), whole(2))
    acks = (acked(1, ALL[0]), 50, acked(1, ALL[1]))
    return in_real_time(story(triggered(1), 300, *acks, 50, *expired, options=SHORT))


@near("not-expired")
def expires_late_on_a_machine_that_let_it_wait() -> History:
    return in_real_time(story(triggered(1), 400, aborted(1), told(1, completed=False), whole(2), options=SHORT))


@near("not-expired")
def expires_in_the_turn_in_which_an_ack_is_read_first() -> History:
    expired = (aborted(1), told(1, completed=False), whole(2))
    return in_real_time(story(triggered(1), 400, acked(1, ALL[0]), 2, *expired, options=SHORT))


@near("not-expired")
def expires_in_a_turn_that_is_broken_off() -> History:
    expired = (aborted(1), told(1, completed=False), whole(2))
    return in_real_time(story(triggered(1), 350, acked(1, ALL[0]), 50, *expired, options=SHORT))


@bad("not-expired")
def never_expires_in_real_time() -> History:
    return in_real_time(never_expires())


@near("not-expired")
def is_pending_when_the_run_is_over() -> History:
    """The machine let its coordinator wait."""
    end = RunEnd(reached=True, ended_ns=400 * MS)
    return in_real_time(story(triggered(1), options=SHORT, end=end))


@near("not-expired")
def expires_in_time() -> History:
    return story(triggered(1), 200, aborted(1), told(1, completed=False), whole(2), options=SHORT)


@near("not-expired")
def publication_lasts() -> History:
    expired = (triggered(1), 200, aborted(1), told(1, completed=False))
    return story(*expired, triggered(2), acked(2, *ALL), 900, published(2), completed(2), options=SHORT)


@bad("too-many-pending")
def second_while_first_is_pending() -> History:
    return story(triggered(1), triggered(2))


@bad("too-many-pending")
def third_of_two() -> History:
    return story(triggered(1), triggered(2), triggered(3), options=TWO_AT_ONCE)


@near("too-many-pending")
def second_of_two() -> History:
    return story(triggered(1), triggered(2), options=TWO_AT_ONCE)


@bad("slot-not-freed")
def nothing_after_abort() -> History:
    return story(triggered(1), aborted(1), told(1, completed=False))


@near("slot-not-freed")
def next_after_abort() -> History:
    return story(triggered(1), aborted(1), told(1, completed=False), triggered(2))


def _next_is_drawn(stalled_ms: int) -> History:
    """After its abort the next checkpoint gets its id, which its coordinator writes down before it is triggered. That
    lasts until the end of the run, 400 ms later; for so long in this time somebody waited for a processor or a disk."""
    drawn = events.CheckpointDrawn(checkpoint=3, request=3, origin=CheckpointOrigin.PERIODIC)
    stall = events.MachineStalled(since_ns=6 * MS, stalled_ns=stalled_ms * MS)
    aborts = (triggered(1), aborted(1), told(1, completed=False), triggered(2), aborted(2), told(2, completed=False))
    history = story(*aborts, drawn, 400, stall)
    history.end = RunEnd(reached=True, ended_ns=history.events[-1].time_ns)
    return in_real_time(history)


@near("slot-not-freed")
def next_waits_for_a_disk_that_others_use() -> History:
    return _next_is_drawn(390)


@bad("slot-not-freed")
def next_waits_for_a_disk_that_is_free() -> History:
    return _next_is_drawn(30)
