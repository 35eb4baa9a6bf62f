"""Histories for COORD: what is made of acknowledgements and declines."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AckOutcome,
    AckSent,
    AttemptStarted,
    FileReference,
    NodeDied,
    StorageListed,
    StorageSlowed,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.histories.coordinator_lines import (
    ALL,
    FILE,
    aborted,
    acked,
    completed,
    declined,
    published,
    story,
    told,
    triggered,
    whole,
)

bad, near = exhibits("COORD")


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


@bad("abort-not-notified")
def abort_told_to_two_of_three() -> History:
    late = acked(1, ALL[0], outcome=AckOutcome.DISCARDED)
    return story(triggered(1), aborted(1), told(1, completed=False, subtasks=ALL[:2]), late, triggered(2))


@near("abort-not-notified")
def abort_told_to_all() -> History:
    late = acked(1, ALL[0], outcome=AckOutcome.DISCARDED)
    return story(triggered(1), aborted(1), told(1, completed=False), late, triggered(2))


@near("abort-not-notified")
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


def _deletion_held_up(*cut_short: Line, slowed: str = "delete", ended_ms: float = 30) -> History:
    """The harness holds up an operation for 50 ms, on the source's file of the aborted checkpoint 1. The job
    completes the next one, and then something cuts it short."""
    sent = AckSent(subtask=ALL[0], checkpoint=1, files=(FILE,))
    given_up = [*acked(1, ALL[0]), aborted(1), *told(1, completed=False)]
    held_up = StorageSlowed(operation=slowed, path=FILE.path, delay_ms=50)
    slow = injected("slow-storage", "storage[0]")
    end = [ended_ms, *cut_short, StorageListed(files=(FILE,))]
    return story(slow, triggered(1), sent, given_up, at("coordinator.0", held_up), whole(2), *end)


@near("state-not-discarded")
def suspended_while_the_deletion_is_held_up() -> History:
    return _deletion_held_up(injected("suspend", "coordinator[0]", fault=1))


@near("state-not-discarded")
def died_while_the_deletion_is_held_up() -> History:
    return _deletion_held_up(NodeDied(dead_node="coordinator", cause="killed"))


@bad("state-not-discarded")
def suspended_when_the_deletion_was_due() -> History:
    return _deletion_held_up(injected("suspend", "coordinator[0]", fault=1), ended_ms=60)


@bad("state-not-discarded")
def suspended_while_another_operation_is_held_up() -> History:
    return _deletion_held_up(injected("suspend", "coordinator[0]", fault=1), slowed="list")


@bad("state-not-discarded")
def another_process_died_while_the_deletion_is_held_up() -> History:
    return _deletion_held_up(NodeDied(dead_node="worker-1", cause="killed"))
