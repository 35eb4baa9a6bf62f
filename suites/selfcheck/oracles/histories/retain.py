"""Histories for RETAIN: what becomes of completed checkpoints, and what a next job restores."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("RETAIN")

POLICY = "execution.checkpointing.externalized-checkpoint-retention"
INTERVAL = {"execution.checkpointing.interval": "100 ms"}
KEEPING = {**INTERVAL, POLICY: "RETAIN_ON_CANCELLATION"}
DELETION = FaultSpec("storage-error", Target(Role.STORAGE), parameters={"operation": "delete"})


def story(*lines: Line, options: Mapping[str, str] = INTERVAL, faults: tuple[FaultSpec, ...] = ()) -> History:
    running = events.JobSwitched(status=events.JobStatus.RUNNING)
    return any_story(events.JobSubmitted(), events.AttemptStarted(), running, *lines, options=options, faults=faults)


def file(checkpoint: int) -> events.FileReference:
    return events.FileReference(f"chk-{checkpoint}/_metadata", 10, 7)


def whole(checkpoint: int) -> list[events.Event]:
    return [
        events.CheckpointDrawn(checkpoint=checkpoint, request=checkpoint, origin=CheckpointOrigin.PERIODIC),
        events.MetadataPublished(checkpoint=checkpoint, path=file(checkpoint).path, files=(file(checkpoint),)),
        events.CheckpointCompleted(checkpoint=checkpoint),
    ]


def dropped(checkpoint: int) -> events.CheckpointDropped:
    return events.CheckpointDropped(checkpoint=checkpoint)


def deleted(checkpoint: int) -> events.FileDeleted:
    return at("coordinator.0", events.FileDeleted(path=file(checkpoint).path))


def retained(checkpoint: int) -> events.CheckpointRetained:
    return events.CheckpointRetained(checkpoint=checkpoint, path=file(checkpoint).path)


def ended(*settled: events.Event) -> list[events.Event]:
    return [
        events.JobSwitched(status=events.JobStatus.CANCELLING),
        *settled,
        events.JobSwitched(status=events.JobStatus.CANCELED),
    ]


def listed(*checkpoints: int) -> events.StorageListed:
    return events.StorageListed(files=tuple(map(file, checkpoints)))


def next_job(path: str, restored: int | None) -> list[events.Event]:
    """Another job that is given a path, and what its first attempt restores."""
    submitted = at("", events.JobSubmitted(path=path, checkpoint=1 if path else None), attempt=1_000)
    return [submitted, events.AttemptStarted(attempt=1_001, restored_checkpoint=restored)]


@bad("too-many-retained")
def older_stays() -> History:
    return story(whole(1), whole(2), whole(3)[:1])


@near("too-many-retained")
def older_is_dropped() -> History:
    return story(whole(1), whole(2), dropped(1), whole(3)[:1])


def _succeeded(restored: int) -> list[events.Event]:
    """A coordinator dies, and its successor goes on from a checkpoint."""
    return [
        events.NodeDied(dead_node="coordinator", cause="killed"),
        events.AttemptStarted(restored_checkpoint=restored),
        events.JobSwitched(status=events.JobStatus.RUNNING),
    ]


def _published_before_its_death(restored: int, *more: Line) -> History:
    """A coordinator publishes a checkpoint and dies before that completes."""
    return story(whole(1), whole(2)[:2], _succeeded(restored), *more)


@near("too-many-retained")
def one_that_the_successor_does_not_know_stays() -> History:
    return _published_before_its_death(1, whole(3), dropped(1), whole(4)[:1])


def _died_before_it_dropped(*more: Line, left: int = 2) -> History:
    """A coordinator dies between completions and what these make surplus; a successor restores the last one."""
    restored = events.AttemptStarted(restored_checkpoint=left)
    dead = events.NodeDied(dead_node="coordinator.0", cause="killed")
    done = [whole(checkpoint) for checkpoint in range(1, left + 1)]
    return story(*done, at("harness", dead), at("coordinator.1", restored), *more)


def _drawn(checkpoint: int) -> events.Event:
    return at("coordinator.1", whole(checkpoint)[0])


@near("too-many-retained")
def what_a_dead_coordinator_left_stays_until_the_next_completion() -> History:
    return _died_before_it_dropped(_drawn(3))


@near("too-many-retained")
def two_dead_coordinators_left_one_each() -> History:
    second = [at("coordinator.1", event) for event in whole(3)]
    dead = at("harness", events.NodeDied(dead_node="coordinator.1", cause="killed"))
    restored = at("coordinator.2", events.AttemptStarted(restored_checkpoint=3))
    return _died_before_it_dropped(second, dead, restored, at("coordinator.2", whole(4)[0]))


@bad("too-many-retained")
def a_dead_coordinator_left_two_too_many() -> History:
    return _died_before_it_dropped(_drawn(4), left=3)


@bad("too-many-retained")
def what_a_dead_coordinator_left_stays_behind_the_next_completion() -> History:
    next_one = [at("coordinator.1", event) for event in whole(3)]
    return _died_before_it_dropped(next_one, dropped(1), _drawn(4))


@bad("too-many-retained")
def one_that_the_successor_restores_stays() -> History:
    return _published_before_its_death(2, dropped(1), whole(3), whole(4)[:1])


@bad("too-many-retained")
def one_that_a_later_successor_restores_stays() -> History:
    return _published_before_its_death(1, _succeeded(2), whole(3), dropped(1), whole(4)[:1])


@bad("too-many-retained")
def one_that_its_own_coordinator_published_stays() -> History:
    return story(whole(1), whole(2)[:2], events.AttemptStarted(restored_checkpoint=1), whole(3)[:1])


@bad("deleted-in-use")
def deleted_during_restore() -> History:
    return story(whole(1), events.AttemptStarted(restored_checkpoint=1), dropped(1))


@near("deleted-in-use")
def dropped_after_restore() -> History:
    again = [events.AttemptStarted(restored_checkpoint=1), events.JobSwitched(status=events.JobStatus.RUNNING)]
    return story(whole(1), again, whole(2), dropped(1))


def _failed_deletion(*after: events.Event) -> History:
    hit = injected("storage-error", "storage[0]")
    failed = events.StorageFailed(operation="delete", path=file(1).path, reason="no answer")
    return story(whole(1), hit, whole(2), dropped(1), failed, *after, faults=(DELETION,))


@bad("failed-deletion-fails")
def job_fails_with_deletion() -> History:
    return _failed_deletion(events.FailureCounted(cause="deletion"))


@near("failed-deletion-fails")
def deletion_fails_alone() -> History:
    return _failed_deletion(*whole(3))


@near("failed-deletion-fails")
def the_harness_ends_the_run() -> History:
    """A task fails behind the end of the run, in which the harness stops everything."""
    history = _failed_deletion(events.FailureCounted(cause="stopped"))
    end = RunEnd(reached=True, ended_ns=history.events[-1].time_ns - 1)
    return History(history.plan, history.claims, history.inputs, history.output, history.events, end)


def store_fails_by_itself() -> History:
    """No fault of the plan: whatever needs the store fails with it."""
    failed = events.StorageFailed(operation="delete", path=file(1).path, reason="no answer")
    return story(whole(1), whole(2), dropped(1), failed, events.FailureCounted(cause="no answer"))


@bad("kept-wrongly")
def left_though_discarded() -> History:
    return story(whole(1), ended(retained(1)))


@bad("kept-wrongly")
def forgotten_though_discarded() -> History:
    return story(whole(1), ended())


@near("kept-wrongly")
def discarded_at_the_end() -> History:
    return story(whole(1), ended(dropped(1)))


def _fails_unread(*seen: int) -> History:
    """The next coordinator sees some checkpoints, cannot read its store, and the job fails; it drops the first."""
    told = [events.MetadataPublished(checkpoint=each, path=file(each).path, files=(file(each),)) for each in seen]
    end = [
        events.RecoveryFailed(checkpoint=2, reason="damaged"),
        events.JobSwitched(status=events.JobStatus.FAILED),
        dropped(1),
    ]
    return story(whole(1), whole(2), *(at("coordinator.1", event) for event in (*told, *end)))


@bad("kept-wrongly")
def kept_though_seen() -> History:
    return _fails_unread(1, 2)


@near("kept-wrongly")
def never_seen() -> History:
    return _fails_unread(1)


def _claims_and_fails(*begun: events.Event) -> History:
    """A job is given a savepoint, which it is to own, and fails."""
    saved = events.SavepointCompleted(checkpoint=1, path=file(1).path, files=(file(1),))
    submitted = at("", events.JobSubmitted(path=file(1).path, checkpoint=1), attempt=1_000)
    failed = at("", events.JobSwitched(status=events.JobStatus.FAILED), attempt=1_001)
    return story(
        saved, whole(2), ended(dropped(2)), submitted, *begun, failed, options={**INTERVAL, profile.CLAIM_MODE: "CLAIM"}
    )


@bad("kept-wrongly")
def claimed_and_kept() -> History:
    return _claims_and_fails(at("", events.AttemptStarted(restored_checkpoint=1), attempt=1_001))


@near("kept-wrongly")
def given_and_never_begun_from() -> History:
    return _claims_and_fails()


@bad("discarded-wrongly")
def dropped_though_kept() -> History:
    return story(whole(1), ended(dropped(1)), options=KEEPING)


@near("discarded-wrongly")
def left_to_the_user() -> History:
    return story(whole(1), ended(retained(1)), options=KEEPING)


@near("discarded-wrongly")
def one_that_completes_while_the_job_ends_takes_its_place() -> History:
    return story(whole(1), ended(*whole(2), dropped(1), retained(2)), options=KEEPING)


@bad("deleted-after-end")
def deleted_by_somebody() -> History:
    return story(whole(1), ended(retained(1)), deleted(1), options=KEEPING)


@bad("deleted-after-end")
def gone_at_the_end() -> History:
    return story(whole(1), ended(retained(1)), listed(), options=KEEPING)


@near("deleted-after-end")
def still_there() -> History:
    return story(whole(1), ended(retained(1)), listed(1), options=KEEPING)


@bad("restored-elsewhere")
def path_is_ignored() -> History:
    return story(whole(1), ended(retained(1)), next_job(file(1).path, None), options=KEEPING)


@near("restored-elsewhere")
def path_is_restored() -> History:
    return story(whole(1), ended(retained(1)), next_job(file(1).path, 1), options=KEEPING)


@bad("start-not-reported")
def restores_what_nobody_gave() -> History:
    return story(whole(1), ended(retained(1)), next_job("", 1), options=KEEPING)


@near("start-not-reported")
def starts_empty() -> History:
    return story(whole(1), ended(retained(1)), next_job("", None), options=KEEPING)


def dropped_and_left(*then: Line, there: tuple[int, ...]) -> History:
    """The first of two checkpoints is dropped, and so is each that follows but the last. At the end these are there."""
    more: list[Line] = [whole(3), dropped(2), deleted(2), whole(4), dropped(3), deleted(3), whole(5), dropped(4)]
    return story(whole(1), whole(2), dropped(1), *then, *more, listed(*there))


@bad("dropped-left")
def a_dropped_checkpoint_is_never_deleted() -> History:
    return dropped_and_left(there=(1, 4, 5))


@near("dropped-left")
def the_last_one_is_not_due_yet() -> History:
    return dropped_and_left(deleted(1), there=(4, 5))


@near("dropped-left")
def its_coordinator_was_gone_before_it_could_be_deleted() -> History:
    died = events.NodeDied(dead_node="coordinator.0", cause="kill")
    more: list[events.Event] = [
        *whole(3),
        dropped(2),
        deleted(2),
        *whole(4),
        dropped(3),
        deleted(3),
        *whole(5),
        dropped(4),
        deleted(4),
    ]
    later: list[Line] = [at("coordinator.1", each) for each in more]
    return story(whole(1), whole(2), dropped(1), died, *later, listed(1, 5))
