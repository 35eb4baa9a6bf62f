"""Histories for RESTORE: one sum and one source of the keyed sum, restored from checkpoint 1."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from holdfast.harness.model.events import (
    AttemptStarted,
    ChannelContent,
    ChannelStateRestored,
    ChannelStateTaken,
    CheckpointAudited,
    CheckpointCompleted,
    CheckpointDropped,
    Event,
    FailureCounted,
    InputRead,
    JobSubmitted,
    MetadataPublished,
    NodeDied,
    SnapshotTaken,
    SourceEmitted,
    SubtaskAudited,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.legal import summary

bad, near = exhibits("RESTORE")

HELD = [(0, 0), (0, 2), (1, 0)]


def taken() -> list[Line]:
    """Checkpoint 1: sum[0] holds three records, source[0] stands at 4, sink[0] promises a transaction."""
    return [
        AttemptStarted(),
        SnapshotTaken(subtask="sum[0]", checkpoint=1, state=summary(HELD)),
        SnapshotTaken(subtask="source[0]", checkpoint=1, positions=((0, 4),)),
        SnapshotTaken(subtask="sink[0]", checkpoint=1, pending_transactions=("t",)),
        MetadataPublished(checkpoint=1, path="chk-1/_metadata", files=()),
        CheckpointCompleted(checkpoint=1),
    ]


def restarted(*lines: Line, restored: int | None = 1, options: Mapping[str, str] | None = None) -> History:
    begun = FailureCounted(cause="worker lost"), AttemptStarted(restored_checkpoint=restored)
    return story(*taken(), *begun, *lines, options=options)


def sum_starts(*held: tuple[int, int], restored: int | None = 1) -> TaskStarted:
    return TaskStarted(subtask="sum[0]", restored_checkpoint=restored, state=summary(held))


def source_starts(offset: int, restored: int | None = 1) -> TaskStarted:
    return TaskStarted(subtask="source[0]", restored_checkpoint=restored, positions=((0, offset),))


def emitted(first_offset: int) -> SourceEmitted:
    return SourceEmitted(subtask="source[0]", partition=0, first_offset=first_offset, next_offset=first_offset + 1)


@bad("state-differs")
def starts_with_one_record_more() -> History:
    return restarted(sum_starts(*HELD, (0, 4)))


@bad("state-differs")
def starts_with_another_record() -> History:
    return restarted(sum_starts(*HELD[1:], (0, 6)))


@near("state-differs")
def starts_with_recorded_state() -> History:
    return restarted(sum_starts(*HELD))


@bad("position-differs")
def starts_elsewhere() -> History:
    return restarted(source_starts(5))


@bad("position-differs")
def emits_elsewhere() -> History:
    return restarted(source_starts(4), emitted(5))


WITHOUT_IDS = {"source.connector": "rabbitmq", "source.correlation-ids": "false"}


@bad("position-differs")
def a_queue_without_ids_leaves_records_out() -> History:
    return restarted(source_starts(4), emitted(5), options=WITHOUT_IDS)


@near("position-differs")
def a_queue_without_ids_gives_records_again() -> History:
    return restarted(source_starts(4), emitted(2), emitted(3), emitted(4), options=WITHOUT_IDS)


@near("position-differs")
def goes_on_where_it_stood() -> History:
    return restarted(source_starts(4), emitted(4), emitted(5))


def handed(first: int, partition: int = 0) -> InputRead:
    return InputRead(subtask="source[0]", partition=partition, first_offset=first)


@bad("read-elsewhere")
def reads_one_later_than_it_reports() -> History:
    return restarted(source_starts(4), handed(5), emitted(4))


@near("read-elsewhere")
def reads_where_it_goes_on() -> History:
    return restarted(source_starts(4), handed(4), emitted(4))


@near("read-elsewhere")
def reads_a_split_that_it_is_given_later() -> History:
    return restarted(source_starts(4), handed(7, partition=1), handed(4), emitted(4))


@near("read-elsewhere")
def dies_before_it_reports_what_it_read() -> History:
    return restarted(source_starts(4), handed(4), NodeDied(dead_node="worker-0", cause="killed"))


LEFT = "source[0]->sum[0]"


def _puts_back(*events: Event, first: Event | None = None) -> History:
    """Two batches were in flight at checkpoint 1; the sum starts and does this."""
    stored = ChannelStateTaken(
        subtask="sum[0]", checkpoint=1, channels=(ChannelContent(LEFT, False, ((1, 5), (1, 6))),)
    )
    begun = [] if first is None else [first]
    return story(*begun, *taken(), stored, AttemptStarted(restored_checkpoint=1), sum_starts(*HELD), events)


def _restored(*positions: int, skipped: bool = False) -> ChannelStateRestored:
    contents = (ChannelContent(LEFT, False, tuple((1, position) for position in positions)),) if positions else ()
    return ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=contents, skipped=skipped)


@bad("channel-state-differs")
def puts_nothing_back() -> History:
    return _puts_back()


@bad("channel-state-differs")
def puts_back_half() -> History:
    return _puts_back(_restored(5))


@near("channel-state-differs")
def the_next_job_uses_the_id_again() -> History:
    """It starts empty, and nothing was in flight at its own checkpoint 1."""
    again = ChannelStateTaken(subtask="sum[0]", checkpoint=1)
    submitted = JobSubmitted(attempt=1_000)
    return _puts_back(_restored(5, 6), submitted, AttemptStarted(attempt=1_001), again, first=JobSubmitted())


@near("channel-state-differs")
def puts_back_what_was_in_flight() -> History:
    return _puts_back(_restored(5, 6))


@bad("not-initial")
def starts_with_state_of_nothing() -> History:
    return story(AttemptStarted(), sum_starts((0, 0), restored=None))


@bad("not-initial")
def starts_in_the_middle() -> History:
    return story(AttemptStarted(), source_starts(3, restored=None))


@bad("not-initial")
def emits_from_the_middle() -> History:
    return story(AttemptStarted(), source_starts(0, restored=None), emitted(3))


@near("not-initial")
def starts_at_the_beginning() -> History:
    return story(AttemptStarted(), source_starts(0, restored=None), emitted(0), sum_starts(restored=None))


@near("not-initial")
def starts_at_the_latest_offset() -> History:
    log = input_log(10, 10, first_offsets=(3, 0))
    return story(AttemptStarted(), source_starts(3, restored=None), emitted(3), inputs=log)


def _audited(held: Collection[tuple[int, int]], offset: int, *pending: str, problem: str = "") -> History:
    return story(
        *taken(),
        CheckpointAudited(checkpoint=1, problem=problem),
        SubtaskAudited(checkpoint=1, subtask="sum[0]", state=summary(held)),
        SubtaskAudited(checkpoint=1, subtask="source[0]", positions=((0, offset),)),
        SubtaskAudited(checkpoint=1, subtask="sink[0]", pending_transactions=pending),
    )


@bad("audit-differs")
def audit_lacks_a_record() -> History:
    return _audited(HELD[1:], 4, "t")


@bad("audit-differs")
def audit_stands_elsewhere() -> History:
    return _audited(HELD, 3, "t")


@bad("audit-differs")
def audit_lacks_a_transaction() -> History:
    return _audited(HELD, 4)


@near("audit-differs")
def audit_gives_what_was_recorded() -> History:
    return _audited(HELD, 4, "t")


@bad("audit-failed")
def audit_cannot_restore() -> History:
    return _audited(HELD, 4, "t", problem="chk-1/sum-0 is missing")


@near("audit-failed")
def what_cannot_be_restored_was_dropped_before() -> History:
    read = CheckpointAudited(checkpoint=1, problem="chk-1/sum-0 is missing")
    return restarted(CheckpointDropped(checkpoint=1), read, CheckpointAudited(checkpoint=2, problem=""))


@bad("audit-failed")
def it_is_dropped_only_afterwards() -> History:
    read = CheckpointAudited(checkpoint=1, problem="chk-1/sum-0 is missing")
    return restarted(read, CheckpointDropped(checkpoint=1))


@near("audit-failed")
def audit_restores() -> History:
    return _audited(HELD, 4, "t")


@bad("recovery-not-repeated")
def starts_over_after_failed_restore() -> History:
    return restarted(sum_starts(*HELD), FailureCounted(cause="worker lost"), AttemptStarted())


@near("recovery-not-repeated")
def repeats_failed_restore() -> History:
    return restarted(
        sum_starts(*HELD), FailureCounted(cause="worker lost"), AttemptStarted(restored_checkpoint=1), sum_starts(*HELD)
    )


@near("recovery-not-repeated")
def finds_a_newer_checkpoint() -> History:
    newer = MetadataPublished(checkpoint=2, path="chk-2/_metadata", files=())
    return restarted(FailureCounted(cause="worker lost"), newer, AttemptStarted(restored_checkpoint=2))
