"""Histories for SAVEPOINT: savepoints, the jobs that stop with them, and the jobs that go on from them."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import SavepointFormat, StopMode
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("SAVEPOINT")

FOLDER = "savepoints/savepoint-0-4/"
FILE = events.FileReference(f"{FOLDER}state", 10, 7)
METADATA = events.FileReference(f"{FOLDER}_metadata", 10, 7)
INTERVAL = {"execution.checkpointing.interval": "100 ms"}
OLDER = {**INTERVAL, "holdfast.profile": "flink-1.14"}
CLAIMED = {**INTERVAL, "execution.state-recovery.claim-mode": "CLAIM"}
ALLOWED = {**INTERVAL, "execution.state-recovery.ignore-unclaimed-state": "true"}
LATER_MS = 2_000.0
"""Longer than a job takes that stops."""
RUNNING = events.JobStatus.RUNNING
FINISHED = events.JobStatus.FINISHED


def asked(target: str = "savepoints") -> FaultSpec:
    return FaultSpec("stop", COORDINATOR, parameters={"target": target})


def submit(edit: str = "") -> FaultSpec:
    return FaultSpec("submit", COORDINATOR, parameters={"edit": edit} if edit else {})


def story(
    *lines: Line, options: Mapping[str, str] = INTERVAL, faults: tuple[FaultSpec, ...] = (asked(), submit())
) -> History:
    begun = [events.JobSubmitted(), events.AttemptStarted(), events.JobSwitched(status=RUNNING)]
    acted = [at("harness", injected(each.kind, "coordinator", number)) for number, each in enumerate(faults)]
    return any_story(*begun, *acted, *lines, options=options, faults=faults)


def triggered(stop: StopMode = StopMode.SUSPEND) -> list[events.Event]:
    return [
        events.CheckpointTriggered(checkpoint=4, participants=("source[0]", "sum[0]", "sink[0]")),
        events.SavepointTriggered(checkpoint=4, folder=FOLDER, format=SavepointFormat.CANONICAL, stop=stop),
    ]


def part(subtask: str) -> events.SnapshotTaken:
    positions = ((0, 3),) if subtask.startswith("source") else ()
    return events.SnapshotTaken(subtask=subtask, checkpoint=4, state=events.StateSummary(), positions=positions)


def sent(channel: str) -> events.BatchSent:
    return events.BatchSent(channel=channel, position=9, records=1)


def completed(*files: events.FileReference, recovery_point: bool = True) -> events.SavepointCompleted:
    return events.SavepointCompleted(
        checkpoint=4, path=METADATA.path, files=(METADATA, *(files or (FILE,))), recovery_point=recovery_point
    )


def finished() -> events.JobSwitched:
    return events.JobSwitched(status=FINISHED)


def next_job(*then: events.Event) -> list[events.Event]:
    submitted = at("", events.JobSubmitted(path=METADATA.path, checkpoint=4), attempt=1_000)
    return [submitted, *(at("coordinator.1", each, attempt=1_001) for each in then)]


def runs() -> list[events.Event]:
    return next_job(events.AttemptStarted(restored_checkpoint=4), events.JobSwitched(status=RUNNING))


def own(checkpoint: int) -> events.CheckpointCompleted:
    return at("coordinator.1", events.CheckpointCompleted(checkpoint=checkpoint), attempt=1_001)


def listed(*files: events.FileReference) -> events.StorageListed:
    return events.StorageListed(files=files)


@bad("outside-folder")
def a_file_elsewhere() -> History:
    return story(triggered(), completed(events.FileReference("checkpoints/job-0/shared/a", 10, 7)), finished())


@bad("outside-folder")
def a_file_of_a_checkpoint() -> History:
    published = events.MetadataPublished(checkpoint=3, path="chk-3/_metadata", files=(FILE,))
    return story(published, triggered(), completed(), finished())


@near("outside-folder")
def all_in_one_folder() -> History:
    return story(triggered(), completed(), finished())


@bad("savepoint-deleted")
def deleted_by_the_system() -> History:
    return story(triggered(), completed(), finished(), at("coordinator.0", events.FileDeleted(path=FILE.path)))


@bad("savepoint-deleted")
def gone_at_the_end() -> History:
    return story(triggered(), completed(), finished(), listed(METADATA))


@near("savepoint-deleted")
def all_there_at_the_end() -> History:
    return story(triggered(), completed(), finished(), listed(METADATA, FILE))


@bad("target-invented")
def nobody_names_a_directory() -> History:
    return story(triggered(), completed(), finished(), faults=(asked(""),))


@near("target-invented")
def refused_without_a_directory() -> History:
    return story(faults=(asked(""),))


def in_flight(checkpoint: int, *batches: tuple[int, int]) -> events.ChannelStateTaken:
    content = events.ChannelContent(channel="source[0]->sum[0]", output=False, batches=batches)
    return events.ChannelStateTaken(subtask="sum[0]", checkpoint=checkpoint, channels=(content,))


@bad("carries-in-flight")
def records_were_overtaken() -> History:
    return story(triggered(), at("worker-0.0", in_flight(4, (7, 1))), completed(), finished())


@bad("carries-in-flight")
def its_barrier_overtook_records() -> History:
    taken = events.SnapshotTaken(subtask="sum[0]", checkpoint=4, state=events.StateSummary(), unaligned=True)
    return story(triggered(), at("worker-0.0", taken), completed(), finished())


@near("carries-in-flight")
def those_of_a_checkpoint() -> History:
    taken = [at("worker-0.0", in_flight(3, (7, 1))), at("worker-0.0", in_flight(4))]
    return story(triggered(), *taken, completed(), finished())


@bad("emitted-behind-stop")
def a_source_goes_on() -> History:
    return story(triggered(), part("source[0]"), sent("source[0]->sum[0]"), completed(), finished())


@near("emitted-behind-stop")
def a_source_emits_in_front() -> History:
    return story(triggered(), sent("source[0]->sum[0]"), part("source[0]"), completed(), finished())


def begins(checkpoint: int) -> events.CheckpointTriggered:
    return events.CheckpointTriggered(checkpoint=checkpoint, participants=("source[0]", "sum[0]", "sink[0]"))


@bad("begun-behind-stop")
def another_begins_while_it_is_under_way() -> History:
    return story(triggered(), begins(5), completed(), finished(), listed(METADATA, FILE))


@bad("begun-behind-stop")
def another_begins_behind_it_when_it_is_complete() -> History:
    return story(triggered(StopMode.DRAIN), completed(), begins(5), finished(), listed(METADATA, FILE))


@near("begun-behind-stop")
def another_began_before_it() -> History:
    return story(begins(3), triggered(), completed(), finished(), listed(METADATA, FILE))


@near("begun-behind-stop")
def the_job_goes_on_because_it_failed() -> History:
    failed = events.CheckpointAborted(checkpoint=4, reason="expired")
    return story(triggered(StopMode.CANCEL), failed, begins(5))


@near("begun-behind-stop")
def an_older_checkpoint_is_aborted_meanwhile() -> History:
    older = events.CheckpointAborted(checkpoint=3, reason="expired")
    return story(begins(3), triggered(), older, completed(), finished(), listed(METADATA, FILE))


@bad("begun-behind-stop")
def the_abort_of_an_older_checkpoint_lets_none_begin() -> History:
    older = events.CheckpointAborted(checkpoint=3, reason="expired")
    return story(begins(3), triggered(), older, begins(5), completed(), finished(), listed(METADATA, FILE))


@bad("not-stopped")
def the_job_runs_on() -> History:
    return story(triggered(), completed(), LATER_MS, listed(METADATA, FILE))


@near("not-stopped")
def the_job_finishes() -> History:
    return story(triggered(), completed(), finished(), LATER_MS, listed(METADATA, FILE))


@near("not-stopped")
def it_finishes_a_moment_later() -> History:
    return story(triggered(), completed(), 20.0, finished(), LATER_MS, listed(METADATA, FILE))


@bad("stopped-silently")
def finished_without_it() -> History:
    return story(triggered(), events.CheckpointAborted(checkpoint=4, reason="expired"), finished())


@near("stopped-silently")
def restarted_without_it() -> History:
    failed = events.FailureCounted(cause="the job was to stop")
    return story(triggered(), events.CheckpointAborted(checkpoint=4, reason="expired"), failed, events.AttemptStarted())


@bad("stopped-silently")
def cancelled_without_it() -> History:
    cancelled = events.JobSwitched(status=events.JobStatus.CANCELLING)
    return story(triggered(StopMode.CANCEL), events.CheckpointAborted(checkpoint=4, reason="expired"), cancelled)


@near("stopped-silently")
def goes_on_without_it() -> History:
    return story(triggered(StopMode.CANCEL), events.CheckpointAborted(checkpoint=4, reason="expired"), LATER_MS)


@bad("not-stopped")
def it_is_not_cancelled() -> History:
    return story(triggered(StopMode.CANCEL), completed(), LATER_MS, listed(METADATA, FILE))


@near("not-stopped")
def it_is_cancelled_with_it() -> History:
    cancelled = events.JobSwitched(status=events.JobStatus.CANCELLING)
    return story(triggered(StopMode.CANCEL), completed(), 20.0, cancelled, LATER_MS, listed(METADATA, FILE))


@bad("not-drained")
def snapshot_before_finish() -> History:
    drain = triggered(StopMode.DRAIN)
    return story(drain, part("sum[0]"), events.OperatorFinished(subtask="sum[0]"), completed(), finished())


@near("not-drained")
def snapshot_behind_finish() -> History:
    drain = triggered(StopMode.DRAIN)
    return story(drain, events.OperatorFinished(subtask="sum[0]"), part("sum[0]"), completed(), finished())


@bad("drained-unasked")
def finish_of_a_job_that_suspends() -> History:
    return story(triggered(), events.OperatorFinished(subtask="sum[0]"), part("sum[0]"), completed(), finished())


@near("drained-unasked")
def no_finish_of_a_job_that_suspends() -> History:
    return story(triggered(), part("sum[0]"), completed(), finished())


def told() -> events.NotificationSent:
    return events.NotificationSent(checkpoint=4, subtask="sink[0]", completed=True)


@bad("savepoint-commits")
def a_sink_is_told() -> History:
    return story(triggered(StopMode.GO_ON), completed(recovery_point=False), told())


@near("savepoint-commits")
def a_sink_is_told_of_the_next_checkpoint() -> History:
    notice = events.NotificationSent(checkpoint=5, subtask="sink[0]", completed=True)
    return story(triggered(StopMode.GO_ON), completed(recovery_point=False), notice)


@bad("savepoint-restored")
def an_attempt_goes_back_to_it() -> History:
    failed = events.FailureCounted(cause="worker lost")
    return story(
        triggered(StopMode.GO_ON),
        completed(recovery_point=False),
        failed,
        events.AttemptStarted(restored_checkpoint=4),
    )


@near("savepoint-restored")
def an_attempt_goes_back_to_the_checkpoint_before() -> History:
    failed = events.FailureCounted(cause="worker lost")
    return story(
        triggered(StopMode.GO_ON),
        completed(recovery_point=False),
        failed,
        events.AttemptStarted(restored_checkpoint=3),
    )


def in_version_1_14_it_is_a_recovery_point() -> History:
    """Neither: until 1.15 every savepoint was one."""
    failed = events.FailureCounted(cause="worker lost")
    return story(
        triggered(StopMode.GO_ON), completed(), told(), failed, events.AttemptStarted(restored_checkpoint=4),
        options=OLDER,
    )  # fmt: skip


@bad("not-resumed")
def the_next_job_fails() -> History:
    failed = events.JobSwitched(status=events.JobStatus.FAILED, reason="it cannot be read")
    return story(triggered(), part("sum[0]"), completed(), finished(), next_job(failed))


@near("not-resumed")
def the_next_job_runs() -> History:
    return story(triggered(), part("sum[0]"), completed(), finished(), runs())


@bad("state-left-out")
def runs_without_an_operator() -> History:
    faults = (asked(), submit("sum=total"))
    return story(triggered(), part("sum[0]"), completed(), finished(), runs(), faults=faults)


@near("state-left-out")
def is_refused_without_an_operator() -> History:
    failed = events.JobSwitched(status=events.JobStatus.FAILED, reason="no operator sum")
    faults = (asked(), submit("sum=total"))
    return story(triggered(), part("sum[0]"), completed(), finished(), next_job(failed), faults=faults)


def may_run_without_an_operator() -> History:
    """Neither: it is allowed."""
    faults = (asked(), submit("sum=total"))
    return story(triggered(), part("sum[0]"), completed(), finished(), runs(), options=ALLOWED, faults=faults)


@bad("claimed-left")
def claimed_and_still_there() -> History:
    return story(triggered(), completed(), finished(), runs(), own(5), own(6), listed(METADATA, FILE), options=CLAIMED)


@near("claimed-left")
def claimed_and_gone() -> History:
    return story(triggered(), completed(), finished(), runs(), own(5), own(6), listed(), options=CLAIMED)


@bad("claimed-too-early")
def deleted_before_the_first_checkpoint() -> History:
    gone = at("coordinator.1", events.FileDeleted(path=FILE.path), attempt=1_001)
    return story(triggered(), completed(), finished(), runs(), gone, own(5), options=CLAIMED)


@near("claimed-too-early")
def deleted_behind_the_first_checkpoint() -> History:
    gone = at("coordinator.1", events.FileDeleted(path=FILE.path), attempt=1_001)
    return story(triggered(), completed(), finished(), runs(), own(5), gone, options=CLAIMED)
