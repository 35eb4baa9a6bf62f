"""Histories for FINAL: bounded jobs, told from the first end of data on. Where it does not matter, nothing was read."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.events import (
    CheckpointRefused, EndOfDataReceived, EndOfDataSent, EndOfPartitionReceived, FinishReceived, OperatorFinished,
    RecoveryFailed, StateSummary, SubtaskFinished, TaskStarted, TransactionCommitted, TransactionPrecommitted,
    TriggerSent,
)  # fmt: skip
from holdfast.harness.model.job import Job, Vertex, VertexKind
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REDUCED, bounded
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, input_log
from holdfast.suites.selfcheck.oracles.lines import (
    FINISHED, RUNNING, aborted, attempt, completed, emitted, heard, of_each, sends, snapshot, submitted, switched, task,
    triggered,
)  # fmt: skip
from holdfast.suites.selfcheck.oracles.output_builder import INPUTS, STOPPED, WHOLE_A, WHOLE_B, fold, identities, units

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

ALL = tuple(f"{vertex.name}[{i}]" for vertex in STEPS.vertices for i in (0, 1))
ALL_START: list[Line] = [attempt(), *of_each(TaskStarted, *ALL), switched(RUNNING)]
"""Every subtask starts, and the job runs."""

REST = ("source[1]", *ALL[2:])
"""Everybody but the first source."""

# --- what is committed -----------------------------------------------------------------------------------------------

bad, near = exhibits("FINAL", expected=ExpectedEnd.FINISHED, job=STEPS)

bad("record-not-committed", "last interval never committed",
    switched(FINISHED), job=SUM, inputs=INPUTS, units=units([WHOLE_B], [fold("a", (0, 2), (0,))]))  # fmt: skip
bad("record-not-committed", "a row never committed",
    switched(FINISHED), inputs=input_log(2, 0), units=units(identities("0:0")))  # fmt: skip

# The end is not reached for the harness: it waits for the transaction.
bad("record-not-committed", "last transaction aborted though the job finished",
    switched(FINISHED), inputs=input_log(2, 0), units=units(identities("0:0")), end=STOPPED)  # fmt: skip
near("record-not-committed", "all committed",
     switched(FINISHED), job=SUM, inputs=INPUTS, units=units([WHOLE_B], [WHOLE_A]))  # fmt: skip


# --- finish() --------------------------------------------------------------------------------------------------------

EVERYBODY_FINISHES: list[Line] = [
    of_each(EndOfDataReceived,
            *(f"{a}[{i}]->{b}[{i}]" for a, b in (("source", "map"), ("map", "sink")) for i in (0, 1))),
    *of_each(OperatorFinished, *ALL),
]  # fmt: skip

near("finish-not-once", "every operator once", ALL_START, EVERYBODY_FINISHES, switched(FINISHED), inputs=NOTHING)
near("finish-not-once", "once in each attempt",
     ALL_START, OperatorFinished(subtask="source[0]"), ALL_START, EVERYBODY_FINISHES, switched(FINISHED),
     inputs=NOTHING)  # fmt: skip
bad("finish-not-once", "called again", of_each(OperatorFinished, "source[0]", "source[0]"))
bad("finish-not-once", "one left out", ALL_START, EVERYBODY_FINISHES[:-1], switched(FINISHED), inputs=NOTHING)
near("finish-not-once", "one had finished before",
     attempt(), task("source[0]", finished=True), task("source[1]"), OperatorFinished(subtask="source[1]"),
     switched(FINISHED), inputs=NOTHING)  # fmt: skip

near("finished-early", "after the end of all inputs",
     [EndOfDataReceived(channel=f"source[{i}]->sum[0]") for i in (0, 1)], OperatorFinished(subtask="sum[0]"),
     job=SUM)  # fmt: skip
bad("finished-early", "after the end of one input",
    EndOfDataReceived(channel="source[0]->sum[0]"), OperatorFinished(subtask="sum[0]"), job=SUM)  # fmt: skip
bad("finished-early", "with records unread",
    task("source[0]", positions=((0, 0),)), emitted(0, 9), OperatorFinished(subtask="source[0]"),
    inputs=input_log(10, 10))  # fmt: skip
near("finished-early", "with every record read",
     task("source[0]", positions=((0, 9),)), emitted(9, 10), OperatorFinished(subtask="source[0]"),
     inputs=input_log(10, 10))  # fmt: skip

bad("emitted-after-end", "flushed behind the end", EndOfDataSent(channel=BELOW), sends(BELOW, 0))
near("emitted-after-end", "flushed before the end", sends(BELOW, 0), EndOfDataSent(channel=BELOW))

PARTITION_ENDED = EndOfPartitionReceived(channel=ABOVE)

bad("channel-ends-early", "channel ends with its data under way",
    EndOfDataReceived(channel="source[1]->sum[0]"), PARTITION_ENDED)  # fmt: skip
bad("channel-ends-early", "its data ended in another attempt",
    EndOfDataReceived(channel=ABOVE), attempt(), PARTITION_ENDED)  # fmt: skip
near("channel-ends-early", "channel ends behind its data", EndOfDataReceived(channel=ABOVE), PARTITION_ENDED)

HELD: list[Line] = [
    snapshot("reduce[0]", state=StateSummary(keys=3, records=3)), EndOfDataReceived(channel="sum[0]->reduce[0]"),
    OperatorFinished(subtask="reduce[0]"),
]  # fmt: skip

bad("held-after-finish", "rows still held",
    *HELD, snapshot("reduce[0]", 2, state=StateSummary(keys=1, records=1)), job=REDUCED)  # fmt: skip
near("held-after-finish", "nothing held",
     *HELD, snapshot("reduce[0]", 2, state=StateSummary(keys=0, records=0)), job=REDUCED)  # fmt: skip

# --- the end of a task -----------------------------------------------------------------------------------------------

SOURCE, SINK = "source[0]", "sink[0]"

SOURCE_FINISHED = OperatorFinished(subtask=SOURCE)

near("exit-before-final", "a later checkpoint covers the final one",
     SOURCE_FINISHED, snapshot(SOURCE, 3), heard(SOURCE, 4), SubtaskFinished(subtask=SOURCE))  # fmt: skip
bad("exit-before-final", "the checkpoint before finish does not count",
    snapshot(SOURCE, 3), SOURCE_FINISHED, heard(SOURCE, 3), SubtaskFinished(subtask=SOURCE))  # fmt: skip
bad("exit-before-final", "ended at once", SOURCE_FINISHED, SubtaskFinished(subtask=SOURCE))

SINK_ENDS: list[Line] = [
    EndOfDataReceived(channel="map[0]->sink[0]"), OperatorFinished(subtask=SINK), snapshot(SINK, 3),
    TransactionPrecommitted(subtask=SINK, transaction="t1", checkpoint=3, records=1), heard(SINK, 3),
]  # fmt: skip

near("exit-uncommitted", "ended after its commit",
     *SINK_ENDS, TransactionCommitted(subtask="sink[0]", transaction="t1"), SubtaskFinished(subtask=SINK))  # fmt: skip
bad("exit-uncommitted", "ended before its commit", *SINK_ENDS, SubtaskFinished(subtask=SINK))

# --- checkpoints in between ------------------------------------------------------------------------------------------

FINISH_RECEIVED = FinishReceived(subtask=SOURCE)

near("refused-after-finish", "checkpoints go on", ALL_START, FINISH_RECEIVED, triggered(1, *REST))
bad("refused-after-finish", "checkpoints stop though they should not",
    ALL_START, FINISH_RECEIVED,
    CheckpointRefused(request=1, origin=CheckpointOrigin.PERIODIC, reason=FailureReason.TASKS_NOT_RUNNING))  # fmt: skip

near("triggered-after-finish", "checkpoints stop",
     ALL_START, triggered(1, *ALL), FINISH_RECEIVED,
     CheckpointRefused(request=1, origin=CheckpointOrigin.PERIODIC, reason=FailureReason.TASKS_NOT_RUNNING),
     options=STOPS)  # fmt: skip
bad("triggered-after-finish", "checkpoints go on though they should not",
    ALL_START, FINISH_RECEIVED, triggered(1, *REST), options=STOPS)  # fmt: skip

near("wrong-participants", "the finished of the last attempt runs again",
     ALL_START, FINISH_RECEIVED, triggered(1, *REST), ALL_START, triggered(2, *ALL))  # fmt: skip
bad("wrong-participants", "the finished is asked", ALL_START, FINISH_RECEIVED, triggered(1, *ALL))
bad("wrong-participants", "one that runs is not asked", ALL_START, FINISH_RECEIVED, triggered(1, *REST[1:]))

near("triggered-not-first", "the one behind the finished is triggered",
     ALL_START, FINISH_RECEIVED, triggered(1, *REST),
     [TriggerSent(checkpoint=1, subtask=subtask) for subtask in ("source[1]", "map[0]")])  # fmt: skip
bad("triggered-not-first", "one behind that is triggered",
    ALL_START, FINISH_RECEIVED, triggered(1, *REST), TriggerSent(checkpoint=1, subtask=SINK))  # fmt: skip

UNION: list[Line] = [ALL_START, triggered(1, *ALL), SOURCE_FINISHED, snapshot("source[0]"), snapshot("source[1]")]
"""Both sources take checkpoint 1, the first of them after finish()."""

bad("partial-union", "one of two had finished", *UNION, completed(), job=UNION_STATE)
near("partial-union", "it does not complete", *UNION, aborted(1, FailureReason.TASK_CLOSING), job=UNION_STATE)
near("partial-union", "both had finished",
     ALL_START, triggered(1, *ALL), of_each(OperatorFinished, "source[0]", "source[1]"), snapshot("source[0]"),
     snapshot("source[1]"), completed(), job=UNION_STATE)  # fmt: skip

near("running-before-finished", "finished behind finished",
     attempt(), [task(name, finished=True) for name in ("source[0]", "map[0]")])  # fmt: skip
bad("running-before-finished", "finished behind running", attempt(), task("source[0]"), task("map[0]", finished=True))

MAP_FINISHED = ("source[1]", *ALL[3:])
ANOTHER = 1_000_001
EDIT = (FaultSpec("submit", Target(Role.COORDINATOR), parameters={"edit": "source->map"}),)

# Some still ran when checkpoint 3 was taken; the job is submitted again with a new operator behind its source.
bad("running-before-finished", "new operator in front of a finished one",
    submitted(), ALL_START, triggered(3, *MAP_FINISHED), completed(3),
    at("coordinator.1", submitted("chk-3", 3), attempt=1_000_000), attempt(3, number=ANOTHER), faults=EDIT)  # fmt: skip
near("running-before-finished", "new operator refused",
     submitted(), ALL_START, triggered(3, *MAP_FINISHED), completed(3),
     at("coordinator.1", submitted("chk-3", 3), attempt=1_000_000),
     RecoveryFailed(checkpoint=3, reason="map[0] had finished in it"), faults=EDIT)  # fmt: skip
near("running-before-finished", "new operator behind a finished one",
     submitted(), ALL_START, triggered(3, *REST), completed(3),
     at("coordinator.1", submitted("chk-3", 3), attempt=1_000_000), attempt(3, number=ANOTHER),
     faults=EDIT)  # fmt: skip
