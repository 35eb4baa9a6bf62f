"""Histories for COORD: what a coordinator writes, over the forward job with one subtask of each vertex."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AckSent,
    AttemptStarted,
    BarrierReceived,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointDrawn,
    CheckpointTriggered,
    DeclineReceived,
    Event,
    FailureCounted,
    FileReference,
    JobSubmitted,
    MetadataPublished,
    NodeDied,
    NotificationSent,
    SnapshotTaken,
    StorageListed,
    TaskStarted,
    TriggerSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, in_real_time
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("COORD")

ALL = ("source[0]", "map[0]", "sink[0]")
FILE = FileReference("chk-1/source", 10, 7)
SHORT = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.timeout": "200 ms"}
TWO_AT_ONCE = {
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.max-concurrent-checkpoints": "2",
}


def story(*lines: Line, options: Mapping[str, str] | None = None) -> History:
    return any_story(AttemptStarted(), *lines, job=FORWARD, parallelism=1, options=options)


def triggered(checkpoint: int) -> CheckpointTriggered:
    return CheckpointTriggered(checkpoint=checkpoint, participants=ALL)


def acked(checkpoint: int, *subtasks: str, outcome: AckOutcome = AckOutcome.SUCCESS) -> list[Event]:
    return [AckReceived(checkpoint=checkpoint, subtask=subtask, outcome=outcome) for subtask in subtasks]


def published(checkpoint: int, *files: FileReference) -> MetadataPublished:
    return MetadataPublished(checkpoint=checkpoint, path=f"chk-{checkpoint}/_metadata", files=files)


def completed(checkpoint: int) -> CheckpointCompleted:
    return CheckpointCompleted(checkpoint=checkpoint)


def aborted(checkpoint: int, reason: str = "expired") -> CheckpointAborted:
    return CheckpointAborted(checkpoint=checkpoint, reason=reason)


def declined(checkpoint: int) -> DeclineReceived:
    return DeclineReceived(checkpoint=checkpoint, subtask="sink[0]", reason="disk full")


def told(checkpoint: int, *, completed: bool, subtasks: tuple[str, ...] = ALL) -> list[Event]:
    return [NotificationSent(checkpoint=checkpoint, subtask=subtask, completed=completed) for subtask in subtasks]


def whole(checkpoint: int) -> list[Event]:
    """A checkpoint as it should be."""
    return [
        triggered(checkpoint),
        *acked(checkpoint, *ALL),
        published(checkpoint),
        completed(checkpoint),
        *told(checkpoint, completed=True),
    ]


def failed_over() -> FailureCounted:
    return FailureCounted(cause="worker lost")


# --- the life of a checkpoint ----------------------------------------------------------------------------------------


@bad("ids-not-increasing")
def id_drawn_again() -> History:
    return story(whole(2), triggered(1))


@bad("ids-not-increasing")
def id_drawn_again_by_new_coordinator() -> History:
    died = NodeDied(dead_node="coordinator", cause="killed")
    return story(whole(1), triggered(2), died, AttemptStarted(restored_checkpoint=1), triggered(2))


@near("ids-not-increasing")
def id_left_out() -> History:
    return story(whole(1), triggered(3))


def _submitted(first_id: int) -> History:
    again = at("", JobSubmitted(path="chk-3/_metadata", checkpoint=3), attempt=1_000)
    drawn = at("", CheckpointDrawn(checkpoint=first_id, request=1, origin=CheckpointOrigin.PERIODIC), attempt=1_001)
    start = AttemptStarted(attempt=1_001, restored_checkpoint=3)
    return story(whole(1), whole(2), whole(3), again, start, drawn)


@bad("wrong-first-id")
def new_job_counts_from_one() -> History:
    return _submitted(1)


@near("wrong-first-id")
def new_job_goes_on_counting() -> History:
    return _submitted(4)


@bad("triggered-not-a-source")
def map_is_told() -> History:
    return story(triggered(1), TriggerSent(checkpoint=1, subtask="map[0]"))


@near("triggered-not-a-source")
def source_is_told() -> History:
    return story(triggered(1), TriggerSent(checkpoint=1, subtask="source[0]"))


BARRIER = "source[0]->map[0]"


@bad("begun-without-barrier")
def snapshot_before_barrier() -> History:
    snapshot = SnapshotTaken(subtask="map[0]", checkpoint=1)
    return story(triggered(1), snapshot, BarrierReceived(channel=BARRIER, checkpoint=1))


@near("begun-without-barrier")
def snapshot_behind_barrier() -> History:
    snapshot = SnapshotTaken(subtask="map[0]", checkpoint=1)
    return story(triggered(1), BarrierReceived(channel=BARRIER, checkpoint=1), snapshot)


@near("too-many-pending")
def forced_needs_no_slot() -> History:
    forced = CheckpointTriggered(checkpoint=2, participants=ALL, origin=CheckpointOrigin.FORCED)
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


@bad("pending-at-restart")
def pending_survives_failover() -> History:
    return story(whole(1), triggered(2), failed_over(), AttemptStarted(restored_checkpoint=1))


@near("pending-at-restart")
def pending_ends_with_failover() -> History:
    return story(
        whole(1), triggered(2), aborted(2, "task failure"), failed_over(), AttemptStarted(restored_checkpoint=1)
    )


@near("pending-at-restart")
def publication_outlives_failover() -> History:
    return story(
        whole(1), triggered(2), triggered(3), acked(3, *ALL), aborted(2, "task failure"), failed_over(),
        AttemptStarted(restored_checkpoint=1), options=TWO_AT_ONCE,
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


@bad("completed-without-ack")
def completed_without_sink() -> History:
    return story(triggered(1), acked(1, *ALL[:2]), published(1), completed(1))


@bad("completed-without-ack")
def completed_with_ack_of_older_attempt() -> History:
    old = at("", AckReceived(checkpoint=1, subtask=ALL[0], outcome=AckOutcome.UNKNOWN), attempt=7)
    return story(triggered(1), old, acked(1, *ALL[1:]), published(1), completed(1))


@bad("completed-without-ack")
def completed_without_trigger() -> History:
    return story(whole(1), published(2), completed(2))


@near("completed-without-ack")
def completed_with_all_acks() -> History:
    return story(triggered(1), acked(1, *reversed(ALL)), published(1), completed(1))


@bad("told-before-durable")
def completed_before_publication() -> History:
    return story(triggered(1), acked(1, *ALL), completed(1), published(1), told(1, completed=True))


@bad("told-before-durable")
def told_before_publication() -> History:
    return story(triggered(1), acked(1, *ALL), told(1, completed=True), published(1), completed(1))


@near("told-before-durable")
def told_after_publication() -> History:
    return story(whole(1))


# --- acks and declines -----------------------------------------------------------------------------------------------


@bad("ack-counted-wrongly")
def repeated_ack_counted() -> History:
    return story(triggered(1), acked(1, ALL[0], ALL[0]))


@bad("ack-counted-wrongly")
def late_ack_counted() -> History:
    return story(whole(1), acked(1, ALL[0]))


@bad("ack-counted-wrongly")
def ack_of_older_attempt_counted() -> History:
    return story(triggered(1), at("", acked(1, ALL[0])[0], attempt=7))


@bad("ack-counted-wrongly")
def ack_of_no_checkpoint_counted() -> History:
    return story(whole(1), acked(2, ALL[0]))


@near("ack-counted-wrongly")
def repeated_ack_ignored() -> History:
    return story(triggered(1), acked(1, ALL[0]), acked(1, ALL[0], outcome=AckOutcome.DUPLICATE))


@bad("completed-after-decline")
def completed_after_decline() -> History:
    return story(triggered(1), declined(1), acked(1, *ALL), published(1), completed(1))


@near("completed-after-decline")
def aborted_after_decline() -> History:
    return story(triggered(1), acked(1, ALL[0]), declined(1), aborted(1), told(1, completed=False), triggered(2))


@near("completed-after-decline")
def declined_when_all_had_acked() -> History:
    overlap = (triggered(1), declined(1), aborted(1), told(1, completed=False))
    return story(*overlap, triggered(2), acked(2, *ALL), declined(2), published(2), completed(2))


@bad("abort-not-told")
def abort_told_to_two_of_three() -> History:
    late = acked(1, ALL[0], outcome=AckOutcome.DISCARDED)
    return story(triggered(1), aborted(1), told(1, completed=False, subtasks=ALL[:2]), late, triggered(2))


@near("abort-not-told")
def abort_told_to_all() -> History:
    late = acked(1, ALL[0], outcome=AckOutcome.DISCARDED)
    return story(triggered(1), aborted(1), told(1, completed=False), late, triggered(2))


@near("abort-not-told")
def died_while_telling() -> History:
    return story(
        triggered(1), aborted(1), told(1, completed=False), triggered(2), aborted(2),
        told(2, completed=False, subtasks=ALL[:1]), NodeDied(dead_node="coordinator", cause="killed"),
        AttemptStarted(), acked(2, ALL[0], outcome=AckOutcome.UNKNOWN),
    )  # fmt: skip


def _discards(*left: FileReference, aborts: bool) -> History:
    """The source's file of checkpoint 1 belongs to nobody, for the checkpoint is aborted or the ack comes late."""
    sent = AckSent(subtask=ALL[0], checkpoint=1, files=(FILE,))
    early, late = acked(1, ALL[0]), acked(1, ALL[0], outcome=AckOutcome.DISCARDED)
    end = [aborted(1), *told(1, completed=False)]
    return story(triggered(1), sent, [*early, *end] if aborts else [*end, *late], whole(2), StorageListed(files=left))


