"""Histories for COUNT: processes that end by an error, and failures, with and without anything that explains them."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import at, exhibits, injected
from holdfast.suites.selfcheck.oracles.lines import attempt, died, failure, storage_failed, unrecovered, written

bad, near = exhibits("COUNT", attempt())

bad("ended-by-error", "worker crashes without a fault", died("worker-1", "KeyError: 7", by_error=True))
bad("ended-by-error", "coordinator crashes without a fault", died("coordinator", "exit code 1", by_error=True))
bad(
    "ended-by-error", "worker crashes when another is killed",
    at("harness", injected("kill", "worker[1]")), died("worker-0"), died("worker-1", "KeyError: 7", by_error=True),
)  # fmt: skip
bad(
    "ended-by-error", "worker crashes by a late message",
    at("harness", injected("delay-messages", "worker[1]")), died("worker-1", "KeyError: 7", by_error=True),
)  # fmt: skip
bad(
    "ended-by-error", "worker crashes on a busy machine", died("worker-1", "KeyError: 7", by_error=True), real_time=True
)
near(
    "ended-by-error", "storage fails before",
    storage_failed("write-state", "chk-1/a", injected=True), died("worker-1", "KeyError: 7", by_error=True),
)  # fmt: skip
near(
    "ended-by-error", "object is damaged before",
    events.ObjectDamaged(path="chk-1/a", checkpoint=1, published=(1,), length=9, left=3),
    died("worker-1", "KeyError: 7", by_error=True),
)  # fmt: skip
bad(
    "ended-by-error", "object is damaged afterwards",
    died("worker-1", "KeyError: 7", by_error=True),
    events.ObjectDamaged(path="chk-1/a", checkpoint=1, published=(1,), length=9, left=3),
)  # fmt: skip
near(
    "ended-by-error", "input is removed before",
    at("harness", events.InputTruncated(partition=0, next_offset=4)), died("worker-1", "KeyError: 7", by_error=True),
)  # fmt: skip
bad(
    "ended-by-error", "input is removed afterwards",
    died("worker-1", "KeyError: 7", by_error=True), at("harness", events.InputTruncated(partition=0, next_offset=4)),
)  # fmt: skip
near(
    "ended-by-error", "record is poisoned before",
    at("harness", injected("poison", "worker[1]")), died("worker-1", "KeyError: 7", by_error=True),
)  # fmt: skip
bad(
    "ended-by-error", "record is poisoned afterwards",
    died("worker-1", "KeyError: 7", by_error=True), at("harness", injected("poison", "worker[1]")),
)  # fmt: skip

# Whoever gets it must ignore what it did not ask for.
bad(
    "ended-by-error", "message is forged before",
    at("harness", injected("forge", "worker[1]")), died("worker-1", "KeyError: 7", by_error=True),
)  # fmt: skip
near(
    "ended-by-error", "fault of a kind that nobody knows",
    at("harness", injected("their-own-fault", "worker[1]")), died("worker-1", "KeyError: 7", by_error=True),
)  # fmt: skip

bad("failure-without-cause", "nothing happened", failure("sum[0]: it failed", "sum[0]"), attempt())
bad(
    "failure-without-cause", "only notices were lost",
    at("harness", injected("lose-notices", "worker[1]")), failure("sum[0]: it failed", "sum[0]"), attempt(),
)  # fmt: skip
bad(
    "failure-without-cause", "the store refuses the coordinator afterwards",
    failure("sum[0]: it failed", "sum[0]"), attempt(), storage_failed("publish-metadata", "chk-1/a", injected=True),
)  # fmt: skip


bad(
    "failure-without-cause", "worker is lost long after the store refused",
    storage_failed("publish-metadata", "chk-1/a", injected=True), 2_000, failure("worker 0: no heartbeat for 50000 ms"),
    attempt(),
)  # fmt: skip
bad(
    "failure-without-cause", "worker is lost behind a record that fails",
    at("harness", injected("poison", "worker[1]")), failure("worker 0: no heartbeat for 50000 ms"), attempt(),
)  # fmt: skip
near(
    "failure-without-cause", "job record is refused",
    storage_failed("persist-job-record", "chk-1/a", injected=True), 5, failure("worker 0: no heartbeat for 50000 ms"),
    attempt(),
)  # fmt: skip
near(
    "failure-without-cause", "worker is paused before",
    at("harness", injected("pause", "worker[1]")), failure("worker 0: no heartbeat for 50000 ms"), attempt(),
)  # fmt: skip
near("failure-without-cause", "worker dies before", died("worker-1"), failure("sum[0]: it failed", "sum[0]"), attempt())
near(
    "failure-without-cause", "connection is reset before",
    at("harness", injected("reset", "worker[1]")), failure("sum[0]: it failed", "sum[0]"), attempt(),
)  # fmt: skip
near(
    "failure-without-cause", "record makes it fail",
    events.RecordFailed(subtask="sum[0]", partition=0, offset=3, cause="poison"),
    failure("sum[0]: record 3 of partition 0: poison", "sum[0]"), attempt(),
)  # fmt: skip
near(
    "failure-without-cause", "checkpoint cannot be restored",
    unrecovered(1, "it is damaged"), failure("sum[0]: it failed", "sum[0]"), attempt(),
)  # fmt: skip


bad(
    "refused-by-store", "nothing struck the store",
    written(events.FileReference("chk-1/a", 100, 7)), storage_failed("precommit", "pending/a", "it exists already"),
)  # fmt: skip
bad(
    "refused-by-store", "a worker was killed",
    written(events.FileReference("chk-1/a", 100, 7)), at("harness", injected("kill", "worker[1]")), died("worker-1"),
    storage_failed("precommit", "pending/a", "it exists already"),
)  # fmt: skip
near(
    "refused-by-store", "a fault refuses it",
    written(events.FileReference("chk-1/a", 100, 7)), storage_failed("precommit", "chk-1/a", injected=True),
)  # fmt: skip
near(
    "refused-by-store", "an answer was lost before",
    written(events.FileReference("chk-1/a", 100, 7)), at("harness", injected("storage-error", "worker[1]")),
    storage_failed("precommit", "chk-1/a", injected=True),
    storage_failed("precommit", "pending/a", "it exists already"),
)  # fmt: skip
near(
    "refused-by-store", "the object was damaged before",
    written(events.FileReference("chk-1/a", 100, 7)),
    events.ObjectDamaged(path="chk-1/a", checkpoint=1, published=(1,), length=9, left=3),
    storage_failed("precommit", "pending/a", "it exists already"),
)  # fmt: skip
near("refused-by-store", "everything is stored", written(events.FileReference("chk-1/a", 100, 7)))


bad(
    "wrong-record-named", "another record is named",
    at("harness", injected("poison", "worker[1]")),
    events.RecordFailed(subtask="sum[0]", partition=0, offset=4, cause="poison", recoverable=True),
    faults=(FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": 3}),),
)  # fmt: skip
bad(
    "wrong-record-named", "another partition is named",
    at("harness", injected("poison", "worker[1]")),
    events.RecordFailed(subtask="sum[0]", partition=1, offset=3, cause="poison", recoverable=True),
    faults=(FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": 3}),),
)  # fmt: skip
bad(
    "wrong-record-named", "another kind of failure is named",
    at("harness", injected("poison", "worker[1]")),
    events.RecordFailed(subtask="sum[0]", partition=0, offset=3, cause="poison", recoverable=False),
    faults=(FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": 3}),),
)  # fmt: skip
near(
    "wrong-record-named", "the poisoned record is named",
    at("harness", injected("poison", "worker[1]")),
    events.RecordFailed(subtask="sum[0]", partition=0, offset=3, cause="poison", recoverable=True),
    faults=(FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": 3}),),
)  # fmt: skip
