"""Histories for COUNT: silent workers, statuses, recoveries that fail, and failures that nothing explains."""

from __future__ import annotations

from holdfast.harness.model.events import (
    FaultHealed, FileReference, FileWritten, InputTruncated, JobStatus, ObjectDamaged, RecordFailed, RecoveryFailed,
    RestartScheduled,
)  # fmt: skip
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.histories.count import FIXED, RESTART
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELLING, FINISHED, RESTARTING, RUNNING, attempt, died, failure, storage_failed, submitted, switched,
)  # fmt: skip

# --- COUNT: workers that stand still, and coordinators that give them up or not ---------------------------------------


HEARTBEATS = {**OPTIONS, "heartbeat.interval": "50 ms", "heartbeat.timeout": "200 ms"}
GIVEN_UP: list[Line] = [failure("worker 1: no heartbeat for 200 ms"), switched(RESTARTING), attempt()]

bad, near = exhibits(
    "COUNT", attempt(), switched(RUNNING), 100, at("harness", injected("pause", "worker[1]", 0)), options=HEARTBEATS
)

RESUMED = at("harness", FaultHealed(fault=0, fault_kind="pause", target="worker[1]"))

bad("silence-not-noticed", "a worker stands still for half a second", 500, RESUMED)
bad("silence-not-noticed", "it stands still to the end", 500)
bad("silence-not-noticed", "it is given up when it is back", 500, RESUMED, 100, GIVEN_UP)
near("silence-not-noticed", "it is given up in time", 250, GIVEN_UP, 250, RESUMED)

AFTER_ONE: list[Line] = [250, GIVEN_UP, 250, RESUMED, switched(RUNNING), 100]
"""One was given up, so that there is something to decide on."""

RESUMED_AGAIN = at("harness", FaultHealed(fault=1, fault_kind="pause", target="worker[1]"))
PAUSED_AGAIN = at("harness", injected("pause", "worker[1]", 1))

near("silence-not-noticed", "the second is back in time", *AFTER_ONE, PAUSED_AGAIN, 190, RESUMED_AGAIN)
near("silence-not-noticed", "the end of another pause wakes it",
     *AFTER_ONE, PAUSED_AGAIN, 10, at("harness", injected("pause", "worker[1]", 2)), 100,
     at("harness", FaultHealed(fault=2, fault_kind="pause", target="worker[1]")), 500, RESUMED_AGAIN)  # fmt: skip
bad("silence-not-noticed", "the other pause ends too late to excuse it",
    *AFTER_ONE, PAUSED_AGAIN, 10, at("harness", injected("pause", "worker[1]", 2)), 500,
    at("harness", FaultHealed(fault=2, fault_kind="pause", target="worker[1]")), 10, RESUMED_AGAIN)  # fmt: skip
near("silence-not-noticed", "the second is killed", *AFTER_ONE, PAUSED_AGAIN, 300, died("worker-1"), 200)
near("silence-not-noticed", "the coordinator has died before the second",
     *AFTER_ONE, died(), PAUSED_AGAIN, 500, RESUMED_AGAIN)  # fmt: skip
near("silence-not-noticed", "a job that does not run",
     *AFTER_ONE, switched(RESTARTING), 100, PAUSED_AGAIN, 500, RESUMED_AGAIN)  # fmt: skip

# --- COUNT: what a coordinator reports of its job ---------------------------------------------------------------------

bad, near = exhibits("COUNT", attempt(), injected("kill", "worker[0]"), expected=ExpectedEnd.FAILED, options=FIXED)

bad("ended-again", "finished twice", switched(RUNNING, FINISHED, FINISHED))
bad("ended-again", "runs on after its end", switched(RUNNING, JobStatus.CANCELED, RUNNING))
bad("ended-again", "runs on though suspended", switched(RUNNING, JobStatus.SUSPENDED, RUNNING))
bad("ended-again", "starts again behind its end", switched(RUNNING, JobStatus.CANCELED), attempt(), switched(RUNNING))
near("ended-again", "leads again and begins another attempt",
     switched(RUNNING, JobStatus.SUSPENDED), attempt(), switched(RUNNING, FINISHED))  # fmt: skip
