"""Histories for PROGRESS and LIVE: records that do not go on, and the end of a run. Partitions have ten records."""

from __future__ import annotations

from holdfast.harness.model.events import (
    ChannelBlocked, ChannelUnblocked, EndOfPartitionReceived, InputRead, JobStatus, OperatorFinished, SplitsAssigned,
    SplitsReceived, SubtaskFinished,
)  # fmt: skip
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import CommittedRows, FoldRow
from holdfast.suites.selfcheck.oracles.builder import MS, Line, exhibits, undecided
from holdfast.suites.selfcheck.oracles.histories.standing_job import ALL_RUN, WITHOUT_CHECKPOINTS
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import (
    RUNNING, Barrier, aborted, attempt, completed, delivers, died, emitted, heard, sends, submitted, switched, task,
    triggered,
)  # fmt: skip

# --- PROGRESS: a job that runs, and records that do not go on. Each of two partitions has ten records -----------------


SOURCE = "source[1]"
CHANNEL = "source[1]->sum[0]"
BELOW = "sum[0]->sink[0]"

READING: dict[int, list[Line]] = {
    n: [attempt(), *(task(each, positions=((1, n),) if each == SOURCE else ()) for each in SUBTASKS), switched(RUNNING)]
    for n in (0, 4, 10)
}

bad, near = exhibits("PROGRESS", options=WITHOUT_CHECKPOINTS)

bad("source-not-reading", "it never reads", READING[0])

READ = InputRead(subtask=SOURCE, partition=1, first_offset=0)

bad("source-not-reading", "it read in the attempt before", READING[0], READ, READING[4])
near("source-not-reading", "it reads", READING[0], READ)
near("source-not-reading", "it has read everything", READING[0], READ, READING[10])
near("source-not-reading", "it dies", READING[0], READ, READING[0], died("worker-1"))

ONE_ASSIGNED, OTHER_ASSIGNED, BOTH_ASSIGNED = (
    SplitsAssigned(node="coordinator.0", subtask=SOURCE, splits=splits) for splits in ((1,), (3,), (1, 3))
)  # fmt: skip
ONE_RECEIVED, OTHER_RECEIVED = (SplitsReceived(subtask=SOURCE, splits=splits) for splits in ((1,), (3,)))
LISTED: list[Line] = [ALL_RUN, READ]
"""Splits are sent again every 100 ms."""

HEARTBEATS = {**WITHOUT_CHECKPOINTS, "heartbeat.interval": "100 ms"}

bad("split-not-received", "it gets no split", *LISTED, ONE_ASSIGNED, 100, ONE_ASSIGNED, options=HEARTBEATS)
bad("split-not-received", "it gets one of two", *LISTED, BOTH_ASSIGNED, ONE_RECEIVED, options=HEARTBEATS)
near("split-not-received", "it gets both",
     *LISTED, BOTH_ASSIGNED, ONE_RECEIVED, OTHER_ASSIGNED, OTHER_RECEIVED, options=HEARTBEATS)  # fmt: skip
near("split-not-received", "a third is assigned at the end",
     *LISTED, ONE_ASSIGNED, ONE_RECEIVED, 900, died("worker-1"), OTHER_ASSIGNED, options=HEARTBEATS)  # fmt: skip

BOUNDED: list[Line] = [READING[0], emitted(0, 10, subtask=SOURCE, partition=1)]

bad("source-not-finished", "it reads to the end and stays", *BOUNDED, expected=ExpectedEnd.FINISHED)
near("source-not-finished", "it finishes", *BOUNDED, OperatorFinished(subtask=SOURCE), expected=ExpectedEnd.FINISHED)
near("source-not-finished", "another has read a part",
     *BOUNDED, OperatorFinished(subtask=SOURCE), READING[0], emitted(0, 9, subtask=SOURCE, partition=1),
     expected=ExpectedEnd.FINISHED)  # fmt: skip

ENDED: list[Line] = [
    ALL_RUN, emitted(0, 10, subtask=SOURCE, partition=1), OperatorFinished(subtask=SOURCE),
    SubtaskFinished(subtask=SOURCE),
]  # fmt: skip
"""A source has ended."""

bad("end-not-passed-on", "one behind it hears nothing",
    *ENDED, EndOfPartitionReceived(channel=CHANNEL), expected=ExpectedEnd.FINISHED)  # fmt: skip
near("end-not-passed-on", "both behind it hear of it",
     *ENDED, *(EndOfPartitionReceived(channel=each) for each in (CHANNEL, "source[1]->sum[1]")),
     expected=ExpectedEnd.FINISHED)  # fmt: skip
near("end-not-passed-on", "the other is blocked",
     *ENDED, EndOfPartitionReceived(channel=CHANNEL), ChannelBlocked(channel="source[1]->sum[1]", checkpoint=1),
     expected=ExpectedEnd.FINISHED)  # fmt: skip
near("end-not-passed-on", "the other has ended",
     *ENDED, EndOfPartitionReceived(channel=CHANNEL), SubtaskFinished(subtask="sum[1]"),
     EndOfPartitionReceived(channel="sum[1]->sink[1]"), expected=ExpectedEnd.FINISHED)  # fmt: skip

bad("channel-not-read", "a batch waits",
    ALL_RUN, sends(CHANNEL, 0), delivers(CHANNEL, 0), sends(CHANNEL, 1), unreached="nothing moves")  # fmt: skip
bad("channel-not-read", "a barrier waits while another channel is blocked",
    ALL_RUN, sends(CHANNEL, Barrier(1)), delivers("source[0]->sum[0]", Barrier(1)),
    ChannelBlocked(channel="source[0]->sum[0]", checkpoint=1), unreached="nothing moves")  # fmt: skip
