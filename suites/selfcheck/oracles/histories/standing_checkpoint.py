"""Histories for PROGRESS: a job that runs, and a checkpoint or a commit that stands."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.history import History, RunEnd
from holdfast.suites.selfcheck.oracles.builder import MS, OPTIONS, Line, exhibits, stamped, story
from holdfast.suites.selfcheck.oracles.histories.standing_job import (
    dies,
    failed,
    running,
    standing,
    stopped,
)
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS

bad, near = exhibits("PROGRESS")

SUM = "sum[0]"
AROUND = ("source[0]->sum[0]", "source[1]->sum[0]", "sum[0]->sink[0]")
"""Its inputs and its output."""


def drawn(checkpoint: int = 1) -> events.CheckpointDrawn:
    return events.CheckpointDrawn(checkpoint=checkpoint, request=checkpoint, origin=CheckpointOrigin.PERIODIC)


def triggered(checkpoint: int = 1) -> events.CheckpointTriggered:
    return events.CheckpointTriggered(checkpoint=checkpoint, participants=SUBTASKS)


def acknowledged(*subtasks: str) -> list[events.AckReceived]:
    return [events.AckReceived(checkpoint=1, subtask=each, outcome=events.AckOutcome.SUCCESS) for each in subtasks]


def completed(checkpoint: int = 1) -> events.CheckpointCompleted:
    return events.CheckpointCompleted(checkpoint=checkpoint)


def aborted() -> events.CheckpointAborted:
    return events.CheckpointAborted(checkpoint=1, reason="expired")


@bad("checkpoint-not-triggered")
def only_its_id_is_drawn() -> History:
    return standing(running(), drawn())


@near("checkpoint-not-triggered")
def it_is_triggered() -> History:
    return standing(running(), drawn(), triggered())


@near("checkpoint-not-triggered")
def its_id_is_not_durable() -> History:
    return standing(running(), drawn(), aborted())


@near("checkpoint-not-triggered")
def the_job_fails_over_first() -> History:
    again: list[Line] = [running(), drawn(2), triggered(2)]
    return standing(running(), drawn(), failed(), stopped(*SUBTASKS), *again)


@bad("checkpoint-not-ended")
def every_acknowledgement_is_there() -> History:
    return standing(running(), triggered(), acknowledged(*SUBTASKS))


@near("checkpoint-not-ended")
def it_completes() -> History:
    return standing(running(), triggered(), acknowledged(*SUBTASKS), completed())


@near("checkpoint-not-ended")
def it_cannot_be_stored() -> History:
    return standing(running(), triggered(), acknowledged(*SUBTASKS), aborted())


@near("checkpoint-not-ended")
def one_acknowledgement_is_missing() -> History:
    before: list[Line] = [running(), triggered(), acknowledged(*SUBTASKS), completed()]
    return standing(
        *before, triggered(2), events.AckReceived(checkpoint=2, subtask=SUM, outcome=events.AckOutcome.SUCCESS)
    )


def periodic(*lines: Line, **more: str) -> History:
    """A run with an interval of 100 ms that does not reach its end."""
    ended_ns = stamped([running(), *lines])[-1].time_ns + 1_000 * MS
    end = RunEnd(False, "nothing moves", ended_ns=ended_ns)
    return story(running(), *lines, options={**OPTIONS, **more}, end=end)


@bad("no-checkpoint-begun")
def the_first_never_begins() -> History:
    return periodic(triggered(), completed())


@bad("no-checkpoint-begun")
def none_follows_an_abort() -> History:
    return periodic(triggered(), aborted())


@near("no-checkpoint-begun")
def one_is_under_way() -> History:
    return periodic(triggered())


@near("no-checkpoint-begun")
def there_is_no_interval() -> History:
    return standing(running(), triggered(), completed())


@near("no-checkpoint-begun")
def none_is_taken_when_some_have_finished() -> History:
    finished = events.FinishReceived(subtask="source[0]")
    option = {"execution.checkpointing.checkpoints-after-tasks-finish": "false"}
    return periodic(triggered(), completed(), finished, **option)


def taken(checkpoint: int = 1, *, unaligned: bool = False) -> events.SnapshotTaken:
    return events.SnapshotTaken(subtask=SUM, checkpoint=checkpoint, unaligned=unaligned)


def barriers(*channels: str, checkpoint: int = 1) -> list[events.BarrierReceived]:
    return [events.BarrierReceived(channel=each, checkpoint=checkpoint) for each in channels]


def answered() -> list[events.Event]:
    return [*barriers(*AROUND), taken(), events.AckSent(subtask=SUM, checkpoint=1)]


@bad("snapshot-not-acknowledged")
def nothing_is_told_of_it() -> History:
    return standing(running(), barriers(*AROUND[:2]), taken(), barriers(AROUND[2]))


@bad("snapshot-not-acknowledged")
def its_channel_state_is_known() -> History:
    known = events.ChannelStateTaken(subtask=SUM, checkpoint=1)
    return standing(running(), taken(unaligned=True), known)


@bad("snapshot-not-acknowledged")
def each_expires() -> History:
    told = [events.NotificationReceived(subtask=SUM, checkpoint=each, completed=False) for each in (1, 2)]
    return standing(running(), barriers(*AROUND), taken(), 200, told[0], taken(2), 200, told[1])


@near("snapshot-not-acknowledged")
def it_is_acknowledged() -> History:
    return standing(running(), answered())


@near("snapshot-not-acknowledged")
def the_second_is_declined() -> History:
    declined = events.DeclineSent(subtask=SUM, checkpoint=2, reason="full")
    return standing(running(), answered(), barriers(*AROUND, checkpoint=2), taken(2), declined)


@near("snapshot-not-acknowledged")
def the_second_waits_for_a_barrier() -> History:
    return standing(running(), answered(), barriers(AROUND[0], checkpoint=2), taken(2, unaligned=True))


@near("snapshot-not-acknowledged")
def the_second_is_aborted_at_once() -> History:
    told = events.NotificationReceived(subtask=SUM, checkpoint=2, completed=False)
    return standing(running(), answered(), barriers(*AROUND, checkpoint=2), taken(2), told)


@near("snapshot-not-acknowledged")
def a_later_one_completes() -> History:
    told = events.NotificationReceived(subtask=SUM, checkpoint=3, completed=True)
    return standing(running(), answered(), barriers(*AROUND, checkpoint=2), taken(2), told)


@near("snapshot-not-acknowledged")
def it_dies_in_the_second() -> History:
    return standing(running(), answered(), barriers(*AROUND, checkpoint=2), taken(2), dies("worker-0"))


def tried(number: int = 1) -> events.CommitTried:
    return events.CommitTried(subtask="sink[0]", transaction=f"sink[0]-1-{number}")


def done(number: int = 1) -> events.TransactionCommitted:
    return events.TransactionCommitted(subtask="sink[0]", transaction=f"sink[0]-1-{number}")


@bad("commit-not-ended")
def nothing_comes_of_it() -> History:
    return standing(running(), tried())


@bad("commit-not-ended")
def another_is_committed() -> History:
    return standing(running(), tried(), tried(2), done(2))


@near("commit-not-ended")
def it_is_committed() -> History:
    return standing(running(), tried(), done())


@near("commit-not-ended")
def the_second_fails() -> History:
    refused = events.CommitFailed(subtask="sink[0]", transaction="sink[0]-1-2", reason="gone")
    return standing(running(), tried(), done(), tried(2), refused)


@near("commit-not-ended")
def its_sink_dies_in_the_second() -> History:
    return standing(running(), tried(), done(), tried(2), dies("worker-0"))