near("ended-again", "ends once", switched(RUNNING, JobStatus.CANCELLING, JobStatus.CANCELED))
near("ended-again", "the next coordinator reports the end as well",
     switched(RUNNING, FINISHED), died(), switched(FINISHED))  # fmt: skip
near("ended-again", "the next job ends too",
     at("coordinator.0", submitted(), attempt=0), switched(RUNNING, FINISHED),
     at("coordinator.0", submitted(), attempt=10), at("coordinator.0", attempt(), attempt=11),
     at("coordinator.0", switched(RUNNING), attempt=11),
     at("coordinator.0", switched(FINISHED), attempt=11))  # fmt: skip

bad("restart-unannounced", "runs again and never restarted", switched(RUNNING), RESTART, switched(RUNNING))
bad("restart-unannounced", "only the first restart is reported",
    switched(RUNNING, RESTARTING), RESTART, switched(RUNNING), RESTART)  # fmt: skip
near("restart-unannounced", "each restart is reported",
     switched(RUNNING, RESTARTING), RESTART, switched(RUNNING, RESTARTING), RESTART)  # fmt: skip

# --- COUNT: recoveries that fail, and what is counted of them ---------------------------------------------------------

DELAYED = {**OPTIONS, "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "100 ms"}

UNREADABLE: list[Line] = [
    storage_failed("read-metadata", "checkpoints/", injected=True),
    RecoveryFailed(checkpoint=0, reason="injected error"), failure("injected error"), RestartScheduled(delay_ms=100),
]  # fmt: skip

bad, near = exhibits("COUNT", attempt(), UNREADABLE, options={**DELAYED, "restart-strategy.fixed-delay.attempts": "9"})

bad("recovery-fails-twice", "it fails again at once", 10, UNREADABLE, 110, attempt())
near("recovery-fails-twice", "it fails again after the delay", 100, UNREADABLE, 110, attempt())
near("recovery-fails-twice", "the next coordinator fails too", 10, died(), UNREADABLE, 110, attempt())
near("recovery-fails-twice", "a cancelled job is cleaned up",
     10, switched(CANCELLING), RecoveryFailed(checkpoint=0, reason="injected error"))  # fmt: skip

# --- COUNT: processes that end by an error, and failures, with and without anything that explains them ----------------

bad, near = exhibits("COUNT", attempt())

CRASHED = died("worker-1", "KeyError: 7", by_error=True)

bad("ended-by-error", "worker crashes without a fault", CRASHED)
bad("ended-by-error", "coordinator crashes without a fault", died("coordinator", "exit code 1", by_error=True))
bad("ended-by-error", "worker crashes when another is killed",
    at("harness", injected("kill", "worker[1]")), died("worker-0"), CRASHED)  # fmt: skip
bad("ended-by-error", "worker crashes by a late message",
    at("harness", injected("delay-messages", "worker[1]")), CRASHED)  # fmt: skip
bad("ended-by-error", "worker crashes on a busy machine", CRASHED, real_time=True)
near("ended-by-error", "storage fails before", storage_failed("write-state", "chk-1/a", injected=True), CRASHED)

DAMAGED = ObjectDamaged(path="chk-1/a", checkpoint=1, published=(1,), length=9, left=3)

near("ended-by-error", "object is damaged before", DAMAGED, CRASHED)
bad("ended-by-error", "object is damaged afterwards", CRASHED, DAMAGED)
near("ended-by-error", "input is removed before", at("harness", InputTruncated(partition=0, next_offset=4)), CRASHED)
bad("ended-by-error", "input is removed afterwards", CRASHED, at("harness", InputTruncated(partition=0, next_offset=4)))

POISONED = at("harness", injected("poison", "worker[1]"))

near("ended-by-error", "record is poisoned before", POISONED, CRASHED)
bad("ended-by-error", "record is poisoned afterwards", CRASHED, POISONED)

# Whoever gets it must ignore what it did not ask for.
bad("ended-by-error", "message is forged before", at("harness", injected("forge", "worker[1]")), CRASHED)
near("ended-by-error", "fault of a kind that nobody knows",
     at("harness", injected("their-own-fault", "worker[1]")), CRASHED)  # fmt: skip

SUM_FAILED = failure("sum[0]: it failed", "sum[0]")

bad("failure-without-cause", "nothing happened", SUM_FAILED, attempt())
bad("failure-without-cause", "only notices were lost",
    at("harness", injected("lose-notices", "worker[1]")), SUM_FAILED, attempt())  # fmt: skip
bad("failure-without-cause", "the store refuses the coordinator afterwards",
    SUM_FAILED, attempt(), storage_failed("publish-metadata", "chk-1/a", injected=True))  # fmt: skip

LOST = failure("worker 0: no heartbeat for 50000 ms")

bad("failure-without-cause", "worker is lost long after the store refused",
    storage_failed("publish-metadata", "chk-1/a", injected=True), 2_000, LOST, attempt())  # fmt: skip
bad("failure-without-cause", "worker is lost behind a record that fails", POISONED, LOST, attempt())
near("failure-without-cause", "job record is refused",
     storage_failed("persist-job-record", "chk-1/a", injected=True), 5, LOST, attempt())  # fmt: skip
near("failure-without-cause", "worker is paused before", at("harness", injected("pause", "worker[1]")), LOST, attempt())
near("failure-without-cause", "worker dies before", died("worker-1"), SUM_FAILED, attempt())
near("failure-without-cause", "connection is reset before",
     at("harness", injected("reset", "worker[1]")), SUM_FAILED, attempt())  # fmt: skip
near("failure-without-cause", "record makes it fail",
     RecordFailed(subtask="sum[0]", partition=0, offset=3, cause="poison"),
     failure("sum[0]: record 3 of partition 0: poison", "sum[0]"), attempt())  # fmt: skip
near("failure-without-cause", "checkpoint cannot be restored",
     RecoveryFailed(checkpoint=1, reason="it is damaged"), SUM_FAILED, attempt())  # fmt: skip

STORED = FileWritten(file=FileReference("chk-1/a", 100, 7))
PRECOMMIT_FAILED = storage_failed("precommit", "pending/a", "it exists already")

bad("refused-by-store", "nothing struck the store", STORED, PRECOMMIT_FAILED)
bad("refused-by-store", "a worker was killed",
    STORED, at("harness", injected("kill", "worker[1]")), died("worker-1"), PRECOMMIT_FAILED)  # fmt: skip
near("refused-by-store", "a fault refuses it", STORED, storage_failed("precommit", "chk-1/a", injected=True))
near("refused-by-store", "an answer was lost before",
     STORED, at("harness", injected("storage-error", "worker[1]")),
     storage_failed("precommit", "chk-1/a", injected=True), PRECOMMIT_FAILED)  # fmt: skip
near("refused-by-store", "the object was damaged before", STORED, DAMAGED, PRECOMMIT_FAILED)
near("refused-by-store", "everything is stored", STORED)

POISON = (FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": 3}),)

bad("wrong-record-named", "another record is named",
    POISONED, RecordFailed(subtask="sum[0]", partition=0, offset=4, cause="poison"), faults=POISON)  # fmt: skip
bad("wrong-record-named", "another partition is named",
    POISONED, RecordFailed(subtask="sum[0]", partition=1, offset=3, cause="poison"), faults=POISON)  # fmt: skip
bad("wrong-record-named", "another kind of failure is named",
    POISONED, RecordFailed(subtask="sum[0]", partition=0, offset=3, cause="poison", recoverable=False),
    faults=POISON)  # fmt: skip
near("wrong-record-named", "the poisoned record is named",
     POISONED, RecordFailed(subtask="sum[0]", partition=0, offset=3, cause="poison"), faults=POISON)  # fmt: skip
