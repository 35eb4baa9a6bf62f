"""What lines of Flink's log become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.job_log import Dated, Deployed
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.reasons import reason_in
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.fixtures.systems.flink.worker_log import WorkerLog
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


@pytest.mark.parametrize(
    ("width", "region", "participants"),
    [(2, ("source[0]",), ("source[0]", "source[1]")), (1, (), ("source[0]",))],
)
def test_a_region_restarts_beside_the_others_and_a_narrower_job_is_all_of_it(
    width: int, region: tuple[str, ...], participants: tuple[str, ...]
) -> None:
    master = a_master()
    heard([BEGUN[1], *run(2, 0, 1)], master)
    restores = (COORDINATOR, f"Restoring job {JOB} from Checkpoint 3 @ 1.")
    found = heard([restores, *run(width, 0), (COORDINATOR, TRIGGERED)], master)
    [began] = [each for each in found if isinstance(each, events.AttemptStarted)]
    assert (began.subtasks, began.parallelism) == (region, width)
    [triggered] = [each for each in found if isinstance(each, events.CheckpointTriggered)]
    assert triggered.participants == participants


def test_regions_that_are_deployed_one_by_one_are_one_attempt_which_began_with_the_first() -> None:
    master = a_master()
    heard([BEGUN[1], *run(2, 0, 1)], master)
    restores = (COORDINATOR, f"Restoring job {JOB} from Checkpoint 3 @ 1.")
    (scheduled, runs), (other_scheduled, other_runs) = run(2, 0), run(2, 1)
    deployed = (GRAPH, f"Deploying Source: source (1/2) (attempt #1) with attempt id {SOURCE}_0_1 to tm2 @ host")
    found = dated([restores, scheduled, deployed, other_scheduled, runs, other_runs], master)
    [began] = [each for each in found if isinstance(each, Dated)]
    assert began.t == 1
    assert isinstance(began.event, events.AttemptStarted)
    assert (began.event.attempt, began.event.subtasks) == (2, ())


def test_of_two_regions_that_restart_together_each_has_an_attempt() -> None:
    """Both have been restored, and their subtasks scheduled, before the first one is deployed."""
    master = a_master()
    heard([BEGUN[1], *run(2, 0, 1)], master)
    restores = (COORDINATOR, f"Restoring job {JOB} from Checkpoint 3 @ 1.")
    (scheduled, runs), (of_other, other_runs) = run(2, 0), run(2, 1)
    found = heard([restores, scheduled, restores, of_other, runs, other_runs, (COORDINATOR, TRIGGERED)], master)
    begun = [each for each in found if isinstance(each, events.AttemptStarted)]
    assert [(each.attempt, each.subtasks) for each in begun] == [(2, ("source[0]",)), (3, ("source[1]",))]
    assert [master.attempt_of(f"{SOURCE}_{index}_0") for index in (0, 1)] == [2, 3]


def test_what_a_jobmanager_had_begun_when_it_died_is_no_attempt() -> None:
    master = a_master()
    heard([BEGUN[1], *run(2, 0, 1)], master)
    restores = (COORDINATOR, f"Restoring job {JOB} from Checkpoint 3 @ 1.")
    assert heard([restores, run(2, 0)[0]], master) == []
    master.succeeded()
    found = heard([restores, *run(2, 0, 1), (COORDINATOR, TRIGGERED)], master)
    assert [each.subtasks for each in found if isinstance(each, events.AttemptStarted)] == [()]


def test_a_request_that_is_refused_before_the_tasks_are_scheduled_begins_no_attempt() -> None:
    master = a_master()
    heard([BEGUN[1], *run(2, 0, 1)], master)
    restores = (COORDINATOR, f"Restoring job {JOB} from Checkpoint 3 @ 1.")
    refused = (MANAGER, f"Failed to trigger checkpoint for job {JOB} since Not all required tasks are running.")
    kinds = (events.CheckpointRefused, events.AttemptStarted, events.CheckpointTriggered)
    first, second, *rest = run(2, 0, 1)
    found = heard([restores, refused, first, refused, second, *rest, (COORDINATOR, TRIGGERED)], master)
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


def deployed_source(master: MasterLog) -> WorkerLog:
    """The log of a TaskManager that has received the second subtask of the source, and nothing else."""
    heard([(GRAPH, f"Source: source (2/2) ({SOURCE}_1_3) switched from CREATED to SCHEDULED.")], master)
    log = WorkerLog(master)
    executor = "org.apache.flink.runtime.taskexecutor.TaskExecutor"
    received = f"Received task Source: source (2/2)#3 ({SOURCE}_1_3), deploy into slot with allocation id 1."
    assert list(log.events(Line(t=0.0, c=executor, m=received))) == []
    return log


@pytest.mark.parametrize(
    ("reported", "cause"),
    [
        ("a.b.TaskNotRunningException: not running", "java.lang.Exception: record 7, with which came a.b.Task"),
        ("java.io.IOException: lost", "java.io.IOException: lost"),
    ],
)
def test_an_event_that_came_too_late_hides_no_cause(reported: str, cause: str) -> None:
    """The TaskManager alone has logged why the task had failed before."""
    master = a_master()
    heard(BEGUN, master)
    of_task = f"{SUM_TASK} (1/2)#0 ({SUM}_0_0) switched from RUNNING to FAILED with failure cause:"
    assert not [*WorkerLog(master).events(Line(t=0.0, c=TASK, m=of_task, e="java.lang.Exception: record 7\n\tat a.B"))]
    lost = f"{SUM_TASK} (1/2) ({SUM}_0_0) switched from RUNNING to FAILED on tm2 @ localhost (dataPort=40157)."
    restarts = f"4 tasks will be restarted to recover the failed task {SUM}_0_0."
    [counted] = heard([(GRAPH, lost, reported), (MASTER, restarts)], master)
    assert isinstance(counted, events.FailureCounted)
    assert counted.cause.startswith(cause)


def test_a_source_that_finishes_reports_where_it_has_read_to() -> None:
    log = deployed_source(a_master())
    head = '"vertex":"source","subtask":1,"attempt":-1'
    reports = (
        f'{{"event":"started",{head},"restored":2,"positions":{{"1":300}}}}',
        f'{{"event":"snapshot",{head},"checkpoint":4,"positions":{{"1":500}}}}',
        f'{{"event":"finished",{head},"positions":{{"1":700}}}}',
    )
    started, finished = (event for each in reports for _, event in log.events(Line(t=0.0, c="holdfast", m=each)))
    assert isinstance(started, events.TaskStarted)
    assert started.positions == ((1, 300),)
    assert isinstance(finished, events.OperatorFinished)
    assert finished.positions == ((1, 700),)


def test_user_code_tells_positions_and_the_log_which_attempt() -> None:
    master = a_master()
    master.attempt = 4
    log = deployed_source(master)
    report = '{"event":"snapshot","vertex":"source","subtask":1,"attempt":-1,"checkpoint":4,"positions":{"1":500}}'
    assert list(log.events(Line(t=0.0, c="holdfast", m=report))) == []
    over = (
        "Source: source (2/2)#3 - finished synchronous part of checkpoint 4. Alignment duration: 0 ms, "
        "snapshot duration 2 ms, is unaligned checkpoint : true"
    )
    coordinator = "org.apache.flink.streaming.runtime.tasks.SubtaskCheckpointCoordinatorImpl"
    [(subtask, taken)] = log.events(Line(t=0.0, c=coordinator, m=over))
    assert subtask in ("source[1]", "sum[1]")
    assert isinstance(taken, events.SnapshotTaken)
    assert (taken.subtask, taken.checkpoint, taken.positions, taken.attempt) == ("source[1]", 4, ((1, 500),), 4)
    assert taken.unaligned
    assert master.positions == {4: {1: 500}}


def test_an_execution_whose_jobmanager_died_keeps_its_attempt_though_the_next_one_counts_anew() -> None:
    """Line by line: the execution that the first JobManager deployed ends when the second one's has the same number."""
    master, other = a_master(), SOURCE.replace("4972", "0000")
    heard(BEGUN, master)
    log = WorkerLog(master)
    executor, of_task = "org.apache.flink.runtime.taskexecutor.TaskExecutor", "Source: source (1/2)#0"
    received, failed, freed = (
        [Line(t=0.0, c=c, m=text.format(execution)) for execution in (f"{SOURCE}_0_0", f"{other}_0_0")]
        for c, text in (
            (executor, f"Received task {of_task} ({{}}), deploy into slot with allocation id 1."),
            (TASK, f"{of_task} ({{}}) switched from RUNNING to FAILED with"),
            (TASK, f"Freeing task resources for {of_task} ({{}})."),
        )
    )
    assert list(log.events(received[0])) == []
    master.succeeded()
    again = f"Source: source (1/2) ({other}_0_0) switched from CREATED to SCHEDULED."
    heard([(COORDINATOR, f"Restoring job {JOB} from Checkpoint 3 @ 1."), (GRAPH, again)], master)
    assert list(log.events(failed[0])) == [], "its thread goes on until it is interrupted"
    assert [event.attempt for _, event in log.events(freed[0])] == [1]
    assert [line for each in (received, failed) for line in log.events(each[1])] == []
    [(_, stopped)] = log.events(freed[1])
    assert isinstance(stopped, events.TaskStopped)
    assert (stopped.attempt, stopped.reason) == (2, "failed")


