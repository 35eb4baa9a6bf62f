"""What lines of Flink's log become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.job_log import Dated, Deployed
from holdfast.fixtures.systems.flink.log import Line, reason_in
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import Event, JobStatus

JOB = "70ef2f4c6ca3df65e5942306612d1ef9"
OTHER = "00000000000000000000000000000000"
SOURCE = "4972c980c6eacda63d047eecc7a9e826_e5a72f353fc1e6bbf3bd96a41384998c"
SUM = "4972c980c6eacda63d047eecc7a9e826_239c254b5ff89532b198266322bc819f"
COORDINATOR = "org.apache.flink.runtime.checkpoint.CheckpointCoordinator"
GRAPH = "org.apache.flink.runtime.executiongraph.ExecutionGraph"
TRACKER = "org.apache.flink.runtime.checkpoint.DefaultCheckpointStatsTracker"
CLEANER = "org.apache.flink.runtime.checkpoint.CheckpointsCleaner"
MANAGER = "org.apache.flink.runtime.checkpoint.CheckpointFailureManager"
MASTER = "org.apache.flink.runtime.jobmaster.JobMaster"
TASK = "org.apache.flink.runtime.taskmanager.Task"
SUM_TASK = "sum -> sink: Writer -> sink: Committer"
TASKS = (("Source: source", SOURCE), (SUM_TASK, SUM))
BEGUN = (
    (GRAPH, f"Job r1 ({JOB}) switched from state CREATED to RUNNING."),
    (COORDINATOR, "No checkpoint found during restore."),
    *((GRAPH, f"{task} (1/2) ({execution}_0_0) switched from CREATED to SCHEDULED.") for task, execution in TASKS),
    (
        GRAPH,
        f"Deploying Source: source (1/2) (attempt #0) with attempt id {SOURCE}_0_0 and vertex id "
        "e5a72f353fc1e6bbf3bd96a41384998c_0 to taskmanager-2 @ localhost (dataPort=44565) with allocation id 1",
    ),
    *((GRAPH, f"{task} (1/2) ({execution}_0_0) switched from INITIALIZING to RUNNING.") for task, execution in TASKS),
)
TRIGGERED = f"Triggering checkpoint 1 (type=CheckpointType{{name='Checkpoint'}}) @ 1795660711696 for job {JOB}."


def a_master() -> MasterLog:
    return MasterLog(JOB, StoredCheckpoints(Path("/nowhere"), Path("/savepoints"), JOB))


def dated(lines: Sequence[tuple[str, ...]], master: MasterLog) -> list[Event | Deployed | Dated]:
    """What is heard of lines, of which one comes each millisecond."""
    read = (Line(t=float(t), c=c, m=text, e="".join(trace)) for t, (c, text, *trace) in enumerate(lines))
    return [found for line in read for found in master.events(line)]


def heard(lines: Sequence[tuple[str, ...]], master: MasterLog) -> list[Event | Deployed]:
    return [found.event if isinstance(found, Dated) else found for found in dated(lines, master)]


def test_a_job_begins_is_deployed_runs_when_all_its_tasks_do_and_goes_on_from_a_checkpoint() -> None:
    master = a_master()
    deployed, began, switched = heard(BEGUN, master)
    assert isinstance(began, events.AttemptStarted)
    assert (began.restored_checkpoint, began.attempt) == (None, 1)
    assert deployed == Deployed(subtask="source[0]", host="taskmanager-2")
    assert isinstance(switched, events.JobSwitched)
    assert switched.status is JobStatus.RUNNING
    restored = f"Restoring job {JOB} from Checkpoint 5 @ 1795660713777 for {JOB} located at file:/cp/chk-5."
    _, again, *_ = heard([(COORDINATOR, restored), *BEGUN[2:]], master)
    assert isinstance(again, events.AttemptStarted)
    assert (again.restored_checkpoint, again.attempt) == (5, 2)


def test_a_checkpoint_from_its_trigger_to_its_end() -> None:
    master = a_master()
    heard(BEGUN, master)
    acknowledged = f"Received acknowledge message for checkpoint 1 from task {SUM}_0_0 of job {JOB} at tm2 @ localhost."
    late = f"Received message for an unknown checkpoint 1 from task {SOURCE}_0_0 of job {JOB} at tm2 @ localhost."
    completed = (
        f"Completed checkpoint 1 for job {JOB} (7739 bytes, checkpointDuration=1525 ms, finalizationTime=21 ms)."
    )
    master.positions[1] = {1: 7, 0: 3}
    kept, discarded = (
        (CLEANER, f"Clean checkpoint 1 parallel-mode=true shouldDiscard={each}") for each in ("false", "true")
    )
    pointer = '{"external_path":"file:/nowhere/chk-1"}'
    statistics = (TRACKER, f"CheckpointStatistics (for jobID={JOB}, checkpointId=1) dump = {pointer}")
    lines = [
        (COORDINATOR, TRIGGERED),
        (COORDINATOR, acknowledged),
        kept,
        statistics,
        (COORDINATOR, completed),
        discarded,
    ]
    drawn, triggered, ack, published, end, dropped, unknown = dated([*lines, (COORDINATOR, late)], master)
    assert isinstance(drawn, Dated)
    assert isinstance(drawn.event, events.CheckpointDrawn)
    assert drawn.t == 1_795_660_711_696, "what its barriers carry, and not the time of the line"
    assert isinstance(triggered, events.CheckpointTriggered)
    assert triggered.participants == ("source[0]", "sum[0]")
    assert isinstance(ack, events.AckReceived)
    assert (ack.subtask, ack.outcome, ack.attempt) == ("sum[0]", events.AckOutcome.SUCCESS, 1)
    assert isinstance(published, events.MetadataPublished)
    assert published.path == f"/nowhere/{JOB}/chk-1/_metadata"
    assert isinstance(end, Dated)
    assert isinstance(end.event, events.CheckpointCompleted)
    assert end.event.positions == (3, 7)
    assert end.t == lines.index(statistics), "its own line may be late"
    assert isinstance(dropped, events.CheckpointDropped)
    assert isinstance(unknown, events.AckReceived)
    assert unknown.outcome is events.AckOutcome.UNKNOWN


def test_a_claimed_checkpoint_is_dropped_like_an_own_one_and_one_that_is_the_users_is_not() -> None:
    discarded = (CLEANER, "Clean checkpoint 4 parallel-mode=true shouldDiscard=true")
    stored = StoredCheckpoints(Path("/nowhere"), Path("/savepoints"), JOB)
    for claimed, wanted in (({4: "/savepoints/s/_metadata"}, [4]), ({}, [])):
        master = MasterLog(JOB, stored, 2, given=True, claimed=claimed)
        dropped = [each for each in heard([discarded], master) if isinstance(each, events.CheckpointDropped)]
        assert [each.checkpoint for each in dropped] == wanted
    master = MasterLog(JOB, stored, 2, given=True, claimed={4: "/savepoints/s/_metadata"})
    assert list(master.over(frozenset({"/savepoints/s/_metadata"}))) == [], "it is there, and was reported as dropped"


def test_what_a_store_in_zookeeper_cleans_and_does_not_discard_is_left_to_the_user() -> None:
    kept = (CLEANER, "Clean checkpoint 1 parallel-mode=true shouldDiscard=false")
    master = a_master()
    heard([*BEGUN, (COORDINATOR, TRIGGERED)], master)
    [published] = heard([kept], master)
    assert isinstance(published, events.MetadataPublished)
    [left] = heard([kept], master)
    assert isinstance(left, events.CheckpointRetained)
    assert left.checkpoint == 1


def test_a_job_that_is_over_begins_no_attempt_when_another_one_is_refused() -> None:
    master = a_master()
    heard(BEGUN, master)
    gateway = "org.apache.flink.runtime.resourcemanager.StandaloneResourceManager"
    ended = (GRAPH, f"Job r1 ({JOB}) switched from state CANCELLING to CANCELED.")
    gone = (gateway, f"Disconnect job manager 0000@pekko://flink/user for job {JOB} from the resource manager.")
    heard([ended, gone], master)
    assert master.closed
    assert heard([(COORDINATOR, "No checkpoint found during restore.")], master) == []


def test_what_is_said_of_another_job_is_left_out() -> None:
    assert heard([(COORDINATOR, TRIGGERED.replace(JOB, OTHER))], a_master()) == []


def test_a_failed_checkpoint_is_over_and_what_it_held_is_no_checkpoint_that_is_dropped() -> None:
    master = a_master()
    failed = f"Failed to trigger or complete checkpoint 1 for job {JOB}. (0 consecutive failed attempts so far)"
    trace = "org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint expired before completing.\n\tat"
    cleaned = "Clean checkpoint 1 parallel-mode=true shouldDiscard=true"
    twice = [(MANAGER, failed, trace)] * 2
    _, _, aborted = heard([(COORDINATOR, TRIGGERED), *twice, (CLEANER, cleaned)], master)
    assert isinstance(aborted, events.CheckpointAborted)
    assert (aborted.checkpoint, aborted.reason) == (1, FailureReason.EXPIRED)


def test_metadata_that_could_not_be_stored_have_a_cause() -> None:
    master = a_master()
    failed = f"Failed to trigger or complete checkpoint 1 for job {JOB}. (0 consecutive failed attempts so far)"
    head = (
        "o.CheckpointException: Could not finalize checkpoint 1. Failure reason: Failure to finalize checkpoint.\n\tat"
    )
    trace = f"{head}\nCaused by: java.io.IOException: No space left on device\n\tat"
    *_, aborted = heard([(COORDINATOR, TRIGGERED), (MANAGER, failed, trace)], master)
    assert isinstance(aborted, events.CheckpointAborted)
    assert aborted.reason == FailureReason.FINALIZATION
    assert master.unpublished == {1: "java.io.IOException: No space left on device"}


def test_a_trigger_that_reaches_nobody_is_no_error_of_the_storage() -> None:
    head = "org.apache.flink.runtime.checkpoint.CheckpointException: Trigger checkpoint failure."
    assert reason_in(f"{head}\n\tat a.B") is FailureReason.TASK_FAILURE
    assert reason_in("java.lang.Exception: something else") is None


def test_a_coordinator_that_is_suspended_by_a_failure_aborts_because_of_that() -> None:
    failed = f"Failed to trigger or complete checkpoint 1 for job {JOB}. (0 consecutive failed attempts so far)"
    trace = "org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint Coordinator is suspending.\n\tat"
    lost = f"{SUM_TASK} (1/2) ({SUM}_0_0) switched from RUNNING to FAILED on tm2 @ localhost (dataPort=40157)."
    for before, reason in (((), FailureReason.SUSPENDED), (((GRAPH, lost, "x"),), FailureReason.TASK_FAILURE)):
        master = a_master()
        heard(BEGUN, master)
        *_, aborted = heard([(COORDINATOR, TRIGGERED), *before, (MANAGER, failed, trace)], master)
        assert isinstance(aborted, events.CheckpointAborted)
        assert aborted.reason == reason


def run(width: int, *indices: int) -> list[tuple[str, str]]:
    """Sources of a job of some width are to run, and do."""
    return [
        (GRAPH, f"Source: source ({index + 1}/{width}) ({SOURCE}_{index}_0) switched from {switch}.")
        for switch in ("CREATED to SCHEDULED", "INITIALIZING to RUNNING")
        for index in indices
    ]


RESTORES = (COORDINATOR, f"Restoring job {JOB} from Checkpoint 3 @ 1.")


def of_two_sources() -> MasterLog:
    """Both run."""
    master = a_master()
    heard([BEGUN[1], *run(2, 0, 1)], master)
    return master


@pytest.mark.parametrize(
    ("width", "region", "participants"),
    [(2, ("source[0]",), ("source[0]", "source[1]")), (1, (), ("source[0]",))],
)
def test_a_region_restarts_beside_the_others_and_a_narrower_job_is_all_of_it(
    width: int, region: tuple[str, ...], participants: tuple[str, ...]
) -> None:
    master = of_two_sources()
    found = heard([RESTORES, *run(width, 0), (COORDINATOR, TRIGGERED)], master)
    [began] = [each for each in found if isinstance(each, events.AttemptStarted)]
    assert (began.subtasks, began.parallelism) == (region, width)
    [triggered] = [each for each in found if isinstance(each, events.CheckpointTriggered)]
    assert triggered.participants == participants


def test_regions_that_are_deployed_one_by_one_are_one_attempt_which_began_with_the_first() -> None:
    master = of_two_sources()
    (scheduled, runs), (other_scheduled, other_runs) = run(2, 0), run(2, 1)
    deployed = (GRAPH, f"Deploying Source: source (1/2) (attempt #1) with attempt id {SOURCE}_0_1 to tm2 @ host")
    found = dated([RESTORES, scheduled, deployed, other_scheduled, runs, other_runs], master)
    [began] = [each for each in found if isinstance(each, Dated)]
    assert began.t == 1
    assert isinstance(began.event, events.AttemptStarted)
    assert (began.event.attempt, began.event.subtasks) == (2, ())


def test_of_two_regions_that_restart_together_each_has_an_attempt() -> None:
    """Both have been restored, and their subtasks scheduled, before the first one is deployed."""
    master = of_two_sources()
    (scheduled, runs), (of_other, other_runs) = run(2, 0), run(2, 1)
    found = heard([RESTORES, scheduled, RESTORES, of_other, runs, other_runs, (COORDINATOR, TRIGGERED)], master)
    begun = [each for each in found if isinstance(each, events.AttemptStarted)]
    assert [(each.attempt, each.subtasks) for each in begun] == [(2, ("source[0]",)), (3, ("source[1]",))]
    assert [master.attempt_of(f"{SOURCE}_{index}_0") for index in (0, 1)] == [2, 3]


def test_what_a_jobmanager_had_begun_when_it_died_is_no_attempt() -> None:
    master = of_two_sources()
    assert heard([RESTORES, run(2, 0)[0]], master) == []
    master.succeeded()
    found = heard([RESTORES, *run(2, 0, 1), (COORDINATOR, TRIGGERED)], master)
    assert [each.subtasks for each in found if isinstance(each, events.AttemptStarted)] == [()]


def test_a_request_that_is_refused_before_the_tasks_are_scheduled_begins_no_attempt() -> None:
    master = of_two_sources()
    refused = (MANAGER, f"Failed to trigger checkpoint for job {JOB} since Not all required tasks are running.")
    kinds = (events.CheckpointRefused, events.AttemptStarted, events.CheckpointTriggered)
    first, second, *rest = run(2, 0, 1)
    found = heard([RESTORES, refused, first, refused, second, *rest, (COORDINATOR, TRIGGERED)], master)
    refusal, _, began, triggered = (each for each in found if isinstance(each, kinds))
    assert isinstance(refusal, events.CheckpointRefused)
    assert isinstance(began, events.AttemptStarted)
    assert began.parallelism == 2
    assert isinstance(triggered, events.CheckpointTriggered)
    assert triggered.participants == ("source[0]", "source[1]")


def test_a_jobmanager_that_was_too_slow_to_answer_goes_on_with_its_job() -> None:
    master = a_master()
    heard(BEGUN, master)
    gateway = "org.apache.flink.runtime.resourcemanager.StandaloneResourceManager"
    gone = (gateway, f"Disconnect job manager 0000@pekko://flink/user for job {JOB} from the resource manager.")
    heard([gone], master)
    assert not master.closed
    _, began, *_ = heard([(COORDINATOR, f"Restoring job {JOB} from Checkpoint 3 @ 1."), *BEGUN[2:]], master)
    assert isinstance(began, events.AttemptStarted)
    assert began.attempt == 2
    heard([(gateway, f"Registered job manager 0000@pekko://flink/user for job {JOB}.")], master)
    ended = (GRAPH, f"Job r1 ({JOB}) switched from state CANCELLING to CANCELED.")
    heard([ended], master)
    assert not master.closed
    heard([gone], master)
    assert master.closed


def test_a_failure_is_counted_under_its_cause_and_a_restart_may_be_refused() -> None:
    master = a_master()
    heard(BEGUN, master)
    trace = "java.lang.Exception: outer\n\tat a.B\nCaused by: java.io.IOException: inner\n\tat c.D"
    lost = f"{SUM_TASK} (1/2) ({SUM}_0_0) switched from RUNNING to FAILED on tm2 @ localhost (dataPort=40157)."
    restarts = f"4 tasks will be restarted to recover the failed task {SUM}_0_0."
    [counted] = heard([(GRAPH, lost, trace), (MASTER, restarts)], master)
    assert isinstance(counted, events.FailureCounted)
    assert (counted.subtask, counted.cause) == ("sum[0]", "java.io.IOException: inner")
    failing = f"Job r1 ({JOB}) switched from state RUNNING to FAILING."
    suppressed = "org.apache.flink.runtime.JobException: Recovery is suppressed by NoRestartBackoffTimeStrategy\n\tat"
    last, refused = heard([(GRAPH, lost, trace), (GRAPH, failing, suppressed)], master)
    assert isinstance(last, events.FailureCounted)
    assert last.recoverable
    assert isinstance(refused, events.RestartRefused)
    assert "NoRestart" in refused.reason


def test_an_attempt_that_found_too_few_slots_keeps_the_next_one_from_nothing() -> None:
    """It was scheduled, and nothing is logged of its tasks when it is given up."""
    master = a_master()
    decided = ("o.AdaptiveScheduler", "Transition from state WaitingForResources to CreatingExecutionGraph.")
    began, *scheduled = BEGUN[1:4]
    more = (GRAPH, scheduled[1][1].replace("(1/2)", "(2/2)"))
    heard([decided, began, *scheduled, more], master)
    *_, switched = heard([decided, *BEGUN[1:]], master)
    assert isinstance(switched, events.JobSwitched)
    assert switched.status is JobStatus.RUNNING
