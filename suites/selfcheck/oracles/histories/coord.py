"""Histories for COORD: the life of a checkpoint, how many there may be, and for how long."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason, SavepointFormat, StopMode
from holdfast.harness.model.events import (
    AckOutcome, DeclineReceived, FileReference, MachineStalled, SavepointTriggered, TriggerSent,
)  # fmt: skip
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import MS, Line, at, exhibits
from holdfast.suites.selfcheck.oracles.lines import (
    Barrier, aborted, acked, attempt, completed, delivers, died, drawn, failure, finalized, heard, notified, published,
    snapshot, submitted, triggered,
)  # fmt: skip

# --- Lines of stories about a coordinator, over the forward job with one subtask of each vertex -----------------------


ALL = ("source[0]", "map[0]", "sink[0]")
FILE = FileReference("chk-1/source", 10, 7)
SHORT = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.timeout": "200 ms"}
TWO_AT_ONCE = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.max-concurrent-checkpoints": "2"}
WHOLE: dict[int, list[Line]] = {n: [triggered(n, *ALL), acked(n, *ALL), *finalized(n, *ALL)] for n in range(1, 4)}

# --- COORD: the life of a checkpoint, how many there may be, and for how long -----------------------------------------


bad, near = exhibits("COORD", attempt(), job=FORWARD, parallelism=1)

bad("ids-not-increasing", "id drawn again", WHOLE[2], triggered(1, *ALL))
bad("ids-not-increasing", "id drawn again by new coordinator",
    WHOLE[1], triggered(2, *ALL), died("coordinator", "killed"), attempt(1), triggered(2, *ALL))  # fmt: skip
near("ids-not-increasing", "id left out", WHOLE[1], triggered(3, *ALL))

SUBMITTED: list[Line] = [WHOLE[1], WHOLE[2], WHOLE[3], submitted("chk-3/_metadata", 3, job=1), attempt(3, number=1_001)]

bad("wrong-first-id", "new job counts from one", *SUBMITTED, at("", drawn(1), attempt=1_001))
near("wrong-first-id", "new job goes on counting", *SUBMITTED, at("", drawn(4, 1), attempt=1_001))

bad("triggered-not-a-source", "map is told", triggered(1, *ALL), TriggerSent(checkpoint=1, subtask="map[0]"))
near("triggered-not-a-source", "source is told", triggered(1, *ALL), TriggerSent(checkpoint=1, subtask="source[0]"))
BARRIER = "source[0]->map[0]"

bad("begun-without-barrier", "snapshot before barrier",
    triggered(1, *ALL), snapshot("map[0]"), delivers(BARRIER, Barrier(1)))  # fmt: skip
near("begun-without-barrier", "snapshot behind barrier",
     triggered(1, *ALL), delivers(BARRIER, Barrier(1)), snapshot("map[0]"))  # fmt: skip

near("too-many-pending", "forced needs no slot", triggered(1, *ALL), triggered(2, *ALL, origin=CheckpointOrigin.FORCED))

TOLD_OF_THE_ABORT = notified(1, *ALL, completed=False)

bad("wrong-reason", "declined by nobody", triggered(1, *ALL), aborted(1, "declined"), TOLD_OF_THE_ABORT, WHOLE[2])
bad("wrong-reason", "declined for another reason",
    triggered(1, *ALL), DeclineReceived(checkpoint=1, subtask="sink[0]", reason="disk full"),
    aborted(1, "task closing"), TOLD_OF_THE_ABORT, WHOLE[2])  # fmt: skip
bad("wrong-reason", "subsumed by nothing", triggered(1, *ALL), aborted(1, "subsumed"), TOLD_OF_THE_ABORT, WHOLE[2])
near("wrong-reason", "declined as it was said",
     triggered(1, *ALL), DeclineReceived(checkpoint=1, subtask="sink[0]", reason="disk full"), aborted(1, "declined"),
     TOLD_OF_THE_ABORT, WHOLE[2])  # fmt: skip

bad("not-subsumed", "older stays pending", triggered(1, *ALL), WHOLE[2], triggered(3, *ALL), options=TWO_AT_ONCE)
bad("not-subsumed", "older stays pending and the job before had stopped with a savepoint of its number",
    submitted(),
    SavepointTriggered(checkpoint=1, folder="sp-1", format=SavepointFormat.CANONICAL, stop=StopMode.SUSPEND),
    submitted(job=1), attempt(number=1_001), triggered(1, *ALL), WHOLE[2], triggered(3, *ALL),
    options=TWO_AT_ONCE)  # fmt: skip
near("not-subsumed", "older is subsumed",
     triggered(1, *ALL), triggered(2, *ALL), acked(2, *ALL), published(2), completed(2), aborted(1, "subsumed"),
     TOLD_OF_THE_ABORT, notified(2, *ALL), triggered(3, *ALL), options=TWO_AT_ONCE)  # fmt: skip

# Its files must stay until that is settled; another that waits for acks is subsumed.
near("not-subsumed", "older is being published",
     triggered(1, *ALL), acked(1, *ALL), triggered(2, *ALL), triggered(3, *ALL), acked(3, *ALL), published(3),
     completed(3), aborted(2, "subsumed"), notified(2, *ALL, completed=False), notified(3, *ALL), triggered(4, *ALL),
     options={**TWO_AT_ONCE, "execution.checkpointing.max-concurrent-checkpoints": "3"})  # fmt: skip

bad("notices-not-increasing", "older completion told later", WHOLE[1], notified(1, *ALL))
near("notices-not-increasing", "completions told in order", WHOLE[1], WHOLE[2])

bad("notices-not-increasing", "older completion heard later",
    triggered(1, *ALL), acked(1, *ALL), published(1), completed(1), triggered(2, *ALL), acked(2, *ALL), published(2),
    completed(2), heard("sum[0]", 2, 1))  # fmt: skip
near("notices-not-increasing", "completions heard in order",
     triggered(1, *ALL), acked(1, *ALL), published(1), completed(1), triggered(2, *ALL), acked(2, *ALL), published(2),
     completed(2), heard("sum[0]", 1, 2))  # fmt: skip

bad("pending-at-restart", "pending survives failover", WHOLE[1], triggered(2, *ALL), failure(), attempt(1))
near("pending-at-restart", "pending ends with failover",
     WHOLE[1], triggered(2, *ALL), aborted(2, "task failure"), failure(), attempt(1))  # fmt: skip
near("pending-at-restart", "publication outlives failover",
     WHOLE[1], triggered(2, *ALL), triggered(3, *ALL), acked(3, *ALL), aborted(2, "task failure"), failure(),
     attempt(1), options=TWO_AT_ONCE)  # fmt: skip

bad("two-ends", "aborted after completion", WHOLE[1], aborted())
bad("two-ends", "aborted twice", triggered(1, *ALL), aborted(), TOLD_OF_THE_ABORT, aborted(), WHOLE[2])
near("two-ends", "completed once", WHOLE[1])

# A job completes checkpoint 1; then a job draws that id, and gives it up before it is triggered.
bad("two-ends", "the same job gives up what it completed",
    submitted(), WHOLE[1], submitted(job=1), attempt(number=1_001),
    at("", aborted(1, FailureReason.INPUT_OUTPUT), attempt=1), WHOLE[2])  # fmt: skip
near("two-ends", "the next job gives up an id of the former",
     submitted(), WHOLE[1], submitted(job=1), attempt(number=1_001),
     at("", aborted(1, FailureReason.INPUT_OUTPUT), attempt=1_001), WHOLE[2])  # fmt: skip

# An id is given up before it is triggered, because it could not be stored; then a coordinator draws it again.
bad("two-ends", "the same coordinator gives up an id twice",
    WHOLE[1], at("", aborted(2, FailureReason.INPUT_OUTPUT), attempt=1),
    at("", aborted(2, FailureReason.INPUT_OUTPUT), attempt=1), WHOLE[3])  # fmt: skip
near("two-ends", "a successor gives up an id that was never stored",
     WHOLE[1], at("", aborted(2, FailureReason.INPUT_OUTPUT), attempt=1),
     at("coordinator.1", aborted(2, FailureReason.INPUT_OUTPUT), attempt=1), WHOLE[3])  # fmt: skip

bad("completed-without-ack", "completed without sink",
    triggered(1, *ALL), acked(1, *ALL[:2]), published(1), completed())  # fmt: skip
bad("completed-without-ack", "completed with ack of older attempt",
    triggered(1, *ALL), at("", acked(1, ALL[0], outcome=AckOutcome.UNKNOWN), attempt=7), acked(1, *ALL[1:]),
    published(1), completed())  # fmt: skip
bad("completed-without-ack", "completed without trigger", WHOLE[1], published(2), completed(2))
near("completed-without-ack", "completed with all acks",
     triggered(1, *ALL), acked(1, *reversed(ALL)), published(1), completed())  # fmt: skip

bad("notified-before-durable", "completed before publication",
    triggered(1, *ALL), acked(1, *ALL), completed(), published(1), notified(1, *ALL))  # fmt: skip
bad("notified-before-durable", "told before publication",
    triggered(1, *ALL), acked(1, *ALL), notified(1, *ALL), published(1), completed())  # fmt: skip
near("notified-before-durable", "told after publication", WHOLE[1])

bad("not-expired", "expires late", triggered(1, *ALL), 400, aborted(), TOLD_OF_THE_ABORT, WHOLE[2], options=SHORT)
bad("not-expired", "never expires", triggered(1, *ALL), options=SHORT)
bad("not-expired", "expires late though it had two turns",
    triggered(1, *ALL), 300, acked(1, ALL[0]), 50, acked(1, ALL[1]), 50, aborted(), TOLD_OF_THE_ABORT, WHOLE[2],
    options=SHORT, real_time=True)  # fmt: skip
near("not-expired", "expires late on a machine that let it wait",
     triggered(1, *ALL), 400, aborted(), TOLD_OF_THE_ABORT, WHOLE[2], options=SHORT, real_time=True)  # fmt: skip
near("not-expired", "expires in the turn in which an ack is read first",
     triggered(1, *ALL), 400, acked(1, ALL[0]), 2, aborted(), TOLD_OF_THE_ABORT, WHOLE[2], options=SHORT,
     real_time=True)  # fmt: skip
near("not-expired", "expires in a turn that is broken off",
     triggered(1, *ALL), 350, acked(1, ALL[0]), 50, aborted(), TOLD_OF_THE_ABORT, WHOLE[2], options=SHORT,
     real_time=True)  # fmt: skip
bad("not-expired", "never expires in real time", triggered(1, *ALL), options=SHORT, real_time=True)

# The machine let its coordinator wait.
near("not-expired", "is pending when the run is over",
     triggered(1, *ALL), options=SHORT, end=RunEnd(reached=True, ended_ns=400 * MS), real_time=True)  # fmt: skip
near("not-expired", "expires in time", triggered(1, *ALL), 200, aborted(), TOLD_OF_THE_ABORT, WHOLE[2], options=SHORT)
near("not-expired", "publication lasts",
     triggered(1, *ALL), 200, aborted(), TOLD_OF_THE_ABORT, triggered(2, *ALL), acked(2, *ALL), 900, published(2),
     completed(2), options=SHORT)  # fmt: skip

bad("too-many-pending", "second while first is pending", triggered(1, *ALL), triggered(2, *ALL))
bad("too-many-pending", "third of two", triggered(1, *ALL), triggered(2, *ALL), triggered(3, *ALL), options=TWO_AT_ONCE)
near("too-many-pending", "second of two", triggered(1, *ALL), triggered(2, *ALL), options=TWO_AT_ONCE)

bad("slot-not-freed", "nothing after abort", triggered(1, *ALL), aborted(), TOLD_OF_THE_ABORT)
near("slot-not-freed", "next after abort", triggered(1, *ALL), aborted(), TOLD_OF_THE_ABORT, triggered(2, *ALL))

NEXT_IS_DRAWN: list[Line] = [
    triggered(1, *ALL), aborted(), TOLD_OF_THE_ABORT, triggered(2, *ALL), aborted(2),
    notified(2, *ALL, completed=False), drawn(3), 400,
]  # fmt: skip
"""After its abort the next checkpoint gets its id, which its coordinator writes down before it is triggered. That
lasts until the end of the run, 400 ms later; for so long in this time somebody waited for a processor or a disk."""

near("slot-not-freed", "next waits for a disk that others use",
     *NEXT_IS_DRAWN, MachineStalled(since_ns=6 * MS, stalled_ns=390 * MS), end=RunEnd(reached=True, ended_ns=413 * MS),
     real_time=True)  # fmt: skip
bad("slot-not-freed", "next waits for a disk that is free",
    *NEXT_IS_DRAWN, MachineStalled(since_ns=6 * MS, stalled_ns=30 * MS), end=RunEnd(reached=True, ended_ns=413 * MS),
    real_time=True)  # fmt: skip