def test_the_end_of_a_task_of_the_job_before_is_none_of_this_one() -> None:
    log, of_task = WorkerLog(a_master()), f"Source: source (1/2)#0 ({SOURCE}_0_0)"
    for text in (f"{of_task} switched from CANCELING to CANCELED.", f"Freeing task resources for {of_task}."):
        assert list(log.events(Line(t=0.0, c=TASK, m=text))) == []


@pytest.mark.parametrize(
    ("task", "index", "subtask", "channel"),
    [
        ("sum -> sink: Writer -> sink: Committer (2/2)#0", 1, "sum[1]", "source[1]->sum[1]"),
        ("sink: Writer -> sink: Committer (2/2)#0", 0, "sink[1]", "sum[1]->sink[1]"),
    ],
)
def test_a_barrier_has_its_channel(task: str, index: int, subtask: str, channel: str) -> None:
    handler = "org.apache.flink.streaming.runtime.io.checkpointing.SingleCheckpointBarrierHandler"
    where = f"InputChannelInfo{{gateIdx=0, inputChannelIdx={index}}}"
    text = f"{task} ({SUM}_1_0): Received barrier from channel {where} @ 1."
    [(of, received)] = WorkerLog(a_master()).events(Line(t=0.0, c=handler, m=text))
    assert of == subtask
    assert isinstance(received, events.BarrierReceived)
    assert (received.channel, received.checkpoint) == (channel, 1)