near("channel-not-read", "every batch is taken",
     ALL_RUN, sends(CHANNEL, 0), delivers(CHANNEL, 0), sends(CHANNEL, Barrier(1)), delivers(CHANNEL, Barrier(1)),
     unreached="nothing moves")  # fmt: skip
near("channel-not-read", "its channel is blocked",
     ALL_RUN, ChannelBlocked(channel=CHANNEL, checkpoint=1), sends(CHANNEL, 0), unreached="nothing moves")  # fmt: skip
near("channel-not-read", "its receiver waits for the one below",
     ALL_RUN, sends(CHANNEL, 0), sends(BELOW, 0), ChannelBlocked(channel=BELOW, checkpoint=1),
     unreached="nothing moves")  # fmt: skip
near("channel-not-read", "its receiver is dead",
     ALL_RUN, sends(CHANNEL, 0), died("worker-0"), unreached="nothing moves")  # fmt: skip

# --- LIVE: the end of a run over two partitions of ten records --------------------------------------------------------

LEFT = "source[0]->sum[0]"
DRAINED = (10, 10)

COMPLETE: dict[int, list[Line]] = {n: [triggered(n, *SUBTASKS), completed(n, *DRAINED)] for n in range(1, 5)}

bad, near = exhibits("LIVE", attempt(), end=RunEnd(True, "", healed_ns=0 * MS, ended_ns=10_000 * MS))

bad("end-not-reached", "does not end",
    COMPLETE[1], COMPLETE[2],
    end=RunEnd(False, "0 of 2 checkpoints completed", healed_ns=0 * MS, ended_ns=10_000 * MS))  # fmt: skip
bad("end-not-reached", "does not fail",
    expected=ExpectedEnd.FAILED,
    end=RunEnd(False, "0 of 2 checkpoints completed", healed_ns=0 * MS, ended_ns=10_000 * MS))  # fmt: skip
bad("failed-by-itself", "an error of its own", switched(RUNNING, JobStatus.FAILED),
    end=RunEnd(False, "the job failed: KeyError", ended_ns=10_000 * MS, job_error="KeyError: 'EUR'"))  # fmt: skip
near("end-not-reached", "ends", COMPLETE[1], COMPLETE[2])
near("failed-by-itself", "ends in spite of an error", switched(RUNNING),
     COMPLETE[1], COMPLETE[2], end=RunEnd(True, ended_ns=10_000 * MS, job_error="KeyError: 'EUR'"))  # fmt: skip

bad("no-output", "writes nothing",
    COMPLETE[1], COMPLETE[2], end=RunEnd(True, ended_ns=10_000 * MS, wrote_nothing="no output was seen"))  # fmt: skip
near("no-output", "writes a row",
     COMPLETE[1], COMPLETE[2], units=(CommittedRows("unit-0", 1, (FoldRow("a", 1, (1, 0), 0),)),))  # fmt: skip

bad("no-new-checkpoints", "one checkpoint after the heal",
    COMPLETE[1], 100, COMPLETE[2], end=RunEnd(True, "", healed_ns=50 * MS, ended_ns=10_000 * MS))  # fmt: skip
near("no-new-checkpoints", "two checkpoints after the heal",
     COMPLETE[1], 100, COMPLETE[2], COMPLETE[3],
     end=RunEnd(True, "", healed_ns=50 * MS, ended_ns=10_000 * MS))  # fmt: skip

bad("input-not-drained", "stops short", COMPLETE[1], triggered(2, *SUBTASKS), completed(2, 10, 9))
near("input-not-drained", "drains", triggered(1, *SUBTASKS), completed(1, 3, 4), COMPLETE[2])

undecided("LIVE", "positions unknown",
          attempt(), triggered(1, *SUBTASKS), completed(1, 3, 4), triggered(2, *SUBTASKS), completed(2),
          end=RunEnd(True, "", healed_ns=0 * MS, ended_ns=10_000 * MS))  # fmt: skip

BLOCKS: list[Line] = [COMPLETE[1], COMPLETE[2], triggered(3, *SUBTASKS), ChannelBlocked(channel=LEFT, checkpoint=3)]
"""A channel is blocked for checkpoint 3, after two that completed."""

bad("channel-left-blocked", "blocked after the abort", *BLOCKS, aborted(3), heard("sum[0]", 3, completed=False))
bad("channel-left-blocked", "blocked though a later one completed", *BLOCKS, COMPLETE[4])
near("channel-left-blocked", "unblocked", *BLOCKS, ChannelUnblocked(channel=LEFT, checkpoint=3))

# The next job starts empty; the run ends while its checkpoint 3 is under way.
near("channel-left-blocked", "blocked for an id that an earlier job completed",
     submitted(), COMPLETE[1], COMPLETE[2], COMPLETE[3], COMPLETE[4], submitted(job=1), attempt(number=1_001),
     COMPLETE[1], COMPLETE[2], ChannelBlocked(channel=LEFT, checkpoint=2), ChannelUnblocked(channel=LEFT, checkpoint=2),
     triggered(3, *SUBTASKS), ChannelBlocked(channel=LEFT, checkpoint=3))  # fmt: skip
near("channel-left-blocked", "blocked while it still aligns",
     *BLOCKS, ChannelUnblocked(channel=LEFT, checkpoint=3), triggered(4, *SUBTASKS),
     ChannelBlocked(channel=LEFT, checkpoint=4))  # fmt: skip
