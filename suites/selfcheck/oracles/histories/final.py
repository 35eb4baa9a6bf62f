"""Histories for FINAL: bounded jobs, told from the first end of data on. Where it does not matter, nothing was read."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Job, Vertex, VertexKind
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REDUCED, bounded
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.output_builder import INPUTS, STOPPED, WHOLE_A, WHOLE_B, fold, identities, units

bad, near = exhibits("FINAL")

SUM, STEPS = bounded(KEYED_SUM), bounded(FORWARD)
UNION_STATE = Job(
    name="union-state",
    vertices=(Vertex("source", VertexKind.SOURCE, bounded=True, union_state=True), *FORWARD.vertices[1:]),
    edges=FORWARD.edges,
    contract=FORWARD.contract,
)
STOPS = {
    "execution.checkpointing.checkpoints-after-tasks-finish": "false",
    "pipeline.operator-chaining.enabled": "false",
}
NOTHING = input_log(0, 0)
BELOW = "source[0]->map[0]"
ABOVE = "source[0]->sum[0]"


def told(*lines: Line, job: Job = STEPS, **fields: object) -> History:
    return story(*lines, job=job, expected=ExpectedEnd.FINISHED, **fields)  # type: ignore[arg-type]


def attempt(job: Job = STEPS) -> list[events.Event]:
    """Every subtask of two starts, and the job runs."""
    names = [f"{vertex.name}[{i}]" for vertex in job.vertices for i in (0, 1)]
    return [
        events.AttemptStarted(),
        *(events.TaskStarted(subtask=name) for name in names),
        events.JobSwitched(status=events.JobStatus.RUNNING),
    ]


def finished(*subtasks: str) -> list[events.Event]:
    return [events.OperatorFinished(subtask=subtask) for subtask in subtasks]


def triggered(checkpoint: int, *participants: str) -> events.CheckpointTriggered:
    return events.CheckpointTriggered(checkpoint=checkpoint, participants=participants)


def heard(*subtasks: str) -> list[events.Event]:
    return [events.FinishReceived(subtask=subtask) for subtask in subtasks]


ALL = tuple(f"{vertex.name}[{i}]" for vertex in STEPS.vertices for i in (0, 1))
REST = ("source[1]", *ALL[2:])
"""Everybody but the first source."""


def over() -> events.JobSwitched:
    return events.JobSwitched(status=events.JobStatus.FINISHED)


# --- what is committed -----------------------------------------------------------------------------------------------


@bad("record-not-committed")
def last_interval_never_committed() -> History:
    return told(over(), job=SUM, inputs=INPUTS, units=units([WHOLE_B], [fold("a", (0, 2), (0,))]))


@bad("record-not-committed")
def a_row_never_committed() -> History:
    return told(over(), inputs=input_log(2, 0), units=units(identities("0:0")))


@bad("record-not-committed")
def last_transaction_aborted_though_the_job_finished() -> History:
    """The end is not reached for the harness: it waits for the transaction."""
    return told(over(), inputs=input_log(2, 0), units=units(identities("0:0")), end=STOPPED)


@near("record-not-committed")
def all_committed() -> History:
    return told(over(), job=SUM, inputs=INPUTS, units=units([WHOLE_B], [WHOLE_A]))


# --- finish() --------------------------------------------------------------------------------------------------------


def everybody_finishes(*left_out: str) -> list[events.Event]:
    ends = [events.EndOfDataReceived(channel=f"{above}[{i}]->{below}[{i}]") for above, below in PAIRS for i in (0, 1)]
    return [*ends, *finished(*(name for name in ALL if name not in left_out))]


PAIRS = (("source", "map"), ("map", "sink"))


@near("finish-not-once")
def every_operator_once() -> History:
    return told(attempt(), everybody_finishes(), over(), inputs=NOTHING)


@near("finish-not-once")
def once_in_each_attempt() -> History:
    return told(attempt(), finished("source[0]"), attempt(), everybody_finishes(), over(), inputs=NOTHING)


@bad("finish-not-once")
def called_again() -> History:
    return told(finished("source[0]", "source[0]"))


@bad("finish-not-once")
def one_left_out() -> History:
    return told(attempt(), everybody_finishes("sink[1]"), over(), inputs=NOTHING)


@near("finish-not-once")
def one_had_finished_before() -> History:
    before = events.TaskStarted(subtask="source[0]", finished=True)
    return told(
        events.AttemptStarted(),
        before,
        events.TaskStarted(subtask="source[1]"),
        finished("source[1]"),
        over(),
        inputs=NOTHING,
    )


@near("finished-early")
def after_the_end_of_all_inputs() -> History:
    ends = [events.EndOfDataReceived(channel=f"source[{i}]->sum[0]") for i in (0, 1)]
    return told(ends, finished("sum[0]"), job=SUM)


@bad("finished-early")
def after_the_end_of_one_input() -> History:
    return told(events.EndOfDataReceived(channel="source[0]->sum[0]"), finished("sum[0]"), job=SUM)


@bad("finished-early")
def with_records_unread() -> History:
    started = events.TaskStarted(subtask="source[0]", positions=((0, 0),))
    read = events.SourceEmitted(subtask="source[0]", partition=0, first_offset=0, next_offset=9)
    return told(started, read, finished("source[0]"), inputs=input_log(10, 10))


@near("finished-early")
def with_every_record_read() -> History:
    started = events.TaskStarted(subtask="source[0]", positions=((0, 9),))
    read = events.SourceEmitted(subtask="source[0]", partition=0, first_offset=9, next_offset=10)
    return told(started, read, finished("source[0]"), inputs=input_log(10, 10))


@bad("emitted-after-end")
def flushed_behind_the_end() -> History:
    return told(events.EndOfDataSent(channel=BELOW), events.BatchSent(channel=BELOW, position=0, records=1))


@near("emitted-after-end")
def flushed_before_the_end() -> History:
    return told(events.BatchSent(channel=BELOW, position=0, records=1), events.EndOfDataSent(channel=BELOW))


@bad("channel-ends-early")
def channel_ends_with_its_data_under_way() -> History:
    return told(events.EndOfDataReceived(channel="source[1]->sum[0]"), events.EndOfPartitionReceived(channel=ABOVE))


@bad("channel-ends-early")
def its_data_ended_in_another_attempt() -> History:
    return told(
        events.EndOfDataReceived(channel=ABOVE), events.AttemptStarted(), events.EndOfPartitionReceived(channel=ABOVE)
    )


@near("channel-ends-early")
def channel_ends_behind_its_data() -> History:
    return told(events.EndOfDataReceived(channel=ABOVE), events.EndOfPartitionReceived(channel=ABOVE))


def _held(keys: int) -> History:
    held = events.SnapshotTaken(subtask="reduce[0]", checkpoint=2, state=events.StateSummary(keys=keys, records=keys))
    early = events.SnapshotTaken(subtask="reduce[0]", checkpoint=1, state=events.StateSummary(keys=3, records=3))
    end = events.EndOfDataReceived(channel="sum[0]->reduce[0]")
    return told(early, end, finished("reduce[0]"), held, job=REDUCED)


@bad("held-after-finish")
def rows_still_held() -> History:
    return _held(1)


@near("held-after-finish")
def nothing_held() -> History:
    return _held(0)


# --- the end of a task -----------------------------------------------------------------------------------------------


def took(subtask: str, checkpoint: int) -> events.SnapshotTaken:
    return events.SnapshotTaken(subtask=subtask, checkpoint=checkpoint)


def hears(subtask: str, checkpoint: int) -> events.NotificationReceived:
    return events.NotificationReceived(subtask=subtask, checkpoint=checkpoint, completed=True)


SOURCE, SINK = "source[0]", "sink[0]"


@near("exit-before-final")
def a_later_checkpoint_covers_the_final_one() -> History:
    return told(finished(SOURCE), took(SOURCE, 3), hears(SOURCE, 4), events.SubtaskFinished(subtask=SOURCE))


@bad("exit-before-final")
def the_checkpoint_before_finish_does_not_count() -> History:
    return told(took(SOURCE, 3), finished(SOURCE), hears(SOURCE, 3), events.SubtaskFinished(subtask=SOURCE))


@bad("exit-before-final")
def ended_at_once() -> History:
    return told(finished(SOURCE), events.SubtaskFinished(subtask=SOURCE))


def _sink_ends(*committed: str) -> History:
    closed = events.TransactionPrecommitted(subtask=SINK, transaction="t1", checkpoint=3, records=1)
    commits = [events.TransactionCommitted(subtask=SINK, transaction=name) for name in committed]
    end = events.EndOfDataReceived(channel="map[0]->sink[0]")
    return told(
        end, finished(SINK), took(SINK, 3), closed, hears(SINK, 3), commits, events.SubtaskFinished(subtask=SINK)
    )  # fmt: skip


@near("exit-uncommitted")
def ended_after_its_commit() -> History:
    return _sink_ends("t1")


@bad("exit-uncommitted")
def ended_before_its_commit() -> History:
    return _sink_ends()


# --- checkpoints in between ------------------------------------------------------------------------------------------


def refused(reason: FailureReason = FailureReason.TASKS_NOT_RUNNING) -> events.CheckpointRefused:
    return events.CheckpointRefused(request=1, origin=CheckpointOrigin.PERIODIC, reason=reason)


@near("refused-after-finish")
def checkpoints_go_on() -> History:
    return told(attempt(), heard(SOURCE), triggered(1, *REST))


@bad("refused-after-finish")
def checkpoints_stop_though_they_should_not() -> History:
    return told(attempt(), heard(SOURCE), refused())


@near("triggered-after-finish")
def checkpoints_stop() -> History:
    return told(attempt(), triggered(1, *ALL), heard(SOURCE), refused(), options=STOPS)


@bad("triggered-after-finish")
def checkpoints_go_on_though_they_should_not() -> History:
    return told(attempt(), heard(SOURCE), triggered(1, *REST), options=STOPS)


@near("wrong-participants")
def the_finished_of_the_last_attempt_runs_again() -> History:
    return told(attempt(), heard(SOURCE), triggered(1, *REST), attempt(), triggered(2, *ALL))


@bad("wrong-participants")
def the_finished_is_asked() -> History:
    return told(attempt(), heard(SOURCE), triggered(1, *ALL))


@bad("wrong-participants")
def one_that_runs_is_not_asked() -> History:
    return told(attempt(), heard(SOURCE), triggered(1, *REST[1:]))


@near("triggered-not-first")
def the_one_behind_the_finished_is_triggered() -> History:
    triggers = [events.TriggerSent(checkpoint=1, subtask=subtask) for subtask in ("source[1]", "map[0]")]
    return told(attempt(), heard(SOURCE), triggered(1, *REST), triggers)


@bad("triggered-not-first")
def one_behind_that_is_triggered() -> History:
    return told(attempt(), heard(SOURCE), triggered(1, *REST), events.TriggerSent(checkpoint=1, subtask=SINK))


def _union(*ending: events.Event) -> History:
    """Both sources take checkpoint 1, the first of them after finish()."""
    taken = [took("source[0]", 1), took("source[1]", 1)]
    return told(attempt(), triggered(1, *ALL), finished(SOURCE), taken, ending, job=UNION_STATE)


@bad("partial-union")
def one_of_two_had_finished() -> History:
    return _union(events.CheckpointCompleted(checkpoint=1))


@near("partial-union")
def it_does_not_complete() -> History:
    return _union(events.CheckpointAborted(checkpoint=1, reason=FailureReason.TASK_CLOSING))


@near("partial-union")
def both_had_finished() -> History:
    taken = [took("source[0]", 1), took("source[1]", 1)]
    ends = finished("source[0]", "source[1]")
    return told(attempt(), triggered(1, *ALL), ends, taken, events.CheckpointCompleted(checkpoint=1), job=UNION_STATE)


@near("running-before-finished")
def finished_behind_finished() -> History:
    return told(
        events.AttemptStarted(), [events.TaskStarted(subtask=name, finished=True) for name in ("source[0]", "map[0]")]
    )


@bad("running-before-finished")
def finished_behind_running() -> History:
    return told(
        events.AttemptStarted(),
        events.TaskStarted(subtask="source[0]"),
        events.TaskStarted(subtask="map[0]", finished=True),
    )


def submitted_again(running: Sequence[str], *lines: Line) -> History:
    """These still ran when checkpoint 3 was taken; the job is submitted again with a new operator behind its source."""
    edit = FaultSpec("submit", Target(Role.COORDINATOR), parameters={"edit": "source->map"})
    return told(
        events.JobSubmitted(),
        *attempt(),
        triggered(3, *running),
        events.CheckpointCompleted(checkpoint=3),
        at("coordinator.1", events.JobSubmitted(path="chk-3", checkpoint=3), 1_000_000),
        *lines,
        faults=(edit,),
    )


MAP_FINISHED = ("source[1]", *ALL[3:])
ANOTHER = 1_000_001


@bad("running-before-finished")
def new_operator_in_front_of_a_finished_one() -> History:
    return submitted_again(MAP_FINISHED, events.AttemptStarted(attempt=ANOTHER, restored_checkpoint=3))


@near("running-before-finished")
def new_operator_refused() -> History:
    return submitted_again(MAP_FINISHED, events.RecoveryFailed(checkpoint=3, reason="map[0] had finished in it"))


@near("running-before-finished")
def new_operator_behind_a_finished_one() -> History:
    return submitted_again(REST, events.AttemptStarted(attempt=ANOTHER, restored_checkpoint=3))