@pytest.mark.parametrize(("before", "unaligned"), [(1, True), (2, False)])
def test_a_snapshot_that_waited_for_the_barriers_of_all_inputs_is_aligned(before: int, unaligned: bool) -> None:
    log = WorkerLog(a_master())
    task = "sum -> sink: Writer -> sink: Committer (1/2)#0"
    barriers = [
        f"{task} ({SUM}_0_0): Received barrier from channel InputChannelInfo{{gateIdx=0, inputChannelIdx={index}}} @ 1."
        for index in range(2)
    ]
    taken = f"{task} - finished synchronous part of checkpoint 1. is unaligned checkpoint : true"
    lines = [*(("SingleCheckpointBarrierHandler", each) for each in barriers)]
    lines.insert(before, ("SubtaskCheckpointCoordinatorImpl", taken))
    found = [event for logger, text in lines for _, event in log.events(Line(t=0.0, c=f"org.{logger}", m=text))]
    assert [each.unaligned for each in found if isinstance(each, events.SnapshotTaken)] == [unaligned]


def test_in_at_least_once_mode_the_barrier_is_of_the_task_whose_thread_it_is() -> None:
    log = WorkerLog(a_master())
    executor = "org.apache.flink.runtime.taskexecutor.TaskExecutor"
    tracker = "org.apache.flink.streaming.runtime.io.checkpointing.CheckpointBarrierTracker"
    received = f"Received task {SUM_TASK} (1/2)#0 ({SUM}_0_0), deploy into slot with allocation id 1."
    text = "Received barrier for checkpoint 4 from channel InputChannelInfo{gateIdx=0, inputChannelIdx=1}"
    assert list(log.events(Line(t=0.0, c=executor, m=received))) == []
    [(subtask, barrier)] = log.events(Line(t=0.0, c=tracker, m=text, h=f"{SUM_TASK} (1/2)#0"))
    assert subtask == "sum[0]"
    assert isinstance(barrier, events.BarrierReceived)
    assert barrier.channel == "source[1]->sum[0]"


