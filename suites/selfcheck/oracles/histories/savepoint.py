"""Histories for SAVEPOINT: savepoints, the jobs that stop with them, and the jobs that go on from them."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import StopMode
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected, on, undecided
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELLING,
    FAILED,
    aborted,
    attempt,
    completed,
    deleted,
    failure,
    in_flight,
    listed,
    operator_finished,
    published,
    savepoint_completed,
    savepoint_triggered,
    sends,
    snapshot,
    submitted,
    switched,
    told,
    triggered,
)

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


def stop_triggered(stop: StopMode = StopMode.SUSPEND) -> list[Line]:
    return [triggered(4, "source[0]", "sum[0]", "sink[0]"), savepoint_triggered(4, FOLDER, stop)]


def part(subtask: str) -> events.SnapshotTaken:
    positions = ((0, 3),) if subtask.startswith("source") else ()
    return snapshot(subtask, 4, *positions, state=events.StateSummary())


def next_job(*then: Line) -> list[Line]:
    submitted_line = submitted(METADATA.path, 4, job=1)
    return [submitted_line, *on("coordinator.1", *then, attempt=1_001)]


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

bad(
    "outside-folder", "a file elsewhere",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(
        4, METADATA.path, METADATA, events.FileReference("checkpoints/job-0/shared/a", 10, 7), recovery_point=True,
    ),
    switched(FINISHED),
)  # fmt: skip
bad(
    "outside-folder", "a file of a checkpoint",
    at("harness", injected("submit", "coordinator", 1)), published(3, FILE), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip
near(
    "outside-folder", "all in one folder",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip

bad(
    "savepoint-deleted", "deleted by the system",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    deleted(FILE, by="coordinator.0"),
)  # fmt: skip
bad(
    "savepoint-deleted", "gone at the end",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED), listed(METADATA),
)  # fmt: skip
near(
    "savepoint-deleted", "all there at the end",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    listed(METADATA, FILE),
)  # fmt: skip

bad(
    "target-invented", "nobody names a directory",
    stop_triggered(), savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    faults=(FaultSpec("stop", COORDINATOR, parameters={"target": ""}),),
)  # fmt: skip
near(
    "target-invented", "refused without a directory",
    faults=(FaultSpec("stop", COORDINATOR, parameters={"target": ""}),),
)  # fmt: skip

bad(
    "carries-in-flight", "records were overtaken",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    at(
        "worker-0.0",
        in_flight(
            "sum[0]", events.ChannelContent(channel="source[0]->sum[0]", output=False, batches=((7, 1),)), checkpoint=4,
        ),
    ),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip
bad(
    "carries-in-flight", "its barrier overtook records",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    at("worker-0.0", snapshot("sum[0]", 4, state=events.StateSummary(), unaligned=True)),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip
near(
    "carries-in-flight", "those of a checkpoint",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    at(
        "worker-0.0",
        in_flight(
            "sum[0]", events.ChannelContent(channel="source[0]->sum[0]", output=False, batches=((7, 1),)), checkpoint=3,
        ),
    ),
    at(
        "worker-0.0",
        in_flight("sum[0]", events.ChannelContent(channel="source[0]->sum[0]", output=False, batches=()), checkpoint=4),
    ),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip

bad(
    "emitted-behind-stop", "a source goes on",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), part("source[0]"),
    sends("source[0]->sum[0]", 9), savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True),
    switched(FINISHED),
)  # fmt: skip
near(
    "emitted-behind-stop", "a source emits in front",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), sends("source[0]->sum[0]", 9),
    part("source[0]"), savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip

bad(
    "begun-behind-stop", "another begins while it is under way",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    triggered(5, "source[0]", "sum[0]", "sink[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    listed(METADATA, FILE),
)  # fmt: skip
bad(
    "begun-behind-stop", "another begins behind it when it is complete",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.DRAIN),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True),
    triggered(5, "source[0]", "sum[0]", "sink[0]"), switched(FINISHED), listed(METADATA, FILE),
)  # fmt: skip
near(
    "begun-behind-stop", "another began before it",
    at("harness", injected("submit", "coordinator", 1)), triggered(3, "source[0]", "sum[0]", "sink[0]"),
    stop_triggered(), savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    listed(METADATA, FILE),
)  # fmt: skip
near(
    "begun-behind-stop", "the job goes on because it failed",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.CANCEL), aborted(4),
    triggered(5, "source[0]", "sum[0]", "sink[0]"),
)  # fmt: skip
near(
    "begun-behind-stop", "an older checkpoint is aborted meanwhile",
    at("harness", injected("submit", "coordinator", 1)), triggered(3, "source[0]", "sum[0]", "sink[0]"),
    stop_triggered(), aborted(3), savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True),
    switched(FINISHED), listed(METADATA, FILE),
)  # fmt: skip
bad(
    "begun-behind-stop", "the abort of an older checkpoint lets none begin",
    at("harness", injected("submit", "coordinator", 1)), triggered(3, "source[0]", "sum[0]", "sink[0]"),
    stop_triggered(), aborted(3), triggered(5, "source[0]", "sum[0]", "sink[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    listed(METADATA, FILE),
)  # fmt: skip

bad(
    "not-stopped", "the job runs on",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), LATER_MS, listed(METADATA, FILE),
)  # fmt: skip
near(
    "not-stopped", "the job finishes",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED), LATER_MS,
    listed(METADATA, FILE),
)  # fmt: skip
near(
    "not-stopped", "it finishes a moment later",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), 20.0, switched(FINISHED), LATER_MS,
    listed(METADATA, FILE),
)  # fmt: skip

bad(
    "stopped-silently", "finished without it",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), aborted(4), switched(FINISHED),
)  # fmt: skip
near(
    "stopped-silently", "restarted without it",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), aborted(4), failure("the job was to stop"),
    attempt(),
)  # fmt: skip
bad(
    "stopped-silently", "cancelled without it",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.CANCEL), aborted(4),
    switched(CANCELLING),
)  # fmt: skip
near(
    "stopped-silently", "goes on without it",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.CANCEL), aborted(4), LATER_MS,
)  # fmt: skip

bad(
    "not-stopped", "it is not cancelled",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.CANCEL),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), LATER_MS, listed(METADATA, FILE),
)  # fmt: skip
near(
    "not-stopped", "it is cancelled with it",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.CANCEL),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), 20.0, switched(CANCELLING), LATER_MS,
    listed(METADATA, FILE),
)  # fmt: skip

bad(
    "not-drained", "snapshot before finish",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.DRAIN), part("sum[0]"),
    operator_finished("sum[0]"), savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True),
    switched(FINISHED),
)  # fmt: skip
near(
    "not-drained", "snapshot behind finish",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.DRAIN), operator_finished("sum[0]"),
    part("sum[0]"), savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip

bad(
    "drained-unasked", "finish of a job that suspends",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), operator_finished("sum[0]"), part("sum[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip
near(
    "drained-unasked", "no finish of a job that suspends",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), part("sum[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
)  # fmt: skip

bad(
    "savepoint-commits", "a sink is told",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.GO_ON),
    savepoint_completed(4, METADATA.path, METADATA, FILE), told(4, "sink[0]"),
)  # fmt: skip
near(
    "savepoint-commits", "a sink is told of the next checkpoint",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.GO_ON),
    savepoint_completed(4, METADATA.path, METADATA, FILE), told(5, "sink[0]"),
)  # fmt: skip

bad(
    "savepoint-restored", "an attempt goes back to it",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.GO_ON),
    savepoint_completed(4, METADATA.path, METADATA, FILE), failure(), attempt(4),
)  # fmt: skip
near(
    "savepoint-restored", "an attempt goes back to the checkpoint before",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.GO_ON),
    savepoint_completed(4, METADATA.path, METADATA, FILE), failure(), attempt(3),
)  # fmt: skip

# Neither: until 1.15 every savepoint was one.
undecided(
    "SAVEPOINT", "in version 1 14 it is a recovery point",
    submitted(), attempt(), switched(RUNNING), at("harness", injected("stop", "coordinator")),
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(StopMode.GO_ON),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), told(4, "sink[0]"), failure(),
    attempt(4), options=OLDER,
    faults=(
        FaultSpec("stop", COORDINATOR, parameters={"target": "savepoints"}),
        FaultSpec("submit", COORDINATOR, parameters={}),
    ),
)  # fmt: skip

bad(
    "not-resumed", "the next job fails",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), part("sum[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(switched(FAILED, reason="it cannot be read")),
)  # fmt: skip
near(
    "not-resumed", "the next job runs",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), part("sum[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(attempt(4), switched(RUNNING)),
)  # fmt: skip

bad(
    "state-left-out", "runs without an operator",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), part("sum[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(attempt(4), switched(RUNNING)),
    faults=(
        FaultSpec("stop", COORDINATOR, parameters={"target": "savepoints"}),
        FaultSpec("submit", COORDINATOR, parameters={"edit": "sum=total"}),
    ),
)  # fmt: skip
near(
    "state-left-out", "is refused without an operator",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), part("sum[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(switched(FAILED, reason="no operator sum")),
    faults=(
        FaultSpec("stop", COORDINATOR, parameters={"target": "savepoints"}),
        FaultSpec("submit", COORDINATOR, parameters={"edit": "sum=total"}),
    ),
)  # fmt: skip

# Neither: it is allowed.
undecided(
    "SAVEPOINT", "may run without an operator",
    submitted(), attempt(), switched(RUNNING), at("harness", injected("stop", "coordinator")),
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(), part("sum[0]"),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(attempt(4), switched(RUNNING)), options=ALLOWED,
    faults=(
        FaultSpec("stop", COORDINATOR, parameters={"target": "savepoints"}),
        FaultSpec("submit", COORDINATOR, parameters={"edit": "sum=total"}),
    ),
)  # fmt: skip

bad(
    "claimed-left", "claimed and still there",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(attempt(4), switched(RUNNING)), at("coordinator.1", completed(5), attempt=1_001),
    at("coordinator.1", completed(6), attempt=1_001), listed(METADATA, FILE), options=CLAIMED,
)  # fmt: skip
near(
    "claimed-left", "claimed and gone",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(attempt(4), switched(RUNNING)), at("coordinator.1", completed(5), attempt=1_001),
    at("coordinator.1", completed(6), attempt=1_001), listed(), options=CLAIMED,
)  # fmt: skip

bad(
    "claimed-too-early", "deleted before the first checkpoint",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(attempt(4), switched(RUNNING)), deleted(FILE, by="coordinator.1", attempt=1_001),
    at("coordinator.1", completed(5), attempt=1_001), options=CLAIMED,
)  # fmt: skip
near(
    "claimed-too-early", "deleted behind the first checkpoint",
    at("harness", injected("submit", "coordinator", 1)), stop_triggered(),
    savepoint_completed(4, METADATA.path, METADATA, FILE, recovery_point=True), switched(FINISHED),
    next_job(attempt(4), switched(RUNNING)), at("coordinator.1", completed(5), attempt=1_001),
    deleted(FILE, by="coordinator.1", attempt=1_001), options=CLAIMED,
)  # fmt: skip
