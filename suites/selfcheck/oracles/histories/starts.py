"""Histories for LOUD, REREAD and RESUME: starts after a checkpoint, and what is read again."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import ObjectDamaged, ProgramReady, RecoveryFailed, SavepointCompleted, StateRestored
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, input_log, undecided
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS, summary
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED, FAILED, RUNNING, aborted, attempt, completed, died, emitted, failure, published, snapshot, storage_failed,
    submitted, switched, task, triggered,
)  # fmt: skip

# --- LOUD: starts after a checkpoint, and plans with options to refuse ------------------------------------------------

COMPLETE: dict[int, list[Line]] = {
    n: [triggered(n, *SUBTASKS), snapshot("sum[0]", n, state=summary([(0, 0)])), published(n, states=len(SUBTASKS)),
        completed(n)]
    for n in range(1, 4)
}  # fmt: skip

TWO_BEFORE_A_FAILURE: list[Line] = [attempt(), COMPLETE[1], COMPLETE[2], failure()]

bad, near = exhibits("LOUD")

bad("started-empty", "job starts empty", *TWO_BEFORE_A_FAILURE, attempt())
bad("started-empty", "job starts empty after an unreadable checkpoint",
    *TWO_BEFORE_A_FAILURE, RecoveryFailed(checkpoint=2, reason="cannot be read"), attempt())  # fmt: skip

# The restored checkpoint holds a record of the sum.
bad("started-empty", "subtask starts empty",
    attempt(), COMPLETE[1], failure(), attempt(1), task("sum[0]", 1, state=summary(())))  # fmt: skip
near("started-empty", "subtask starts with state",
     attempt(), COMPLETE[1], failure(), attempt(1), task("sum[0]", 1, state=summary(((0, 0),))))  # fmt: skip

# In checkpoint 1 of the first job the sum holds nothing, in that of the next, which starts empty, a record.
near("started-empty", "the next job uses the id again",
     submitted(), attempt(), triggered(1, *SUBTASKS), snapshot("sum[0]", state=summary(())),
     snapshot("sum[1]", state=summary([(0, 1)])), published(1, states=len(SUBTASKS)), completed(), failure(),
     attempt(1), task("sum[0]", 1, state=summary(())), task("sum[1]", 1, state=summary([(0, 1)])), switched(CANCELED),
     submitted(job=1), attempt(number=1_001), COMPLETE[1])  # fmt: skip

bad("started-older", "job starts from the one before", *TWO_BEFORE_A_FAILURE, attempt(1))
near("started-older", "job starts from the latest", *TWO_BEFORE_A_FAILURE, attempt(2))
near("started-older", "job fails and is started again by its user",
     attempt(), COMPLETE[1], failure("x"), attempt(1), COMPLETE[2],
     RecoveryFailed(checkpoint=2, reason="cannot be read"), switched(FAILED), attempt(1))  # fmt: skip

# A savepoint that is no recovery point of its job; the next job restores it.
bad("partial-metadata", "restores a savepoint that lacks a state",
    submitted(), attempt(), COMPLETE[1], triggered(2, *SUBTASKS),
    SavepointCompleted(checkpoint=2, path="savepoint/_metadata", files=(), states=len(SUBTASKS) - 1), COMPLETE[3],
    submitted("savepoint/_metadata", 2, job=1), attempt(2, number=1_001))  # fmt: skip
near("partial-metadata", "restores a whole savepoint",
     submitted(), attempt(), COMPLETE[1], triggered(2, *SUBTASKS),
     SavepointCompleted(checkpoint=2, path="savepoint/_metadata", files=(), states=len(SUBTASKS)), COMPLETE[3],
     submitted("savepoint/_metadata", 2, job=1), attempt(2, number=1_001))  # fmt: skip
bad("partial-metadata", "restores unpublished", *TWO_BEFORE_A_FAILURE, attempt(3))
bad("partial-metadata", "restores half of the states",
    attempt(), triggered(1, *SUBTASKS), published(1, states=3), attempt(1))  # fmt: skip
near("partial-metadata", "restores published", attempt(), *COMPLETE[1][:3], attempt(1))

bad("accepted-bad-option", "bad option runs",
    attempt(), switched(RUNNING), expected=ExpectedEnd.REFUSED, end=RunEnd(reached=True, reason=""))  # fmt: skip
bad("accepted-bad-option", "bad option is accepted",
    expected=ExpectedEnd.REFUSED, end=RunEnd(reached=False, reason="the configuration was accepted"))  # fmt: skip
near("accepted-bad-option", "bad option is refused",
     expected=ExpectedEnd.REFUSED, end=RunEnd(reached=True, reason="interval = '1 ms' is too small"))  # fmt: skip

bad("refused-good-option", "good option is refused",
    end=RunEnd(reached=False, reason="refused: interval = '1 s' is too small"))  # fmt: skip
near("refused-good-option", "good option runs", attempt(), switched(RUNNING), end=RunEnd(reached=True, reason=""))

UNREACHED = at("worker-1.0", storage_failed("reach-directory", "hdfs:///checkpoints", "no such host"))

# A worker does not reach the directory, and the job fails.
bad("directory-not-named", "unreached and nobody minds", UNREACHED, expected=ExpectedEnd.FAILED)
bad("directory-not-named", "unreached and another worker is named",
    UNREACHED, switched(FAILED, reason="worker-0.0 cannot reach hdfs:///checkpoints"),
    expected=ExpectedEnd.FAILED)  # fmt: skip
bad("directory-not-named", "unreached and another directory is named",
    UNREACHED, switched(FAILED, reason="worker-1.0 cannot reach hdfs:///others"),
    expected=ExpectedEnd.FAILED)  # fmt: skip
near("directory-not-named", "unreached and both are named",
     UNREACHED,
     switched(FAILED, reason="worker-1.0 cannot reach the checkpoint directory hdfs:///checkpoints: no such host"),
     expected=ExpectedEnd.FAILED)  # fmt: skip

# --- REREAD: input at a thousand records a second and partition, a checkpoint every 100 ms ----------------------------

LENGTH = 2_000
KILL = FaultSpec("kill", Target(Role.WORKER, 0))

_LOG = input_log(LENGTH)
(_WHOLE,) = _LOG.partitions
ARRIVING = InputLog(
    _LOG.keys, (Partition(_WHOLE.key, _WHOLE.value, preloaded=0, records_per_second=1_000),), _LOG.first_offsets,
)  # fmt: skip

bad, near = exhibits(
    "REREAD", attempt(), 98, emitted(0, 100), triggered(1), 9, completed(1, 100), claimed=frozenset(), faults=(KILL,),
    inputs=ARRIVING,
)  # fmt: skip

# The job has read to an offset at checkpoint 1, and further when it fails.
bad("too-much", "far more than an interval", 290, emitted(100, 400), failure(), attempt(1))
bad("too-much", "goes back by two",
    90, emitted(100, 210), triggered(2), 9, completed(2, 210), 100, emitted(100, 330), failure(),
    attempt(1))  # fmt: skip
near("too-much", "a part of an interval", 60, emitted(100, 175), failure(), attempt(1))
near("too-much", "nearly an interval and a checkpoint", 98, emitted(100, 208), failure(), attempt(1))

# Nothing is decided: the last complete one is older than an interval.
undecided("REREAD", "a checkpoint failed in between",
          attempt(), 98, emitted(0, 100), triggered(1), 9, completed(1, 100), 90, triggered(2),
          aborted(2, FailureReason.EXPIRED), 190, emitted(100, 400), failure(), attempt(1), inputs=ARRIVING,
          faults=(KILL,), claimed=frozenset())  # fmt: skip

# Nothing is decided: they read faster than input arrives.
undecided("REREAD", "sources lag behind",
          attempt(), 98, emitted(0, 10), triggered(1), 9, completed(1, 10), 60, emitted(10, 400), failure(), attempt(1),
          inputs=ARRIVING, faults=(KILL,), claimed=frozenset())  # fmt: skip

# --- RESUME: a program reports checkpoints, dies, and says which one it restores --------------------------------------

RECORDED = {1: (2, 3), 2: (5, 6)}
PROCESS = "coordinator"

bad, near = exhibits(
    "RESUME", ProgramReady(positions=(0, 0)), completed(1, *RECORDED[1]), completed(2, *RECORDED[2]), died(PROCESS),
)  # fmt: skip

READY = ProgramReady(positions=RECORDED[2])

# Two checkpoints were reported when the program died.
bad("older-restored", "the one before the newest", StateRestored(checkpoint=1), READY)

STATE_RESTORED = StateRestored(checkpoint=2)

near("older-restored", "the newest", STATE_RESTORED, READY)
near("older-restored", "a newer one whose report was lost", StateRestored(checkpoint=3), ProgramReady(positions=(7, 7)))

bad("nothing-restored", "it begins without a word", READY)
near("nothing-restored", "it dies before it is ready and restores then", died(PROCESS), STATE_RESTORED, READY)

# A first life restores, so that there is something to decide.
near("nothing-restored", "its store was damaged",
     STATE_RESTORED, READY, died(PROCESS), ObjectDamaged(path="table", checkpoint=0, published=(), length=2, left=1),
     ProgramReady(positions=(0, 0)))  # fmt: skip

bad("position-behind", "ready before the checkpoint", STATE_RESTORED, ProgramReady(positions=(5, 5)))
near("position-behind", "ready behind the checkpoint", STATE_RESTORED, ProgramReady(positions=(5, 8)))