def test_a_task_with_one_input_begins_a_checkpoint_by_the_barrier_that_is_not_logged() -> None:
    log = WorkerLog(a_master(), tracks=True)
    begins = "Starting checkpoint 4 CheckpointOptions on task sink: Writer -> sink: Committer (2/2)#0"
    logger = "org.apache.flink.streaming.runtime.tasks.StreamTask"
    [(subtask, received)] = log.events(Line(t=0.0, c=logger, m=begins))
    assert isinstance(received, events.BarrierReceived)
    assert (subtask, received.channel, received.checkpoint) == ("sink[1]", "sum[1]->sink[1]", 4)
    assert list(log.events(Line(t=0.0, c=logger, m=begins.replace("sink: Writer", "sum -> sink: Writer")))) == []


def test_where_barriers_are_aligned_none_is_made_up() -> None:
    begins = "Starting checkpoint 4 CheckpointOptions on task sink: Writer -> sink: Committer (2/2)#0"
    logger = "org.apache.flink.streaming.runtime.tasks.StreamTask"
    assert not list(WorkerLog(a_master()).events(Line(t=0.0, c=logger, m=begins)))


def test_where_all_other_inputs_have_ended_no_barrier_is_logged_either() -> None:
    master = a_master()
    sums = [
        (GRAPH, f"{SUM_TASK} (1/2) ({SUM}_0_0) switched from {to}.") for to in ("CREATED to SCHEDULED", "X to RUNNING")
    ]
    heard([BEGUN[1], *run(2, 1), *sums], master)
    begins = "Starting checkpoint 4 CheckpointOptions on task sum -> sink: Writer -> sink: Committer (1/2)#0"
    logger = "org.apache.flink.streaming.runtime.tasks.StreamTask"
    [(subtask, received)] = WorkerLog(master, tracks=True).events(Line(t=0.0, c=logger, m=begins))
    assert isinstance(received, events.BarrierReceived)
    assert (subtask, received.channel) == ("sum[0]", "source[1]->sum[0]")


def test_a_task_whose_inputs_have_all_ended_has_a_trigger() -> None:
    master = a_master()
    master.participants[4] = ("sum[0]", "sum[1]")
    begins = "Starting checkpoint 4 CheckpointOptions on task sum -> sink: Writer -> sink: Committer (1/2)#0"
    logger = "org.apache.flink.streaming.runtime.tasks.StreamTask"
    [(subtask, received)] = WorkerLog(master).events(Line(t=0.0, c=logger, m=begins))
    assert isinstance(received, events.TriggerReceived)
    assert (subtask, received.subtask, received.checkpoint) == ("sum[0]", "sum[0]", 4)


def test_a_record_has_its_place_in_its_channel() -> None:
    log = WorkerLog(a_master())
    lines = ("source (2/2) sent 0 17, 1 300", "sum (1/2) processed 1 17")
    (_, emitted), (source, sent), (receiver, processed) = (
        found for text in lines for found in log.events(Line(t=0.0, c="holdfast.channels", m=text))
    )
    assert (source, receiver) == ("source[1]", "sum[0]")
    assert isinstance(sent, events.BatchSent)
    assert isinstance(processed, events.BatchProcessed)
    assert sent.channel == processed.channel == "source[1]->sum[0]"
    assert sent.position == processed.position == 17
    assert isinstance(emitted, events.SourceEmitted)
    assert (emitted.partition, emitted.next_offset) == (1, 301)


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
