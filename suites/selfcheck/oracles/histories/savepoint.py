"""Histories for SAVEPOINT: savepoints, the jobs that stop with them, and the jobs that go on from them."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import SavepointFormat, StopMode
from holdfast.harness.model.events import (
    FileReference, JobStatus, OperatorFinished, SavepointCompleted, SavepointTriggered, StateSummary,
)  # fmt: skip
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected, undecided
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELLING, FAILED, aborted, attempt, completed, content, deleted, failure, in_flight, listed, notified, published,
    sends, snapshot, submitted, switched, triggered,
)  # fmt: skip

FOLDER = "savepoints/savepoint-0-4/"
FILE = FileReference(f"{FOLDER}state", 10, 7)
METADATA = FileReference(f"{FOLDER}_metadata", 10, 7)
INTERVAL = {"execution.checkpointing.interval": "100 ms"}
OLDER = {**INTERVAL, "holdfast.profile": "flink-1.14"}
CLAIMED = {**INTERVAL, "execution.state-recovery.claim-mode": "CLAIM"}
ALLOWED = {**INTERVAL, "execution.state-recovery.ignore-unclaimed-state": "true"}
LATER_MS = 2_000.0
"""Longer than a job takes that stops."""
RUNNING = JobStatus.RUNNING
FINISHED = JobStatus.FINISHED

STOP_TRIGGERED: dict[StopMode, list[Line]] = {
    each: [triggered(4, "source[0]", "sum[0]", "sink[0]"),
           SavepointTriggered(checkpoint=4, folder=FOLDER, format=SavepointFormat.CANONICAL, stop=each)]
    for each in StopMode
}  # fmt: skip

SOURCE_PART = snapshot("source[0]", 4, (0, 3), state=StateSummary())
SUM_PART = snapshot("sum[0]", 4, state=StateSummary())

bad, near = exhibits(
    "SAVEPOINT",
    submitted(),
    attempt(),
    switched(RUNNING),
    at("harness", injected("stop", "coordinator")),
    faults=(
        FaultSpec("stop", COORDINATOR, parameters={"target": "savepoints"}),
        FaultSpec("submit", COORDINATOR, parameters={}),
    ),
    options=INTERVAL,
)

SUBMITS = at("harness", injected("submit", "coordinator", 1))
JOB_FINISHES = switched(FINISHED)
SUSPENDS = STOP_TRIGGERED[StopMode.SUSPEND]

bad("outside-folder", "a file elsewhere",
    SUBMITS, SUSPENDS,
    SavepointCompleted(checkpoint=4, path=METADATA.path,
                       files=(METADATA, FileReference("checkpoints/job-0/shared/a", 10, 7)), recovery_point=True),
    JOB_FINISHES)  # fmt: skip

SAVED = SavepointCompleted(checkpoint=4, path=METADATA.path, files=(METADATA, FILE), recovery_point=True)

bad("outside-folder", "a file of a checkpoint", SUBMITS, published(3, FILE), SUSPENDS, SAVED, JOB_FINISHES)
near("outside-folder", "all in one folder", SUBMITS, SUSPENDS, SAVED, JOB_FINISHES)

bad("savepoint-deleted", "deleted by the system",
    SUBMITS, SUSPENDS, SAVED, JOB_FINISHES, deleted(FILE, by="coordinator.0"))  # fmt: skip
bad("savepoint-deleted", "gone at the end", SUBMITS, SUSPENDS, SAVED, JOB_FINISHES, listed(METADATA))
near("savepoint-deleted", "all there at the end", SUBMITS, SUSPENDS, SAVED, JOB_FINISHES, listed(METADATA, FILE))

bad("target-invented", "nobody names a directory",
    SUSPENDS, SAVED, JOB_FINISHES, faults=(FaultSpec("stop", COORDINATOR, parameters={"target": ""}),))  # fmt: skip
near("target-invented", "refused without a directory",
     faults=(FaultSpec("stop", COORDINATOR, parameters={"target": ""}),))  # fmt: skip

bad("carries-in-flight", "records were overtaken",
    SUBMITS, SUSPENDS, at("worker-0.0", in_flight("sum[0]", content("source[0]->sum[0]", 1, attempt=7), checkpoint=4)),
    SAVED, JOB_FINISHES)  # fmt: skip
bad("carries-in-flight", "its barrier overtook records",
    SUBMITS, SUSPENDS, at("worker-0.0", snapshot("sum[0]", 4, state=StateSummary(), unaligned=True)), SAVED,
    JOB_FINISHES)  # fmt: skip
near("carries-in-flight", "those of a checkpoint",
     SUBMITS, SUSPENDS, at("worker-0.0", in_flight("sum[0]", content("source[0]->sum[0]", 1, attempt=7), checkpoint=3)),
     at("worker-0.0", in_flight("sum[0]", content("source[0]->sum[0]"), checkpoint=4)), SAVED,
     JOB_FINISHES)  # fmt: skip

bad("emitted-behind-stop", "a source goes on",
    SUBMITS, SUSPENDS, SOURCE_PART, sends("source[0]->sum[0]", 9), SAVED, JOB_FINISHES)  # fmt: skip
near("emitted-behind-stop", "a source emits in front",
     SUBMITS, SUSPENDS, sends("source[0]->sum[0]", 9), SOURCE_PART, SAVED, JOB_FINISHES)  # fmt: skip

FIFTH_BEGINS = triggered(5, "source[0]", "sum[0]", "sink[0]")

bad("begun-behind-stop", "another begins while it is under way",
    SUBMITS, SUSPENDS, FIFTH_BEGINS, SAVED, JOB_FINISHES, listed(METADATA, FILE))  # fmt: skip
bad("begun-behind-stop", "another begins behind it when it is complete",
    SUBMITS, STOP_TRIGGERED[StopMode.DRAIN], SAVED, FIFTH_BEGINS, JOB_FINISHES, listed(METADATA, FILE))  # fmt: skip
near("begun-behind-stop", "another began before it",
     SUBMITS, triggered(3, "source[0]", "sum[0]", "sink[0]"), SUSPENDS, SAVED, JOB_FINISHES,
     listed(METADATA, FILE))  # fmt: skip
near("begun-behind-stop", "the job goes on because it failed",
     SUBMITS, STOP_TRIGGERED[StopMode.CANCEL], aborted(4), FIFTH_BEGINS)  # fmt: skip
near("begun-behind-stop", "an older checkpoint is aborted meanwhile",
     SUBMITS, triggered(3, "source[0]", "sum[0]", "sink[0]"), SUSPENDS, aborted(3), SAVED, JOB_FINISHES,
     listed(METADATA, FILE))  # fmt: skip
bad("begun-behind-stop", "the abort of an older checkpoint lets none begin",
    SUBMITS, triggered(3, "source[0]", "sum[0]", "sink[0]"), SUSPENDS, aborted(3), FIFTH_BEGINS, SAVED, JOB_FINISHES,
    listed(METADATA, FILE))  # fmt: skip

bad("not-stopped", "the job runs on", SUBMITS, SUSPENDS, SAVED, LATER_MS, listed(METADATA, FILE))
near("not-stopped", "the job finishes", SUBMITS, SUSPENDS, SAVED, JOB_FINISHES, LATER_MS, listed(METADATA, FILE))
near("not-stopped", "it finishes a moment later",
     SUBMITS, SUSPENDS, SAVED, 20.0, JOB_FINISHES, LATER_MS, listed(METADATA, FILE))  # fmt: skip

bad("stopped-silently", "finished without it", SUBMITS, SUSPENDS, aborted(4), JOB_FINISHES)
near("stopped-silently", "restarted without it",
     SUBMITS, SUSPENDS, aborted(4), failure("the job was to stop"), attempt())  # fmt: skip
bad("stopped-silently", "cancelled without it",
    SUBMITS, STOP_TRIGGERED[StopMode.CANCEL], aborted(4), switched(CANCELLING))  # fmt: skip
near("stopped-silently", "goes on without it", SUBMITS, STOP_TRIGGERED[StopMode.CANCEL], aborted(4), LATER_MS)

bad("not-stopped", "it is not cancelled",
    SUBMITS, STOP_TRIGGERED[StopMode.CANCEL], SAVED, LATER_MS, listed(METADATA, FILE))  # fmt: skip
near("not-stopped", "it is cancelled with it",
     SUBMITS, STOP_TRIGGERED[StopMode.CANCEL], SAVED, 20.0, switched(CANCELLING), LATER_MS,
     listed(METADATA, FILE))  # fmt: skip

bad("not-drained", "snapshot before finish",
    SUBMITS, STOP_TRIGGERED[StopMode.DRAIN], SUM_PART, OperatorFinished(subtask="sum[0]"), SAVED,
    JOB_FINISHES)  # fmt: skip
near("not-drained", "snapshot behind finish",
     SUBMITS, STOP_TRIGGERED[StopMode.DRAIN], OperatorFinished(subtask="sum[0]"), SUM_PART, SAVED,
     JOB_FINISHES)  # fmt: skip

bad("drained-unasked", "finish of a job that suspends",
    SUBMITS, SUSPENDS, OperatorFinished(subtask="sum[0]"), SUM_PART, SAVED, JOB_FINISHES)  # fmt: skip
near("drained-unasked", "no finish of a job that suspends", SUBMITS, SUSPENDS, SUM_PART, SAVED, JOB_FINISHES)

SAVED_WITHOUT_RECOVERY_POINT = SavepointCompleted(checkpoint=4, path=METADATA.path, files=(METADATA, FILE))

bad("savepoint-commits", "a sink is told",
    SUBMITS, STOP_TRIGGERED[StopMode.GO_ON], SAVED_WITHOUT_RECOVERY_POINT, notified(4, "sink[0]"))  # fmt: skip
near("savepoint-commits", "a sink is told of the next checkpoint",
     SUBMITS, STOP_TRIGGERED[StopMode.GO_ON], SAVED_WITHOUT_RECOVERY_POINT, notified(5, "sink[0]"))  # fmt: skip

bad("savepoint-restored", "an attempt goes back to it",
    SUBMITS, STOP_TRIGGERED[StopMode.GO_ON], SAVED_WITHOUT_RECOVERY_POINT, failure(), attempt(4))  # fmt: skip
near("savepoint-restored", "an attempt goes back to the checkpoint before",
     SUBMITS, STOP_TRIGGERED[StopMode.GO_ON], SAVED_WITHOUT_RECOVERY_POINT, failure(), attempt(3))  # fmt: skip

# Neither: until 1.15 every savepoint was one.
undecided("SAVEPOINT", "in version 1 14 it is a recovery point",
          submitted(), attempt(), switched(RUNNING), at("harness", injected("stop", "coordinator")), SUBMITS,
          STOP_TRIGGERED[StopMode.GO_ON], SAVED, notified(4, "sink[0]"), failure(), attempt(4), options=OLDER,
          faults=(FaultSpec("stop", COORDINATOR, parameters={"target": "savepoints"}),
                  FaultSpec("submit", COORDINATOR, parameters={})))  # fmt: skip

bad("not-resumed", "the next job fails",
    SUBMITS, SUSPENDS, SUM_PART, SAVED, JOB_FINISHES, submitted(METADATA.path, 4, job=1),
    *at("coordinator.1", switched(FAILED, reason="it cannot be read"), attempt=1_001))  # fmt: skip

NEXT_RUNS = [submitted(METADATA.path, 4, job=1), *at("coordinator.1", attempt(4), switched(RUNNING), attempt=1_001)]

near("not-resumed", "the next job runs", SUBMITS, SUSPENDS, SUM_PART, SAVED, JOB_FINISHES, NEXT_RUNS)

RENAMED = (
    FaultSpec("stop", COORDINATOR, parameters={"target": "savepoints"}),
    FaultSpec("submit", COORDINATOR, parameters={"edit": "sum=total"}),
)

bad("state-left-out", "runs without an operator",
    SUBMITS, SUSPENDS, SUM_PART, SAVED, JOB_FINISHES, NEXT_RUNS, faults=RENAMED)  # fmt: skip
near("state-left-out", "is refused without an operator",
     SUBMITS, SUSPENDS, SUM_PART, SAVED, JOB_FINISHES, submitted(METADATA.path, 4, job=1),
     *at("coordinator.1", switched(FAILED, reason="no operator sum"), attempt=1_001), faults=RENAMED)  # fmt: skip

# Neither: it is allowed.
undecided("SAVEPOINT", "may run without an operator",
          submitted(), attempt(), switched(RUNNING), at("harness", injected("stop", "coordinator")), SUBMITS, SUSPENDS,
          SUM_PART, SAVED, JOB_FINISHES, NEXT_RUNS, options=ALLOWED, faults=RENAMED)  # fmt: skip

FIFTH_COMPLETES = at("coordinator.1", completed(5), attempt=1_001)

bad("claimed-left", "claimed and still there",
    SUBMITS, SUSPENDS, SAVED, JOB_FINISHES, NEXT_RUNS, FIFTH_COMPLETES,
    at("coordinator.1", completed(6), attempt=1_001), listed(METADATA, FILE), options=CLAIMED)  # fmt: skip
near("claimed-left", "claimed and gone",
     SUBMITS, SUSPENDS, SAVED, JOB_FINISHES, NEXT_RUNS, FIFTH_COMPLETES,
     at("coordinator.1", completed(6), attempt=1_001), listed(), options=CLAIMED)  # fmt: skip

bad("claimed-too-early", "deleted before the first checkpoint",
    SUBMITS, SUSPENDS, SAVED, JOB_FINISHES, NEXT_RUNS, deleted(FILE, by="coordinator.1", attempt=1_001),
    FIFTH_COMPLETES, options=CLAIMED)  # fmt: skip
near("claimed-too-early", "deleted behind the first checkpoint",
     SUBMITS, SUSPENDS, SAVED, JOB_FINISHES, NEXT_RUNS, FIFTH_COMPLETES,
     deleted(FILE, by="coordinator.1", attempt=1_001), options=CLAIMED)  # fmt: skip
