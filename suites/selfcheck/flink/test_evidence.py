"""What lines of Flink's log become."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.fixtures.systems.flink.evidence import Deployed, MasterLog, WorkerLog
from holdfast.fixtures.systems.flink.log import Line
from holdfast.harness.model import events
from holdfast.harness.model.events import Event, JobStatus

JOB = "70ef2f4c6ca3df65e5942306612d1ef9"
OTHER = "00000000000000000000000000000000"
SOURCE = "4972c980c6eacda63d047eecc7a9e826_e5a72f353fc1e6bbf3bd96a41384998c"
SUM = "4972c980c6eacda63d047eecc7a9e826_239c254b5ff89532b198266322bc819f"
COORDINATOR = "org.apache.flink.runtime.checkpoint.CheckpointCoordinator"
GRAPH = "org.apache.flink.runtime.executiongraph.ExecutionGraph"
BEGUN = (
    (GRAPH, f"Job r1 ({JOB}) switched from state CREATED to RUNNING."),
    (COORDINATOR, "No checkpoint found during restore."),
    (
        GRAPH,
        f"Deploying Source: source (1/2) (attempt #0) with attempt id {SOURCE}_0_0 and vertex id "
        "e5a72f353fc1e6bbf3bd96a41384998c_0 to taskmanager-2 @ localhost (dataPort=44565) with allocation id 1",
    ),
    (
        GRAPH,
        f"Deploying sum -> sink: Writer -> sink: Committer (1/2) (attempt #0) with attempt id {SUM}_0_0 and vertex id "
        "239c254b5ff89532b198266322bc819f_0 to taskmanager-2 @ localhost (dataPort=44565) with allocation id 1",
    ),
)
TRIGGERED = f"Triggering checkpoint 1 (type=CheckpointType{{name='Checkpoint'}}) @ 1795660711696 for job {JOB}."


def said(lines: Sequence[tuple[str, str]], master: MasterLog) -> list[Event | Deployed]:
    return [found for logger, text in lines for found in master.events(Line(t=0.0, c=logger, m=text))]


def test_a_job_begins_is_deployed_and_goes_on_from_a_checkpoint() -> None:
    master = MasterLog(JOB, parallelism=2)
    switched, began, deployed = said(BEGUN, master)
    assert isinstance(switched, events.JobSwitched)
    assert switched.status is JobStatus.RUNNING
    assert isinstance(began, events.AttemptStarted)
    assert (began.restored_checkpoint, began.attempt) == (None, 1)
    assert deployed == Deployed(subtask=0, host="taskmanager-2")
    restored = f"Restoring job {JOB} from Checkpoint 5 @ 1795660713777 for {JOB} located at file:/cp/chk-5."
    [again] = said([(COORDINATOR, restored)], master)
    assert isinstance(again, events.AttemptStarted)
    assert (again.restored_checkpoint, again.attempt) == (5, 2)


def test_a_checkpoint_from_its_trigger_to_its_end() -> None:
    master = MasterLog(JOB, parallelism=1)
    said(BEGUN, master)
    acknowledged = f"Received acknowledge message for checkpoint 1 from task {SUM}_0_0 of job {JOB} at tm2 @ localhost."
    late = f"Received message for an unknown checkpoint 1 from task {SOURCE}_0_0 of job {JOB} at tm2 @ localhost."
    completed = (
        f"Completed checkpoint 1 for job {JOB} (7739 bytes, checkpointDuration=1525 ms, finalizationTime=21 ms)."
    )
    master.positions[1] = {1: 7, 0: 3}
    lines = [(COORDINATOR, text) for text in (TRIGGERED, acknowledged, completed, late)]
    triggered, ack, end, unknown = said(lines, master)
    assert isinstance(triggered, events.CheckpointTriggered)
    assert triggered.participants == ("source[0]", "sum[0]")
    assert isinstance(ack, events.AckReceived)
    assert (ack.subtask, ack.outcome, ack.attempt) == ("sum[0]", events.AckOutcome.SUCCESS, 1)
    assert isinstance(end, events.CheckpointCompleted)
    assert end.positions == (3, 7)
    assert isinstance(unknown, events.AckReceived)
    assert unknown.outcome is events.AckOutcome.UNKNOWN


def test_what_is_said_of_another_job_is_left_out() -> None:
    assert said([(COORDINATOR, TRIGGERED.replace(JOB, OTHER))], MasterLog(JOB, parallelism=1)) == []


def test_a_failed_checkpoint_is_over() -> None:
    failed = f"Failed to trigger or complete checkpoint 6 for job {JOB}. (0 consecutive failed attempts so far)"
    manager = "org.apache.flink.runtime.checkpoint.CheckpointFailureManager"
    [aborted] = said([(manager, failed)], MasterLog(JOB, parallelism=1))
    assert isinstance(aborted, events.CheckpointAborted)
    assert aborted.checkpoint == 6


def test_user_code_tells_positions_and_the_log_which_attempt() -> None:
    master = MasterLog(JOB, parallelism=2)
    log = WorkerLog(master)
    executor = "org.apache.flink.runtime.taskexecutor.TaskExecutor"
    received = f"Received task Source: source (2/2)#3 ({SOURCE}_1_3), deploy into slot with allocation id 1."
    report = '{"event":"snapshot","vertex":"source","subtask":1,"attempt":-1,"checkpoint":4,"positions":{"1":500}}'
    assert list(log.events(Line(t=0.0, c=executor, m=received))) == []
    [(subtask, taken)] = log.events(Line(t=0.0, c="holdfast", m=report))
    assert subtask == 1
    assert isinstance(taken, events.SnapshotTaken)
    assert (taken.subtask, taken.checkpoint, taken.positions, taken.attempt) == ("source[1]", 4, ((1, 500),), 4)
    assert master.positions == {4: {1: 500}}


def test_a_barrier_has_its_channel() -> None:
    handler = "org.apache.flink.streaming.runtime.io.checkpointing.SingleCheckpointBarrierHandler"
    text = (
        f"sum -> sink: Writer -> sink: Committer (2/2)#0 ({SUM}_1_0): Received barrier from channel "
        "InputChannelInfo{gateIdx=0, inputChannelIdx=1} @ 1."
    )
    [(subtask, received)] = WorkerLog(MasterLog(JOB, parallelism=2)).events(Line(t=0.0, c=handler, m=text))
    assert subtask == 1
    assert isinstance(received, events.BarrierReceived)
    assert (received.channel, received.checkpoint) == ("source[1]->sum[1]", 1)
