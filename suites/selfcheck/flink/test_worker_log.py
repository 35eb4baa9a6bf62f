"""What lines of the log of a TaskManager become, and where the answer to a user stands among those of a JobManager."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from holdfast.fixtures.systems.flink import running_job
from holdfast.fixtures.systems.flink.cluster import MASTER as ROLE_OF_MASTER
from holdfast.fixtures.systems.flink.cluster import Cluster
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.running_job import Hearing, Lives
from holdfast.fixtures.systems.flink.worker_log import WorkerLog
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model import events
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointTriggered,
    Event,
    RescaleAccepted,
    RescaleRefused,
    RescaleRequested,
)
from holdfast.suites.selfcheck.flink.scripted import ScriptedLog, ScriptedProcess
from holdfast.suites.selfcheck.flink.test_logs import (
    BEGUN,
    COORDINATOR,
    GRAPH,
    JOB,
    MASTER,
    SOURCE,
    SUM,
    SUM_TASK,
    TASK,
    TASKS,
    TRIGGERED,
    a_master,
    heard,
    run,
)


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


SCHEDULER = "org.apache.flink.runtime.scheduler.adaptive.AdaptiveScheduler"
DECIDED = "Transition from state Restarting to CreatingExecutionGraph."
FORMER, REQUIRED = 3, 1
BEFORE_MS, BEHIND_MS = -1_000.0, 1_000.0
"""From the answer: long before it came, and long behind it."""
NODE = "coordinator.0"
NOW_NS, SINCE_1970_NS = 10**17, (1_795_660_711_696 + 500) * 10**6
"""Half a second behind the time that the barriers of TRIGGERED carry."""


@pytest.fixture
def clocks_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = SimpleNamespace(time_ns=lambda: SINCE_1970_NS, monotonic_ns=lambda: NOW_NS)
    monkeypatch.setattr(running_job, "time", clocks)


class Heard:
    """What is heard of one JobManager."""

    def __init__(self) -> None:
        self.log, self.recorder = ScriptedLog(), Recorder()
        self.recorder.start_clock()
        processes = {ROLE_OF_MASTER: ScriptedProcess(ROLE_OF_MASTER, self.log)}
        cluster = cast("Cluster", SimpleNamespace(processes=processes, recovers=False))
        self.logs = Hearing(cluster, self.recorder, lambda event: None)
        self.lives = Lives(cluster, self.recorder, self.logs.hear, lambda: None)
        self.master = a_master()
        self.logs.follow(self.master, self.lives)

    def write(self, after_ms: float, logger: str, text: str) -> None:
        self.log.written.append(Line(t=SINCE_1970_NS / 1e6 + after_ms, c=logger, m=text))

    def attempt(self, width: int, decided_ms: float, scheduled_ms: float) -> None:
        self.write(decided_ms, SCHEDULER, DECIDED)
        self.write(
            scheduled_ms, COORDINATOR, f"Restoring job {JOB} from Checkpoint 6 @ 1 for {JOB} located at file:/6."
        )
        for switch in ("CREATED to SCHEDULED", "SCHEDULED to DEPLOYING"):
            for task, execution in TASKS:
                self.write(scheduled_ms, GRAPH, f"{task} (1/{width}) ({execution}_0_1) switched from {switch}.")

    def order(self, *kinds: type[Event]) -> list[type[Event]]:
        self.logs.hear()
        return [type(event) for event in self.recorder.nodes[NODE] if isinstance(event, kinds)]


@pytest.mark.usefixtures("clocks_stand_still")
@pytest.mark.parametrize(
    ("width", "decided_ms", "scheduled_ms", "behind"),
    [
        (FORMER, BEFORE_MS, BEFORE_MS, False),
        (FORMER, BEFORE_MS, BEHIND_MS, False),  # Its tasks were made meanwhile.
        (FORMER, BEHIND_MS, BEHIND_MS, True),
        (REQUIRED, BEFORE_MS, BEFORE_MS, True),  # The answer was late.
        (REQUIRED, BEHIND_MS, BEHIND_MS, True),
    ],
)
def test_an_attempt_is_behind_an_answer_if_it_follows_it_or_must(
    width: int, decided_ms: float, scheduled_ms: float, *, behind: bool
) -> None:
    heard = Heard()
    heard.logs.hold(RescaleAccepted(parallelism=REQUIRED, attempt=1))
    heard.attempt(width, decided_ms, scheduled_ms)
    heard.write(BEHIND_MS, COORDINATOR, TRIGGERED)
    order = heard.order(AttemptStarted, RescaleAccepted, CheckpointTriggered)
    first = [RescaleAccepted, AttemptStarted] if behind else [AttemptStarted, RescaleAccepted]
    assert order == [*first, CheckpointTriggered]


@pytest.mark.usefixtures("clocks_stand_still")
def test_of_two_attempts_that_are_behind_an_answer_neither_is_taken_for_an_earlier_one() -> None:
    heard = Heard()
    heard.logs.hold(RescaleAccepted(parallelism=REQUIRED, attempt=1))
    heard.attempt(FORMER, BEFORE_MS, BEHIND_MS)
    heard.attempt(FORMER, BEHIND_MS, BEHIND_MS)
    heard.write(BEHIND_MS, COORDINATOR, TRIGGERED)
    order = heard.order(AttemptStarted, RescaleAccepted)
    assert order == [AttemptStarted, RescaleAccepted, AttemptStarted]


@pytest.mark.usefixtures("clocks_stand_still")
def test_an_answer_waits_for_what_was_logged_before_it_and_for_nothing_else() -> None:
    heard = Heard()
    heard.attempt(FORMER, BEFORE_MS, BEFORE_MS)
    heard.logs.hear()
    heard.logs.hold(RescaleRefused(parallelism=REQUIRED, reason="no room", attempt=1))
    heard.write(BEFORE_MS, COORDINATOR, TRIGGERED)
    assert heard.order(RescaleRefused, CheckpointTriggered) == [CheckpointTriggered]
    heard.logs.settle()
    heard.logs.settle()
    assert heard.order(RescaleRefused, CheckpointTriggered) == [CheckpointTriggered, RescaleRefused]


@pytest.mark.usefixtures("clocks_stand_still")
def test_an_answer_is_of_who_gave_it_at_the_time_when_it_did() -> None:
    heard = Heard()
    heard.logs.hold(RescaleAccepted(parallelism=REQUIRED, attempt=1))
    heard.lives.bury(ROLE_OF_MASTER, "exit code 1")
    heard.logs.settle()
    [accepted] = [event for event in heard.recorder.nodes[NODE] if isinstance(event, RescaleAccepted)]
    assert accepted.time_ns == heard.recorder.since_start_ns(NOW_NS)
    assert accepted.evidence is Evidence.BOUNDARY


def request(heard: Heard, parallelism: int) -> None:
    heard.logs.hold(RescaleRequested(parallelism=parallelism, attempt=1))
    heard.logs.hold(RescaleAccepted(parallelism=parallelism, attempt=1))


@pytest.mark.usefixtures("clocks_stand_still")
def test_a_request_is_behind_the_answer_to_the_one_before() -> None:
    heard = Heard()
    request(heard, FORMER)
    heard.write(BEFORE_MS, COORDINATOR, TRIGGERED)
    heard.logs.hear()
    request(heard, REQUIRED)
    heard.attempt(REQUIRED, BEHIND_MS, BEHIND_MS)
    heard.write(BEHIND_MS, COORDINATOR, TRIGGERED)
    answers = [RescaleRequested, RescaleAccepted]
    assert heard.order(*answers, AttemptStarted) == [*answers, *answers, AttemptStarted]


@pytest.mark.usefixtures("clocks_stand_still")
def test_an_attempt_follows_one_answer_and_waits_for_no_other() -> None:
    """The first of three requests was taken up, and then its attempt was decided."""
    heard = Heard()
    for parallelism in (FORMER, REQUIRED, 2):
        request(heard, parallelism)
    heard.attempt(FORMER, BEFORE_MS, BEHIND_MS)
    heard.write(BEHIND_MS, COORDINATOR, TRIGGERED)
    answers = [RescaleRequested, RescaleAccepted]
    assert heard.order(*answers, AttemptStarted) == [*answers, AttemptStarted, *answers, *answers]
