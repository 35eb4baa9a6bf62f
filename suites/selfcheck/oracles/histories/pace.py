"""Histories for PACE: when a coordinator begins checkpoints, over the forward job with one subtask of each vertex."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.records import InputLog
from holdfast.suites.selfcheck.oracles.builder import MS, Line, at, exhibits, in_real_time, injected, input_log
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("PACE")

ALL = ("source[0]", "map[0]", "sink[0]")
PERIODIC, USER, FORCED = CheckpointOrigin.PERIODIC, CheckpointOrigin.USER, CheckpointOrigin.FORCED
PAUSED = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.min-pause": "400 ms"}
BRIEF_PAUSE = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.min-pause": "100 ms"}
NO_INTERVAL = {"restart-strategy.type": "none"}
TWO_AT_ONCE = {
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.max-concurrent-checkpoints": "2",
}


def story(
    *lines: Line,
    options: Mapping[str, str] | None = None,
    end: RunEnd | None = None,
    inputs: InputLog | None = None,
) -> History:
    running = events.JobSwitched(status=events.JobStatus.RUNNING)
    lines = (events.AttemptStarted(), running, *lines)
    return any_story(*lines, job=FORWARD, parallelism=1, options=options, end=end, inputs=inputs)


def asked(request: int, origin: CheckpointOrigin = PERIODIC) -> events.CheckpointRequested:
    return events.CheckpointRequested(request=request, origin=origin)


def refused(request: int, reason: FailureReason, origin: CheckpointOrigin = USER) -> events.CheckpointRefused:
    return events.CheckpointRefused(request=request, origin=origin, reason=reason)


def drawn(checkpoint: int, request: int = 0, origin: CheckpointOrigin = PERIODIC) -> events.CheckpointDrawn:
    return events.CheckpointDrawn(checkpoint=checkpoint, request=request or checkpoint, origin=origin)


def triggered(checkpoint: int, origin: CheckpointOrigin = PERIODIC) -> events.CheckpointTriggered:
    return events.CheckpointTriggered(checkpoint=checkpoint, participants=ALL, origin=origin)


def begun(checkpoint: int, request: int = 0, origin: CheckpointOrigin = PERIODIC) -> list[events.Event]:
    """A request that is served at once."""
    number = request or checkpoint
    return [asked(number, origin), drawn(checkpoint, number, origin), triggered(checkpoint, origin)]


def completed(checkpoint: int) -> events.CheckpointCompleted:
    return events.CheckpointCompleted(checkpoint=checkpoint)


def published(checkpoint: int) -> events.MetadataPublished:
    path = f"chk-{checkpoint}/_metadata"
    return events.MetadataPublished(checkpoint=checkpoint, path=path, files=(events.FileReference(path, 10, 7),))


def dropped(checkpoint: int) -> events.CheckpointDropped:
    return events.CheckpointDropped(checkpoint=checkpoint)


def deleted(checkpoint: int) -> events.FileDeleted:
    return at("coordinator.0", events.FileDeleted(path=f"chk-{checkpoint}/_metadata"))


def processed() -> events.BatchProcessed:
    return events.BatchProcessed(channel="source[0]->map[0]", position=0, records=1)


def slow() -> events.FaultInjected:
    return injected("slow-storage", "storage[0]")


# --- interval and first trigger --------------------------------------------------------------------------------------


@bad("triggered-without-interval")
def periodic_without_interval() -> History:
    return story(500, begun(1), completed(1), options=NO_INTERVAL)


@near("triggered-without-interval")
def only_users_ask() -> History:
    return story(500, begun(1, origin=USER), completed(1), options=NO_INTERVAL)


@near("triggered-without-interval")
def nobody_asks() -> History:
    return story(500, events.FailureCounted(cause="worker lost"), options=NO_INTERVAL)


@bad("first-trigger-outside")
def first_before_pause() -> History:
    return story(100, begun(1), options=PAUSED)


@bad("first-trigger-outside")
def first_after_interval() -> History:
    return story(300, begun(1))


@bad("first-trigger-outside")
def first_of_second_attempt_too_late() -> History:
    failed = [events.FailureCounted(cause="worker lost"), events.JobSwitched(status=events.JobStatus.RESTARTING)]
    again = [events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING)]
    return story(50, begun(1), completed(1), failed, again, 300, begun(2))


@near("first-trigger-outside")
def first_within_interval() -> History:
    return story(90, begun(1), completed(1), 300, begun(2))


@near("first-trigger-outside")
def pause_above_interval() -> History:
    return story(400, begun(1), options=PAUSED)


# --- pauses ----------------------------------------------------------------------------------------------------------


@bad("pause-too-short")
def next_too_soon() -> History:
    return story(400, begun(1), 50, completed(1), 300, begun(2), options=PAUSED)


@near("pause-too-short")
def next_after_pause() -> History:
    return story(400, begun(1), 50, completed(1), 400, begun(2), options=PAUSED)


def _drawn_before_the_completion(concurrent: int) -> History:
    """The turn of checkpoint 2 comes while checkpoint 1 is under way; it is recorded when that is complete."""
    options = {**PAUSED, "execution.checkpointing.max-concurrent-checkpoints": str(concurrent)}
    first, second = completed(1), begun(2)
    history = story(400, begun(1), 290, first, second, 400, completed(2), 600, begun(3), options=options)
    for line in second:
        line.time_ns = first.time_ns - 150 * MS
    return history


@near("pause-too-short")
def begun_while_another_is_under_way() -> History:
    return _drawn_before_the_completion(2)


@bad("pause-too-short")
def begun_too_soon_after_the_completion_before_the_last() -> History:
    """The turn of checkpoint 3 comes 52 ms after checkpoint 1 is complete; it is recorded when 2 is complete, too."""
    options = {**PAUSED, "execution.checkpointing.max-concurrent-checkpoints": "2"}
    second, third = completed(2), begun(3)
    history = story(400, begun(1), begun(2), 100, completed(1), 102, second, third, options=options)
    for line in third:
        line.time_ns = second.time_ns - 50 * MS
    return history


@bad("pause-too-short")
def begun_before_the_only_one_was_complete() -> History:
    return _drawn_before_the_completion(1)


def _starved(stalled_ms: int, *more: Line) -> History:
    """Before it records a completion, a coordinator waits for a processor; the next checkpoint begins 150 ms later."""
    stall = events.MachineStalled(since_ns=(695 - stalled_ms) * MS, stalled_ns=stalled_ms * MS)
    return story(400, begun(1), 290, at("harness", stall), completed(1), 150, begun(2), *more, options=PAUSED)


@bad("pause-too-short")
def next_too_soon_however_late_it_was_recorded() -> History:
    return _starved(100)


@near("pause-too-short")
def completed_long_before_it_was_recorded() -> History:
    return _starved(280, 50, completed(2), 420, begun(3))


@near("pause-too-short")
def user_in_between() -> History:
    return story(400, begun(1), completed(1), 100, begun(2, origin=USER), completed(2), 400, begun(3), options=PAUSED)


def busy(gap_ms: float) -> list[Line]:
    """Four checkpoints of a little more than the interval, with gaps between them."""
    return [line for n in range(1, 5) for line in (gap_ms, begun(n), 108, completed(n))]


@bad("share-too-high")
def overlapping_share() -> History:
    """Each gap is just long enough for a stamp; together they are too short."""
    return story(*busy(88), options=BRIEF_PAUSE)


@near("share-too-high")
def share_of_pause() -> History:
    return story(*busy(98), options=BRIEF_PAUSE)


@bad("records-stand-still")
def still_during_checkpoints() -> History:
    return story(slow(), processed(), begun(1), 300, completed(1), processed())


@near("records-stand-still")
def flow_during_checkpoints() -> History:
    return story(slow(), begun(1), 150, processed(), 150, completed(1), processed())


@bad("records-stand-still")
def still_before_the_heal() -> History:
    lines = (slow(), processed(), begun(1), 300, completed(1), processed())
    return story(*lines, end=RunEnd(reached=True, healed_ns=500 * MS, ended_ns=10_000 * MS))


@bad("records-stand-still")
def still_in_real_time() -> History:
    return in_real_time(still_during_checkpoints())


def delayed(since_ms: int) -> events.Event:
    """Records arrive now, and were due since a time of the run."""
    return at("harness", events.InputDelayed(partition=0, since_ns=since_ms * MS))


@bad("records-stand-still")
def delayed_only_at_first() -> History:
    return in_real_time(story(slow(), processed(), begun(1), 100, delayed(0), 200, completed(1), processed()))


def records_wait_in_the_harness() -> History:
    """What it feeds between two checkpoints had to wait for the first of them."""
    lines = (slow(), processed(), begun(1), 300, completed(1), delayed(30), processed(), begun(2), 300, completed(2))
    return in_real_time(story(*lines, delayed(330), processed()))


def _late_partition(starts_ms: int) -> History:
    """One checkpoint from 2 to 302 ms; the first partition was there from the start, the second one comes later."""
    first, second = input_log(10, 10).partitions
    inputs = InputLog(("a",), (first, replace(second, preloaded=0, starts_ms=starts_ms)))
    return story(slow(), processed(), begun(1), 300, completed(1), 200, processed(), inputs=inputs)


@bad("records-stand-still")
def due_in_the_first_half() -> History:
    return _late_partition(100)


@bad("records-stand-still")
def due_behind_the_next_record() -> History:
    return _late_partition(5_000)


def nothing_due_before_the_second_half() -> History:
    return _late_partition(250)


def all_is_late_on_a_busy_machine() -> History:
    """Neither: storage was not slow."""
    return in_real_time(story(processed(), begun(1), 300, completed(1), processed()))


# --- refusals --------------------------------------------------------------------------------------------------------


@bad("triggered-while-not-running")
def drawn_while_restarting() -> History:
    failed = [events.FailureCounted(cause="worker lost"), events.JobSwitched(status=events.JobStatus.RESTARTING)]
    return story(50, begun(1), completed(1), failed, asked(2), drawn(2))


@near("triggered-while-not-running")
def drawn_after_restart() -> History:
    failed = [events.FailureCounted(cause="worker lost"), events.JobSwitched(status=events.JobStatus.RESTARTING)]
    again = [events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING)]
    return story(50, begun(1), completed(1), failed, again, 50, begun(2))


@bad("refused-and-begun")
def served_all_the_same() -> History:
    reason = FailureReason.TASKS_NOT_RUNNING
    return story(asked(1, USER), refused(1, reason), drawn(1, 1, USER), triggered(1, USER))


@near("refused-and-begun")
def asked_again() -> History:
    reason = FailureReason.TASKS_NOT_RUNNING
    return story(asked(1, USER), refused(1, reason), begun(1, 2, USER))


@near("refused-and-begun")
def number_of_another_coordinator() -> History:
    died = events.NodeDied(dead_node="coordinator", cause="killed")
    reason = FailureReason.TASKS_NOT_RUNNING
    again = [events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING)]
    return story(
        asked(1, USER), refused(1, reason), begun(1, 2, USER), died, again, begun(2, 1, USER), asked(2, USER),
        refused(2, reason), begun(3, 3, USER),
    )  # fmt: skip


# --- turns -----------------------------------------------------------------------------------------------------------


@bad("served-out-of-turn")
def younger_user_first() -> History:
    return story(begun(1), asked(2, USER), asked(3, USER), completed(1), drawn(2, 3, USER))


@bad("served-out-of-turn")
def interval_before_user() -> History:
    return story(begun(1), asked(2), asked(3, USER), completed(1), drawn(2, 2))


@bad("served-out-of-turn")
def user_before_forced() -> History:
    return story(begun(1), asked(2, USER), asked(3, FORCED), completed(1), drawn(2, 2, USER))


@near("served-out-of-turn")
def in_turn() -> History:
    return story(
        begun(1), asked(2), asked(3, USER), asked(4, FORCED), drawn(2, 4, FORCED), triggered(2, FORCED), completed(1),
        completed(2), drawn(3, 3, USER), triggered(3, USER), completed(3), drawn(4, 2),
    )  # fmt: skip


@bad("user-waits-for-pause")
def user_waits() -> History:
    return story(400, begun(1), completed(1), asked(2, USER), 380, drawn(2, 2, USER), options=PAUSED)


@bad("user-waits-for-pause")
def user_is_never_served() -> History:
    return story(400, begun(1), completed(1), asked(2, USER), options=PAUSED)


@near("user-waits-for-pause")
def user_waits_for_slot() -> History:
    return story(400, begun(1), asked(2, USER), 380, completed(1), drawn(2, 2, USER), options=PAUSED)


def crowd(number: int, first: int = 2, origin: CheckpointOrigin = USER) -> list[events.Event]:
    return [asked(each, origin) for each in range(first, first + number)]


@bad("queue-too-long")
def queue_beyond_limit() -> History:
    return story(begun(1), crowd(1_002))


@near("queue-too-long")
def queue_at_limit() -> History:
    last = refused(1_002, FailureReason.TOO_MANY_REQUESTS)
    return story(begun(1), crowd(1_001), last, completed(1), drawn(2, 2, USER))


@bad("dropped-out-of-turn")
def first_is_dropped() -> History:
    return story(begun(1), crowd(1_001), refused(2, FailureReason.TOO_MANY_REQUESTS))


@near("dropped-out-of-turn")
def interval_is_dropped() -> History:
    reason = FailureReason.TOO_MANY_REQUESTS
    dropped_first = [*crowd(1_000, first=3), refused(2, reason, PERIODIC)]
    return story(begun(1), asked(2), dropped_first, asked(1_003, USER), refused(1_003, reason))


@bad("dropped-too-early")
def dropped_with_room_for_one_more() -> History:
    return story(begun(1), crowd(1_000), refused(1_001, FailureReason.TOO_MANY_REQUESTS))


@near("dropped-too-early")
def dropped_from_a_full_queue() -> History:
    return story(begun(1), crowd(1_001), refused(1_002, FailureReason.TOO_MANY_REQUESTS))


@bad("refused-twice")
def refused_once_more() -> History:
    reason = FailureReason.TASKS_NOT_RUNNING
    return story(asked(1, USER), refused(1, reason), asked(2, USER), refused(1, reason))


@bad("refused-without-request")
def another_is_refused_than_was_made() -> History:
    return story(asked(1, USER), refused(2, FailureReason.TASKS_NOT_RUNNING))


@near("refused-without-request")
@near("refused-twice")
def each_is_refused() -> History:
    reason = FailureReason.TASKS_NOT_RUNNING
    return story(asked(1, USER), refused(1, reason), asked(2, USER), refused(2, reason))


@bad("periodic-waits")
def interval_waits_for_nothing() -> History:
    return story(begun(1), completed(1), asked(2), 40, drawn(2))


@bad("periodic-waits")
def interval_waits_for_the_next() -> History:
    return story(90, begun(1), completed(1), 60, asked(2), 80, drawn(2), options=BRIEF_PAUSE)


@near("periodic-waits")
def interval_waits_for_the_pause() -> History:
    return story(90, begun(1), completed(1), 60, asked(2), 40, drawn(2), options=BRIEF_PAUSE)


@near("periodic-waits")
def interval_waits_for_a_slot() -> History:
    return story(begun(1), asked(2), 80, completed(1), drawn(2))


@bad("drawn-and-forgotten")
def two_are_drawn_and_one_is_triggered() -> History:
    return story(asked(1), drawn(1), asked(2, USER), drawn(2, 2, USER), triggered(2, USER))


@near("drawn-and-forgotten")
def its_id_cannot_be_made_durable() -> History:
    return story(asked(1), drawn(1), events.CheckpointAborted(checkpoint=1, reason="I/O"), begun(2))


@near("drawn-and-forgotten")
def the_job_fails_over_in_between() -> History:
    again = [
        events.FailureCounted(cause="it failed"),
        events.AttemptStarted(),
        events.JobSwitched(status=events.JobStatus.RUNNING),
    ]
    return story(asked(1), drawn(1), again, begun(2))


# --- deletions -------------------------------------------------------------------------------------------------------


def not_deleted(checkpoint: int) -> events.StorageFailed:
    return events.StorageFailed(operation="delete", path=f"chk-{checkpoint}/_metadata", reason="no answer")


def whole(checkpoint: int) -> list[events.Event]:
    return [*begun(checkpoint), published(checkpoint), completed(checkpoint)]


@bad("triggered-with-backlog")
def begun_over_backlog() -> History:
    return story(whole(1), whole(2), dropped(1), whole(3), dropped(2), begun(4))


@near("triggered-with-backlog")
def begun_with_one_deletion() -> History:
    return story(whole(1), whole(2), dropped(1), whole(3), deleted(1), dropped(2), begun(4))


@near("triggered-with-backlog")
def failed_deletion_is_done() -> History:
    return story(whole(1), whole(2), dropped(1), whole(3), not_deleted(1), dropped(2), begun(4))


@near("triggered-with-backlog")
def two_deletions_where_two_may_be_pending() -> History:
    return story(whole(1), whole(2), dropped(1), whole(3), dropped(2), begun(4), options=TWO_AT_ONCE)


def backlog() -> list[events.Event]:
    return [*whole(1), *whole(2), dropped(1), *whole(3), dropped(2)]


@near("periodic-waits")
def interval_waits_for_what_was_dropped_twice() -> History:
    return story(backlog(), asked(4), dropped(1), 40, deleted(1), 40, deleted(1), drawn(4))


@near("periodic-waits")
def interval_waits_for_a_second_deletion_that_fails() -> History:
    return story(backlog(), asked(4), dropped(1), 40, deleted(1), 40, not_deleted(1), drawn(4))


@bad("periodic-waits")
def interval_waits_though_nothing_is_deleted_any_more() -> History:
    return story(backlog(), asked(4), dropped(1), 40, deleted(1), deleted(1), 40, deleted(1), drawn(4))
