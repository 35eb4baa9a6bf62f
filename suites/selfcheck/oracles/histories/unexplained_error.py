"""Histories for COUNT: processes that end by an error, and failures, with and without anything that explains them."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, in_real_time, injected, story

bad, near = exhibits("COUNT")


def crashed() -> events.NodeDied:
    return events.NodeDied(dead_node="worker-1", cause="KeyError: 7", by_error=True)


def struck(kind: str) -> events.FaultInjected:
    return at("harness", injected(kind, "worker[1]"))


def truncated() -> events.InputTruncated:
    return at("harness", events.InputTruncated(partition=0, next_offset=4))


def refused(operation: str) -> events.StorageFailed:
    return events.StorageFailed(operation=operation, path="chk-1/a", reason="injected error", injected=True)


def story_of(*lines: Line) -> History:
    return story(events.AttemptStarted(), *lines)


def counted() -> events.FailureCounted:
    return events.FailureCounted(cause="sum[0]: it failed", subtask="sum[0]")


def _behind(event: events.Event) -> History:
    """The error comes after this event."""
    return story_of(event, crashed())


def _before(event: events.Event) -> History:
    return story_of(crashed(), event)


@bad("ended-by-error")
def worker_crashes_without_a_fault() -> History:
    return story_of(crashed())


@bad("ended-by-error")
def coordinator_crashes_without_a_fault() -> History:
    return story_of(events.NodeDied(dead_node="coordinator", cause="exit code 1", by_error=True))


@bad("ended-by-error")
def worker_crashes_when_another_is_killed() -> History:
    return story_of(struck("kill"), events.NodeDied(dead_node="worker-0", cause="kill"), crashed())


@bad("ended-by-error")
def worker_crashes_by_a_late_message() -> History:
    return _behind(struck("delay-messages"))


@bad("ended-by-error")
def worker_crashes_on_a_busy_machine() -> History:
    return in_real_time(story_of(crashed()))


@near("ended-by-error")
def storage_fails_before() -> History:
    return _behind(refused("write-state"))


@near("ended-by-error")
def object_is_damaged_before() -> History:
    return _behind(events.ObjectDamaged(path="chk-1/a", checkpoint=1, published=(1,), length=9, left=3))


@bad("ended-by-error")
def object_is_damaged_afterwards() -> History:
    return _before(events.ObjectDamaged(path="chk-1/a", checkpoint=1, published=(1,), length=9, left=3))


@near("ended-by-error")
def input_is_removed_before() -> History:
    return _behind(truncated())


@bad("ended-by-error")
def input_is_removed_afterwards() -> History:
    return _before(truncated())


@near("ended-by-error")
def record_is_poisoned_before() -> History:
    return _behind(struck("poison"))


@bad("ended-by-error")
def record_is_poisoned_afterwards() -> History:
    return _before(struck("poison"))


@bad("ended-by-error")
def message_is_forged_before() -> History:
    """Whoever gets it must ignore what it did not ask for."""
    return _behind(struck("forge"))


@near("ended-by-error")
def fault_of_a_kind_that_nobody_knows() -> History:
    return _behind(struck("their-own-fault"))


@bad("failure-without-cause")
def nothing_happened() -> History:
    return story_of(counted(), events.AttemptStarted())


@bad("failure-without-cause")
def only_notices_were_lost() -> History:
    return story_of(struck("lose-notices"), counted(), events.AttemptStarted())


@bad("failure-without-cause")
def the_store_refuses_the_coordinator_afterwards() -> History:
    return story_of(counted(), events.AttemptStarted(), refused("publish-metadata"))


def lost() -> events.FailureCounted:
    return events.FailureCounted(cause="worker 0: no heartbeat for 50000 ms")


@bad("failure-without-cause")
def worker_is_lost_long_after_the_store_refused() -> History:
    return story_of(refused("publish-metadata"), 2_000, lost(), events.AttemptStarted())


@bad("failure-without-cause")
def worker_is_lost_behind_a_record_that_fails() -> History:
    return story_of(struck("poison"), lost(), events.AttemptStarted())


@near("failure-without-cause")
def job_record_is_refused() -> History:
    return story_of(refused("persist-job-record"), 5, lost(), events.AttemptStarted())


@near("failure-without-cause")
def worker_is_paused_before() -> History:
    return story_of(struck("pause"), lost(), events.AttemptStarted())


@near("failure-without-cause")
def worker_dies_before() -> History:
    return story_of(events.NodeDied(dead_node="worker-1", cause="kill"), counted(), events.AttemptStarted())


@near("failure-without-cause")
def connection_is_reset_before() -> History:
    return story_of(struck("reset"), counted(), events.AttemptStarted())


@near("failure-without-cause")
def record_makes_it_fail() -> History:
    failed = events.RecordFailed(subtask="sum[0]", partition=0, offset=3, cause="poison")
    cause = "sum[0]: record 3 of partition 0: poison"
    return story_of(failed, events.FailureCounted(cause=cause, subtask="sum[0]"), events.AttemptStarted())


@near("failure-without-cause")
def checkpoint_cannot_be_restored() -> History:
    return story_of(events.RecoveryFailed(checkpoint=1, reason="it is damaged"), counted(), events.AttemptStarted())


def natural() -> events.StorageFailed:
    return events.StorageFailed(operation="precommit", path="pending/a", reason="it exists already")


def stored(*lines: Line) -> History:
    """A file was written, too."""
    return story_of(events.FileWritten(file=events.FileReference("chk-1/a", 100, 7)), *lines)


@bad("refused-by-store")
def nothing_struck_the_store() -> History:
    return stored(natural())


@bad("refused-by-store")
def a_worker_was_killed() -> History:
    return stored(struck("kill"), events.NodeDied(dead_node="worker-1", cause="kill"), natural())


@near("refused-by-store")
def a_fault_refuses_it() -> History:
    return stored(refused("precommit"))


@near("refused-by-store")
def an_answer_was_lost_before() -> History:
    return stored(struck("storage-error"), refused("precommit"), natural())


@near("refused-by-store")
def the_object_was_damaged_before() -> History:
    return stored(events.ObjectDamaged(path="chk-1/a", checkpoint=1, published=(1,), length=9, left=3), natural())


@near("refused-by-store")
def everything_is_stored() -> History:
    return stored()


def fails(offset: int, *, partition: int = 0, recoverable: bool = True) -> History:
    """Record 3 of partition 0 is poisoned, and one that may be another makes its reader fail."""
    failed = events.RecordFailed(
        subtask="sum[0]", partition=partition, offset=offset, cause="poison", recoverable=recoverable
    )
    poison = FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": 3})
    return story(events.AttemptStarted(), struck("poison"), failed, faults=(poison,))


@bad("wrong-record-named")
def another_record_is_named() -> History:
    return fails(4)


@bad("wrong-record-named")
def another_partition_is_named() -> History:
    return fails(3, partition=1)


@bad("wrong-record-named")
def another_kind_of_failure_is_named() -> History:
    return fails(3, recoverable=False)


@near("wrong-record-named")
def the_poisoned_record_is_named() -> History:
    return fails(3)
