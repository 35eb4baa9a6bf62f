"""Histories for TXN: one two-phase-commit sink of the forward job."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.records import CommittedRows, IdentityRow
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("TXN")

SINK = "sink[0]"


UNREACHED = RunEnd(reached=False, reason="not all was committed")


def story(*lines: Line, units: tuple[CommittedRows, ...] = (), end: RunEnd | None = None) -> History:
    return any_story(
        events.AttemptStarted(),
        events.TaskStarted(subtask=SINK),
        *lines,
        job=FORWARD,
        parallelism=1,
        units=units,
        end=end,
    )


def transaction(checkpoint: int) -> str:
    return f"t-{checkpoint}"


def precommitted(checkpoint: int) -> events.TransactionPrecommitted:
    name = transaction(checkpoint)
    return events.TransactionPrecommitted(subtask=SINK, transaction=name, checkpoint=checkpoint, records=1)


def taken(checkpoint: int, *pending: int) -> events.SnapshotTaken:
    names = tuple(transaction(each) for each in pending)
    return events.SnapshotTaken(subtask=SINK, checkpoint=checkpoint, pending_transactions=names)


def acked(checkpoint: int) -> events.AckSent:
    return events.AckSent(subtask=SINK, checkpoint=checkpoint)


def closed(checkpoint: int, *pending: int) -> list[events.Event]:
    """A checkpoint closes its transaction; earlier ones may be pending still."""
    return [taken(checkpoint, *pending, checkpoint), precommitted(checkpoint), acked(checkpoint)]


def completed(checkpoint: int) -> list[events.Event]:
    published = events.MetadataPublished(checkpoint=checkpoint, path=f"chk-{checkpoint}/_metadata", files=())
    notice = events.NotificationSent(checkpoint=checkpoint, subtask=SINK, completed=True)
    return [published, events.CheckpointCompleted(checkpoint=checkpoint), notice]


def told(checkpoint: int, *, completed: bool = True) -> events.NotificationReceived:
    return events.NotificationReceived(subtask=SINK, checkpoint=checkpoint, completed=completed)


def tried(checkpoint: int, *, recovering: bool = False) -> events.CommitTried:
    return events.CommitTried(subtask=SINK, transaction=transaction(checkpoint), recovering=recovering)


def confirmed(checkpoint: int) -> events.TransactionCommitted:
    return events.TransactionCommitted(subtask=SINK, transaction=transaction(checkpoint))


def refused(checkpoint: int) -> events.CommitFailed:
    return events.CommitFailed(subtask=SINK, transaction=transaction(checkpoint), reason="unavailable")


def committed(checkpoint: int, *, recovering: bool = False) -> list[events.Event]:
    return [tried(checkpoint, recovering=recovering), confirmed(checkpoint)]


def thrown_away(checkpoint: int) -> events.TransactionAborted:
    return events.TransactionAborted(subtask=SINK, transaction=transaction(checkpoint))


def whole(checkpoint: int) -> list[events.Event]:
    """A checkpoint as it should be."""
    return [*closed(checkpoint), *completed(checkpoint), told(checkpoint), *committed(checkpoint)]


def restarted(restored: int | None, *pending: int) -> list[events.Event]:
    names = tuple(transaction(each) for each in pending)
    return [
        events.FailureCounted(cause="worker lost"),
        events.AttemptStarted(restored_checkpoint=restored),
        events.TaskStarted(subtask=SINK, restored_checkpoint=restored, pending_transactions=names),
    ]


def unit(name: str) -> CommittedRows:
    return CommittedRows(name, 0, (IdentityRow(0, 0),))


# --- when ------------------------------------------------------------------------------------------------------------


@bad("acked-before-precommit")
def acknowledges_first() -> History:
    return story(taken(1, 1), acked(1), precommitted(1))


@near("acked-before-precommit")
def precommits_first() -> History:
    return story(closed(1))


@bad("committed-before-completion")
def commits_when_precommitted() -> History:
    return story(closed(1), committed(1, recovering=True), completed(1))


@near("committed-before-completion")
def commits_when_durable() -> History:
    return story(closed(1), completed(1), told(1), committed(1))


@near("committed-before-completion")
def commits_with_the_next_completed() -> History:
    return story(closed(1), closed(2, 1), completed(2), told(2), committed(1), committed(2))


@bad("committed-above-notice")
def notice_for_one_commits_two() -> History:
    return story(closed(1), closed(2, 1), completed(1), completed(2), told(1), committed(1), committed(2))


@near("committed-above-notice")
def notice_for_one_commits_one() -> History:
    return story(closed(1), closed(2, 1), completed(1), told(1), committed(1), completed(2), told(2), committed(2))


# --- whether ---------------------------------------------------------------------------------------------------------


@bad("not-committed")
def promised_and_forgotten() -> History:
    return story(closed(1), completed(1), told(1), whole(2))


@bad("not-committed")
def not_committed_by_the_notice_after_its_own() -> History:
    return story(closed(1), completed(1), told(1), whole(2), end=UNREACHED)


@near("not-committed")
def waits_behind_a_commit_that_is_under_way() -> History:
    return story(
        [*closed(1), *closed(2, 1), *completed(2), told(2), tried(1)],
        [*closed(3, 1, 2), *completed(3), told(3), confirmed(1), *committed(2), *committed(3)],
    )


@near("not-committed")
def promised_and_committed() -> History:
    return story(whole(1), whole(2))


def of_two_jobs(restored: int) -> History:
    """The first job ends behind the completion of checkpoint 2; the next one begins from a savepoint."""
    return any_story(
        *(events.JobSubmitted(), events.AttemptStarted(), events.TaskStarted(subtask=SINK)),
        *(whole(1), closed(2), completed(2)),
        events.JobSubmitted(attempt=1_000, path="savepoint", checkpoint=restored),
        events.AttemptStarted(attempt=1_001, restored_checkpoint=restored),
        events.TaskStarted(subtask=SINK, restored_checkpoint=restored),
        *(whole(3), whole(4)),
        job=FORWARD,
        parallelism=1,
    )


@bad("not-committed")
def the_next_job_goes_on_from_the_last_checkpoint() -> History:
    return of_two_jobs(2)


@near("not-committed")
def the_next_job_goes_back_to_an_older_savepoint() -> History:
    return of_two_jobs(1)


@bad("recovered-not-committed")
def found_and_forgotten() -> History:
    return story(closed(1), completed(1), restarted(1, 1), whole(2))


@bad("recovered-not-committed")
def found_and_not_committed_by_the_next_notice() -> History:
    return story(closed(1), completed(1), restarted(1, 1), whole(2), end=UNREACHED)


@near("recovered-not-committed")
def found_and_committed() -> History:
    return story(closed(1), completed(1), restarted(1, 1), committed(1, recovering=True))


@near("recovered-not-committed")
def found_and_committed_by_a_later_attempt() -> History:
    return story(closed(1), completed(1), restarted(1, 1), restarted(1, 1), committed(1, recovering=True))


@bad("open-not-aborted")
def left_behind() -> History:
    return story(whole(1), closed(2), restarted(1, 1), committed(1, recovering=True))


@near("open-not-aborted")
def thrown_away_by_the_restore() -> History:
    return story(whole(1), closed(2), restarted(1, 1), thrown_away(2), committed(1, recovering=True))


NARROWER = FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 1})


def narrowed(*lines: Line, restored: int | None = 1) -> History:
    """The second of two sinks closes a transaction that no checkpoint holds; a job with one sink follows."""
    return any_story(
        events.JobSubmitted(),
        events.AttemptStarted(),
        events.TransactionPrecommitted(subtask="sink[1]", transaction="t-2", checkpoint=2, records=1),
        events.JobSubmitted(attempt=1_000, path="chk-1" if restored else "", checkpoint=restored),
        events.AttemptStarted(attempt=1_001, restored_checkpoint=restored),
        events.TaskStarted(subtask=SINK, restored_checkpoint=restored),
        *lines,
        job=FORWARD,
        faults=(NARROWER,),
    )


@bad("open-not-aborted")
def left_behind_by_a_sink_that_is_no_more() -> History:
    return narrowed()


@near("open-not-aborted")
def thrown_away_by_another_sink() -> History:
    return narrowed(events.TransactionAborted(subtask=SINK, transaction="t-2"))


@bad("committed-without-checkpoint")
def committed_though_never_completed() -> History:
    return story(whole(1), closed(2), committed(2, recovering=True))


@bad("committed-without-checkpoint")
def visible_though_never_completed() -> History:
    return story(whole(1), closed(2), units=(unit("out/t-1.arrow"), unit("out/t-2.arrow")))


@bad("committed-without-checkpoint")
def leftover_committed_by_the_restore() -> History:
    return story(whole(1), closed(2), restarted(1), committed(2, recovering=True))


@near("committed-without-checkpoint")
def visible_and_completed() -> History:
    return story(closed(1), completed(1), told(1), tried(1), units=(unit("out/t-1.arrow"),))


@bad("committed-twice")
def visible_under_two_names() -> History:
    return story(whole(1), units=(unit("out/t-1.arrow"), unit("out/retry/t-1.arrow")))


@bad("committed-twice")
def committed_and_thrown_away() -> History:
    return story(closed(1), completed(1), thrown_away(1), told(1), committed(1))


@near("committed-twice")
def confirmed_again() -> History:
    return story(whole(1), restarted(1, 1), committed(1, recovering=True), units=(unit("t-1"),))


# --- failures --------------------------------------------------------------------------------------------------------


def _after_abort(*lines: Line) -> History:
    """Checkpoint 1 closes a transaction and is aborted."""
    abort = [events.CheckpointAborted(checkpoint=1, reason="expired"), told(1, completed=False)]
    return story(closed(1), abort, *lines)


@bad("aborted-data-lost")
def dropped_with_its_checkpoint() -> History:
    return _after_abort(closed(2), completed(2), told(2), committed(2))


@near("aborted-data-lost")
def carried_to_the_next_checkpoint() -> History:
    return _after_abort(closed(2, 1), completed(2), told(2), committed(1), committed(2))


@bad("error-swallowed")
def failure_taken_for_success() -> History:
    return story(closed(1), completed(1), told(1), tried(1), refused(1), confirmed(1))


@bad("error-swallowed")
def failure_only_logged() -> History:
    return story(closed(1), completed(1), told(1), tried(1), refused(1))


@bad("error-swallowed")
def failure_survives_the_next_notice() -> History:
    return story(closed(1), completed(1), told(1), tried(1), refused(1), whole(2), end=UNREACHED)


@near("error-swallowed")
def failure_tried_again() -> History:
    return story(closed(1), completed(1), told(1), tried(1), refused(1), committed(1))


@near("error-swallowed")
def failure_fails_the_task() -> History:
    stopped = events.TaskStopped(subtask=SINK, reason="commit failed")
    return story(
        closed(1), completed(1), told(1), tried(1), refused(1), stopped, restarted(1, 1), committed(1, recovering=True)
    )


@bad("failed-untried")
def failure_of_another_transaction() -> History:
    stopped = events.TaskStopped(subtask=SINK, reason="commit failed")
    return story(closed(1), closed(2), completed(2), told(2), tried(2), refused(1), stopped, end=UNREACHED)


@near("failed-untried")
def failure_of_the_one_that_is_tried() -> History:
    stopped = events.TaskStopped(subtask=SINK, reason="commit failed")
    return story(whole(1), closed(2), completed(2), told(2), tried(2), refused(2), stopped, end=UNREACHED)


@bad("commit-not-idempotent")
def recovery_cannot_commit_again() -> History:
    return story(
        whole(1), restarted(1, 1), tried(1, recovering=True), refused(1), events.TaskStopped(subtask=SINK, reason="x")
    )


@near("commit-not-idempotent")
def recovery_commits_again() -> History:
    return story(whole(1), restarted(1, 1), committed(1, recovering=True))