@bad("state-not-discarded")
def state_of_aborted_checkpoint_left() -> History:
    return _discards(FILE, aborts=True)


@bad("state-not-discarded")
def state_of_late_ack_left() -> History:
    return _discards(FILE, aborts=False)


@near("state-not-discarded")
def state_of_aborted_checkpoint_discarded() -> History:
    return _discards(aborts=True)


# --- time and number -------------------------------------------------------------------------------------------------


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


# --- recovery --------------------------------------------------------------------------------------------------------


@bad("restored-not-latest")
def restores_older() -> History:
    return story(whole(1), whole(2), failed_over(), AttemptStarted(restored_checkpoint=1))


@bad("restored-not-latest")
def restores_nothing() -> History:
    return story(whole(1), failed_over(), AttemptStarted())


@bad("restored-not-latest")
def restores_what_never_was() -> History:
    return story(whole(1), failed_over(), AttemptStarted(restored_checkpoint=2))


@bad("restored-not-latest")
def goes_back_behind_a_restored_one() -> History:
    return story(
        whole(1), triggered(2), acked(2, *ALL), published(2), NodeDied(dead_node="coordinator", cause="killed"),
        AttemptStarted(restored_checkpoint=2), failed_over(), AttemptStarted(restored_checkpoint=1),
    )  # fmt: skip


@near("restored-not-latest")
def restores_latest() -> History:
    return story(
        whole(1), triggered(2), aborted(2, "task failure"), failed_over(), AttemptStarted(restored_checkpoint=1)
    )


@near("restored-not-latest")
def restores_published_but_not_completed() -> History:
    return story(
        whole(1), triggered(2), acked(2, *ALL), published(2), NodeDied(dead_node="coordinator", cause="killed"),
        AttemptStarted(restored_checkpoint=2),
    )  # fmt: skip


def _restart(*restored: int | None) -> History:
    """The attempt restores checkpoint 1, its tasks what is given."""
    tasks = [TaskStarted(subtask=name, restored_checkpoint=each) for name, each in zip(ALL, restored, strict=True)]
    return story(whole(1), failed_over(), AttemptStarted(restored_checkpoint=1), tasks)


@bad("tasks-restored-differently")
def task_restores_nothing() -> History:
    return _restart(1, None, 1)


@near("tasks-restored-differently")
def tasks_restore_the_same() -> History:
    return _restart(1, 1, 1)


@bad("started-late-attempt")
def attempt_number_drawn_again() -> History:
    return story(failed_over(), at("", AttemptStarted(), attempt=1))


@near("started-late-attempt")
def attempt_number_left_out() -> History:
    return story(failed_over(), at("", AttemptStarted(), attempt=3))
